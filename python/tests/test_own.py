"""Disciplines written in Python, in scenarios and by themselves."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from pathlib import Path

import fairwire as fw
import pytest

SELFISH = Path(__file__).resolve().parents[2] / "scenarios" / "selfish-flow.toml"


class TailDrop(fw.Dropper):
    pass


class Longest(fw.Dropper):
    """Pushes out the head of the longest queue: the law of the catalogue's `lqd`, but for ties."""

    def victim(self, packet, queue, now):
        return queue.head(queue.longest)


class Linear(fw.Dropper):
    def __init__(self, start=0.5):
        self.start = start

    def on_arrival(self, packet, queue, now):
        fill = len(queue) / queue.max_packets
        if self.random.random() < (fill - self.start) / (1 - self.start):
            return "drop"


class Fifo(fw.Queue):
    def __init__(self):
        self.waiting = []

    def enqueue(self, packet, now):
        self.waiting.append(packet)
        if len(self.waiting) > self.max_packets:
            self.drop(self.waiting.pop())

    def dequeue(self, now):
        return self.waiting.pop(0)


def short() -> fw.Scenario:
    return fw.Scenario.load(SELFISH).set({"duration": "4 s", "warm_up": "1 s"})


def jain(result: fw.Result) -> dict[str, float]:
    return dict(zip(result.fairness["discipline"], result.fairness["jain"]))


def queue_of(discipline, packets: int = 4) -> fw.Discipline:
    return fw.Discipline(discipline, rate="1 Mbit/s", buffer=f"{packets} packets", packet=1000)


def test_a_class_gives_the_bits_of_the_same_law_in_the_catalogue():
    result = short().run(["tail-drop", TailDrop, Fifo], seeds=3)
    columns = ["name", "throughput_bps", "packets_sent", "packets_dropped"]
    columns = [name for name in columns if name in result.flows.columns]
    rows = list(zip(result.flows["discipline"], *(result.flows[name] for name in columns)))
    of = {name: [row[1:] for row in rows if row[0] == name] for name in ("tail-drop", "TailDrop", "Fifo")}
    assert len(of["tail-drop"]) == 10
    assert of["tail-drop"] == of["TailDrop"] == of["Fifo"]


def test_a_class_runs_with_catalogue_entries_schedulers_and_arguments():
    classes = [Longest, {Longest: {"scheduler": "drr"}}, {Linear: {"start": 0.9}, "label": "late"}, Linear, Linear]
    result = short().run(["lqd", "drr+lqd", *classes], seeds=1)
    index = jain(result)
    assert list(index) == ["lqd", "drr+lqd", "Longest", "drr-Longest", "late", "Linear", "Linear-2"]
    assert abs(index["Longest"] - index["lqd"]) < 0.1 and index["drr-Longest"] > 0.99
    assert index["Linear"] == index["Linear-2"] != index["late"]
    assert 'python = { class = "Linear(start=0.9)" }' in result.scenario_toml


def test_a_run_of_a_class_is_the_same_for_the_same_seed_whatever_jobs():
    one, two = (short().run(Linear, seeds="1..=3", jobs=jobs).flows.to_dict() for jobs in (1, 2))
    assert one == two


def test_a_class_may_replace_any_discipline_name_of_a_scenario():
    scenario = short().set("disciplines", ["tail-drop", {Linear: {"buffer": "9 packets"}}])
    assert list(jain(scenario.set("seeds", 1).run())) == ["tail-drop", "Linear"]
    two = {
        "format": 2,
        "name": "two",
        "duration": "2 s",
        "seeds": 1,
        "disciplines": [Linear],
        "link": {"rate": "1 Mbit/s", "delay": "5 ms", "buffer": "20 packets"},
        "flow": [{"group": "a", "source": "bulk", "access": {"rate": "10 Mbit/s", "delay": "1 ms"}}],
    }
    assert list(jain(fw.Scenario(two).run())) == ["Linear"]
    assert list(jain(fw.Scenario({**two, "disciplines": [{"shaper": {"rate": "1 Mbit/s", "discipline": Linear}}]}).run())) == ["shaper"]


def test_two_classes_of_one_name_are_two_disciplines():
    def made(start):
        class Mine(fw.Dropper):
            def on_arrival(self, packet, queue, now):
                return "drop" if len(queue) >= start else None

        return Mine

    result = short().run([made(3), made(400)], seeds=1)
    index = jain(result)
    assert list(index) == ["Mine", "Mine-2"] and index["Mine"] != index["Mine-2"]


def test_a_mark_marks_ecn_capable_packets_and_drops_others():
    class Marks(fw.Dropper):
        def on_arrival(self, packet, queue, now):
            return "mark"

        def on_departure(self, packet, queue, now):
            assert packet.ecn == "ce" and packet not in list(queue)
            self.waited = now - packet.arrived
            assert self.waited == pytest.approx(0.5)

    queue = queue_of(Marks)
    assert queue.enqueue(1, 1000, 0.0, ecn=True) == 0 and queue.enqueue(1, 1000, 0.0) == 1
    assert queue.marks() == [(0, "early")] and queue.drops() == [(1, "early")]
    assert queue.dequeue(0.5) == 0 and queue.dequeue(0.5) is None


