"""Learns to drop: a small policy for a queue, by the cross-entropy method, beside PIE.

    python learn_queue.py --out learn-queue.svg

The policy says with which probability arrivals are dropped, ten times a second. It has six numbers,
and is trained with two flows and with twelve. Then it is compared, with six flows and with twenty
and under other seeds, with PIE (RFC 8033), with tail-drop and with the best constant probability.
Takes a minute or two on one core, and numpy and matplotlib.
"""

from __future__ import annotations

import argparse
import time

import fairwire as fw
import fairwire.gym
import numpy as np

TRAINED_WITH = (2, 12)  # flows
TESTED_WITH = (6, 20)
GENERATIONS, POPULATION, ELITE = 14, 32, 8


def scenario(flows: int) -> fw.Scenario:
    """Flows of CUBIC over 20 Mbit/s with 44 ms of propagation and a buffer of four times that."""
    return fw.Scenario(
        {
            "format": 2,
            "name": "learn-queue",
            "duration": "20 s",
            "disciplines": ["tail-drop"],
            "link": {"rate": "20 Mbit/s", "delay": "20 ms", "buffer": "300 packets"},
            "flow": [
                {
                    "group": "tcp",
                    "count": flows,
                    "source": "bulk",
                    "start": "0 s..1 s",
                    "access": {"rate": "1 Gbit/s", "delay": "1 ms..10 ms"},
                    "tcp": {"control": "cubic"},
                }
            ],
        }
    )


def action(policy: np.ndarray, seen: np.ndarray, before: np.ndarray) -> np.ndarray:
    """From waits in units of 20 ms, their change, the use of the link and the last probability."""
    sojourn, used, backlog = seen[0] / 0.02, seen[1], seen[2] / 0.02
    features = np.array([1.0, sojourn, sojourn - before[0] / 0.02, backlog, used, seen[5] * 10])
    return np.array([1 / (1 + np.exp(-np.clip(policy @ features, -30, 30)))], dtype=np.float32)


def play(env: fw.gym.QueueEnv, policy: np.ndarray, seed: int, trace: list | None = None) -> float:
    """The mean reward of a step in one episode, its first two seconds left out."""
    seen, _ = env.reset(seed=seed)
    before, rewards, is_over = seen, [], False
    while not is_over:
        given = action(policy, seen, before)
        before = seen
        seen, reward, _, is_over, info = env.step(given)
        if info["time"] > 2.0:
            rewards.append(reward)
        if trace is not None:
            trace.append((info["time"], info["sojourn"], float(seen[5]), info["error"]))
    return float(np.mean(rewards))


def train(seed: int) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """The policy, and for each generation the mean and the best reward."""
    rng = np.random.default_rng(seed)
    envs = [fw.gym.QueueEnv(scenario(flows)) for flows in TRAINED_WITH]
    mean, spread = np.array([-2.0, 0, 0, 0, 0, 0]), np.full(6, 1.5)
    curve = []
    for generation in range(GENERATIONS):
        policies = rng.normal(mean, spread, (POPULATION, 6))
        rewards = np.array([np.mean([play(env, policy, generation) for env in envs]) for policy in policies])
        best = policies[np.argsort(rewards)[-ELITE:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        curve.append((rewards.mean(), rewards.max()))
        print(f"generation {generation + 1}: mean {curve[-1][0]:.3f}, best {curve[-1][1]:.3f}", flush=True)
    return mean, curve


def constant(probability: float) -> np.ndarray:
    """The policy that always drops with this probability."""
    wanted = np.sqrt(probability / 0.25)
    return np.array([np.log(wanted / (1 - wanted)), 0, 0, 0, 0, 0])


def compare(learned: np.ndarray, seeds: range) -> dict[str, list[tuple[float, float, float]]]:
    """For each contender and number of flows: mean reward, mean wait in ms, mean error."""
    results: dict[str, list[tuple[float, float, float]]] = {}
    steady = max(
        (constant(p) for p in (0.0003, 0.001, 0.003, 0.01, 0.03)),
        key=lambda policy: sum(play(fw.gym.QueueEnv(scenario(n)), policy, 1) for n in TRAINED_WITH),
    )
    contenders = {
        "learned": (fw.gym.Probability, learned),
        "pie": ("pie", learned),  # the catalogue's ignores the actions
        "constant": (fw.gym.Probability, steady),
        "tail-drop": ("tail-drop", learned),
    }
    for name, (dropper, policy) in contenders.items():
        for flows in TESTED_WITH:
            env, trace = fw.gym.QueueEnv(scenario(flows), dropper=dropper), []
            reward = np.mean([play(env, policy, seed, trace) for seed in seeds])
            _, waits, _, errors = np.array([row for row in trace if row[0] > 2.0]).T
            results.setdefault(name, []).append((float(reward), 1000 * waits.mean(), errors.mean()))
    return results


def draw(learned: np.ndarray, curve: list[tuple[float, float]], pie: float, out: str) -> None:
    """The training, and one episode of a test."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "fairwire"  # the same file each time
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    generations = range(1, len(curve) + 1)
    left.plot(generations, [row[0] for row in curve], color=fw.plot.COLOURS[0], label="mean of a generation")
    left.plot(generations, [row[1] for row in curve], color=fw.plot.COLOURS[1], label="best of a generation")
    left.axhline(pie, color="black", linewidth=0.8, linestyle="--", label="pie")
    left.set_xlabel("generation")
    left.set_ylabel("mean reward of a step (0 is best)")
    left.set_title(f"training with {TRAINED_WITH[0]} and {TRAINED_WITH[1]} flows", fontsize=10)
    left.legend(frameon=False, fontsize=8)
    for at, (name, dropper) in enumerate([("learned", fw.gym.Probability), ("pie", "pie")]):
        trace: list = []
        play(fw.gym.QueueEnv(scenario(TESTED_WITH[1]), dropper=dropper), learned, 101, trace)
        times, waits, _, _ = np.array(trace).T
        right.plot(times, 1000 * waits, color=fw.plot.COLOURS[2 * at], linewidth=1, label=name)
    right.set_xlabel("time, s")
    right.set_ylabel("mean wait of a step, ms")
    right.set_title(f"test with {TESTED_WITH[1]} flows", fontsize=10)
    right.set_ylim(0)
    right.legend(frameon=False, fontsize=8)
    figure.savefig(out, metadata={"Date": None} if out.endswith(".svg") else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="the picture, .svg or .png")
    parser.add_argument("--seed", type=int, default=1, help="of the training")
    given = parser.parse_args()
    began = time.monotonic()
    learned, curve = train(given.seed)
    print(f"trained in {time.monotonic() - began:.0f} s: {np.round(learned, 2).tolist()}")
    print("| discipline | flows | reward | wait, ms | error |\n|---|---|---|---|---|")
    for name, rows in compare(learned, range(101, 106)).items():
        for flows, (reward, wait, error) in zip(TESTED_WITH, rows):
            print(f"| {name} | {flows} | {reward:.3f} | {wait:.1f} | {error:.3f} |")
    if given.out:
        pie = [play(fw.gym.QueueEnv(scenario(n), dropper="pie"), learned, s) for n in TRAINED_WITH for s in range(5)]
        draw(learned, curve, float(np.mean(pie)), given.out)


if __name__ == "__main__":
    main()
