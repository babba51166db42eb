"""The package as a user meets it. `make python` runs this against the wheel."""

from __future__ import annotations

import copy
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import fairwire as fw
import pytest

ROOT = Path(__file__).resolve().parents[2]
SELFISH = ROOT / "scenarios" / "selfish-flow.toml"

TWO = {
    "format": 2,
    "name": "two",
    "duration": "2 s",
    "seeds": 1,
    "disciplines": ["tail-drop"],
    "link": {"rate": "1 Mbit/s", "delay": "5 ms", "buffer": "20 packets"},
    "flow": [
        {
            "group": "tcp",
            "count": 2,
            "source": "bulk",
            "tcp": {"profile": "ns2-2002"},
            "access": {"rate": "10 Mbit/s", "delay": "1 ms"},
        }
    ],
}


def short() -> fw.Scenario:
    return fw.Scenario.load(SELFISH).set({"duration": "4 s", "warm_up": "1 s"})


def test_a_dict_and_its_toml_are_the_same_scenario():
    scenario = fw.Scenario(TWO)
    assert scenario.name == "two"
    assert fw.Scenario(scenario.toml).sha256 == scenario.sha256


def test_set_returns_a_new_scenario():
    scenario = fw.Scenario(TWO)
    changed = scenario.set("link.buffer", "9 packets").set("flow.tcp.count", 3)
    assert changed.sha256 != scenario.sha256
    assert 'buffer = "9 packets"' in changed.toml and 'buffer = "20 packets"' in scenario.toml
    assert len(changed.run().flows) == 3
    assert scenario.set({"link.buffer": "9 packets", "flow.tcp.count": 3}).sha256 == changed.sha256
    for wrong in [("link.buffer",), ({"link.buffer": "9 packets"}, 3), (3, 3)]:
        with pytest.raises(TypeError):
            scenario.set(*wrong)


@pytest.mark.parametrize(
    ("change", "given", "suggestion", "allowed"),
    [
        ({"link": {**TWO["link"], "bufer": "9 packets"}}, "bufer", "buffer", "allowed: "),
        ({"disciplines": ["fabba"]}, "fabba", "faba", "allowed: "),
        ({"disciplines": [{"red": {"gentel": True}}]}, "gentel", "gentle", "allowed: "),
    ],
)
def test_an_error_has_the_given_value_and_the_nearest_spelling(change, given, suggestion, allowed):
    with pytest.raises(fw.ScenarioError) as caught:
        fw.Scenario({**copy.deepcopy(TWO), **change})
    error = caught.value
    assert (error.given, error.suggestion) == (given, suggestion)
    assert error.allowed.startswith(allowed) and error.line > 0 and error.source == "scenario"
    assert f"did you mean `{suggestion}`?" in str(error)
    assert isinstance(error, ValueError)


def test_every_problem_of_a_scenario_is_reported():
    with pytest.raises(fw.ScenarioError) as caught:
        fw.Scenario({**TWO, "flow": [{"group": "a", "source": "bulk"}, {"group": "b", "source": "bulk"}]})
    assert caught.value.key == "access" and [more.key for more in caught.value.more] == ["access"]


def test_missing_units_missing_files_and_non_toml_values_are_refused():
    with pytest.raises(fw.ScenarioError, match="no unit"):
        fw.Scenario({**TWO, "duration": "2"})
    with pytest.raises(fw.ScenarioError, match="there is no file"):
        fw.Scenario.load("absent.toml")
    with pytest.raises(TypeError):
        fw.Scenario({**TWO, "name": None})
    with pytest.raises(TypeError):
        fw.Scenario(3)
    with pytest.raises(fw.ScenarioError, match="faba"):
        fw.Scenario(TWO).run("fabba")


def test_results_are_those_of_the_command():
    command = ROOT / "target" / "release" / "fairwire"
    result = short().run(["tail-drop", "faba"], seeds=[1, 2])
    if not command.exists():
        pytest.skip("SKIPPED: target/release/fairwire is not built (make build)")
    args = [command, "run", SELFISH, "--set", "duration=4 s", "--set", "warm_up=1 s", "--format", "json", "-q"]
    printed = subprocess.run(
        [*args, "--discipline", "tail-drop,faba", "--seeds", "1..=2"], capture_output=True, text=True
    )
    assert printed.returncode in (0, 3), printed.stderr  # 3: so short a run misses what the file expects
    ours, theirs = json.loads(result.to_json()), json.loads(printed.stdout)
    assert ours["runs"] == theirs["runs"] and ours["summary"] == theirs["summary"]