def test_a_dropper_reads_the_backlog_per_flow():
    seen = []

    class Sees(fw.Dropper):
        def on_arrival(self, packet, queue, now):
            seen.append((len(queue), queue.bytes, queue.flows, queue.longest, queue.backlog(7)))

        def victim(self, packet, queue, now):
            assert [p.number for p in queue] == [0, 1, 2, 3] and queue.oldest.number == 0
            assert queue.newest.number == 3 and [p.number for p in queue.of(7)] == [1, 2]
            assert queue.head(8) is None and (queue.max_packets, self.max_packets) == (4, 4)
            return queue.head(7)

    queue = queue_of(Sees)
    for at, flow in enumerate([5, 7, 7, 6, 5]):
        queue.enqueue(flow, 1000 if flow == 7 else 100, 0.1 * at)
    assert seen[0] == (0, 0, [], None, (0, 0)) and seen[4] == (4, 2200, [5, 6, 7], 7, (2, 2000))
    assert queue.drops() == [(1, "push-out")]
    assert [queue.dequeue(1.0) for _ in range(5)] == [0, 2, 3, 4, None]


def test_a_queue_drops_marks_and_holds_back():
    class Paced(fw.Queue):
        def __init__(self, gap=1.0):
            self.waiting, self.gap, self.next = [], gap, 0.0

        def enqueue(self, packet, now):
            self.waiting.append(packet)
            if packet.ecn != "not-ect":
                self.mark(packet)
            if len(self.waiting) > 2:
                self.drop(self.waiting.pop(0))

        def dequeue(self, now):
            if now >= self.next:
                self.next = now + self.gap
                return self.waiting.pop(0)

        def ready_at(self, now):
            return self.next

    queue = queue_of({Paced: {"gap": 2.0}})
    for number in range(3):
        queue.enqueue(number, 1000, 0.0, ecn=number == 1)
    assert queue.marks() == [(1, "early")] and queue.drops() == [(0, "push-out")] and queue.backlog == (2, 2000)
    assert queue.dequeue(0.0) == 1 and queue.dequeue(1.0) is None and queue.ready_at == 2.0
    assert queue.dequeue(2.0) == 2 and queue.ready_at is None


class Broken(Exception):
    pass


class Breaks(fw.Dropper):
    def on_arrival(self, packet, queue, now):
        if now > 2.0:
            raise Broken("at last")


def test_an_exception_ends_the_run_with_its_traceback_and_keeps_finished_runs():
    with pytest.raises(Broken, match="at last") as caught:
        short().run(["tail-drop", Breaks, "faba"], seeds="1..=2", jobs=1)
    lines = "".join(traceback.format_exception(caught.value))
    assert "test_own.py" in lines and "on_arrival" in lines
    assert "in a run of `Breaks` under seed 1, at 2.0" in lines
    finished = caught.value.result
    assert finished.interrupted and list(zip(finished.fairness["discipline"], finished.fairness["seed"])) == [
        ("tail-drop", 1),
        ("tail-drop", 2),
    ]
    again = short().run(["tail-drop"], seeds="1..=2")
    assert again.flows.to_dict() == finished.flows.to_dict(), "a later run works"


def test_exceptions_in_the_constructor_and_near_the_end_are_raised_too():
    class Unmade(fw.Dropper):
        def __init__(self):
            raise Broken("in __init__")

    class Late(fw.Dropper):
        def on_departure(self, packet, queue, now):
            if now > 3.99:
                raise Broken("late")

    for cls in (Unmade, Late):
        with pytest.raises(Broken) as caught:
            short().run([cls], seeds=1)
        assert len(caught.value.result.fairness) == 0
    with pytest.raises(Broken):
        queue_of(Unmade)


def returns(method, value):
    return type("Mine", (fw.Dropper,), {method: lambda self, *given: value})


@pytest.mark.parametrize(
    ("method", "value", "message"),
    [
        ("on_arrival", "dorp", 'Mine.on_arrival returned \'dorp\'; allowed: None, "drop" or "mark"'),
        ("on_arrival", True, "Mine.on_arrival returned True; allowed"),
        ("on_departure", 3, "Mine.on_departure returned 3; allowed"),
        ("victim", "oldest", "Mine.victim returned 'oldest'; allowed: a packet of the queue, or None"),
    ],
)
def test_a_dropper_that_returns_nonsense_is_refused(method, value, message):
    with pytest.raises(TypeError) as caught:
        short().run(returns(method, value), seeds=1)
    assert str(caught.value).startswith(message)


