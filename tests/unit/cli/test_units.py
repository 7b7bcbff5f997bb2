"""Numbers with their units, at the edges where a digit moves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare import units


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (0, "0 ns"),
        (9.5, "9.50 ns"),
        (0.0123, "0.0123 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (1_234, "1.23 µs"),
        (4_000_000, "4.00 ms"),
        (999_999_999, "1.00 s"),
        (2.5e9, "2.50 s"),
        (3.6e12, "3\u202f600 s"),
        (-1_500, "-1.50 µs"),
        (None, "unknown"),
        (math.nan, "unknown"),
        (math.inf, "∞"),
    ],
)
def test_time(ns: float | None, shown: str) -> None:
    assert units.time(ns) == shown


@given(st.floats(min_value=1e-3, max_value=1e15))
def test_time_reads_back_within_its_digits(ns: float) -> None:
    number, unit = units.time(ns).replace("\u202f", "").split(" ")
    factor = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(number) * factor == pytest.approx(ns, rel=0.006)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (9.996, "10.0"), (0.09996, "0.100"), (1234.4, "1\u202f234"), (99.95, "100")],
)
def test_significant(value: float, shown: str) -> None:
    assert units.significant(value) == shown


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [
        (0, "0 %"),
        (0.0123, "1.23 %"),
        (4.5e-5, "45.0 ppm"),
        (1.0, "100 %"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_share(fraction: float | None, shown: str) -> None:
    assert units.share(fraction) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(950, "950"), (12_345, "12.3 k"), (999_999, "1.00 M"), (1e8, "100 M"), (None, "unknown")],
)
def test_short_count(value: float | None, shown: str) -> None:
    assert units.short_count(value) == shown


@pytest.mark.parametrize(
    ("bytes_", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (4 * 2**20, "4.00 MiB"), (None, "unknown")],
)
def test_size(bytes_: float | None, shown: str) -> None:
    assert units.size(bytes_) == shown


@pytest.mark.parametrize(
    ("hertz", "shown"),
    [(250, "250 Hz"), (9_999, "9\u202f999 Hz"), (25_000, "25.0 kHz"), (2.1e9, "2.10 GHz")],
)
def test_frequency(hertz: float, shown: str) -> None:
    assert units.frequency(hertz) == shown


@pytest.mark.parametrize(
    ("cpus", "shown"), [([], "none"), ([3], "3"), ([0, 2, 1, 5], "0-2,5"), ([1, 1], "1")]
)
def test_cpu_list(cpus: list[int], shown: str) -> None:
    assert units.cpu_list(cpus) == shown
