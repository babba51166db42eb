"""Kills a sweep on Dask many times, and looks at what is left. `make python-kills` runs it (minutes).

A scheduler, two workers of one thread, and a client each run in a process of their own. One of
them gets SIGKILL at a random moment; what is dead is started again, and the client goes on with its
sweep. There is no nanny: it would start a killed worker again by itself. Once a sweep is done its
table has to equal that of the same sweep on one thread. Then the next sweep begins, until there
were enough kills.

Workers load this file too: it writes down which shards they start. A shard is repeated if one of
its runs is started again later.
"""

import argparse
import ctypes
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import fairwire as fw

MEASURES = ["share.tcp", "jain", "sojourn_mean_s"]
SHARD_SECONDS = 0.3
SEEDS = 200  # of each of six cells
MAX_WAIT = 60.0  # seconds without progress after which a client is called stuck
KINDS = ["worker 0", "worker 1", "scheduler", "client"]


def plan(store, number):
    """Sweep number `number`: 1200 runs of some 10 ms, with seeds of its own."""
    flow = {"source": "bulk", "access": {"rate": "100 Mbit/s", "delay": "1 ms"}}
    scenario = {
        "format": 2,
        "name": "killed",
        "duration": "20 s",
        "warm_up": "2 s",
        "disciplines": ["tail-drop"],
        "link": {"rate": "10 Mbit/s", "delay": "5 ms", "buffer": "40 packets"},
        "flow": [
            {"group": "tcp", "count": 4, **flow},
            {**flow, "group": "udp", "source": {"cbr": {"rate": "5 Mbit/s", "packet": "500 B"}}, "start": "0 s..1 s"},
        ],
    }
    vary = {"discipline": ["tail-drop", "faba", "drr+lqd"], "link.buffer": ["40 packets", "80 packets"]}
    first = 1 + number * SEEDS
    return fw.sweep(scenario, vary, seeds=range(first, first + SEEDS), measures=MEASURES, store=store)


def client(address, store, number):
    """What a user writes."""
    from dask.distributed import Client

    with Client(address, timeout="20s") as dask:
        plan(store, number).run(on=dask, seconds=SHARD_SECONDS)


