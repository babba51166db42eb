"""Disciplines and controllers of your own: subclass :class:`Dropper`, :class:`Queue` or :class:`Controller`.

A class may be wherever a scenario takes the name of a discipline or of a congestion controller. For
each link or flow of each run an object of it is made, so that runs share nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from random import Random

    from ._fairwire import Ack, Congestion, Packet, Waiting

__all__ = ["Controller", "Dropper", "Queue"]


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
    """The room of the buffer, packets; the largest number where only its bytes are bounded."""
    max_bytes: int
    """The room of the buffer, bytes; the largest number where only its packets are bounded."""
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
    """The room of the buffer, packets; the largest number where only its bytes are bounded."""
    max_bytes: int
    """The room of the buffer, bytes; the largest number where only its packets are bounded."""
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


class Controller:
    """A congestion controller of TCP: a window in segments, and where it paces, a rate.

    ::

        class Gentle(fw.Controller):
            def __init__(self, keeps=0.8):  # what a loss leaves of the window
                self.keeps = keeps

            def on_ack(self, ack):
                if ack.is_window_used:
                    slow_start = self.window < self.threshold
                    self.window += ack.growth if slow_start else ack.growth / self.window

            def on_loss(self, congestion):
                self.window = self.threshold = max(congestion.in_use * self.keeps, 2.0)

        scenario.set("flow.tcp.tcp.control", Gentle)
        scenario.set("flow.tcp.tcp.control", {Gentle: {"keeps": 0.5}})

    A method changes ``window``, ``threshold`` and ``pace``, which are read after each call. What is
    lost and sent again is not decided here. The flow is a TCP of today, with SACK, unless its
    ``profile`` says otherwise. An acknowledgement takes about 1 µs more. What holds for the
    exceptions of a :class:`Dropper` holds here.
    """

    window: float
    """The congestion window, segments, from 1 on. It begins with the initial window of the flow."""
    threshold: float
    """The slow-start threshold, segments. It begins with infinity."""
    pace: float | None
    """Segments per second at which to send; None where acknowledgements alone clock them out."""
    segment_bytes: int
    """The payload of a full segment."""

    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged, outside of the repair of a loss."""

    def on_loss(self, congestion: Congestion) -> None:
        """Acknowledgements show a loss: once for each window. Halves the window."""
        self.window = self.threshold = max(congestion.in_use / 2, 2.0)

    def on_mark(self, congestion: Congestion) -> None:
        """A mark was echoed: once for each window. What a loss does, unless overridden."""
        self.on_loss(congestion)

    def on_timeout(self, congestion: Congestion) -> None:
        """The retransmission timer ran out. What a loss does, and a window of 1, unless overridden."""
        self.on_loss(congestion)
        self.window = 1.0

    def on_recovered(self, now: float) -> None:
        """A loss is repaired, at ``now`` seconds."""

    def on_restart(self, window: float) -> None:
        """The flow goes on from ``window`` segments, where it had more: after a pause, or as Tahoe does."""
        self.window = window
