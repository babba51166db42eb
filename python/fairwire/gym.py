"""Environments for reinforcement learning (the extra ``gym``: gymnasium and numpy).

:class:`QueueEnv` acts on a queue and :class:`SenderEnv` on a sender; their names in
``gymnasium.make`` are ``fairwire/Queue-v0`` and ``fairwire/Sender-v0``. An episode is a run of a
scenario, in this process and this thread, and a step is an interval of simulated time. The same seed
and the same actions give the same numbers, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from ._fairwire import Ack, Congestion, Episode, Packet, Scenario, Waiting, max_min
from .own import Controller, Dropper

__all__ = ["Probability", "QueueEnv", "Range", "SenderEnv", "Window"]

Observation = NDArray[numpy.float32]
Action = NDArray[numpy.float32]

LONGEST = 10.0  # s: the maximum of observed times
INITIAL_WINDOW = 10.0  # segments (RFC 6928)


@dataclass
class Steer:
    """The control of an environment over its object: ``value`` is the action, in the object's unit."""

    value: float = 0.0

    def __repr__(self) -> str:
        return "steer"


class Probability(Dropper):
    """Marks each arrival with an externally set probability, or drops it if it is not ECN-capable.

    ``steer.value`` is the probability, from 0 to 1.
    """

    def __init__(self, steer: Steer) -> None:
        self.steer = steer
        self.draw = self.random.random

    def on_arrival(self, packet: Packet, queue: Waiting, now: float) -> Any:
        """The verdict on an arrival."""
        return "mark" if self.draw() < self.steer.value else None


@dataclass
class Seen(Steer):
    """The senders' observations since the last step, and the window to use, in segments."""

    acked: int = 0
    lost: int = 0
    in_flight: int = 0
    least_rtt: float = LONGEST
    rtts: list[float] = field(default_factory=list)

    def __repr__(self) -> str:
        return "steer"

    def clear(self) -> None:
        """Clears the counts."""
        self.acked = self.lost = 0
        self.rtts.clear()


class Window(Controller):
    """Uses an externally set window, without a law of its own.

    ``steer.value`` is the window in segments. With ``paces`` it sends one window per round-trip
    time.
    """

    def __init__(self, steer: Seen, paces: bool = False) -> None:
        self.steer, self.paces = steer, paces
        self.window = steer.value

    def on_ack(self, ack: Ack) -> None:
        """Sets the window, and counts."""
        steer = self.steer
        self.window = steer.value
        steer.acked += ack.newly
        steer.lost += ack.lost
        steer.in_flight = ack.in_flight
        if ack.rtt is not None:
            steer.rtts.append(ack.rtt)
            steer.least_rtt = min(steer.least_rtt, ack.rtt)
            self.pace = self.window / ack.rtt if self.paces else None

    def on_loss(self, congestion: Congestion) -> None:
        """Keeps the window."""
        self.window = self.steer.value

    def on_restart(self, window: float) -> None:
        """Keeps the window."""
        self.window = self.steer.value


@dataclass(frozen=True)
class Range:
    """The range of a parameter: from ``low`` to ``high``, each a number or a text with a unit.

    Equal differences of the action give equal differences of the value or, with
    ``spacing="log"``, equal ratios. Values are integers if both ends are.
    """

    low: float
    high: float
    unit: str = ""
    spacing: str = "linear"
    is_whole: bool = False

    @classmethod
    def of(cls, name: str, given: Any) -> Range:
        """From ``(low, high)``, or from the result of ``fw.geom`` or ``fw.linear``."""
        spacing = "linear"
        if isinstance(given, Mapping) and {"from", "to"} <= given.keys():
            given, spacing = (given["from"], given["to"]), given.get("spacing", "linear")
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            allowed = "a low and a high value, such as ('1 ms', '50 ms'), or fw.geom or fw.linear of these"
            raise ValueError(f"`{name}` is {given!r}; allowed: {allowed}")
        (low, low_unit), (high, high_unit) = (_split(name, end) for end in given)
        if low_unit != high_unit:
            raise ValueError(f"`{name}` is from {given[0]!r} to {given[1]!r}; allowed: both in one unit")
        if not low < high or (spacing == "log" and low <= 0):
            above = ", above 0 with one ratio" if spacing == "log" else ""
            raise ValueError(f"`{name}` is from {given[0]!r} to {given[1]!r}; allowed: a low end below the high one{above}")
        return cls(low, high, low_unit, spacing, all(isinstance(end, int) for end in given))

    def at(self, part: float) -> float | int | str:
        """The value for an action from 0 to 1, in the form of a scenario."""
        if self.spacing == "log":
            value = self.low * (self.high / self.low) ** part
        else:
            value = self.low + part * (self.high - self.low)
        value = min(max(value, self.low), self.high)
        if self.unit:
            # More digits than any unit resolves, without an exponent, which units do not accept.
            return f"{value:.9f} {self.unit}"
        return round(value) if self.is_whole else value