def test_tables_have_the_fields_of_the_records():
    result = short().run(["tail-drop", "drr+faba"], seeds="1..=2", jobs=1)
    flows = result.flows
    assert flows.columns[:3] == ["discipline", "seed", "name"]
    assert len(flows) == 4 * 10 and set(flows["discipline"]) == {"tail-drop", "drr+faba"}
    assert "bit" in flows.description("throughput_bps").lower()
    links = result.links
    assert {"sojourn_p99_s", "backlog_mean_packets", "drops_overflow"} <= set(links.columns)
    assert all(0.5 < share <= 1 for share in links["utilization"])
    summary = result.summary
    mean = dict(zip(zip(summary["discipline"], summary["measure"]), summary["mean"]))
    assert mean["drr+faba", "jain"] > mean["tail-drop", "jain"]
    assert len(result.fairness) == 4 and len(result.transfers) == 0
    with pytest.raises(KeyError, match="did you mean `goodput_bps`"):
        flows["goodput_bsp"]


def test_seeds_are_a_number_a_list_or_a_text():
    for seeds, expected in [(4, [4]), ([3, 1], [3, 1]), ("1..=2", [1, 2]), (range(1, 3), [1, 2])]:
        assert short().run("faba", seeds=seeds).fairness["seed"] == expected
    for wrong in [[], [1, 1], "1..=lots"]:
        with pytest.raises(fw.ScenarioError, match="seed"):
            short().run("faba", seeds=wrong)
    with pytest.raises(TypeError):
        short().run("faba", seeds=1.5)


def test_the_same_seed_gives_the_same_bits_whatever_jobs():
    one, two = (short().run("faba", seeds="1..=3", jobs=jobs) for jobs in (1, 2))
    assert json.loads(one.to_json())["runs"] == json.loads(two.to_json())["runs"]


def test_polars_and_pyarrow_share_the_memory_of_a_table():
    import polars
    import pyarrow

    flows = short().run("faba", seeds=1).flows
    first, second = pyarrow.table(flows), pyarrow.table(flows)
    column = "throughput_bps"
    address = first[column].chunk(0).buffers()[1].address
    assert address == second[column].chunk(0).buffers()[1].address
    frame = polars.DataFrame(flows)
    assert frame[column].to_arrow().buffers()[1].address == address
    assert frame.shape == (10, len(flows.columns))
    assert flows.to_polars()[column].to_list() == flows[column] == flows.to_pandas()[column].tolist()
    del flows
    assert first[column].to_pylist() == frame[column].to_list()


def test_a_notebook_shows_a_table_and_no_name_is_html():
    scenario = fw.Scenario(TWO).set("flow.tcp.group", "tcp")
    result = scenario.run([{"tail-drop": {}, "label": "a-b"}])
    assert "<table>" in result._repr_html_() and "a-b" in result._repr_html_()
    # One summary of the catalogue has an apostrophe; names of the user's are letters and digits.
    assert "&#x27;" in fw.disciplines()._repr_html_()


def test_other_python_threads_run_during_a_run():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    short().set("duration", "60 s").run("faba", seeds="1..=4", jobs=1)
    stop.set()
    thread.join()
    assert len(ticks) > 10


