"""What a person of data does with results: transfers, pickles, files, numbers with units, messages."""

import math
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import fairwire as fw
import pytest

WEB = {
    "format": 2,
    "name": "web",
    "duration": "4 s",
    "warm_up": "1 s",
    "seeds": "1..=2",
    "disciplines": ["tail-drop", "fq-codel"],
    "link": {"rate": "5 Mbit/s", "delay": "5 ms", "buffer": "40 packets"},
    "flow": [
        {
            "group": "files",
            "count": 3,
            "source": {"transfers": {"size": {"fixed": "20 kB"}, "think": {"fixed": "50 ms"}}},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
        },
        {
            "group": "cbr",
            "source": {"cbr": {"rate": "1 Mbit/s"}},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
        },
    ],
}


@pytest.fixture(scope="module")
def result():
    watched = {"transfers": True, "one_way": True, "packets": True, "delays": True}
    return fw.Scenario(WEB).run(every="100 ms", flows=True, measures=["transfer_slowdown_p99.files"], **watched)


def same(one: fw.Table, other: fw.Table) -> bool:
    return (one.columns, one.keys, repr(one.to_dict())) == (other.columns, other.keys, repr(other.to_dict()))


def test_completion_times_are_a_distribution_in_three_lines(result):
    done = result.completed.to_polars()
    times = done["seconds"].sort()
    cdf = [(time, (at + 1) / len(times)) for at, time in enumerate(times)]
    assert len(cdf) > 100 and cdf[-1][1] == 1.0 and times[0] > 0.02
    assert all(start >= 0.0 and bytes == 20_000 or bytes > 0 for start, bytes in zip(done["start_s"], done["bytes"]))
    assert min(done["slowdown"]) >= 1.0 and set(done["kind"]) == {"transfer"}
    counted = sum(count for count, kind in zip(result.transfers["completed"], result.transfers["kind"]))
    assert counted == len(done)


def test_each_flow_has_one_way_delays_and_packets(result):
    ways = result.one_way
    assert set(ways["name"]) == {"files.1", "files.2", "files.3", "cbr"} or "cbr.1" in set(ways["name"])
    assert min(ways["from_s"]) >= 0.006  # 5 ms of the link and 1 ms of an own one
    packets = result.packets
    assert {"arrive", "depart", "deliver"} <= set(packets["event"])
    assert {"syn", "data", "ack", "datagram"} >= set(packets["packet"]) > {"data"}
    drops = sum(event == "drop" for event in packets["event"])
    assert drops >= sum(result.flows["packets_dropped"])  # also those of the warm-up
    with pytest.raises(ValueError, match="transfers=True"):
        fw.Scenario(WEB).run(seeds=1).completed