def _split(name: str, end: Any) -> tuple[float, str]:
    """A number, and its unit if any."""
    number, _, unit = end.strip().partition(" ") if isinstance(end, str) else (end, "", "")
    try:
        value = float(number)
    except (TypeError, ValueError):
        value = float("nan")
    if not math.isfinite(value):
        raise ValueError(f"`{name}` ends at {end!r}; allowed: a number, or a text with a unit, such as '5 ms'")
    return value, unit.strip()


class _Env(gymnasium.Env[Observation, Action]):
    """An episode of a scenario, in steps of ``step`` seconds."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, scenario: Scenario, step: float) -> None:
        if not 1e-6 <= step <= 1e6:
            raise ValueError(f"`step` is {step} s; allowed: from 1e-6 to 1e6 s")
        # A warm-up is not measured, and would be missing from the observations.
        self.scenario = scenario.set("warm_up", "0 s")
        self.seconds = step
        self.episode: Episode | None = None

    def _begin(self, seed: int | None) -> Episode:
        super().reset(seed=seed)
        self.episode = Episode(self.scenario, seed=int(self.np_random.integers(1, 2**31)), step=self.seconds)
        return self.episode

    def _running(self) -> Episode:
        if self.episode is None:
            raise gymnasium.error.ResetNeeded("`step` before `reset`; allowed: `reset` first")
        return self.episode

    def _advance(self, episode: Episode) -> tuple[bool, float]:
        """Advances; returns whether the episode continues, and the length of the step in seconds."""
        before = episode.now
        goes_on = episode.advance()
        return goes_on, max(episode.now - before, 1e-9)

    def close(self) -> None:
        """Ends the episode and frees its memory."""
        self.episode = None


class QueueEnv(_Env):
    """Acts on the drop probability of a queue, or on parameters of its discipline.

    ``scenario``: the scenario to run. Its disciplines are replaced, and all links without their own
    get ``dropper``. ``link``: the name of the observed link, the first one if None. ``step``:
    simulated seconds per step. ``max_probability``: that of the action 1. ``delay_weight``: the cost
    of a second of waiting, 1/s. ``demands``: bit/s of each flow, for the fair shares; unlimited if
    None. ``dropper``: a class that takes ``steer``, or the name of a discipline of the catalogue.
    ``parameters``: the parameters of that discipline to control, each with its low and its high
    value: ``{"target": ("1 ms", "50 ms"), "alpha": fw.geom(0.01, 1.0, 2)}``. Without them, a
    discipline of the catalogue ignores the actions and serves as a reference.

    The action is one number ``a`` from 0 to 1: each arrival is marked or dropped with the
    probability ``max_probability * a**2`` until the next step. With ``parameters`` it has a number
    from 0 to 1 for each, in order: 0 is the low value, 1 the high one. The discipline takes them
    over and keeps its state, such as PIE's probability; parameters that shape its tables reset it.
    An episode starts with the values of the scenario.

    The observation contains, in this order: the mean wait of the packets that left in this step, in
    seconds (at most 10); the rate that left, as a fraction of the link's rate; the time to drain the
    current queue, in seconds (at most 10); the fractions of arrivals that were dropped and marked;
    the probability or, with ``parameters``, the action; and for each flow its throughput over about
    the last second, as a fraction of its max-min fair share (at most 10).

    The reward of a step is ``-(error + delay_weight * sojourn)``. ``error`` is the fraction of the
    link's rate that max-min fairness grants to flows but that they did not get over about the last
    second, from 0 to 1. ``sojourn`` is the mean wait of the packets that left, in seconds. The best
    reward is 0. Both are in ``info``, with ``time`` in seconds. An episode is truncated at the end
    of the scenario.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        link: str | None = None,
        step: float = 0.1,
        max_probability: float = 0.25,
        delay_weight: float = 5.0,
        demands: list[float] | None = None,
        dropper: type[Dropper] | str = Probability,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.steer, self.dropper = Steer(), dropper
        choice = dropper if isinstance(dropper, str) else {dropper: {"steer": self.steer}}
        super().__init__(scenario.set("disciplines", [choice]), step)
        self.ranges = {name: Range.of(name, given) for name, given in (parameters or {}).items()}
        self._check_parameters(parameters)
        if not 0 < max_probability <= 1:
            raise ValueError(f"`max_probability` is {max_probability}; allowed: above 0, at most 1")
        self.max_probability, self.delay_weight = max_probability, delay_weight
        first = Episode(self.scenario, seed=1, step=step)
        names = [entry[0] for entry in first.links]
        if link is not None and link not in names:
            raise ValueError(f"`link` is {link!r}; allowed: {', '.join(names)}")
        self.link = 0 if link is None else names.index(link)
        flows = len(first.flows)
        if demands is not None and len(demands) != flows:
            raise ValueError(f"{len(demands)} demands; allowed: {flows}, one for each flow")
        self.rate_bps = float(first.links[self.link][1])
        self.fair_bps = numpy.array(max_min(demands or [float("inf")] * flows, self.rate_bps))
        self.rates_bps = numpy.zeros(flows)
        actions = max(len(self.ranges), 1)
        highest = [LONGEST, 2.0, LONGEST, 1.0, 1.0] + [1.0] * actions + [10.0] * flows
        self.high = numpy.array(highest, dtype=numpy.float32)
        self.observation_space = spaces.Box(numpy.zeros_like(self.high), self.high)
        self.action_space = spaces.Box(0.0, 1.0, (actions,))

    def _check_parameters(self, parameters: Mapping[str, Any] | None) -> None:
        """Checks that the discipline accepts both ends of each range, with the others in the middle."""
        if parameters is None:
            return
        if not self.ranges or not isinstance(self.dropper, str):
            allowed = "one or more, with a `dropper` of the catalogue by its name"
            raise ValueError(f"`parameters` is {parameters!r} with {self.dropper!r}; allowed: {allowed}")
        for at in range(len(self.ranges)):
            for end in (0.0, 1.0):
                parts = [0.5] * len(self.ranges)
                parts[at] = end
                self.scenario.set("disciplines", self._choice(parts))

    def _choice(self, parts: Sequence[float]) -> list[Any]:
        """The discipline with its parameters at these fractions of their ranges."""
        values = {name: scale.at(part) for (name, scale), part in zip(self.ranges.items(), parts)}
        return [{self.dropper: values}]

    def _act(self, episode: Episode, action: Action) -> list[float]:
        """Applies the action, and returns its observation."""
        given = [min(max(float(part), 0.0), 1.0) for part in numpy.asarray(action).reshape(-1)]
        if self.ranges:
            episode.set("disciplines", self._choice(given))
            return given
        self.steer.value = self.max_probability * given[0] ** 2
        return [self.steer.value]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode, in which nothing has been sent yet."""
        self.steer.value = 0.0
        self.rates_bps[:] = 0.0
        self._begin(seed)
        return numpy.zeros_like(self.high), {"time": 0.0}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the probability or the parameters, and advances by ``step`` seconds."""
        episode = self._running()
        acted = self._act(episode, action)
        goes_on, elapsed = self._advance(episode)
        _, _, _, backlog_bytes, left, sojourn, dropped, marked = episode.links[self.link]
        left_bps = numpy.array([flow[1] for flow in episode.flows]) * (8 / elapsed)
        self.rates_bps += (left_bps - self.rates_bps) * min(elapsed, 1.0)  # over about a second
        owed = numpy.maximum(self.fair_bps - self.rates_bps, 0.0)
        error = float(owed.sum() / self.rate_bps)
        arrivals = max(left + dropped, 1)
        seen = [sojourn, left_bps.sum() / self.rate_bps, 8 * backlog_bytes / self.rate_bps]
        seen += [dropped / arrivals, min(marked / arrivals, 1.0), *acted]
        shares = self.rates_bps / numpy.maximum(self.fair_bps, 1.0)
        observation = numpy.concatenate([seen, shares]).astype(numpy.float32)
        observation = numpy.minimum(observation, self.high)
        info = {"time": episode.now, "error": error, "sojourn": sojourn}
        return observation, -(error + self.delay_weight * sojourn), False, not goes_on, info


