"""Tables as labelled arrays. Imported by ``to_xarray``, with the extra ``xarray``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
import xarray

if TYPE_CHECKING:
    from ._fairwire import Result, Table


class _Axis:
    """The labels of a dimension, and the label of each row."""

    def __init__(self, values: Sequence[Any]):
        labels = list(dict.fromkeys(values))
        if not all(isinstance(label, str) for label in labels):
            labels.sort()  # numbers; words keep their order of appearance
        self.labels = labels
        places = {label: place for place, label in enumerate(labels)}
        self.places = numpy.fromiter((places[value] for value in values), numpy.intp, len(values))


def _is_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def _filled(axes: dict[str, _Axis], values: Sequence[Any], rows: Any = slice(None)) -> tuple[list[str], Any]:
    """The dimensions, and an array over them with ``values`` in its ``rows`` and nan elsewhere."""
    shape = [len(axis.labels) for axis in axes.values()]
    if _is_text(values):
        array, given = numpy.full(shape, None, object), numpy.array(values, object)
    else:
        array, given = numpy.full(shape, numpy.nan), numpy.array(values, float)  # None becomes nan
    array[tuple(axis.places[rows] for axis in axes.values())] = given[rows]
    return list(axes), array


def _follows(axis: _Axis, values: Sequence[Any]) -> list[Any] | None:
    """The value in ``values`` for each label of ``axis``; None if one label has several."""
    found: dict[int, Any] = {}
    for place, value in zip(axis.places, values):
        if found.setdefault(place, value) != value:
            return None
    return [found[place] for place in range(len(axis.labels))]


def dataset(table: Table) -> xarray.Dataset:
    """A dataset of ``table``, with the table's keys as dimensions."""
    if not table.keys:
        raise ValueError("the table has no keys, and so no dimensions; allowed: a table of a result")
    columns = table.to_dict()
    if "measure" in table.keys and "value" in columns:
        return _by_measure(table, columns)
    axes = {key: _Axis(columns[key]) for key in table.keys}
    data = xarray.Dataset(coords={key: axis.labels for key, axis in axes.items()})
    for dim in axes:
        if unit := table.unit(dim):
            data[dim].attrs["units"] = unit
    for name in columns.keys() - axes.keys():
        values = columns[name]
        about = {"description": table.description(name)}
        along = [(key, _follows(axes[key], values)) for key in reversed(axes)] if _is_text(values) else []
        key, labels = next((found for found in along if found[1] is not None), (None, None))
        if labels is not None:
            data = data.assign_coords({name: (key, labels, about)})
        else:
            data[name] = (*_filled(axes, values), about)
    return data[[name for name in columns if name in data.data_vars]]


def _names(kinds: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names of objects; those shared by two kinds are prefixed with the kind."""
    known: dict[str, set[str]] = {}
    for kind, name in zip(kinds, names):
        known.setdefault(name, set()).add(kind)
    return [name if len(known[name]) == 1 else f"{kind} {name}" for kind, name in zip(kinds, names)]


def _by_measure(table: Table, columns: dict[str, list[Any]]) -> xarray.Dataset:
    """One variable per measure or, if it has two units, per unit."""
    measures, values = columns["measure"], columns["value"]
    units = columns.get("unit") or [""] * len(values)
    dims = [key for key in table.keys if key not in ("measure", "unit", "kind")]
    if "kind" in columns:
        columns["name"] = _names(columns["kind"], columns["name"])
    axes = {key: _Axis(columns[key]) for key in dims}
    data = xarray.Dataset(coords={key: axis.labels for key, axis in axes.items()})
    if "kind" in columns:
        data = data.assign_coords(kind=("name", _follows(axes["name"], columns["kind"])))
    variables: dict[tuple[str, str], list[int]] = {}
    for row, of in enumerate(zip(measures, units)):
        variables.setdefault(of, []).append(row)
    known = [measure for measure, _ in variables]
    for (measure, unit), rows in variables.items():
        name = measure if known.count(measure) == 1 else f"{measure}_{unit}"
        data[name] = (*_filled(axes, values, numpy.array(rows)), {"units": unit} if unit else {})
    return data


def of_result(result: Result, measure: str | None) -> xarray.Dataset | xarray.DataArray:
    """The measures of ``result`` over disciplines and seeds, or one of them."""
    data = dataset(result.measures)
    if measure is None:
        return data
    if measure not in data:
        raise KeyError(f"there is no measure `{measure}`; allowed: {', '.join(map(str, data.data_vars))}")
    return data[measure]
