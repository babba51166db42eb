"""Environments for reinforcement learning."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import warnings
import weakref
from pathlib import Path

import fairwire as fw
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import fairwire.gym  # after gymnasium, which says better what is missing


def scenario(flows: int = 4, **change) -> fw.Scenario:
    return fw.Scenario(
        {
            "format": 2,
            "name": "gym",
            "duration": "10 s",
            "warm_up": "1 s",
            "seeds": 1,
            "disciplines": ["tail-drop"],
            "link": {"rate": "10 Mbit/s", "delay": "20 ms", "buffer": "400 packets"},
            "flow": [
                {
                    "group": "a",
                    "count": flows,
                    "source": "bulk",
                    "start": "0 s..1 s",
                    "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
                    "tcp": {"control": "cubic"},
                }
            ],
            **change,
        }
    )


def queue_env(**options) -> gymnasium.Env:
    return gymnasium.make("fairwire/Queue-v0", scenario=scenario(), **options).unwrapped


def sender_env(**options) -> gymnasium.Env:
    return gymnasium.make("fairwire/Sender-v0", scenario=scenario(1), group="a", **options).unwrapped


def play(env, action, seed=7) -> tuple[np.ndarray, list[float], list[dict]]:
    """Observations, rewards and infos of an episode; ``action`` is a number or drawn from this seed."""
    env.action_space.seed(3)
    observations, rewards, infos, is_over = [env.reset(seed=seed)[0]], [], [], False
    while not is_over:
        given = env.action_space.sample() if action is None else np.array([action], dtype=np.float32)
        seen, reward, terminated, is_over, info = env.step(given)
        assert not terminated and env.observation_space.contains(seen)
        observations.append(seen)
        rewards.append(reward)
        infos.append(info)
    return np.array(observations), rewards, infos


@pytest.mark.parametrize("make", [queue_env, sender_env])
def test_the_checker_of_gymnasium_accepts_the_environment(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make())


@pytest.mark.parametrize("make", [queue_env, sender_env])
def test_a_seed_gives_the_same_episode_bit_for_bit(make):
    env = make()
    first, again, other = play(env, None, 7), play(env, None, 7), play(make(), None, 7)
    assert first[0].tobytes() == again[0].tobytes() == other[0].tobytes()
    assert first[1:] == again[1:] == other[1:]
    assert play(env, None, 8)[0].tobytes() != first[0].tobytes()
    assert len(first[1]) == 100 and first[2][-1]["time"] == 10.0


def test_an_episode_has_the_numbers_of_a_run():
    red = scenario(disciplines=["red"], warm_up="0 s")
    episode, bytes_of, drops, goes_on = fw.Episode(red, seed=5, step=0.3), {}, 0, True
    while goes_on:
        goes_on = episode.advance()
        drops += episode.links[0][6]
        for name, _, delivered, *_ in episode.flows:
            bytes_of[name] = bytes_of.get(name, 0) + delivered
    waiting = episode.links[0][2]
    assert episode.now == 10.0, "the last step has 0.1 s"
    result = red.run(seeds=5)
    flows, links = result.flows, result.links
    rates = {name: 8 * bytes_of[name] / 10.0 for name in flows["name"]}
    assert rates == pytest.approx(dict(zip(flows["name"], flows["throughput_bps"])))
    assert drops == links["packets_in"][0] - links["packets_out"][0] - waiting > 0


def test_a_queue_that_drops_nothing_is_a_tail_drop_and_one_that_drops_is_shorter():
    idle, infos = play(queue_env(), 0.0)[1:]
    plain, plain_infos = play(queue_env(dropper="tail-drop"), 0.7)[1:]
    assert idle == plain and infos == plain_infos, "tail-drop ignores the actions"
    observations, rewards, dropping = play(queue_env(), 0.25)
    waits = [np.mean([info["sojourn"] for info in each[20:]]) for each in (infos, dropping)]
    assert waits[1] < 0.3 * waits[0] and np.mean(rewards[20:]) > np.mean(idle[20:])
    # 0.25 * 0.25 ** 2, and the part of the arrivals that were dropped
    assert observations[-1][5] == pytest.approx(0.015625) and observations[20:, 3].mean() == pytest.approx(0.0156, abs=0.006)


def test_the_reward_of_a_queue_combines_shortfall_and_backlog():
    observations, rewards, infos = play(queue_env(delay_weight=2.0), 0.2)
    for seen, reward, info in zip(observations[1:], rewards, infos):
        assert reward == pytest.approx(-(info["error"] + 2.0 * info["sojourn"]))
        assert info["sojourn"] == pytest.approx(seen[0], rel=1e-5) and 0 <= info["error"] <= 1
        owed = np.maximum(1 - seen[6:], 0).sum() / 4  # four flows that want all
        assert info["error"] == pytest.approx(owed, abs=1e-5)
    assert infos[0]["error"] > 0.9 > 0.2 > infos[-1]["error"]


def test_a_shorter_last_step_has_correct_rates():
    env = queue_env(step=0.3)  # 33 of them and 0.1 s
    observations, _, infos = play(env, 0.0)
    assert infos[-1]["time"] == 10.0 and infos[-2]["time"] == pytest.approx(9.9)
    assert observations[-3:, 1] == pytest.approx(1.0, abs=0.03), "the link is full"


def test_demands_determine_fair_shares():
    env = fw.gym.QueueEnv(scenario(), demands=[1e6, float("inf"), float("inf"), float("inf")])
    assert env.fair_bps.tolist() == [1e6, 3e6, 3e6, 3e6]
    with pytest.raises(ValueError, match="3 demands; allowed: 4"):
        fw.gym.QueueEnv(scenario(), demands=[1.0, 2.0, 3.0])


def test_a_dropper_of_your_own_is_steered_too():
    class Shortens(fw.Dropper):
        def __init__(self, steer):
            self.steer = steer

        def on_arrival(self, packet, queue, now):
            return "drop" if len(queue) > 4000 * self.steer.value else None

    short, long = (play(queue_env(dropper=Shortens), action)[2] for action in (0.1, 0.4))
    waits = [np.mean([info["sojourn"] for info in infos[20:]]) for infos in (short, long)]
    assert waits[0] < 0.013 < waits[1], "ten packets take 12 ms"


def tuned_env(**options) -> gymnasium.Env:
    parameters = {"target": ("1 ms", "60 ms"), "alpha": fw.geom(0.0125, 1.25, 2)}
    return queue_env(**{"dropper": "pie", "parameters": parameters, **options})


def test_actions_change_parameters_of_an_aqm_and_keep_its_state():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(tuned_env())
    env = tuned_env()
    assert env.action_space.shape == (2,)
    first, again, other = play(env, None), play(env, None), play(tuned_env(), None)
    assert first[0].tobytes() == again[0].tobytes() == other[0].tobytes() and first[1:] == again[1:] == other[1:]
    # PIE holds its target, whichever it is by now.
    waits = {}
    for low in (0.0, 1.0):
        env.reset(seed=7)
        infos = [env.step(np.array([low if at < 60 else 0.3, 0.5]))[4] for at in range(100)]
        waits[low] = [np.mean([info["sojourn"] for info in part]) for part in (infos[20:60], infos[75:])]
    assert waits[0.0][0] < 0.01 < 0.03 < waits[1.0][0]
    assert waits[0.0][1] == pytest.approx(waits[1.0][1], rel=0.5)
    # A value that is there already changes nothing: PIE's own target, in two ways.
    pie = scenario(discipline={"pie": {"target": "15 ms"}}, disciplines=["pie"])
    runs = []
    for target in (None, "15 ms", "0.015 s"):
        episode, seen, goes_on = fw.Episode(pie, seed=3, step=0.1), [], True
        while goes_on:
            if target is not None:
                episode.set("discipline.pie.target", target)
            goes_on = episode.advance()
            seen.append((episode.links, episode.flows))
        runs.append(seen)
    assert runs[0] == runs[1] == runs[2]


def test_changes_of_an_episode_raise_the_errors_of_a_scenario():
    episode = fw.Episode(scenario(), seed=1, step=0.5)
    [episode.advance() for _ in range(4)]
    episode.set({"link.rate": "5 Mbit/s", "link.buffer": "50 packets"})
    [episode.advance() for _ in range(4)]
    assert episode.links[0][1] == 5e6 and episode.links[0][2] <= 50
    left = sum(flow[1] for flow in episode.flows) * 8 / 0.5
    assert left == pytest.approx(5e6, rel=0.02)
    episode.set("disciplines", ["drr+lqd"])
    episode.advance()
    with pytest.raises(fw.ScenarioError, match="did you mean `buffer`") as error:
        episode.set("link.bufer", "50 packets")
    assert error.value.suggestion == "buffer"
    with pytest.raises(fw.ScenarioError, match="`flow.a.count` is `5`, but the run .*a new run"):
        episode.set("flow.a.count", 5)
    with pytest.raises(TypeError, match="a path and a value"):
        episode.set("link.buffer")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"targett": ("1 ms", "2 ms")}, fw.ScenarioError, "did you mean `target`"),
        ({"target": ("0.5 h", "2 h")}, fw.ScenarioError, "target"),
        ({"alpha": (-1.0, 1.0)}, fw.ScenarioError, "alpha"),
        ({"target": ("1 ms", "2 s")}, ValueError, "both in one unit"),
        ({"target": ("2 ms", "1 ms")}, ValueError, "below the high one"),
        ({"alpha": fw.geom(0.0, 1.0, 2)}, ValueError, "above 0"),
        ({"target": "1 ms"}, ValueError, "a low and a high value"),
        ({"target": ("fast", "1 ms")}, ValueError, "a number"),
        ({}, ValueError, "one or more"),
    ],
)
def test_parameters_unsuitable_for_actions_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        tuned_env(parameters=parameters)


def test_a_python_class_has_no_parameters_for_actions():
    with pytest.raises(ValueError, match="by its name"):
        queue_env(parameters={"target": (0.0, 1.0)})


def test_a_sender_controls_the_window_and_queues_its_excess():
    env = sender_env()
    env.reset(seed=1)
    for _ in range(3):  # from 10 to 80 segments: a round trip of 46 ms takes 39 at 10 Mbit/s
        info = env.step(np.array([1.0], dtype=np.float32))[4]
    for _ in range(30):
        seen, reward, _, _, info = env.step(np.array([0.0], dtype=np.float32))
    assert info["window"] == 80 and info["throughput"] == pytest.approx(1.0, abs=0.02)
    assert info["queueing"] == pytest.approx((80 - 38.5) * 1500 * 8 / 10e6, abs=0.004)
    assert reward == pytest.approx(info["throughput"] - 5 * info["queueing"] - info["loss"])
    assert seen[2] == pytest.approx(0.0464, abs=0.0007)  # and half of a packet's 1.2 ms that its host takes


def test_a_sender_that_paces_queues_less():
    waits = [np.mean([info["queueing"] for info in play(sender_env(paces=paces), 0.0)[2]]) for paces in (False, True)]
    assert waits[1] <= waits[0]


def test_invalid_environments_are_refused():
    for options, message in [
        ({"step": 0.0}, "`step` is 0.0 s; allowed"),
        ({"link": "bottelneck"}, "`link` is 'bottelneck'; allowed: bottleneck"),
        ({"max_probability": 2.0}, "`max_probability` is 2.0; allowed"),
    ]:
        with pytest.raises(ValueError, match=message):
            fw.gym.QueueEnv(scenario(), **options)
    with pytest.raises(fw.ScenarioError, match="`b`"):
        fw.gym.SenderEnv(scenario(), group="b")
    with pytest.raises(ValueError, match="`max_window` is 1.0 segments"):
        fw.gym.SenderEnv(scenario(), group="a", max_window=1.0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        queue_env().step(np.zeros(1))

    class Breaks(fw.Dropper):
        def __init__(self, steer):
            pass

        def on_arrival(self, packet, queue, now):
            raise KeyError("mine")

    env = queue_env(dropper=Breaks)
    env.reset()
    with pytest.raises(KeyError, match="mine"):
        for _ in range(20):
            env.step(np.zeros(1))
    env.reset()  # and it can be begun again


def test_an_environment_is_freed_with_its_last_reference():
    env = queue_env()
    env.reset()
    env.step(np.zeros(1))
    seen = weakref.ref(env)
    del env
    gc.collect()
    assert seen() is None


def resident_kb() -> int:
    text = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="SKIPPED: no /proc here")
@pytest.mark.parametrize("make", [queue_env, sender_env])
def test_many_resets_leak_neither_memory_nor_threads(make):
    env, resets = make(), int(os.environ.get("FAIRWIRE_MANY_RESETS", "1000"))

    def go(count):
        for _ in range(count):
            env.reset()
            for _ in range(3):
                env.step(env.action_space.sample())
        gc.collect()
        return resident_kb()

    before, threads = go(500), threading.active_count()
    tasks = len(os.listdir("/proc/self/task"))
    grown = go(resets) - before
    print(f"{resets} resets: {grown} kB more")
    assert grown < 2000  # of 10^5 resets each would keep 20 bytes
    assert threading.active_count() == threads and len(os.listdir("/proc/self/task")) == tasks


def test_the_example_learns(tmp_path):
    example = Path(__file__).resolve().parents[1] / "examples" / "learn_queue.py"
    code = (
        f"import runpy, sys; sys.argv = ['learn_queue.py', '--out', {str(tmp_path / 'out.svg')!r}]\n"
        f"names = runpy.run_path({str(example)!r})\n"
        "names['main'].__globals__.update(GENERATIONS=2, POPULATION=4, ELITE=2, TESTED_WITH=(2, 4))\n"
        "names['main']()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| learned | 2 |" in done.stdout and (tmp_path / "out.svg").stat().st_size > 10_000
