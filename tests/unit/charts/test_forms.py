"""Every form: renders, says its unit, draws what it was given, and survives having nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from tare.charts import Picture, theme
from tare.charts.axes import Limit, log_ticks
from tare.charts.before_after import before_after
from tare.charts.heat_map import heat_map
from tare.charts.lanes import Lane, lanes
from tare.charts.length_distribution import length_distribution
from tare.charts.percentile_curve import Curve, percentile_curve
from tare.charts.run_sequence import Run, run_sequence
from tare.charts.spectrum import Peak, spectrum
from tare.charts.trace_scatter import trace_scatter

LIMITS = (Limit("floor", 10.0), Limit("threshold", 100.0), Limit("cut-off", 900.0))


def arrays(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return np.sort(rng.uniform(0, 10, n)), rng.lognormal(8, 1, n)


def _scatter(n: int) -> Picture:
    kinds = [theme.SOURCES[i % 3] for i in range(n)]
    return trace_scatter("a", "Noise", *arrays(n), kinds, limits=LIMITS)


def _before(n: int) -> Picture:
    return before_after("a", "CPU 0", *arrays(n), 5_000.0, rule="Rehn", n=10 * n, removed=n)[0]


def _after(n: int) -> Picture:
    return before_after("a", "CPU 0", *arrays(n), 5_000.0, rule="Rehn", n=10 * n, removed=n)[1]


def _lengths(n: int) -> Picture:
    return length_distribution("a", "Lengths", {"0": arrays(n)[1], "1": arrays(n)[1] * 2})


def _tail(n: int) -> Picture:
    q = 1 - 10.0 ** -np.linspace(0.1, 4, 50)
    values = np.geomspace(10, 1e5, 50)
    curves = [Curve(f"CPU {c}", q, values, values / 2, values * 2, 1000) for c in (0, 1)]
    return percentile_curve("a", "Tail", curves if n else [])


def _heat(n: int) -> Picture:
    time, length = arrays(n)
    edges_s, edges_ns = np.linspace(0, 10, 11), np.geomspace(1e2, 1e7, 26)
    counts = np.histogram2d(time, length, [edges_s, edges_ns])[0].astype(np.int64)
    longest = np.full(10, np.nan)
    for at, value in zip(time.astype(int), length, strict=True):
        longest[at] = np.nanmax([longest[at], value])
    return heat_map(
        "a",
        "Heat",
        time_edges_s=edges_s,
        length_edges_ns=edges_ns,
        counts=counts,
        longest_ns=longest,
    )


def _lanes(n: int) -> Picture:
    return lanes("a", "Lanes", [Lane(0, *arrays(n)), Lane(7, *arrays(n), None, [(3, 4)])], (0, 10))


def _spectrum(n: int) -> Picture:
    frequency = np.linspace(1, 1000, n)
    peaks = [Peak(250.0, 50.0, "250 Hz kernel tick")] if n else []
    return spectrum("a", "Periods", frequency, np.ones(n), peaks, n=n, limit=8.0)


def _runs(n: int) -> Picture:
    runs = [Run(i, f"CPU {i % 2}", 0.001 * i, 0.0, 0.1) for i in range(min(n, 10))]
    return run_sequence("a", "Runs", runs, quantity="share", value_title="share taken (%)")


FORMS: list[Callable[[int], Picture]] = [
    _scatter,
    _before,
    _after,
    _lengths,
    _tail,
    _heat,
    _lanes,
    _spectrum,
    _runs,
]


def texts(spec: Any) -> str:
    return json.dumps(spec, ensure_ascii=False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [0, 1, 400])
def test_renders(form: Callable[[int], Picture], n: int) -> None:
    picture = form(n)
    svg = picture.svg()
    assert svg.startswith("<svg")
    assert "NaN" not in svg
    assert "undefined" not in svg
    assert picture.alt
    assert picture.title
    assert picture.n.split(" ", 1)[1]


@pytest.mark.parametrize("form", FORMS)
def test_units_stand_on_the_axes(form: Callable[[int], Picture]) -> None:
    shown = texts(form(400).spec)
    marks = ("' µs'", "(s)", "(ns)", "(µs)", "(ms)", "(Hz)", "(%)")
    assert any(mark in shown for mark in marks)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_loaded_from_elsewhere(form: Callable[[int], Picture]) -> None:
    assert "http" not in texts(form(400).spec)
    assert '"url"' not in texts(form(400).complete())


@pytest.mark.parametrize("form", FORMS)
def test_columns_say_their_unit_and_the_csv_holds_what_is_drawn(
    form: Callable[[int], Picture],
) -> None:
    picture = form(400)
    read = pl.read_csv(io.StringIO(picture.csv()))
    assert read.height == picture.data.height > 0
    plain = {
        "source",
        "series",
        "row",
        "peak",
        "cpu",
        "CPU",
        "count",
        "position",
        "quantile",
        "one_in",
        "run",
        "shown_at",
        "foot",
        "top",
        "power",
    }
    for name in read.columns:
        assert name in plain or name.rsplit("_", 1)[1] in {"s", "ns", "us", "ms", "hz", "fraction"}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_light_and_dark_differ_in_ink(mode: Any) -> None:
    ink = theme.INKS[mode]
    svg = _scatter(50).svg(mode)
    assert ink["soft"].lower() in svg.lower()
    other = theme.INKS["dark" if mode == "light" else "light"]
    assert other["soft"].lower() not in svg.lower()


def contrast(one: str, two: str) -> float:
    """Contrast ratio as WCAG 2.2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_can_be_read(mode: Any) -> None:
    ink = theme.INKS[mode]
    assert contrast(ink["ink"], ink["paper"]) >= 7
    assert contrast(ink["soft"], ink["paper"]) >= 4.5


