"""Sweeps: a scenario under every combination of values, disciplines and seeds.

``fairwire.sweep`` creates one. Its results are in a folder of Parquet files, which the command
``fairwire sweep`` also writes.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent import futures
from html import escape
from os import PathLike
from types import ModuleType
from typing import Any

from ._fairwire import Scenario, SweepError, SweepPlan, Table, run_shard

__all__ = ["Sweep", "geom", "linear", "sweep"]


def geom(start: float | str, stop: float | str, points: int) -> dict[str, Any]:
    """Values with the same ratio between neighbours, for ``vary``: ``geom("50 packets", "800 packets", 5)``.

    `start` and `stop` are included, and have the same unit. Counts are rounded to integers.
    """
    return {"from": start, "to": stop, "points": points, "spacing": "log"}


def linear(start: float | str, stop: float | str, points: int) -> dict[str, Any]:
    """Values with the same difference between neighbours, for ``vary``: ``linear(0.0, 1.0, 11)``."""
    return {"from": start, "to": stop, "points": points, "spacing": "linear"}


def sweep(
    scenario: Scenario | str | PathLike[str] | Mapping[str, Any],
    vary: Mapping[str, Any] | None = None,
    *,
    seeds: int | str | Iterable[int] | None = None,
    measures: Sequence[str] = (),
    flows: bool = False,
    precision: float | None = None,
    store: str | PathLike[str] = "results",
) -> "Sweep":
    """A sweep over `scenario`: a Scenario, the path of a file, or a dict.

    `vary`: for each key of ``Scenario.set``, and for ``"discipline"``, a list of values, or the
    result of `geom` or `linear`. Every combination is a cell. `seeds`: as for ``Scenario.run``; the
    scenario's if None. `measures`: the measures to keep of each run, by their names in a summary,
    such as ``"share.tcp"``; empty for all of them. `flows`: also keep one row per flow.
    `precision`: add seeds to a cell until half of the 95 % interval of each of `measures` is at
    most this fraction of its mean; `seeds` is then the maximum. `store`: the folder of the results.

    Nothing runs yet. Raises ScenarioError for a wrong key or value in any cell.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario(dict(scenario)) if isinstance(scenario, Mapping) else Scenario.load(scenario)
    plan: dict[str, Any] = {"format": 1, "measures": list(measures), "flows": flows}
    plan["vary"] = {key: _values(key, values) for key, values in (vary or {}).items()}
    if seeds is not None:
        plan["seeds"] = seeds if isinstance(seeds, int | str) else [int(seed) for seed in seeds]
    if precision is not None:
        plan["precision"] = precision
    return Sweep(SweepPlan(scenario, plan, store))


