#!/usr/bin/env python3
"""What a sweep on Dask and a large store cost.

    make python && target/python/venv/bin/python proof/bench/sweeps.py [dask] [store]

`dask` makes 100 000 contests of one second with two workers of one thread: the processor time of each
process, that of the runs alone, and the number of tasks. Then it makes them in
this process, with `run(jobs=2)`. `store` makes 1 000 000 runs as short as they may be, and reads them.
Each takes one to two minutes of two cores.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import fairwire as fw

ROOT = Path(__file__).resolve().parent.parent
SEEDS = os.environ.get("SEEDS", "1..=10000")
ACCESS = {"rate": "100 Mbit/s", "delay": "1 ms"}
SHORT = {
    "format": 2,
    "name": "short",
    "duration": "20 ms",
    "warm_up": "5 ms",
    "disciplines": ["tail-drop"],
    "link": {"rate": "2 Mbit/s", "delay": "1 ms", "buffer": "40 packets"},
    "flow": [
        {
            "group": name,
            "source": {"cbr": {"rate": rate, "packet": "500 B"}},
            "access": ACCESS,
            "start": "0 s..2 ms",
        }
        for name, rate in (("a", "2 Mbit/s"), ("b", "1 Mbit/s"))
    ],
}


def contests(store: str) -> fw.Sweep:
    """Ten cells of the selfish flow, a second each."""
    scenario = fw.Scenario.load(ROOT / "scenarios" / "selfish-flow.toml").set(
        {"duration": "1 s", "warm_up": "200 ms", "flow.tcp.start": "0 s..100 ms", "flow.udp.start": "0 s..100 ms"}
    )
    vary = {"discipline": ["tail-drop", "faba"], "link.buffer": fw.linear("100 packets", "500 packets", 5)}
    return fw.sweep(scenario, vary, seeds=SEEDS, measures=["share.tcp", "jain", "sojourn_p99_s"], store=store)


def short_runs(store: str) -> fw.Sweep:
    """A hundred cells of 20 ms."""
    vary = {
        "discipline": ["tail-drop", "drr+lqd"],
        "link.buffer": fw.linear("5 packets", "14 packets", 10),
        "link.delay": ["1 ms", "2 ms", "3 ms", "4 ms", "5 ms"],
    }
    return fw.sweep(SHORT, vary, seeds=SEEDS, measures=["share.a", "jain", "sojourn_mean_s"], store=store)


def cpu_s(pid: int) -> float:
    """The processor time of a process, user and system, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def timed_shard(shard: str) -> tuple[int, float]:
    """`run_shard`, and into the log of its worker the processor time of the runs."""
    from dask.distributed import get_worker
    from fairwire._fairwire import run_shard

    result = run_shard(shard)
    get_worker().log_event("fairwire-cpu", result[1])
    return result


def dask(folder: str) -> None:
    from dask.distributed import Client
    from fairwire import _sweep

    _sweep.run_shard = timed_shard

    def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    file = f"{folder}/scheduler.json"
    processes = [start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file, "--no-show")]
    for _ in range(2):
        processes.append(start("dask_worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny"))
    try:
        while not Path(file).exists():
            time.sleep(0.1)
        with Client(scheduler_file=file) as client:
            client.wait_for_workers(2)
            pids = [os.getpid(), *(process.pid for process in processes)]
            before = [cpu_s(pid) for pid in pids]
            there = contests(f"{folder}/dask").run(on=client)
            took = [cpu_s(pid) - was for pid, was in zip(pids, before, strict=True)]
            simulated = sum(seconds for _, seconds in client.get_events("fairwire-cpu"))
            tasks = client.run_on_scheduler(lambda dask_scheduler: len({row[0] for row in dask_scheduler.transition_log}))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    began = time.process_time()
    here = contests(f"{folder}/here").run(jobs=2)
    alone = time.process_time() - began
    print(f"{there.runs} contests on Dask: client {took[0]:.1f} s, scheduler {took[1]:.1f} s,", end=" ")
    print(f"workers {sum(took[2:]):.1f} s of processor time, {tasks} tasks")
    print(f"simulation: {simulated:.1f} s, {100 * simulated / sum(took):.1f} % of the processor time")
    print(f"the same with run(jobs=2): {alone:.1f} s, {100 * alone / sum(took):.1f} % of that")
    print("the tables are", "equal" if there.table.to_dict() == here.table.to_dict() else "NOT EQUAL")


def timed(what: str, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    result = work()
    print(f"  {what}: {time.perf_counter() - began:.2f} s ({result})")


def store(folder: str) -> None:
    import duckdb
    import polars

    made = short_runs(folder).run(jobs=2, progress=True)
    files = f"{folder}/runs/*.parquet"
    for state in ("as written", "after compact()"):
        paths = list(Path(folder, "runs").glob("*.parquet"))
        size = sum(path.stat().st_size for path in paths)
        print(f"{made.runs} runs {state}: {len(paths)} files, {size / 1e6:.1f} MB")
        timed("missing()", lambda: len(short_runs(folder).missing()))
        timed("a column by Polars", lambda: polars.scan_parquet(files).select("jain").collect().height)
        timed("a column by DuckDB", lambda: duckdb.sql(f"select sum(jain) from '{files}'").fetchall())
        timed("plan.table", lambda: len(short_runs(folder).table))
        if state == "as written":
            timed("compact()", made.compact)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["dask", "store"]:
        with tempfile.TemporaryDirectory() as temporary:
            {"dask": dask, "store": store}[name](temporary)
