"""Stages from Python: the simulator beside this machine's own TCP."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import fairwire as fw
import pytest

TWO = {
    "format": 2,
    "name": "two",
    "duration": "1 s",
    "warm_up": "300 ms",
    "seeds": 1,
    "disciplines": ["fq-codel"],
    "link": {"rate": "10 Mbit/s", "delay": "10 ms", "buffer": "100 packets"},
    "flow": [
        {
            "group": "tcp",
            "source": "bulk",
            "tcp": {"profile": "modern"},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        {
            "group": "udp",
            "source": {"cbr": {"rate": "8 Mbit/s"}},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
    ],
}


class Early(fw.Dropper):
    """Counts what it sees, in this process."""

    seen = 0

    def on_arrival(self, packet, queue, now):
        Early.seen += 1
        return "drop" if len(queue) >= 20 else None


class Broken(fw.Dropper):
    def on_arrival(self, packet, queue, now):
        raise RuntimeError("mine")


def on_both(**changes) -> fw.Result:
    """A run on both stages; skipped where this machine may not make network namespaces."""
    disciplines = changes.pop("disciplines", None)
    try:
        return fw.Scenario(TWO).run(disciplines, on=["sim", "lab"], **changes)
    except fw.StageError as error:
        if error.allowed is None:
            raise
        pytest.skip(f"SKIPPED: {error}")


@pytest.fixture(scope="module")
def both() -> fw.Result:
    Early.seen = 0
    return on_both(disciplines=["fq-codel", Early], every="100 ms", delays=True)


def test_a_run_on_two_stages_has_the_comparison_and_its_verdict_as_data(both):
    assert both.stages == ["sim", "lab"] and set(both.verdicts) == {"lab"}
    near = both.agreement
    assert near.keys == ["discipline", "stage", "measure"]
    rows = {(row["discipline"], row["measure"]): row for row in near.to_polars().iter_rows(named=True)}
    tcp = rows["fq-codel", "fraction.tcp"]
    assert (tcp["stage"], tcp["against"], tcp["allowed"]) == ("lab", "sim", 0.03)
    assert rows["fq-codel", "jain"]["verdict"] is None
    # Half of the link each; a busy machine is not near it, but knows who got what.
    assert abs(tcp["difference"]) < 0.3 and tcp["verdict"] in ("holds", "does not hold")
    worst = {"holds": 0, "unclear": 1, "known": 2, "does not hold": 3}
    verdicts = [verdict for verdict in near["verdict"] if verdict is not None]
    assert both.verdicts["lab"] == max(verdicts, key=worst.__getitem__)
    assert f"lab agrees with sim: {both.verdicts['lab']}" in repr(both)


def test_tables_name_the_stage_of_each_row(both):
    for name in ["flows", "links", "fairness", "summary", "measures", "series", "delays"]:
        table = getattr(both, name)
        assert table.columns[:2] == ["discipline", "stage"], name
        assert not table.keys or table.keys[:2] == ["discipline", "stage"], name
        assert set(table["stage"]) == ({"sim"} if name == "delays" else {"sim", "lab"}), name
    assert "`delays`: of the stage `sim` only" in both.notes
    assert "throughput" in set(both.series["measure"])
    assert "fq-codel on lab" in both._repr_html_()
    data = both.to_xarray("share.tcp")
    assert data.dims == ("discipline", "stage", "seed") and data.sel(stage="lab").notnull().all()
    assert pickle.loads(pickle.dumps(both)).verdicts == both.verdicts
    again = pickle.loads(pickle.dumps(both.agreement))
    assert again.to_dict() == both.agreement.to_dict()


def test_a_class_of_python_shares_real_packets(both):
    assert Early.seen > 1000  # some 800 packets and more in each of two runs
    columns = (both.links[name] for name in ("discipline", "stage", "drops_early"))
    drops = {stage: count for of, stage, count in zip(*columns) if of == "Early"}
    assert drops["sim"] > 10 and drops["lab"] > 10


def test_an_exception_of_a_class_ends_a_run_of_the_lab(both):
    with pytest.raises(RuntimeError, match="mine") as caught:
        fw.Scenario(TWO).run(["tail-drop", Broken], on="lab")
    assert [row for row in caught.value.result.links["discipline"]] == ["tail-drop"]


def test_each_stage_has_its_pictures(both):
    import matplotlib

    matplotlib.use("agg")
    names = [tick.get_text() for tick in fw.plot.shares(both).get_xticklabels()]
    assert names == ["fq-codel on sim", "fq-codel on lab", "Early on sim", "Early on lab"]
    assert len(fw.plot.throughput(both)) == 4


def test_unknown_stages_are_refused():
    scenario = fw.Scenario(TWO)
    for on, kind, message in [
        ("labb", ValueError, "`on`: unknown stage `labb`; allowed: `sim`, `lab`; did you mean `lab`"),
        ([], ValueError, "`on` is empty; allowed: "),
        (["sim", "sim"], ValueError, "`sim` is given twice"),
        (3, TypeError, "`on` is 3; allowed: "),
    ]:
        with pytest.raises(kind, match=message):
            scenario.run(on=on)
    with pytest.raises(ValueError, match="`packets` is of the simulator only"):
        scenario.run(on="lab", packets=True)
    agree = [{"measure": "jain", "tolerance": 0.1, "because": "it is a test", "stage": "labb"}]
    with pytest.raises(fw.ScenarioError, match="did you mean `lab`"):
        fw.Scenario({**TWO, "agree": agree}).run(on="sim")
    alone = scenario.run(on="sim")
    assert alone.stages == ["sim"] and alone.verdicts == {} and len(alone.agreement) == 0
    assert "stage" not in scenario.run().flows.columns


def test_an_unsupported_run_of_a_stage_is_an_error_with_finished_results():
    many = {**TWO, "flow": [{**TWO["flow"][0], "source": {"web": {}}}]}
    with pytest.raises(fw.StageError, match="lab cannot run this: ") as caught:
        fw.Scenario(many).run(on=["sim", "lab"])
    error = caught.value
    assert error.stage == "lab" and error.allowed and set(error.result.flows["stage"]) == {"sim"}


def test_without_privileges_the_error_names_the_requirement():
    if os.geteuid() != 0:
        pytest.skip("SKIPPED: only root can give up its rights")
    code = f"""
import fairwire as fw
try:
    fw.Scenario({TWO!r}).run(on=["sim", "lab"])
except fw.StageError as error:
    print(error.stage, list(set(error.result.flows["stage"])), error)
"""
    # A user namespace whose root may make no others, and then no rights in it.
    limited = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", limited, "sh", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lab ['sim'] lab cannot run this here: this process may not make network")
    assert "Allowed: running as root; or as any user" in done.stdout


def test_ctrl_c_ends_the_lab_and_leaves_nothing(both):
    code = f"""
import fairwire as fw
print("begins", flush=True)
try:
    fw.Scenario({TWO!r}).set("duration", "60 s").run(on="lab")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    tasks = Path(f"/proc/{process.pid}/task")
    helpers: list[str] = []
    deadline = time.monotonic() + 20
    while not helpers and time.monotonic() < deadline:
        helpers = [pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
    process.send_signal(2)
    answer, _ = process.communicate(timeout=20)
    assert answer == "stopped\n" and helpers
    assert not any(Path(f"/proc/{pid}").exists() for pid in helpers)
