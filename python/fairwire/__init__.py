"""fairwire: shares a network link fairly.

A contest in four lines::

    import fairwire as fw

    scenario = fw.Scenario.load("selfish-flow.toml")
    result = scenario.run(["tail-drop", "faba"], seeds="1..=10")
    result.summary.to_polars()

In results, times are in seconds and rates in bit/s. Values of a scenario have units: "10 Mbit/s".
"""

from typing import TYPE_CHECKING

from ._fairwire import (
    ENGINE,
    Ack,
    Congestion,
    Discipline,
    Episode,
    Exhibit,
    Packet,
    Reproduction,
    Result,
    Scenario,
    ScenarioError,
    StageError,
    SweepError,
    Table,
    Waiting,
    __version__,
    describe,
    disciplines,
    estimate,
    jain,
    max_min,
    parts,
    read,
)
from ._sweep import Sweep, geom, linear, sweep
from .own import Controller, Dropper, Queue

if TYPE_CHECKING:
    from . import plot

__all__ = [
    "ENGINE",
    "Ack",
    "Congestion",
    "Controller",
    "Discipline",
    "Dropper",
    "Episode",
    "Exhibit",
    "Packet",
    "Queue",
    "Reproduction",
    "Result",
    "Scenario",
    "ScenarioError",
    "StageError",
    "Sweep",
    "SweepError",
    "Table",
    "Waiting",
    "__version__",
    "describe",
    "disciplines",
    "estimate",
    "geom",
    "jain",
    "linear",
    "max_min",
    "parts",
    "plot",
    "read",
    "sweep",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "gym"])


def __getattr__(name: str):
    # Imported on use, because matplotlib and gymnasium take longer than everything else.
    if name in ("plot", "gym"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
