"""What a capability hands to the report and to the terminal: sentences, figures, pictures, tables.

Values stay numbers in their base unit (ns, bytes, fractions of 1) until they are shown; a column
chooses one unit for all its cells, and its head says which.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tare import units
from tare.charts import Picture
from tare.recording import Recording

Kind = Literal["text", "number", "count", "time_ns", "share", "rate_hz", "size_bytes"]

# Below this a cell would be a row of zeros, and nothing here is measured so finely.
_LEAST_SHOWN = 0.0001

Cell = str | float | int | bool | None

# Base unit -> steps of (smallest middle value, factor, name), largest first.
_SCALES: dict[Kind, tuple[tuple[float, float, str], ...]] = {
    "time_ns": (
        (1e9, 1e-9, "s"),
        (1e6, 1e-6, "ms"),
        (1e3, 1e-3, "µs"),
        (0.0, 1.0, "ns"),
    ),
    "share": ((1e-4, 1e2, "%"), (0.0, 1e6, "ppm")),
    "rate_hz": ((0.0, 1.0, "/s"),),
    "size_bytes": (
        (2.0**30, 2.0**-30, "GiB"),
        (2.0**20, 2.0**-20, "MiB"),
        (2.0**10, 2.0**-10, "KiB"),
        (0.0, 1.0, "B"),
    ),
}


@dataclass(frozen=True)
class Figure:
    """One of the numbers on the first screen.

    Attributes
    ----------
    label : str
        What it is.
    value : str
        With its unit.
    note : str
        Interval, n, or what it is a share of.
    """

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Doubt:
    """A condition that makes the result doubtful.

    Attributes
    ----------
    what : str
        What was seen, with its number.
    why : str
        What it does to the result, and what would mend it.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Without its unit.
    kind : str
        What the cells are, in which base unit.
    """

    name: str
    kind: Kind = "text"

    @property
    def numeric(self) -> bool:
        """Whether its cells stand to the right."""
        return self.kind != "text"


@dataclass(frozen=True)
class Table:
    """A table of at most a few hundred rows.

    Attributes
    ----------
    name, title : str
        File name and heading.
    columns : sequence of Column
        From left to right.
    rows : sequence of sequence of Cell
        In base units; None is unknown.
    caption : str or None
        One line, only where needed.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str | None = None

    def shown(self) -> tuple[list[str], list[list[str]]]:
        """Return the heads with their units, and the cells as text."""
        heads: list[str] = []
        cells: list[list[str]] = [[] for _ in self.rows]
        for at, column in enumerate(self.columns):
            values = [row[at] for row in self.rows]
            factor, unit = _scale(column.kind, values)
            heads.append(f"{column.name} ({unit})" if unit else column.name)
            for row, value in zip(cells, values, strict=True):
                row.append(_cell(column.kind, value, factor))
        return heads, cells

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows by name, in base units: `longest_ns`."""
        endings = {"time_ns": "_ns", "size_bytes": "_bytes", "share": "_fraction", "rate_hz": "_hz"}
        names = [
            column.name.lower().replace(" ", "_").replace("%", "percent")
            + endings.get(column.kind, "")
            for column in self.columns
        ]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class View:
    """One answer, ready to be shown.

    Attributes
    ----------
    name : str
        Short name, usable as a file name.
    title : str
        What was weighed, where.
    sentences : sequence of str
        The answer, in at most three.
    figures : sequence of Figure
        At most three, of the first screen.
    doubts : sequence of Doubt
        What makes it doubtful; empty if nothing is known to.
    pictures : sequence of Picture
        In the order of reading.
    tables : sequence of Table
        The first one is also what the terminal shows.
    recordings : sequence of Recording
        What it rests on.
    data : object
        The analysis itself, for `--json`: dataclasses, numbers, strings.
    profile : str or None
        Text of the reusable profile (JSON) that was found; None if this answer has none.
    """

    name: str
    title: str
    sentences: Sequence[str]
    figures: Sequence[Figure]
    doubts: Sequence[Doubt] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    recordings: Sequence[Recording] = ()
    data: Any = field(default=None, repr=False)
    profile: str | None = field(default=None, repr=False)


def _scale(kind: Kind, values: Sequence[Cell]) -> tuple[float, str]:
    steps = _SCALES.get(kind)
    if steps is None:
        return 1.0, ""
    known = [abs(value) for value in values if isinstance(value, int | float)]
    positive = [value for value in known if 0 < value < math.inf]
    middle = statistics.median_low(positive) if positive else 0.0
    for least, factor, unit in steps:
        if middle >= least:
            return factor, unit
    raise AssertionError("the last step begins at 0")


def _cell(kind: Kind, value: Cell, factor: float) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return units.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return units.count(value) if kind == "count" else _number(value * factor)


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if 0 < abs(value) < _LEAST_SHOWN:
        return f"< {_LEAST_SHOWN}"
    return units.significant(value)
