#!/usr/bin/env python3
"""The same open contest in ns.py and in fairwire: what each gives, and how long it takes.

    pip install ns.py fairwire && proof/bench/ns_py.py

Nine Poisson sources of 1.2 Mbit/s and one of 5 Mbit/s share a link of 10 Mbit/s behind a tail-drop
queue of 100 packets. Each adds seeds until the 95 % interval of the heavy flow's fraction is narrow
enough. No source listens to losses: ns.py's TCP gets 2 % of its share beside a flow that does not,
so a contest with TCP would compare nothing.
"""

import random
import time
from collections.abc import Callable

import fairwire as fw

DURATION_S, WARM_UP_S = 20.0, 5.0
PACKET_BYTES, LINK_BPS = 512, 10e6
LIGHT_BPS, HEAVY_BPS = 1.2e6, 5e6
MIN_SEEDS, HALF_WIDTH = 5, 0.001


def ns_py(seed: int) -> float:
    """The heavy flow's fraction of what is delivered."""
    import simpy
    from ns.packet.dist_generator import DistPacketGenerator
    from ns.packet.sink import PacketSink
    from ns.port.port import Port

    env, draw = simpy.Environment(), random.Random(seed)
    port = Port(env, LINK_BPS, qlimit=101)  # 100 wait: it holds one less
    port.out = sink = PacketSink(env, rec_arrivals=False, rec_waits=False)
    for flow in range(10):
        rate = (LIGHT_BPS if flow < 9 else HEAVY_BPS) / (8 * PACKET_BYTES)
        source = DistPacketGenerator(
            env, flow, lambda rate=rate: draw.expovariate(rate), lambda: PACKET_BYTES, flow_id=flow
        )
        source.out = port
    env.run(until=WARM_UP_S)
    before = dict(sink.bytes_received)
    env.run(until=DURATION_S)
    got = [sink.bytes_received[flow] - before.get(flow, 0) for flow in range(10)]
    return got[9] / sum(got)


def group(name: str, count: int, rate_bps: float) -> dict:
    gap = f"{8e9 * PACKET_BYTES / rate_bps:.0f} ns"
    source = {"poisson": {"mean_gap": gap, "size": {"fixed": f"{PACKET_BYTES} B"}}}
    return {"group": name, "count": count, "source": source, "access": {"rate": "1 Gbit/s", "delay": "0 ms"}}


SCENARIO = fw.Scenario(
    {
        "format": 2,
        "name": "open-contest",
        "duration": f"{DURATION_S} s",
        "warm_up": f"{WARM_UP_S} s",
        "disciplines": ["tail-drop"],
        "link": {"rate": "10 Mbit/s", "delay": "0 ms", "buffer": "100 packets"},
        "flow": [group("light", 9, LIGHT_BPS), group("heavy", 1, HEAVY_BPS)],
    }
)


def fairwire(seed: int) -> float:
    """The heavy flow's fraction of what is delivered."""
    measures = SCENARIO.run(seeds=seed, jobs=1).measures
    return dict(zip(measures["measure"], measures["value"]))["fraction.heavy"]


def report(name: str, run: Callable[[int], float]) -> None:
    start, fractions, half = time.perf_counter(), [], 1.0
    while len(fractions) < MIN_SEEDS or half > HALF_WIDTH:
        fractions.append(run(len(fractions) + 1))
        mean, half = fw.estimate(fractions) if len(fractions) > 1 else (0.0, 1.0)
    seconds = time.perf_counter() - start
    print(f"{name:9} fraction {mean:.4f} ± {half:.4f}: {len(fractions)} seeds, {seconds:.2f} s on one core")


if __name__ == "__main__":
    report("fairwire", fairwire)
    report("ns.py", ns_py)
