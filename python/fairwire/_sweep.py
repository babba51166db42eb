"""Sweeps: a scenario under every combination of values, disciplines and seeds.

``fairwire.sweep`` makes one. Its results lie in a folder of Parquet files, which the command
``fairwire sweep`` writes too.
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

    `start` and `stop` are included, and have the same unit. Counts are rounded to whole numbers.
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

    `vary`: for each key that ``Scenario.set`` takes, and for ``"discipline"``, a list of values, or
    what `geom` or `linear` returns. Every combination is a cell. `seeds`: as for ``Scenario.run``;
    the scenario's if it is None. `measures`: what is kept of each run, by the names of a summary,
    such as ``"share.tcp"``; empty for all that a summary has. `flows`: also keep a row for each
    flow. `precision`: add seeds to a cell until half of the 95 % interval of each of `measures` is
    at most this part of its mean; `seeds` are then the most. `store`: the folder of the results.

    Nothing runs yet. Raises ScenarioError for a wrong key or value, of any cell.
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
    """The values of an axis as JSON has them; arrays of NumPy become lists."""
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
    """A sweep that was checked, and its store. ``fairwire.sweep`` and ``Sweep.load`` make one."""

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
        """The sweep in a plan file, as ``fairwire sweep`` takes it. `store` replaces the folder that it names."""
        return Sweep(SweepPlan.load(path, store))

    @property
    def runs(self) -> int:
        """The number of runs; with a precision, the most."""
        return self._plan.runs

    @property
    def cells(self) -> int:
        """The number of combinations of values and disciplines."""
        return self._plan.cells

    @property
    def axes(self) -> list[str]:
        """The keys that vary."""
        return self._plan.axes

    @property
    def seeds(self) -> list[int]:
        """The seeds of each cell."""
        return self._plan.seeds

    @property
    def measures(self) -> list[str]:
        """What is kept of each run."""
        return self._plan.measures

    @property
    def notes(self) -> list[str]:
        """Notes on its scenarios, and on what differs between cells besides what varies."""
        return self._plan.notes

    @property
    def store(self) -> str:
        """The folder of the results."""
        return str(self._plan.store)

    def cost(self) -> dict[str, float]:
        """What the missing runs take: `runs`, `missing`, `pilot`, `cpu_hours`, `bytes`.

        A pilot makes a hundredth of the missing runs, for at most ten seconds, and keeps them.
        """
        return self._plan.cost()

    def missing(self) -> Table:
        """The runs that the store lacks: `row` (the number of the run), its values, `discipline`, `seed`."""
        return self._plan.missing()

    def explain(self, row: int) -> str:
        """Why run number `row` is missing: nothing like it is there, or which of its inputs changed."""
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
        """Makes the missing runs and returns this sweep. Results do not depend on where.

        `on`: ``"local"`` for this machine, with `jobs` runs at the same time (0: one on each core);
        a ``distributed.Client`` of Dask; the module ``ray``; or any ``concurrent.futures.Executor``.
        Workers get shards of about `seconds` of work, at most `max_shards` of them. They write into
        the store, so they need to see its folder. `progress`: True for a line on stderr, or a
        function that is given the fraction that is done.

        Raises ValueError, with what lowers it, for more than 10 million runs, 20 GB on disk, or 8 GB of
        memory of `jobs` runs at once. `yes=True` makes them.
        Raises SweepError if the store cannot be written or a worker has another version of fairwire.
        Whatever ends it, what is finished is kept: the same call goes on where it was.
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
        """A row for each run that is in the store, in the order of the plan."""
        return self._plan.table()

    @property
    def summary(self) -> Table:
        """A row for each cell: `runs`, and of each measure the mean and `_half_width_95` of its interval."""
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
        """`table` as an xarray.Dataset: a dimension for each axis, for `discipline` and for `seed`."""
        return self.table.to_xarray()

    def compact(self) -> tuple[int, int]:
        """Makes few large files of the many small ones of the store. Returns how many there were and are."""
        return self._plan.compact()

    def __repr__(self) -> str:
        over = ", ".join([*self.axes, "discipline"])
        head = f"<fairwire.Sweep: {self.cells} cells over {over}, {self.runs} runs, in {self.store}>"
        return "\n".join([head, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>Note: {escape(note)}</p>" for note in self.notes)
        return notes + self.summary._repr_html_()


class _Shown:
    """Progress as ``Scenario.run`` shows it: for what other processes do."""

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
    """A function that makes shards somewhere, and yields the number of runs of each as it ends."""
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

    # Not pure: a shard is a task each time, whatever the scheduler remembers of an earlier one.
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
    """`run_shard` as a function of Python, which is what Ray takes."""
    return run_shard(shard)