def test_scatter_names_its_lines() -> None:
    picture = _scatter(400)
    svg = picture.svg()
    for words in ("floor 10.0 ns", "threshold 100 ns", "cut-off 900 ns"):
        assert words in svg
        assert words.split(" ", 1)[0] in picture.alt


def test_scatter_of_many_keeps_the_longest_and_says_how_many_there_were() -> None:
    time, length = arrays(200_000)
    picture = trace_scatter("a", "Noise", time, length)
    assert picture.data.height <= 3000
    assert picture.data["length_ns"].max() == length.max()
    assert picture.n == "200\u202f000 detours"


def test_before_after_tells_the_share_and_keeps_values_up_to_the_cut() -> None:
    position = np.arange(1000.0)
    value = np.where(position % 100 == 0, 9_000.0, 10.0)
    before, after = before_after(
        "a", "CPU 0", position, value, 20.0, rule="Rehn", n=1000, removed=10
    )
    assert "removes 10 of 1\u202f000 samples (1.00 %)" in (before.caption or "")
    assert before.data["value_us"].max() == pytest.approx(9.0)
    assert after.data["value_ns"].max() == 10.0
    assert after.n == "990 samples"


def test_length_distribution_counts_everything_once() -> None:
    length = np.array([1e3, 1e3 * 1.0000001, 1e4, 9.99999e4, 1e5])
    picture = length_distribution("a", "Lengths", {"0": length})
    assert picture.data["count"].sum() == 5
    held = picture.data.filter(pl.col("count") > 0)
    for row in held.iter_rows(named=True):
        inside = (length >= row["from_ns"] * (1 - 1e-9)) & (length < row["to_ns"] * (1 + 1e-9))
        assert inside.sum() >= row["count"]


def test_percentile_curve_stops_where_samples_end() -> None:
    q = 1 - 10.0 ** -np.arange(0.5, 6, 0.5)
    values = np.arange(1.0, q.size + 1)
    picture = percentile_curve("a", "Tail", [Curve("CPU 0", q, values, None, None, 1000)])
    assert picture.data["one_in"].max() == pytest.approx(1000)
    assert picture.data["low_ns"].null_count() == picture.data.height


def test_heat_map_draws_every_count_once() -> None:
    picture = _heat(400)
    cells = picture.data.filter(pl.col("row") == "cell")
    assert cells["count"].sum() == 400


def test_lanes_draw_what_was_not_measured_as_a_gap() -> None:
    picture = _lanes(400)
    (gap,) = picture.data.filter(pl.col("source") == "not measured").iter_rows(named=True)
    assert (gap["cpu"], gap["from_s"], gap["to_s"]) == (7, 3, 4)


def test_spectrum_names_its_peaks() -> None:
    assert "250 Hz kernel tick" in _spectrum(400).svg()


@pytest.mark.parametrize(("low", "high"), [(1, 1e6), (1, 30), (90, 140), (1e-3, 1e-2), (500, 501)])
def test_log_ticks_lie_inside_and_rise(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert ticks == sorted(set(ticks))
    assert all(low <= tick <= high for tick in ticks)


def test_compact_draws_the_same_points() -> None:
    import re

    import vl_convert

    picture = _scatter(400)
    raw = vl_convert.vegalite_to_svg(picture.complete())
    small = picture.svg()
    assert len(small) < len(raw) / 2
    # Points of the plot alone: the legend's symbols are few and stay as they are.
    drawn = re.findall(r'translate\(([-\d.]+),([-\d.]+)\)" d="M[\d.]+,0A', raw)
    used = re.findall(r'<use href="#p\d+" x="([-\d.]+)" y="([-\d.]+)"', small)
    exact = {(round(float(x), 2), round(float(y), 2)) for x, y in drawn}
    assert {(float(x), float(y)) for x, y in used} <= exact
    assert len(used) == 400
