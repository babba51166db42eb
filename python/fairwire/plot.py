"""Pictures of results, with matplotlib (the extra ``plot``).

Each function returns matplotlib's axes, so a picture can be changed and saved as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ._fairwire import Result, max_min

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people with colour blindness distinguish.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]


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
    """A legend that covers nothing."""
    ax.legend(ncols=min(columns, 4), loc="lower left", bbox_to_anchor=(0, 1), frameon=False)


def _bars(result: Result, prefix: str, ax: Axes | None, label: str) -> Axes:
    ax = _axes(ax)
    summary = result.summary
    rows = list(zip(summary["discipline"], summary["measure"], summary["mean"], summary["half_width_95"]))
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
    """What each group got over what is max-min fair, by discipline, with 95 % intervals.

    The line at 1 is fair.
    """
    ax = _bars(result, "share.", ax, "share (1 is fair)")
    ax.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
    return ax


def waterline(
    demands: Sequence[float],
    delivered: Sequence[float],
    capacity: float,
    labels: Sequence[str] | None = None,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Demand as outline, what was delivered as fill, and the max-min share as one line.

    ``demands``, ``delivered`` and ``capacity`` have one unit, which ``unit`` names, such as
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
