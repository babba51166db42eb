"""What comes with a result: series, delays, labelled arrays, pictures; and pages of every part."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import fairwire as fw
import pytest

SELFISH = Path(__file__).resolve().parents[2] / "scenarios" / "selfish-flow.toml"


def short(**set_: object) -> fw.Scenario:
    return fw.Scenario.load(SELFISH).set({"duration": "4 s", "warm_up": "1 s", **set_})


@pytest.fixture(scope="module")
def watched() -> fw.Result:
    return short().run(["tail-drop", "faba"], seeds=[1, 2], every="100 ms", flows=True, delays=True)


def picture():
    import matplotlib

    matplotlib.use("agg")
    return matplotlib.rc_context(fw.plot.style("paper"))


def rows(table: fw.Table) -> list[dict]:
    columns = table.to_dict()
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def test_a_watched_run_has_the_same_results(watched):
    plain = short().run(["tail-drop", "faba"], seeds=[1, 2])
    assert json.loads(plain.to_json())["runs"] == json.loads(watched.to_json())["runs"]


def test_series_are_samples_of_links_groups_and_flows_in_the_order_of_the_runs(watched):
    series = watched.series
    first = [row for row in rows(series) if (row["discipline"], row["seed"]) == ("faba", 2)]
    rates = [row for row in first if (row["kind"], row["name"], row["measure"]) == ("group", "udp", "egress")]
    assert [round(row["time_s"], 9) for row in rates] == [round(0.1 * at, 9) for at in range(1, 41)]
    assert {row["unit"] for row in rates} == {"bit/s"}
    assert {"link", "group", "flow"} == set(series["kind"])
    windows = {row["name"] for row in first if row["measure"] == "cwnd"}
    assert windows == {f"tcp.{number}" for number in range(1, 10)}
    runs = list(dict.fromkeys(zip(series["discipline"], series["seed"])))
    assert runs == [("tail-drop", 1), ("tail-drop", 2), ("faba", 1), ("faba", 2)]
    assert "second" in series.description("time_s") and len(series.keys) == 7


def test_a_series_agrees_with_the_throughput_of_its_flow():
    result = short(warm_up="0 s").run("faba", seeds=1, every="500 ms", flows=True)
    parts = [row["value"] for row in rows(result.series) if row["name"] == "udp.1" and row["measure"] == "throughput"]
    (flow,) = (row for row in rows(result.flows) if row["name"] == "udp.1")
    assert len(parts) == 8
    assert sum(parts) / 8 == pytest.approx(flow["throughput_bps"], rel=1e-9)


def test_without_flows_a_series_has_only_groups_and_links():
    series = short().run("faba", seeds=1, every="1 s").series
    assert set(series["kind"]) == {"link", "group"}


def test_delays_hold_every_packet_that_the_link_sent_after_the_warm_up(watched):
    delays = rows(watched.delays)
    for link in rows(watched.links):
        bins = [row for row in delays if (row["discipline"], row["seed"]) == (link["discipline"], link["seed"])]
        packets = sum(row["packets"] for row in bins)
        assert packets == link["packets_out"]
        mean = sum(row["packets"] * (row["from_s"] + row["to_s"]) / 2 for row in bins) / packets
        assert mean == pytest.approx(link["sojourn_mean_s"], rel=0.004)  # bins are 1/128 wide at most


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"every": "0 s"}, "`every` is 0 ns, but then a run has no sample; allowed: from 1 ns to the duration"),
        ({"every": "5 s"}, "duration of a run, 4 s"),
        ({"every": "5"}, "`every`: .*no unit"),
        ({"flows": True}, "allowed: together with `every`"),
    ],
)
def test_bad_sampling_arguments_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        short().run("faba", seeds=1, **given)


def test_a_run_ended_by_a_class_has_no_series():
    class Fails(fw.Dropper):
        def on_arrival(self, packet, queue, now):
            if now > 2 and self.fails:
                raise RuntimeError("mine")

        def __init__(self, fails=True):
            self.fails = fails

    with pytest.raises(RuntimeError, match="mine") as caught:
        short().run([{Fails: {"fails": False}, "label": "fine"}, Fails], seeds=1, jobs=1, every="1 s")
    result = caught.value.result
    assert set(result.series["discipline"]) == set(result.flows["discipline"]) == {"fine"}


def test_missing_series_name_the_option_that_records_them():
    result = short().run("faba", seeds=1)
    with pytest.raises(ValueError, match='every="100 ms"'):
        result.series
    with pytest.raises(ValueError, match="delays=True"):
        result.delays


def test_the_summary_has_the_means_of_the_measures(watched):
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows(watched.measures):
        values.setdefault((row["discipline"], row["measure"]), []).append(row["value"])
    for row in rows(watched.summary):
        mean, half = fw.estimate(values[row["discipline"], row["measure"]])
        assert (mean, half) == pytest.approx((row["mean"], row["half_width_95"]))
    assert len(values) == len(watched.summary)


def test_an_estimate_is_a_mean_with_its_interval():
    mean, half = fw.estimate([1.0, 2.0, 3.0])
    assert mean == 2.0 and half == pytest.approx(4.302653 * 1.0 / 3**0.5)  # t with 2 degrees, 97.5 %
    assert fw.estimate([7.0]) == (7.0, None)
    with pytest.raises(ValueError, match="at least"):
        fw.estimate([])


def test_no_two_rows_agree_in_all_keys(watched):
    tables = ["flows", "links", "fairness", "summary", "measures", "series", "delays"]
    for table in [*(getattr(watched, name) for name in tables), fw.disciplines(), fw.parts()]:
        assert table.keys and set(table.keys) <= set(table.columns)
        keys = list(zip(*(table[key] for key in table.keys)))
        assert len(set(keys)) == len(keys) > 0


def test_a_measure_is_an_array_over_disciplines_and_seeds(watched):
    shares = watched.to_xarray("share.tcp")
    assert shares.dims == ("discipline", "seed")
    assert shares.sel(discipline="faba").mean() > shares.sel(discipline="tail-drop").mean()
    summary = {(row["discipline"], row["measure"]): row["mean"] for row in rows(watched.summary)}
    assert float(shares.sel(discipline="faba").mean()) == pytest.approx(summary["faba", "share.tcp"])
    assert set(watched.to_xarray()) == {name for _, name in summary}
    with pytest.raises(KeyError, match="allowed: .*share.tcp"):
        watched.to_xarray("share.tpc")


def test_series_have_a_time_dimension_and_a_variable_for_each_measure(watched):
    data = watched.series.to_xarray()
    assert set(data.sizes) == {"discipline", "seed", "time_s", "name"}
    assert data.sizes["time_s"] == 40 and data["cwnd"].attrs["units"] == "segments"
    assert str(data["kind"].sel(name="tcp").item()) == "group"
    assert {"backlog_packets", "backlog_B"} <= set(data)  # one name, two units
    at = dict(discipline="faba", seed=2, name="udp", time_s=data["time_s"][-1])
    last = [row for row in rows(watched.series) if (row["name"], row["measure"]) == ("udp", "egress")][-1]
    assert float(data["egress"].sel(at)) == last["value"]
    assert bool(data["cwnd"].sel(name="bottleneck").isnull().all())


def test_other_tables_have_their_keys_as_dimensions(watched):
    flows = watched.flows.to_xarray()
    assert flows["throughput_bps"].dims == ("discipline", "seed", "name")
    assert list(flows["group"].dims) == ["name"] and "bit" in flows["throughput_bps"].attrs["description"].lower()
    assert watched.links.to_xarray()["utilization"].sizes == {"discipline": 2, "seed": 2, "name": 1}


def test_a_notebook_shows_the_summary_and_a_picture_of_the_shares(watched):
    html = watched._repr_html_()
    assert "<td>" in html and "share.tcp" in html and "±" in html and "4 runs" in html
    svg = base64.b64decode(re.search(r"base64,([^\"]+)", html)[1]).decode()
    assert svg.startswith("<svg") and "fair share = 1" in svg and ">faba<" in svg
    assert "<style>" not in html, "a style sheet in the page would change the notebook's own look"


def test_throughput_has_a_panel_for_each_discipline_and_a_line_for_each_group(watched):
    with picture():
        panels = fw.plot.throughput(watched)
        assert [panel.get_title(loc="right") for panel in panels] == ["tail-drop", "faba"]
        assert [line.get_label() for line in panels[0].lines] == ["tcp", "udp", "rate of bottleneck"]
        assert panels[0].get_ylabel() == "egress, Mbit/s" and panels[-1].get_xlabel() == "time, s"
        assert panels[0].lines[0].get_xdata()[0] == pytest.approx(0.05), "the middle of the first 100 ms"
        assert set(panels[0].lines[2].get_ydata()) == {10.0}
        assert panels[0].collections, "two seeds give an interval"
        highest = max(max(line.get_ydata()) for panel in panels for line in panel.lines)
        assert all(panel.get_ylim()[0] == 0 and panel.get_ylim()[1] > highest for panel in panels)
        one = fw.plot.throughput(watched, of="flow", measure="throughput", discipline="faba")
        assert len(one.lines) == 11 and len({(l.get_color(), l.get_linestyle()) for l in one.lines}) == 11
        panels[0].figure.canvas.draw()
    with pytest.raises(ValueError, match="allowed: tail-drop, faba"):
        fw.plot.throughput(watched, discipline="red")
    with pytest.raises(ValueError, match="allowed: .*egress of each group"):
        fw.plot.throughput(watched, of="host")
    with pytest.raises(ValueError, match="allowed: `egress` or `throughput`"):
        fw.plot.throughput(watched, measure="cwnd")


def test_a_series_has_the_unit_on_its_axis(watched):
    with picture():
        axes = fw.plot.series(watched, "cwnd", of="flow", discipline="faba")
        assert axes.get_ylabel() == "cwnd, segments" and len(axes.lines) == 9
        assert fw.plot.series(watched, "backlog", discipline="faba").get_ylabel() == "backlog, packets"


def test_a_cdf_ends_at_one_and_passes_through_the_percentiles_of_the_record(watched):
    with picture():
        axes = fw.plot.delay_cdf(short().run("faba", seeds=1, delays=True))
        waits, parts = axes.lines[0].get_data()
        assert parts[-1] == 1.0 and list(parts) == sorted(parts)
        (link,) = rows(short().run("faba", seeds=1).links)
        for part, key in [(0.5, "sojourn_p50_s"), (0.99, "sojourn_p99_s")]:
            wait = next(wait for wait, reached in zip(waits, parts) if reached >= part)
            assert wait == pytest.approx(1e3 * link[key], rel=0.008)  # the end of a bin and its middle
        two = fw.plot.delay_cdf(watched)
        assert [line.get_label() for line in two.lines] == ["tail-drop", "faba"]
        assert two.get_xlabel() == "wait at bottleneck, ms" and len(two.collections) == 2
        with pytest.raises(ValueError, match="allowed: bottleneck"):
            fw.plot.delay_cdf(watched, link="bottelneck")


def test_every_part_and_every_parameter_is_described():
    table = fw.parts()
    assert set(table["kind"]) == {"discipline", "marker", "controller", "source", "network", "impairment"}
    assert {"faba", "cubic", "web", "sr-tcm", "fat-tree"} <= set(table["name"])
    for name, parameters in zip(table["name"], table["parameters"]):
        assert f"# `{name}`" in fw.describe(name)
        for parameter in filter(None, parameters.split(", ")):
            assert f"| `{parameter}` |" in fw.describe(name)
    page = fw.describe("lambda2")
    assert page.startswith("# `lambda2`") and "[`faba`](faba.md)" in page and "# `lambda2`" in page


@pytest.mark.parametrize(("given", "meant"), [("fabba", "faba"), ("cubik", "cubic"), ("fat-tre", "fat-tree"), ("lamda2", "lambda2")])
def test_an_unknown_part_comes_with_the_nearest_spelling(given, meant):
    with pytest.raises(LookupError, match=f"unknown .* `{given}`; allowed: .*did you mean `{meant}`"):
        fw.describe(given)
