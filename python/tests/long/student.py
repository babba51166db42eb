"""The jobs of a student, in Python alone and as the pages have them, each with the seconds that it takes.

``make python-student``, after ``make python``; the stage `lab` needs root. All in under ten minutes.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import fairwire as fw
import matplotlib

matplotlib.use("agg")

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = ROOT / "scenarios"
ACCESS = {"rate": "1 Gbit/s", "delay": "1 ms"}
FORTY = {"duration": "40 s", "warm_up": "8 s"}


def contest(**more: Any) -> fw.Scenario:
    """A CUBIC beside what is compared."""
    of = {"source": "bulk", "rtt": "40 ms", "tcp": {"control": "cubic"}, "access": {"rate": "1 Gbit/s"}, "start": "0 s..1 s"}
    base = {
        "format": 2,
        "name": "contest",
        "duration": "60 s",
        "warm_up": "10 s",
        "seeds": "1..=3",
        "disciplines": ["tail-drop"],
        "link": {"rate": "50 Mbit/s", "delay": "10 ms", "buffer": "1 bdp"},
        "flow": [{"group": "mine", **of}, {"group": "other", **of}],
    }
    return fw.Scenario(base).set(more) if more else fw.Scenario(base)


class Linear(fw.Dropper):
    """Drops more often the fuller the buffer is."""

    def on_arrival(self, packet, queue, now):
        fill = len(queue) / queue.max_packets
        if self.random.random() < 2 * fill - 1:
            return "drop"


def selfish() -> fw.Scenario:
    return fw.Scenario.load(SCENARIOS / "selfish-flow.toml")


def web() -> fw.Scenario:
    return fw.Scenario.load(SCENARIOS / "web-beside-bulk.toml")


def first_contest() -> str:
    result = selfish().set(FORTY).run(["tail-drop", "red", "faba"], seeds="1..=3")
    fw.plot.shares(result)
    return f"{len(result.fairness)} runs, and a picture"


def grid() -> fw.Sweep:
    vary = {
        "discipline": ["tail-drop", "red", "faba", "drr"],
        "link.buffer": fw.geom("50 packets", "400 packets", 4),
        "flow.tcp.count": [4, 9, 14, 19],
    }
    folder = Path(tempfile.mkdtemp()) / "store"
    changes = {"duration": "60 s", "warm_up": "10 s"}
    return fw.sweep(selfish().set(changes), vary, seeds=range(1, 7), measures=["share.tcp", "jain"], store=folder)


def sweep() -> str:
    plan = grid()
    cost = plan.cost()
    plan.run()
    again = len(plan.missing())
    rows = plan.to_xarray()["jain"].mean("seed")  # panels: rows.plot(x="link.buffer", col="discipline")
    rows.sel(discipline="faba").plot(x="link.buffer", hue="flow.tcp.count")
    return f"{plan.runs} runs, {cost['cpu_hours'] * 3600:.0f} s of one core were said, {again} missing; axes of {rows['link.buffer'].dtype}"


def controllers() -> str:
    vary = {"flow.mine.tcp.control": ["bbr", "bbr3"], "link.buffer": [f"{size} bdp" for size in (0.5, 1, 2, 4, 8, 16)]}
    plan = fw.sweep(contest(duration="120 s"), vary, seeds="1..=3", measures=["share.mine"], store=Path(tempfile.mkdtemp()) / "s")
    table = plan.run().summary
    return f"{plan.runs} runs; BBR at 0.5 bdp {table['share.mine'][0]:.2f}; notes {len(plan.notes)}"


def completion_times() -> str:
    from matplotlib import pyplot

    result = web().set("duration", "120 s").run("tail-drop", seeds="1..=20", transfers=True)
    times = sorted(result.completed["seconds"])
    pyplot.ecdf(result.completed["seconds"])
    return f"{len(times)} transfers and pages, median {times[len(times) // 2]:.3f} s"


def delays_and_traces() -> str:
    measures = ["page_p99_9_s.web"]
    result = web().set(FORTY).run(["tail-drop", "fq-codel"], seeds=1, one_way=True, packets=True, delays=True, measures=measures)
    fw.plot.delay_cdf(result)
    return f"{len(result.one_way)} bins of one-way delays, {len(result.packets)} events of packets"


def figures() -> str:
    result = selfish().set(FORTY).run(["tail-drop", "faba"], seeds="1..=3", every="100 ms", flows=True, delays=True)
    fw.plot.throughput(result)
    fw.plot.series(result, "cwnd", of="flow", discipline="faba")
    fw.plot.delay_cdf(result)
    return f"three figures of {len(result.series)} rows"


def lessons() -> str:
    files = [*sorted((SCENARIOS / "lessons").glob("*.toml")), *sorted((SCENARIOS / "exercises").glob("*.toml"))]
    runs = sum(len(fw.Scenario.load(file).run().fairness) for file in files)
    return f"{len(files)} lessons and exercises, {runs} runs"


def many_runs() -> str:
    scenario = contest(duration="2 s", warm_up="500 ms")
    return f"{len(scenario.run(seeds='1..=10000').fairness)} runs of 2 s"


def million() -> str:
    tcp = {"group": "tcp", "count": 1_000_000, "source": "bulk", "access": {"rate": "10 Mbit/s", "delay": "1 ms"}}
    link = {"rate": "10 Gbit/s", "delay": "1 ms", "buffer": "10000 packets"}
    base = {"format": 2, "name": "many", "duration": "2 s", "seeds": 1, "disciplines": ["tail-drop"], "link": link, "flow": [tcp]}
    return f"{len(fw.Scenario(base).run().flows)} flows"


def own_class() -> str:
    result = selfish().set(FORTY).run(["tail-drop", Linear, "faba"], seeds="1..=3")
    return f"{len(result.fairness)} runs, three of them of a class"


def stop_and_incast() -> str:
    flow = [{"group": name, "count": 1, "source": "bulk", "access": ACCESS} for name in ("a", "b")]
    base = {
        "format": 2,
        "name": "stop",
        "duration": "40 s",
        "seeds": 1,
        "disciplines": ["drr"],
        "link": {"rate": "12 Mbit/s", "delay": "10 ms", "buffer": "1 bdp"},
        "flow": [flow[0], {**flow[1], "start": "10 s", "stop": "30 s"}],
    }
    shares = fw.Scenario(base).run().fairness
    senders = {
        "group": "senders",
        "count": 12,
        "pattern": "incast",
        "source": {"transfers": {"size": {"fixed": "64 kB"}, "think": {"fixed": "10 s"}}},
        "tcp": {"control": "dctcp"},
        "access": {"rate": "1 Gbit/s", "delay": "1 us"},
    }
    network = {"fat-tree": {"k": 4, "rate": "1 Gbit/s", "delay": "5 us", "buffer": "100 packets"}}
    tree = {"format": 2, "name": "incast", "duration": "1 s", "seeds": 1, "network": network, "flow": [senders]}
    disciplines = ["tail-drop", {"step": {"threshold": "20 packets"}}]
    result = fw.Scenario({**tree, "disciplines": disciplines}).run(transfers=True)
    return f"Jain {shares['jain'][0]:.3f}; the last of 12 transfers after {1e3 * max(result.completed['seconds']):.1f} ms"


def l4s() -> str:
    changes = {"flow.mine.tcp.control": "prague", "duration": "30 s"}
    result = contest(**changes).run(["dualpi2", "fq-codel", "cake-like"], seeds=1)
    return f"marks {', '.join(str(count) for count in result.to_xarray('marks').values[:, 0].astype(int))}"


def run_one(scenario: fw.Scenario) -> fw.Result:
    return scenario.run(seeds=1)


def processes() -> str:
    scenarios = [contest(**{"link.buffer": f"{size} bdp", "duration": "20 s"}) for size in (0.5, 1, 2, 4)]
    with ProcessPoolExecutor(2) as pool:
        results = list(pool.map(run_one, scenarios))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "report.json").write_text(results[0].to_json())
        same = fw.read(folder).summary.to_dict() == pickle.loads(pickle.dumps(results[0])).summary.to_dict()
    return f"{len(results)} results from processes; read back equal: {same}"


def dask() -> str:
    from distributed import Client, LocalCluster

    folder = Path(tempfile.mkdtemp()) / "store"
    changes = {"duration": "10 s", "warm_up": "2 s"}
    vary = {"link.buffer": fw.geom("50 packets", "400 packets", 4), "discipline": ["tail-drop", "drr", "faba"]}
    plan = fw.sweep(selfish().set(changes), vary, seeds=range(1, 51), measures=["jain"], store=folder)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        victims = [worker.pid for worker in cluster.workers.values()]
        killer = os.fork()
        if killer == 0:  # no more than a sleep and a signal
            time.sleep(1.5)
            os.kill(victims[0], signal.SIGKILL)
            os._exit(0)
        plan.run(on=client)
        os.waitpid(killer, 0)
    return f"{plan.runs} runs on Dask, a worker killed, {len(plan.missing())} missing"


def large_table() -> str:
    source = contest().set({"flow.mine.count": 50, "flow.other.count": 50, "duration": "10 s", "warm_up": "1 s"})
    table = source.run(seeds=1, every="9 ms", flows=True).series
    table.to_polars(), table.to_pandas(), table.to_xarray()
    return f"{len(table)} rows to Polars, pandas and xarray"


def stages() -> str:
    try:
        result = contest(duration="10 s", warm_up="3 s").run("fq-codel", seeds=1, on=["sim", "lab"])
    except fw.StageError as error:
        return f"SKIPPED: {error}"
    return f"verdicts {result.verdicts}, {len(result.agreement)} measures compared"


def papers() -> str:
    exhibit = fw.Reproduction(cache=False).run("faba.table1")
    return f"Table 1 of Kamra et al.: {len(exhibit.values)} values, {len(exhibit.claims)} claims"


JOBS: list[Callable[[], str]] = [
    first_contest,
    sweep,
    controllers,
    completion_times,
    delays_and_traces,
    figures,
    lessons,
    many_runs,
    million,
    own_class,
    stop_and_incast,
    l4s,
    processes,
    dask,
    large_table,
    stages,
    papers,
]


if __name__ == "__main__":
    begun = time.perf_counter()
    for job in JOBS:
        start = time.perf_counter()
        said = job()
        print(f"{time.perf_counter() - start:6.1f} s  {job.__name__:18} {said}", flush=True)
        matplotlib.pyplot.close("all")
    total = time.perf_counter() - begun
    print(f"{total:6.1f} s  in all, {os.getloadavg()[0]:.1f} load")
    sys.exit(0 if total < 600 else 3)
