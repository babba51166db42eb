"""Congestion controllers written in Python."""

from __future__ import annotations

import fairwire as fw
import pytest

SEGMENT = 1448 * 8  # bits


def two(control, count: int = 1, **tcp) -> fw.Scenario:
    """Flows over 10 Mbit/s with a round trip of 44 ms, and 2.4 ms for two segments, which are acknowledged at once; hosts take no time."""
    return fw.Scenario(
        {
            "format": 2,
            "name": "two",
            "duration": "20 s",
            "warm_up": "5 s",
            "seeds": 1,
            "disciplines": ["tail-drop"],
            "link": {"rate": "10 Mbit/s", "delay": "20 ms", "buffer": "50 packets"},
            "flow": [
                {
                    "group": "a",
                    "count": count,
                    "source": "bulk",
                    "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
                    "tcp": {"control": control, "processing": "0 s", **tcp},
                }
            ],
        }
    )


def rates(result: fw.Result) -> list[float]:
    return result.flows["goodput_bps"]


class Fixed(fw.Controller):
    def __init__(self, window=10.0, pace=None):
        self.window, self.pace = window, pace

    def on_loss(self, congestion):
        pass

    def on_restart(self, window):
        pass


class Gentle(fw.Controller):
    def __init__(self, keeps=0.5):
        self.keeps = keeps

    def on_ack(self, ack):
        if ack.is_window_used:
            self.window += ack.growth if self.window < self.threshold else ack.growth / self.window

    def on_loss(self, congestion):
        self.window = self.threshold = max(congestion.in_use * self.keeps, 2.0)


def test_a_window_of_ten_segments_sends_ten_in_a_round_trip():
    assert rates(two(Fixed).run())[0] == pytest.approx(10 * SEGMENT / 0.0464, rel=0.01)


def test_a_pace_of_a_hundred_segments_a_second_is_kept():
    assert rates(two({Fixed: {"window": 100.0, "pace": 100.0}}).run())[0] == pytest.approx(100 * SEGMENT, rel=0.01)


def test_an_additive_increase_in_python_behaves_as_reno():
    reno, ours = (two(control, count=4, profile="modern").run() for control in ("reno", Gentle))
    # Four flows on a buffer of a round trip: the link is full under both.
    assert sum(rates(ours)) == pytest.approx(sum(rates(reno)), rel=0.03)
    assert fw.jain(rates(ours)) > 0.8
    drops = [sum(result.links["drops_overflow"]) for result in (reno, ours)]
    assert 0.5 < drops[1] / drops[0] < 2.0


def test_set_takes_a_class_and_its_arguments():
    reno = two("reno")
    changed = reno.set("flow.a.tcp.control", {Fixed: {"window": 5.0}})
    assert 'class = "Fixed(window=5.0)"' in changed.toml
    assert rates(changed.run())[0] < rates(reno.run())[0] / 2


def test_acknowledgements_and_congestion_describe_their_events():
    acks, losses = [], []

    class Sees(Gentle):
        def on_ack(self, ack):
            assert self.segment_bytes == 1448 and ack.newly >= ack.growth >= 0
            acks.append((ack.now, ack.rtt, ack.rate, ack.in_flight, ack.ends_round, ack.lost))
            super().on_ack(ack)

        def on_loss(self, congestion):
            losses.append((congestion.now, congestion.in_use, congestion.in_flight))
            super().on_loss(congestion)

    two(Sees).run()
    rtts = [ack[1] for ack in acks if ack[1] is not None]
    assert 0.046 < min(rtts) < 0.047 < max(rtts) < 0.12  # 50 packets of 1500 bytes take 60 ms
    assert any(ack[4] for ack in acks) and max(ack[2] for ack in acks if ack[2]) * SEGMENT < 11e6
    assert losses and all(now > 0 and in_use > 2 and in_flight > 0 for now, in_use, in_flight in losses)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"window": 0.0}, "Wrong.on_ack set window to 0.0; allowed: a number from 1 to 1000000000"),
        ({"window": float("nan")}, "Wrong.on_ack set window to nan"),
        ({"window": "ten"}, "Wrong.on_ack set window to ten"),
        ({"threshold": -1}, "Wrong.on_ack set threshold to -1; allowed"),
        ({"pace": 0}, "Wrong.on_ack set pace to 0; allowed: a number from 0.001 to 1000000000000, or None"),
    ],
)
def test_a_controller_that_decides_nonsense_is_refused(values, message):
    class Wrong(fw.Controller):
        def on_ack(self, ack):
            vars(self).update(values)

    with pytest.raises(ValueError) as caught:
        two(Wrong).run()
    assert str(caught.value).startswith(message)


def test_an_exception_in_a_controller_is_raised_and_a_wrong_class_is_refused():
    class Breaks(fw.Controller):
        def on_loss(self, congestion):
            raise KeyError("mine")

        def on_ack(self, ack):
            self.window += ack.growth

    with pytest.raises(KeyError, match="mine") as caught:
        two(Breaks).run()
    assert "in a run of `tail-drop` under seed 1" in caught.value.__notes__[0]

    class Drops(fw.Dropper):
        pass

    with pytest.raises(TypeError, match="`Drops` is a fairwire.Dropper; allowed here: a fairwire.Controller"):
        two(Drops)
    with pytest.raises(TypeError, match="`Gentle` is a fairwire.Controller; allowed here: a fairwire.Dropper or"):
        two("reno").run(Gentle)
    with pytest.raises(TypeError, match="allowed here: a fairwire.Controller"):
        two("reno").set("flow.a.tcp.control", Drops)