def test_results_and_tables_are_pickled_and_read_back_equal(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == result.to_json()
    for name in ["flows", "links", "series", "delays", "completed", "one_way", "packets", "summary", "measures"]:
        assert same(getattr(again, name), getattr(result, name)), name
    empty = fw.Scenario(WEB).run(seeds=1).aggregates
    assert same(pickle.loads(pickle.dumps(empty)), empty)
    assert again.series.description("value") == result.series.description("value")


def test_read_back_results_equal_their_original_only(result):
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again.summary == result.summary and result.flows != result.links
    scenario = fw.Scenario(WEB)
    assert pickle.loads(pickle.dumps(scenario)) == scenario != scenario.set("link.rate", "6 Mbit/s")
    assert scenario != 1 and result != scenario and result.summary != 1


def test_errors_name_a_none_and_a_file_name():
    with pytest.raises(TypeError, match=r"`link\.rate` is None"):
        fw.Scenario({"format": 2, "link": {"rate": None}})
    with pytest.raises(TypeError, match=r"`flow\.1` is None"):
        fw.Scenario({"format": 2, "flow": ({"group": "a"}, None)})
    with pytest.raises(ValueError, match=r"name of a file; allowed: `Scenario\.load"):
        fw.Scenario("scenarios/selfish-flow.toml")
    with pytest.raises(TypeError, match="`42`"):
        fw.Scenario(42)


def test_pickles_of_large_tables_are_smaller_than_the_tables():
    from long.large import figures

    transfers, series = figures(10_000, 7_000)  # `make python-large` has a million
    assert transfers["pickle, MB"] < transfers["table, MB"] and series["pickle, MB"] < series["table, MB"]


class Early(fw.Dropper):
    def __init__(self, limit=9):
        self.limit = limit

    def on_arrival(self, packet, queue, now):
        return "drop" if len(queue) >= self.limit else None


def runs(scenario: fw.Scenario) -> str:
    return scenario.run(seeds=[1]).summary.to_dict()


def test_scenarios_go_to_other_processes_with_their_classes(tmp_path):
    scenario = fw.Scenario(WEB).set("disciplines", ["tail-drop", {Early: {"limit": 5}}])
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(runs, scenario).result() == runs(scenario)
    file = tmp_path / "web.toml"
    file.write_text(fw.Scenario(WEB).toml)
    data = pickle.dumps(fw.Scenario.load(file).set("link.rate", "6 Mbit/s"))
    assert pickle.loads(data).toml == fw.Scenario.load(file).set("link.rate", "6 Mbit/s").toml
    file.write_text(file.read_text().replace("4 s", "5 s"))
    with pytest.raises(ValueError, match="another than when it was pickled"):
        pickle.loads(data)


def test_files_of_the_command_are_read(result, tmp_path):
    (tmp_path / "report.json").write_text(result.to_json())
    again = fw.read(tmp_path)
    assert same(again.summary, result.summary) and same(again.flows, result.flows)
    assert same(fw.read(tmp_path / "report.json").links, result.links)
    with pytest.raises(FileNotFoundError, match="--out"):
        fw.read(tmp_path / "nothing")
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(ValueError, match="no report"):
        fw.read(tmp_path)


def test_axes_are_numbers_with_their_unit_and_sort(tmp_path):
    vary = {"link.buffer": ["9 packets", "100 packets", "20 packets"], "link.delay": ["5 ms", "1 s"]}
    sweep = fw.sweep(WEB, vary, seeds=1, measures=["jain"], store=tmp_path / "st").run()
    for table in [sweep.table, sweep.summary, sweep.missing()]:
        assert (table.unit("link.buffer"), table.unit("link.delay")) == ("packets", "s")
    assert sorted(set(sweep.table["link.buffer"])) == [9.0, 20.0, 100.0]
    assert set(sweep.table["link.delay"]) == {0.005, 1.0}
    xarray = pytest.importorskip("xarray")
    data = sweep.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data["link.buffer"].attrs["units"] == "packets"
    assert data["link.buffer"].values.tolist() == [9.0, 20.0, 100.0]
    again = pickle.loads(pickle.dumps(sweep))
    assert same(again.table, sweep.table) and again.store == sweep.store
    assert pickle.loads(pickle.dumps(sweep.table)).unit("link.buffer") == "packets"


def test_texts_become_dictionaries_in_arrow(result):
    pyarrow = pytest.importorskip("pyarrow")
    series = pyarrow.table(result.series)
    assert pyarrow.types.is_dictionary(series.schema.field("measure").type)
    assert series.column("measure").to_pylist() == result.series["measure"]
    plain = series.cast(pyarrow.schema([(f.name, "string" if f.name in ("measure", "name", "kind") else f.type) for f in series.schema]))
    assert series.nbytes < plain.nbytes


def test_excessive_sampling_is_refused_and_interrupts_stop_at_once():
    scenario = fw.Scenario(WEB)
    with pytest.raises(ValueError, match="billion rows of samples; allowed: 30 million.*`every` of at least.*yes=True"):
        scenario.run(every="1 ns")
    code = (
        "import fairwire as fw, _thread, threading, time, sys\n"
        "scenario = fw.Scenario(open(sys.argv[1]).read())\n"
        "threading.Timer(1.0, lambda: (times.append(time.monotonic()), _thread.interrupt_main())).start()\n"
        "times = []\n"
        "try:\n    scenario.run(every='100 ns', yes=True)\n"
        "except KeyboardInterrupt:\n    print(time.monotonic() - times[0])\n"
    )
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario.toml)
        file.flush()
        done = subprocess.run([sys.executable, "-c", code, file.name], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2.0  # 0.1 s on a machine of its own


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"seeds": -1}, TypeError, "`seeds` is -1; allowed: an int from 0 on"),
        ({"seeds": []}, fw.ScenarioError, "`seeds` is empty, but a run needs one; allowed: "),
        ({"seeds": 1.5}, TypeError, "`seeds` is 1.5; allowed: "),
        ({"jobs": -1}, ValueError, "`jobs` is -1; allowed: an int from 0"),
        ({"jobs": "2"}, TypeError, "`jobs` is '2'; allowed: "),
        ({"every": 0.1}, TypeError, "`every` is 0.1, of the type float; allowed: a text with a unit"),
        ({"disciplines": Early()}, TypeError, "`disciplines` is a Early; allowed: .*a class and no object"),
        ({"measures": 3}, TypeError, "`measures` is 3; allowed: a list of names"),
        ({"measures": "slowdwn"}, ValueError, "`measures` has `slowdwn`"),
        ({"measures": ["slowdwn"]}, ValueError, "`measures` has `slowdwn`, which no run has; allowed: "),
    ],
)
def test_type_errors_name_the_argument_the_given_and_the_allowed_types(wrong, kind, message):
    with pytest.raises(kind, match=message):
        fw.Scenario(WEB).set("duration", "2 s").run(**wrong)


def test_tables_explain_wrong_use_and_show_rows(result):
    table = result.summary
    with pytest.raises(TypeError, match="`0` is of the type int; allowed: the name of a column"):
        table[0]
    with pytest.raises(TypeError, match="not iterated over; allowed: "):
        list(table)
    lines = repr(table).splitlines()
    assert lines[0].startswith("<fairwire.Table: ") and "discipline" in lines[1] and "tail-drop" in lines[2]
    assert max(map(len, lines[1:])) <= 102
    assert "nan" not in repr(result) and math.isfinite(table["mean"][0])


def test_internals_are_hidden_and_public_names_are_listed():
    names = set(fw.disciplines()["name"]) | set(fw.parts()["name"])
    assert not any(name.startswith("python") for name in names) and "faba" in names
    assert not fw.describe("red").startswith("<!--")
    assert {"plot", "gym", "read", "Scenario"} <= set(dir(fw)) and "TYPE_CHECKING" not in dir(fw)
    with pytest.raises(fw.ScenarioError) as refused:
        fw.Scenario(WEB).set("disciplines", ["zzz"])
    assert "`python" not in str(refused.value)


def test_a_misspelt_method_causes_a_warning():
    class Linear(fw.Dropper):
        def on_arival(self, packet, queue, now):
            return "drop"

    with pytest.warns(UserWarning, match="`Linear.on_arival` is never called by fairwire; did you mean `on_arrival`"):
        fw.Scenario(WEB).set("disciplines", [Linear])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fw.Scenario(WEB).set("disciplines", [Early])