def test_a_victim_that_does_not_wait_is_refused():
    class Stale(fw.Dropper):
        kept = None

        def on_departure(self, packet, queue, now):
            Stale.kept = packet

        def victim(self, packet, queue, now):
            return Stale.kept

    with pytest.raises(ValueError, match="Stale.victim returned packet [0-9]+, which does not wait; allowed: a packet"):
        short().run(Stale, seeds=1)


def fifo(**methods):
    return type("Mine", (Fifo,), methods)


@pytest.mark.parametrize(
    ("cls", "error", "message"),
    [
        (fifo(dequeue=lambda self, now: None), ValueError, "dequeue returned None while 1 packets wait; allowed"),
        (fifo(dequeue=lambda self, now: 3), TypeError, "dequeue returned 3; allowed: a packet that was enqueued"),
        (fifo(enqueue=lambda self, packet, now: "drop"), TypeError, "enqueue returned 'drop'; allowed: None; `self.drop"),
        (fifo(enqueue=lambda self, packet, now: self.waiting.append(packet)), ValueError, "enqueue keeps 781 packets"),
        (
            fifo(enqueue=lambda self, packet, now: [self.drop(packet), self.drop(packet)] and None),
            ValueError,
            "drop was given <fairwire.Packet 0: 40 bytes of flow [0-9]+>, which does not wait",
        ),
        (fifo(enqueue=lambda self, packet, now: self.mark(packet)), ValueError, "mark was given packet 0, which is not ECN-capable; allowed"),
        (
            fifo(dequeue=lambda self, now: None, ready_at=lambda self, now: -1.0),
            TypeError,
            "ready_at returned -1.0; allowed: a time after",
        ),
    ],
)
def test_a_queue_that_breaks_its_contract_is_refused(cls, error, message):
    with pytest.raises(error, match=f"Mine.{message}"):
        short().run(cls, seeds=1)


def test_unsuitable_classes_are_refused_before_any_run():
    class Other:
        pass

    with pytest.raises(TypeError, match="`Other` is a class of its own; allowed: a subclass of fairwire.Dropper"):
        short().run(["tail-drop", Other])
    with pytest.raises(TypeError, match="`Linear`: .*'strat'; allowed: Linear\\(start=0.5\\)"):
        short().run({Linear: {"strat": 0.5}})
    with pytest.raises(TypeError, match="not a dict"):
        short().run({Linear: 3})
    with pytest.raises(fw.ScenarioError, match="a class of Python itself"):
        short().run({"python": {"class": "Linear"}})
    with pytest.raises(fw.ScenarioError, match="buffer"):
        short().run({Linear: {"buffer": "9 pakets"}})
    with pytest.raises(TypeError, match="`Empty` has no method `enqueue`"):
        short().run(type("Empty", (fw.Queue,), {}), seeds=1)


def test_runs_on_two_threads_keep_their_classes_apart():
    results = {}

    def run(start):
        class Mine(fw.Dropper):
            def on_arrival(self, packet, queue, now):
                return "drop" if len(queue) >= start else None

        results[start] = jain(short().run(Mine, seeds=1))["Mine"]

    alone = {}
    for start in (3, 400):
        run(start)
        alone[start] = results.pop(start)
    threads = [threading.Thread(target=run, args=(start,)) for start in (3, 400)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == alone


def test_a_class_is_freed_after_its_run():
    def one():
        class Mine(fw.Dropper):
            def on_arrival(self, packet, queue, now):
                self.kept = packet

        short().set("duration", "2 s").run(Mine, seeds="1..=2")
        return weakref.ref(Mine)

    seen = [one() for _ in range(3)]
    gc.collect()
    assert [ref() for ref in seen] == [None] * 3


def resident_kb() -> int:
    text = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="SKIPPED: no /proc here")
def test_many_runs_leak_no_memory():
    scenario = short().set({"duration": "1.1 s", "warm_up": "1 s"}).set("link.buffer", "20 packets")
    runs = int(os.environ.get("FAIRWIRE_MANY_RUNS", "300"))

    def go(count):
        for _ in range(count):
            scenario.run(Linear, seeds=1, jobs=1)
        gc.collect()
        return resident_kb()

    before = go(100)
    assert go(runs) - before < 2000  # kB; a leak of one packet's object a run would be that with 10 000 runs


@pytest.mark.parametrize("body", ["pass", "while True: pass"])
def test_ctrl_c_stops_a_class_also_in_an_endless_loop(body):
    code = f"""
import fairwire as fw, time
class Mine(fw.Dropper):
    def on_arrival(self, packet, queue, now):
        {body}
scenario = fw.Scenario.load({str(SELFISH)!r}).set("duration", "9000 s")
print("begins", flush=True)
try:
    scenario.run(Mine, seeds="1..=50")
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    sent = time.time()
    os.kill(process.pid, signal.SIGINT)
    answer, _ = process.communicate(timeout=60)
    assert float(answer) - sent < 1.0  # 0.1 s on a machine that has nothing else to do