def dask_setup(_worker):
    """Invoked by a Dask worker as it starts: each shard is written down before and after it is made."""
    run_shard = fw._fairwire.run_shard
    out = os.open(os.environ["FAIRWIRE_KILLS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(**what):
        os.write(out, (json.dumps({"at": time.monotonic(), **what}) + "\n").encode())

    def logged(shard):
        cells = json.loads(shard)["cells"]
        note(runs=[f"{cell['hash']} {seed}" for cell in cells for seed in cell["seeds"]])
        done = run_shard(shard)
        note(done=True)
        return done

    fw._fairwire.run_shard = logged


class Cluster:
    """The processes, each of which may be killed and started again."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.running = {}
        self.job = None
        self.log = open(folder / "processes.log", "ab")
        self.shards = folder / "shards.jsonl"

    def start(self, kind):
        address = f"tcp://127.0.0.1:{self.port}"
        dask = [sys.executable, "-m", "distributed.cli"]
        if kind == "scheduler":
            dask[-1] += ".dask_scheduler"
            command = [*dask, "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        elif kind == "client":
            command = [sys.executable, __file__, "--client", address, *map(str, self.job)]
        else:
            dask[-1] += ".dask_worker"
            command = [*dask, address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            command += ["--preload", __file__, "--local-directory", str(self.folder), "--death-timeout", "60"]
        environment = os.environ | {"FAIRWIRE_KILLS_LOG": str(self.shards)}
        # Whatever ends this process ends its children.
        die_too = (lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL)) if sys.platform == "linux" else None
        self.running[kind] = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, env=environment, cwd=self.folder, preexec_fn=die_too
        )

    def start_what_is_dead(self):
        for kind in ["scheduler", "worker 0", "worker 1"]:
            if kind not in self.running or self.running[kind].poll() is not None:
                self.start(kind)

    def kill(self, kind):
        self.running[kind].kill()
        self.running[kind].wait()

    def stop(self):
        for process in self.running.values():
            process.kill()
        for process in self.running.values():
            process.wait()
        self.log.close()

    def events(self):
        return [json.loads(line) for line in self.shards.read_text().splitlines()] if self.shards.exists() else []


def run_and_kill(cluster, chance, count, kills):
    """One attempt of the client: it ends by itself or by a kill. Returns whether the sweep is done."""
    cluster.start_what_is_dead()
    cluster.start("client")
    began = time.monotonic()
    seen = len(cluster.events())
    moment, last = None, began
    while (code := cluster.running["client"].poll()) is None:
        now, events = time.monotonic(), len(cluster.events())
        if events > seen:
            last = now
            # From the first shard of this attempt on: before it there is little to lose.
            if moment is None and len(kills) < count:
                moment = now + chance.uniform(0.0, 1.5)
        seen = events
        if moment is not None and now >= moment:
            kind = chance.choice(KINDS)
            cluster.kill(kind)
            kills.append((now, kind))
            print(f"kill {len(kills)}: {kind}", flush=True)
            # A client goes on after the death of a worker, but not after that of the scheduler.
            moment = None if kind.startswith("worker") and len(kills) < count else float("inf")
            last = now
            cluster.start_what_is_dead()
        elif now - last > MAX_WAIT:
            cluster.kill("client")
            raise SystemExit(f"the client was stuck for {MAX_WAIT} s after {kills[-1:]}: see processes.log")
        else:
            cluster.start_what_is_dead()
        time.sleep(0.02)
    return code == 0


def repeated(events, kills):
    """For each kill, the number of shards that it interrupted: some of their runs are started again after it."""
    starts = [(event["at"], event["runs"]) for event in events if "runs" in event]
    later = {}
    counts = Counter()
    for at, runs in reversed(starts):
        again = [later[run] for run in runs if run in later]
        if again:
            between = [kill for kill, (when, _) in enumerate(kills) if at < when < min(again)]
            counts[between[0] if between else None] += 1
        later.update((run, at) for run in runs)
    return counts


def rows_twice(store):
    import pyarrow.dataset

    rows = pyarrow.dataset.dataset(store / "runs").to_table(columns=["cell", "seed"]).to_pydict()
    return len(rows["seed"]) - len(set(zip(rows["cell"], rows["seed"], strict=True)))


def main(count, seed, keep):
    chance = random.Random(seed)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="fairwire-kills-")) if keep else None
    with tempfile.TemporaryDirectory(prefix="fairwire-kills-") as temporary:
        folder = folder or Path(temporary)
        cluster = Cluster(folder)
        kills, twice, runs, sweeps = [], 0, 0, 0
        try:
            while len(kills) < count:
                store = folder / f"store-{sweeps}"
                cluster.job = (store, sweeps)
                while not run_and_kill(cluster, chance, count, kills):
                    pass
                here = plan(folder / f"local-{sweeps}", sweeps).run(jobs=1)
                if plan(store, sweeps).table.to_dict() != here.table.to_dict():
                    raise SystemExit(f"the table of sweep {sweeps} is not that of one thread")
                twice += rows_twice(store)
                runs += here.runs
                sweeps += 1
                print(f"sweep {sweeps}: its {here.runs} rows are those of one thread", flush=True)
        finally:
            cluster.stop()
        events = cluster.events()
    started = [event["runs"] for event in events if "runs" in event]
    counts = repeated(events, kills)
    print(f"{len(kills)} kills in {time.monotonic() - began:.0f} s: {dict(Counter(kind.split()[0] for _, kind in kills))}")
    print(f"{sweeps} sweeps, {runs} runs, of which {twice} are in a store twice")
    print(f"{len(started)} shards were started, {sum('done' in event for event in events)} ended")
    for kind in ["worker", "scheduler", "client"]:
        each = Counter(counts[at] for at, (_, killed) in enumerate(kills) if killed.startswith(kind))
        print(f"kills of a {kind}, by the number of shards that were made again: {dict(sorted(each.items()))}")
    print(f"shards that were made again with no kill before: {counts[None]}")
    most = {"worker": 1, "scheduler": 2, "client": 2}
    over = [(at, kind) for at, (_, kind) in enumerate(kills) if counts[at] > most[kind.split()[0]]]
    if over or counts[None]:
        raise SystemExit(f"more than a shard in flight on each worker was made again: {over}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Kills a sweep on Dask many times, and looks at what is left.")
    parser.add_argument("--kills", type=int, default=50, help="how many (default: 50)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments and of what is killed (default: 1)")
    parser.add_argument("--keep", action="store_true", help="keep the folder of stores and logs")
    parser.add_argument("--client", nargs=3, metavar=("ADDRESS", "STORE", "SWEEP"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        client(given.client[0], given.client[1], int(given.client[2]))
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
        main(given.kills, given.seed, given.keep)
