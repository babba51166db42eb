"""Pictures of results, with matplotlib (the extra ``plot``).

Each function returns matplotlib axes, so a picture can be changed and saved as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ._fairwire import Result, Table, estimate, max_min

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, distinguishable with colour blindness.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]
# After the last colour, colours repeat with the next of these.
DASHES = ["-", "--", "-.", ":"]


def style(name: str = "paper") -> dict[str, Any]:
    """Settings for ``matplotlib.rc_context``. ``paper``: one column of 3.5 inches, serif, vector."""
    if name != "paper":
        raise ValueError(f"style `{name}`; allowed: `paper`")
    return {
        "figure.figsize": (3.5, 2.3),
        "figure.constrained_layout.use": True,
        "font.family": "serif",
        "font.size": 8,
        "axes.labelsize": 8,
        "legend.fontsize": 7,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "lines.linewidth": 1.0,
        "pdf.fonttype": 42,
        "savefig.format": "pdf",
    }


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def _legend_above(ax: Axes, columns: int) -> None:
    """A legend outside the plot."""
    ax.legend(ncols=min(columns, 4), loc="lower left", bbox_to_anchor=(0, 1), frameon=False)


def _labels(table: Table) -> list[str]:
    """The discipline of each row, with the stage if the result names it: ``faba on lab``."""
    disciplines = table["discipline"]
    if "stage" not in table.columns:
        return disciplines
    return [f"{discipline} on {stage}" for discipline, stage in zip(disciplines, table["stage"])]


def _bars(result: Result, prefix: str, ax: Axes | None, label: str) -> Axes:
    ax = _axes(ax)
    summary = result.summary
    rows = list(zip(_labels(summary), summary["measure"], summary["mean"], summary["half_width_95"]))
    rows = [row for row in rows if row[1].startswith(prefix)]
    if not rows:
        raise ValueError(f"the result has no measure `{prefix}…`")
    disciplines = list(dict.fromkeys(row[0] for row in rows))
    groups = list(dict.fromkeys(row[1] for row in rows))
    width = 0.8 / len(groups)
    for at, group in enumerate(groups):
        of = {row[0]: row for row in rows if row[1] == group}
        names = [name for name in disciplines if name in of]
        left = [disciplines.index(name) + (at - (len(groups) - 1) / 2) * width for name in names]
        heights = [of[name][2] for name in names]
        errors = [of[name][3] or 0.0 for name in names]
        colour = COLOURS[at % len(COLOURS)]
        ax.bar(left, heights, width, yerr=errors, capsize=2, color=colour, label=group.removeprefix(prefix))
    ax.set_xticks(range(len(disciplines)), disciplines, rotation=20, ha="right")
    ax.set_ylabel(label)
    _legend_above(ax, len(groups))
    return ax


def shares(result: Result, ax: Axes | None = None) -> Axes:
    """Each group's throughput over its max-min share, by discipline, with 95 % intervals.

    The line at 1 is fair.
    """
    ax = _bars(result, "share.", ax, "share (1 is fair)")
    ax.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
    return ax


def _frame(ax: Axes | None, panels: int) -> list[Axes]:
    """Stacked axes with a shared horizontal axis."""
    if ax is not None:
        if panels > 1:
            raise ValueError(f"`ax` is given, but there are {panels} disciplines; allowed: `discipline=…` with it")
        return [ax]
    from matplotlib import pyplot

    width, height = pyplot.rcParams["figure.figsize"]
    size = (width, height * (1 + 0.7 * (panels - 1)))
    # The legend is above the first panel, so nothing overlaps.
    figure, axes = pyplot.subplots(
        panels, sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    return list(axes[:, 0])


def _known(what: str, given: str | None, known: Sequence[str]) -> list[str]:
    """Only ``given``, or all."""
    if given is None:
        return list(known)
    if given not in known:
        raise ValueError(f"there is no {what} `{given}`; allowed: {', '.join(known)}")
    return [given]


# The values of each time, by line; the unit of all; and the time between samples.
_Lines = dict[str, dict[float, list[float]]]


def _over_time(result: Result, of: str, measure: str) -> tuple[dict[str, _Lines], str, float]:
    """The lines of each discipline: the values of all seeds, for each object of the kind ``of``."""
    series = result.series
    columns = [series[name] for name in ("time_s", "kind", "name", "measure", "unit", "value")]
    found: dict[str, _Lines] = {}
    units: dict[str, None] = {}
    for discipline, time, kind, name, what, unit, value in zip(_labels(series), *columns):
        if kind == of and what == measure:
            units.setdefault(unit)
            if unit == next(iter(units)):  # a backlog has packets and bytes: the first is drawn
                lines = found.setdefault(discipline, {})
                lines.setdefault(name, {}).setdefault(time, []).append(value)
    if not found:
        there = sorted(set(zip(series["kind"], series["measure"])))
        known = ", ".join(f"{what} of each {kind}" for kind, what in there)
        raise ValueError(f"the series have no `{measure}` of each {of}; allowed: {known}")
    return found, next(iter(units)), min(series["time_s"])


def _draw(axes: Axes, lines: _Lines, scale: float, shift: float) -> None:
    """One line per object: the mean over the seeds, with its 95 % interval."""
    for at, (name, points) in enumerate(lines.items()):
        colour, dashes = COLOURS[at % len(COLOURS)], DASHES[at // len(COLOURS) % len(DASHES)]
        times = [time - shift for time in points]
        estimates = [estimate(values) for values in points.values()]
        means = [mean * scale for mean, _ in estimates]
        axes.plot(times, means, color=colour, linestyle=dashes, label=name)
        if any(half for _, half in estimates):
            low = [max(mean - (half or 0), 0) * scale for mean, half in estimates]
            high = [(mean + (half or 0)) * scale for mean, half in estimates]
            axes.fill_between(times, low, high, color=colour, alpha=0.25, linewidth=0)


def _name_panels(panels: dict[str, Axes]) -> Axes | list[Axes]:
    """Labels the panels with their disciplines, and the axis below them; returns the axes."""
    axes = list(panels.values())
    for discipline, panel in panels.items() if len(panels) > 1 else ():
        panel.set_title(discipline, loc="right", fontsize="medium", pad=2)
    axes[-1].set_xlabel("time, s")
    axes[0].set_ylim(bottom=0)  # for all panels, and after all lines: fixed from now on
    if len(axes) == 1:
        _legend_above(axes[0], 4)
        return axes[0]
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, labels, ncols=min(len(labels), 4), loc="outside upper left", frameon=False)
    return axes


def series(
    result: Result, measure: str, of: str = "link", discipline: str | None = None, ax: Axes | None = None
) -> Axes | list[Axes]:
    """A measure of ``result.series`` over time, with one panel per discipline.

    ``of``: the kind of object, with one line each: ``link``, ``group``, ``aggregate``, ``flow``
    (after ``run(…, flows=True)``) or ``connection``. ``measure``: such as ``backlog`` of a link,
    ``cwnd`` of a flow. Lines are means over the seeds, and bands are their 95 % intervals.
    The axis has the unit of the series.

    Returns the axes of each discipline, or a single one. Needs ``run(…, every="100 ms")``.
    """
    found, unit, _ = _over_time(result, of, measure)
    disciplines = _known("discipline", discipline, list(found))
    panels = dict(zip(disciplines, _frame(ax, len(disciplines))))
    for name, axes in panels.items():
        _draw(axes, found[name], 1.0, 0.0)
        axes.set_ylabel(f"{measure}, {unit}" if unit != "1" else measure)
    return _name_panels(panels)


def throughput(
    result: Result,
    of: str = "group",
    measure: str = "egress",
    discipline: str | None = None,
    ax: Axes | None = None,
) -> Axes | list[Axes]:
    """Mbit/s over time, with one panel per discipline and one line per group or flow.

    ``of``: ``group``, ``flow`` (after ``run(…, flows=True)``) or ``aggregate``. ``measure``:
    ``egress`` is the rate leaving the last link; ``throughput`` is the rate reaching receivers in
    order, where a filled hole is a spike. Lines are means over the seeds, and bands are their 95 %
    intervals. Each point is in the middle of its counting interval. The dotted line is the rate of
    the first link.

    Returns the axes of each discipline, or a single one. Needs ``run(…, every="100 ms")``.
    """
    if measure not in ("egress", "throughput"):
        raise ValueError(f"`measure` is `{measure}`; allowed: `egress` or `throughput`")
    found, _, every = _over_time(result, of, measure)
    capacities = _over_time(result, "link", "capacity")[0]
    disciplines = _known("discipline", discipline, list(found))
    panels = dict(zip(disciplines, _frame(ax, len(disciplines))))
    for name, axes in panels.items():
        link, capacity = next(iter(capacities[name].items()))
        times = [time - every / 2 for time in capacity]
        rates = [values[0] / 1e6 for values in capacity.values()]
        _draw(axes, found[name], 1e-6, every / 2)
        axes.plot(times, rates, color="grey", linestyle=":", label=f"rate of {link}")
        axes.set_ylabel(f"{measure}, Mbit/s")
    return _name_panels(panels)


def delay_cdf(result: Result, link: str | None = None, ax: Axes | None = None) -> Axes:
    """The fraction of packets that waited at most this long, with one curve per discipline.

    ``link``: the queued link, the first if none is given. The curve is the entire distribution, over
    the packets of all seeds after the warm-up: each point is the end of a bin, which is at most
    1/128 of its time wide. Bands extend from the lowest to the highest seed. Needs ``run(…,
    delays=True)``.
    """
    ax = _axes(ax)
    delays = result.delays
    rows = list(zip(_labels(delays), *(delays[name] for name in ("seed", "name", "to_s", "packets"))))
    if not rows:
        raise ValueError("no packet was sent after the warm-up")
    (link, *_) = _known("queued link", link, list(dict.fromkeys(row[2] for row in rows)))
    for at, of in enumerate(dict.fromkeys(row[0] for row in rows)):
        colour = COLOURS[at % len(COLOURS)]
        seeds: dict[int, dict[float, int]] = {}
        for discipline, seed, name, end, packets in rows:
            if (discipline, name) == (of, link):
                seeds.setdefault(seed, {})[end] = packets
        ends = sorted({end for bins in seeds.values() for end in bins})
        curves = [_cumulated(ends, bins) for bins in seeds.values()]
        total = {end: sum(bins.get(end, 0) for bins in seeds.values()) for end in ends}
        waits = [end * 1e3 for end in ends]
        ax.plot(waits, _cumulated(ends, total), color=colour, label=of, drawstyle="steps-post")
        if len(curves) > 1:
            low, high = ([pick(parts) for parts in zip(*curves)] for pick in (min, max))
            ax.fill_between(waits, low, high, color=colour, alpha=0.25, linewidth=0, step="post")
    ax.set_xlabel(f"wait at {link}, ms")
    ax.set_ylabel("part of the packets")
    ax.set_xlim(left=0)
    ax.set_ylim(0, 1)
    _legend_above(ax, 4)
    return ax


def _cumulated(ends: Sequence[float], bins: dict[float, int]) -> list[float]:
    """The fraction of the packets in ``bins`` up to each of ``ends``."""
    from itertools import accumulate

    sums = list(accumulate(bins.get(end, 0) for end in ends))
    return [part / sums[-1] for part in sums]


def waterline(
    demands: Sequence[float],
    delivered: Sequence[float],
    capacity: float,
    labels: Sequence[str] | None = None,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Demand as an outline, delivery as a fill, and the max-min share as one line.

    ``demands``, ``delivered`` and ``capacity`` have one unit, named by ``unit``, such as
    ``Mbit/s``; a demand of ``inf`` has no top.
    """
    if len(demands) != len(delivered):
        raise ValueError(f"{len(delivered)} delivered; allowed: {len(demands)}, one for each demand")
    ax = _axes(ax)
    fair = max_min(list(demands), capacity)
    at = range(len(demands))
    top = 1.15 * max([capacity / max(len(demands), 1), *delivered, *(d for d in demands if d != float("inf"))])
    ax.bar(at, [min(demand, top) for demand in demands], fill=False, edgecolor="grey", label="demand")
    ax.bar(at, delivered, color=COLOURS[0], label="delivered")
    ax.hlines(max(fair, default=0.0), -0.5, len(demands) - 0.5, color=COLOURS[5], label="max-min share")
    ax.set_xticks(at, labels if labels is not None else [str(number) for number in at])
    ax.set_ylim(0, top)
    ax.set_ylabel(unit)
    _legend_above(ax, 3)
    return ax