class SenderEnv(_Env):
    """Acts on the congestion window of the TCP senders of a group.

    ``scenario``: the scenario to run, under its first discipline. ``group``: the name of the group of
    flows, which share one window. ``step``: simulated seconds per step. ``max_window``: segments.
    ``paces``: also paces, at one window per round-trip time. ``delay_weight``: the cost of a second
    of queueing, 1/s. ``loss_weight``: the cost of losing everything.

    The action is one number ``a`` from -1 to 1: the window is multiplied by ``2**a``, within 1 and
    ``max_window``. It starts at 10 segments (RFC 6928).

    The observation contains, in this order: the window as a fraction of ``max_window``; the mean
    round-trip time of this step and the minimum of the episode, in seconds (at most 10); the
    throughput of the group as a fraction of the first link's rate; the fraction of segments lost;
    and the segments in flight at the last acknowledgement, as a fraction of ``max_window``.

    The reward of a step is ``throughput - delay_weight * queueing - loss_weight * loss``, with the
    observed throughput and loss. ``queueing`` is the mean round-trip time minus the minimum, in
    seconds. All three are in ``info``, with ``time`` in seconds and ``window`` in segments.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        group: str,
        step: float = 0.1,
        max_window: float = 1000.0,
        paces: bool = False,
        delay_weight: float = 5.0,
        loss_weight: float = 1.0,
    ) -> None:
        self.steer = Seen(INITIAL_WINDOW)
        control = {Window: {"steer": self.steer, "paces": paces}}
        super().__init__(scenario.set(f"flow.{group}.tcp.control", control), step)
        if not 10 <= max_window <= 1e6:
            raise ValueError(f"`max_window` is {max_window} segments; allowed: from 10 to 1e6")
        self.group, self.max_window = group, max_window
        self.delay_weight, self.loss_weight = delay_weight, loss_weight
        first = Episode(self.scenario, seed=1, step=step)
        self.rate_bps = float(first.links[0][1])
        self.members = [at for at, flow in enumerate(first.flows) if flow[0].rsplit(".", 1)[0] == group]
        self.high = numpy.array([1.0, LONGEST, LONGEST, 2.0, 1.0, 2.0], dtype=numpy.float32)
        self.observation_space = spaces.Box(numpy.zeros_like(self.high), self.high)
        self.action_space = spaces.Box(-1.0, 1.0, (1,))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode, in which nothing has been sent yet."""
        self.steer.clear()
        self.steer.value, self.steer.least_rtt, self.steer.in_flight = INITIAL_WINDOW, LONGEST, 0
        self._begin(seed)
        return numpy.zeros_like(self.high), {"time": 0.0}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Changes the window, and advances by ``step`` seconds."""
        episode, steer = self._running(), self.steer
        given = min(max(float(numpy.asarray(action).reshape(-1)[0]), -1.0), 1.0)
        steer.value = min(max(steer.value * 2.0**given, 1.0), self.max_window)
        steer.clear()
        goes_on, elapsed = self._advance(episode)
        flows = episode.flows
        throughput = sum(flows[at][1] for at in self.members) * 8 / elapsed / self.rate_bps
        rtt = sum(steer.rtts) / len(steer.rtts) if steer.rtts else 0.0
        queueing = max(rtt - steer.least_rtt, 0.0)
        loss = min(steer.lost / max(steer.acked + steer.lost, 1), 1.0)
        seen = [steer.value / self.max_window, rtt, steer.least_rtt, throughput, loss]
        observation = numpy.array([*seen, steer.in_flight / self.max_window], dtype=numpy.float32)
        observation = numpy.minimum(observation, self.high)
        reward = throughput - self.delay_weight * queueing - self.loss_weight * loss
        info = {
            "time": episode.now,
            "window": steer.value,
            "throughput": throughput,
            "queueing": queueing,
            "loss": loss,
        }
        return observation, reward, False, not goes_on, info


gymnasium.register("fairwire/Queue-v0", entry_point="fairwire.gym:QueueEnv")
gymnasium.register("fairwire/Sender-v0", entry_point="fairwire.gym:SenderEnv")