def _values(key: str, values: Any) -> Any:
    """The values of an axis in JSON form; NumPy arrays become lists."""
    if isinstance(values, Mapping):
        return dict(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(
            f"`vary` has {values!r} for {key!r}; allowed: a list of values, fairwire.geom(...) or fairwire.linear(...)"
        )
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    for value in values:
        if isinstance(value, type):
            raise TypeError(
                f"`vary` has the class {value.__name__} for {key!r}: workers in other processes do not have it; "
                "allowed: disciplines of the catalogue, by name"
            )
    return values


class Sweep:
    """A checked sweep and its store. ``fairwire.sweep`` and ``Sweep.load`` create one."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan

    def __eq__(self, other: object) -> bool:
        """The same plan, and the same folder of its store."""
        if not isinstance(other, Sweep):
            return NotImplemented
        return bool(self._plan.__reduce__()[1] == other._plan.__reduce__()[1])

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def load(path: str | PathLike[str], store: str | PathLike[str] | None = None) -> "Sweep":
        """The sweep in a plan file of ``fairwire sweep``. `store` replaces the folder that it names."""
        return Sweep(SweepPlan.load(path, store))

    @property
    def runs(self) -> int:
        """The number of runs; with a precision, the maximum."""
        return self._plan.runs

    @property
    def cells(self) -> int:
        """The number of combinations of values and disciplines."""
        return self._plan.cells

    @property
    def axes(self) -> list[str]:
        """The varied keys."""
        return self._plan.axes

    @property
    def seeds(self) -> list[int]:
        """The seeds of each cell."""
        return self._plan.seeds

    @property
    def measures(self) -> list[str]:
        """The measures kept of each run."""
        return self._plan.measures

    @property
    def notes(self) -> list[str]:
        """Notes on its scenarios, and on unvaried differences between cells."""
        return self._plan.notes

    @property
    def store(self) -> str:
        """The folder of the results."""
        return str(self._plan.store)

    def cost(self) -> dict[str, float]:
        """The cost of the missing runs: `runs`, `missing`, `pilot`, `cpu_hours`, `bytes`.

        A pilot makes one in a hundred of the missing runs, for at most ten seconds, and keeps them.
        """
        return self._plan.cost()

    def missing(self) -> Table:
        """The runs missing from the store: `row` (the number of the run), its values, `discipline`, `seed`."""
        return self._plan.missing()

    def explain(self, row: int) -> str:
        """Why run number `row` is missing: there is no similar run, or which of its inputs changed."""
        return self._plan.explain(row)

    def run(
        self,
        on: Any = "local",
        *,
        jobs: int = 0,
        progress: bool | Callable[[float], object] | None = None,
        seconds: float = 5.0,
        max_shards: int = 2000,
        yes: bool = False,
    ) -> "Sweep":
        """Makes the missing runs and returns this sweep. The results do not depend on the location.

        `on`: ``"local"`` for this machine, with `jobs` simultaneous runs (0: one per core); a
        ``distributed.Client`` of Dask; the module ``ray``; or any ``concurrent.futures.Executor``.
        Workers get shards of about `seconds` of work, at most `max_shards` of them. They write into
        the store, so they need access to its folder. `progress`: True for a line on stderr, or a
        function that receives the fraction done.

        Raises ValueError, with a suggestion, for more than 10 million runs, 20 GB on disk, or 8 GB of
        memory for `jobs` simultaneous runs. `yes=True` permits them.
        Raises SweepError if the store cannot be written or a worker has another version of fairwire.
        However it ends, finished runs are kept: the same call continues where it stopped.
        """
        if isinstance(on, str):
            if on != "local":
                raise ValueError(f"`on` is {on!r}; allowed: 'local', a client of Dask, the module ray, or an Executor")
            if not yes:
                self._plan.check(jobs)
            self._plan.run_local(jobs, progress)
            return self
        if not yes:
            self._plan.check(1)  # each worker makes one run at a time
        submit = _engine(on)
        shown = _Shown(progress)
        done = 0
        while shards := self._plan.shards(seconds, max_shards):
            left = sum(runs for _, runs in shards)
            before = done
            for runs in submit([shard for shard, _ in shards]):
                done += runs
                shown.show(done / (before + left))
        shown.show(1.0)
        return self

    @property
    def table(self) -> Table:
        """One row per run in the store, in the order of the plan."""
        return self._plan.table()

    @property
    def summary(self) -> Table:
        """One row per cell: `runs`, and for each measure the mean and `_half_width_95` of its interval."""
        return self._plan.summary()

    def to_polars(self) -> Any:
        """`table` as a polars.DataFrame."""
        return self.table.to_polars()

    def to_pandas(self) -> Any:
        """`table` as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_arrow(self) -> Any:
        """`table` as a pyarrow.Table."""
        return self.table.to_arrow()

    def to_xarray(self) -> Any:
        """`table` as an xarray.Dataset, with one dimension per axis, and `discipline` and `seed`."""
        return self.table.to_xarray()

    def compact(self) -> tuple[int, int]:
        """Merges the many small files of the store into few large ones. Returns the old and new numbers."""
        return self._plan.compact()

    def __repr__(self) -> str:
        over = ", ".join([*self.axes, "discipline"])
        head = f"<fairwire.Sweep: {self.cells} cells over {over}, {self.runs} runs, in {self.store}>"
        return "\n".join([head, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>Note: {escape(note)}</p>" for note in self.notes)
        return notes + self.summary._repr_html_()


class _Shown:
    """Progress of other processes, in the form of ``Scenario.run``."""

    def __init__(self, progress: bool | Callable[[float], object] | None) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"`progress` is {progress!r}; allowed: a bool or a function")
        self._progress = progress
        self._began = time.monotonic()

    def show(self, done: float) -> None:
        if callable(self._progress):
            self._progress(done)
        elif self._progress:
            import sys

            took = time.monotonic() - self._began
            left = f", {took / done - took:.0f} s left" if 0.0 < done < 1.0 else ""
            end = "\n" if done >= 1.0 else ""
            print(f"\r{100 * done:3.0f} %{left}   ", end=end, file=sys.stderr, flush=True)


def _engine(on: Any) -> Callable[[list[str]], Iterable[int]]:
    """A function that runs shards somewhere, and yields the number of runs of each when it ends."""
    if isinstance(on, futures.Executor):
        return lambda shards: _executor(on, shards)
    if isinstance(on, ModuleType) and on.__name__ == "ray":
        return lambda shards: _ray(on, shards)
    if hasattr(on, "scheduler_info") and hasattr(on, "map"):
        return lambda shards: _dask(on, shards)
    raise TypeError(
        f"`on` is a {type(on).__name__}; allowed: 'local', a distributed.Client, the module ray, "
        "or a concurrent.futures.Executor"
    )


def _executor(executor: futures.Executor, shards: list[str]) -> Iterable[int]:
    pending = [executor.submit(run_shard, shard) for shard in shards]
    try:
        for future in futures.as_completed(pending):
            yield future.result()[0]
    finally:
        for future in pending:
            future.cancel()


def _dask(client: Any, shards: list[str]) -> Iterable[int]:
    from dask.distributed import as_completed

    # Not pure: a shard is a new task each time, even if the scheduler remembers an earlier one.
    pending = client.map(run_shard, shards, pure=False, retries=3, key="fairwire-shard")
    try:
        for future in as_completed(pending):
            yield future.result()[0]
            future.release()
    finally:
        client.cancel(pending)


def _ray(ray: ModuleType, shards: list[str]) -> Iterable[int]:
    task = ray.remote(max_retries=3)(run_shard_by_ray)
    pending = [task.remote(shard) for shard in shards]
    try:
        while pending:
            done, pending = ray.wait(pending)
            for runs, _ in ray.get(done):
                yield runs
    finally:
        for left in pending:
            ray.cancel(left)


def run_shard_by_ray(shard: str) -> tuple[int, float]:
    """`run_shard` as a Python function, which Ray requires."""
    return run_shard(shard)
