"""Sweeps from Python: the same rows whatever makes them, and clear errors."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import fairwire as fw
import pytest

SCENARIO = {
    "format": 2,
    "name": "two",
    "duration": "2 s",
    "warm_up": "500 ms",
    "seeds": "1..=3",
    "disciplines": ["tail-drop", "faba"],
    "link": {"rate": "2 Mbit/s", "delay": "5 ms", "buffer": "40 packets"},
    "flow": [
        {
            "group": "tcp",
            "count": 2,
            "source": "bulk",
            "tcp": {"profile": "ns2-2002"},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
        },
        {
            "group": "udp",
            "source": {"cbr": {"rate": "1 Mbit/s", "packet": "500 B"}},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
        },
    ],
}
VARY = {
    "discipline": ["tail-drop", "faba", {"red": {"max_probability": 0.1}}],
    "link.buffer": fw.geom("20 packets", "80 packets", 3),
    "flow.tcp.count": [1, 3],
}
MEASURES = ["share.udp", "jain", "sojourn_mean_s"]


def sweep(store, **more):
    arguments = {"vary": VARY, "seeds": "1..=4", "measures": MEASURES, **more}
    return fw.sweep(SCENARIO, store=store, **arguments)


def rows(made):
    return made.table.to_dict()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    made = sweep(tmp_path_factory.mktemp("local")).run(jobs=1)
    assert len(made.table) == made.runs == 3 * 3 * 2 * 4
    return rows(made)


def test_a_sweep_is_a_table_with_the_values_of_single_runs(expected):
    assert sorted(list(expected)[:2]) == ["flow.tcp.count", "link.buffer"]
    assert list(expected)[2:] == ["discipline", "seed", *MEASURES]
    at = next(
        row
        for row in range(len(expected["seed"]))
        if (expected["link.buffer"][row], expected["flow.tcp.count"][row], expected["discipline"][row], expected["seed"][row])
        == (40.0, 3.0, "red", 2)
    )
    scenario = fw.Scenario(SCENARIO).set({"link.buffer": "40 packets", "flow.tcp.count": 3})
    single = scenario.run({"red": {"max_probability": 0.1}}, seeds=2).summary
    for name in MEASURES:
        assert expected[name][at] == single["mean"][single["measure"].index(name)], name


def test_threads_and_processes_give_the_same_rows(expected, tmp_path):
    assert rows(sweep(tmp_path / "two").run(jobs=2)) == expected
    for number, pool in enumerate([ThreadPoolExecutor(2), ProcessPoolExecutor(2)]):
        with pool:
            made = sweep(tmp_path / str(number)).run(on=pool, seconds=0.01, max_shards=9)
        assert rows(made) == expected
        assert len(list((tmp_path / str(number) / "runs").glob("*.parquet"))) > 2


def test_dask_gives_the_same_rows(expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path / "dask")
    ) as cluster:
        with distributed.Client(cluster) as client:
            fractions = []
            made = sweep(tmp_path / "store").run(on=client, seconds=0.01, max_shards=9, progress=fractions.append)
    assert rows(made) == expected
    assert fractions[-1] == 1.0 and fractions == sorted(fractions)


def test_ray_gives_the_same_rows(expected, tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        made = sweep(tmp_path).run(on=ray, seconds=0.01, max_shards=9)
    finally:
        ray.shutdown()
    assert rows(made) == expected


def test_the_command_reads_and_writes_the_same_store(expected, tmp_path):
    command = os.environ.get("FAIRWIRE_COMMAND")
    if command is None:
        pytest.skip("SKIPPED: FAIRWIRE_COMMAND names no command (`make build` makes one)")
    (tmp_path / "two.toml").write_text(fw.Scenario(SCENARIO).toml)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """format = 1
