"""Disciplines of your own: subclass :class:`Dropper` or :class:`Queue`, and pass the class to ``run``.

A class may be wherever a scenario takes the name of a discipline. For each link and each run an
object of it is made, so that runs share nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from random import Random

    from ._fairwire import Packet, Waiting

__all__ = ["Dropper", "Queue"]


class Dropper:
    """Refuses packets, marks them and makes room. A scheduler chooses which packet leaves next.

    ::

        class Linear(fw.Dropper):
            def __init__(self, start=0.5):  # the part of the buffer from which on it drops
                self.start = start

            def on_arrival(self, packet, queue, now):
                fill = len(queue) / queue.max_packets
                if self.random.random() < (fill - self.start) / (1 - self.start):
                    return "drop"

        scenario.run(["tail-drop", Linear, {Linear: {"start": 0.8}, "label": "late"}])

    Every method may be left out; without any it is a tail-drop. What is in the dict goes to
    ``__init__``, but for ``buffer``, ``ecn`` and ``scheduler``, which every dropper has:
    ``{Linear: {"scheduler": "drr"}}`` is served by deficit round robin. Results call it by the
    name of the class unless the dict has a ``label``.

    A verdict is None (let it pass), ``"drop"``, or ``"mark"``: mark a packet that is ECN-capable,
    and drop any other (RFC 3168). An exception ends the runs and is raised by ``run``.

    It is slow. A packet takes about 1 µs more: 0.7 µs for its object and 0.1 to 0.5 µs for each
    method, where a whole simulation takes 0.2 µs for each packet. One thread at a time is in Python,
    so more ``jobs`` do not make it faster.
    """

    rate_bps: float
    """The rate of the link, bit/s."""
    max_packets: int
    """The room of the buffer, packets."""
    max_bytes: int
    """The room of the buffer, bytes."""
    packet_bytes: int
    """A typical packet, bytes on the wire."""
    random: Random
    """Random numbers of this link and run. No others give the same run for the same seed."""

    def on_arrival(self, packet: Packet, queue: Waiting, now: float) -> Literal["drop", "mark"] | None:
        """The verdict on ``packet``, which arrives at ``now`` seconds and is not in ``queue`` yet.

        Whether it fits is decided afterwards, by :meth:`victim`.
        """
        return None

    def on_departure(self, packet: Packet, queue: Waiting, now: float) -> Literal["drop", "mark"] | None:
        """The verdict on ``packet``, which is about to leave at ``now`` seconds and is no longer in ``queue``.

        It has waited ``now - packet.arrived`` seconds.
        """
        return None

    def victim(self, packet: Packet, queue: Waiting, now: float) -> Packet | None:
        """The packet of ``queue`` that makes room for ``packet``, which does not fit.

        None refuses ``packet`` itself. Called again until it fits.
        """
        return None

    def idle(self, now: float) -> None:
        """The link becomes idle at ``now`` seconds: it was free and nothing waited."""


class Queue:
    """A whole queue: which packets wait, and which one leaves next.

    ::

        class LastInFirstOut(fw.Queue):
            def __init__(self):
                self.waiting = []

            def enqueue(self, packet, now):
                self.waiting.append(packet)
                if len(self.waiting) > self.max_packets:
                    self.drop(self.waiting.pop(0))

            def dequeue(self, now):
                return self.waiting.pop()

    A packet that was enqueued waits until ``dequeue`` returns it or ``drop`` drops it, and the
    queue keeps within its buffer: ``max_packets`` and ``max_bytes``. ``{MyQueue: {"buffer": "50
    packets"}}`` gives it a buffer of its own; what else is in the dict goes to ``__init__``. What
    holds for the exceptions and the speed of a :class:`Dropper` holds here.
    """

    rate_bps: float
    """The rate of the link, bit/s."""
    max_packets: int
    """The room of the buffer, packets."""
    max_bytes: int
    """The room of the buffer, bytes."""
    packet_bytes: int
    """A typical packet, bytes on the wire."""
    random: Random
    """Random numbers of this link and run. No others give the same run for the same seed."""

    _orders: list[tuple[Packet, str]]

    def enqueue(self, packet: Packet, now: float) -> None:
        """Takes ``packet``, which arrives at ``now`` seconds. Required."""
        raise NotImplementedError

    def dequeue(self, now: float) -> Packet | None:
        """Returns the packet that leaves at ``now`` seconds; called only while some wait. Required.

        None is allowed only with :meth:`ready_at`.
        """
        raise NotImplementedError

    def ready_at(self, now: float) -> float:
        """When one may leave, in seconds and after ``now``: called after ``dequeue`` returned None."""
        raise NotImplementedError

    def idle(self, now: float) -> None:
        """The link becomes idle at ``now`` seconds: it was free and nothing waited."""

    def drop(self, packet: Packet) -> None:
        """Drops ``packet``, which waits or is arriving."""
        self._orders.append((packet, "drop"))

    def mark(self, packet: Packet) -> None:
        """Marks ``packet``, which waits or is arriving and is ECN-capable."""
        self._orders.append((packet, "mark"))
