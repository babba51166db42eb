"""Your own disciplines and controllers: subclass :class:`Dropper`, :class:`Queue` or :class:`Controller`.

A class may appear wherever a scenario takes the name of a discipline or of a congestion controller.
Each link or flow of each run gets its own object, so runs share nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from random import Random

    from ._fairwire import Ack, Congestion, Packet, Waiting

__all__ = ["Controller", "Dropper", "Queue"]


class Dropper:
    """Drops and marks packets, and makes room. A scheduler chooses the next packet.

    ::

        class Linear(fw.Dropper):
            def __init__(self, start=0.5):  # the fill level from which it drops
                self.start = start

            def on_arrival(self, packet, queue, now):
                fill = len(queue) / queue.max_packets
                if self.random.random() < (fill - self.start) / (1 - self.start):
                    return "drop"

        scenario.run(["tail-drop", Linear, {Linear: {"start": 0.8}, "label": "late"}])

    Every method is optional; without any it is a tail-drop. The dict's entries go to
    ``__init__``, except for ``buffer``, ``ecn`` and ``scheduler``, which every dropper has:
    ``{Linear: {"scheduler": "drr"}}`` is served by deficit round robin. Its name in results is
    that of the class unless the dict has a ``label``.

    A verdict is None (let it pass), ``"drop"``, or ``"mark"``: mark an ECN-capable packet,
    and drop any other (RFC 3168). An exception ends the runs, and ``run`` raises it.

    It is slow. A packet takes about 1 µs more: 0.7 µs for its object and 0.1 to 0.5 µs per
    method, while an entire simulation takes 0.2 µs per packet. Only one thread at a time executes
    Python, so more ``jobs`` do not make it faster.
    """

    rate_bps: float
    """The rate of the link, bit/s."""
    max_packets: int
    """The size of the buffer, packets; the largest number if only its bytes are bounded."""
    max_bytes: int
    """The size of the buffer, bytes; the largest number if only its packets are bounded."""
    packet_bytes: int
    """A typical packet, bytes on the wire."""
    random: Random
    """The random numbers of this link and run. With any others, the same seed gives another run."""

    def on_arrival(self, packet: Packet, queue: Waiting, now: float) -> Literal["drop", "mark"] | None:
        """The verdict on ``packet``, which arrives at ``now`` seconds and is not in ``queue`` yet.

        :meth:`victim` decides afterwards whether it fits.
        """
        return None

    def on_departure(self, packet: Packet, queue: Waiting, now: float) -> Literal["drop", "mark"] | None:
        """The verdict on ``packet``, which leaves at ``now`` seconds and is no longer in ``queue``.

        It has waited ``now - packet.arrived`` seconds.
        """
        return None

    def victim(self, packet: Packet, queue: Waiting, now: float) -> Packet | None:
        """The packet of ``queue`` that makes room for ``packet``, which does not fit.

        None refuses ``packet`` itself. Called again until it fits.
        """
        return None

    def idle(self, now: float) -> None:
        """The link becomes idle at ``now`` seconds, with an empty queue."""


class Queue:
    """An entire queue: it stores packets, and chooses the next one.

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

    An enqueued packet waits until ``dequeue`` returns it or ``drop`` drops it. The queue must stay
    within its buffer: ``max_packets`` and ``max_bytes``. ``{MyQueue: {"buffer": "50 packets"}}``
    gives it a separate buffer; the dict's other entries go to ``__init__``. Exceptions and speed
    are as for a :class:`Dropper`.
    """

    rate_bps: float
    """The rate of the link, bit/s."""
    max_packets: int
    """The size of the buffer, packets; the largest number if only its bytes are bounded."""
    max_bytes: int
    """The size of the buffer, bytes; the largest number if only its packets are bounded."""
    packet_bytes: int
    """A typical packet, bytes on the wire."""
    random: Random
    """The random numbers of this link and run. With any others, the same seed gives another run."""

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
        """When a packet may leave, in seconds, after ``now``; called after ``dequeue`` returned None."""
        raise NotImplementedError

    def idle(self, now: float) -> None:
        """The link becomes idle at ``now`` seconds, with an empty queue."""

    def drop(self, packet: Packet) -> None:
        """Drops ``packet``, which is queued or arriving."""
        self._orders.append((packet, "drop"))

    def mark(self, packet: Packet) -> None:
        """Marks ``packet``, which is queued or arriving, and ECN-capable."""
        self._orders.append((packet, "mark"))


class Controller:
    """A TCP congestion controller: a window in segments and, if it paces, a rate.

    ::

        class Gentle(fw.Controller):
            def __init__(self, keeps=0.8):  # the factor of the window after a loss
                self.keeps = keeps

            def on_ack(self, ack):
                if ack.is_window_used:
                    slow_start = self.window < self.threshold
                    self.window += ack.growth if slow_start else ack.growth / self.window

            def on_loss(self, congestion):
                self.window = self.threshold = max(congestion.in_use * self.keeps, 2.0)

        scenario.set("flow.tcp.tcp.control", Gentle)
        scenario.set("flow.tcp.tcp.control", {Gentle: {"keeps": 0.5}})

    Methods change ``window``, ``threshold`` and ``pace``, which are read after each call. They do not
    control loss detection and retransmission. The flow is a modern TCP with SACK, unless its
    ``profile`` differs. An acknowledgement takes about 1 µs more. Exceptions are as for a
    :class:`Dropper`.
    """

    window: float
    """The congestion window, segments, at least 1. Initially the flow's initial window."""
    threshold: float
    """The slow-start threshold, segments. Initially infinite."""
    pace: float | None
    """The pacing rate, segments per second; None if only acknowledgements clock them out."""
    segment_bytes: int
    """The payload of a full segment."""

    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged, outside loss recovery."""

    def on_loss(self, congestion: Congestion) -> None:
        """Acknowledgements show a loss; once per window. Halves the window."""
        self.window = self.threshold = max(congestion.in_use / 2, 2.0)

    def on_mark(self, congestion: Congestion) -> None:
        """A mark was echoed; once per window. Same as a loss, unless overridden."""
        self.on_loss(congestion)

    def on_timeout(self, congestion: Congestion) -> None:
        """The retransmission timer expired. Same as a loss, with a window of 1, unless overridden."""
        self.on_loss(congestion)
        self.window = 1.0

    def on_recovered(self, now: float) -> None:
        """Loss recovery ended, at ``now`` seconds."""

    def on_restart(self, window: float) -> None:
        """The flow continues with a reduced window of ``window`` segments: after a pause, or as in Tahoe."""
        self.window = window