scenario = "two.toml"
seeds = "1..=4"
measures = ["share.udp", "jain", "sojourn_mean_s"]
[vary]
discipline = ["tail-drop", "faba", { red = { max_probability = 0.1 } }]
"link.buffer" = { from = "20 packets", to = "80 packets", points = 3, spacing = "log" }
"flow.tcp.count" = [1, 3]
"""
    )
    for index in range(1, 5):
        subprocess.run([command, "--quiet", "sweep", plan, "--shard", f"{index}/4"], check=True, capture_output=True)
    made = fw.Sweep.load(plan)
    assert len(made.missing()) == 0
    assert rows(made) == expected
    assert rows(sweep(tmp_path / "results")) == expected


def test_stored_runs_are_reused_and_missing_ones_are_explained(tmp_path):
    first = sweep(tmp_path).run()
    assert len(first.missing()) == 0 and first.explain(0) == "it is in the store"
    more = sweep(tmp_path, seeds="1..=5")
    assert more.missing()["seed"] == [5] * 18
    assert more.missing()["row"][0] == 4 and "no run with these values" in more.explain(4)
    slower = fw.sweep(fw.Scenario(SCENARIO).set("link.delay", "9 ms"), VARY, seeds=[1], measures=MEASURES, store=tmp_path)
    assert "`--set link.delay` was missing and is `\"9 ms\"`" in slower.explain(0)
    cost = more.cost()
    assert cost["runs"] == 90 and cost["missing"] + cost["pilot"] == 18 and cost["cpu_hours"] > 0


def test_polars_and_duckdb_read_the_store(expected, tmp_path):
    sweep(tmp_path, flows=True).run()
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(tmp_path / "runs" / "*.parquet")
    assert frame.height == 72 and frame["jain"].sum() == pytest.approx(sum(expected["jain"]))
    duckdb = pytest.importorskip("duckdb")
    query = f"select count(*), count(distinct cell || seed) from '{tmp_path}/flows/*.parquet'"
    assert duckdb.sql(query).fetchall() == [(36 * 2 + 36 * 4, 72)]


def test_a_sweep_has_labelled_arrays_and_means(tmp_path):
    made = sweep(tmp_path, seeds=[1, 2]).run()
    array = made.to_xarray()
    assert dict(array.sizes) == {"link.buffer": 3, "flow.tcp.count": 2, "discipline": 3, "seed": 2}
    assert len(made.summary) == 18 and set(made.summary["runs"]) == {2}
    assert "<table>" in made._repr_html_()
    assert made.compact()[1] == 1


def test_a_sweep_notes_other_differences_between_cells(tmp_path):
    vary = {"flow.tcp.tcp.control": ["reno", "dctcp"]}
    made = fw.sweep(SCENARIO, vary, seeds=1, measures=["jain"], store=tmp_path).run()
    assert "`flow.tcp.tcp.ecn` is" in made.notes[0]
    assert f"note: {made.notes[0]}" in repr(made) and "<p>Note: " in made._repr_html_()


def test_a_precision_adds_seeds_where_they_are_needed(tmp_path):
    made = fw.sweep(SCENARIO, seeds=range(1, 61), measures=["share.udp"], precision=0.02, store=tmp_path).run()
    assert 16 < sum(made.summary["runs"]) < 120
    for runs, mean, half in zip(made.summary["runs"], made.summary["share.udp"], made.summary["share.udp_half_width_95"], strict=True):
        assert runs == 60 or half <= 0.02 * mean


def test_mistakes_are_reported_before_any_run(tmp_path):
    def refused(kind, part, scenario=SCENARIO, **arguments):
        with pytest.raises(kind, match=part):
            fw.sweep(scenario, **{"store": tmp_path, **arguments})

    refused(fw.ScenarioError, "bufer", vary={"link.bufer": ["20 packets"]})
    refused(fw.ScenarioError, "fabba", vary={"discipline": ["fabba"]})
    refused(fw.ScenarioError, "jane", measures=["jane"])
    refused(fw.ScenarioError, "how much may wait", vary={"link.buffer": [20]})
    refused(TypeError, "a list of values", vary={"link.buffer": "20 packets"})
    refused(TypeError, "workers in other processes", vary={"discipline": [fw.Dropper]})
    with pytest.raises(TypeError, match="a concurrent.futures.Executor"):
        sweep(tmp_path).run(on=3)
    with pytest.raises(ValueError, match="'local'"):
        sweep(tmp_path).run(on="cluster")
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_store_is_reported_and_stays(tmp_path):
    made = sweep(tmp_path, seeds=1).run()
    part = next((tmp_path / "runs").glob("*.parquet"))
    whole = part.read_bytes()
    part.write_bytes(whole[:-9])
    with pytest.raises(fw.SweepError, match="changed or truncated"):
        made.missing()
    part.write_bytes(whole)
    assert len(made.missing()) == 0
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(fw.SweepError, match="file"):
        sweep(file).run()


FULL = """
import sys, fairwire as fw
sys.path.insert(0, sys.argv[1])
from test_sweep import sweep
try:
    sweep(sys.argv[2], seeds="1..=40").run(jobs=1)
except fw.SweepError as error:
    print("SweepError", error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root can mount a file system")
def test_a_disk_that_fills_loses_no_row(tmp_path, expected):
    """A file system of 256 KiB, of which most is taken."""
    command = f"""
mount -t tmpfs -o size=256k none {tmp_path} || exit 77
head -c 245000 /dev/zero > {tmp_path}/taken
{sys.executable} -c '{FULL}' {Path(__file__).parent} {tmp_path}/store || exit 1
rm {tmp_path}/taken
{sys.executable} -c 'import sys; sys.path.insert(0, sys.argv[1]); from test_sweep import sweep, rows
made = sweep(sys.argv[2]); print(len(made.table), made.runs); made.run(); import json; print(json.dumps(rows(made)))' {Path(__file__).parent} {tmp_path}/store
"""
    ran = subprocess.run(["unshare", "--mount", "sh", "-c", command], capture_output=True, text=True)
    if ran.returncode == 77:
        pytest.skip("SKIPPED: no file system can be mounted here")
    assert ran.returncode == 0, ran.stderr
    import json

    lines = ran.stdout.splitlines()
    assert lines[0].startswith("SweepError") and ("space" in lines[0] or "full" in lines[0]), lines[0]
    kept, all_runs = map(int, lines[-2].split())
    assert 0 <= kept < all_runs or kept == all_runs
    assert json.loads(lines[-1]) == expected


def test_a_killed_sweep_resumes_with_the_same_rows(expected, tmp_path):
    """`make python-kills` does this at many moments, with Dask too."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from test_sweep import sweep; sweep(sys.argv[2]).run(jobs=1)"
    for wait in (0.3, 0.5):
        child = subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path / str(wait))])
        try:
            child.wait(wait)
        except subprocess.TimeoutExpired:
            pass
        child.kill()
        child.wait()
        assert rows(sweep(tmp_path / str(wait)).run()) == expected


def test_an_oversized_sweep_is_refused_with_remedies(tmp_path):
    many = sweep(tmp_path / "runs", vary={"link.buffer": fw.linear("20 packets", "9000 packets", 600)}, seeds="1..=10000")
    with pytest.raises(ValueError, match="has 12 million runs; allowed: 10 million runs, by fewer `seeds`.*yes=True"):
        many.run()
    large = sweep(tmp_path / "memory", vary={"flow.tcp.count": [1, 900_000]}, seeds="1..=64")
    with pytest.raises(ValueError, match="64 runs at once would take about .* of memory; allowed: 8 GB, by `jobs` of at most"):
        large.run(jobs=64)
    assert not list(tmp_path.glob("*/runs/*")), "nothing was begun"