def test_ctrl_c_stops_a_run_and_raises():
    code = f"""
import fairwire as fw
scenario = fw.Scenario.load({str(SELFISH)!r}).set("duration", "9000 s")
print("begins", flush=True)
try:
    scenario.run("faba", seeds="1..=50")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    answer, _ = process.communicate(timeout=60)  # the run itself would take minutes
    assert answer == "stopped\n"


def test_progress_is_a_fraction_and_an_exception_in_it_ends_the_run():
    seen: list[float] = []
    short().set("duration", "200 s").run("faba", seeds="1..=4", progress=seen.append)
    assert seen[-1] == 1.0 and seen == sorted(seen) and all(0 <= value <= 1 for value in seen)

    def fails(_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        short().set("duration", "2000 s").run("faba", seeds="1..=9", progress=fails)
    with pytest.raises(TypeError, match="progress"):
        short().run("faba", progress=3)


def test_fair_shares_and_indices():
    assert fw.max_min([1.0, 4.0, math.inf], 9.0) == [1.0, 4.0, 4.0]
    assert fw.max_min([math.inf, math.inf], 9.0, [1.0, 2.0]) == [3.0, 6.0]
    assert fw.jain([1, 1, 1]) == 1 and fw.jain([1, 0, 0, 0]) == 0.25
    for demands, capacity, weights in [([-1.0], 1.0, None), ([1.0], math.nan, None), ([1.0], 1.0, [0.0]), ([1.0], 1.0, [])]:
        with pytest.raises(ValueError, match="allowed"):
            fw.max_min(demands, capacity, weights)


def test_disciplines_and_their_pages():
    table = fw.disciplines()
    assert {"faba", "lqd", "afd-ft", "rqm", "fq-codel"} <= set(table["name"])
    assert "lambda2" in fw.describe("faba")
    assert "red" in fw.describe("drr+red")
    with pytest.raises(LookupError, match="faba"):
        fw.describe("fabba")


def test_a_standalone_discipline_keeps_every_packet():
    queue = fw.Discipline("drr+lqd", rate="1 Mbit/s", buffer="4 packets", packet=1000)
    numbers = [queue.enqueue(flow, 1000, now=0.001 * at) for at, flow in enumerate([1, 1, 1, 1, 1, 2, 3])]
    assert numbers == list(range(7)) and queue.backlog == (4, 4000)
    dropped = queue.drops()
    assert len(dropped) == 3 and {cause for _, cause in dropped} <= {"push-out", "overflow"}
    assert queue.drops() == []
    left = []
    while (number := queue.dequeue(now=1.0)) is not None:
        left.append(number)
    assert sorted([number for number, _ in dropped] + left) == numbers
    assert {5, 6} <= set(left), "the flows with one packet keep it"
    assert queue.ready_at is None
    with pytest.raises(ValueError, match="or later"):
        queue.enqueue(1, 1000, now=0.5)
    with pytest.raises(ValueError, match="65535"):
        queue.enqueue(1, 0, now=2.0)
    with pytest.raises(ValueError, match="rate"):
        fw.Discipline("faba", rate="1", buffer="4 packets")
    with pytest.raises(ValueError, match="faba"):
        fw.Discipline("fabba", rate="1 Mbit/s", buffer="4 packets")


def test_pictures(tmp_path):
    import matplotlib

    matplotlib.use("agg")
    result = short().run(["tail-drop", "faba"], seeds=[1, 2])
    with matplotlib.rc_context(fw.plot.style("paper")):
        axes = fw.plot.shares(result)
        axes.figure.savefig(tmp_path / "shares.svg")
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["tail-drop", "faba"]
        assert {text.get_text() for text in axes.get_legend().get_texts()} == {"tcp", "udp"}
        axes = fw.plot.waterline([1.0, 4.0, math.inf], [1.0, 3.5, 4.5], 9.0, unit="Mbit/s")
        assert axes.get_ylabel() == "Mbit/s"
        axes.figure.savefig(tmp_path / "waterline.pdf")
    assert (tmp_path / "shares.svg").stat().st_size > 1000
    with pytest.raises(ValueError, match="paper"):
        fw.plot.style("poster")


def test_the_package_is_light():
    code = "import sys, fairwire; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    heavy = {"matplotlib", "numpy", "pandas", "polars", "pyarrow"}
    assert "fairwire" in done.stdout.split() and not heavy & set(done.stdout.split())
    package = Path(fw.__file__).parent
    assert sum(file.stat().st_size for file in package.rglob("*.so")) < 20e6
    assert (package / "py.typed").exists()


def test_stubs_match_the_module(tmp_path):
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = true\ndisable_error_code = import-untyped\n")
    check = [sys.executable, "-m", "mypy.stubtest", "fairwire", "--mypy-config-file", str(config)]
    done = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_type_checker_accepts_the_calls_of_the_pages(tmp_path):
    code = """
import fairwire as fw

class Mine(fw.Dropper):
    def __init__(self, start: float = 0.5) -> None:
        self.start = start

scenario = fw.Scenario.load("x.toml")
scenario.run([Mine, {Mine: {"start": 0.8}}])
disciplines = ["tail-drop", Mine, {Mine: {"start": 0.8, "scheduler": "drr"}, "label": "late"}]
scenario.run(disciplines, on=["sim", "lab"]).agreement["verdict"]
scenario.set("flow.tcp.tcp.control", {Mine: {"start": 1}})
"""
    (tmp_path / "page.py").write_text(code)
    # Nothing else is read: the types of other packages take most of the time.
    config = "[mypy]\nstrict = true\nfollow_imports = skip\n[mypy-fairwire.*]\nfollow_imports = normal\n"
    (tmp_path / "mypy.ini").write_text(config)
    check = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "page.py"]
    done = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_item_has_a_docstring():
    items = [getattr(fw, name) for name in fw.__all__ if name not in {"ENGINE", "__version__"}]
    for item in items:
        assert item.__doc__, item
        if isinstance(item, type):
            names = [name for name in vars(item) if not name.startswith("_")]
            missing = [name for name in names if not getattr(item, name).__doc__]
            assert issubclass(item, Exception) or not missing, (item, missing)
