"""Tables: one unit to a column, in its head; base units in what is exported."""

from __future__ import annotations

import math

import pytest

from tare.report import Column, Table
from tare.report.files import as_json, frame


def table(kind: str, values: list[object]) -> tuple[str, list[str]]:
    built = Table("t", "T", [Column("x", kind)], [[value] for value in values])  # type: ignore[arg-type,list-item]
    heads, cells = built.shown()
    return heads[0], [row[0] for row in cells]


@pytest.mark.parametrize(
    ("kind", "values", "head", "cells"),
    [
        ("time_ns", [1500.0, 2.5e4, None], "x (µs)", ["1.50", "25.0", "unknown"]),
        ("time_ns", [4.0, 5e6, 6e6], "x (ms)", ["< 0.0001", "5.00", "6.00"]),
        ("time_ns", [], "x (ns)", []),
        ("time_ns", [0.0, math.nan], "x (ns)", ["0", "unknown"]),
        ("share", [0.01, 0.5], "x (%)", ["1.00", "50.0"]),
        ("share", [2e-6, 3e-6], "x (ppm)", ["2.00", "3.00"]),
        ("rate_hz", [250.0], "x (/s)", ["250"]),
        ("size_bytes", [2**21, 2**22], "x (MiB)", ["2.00", "4.00"]),
        ("count", [1234567], "x", ["1\u202f234\u202f567"]),
        ("number", [math.inf, -1.5], "x", ["∞", "-1.50"]),
        ("text", ["a", True, None], "x", ["a", "yes", "unknown"]),
    ],
)
def test_a_column_has_one_unit(
    kind: str, values: list[object], head: str, cells: list[str]
) -> None:
    assert table(kind, values) == (head, cells)


def test_export_is_in_base_units_whatever_is_shown() -> None:
    built = Table("t", "T", [Column("99 %", "time_ns"), Column("CPU")], [[1500.0, "0"]])
    data = frame(built)
    assert data.columns == ["99_percent_ns", "cpu"]
    assert data.row(0) == (1500.0, "0")


def test_json_has_no_nan() -> None:
    import json

    import numpy as np

    value = {"a": math.nan, "b": np.float64(1.5), "c": np.arange(3), "d": math.inf}
    assert json.loads(as_json(value)) == {"a": None, "b": 1.5, "c": [0, 1, 2], "d": None}
