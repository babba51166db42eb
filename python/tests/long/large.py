"""Large tables: a million transfers, and a series of 778 015 rows, to Polars, pickled and read back equal.

``make python-large``, after ``make python``: half a minute, and 600 MB. `python/tests/test_data.py` does
the same with small ones.
"""

from __future__ import annotations

import pickle
import resource
import sys
import time
from typing import Any

import fairwire as fw

TRANSFERS = 1_000_000
ROWS = 778_015  # of the review that found texts copied


def hundred(source: Any, rate: str, milliseconds: int) -> fw.Scenario:
    """A hundred users with this source at a link of this rate."""
    access = {"rate": "10 Gbit/s", "delay": "1 ms"}
    return fw.Scenario(
        {
            "format": 2,
            "name": "hundred",
            "duration": f"{milliseconds} ms",
            "seeds": 1,
            "disciplines": ["tail-drop"],
            "link": {"rate": rate, "delay": "1 ms", "buffer": "1000 packets"},
            "flow": [{"group": "users", "count": 100, "source": source, "access": access}],
        }
    )


def memory() -> float:
    """What this process has in memory, MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def check(table: fw.Table) -> dict[str, Any]:
    """Takes `table` to Polars and through a pickle; what that takes."""
    import polars
    import pyarrow

    arrow = table.to_arrow()
    texts = [field.name for field in arrow.schema if pyarrow.types.is_dictionary(field.type)]
    assert not any(pyarrow.types.is_string(field.type) for field in arrow.schema)
    before, start = memory(), time.perf_counter()
    frame = table.to_polars()
    took, more = time.perf_counter() - start, memory() - before
    for name in texts:
        # Each text is there once, whatever the number of rows; Polars has places among them.
        assert frame[name].dtype == polars.Categorical, name
        assert len(arrow[name].chunk(0).dictionary) == frame[name].n_unique(), name
    for name in set(arrow.column_names) - set(texts):
        ours, theirs = (column.buffers()[1].address for column in (arrow[name].chunk(0), frame[name].to_arrow()))
        assert ours == theirs, f"{name} was copied"
    start = time.perf_counter()
    data = pickle.dumps(table)
    dumped = time.perf_counter() - start
    start = time.perf_counter()
    again = pickle.loads(data)
    loaded = time.perf_counter() - start
    assert again.to_arrow().equals(arrow) and (again.columns, again.keys) == (table.columns, table.keys)
    return {
        "rows": len(table),
        "table, MB": arrow.nbytes / 1e6,
        "to Polars, s": took,
        "more memory, MB": more,
        "pickle, MB": len(data) / 1e6,
        "pickled, s": dumped,
        "read, s": loaded,
    }


def figures(transfers: int, rows: int) -> list[dict[str, Any]]:
    """Runs with at least this many transfers, and rows of a series."""
    import polars

    polars.DataFrame({"text": ["a"]}, schema={"text": polars.Categorical})  # it is loaded
    start = time.perf_counter()
    # Some 100 000 transfers in each second.
    source = {"transfers": {"size": {"fixed": "2 kB"}, "mean_gap": "1 ms"}}
    result = hundred(source, "10 Gbit/s", transfers // 100 + 100).run(transfers=True)
    made = time.perf_counter() - start
    first = {"what": "transfers", "run, s": made, **check(result.completed)}
    assert first["rows"] >= transfers
    start = time.perf_counter()
    # Each sample has seven rows of each flow, and some of link and group.
    watched = hundred("bulk", "100 Mbit/s", 2000).run(every=f"{1_400_000_000 // rows} us", flows=True)
    made = time.perf_counter() - start
    second = {"what": "series", "run, s": made, **check(watched.series)}
    assert second["rows"] >= rows, second
    return [first, second]


if __name__ == "__main__":
    for line in figures(TRANSFERS, ROWS):
        print(", ".join(f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}" for name, value in line.items()))
    print(f"most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB", file=sys.stderr)
