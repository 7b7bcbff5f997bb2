"""Tallies against the arrays that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tare.noise.tally import Tally, find_mode

SAMPLES = hnp.arrays(np.int64, st.integers(1, 300), elements=st.integers(-50, 1000))


@given(SAMPLES, st.floats(0, 1))
def test_quantiles_are_those_of_the_samples(samples, p) -> None:
    expected = np.quantile(samples, p)
    assert float(Tally.of(samples).quantile(p)) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@given(SAMPLES, st.integers(-60, 1100))
def test_counts_above_and_parts(samples, value) -> None:
    tally = Tally.of(samples)
    assert tally.above(value) == np.count_nonzero(samples > value)
    low, high = tally.split(value)
    assert (low.n if low else 0) + (high.n if high else 0) == tally.n
    assert (high.n if high else 0) == tally.above(value)
    assert low is None or low.maximum <= value
    assert high is None or high.minimum > value


@given(SAMPLES)
def test_sums(samples) -> None:
    tally = Tally.of(samples)
    assert tally.n == len(samples)
    assert tally.total() == samples.sum()
    assert tally.mean() == pytest.approx(samples.mean(), abs=1e-9)
    assert tally.scaled(0.5).total() == samples.sum() / 2


@pytest.mark.parametrize(
    ("values", "counts", "words"),
    [
        ([], [], "at least one"),
        ([1.0, 2.0], [1], "as many counts"),
        ([2.0, 1.0], [1, 1], "ascending"),
        ([1.0, 1.0], [1, 1], "ascending"),
        ([1.0, np.nan], [1, 1], "finite"),
        ([1.0], [0], "at least 1"),
    ],
)
def test_what_is_no_tally_is_refused(values, counts, words) -> None:
    with pytest.raises(ValueError, match=words):
        Tally(np.array(values), np.array(counts))


def test_the_mode_is_where_most_samples_lie_close_together() -> None:
    random = np.random.default_rng(1)
    skewed = 100 + random.gamma(2.0, 5.0, 50_000)
    assert find_mode(Tally.of(skewed)) == pytest.approx(105, abs=2.5)
    assert find_mode(Tally.of([1, 2, 2, 2, 3, 900, 901])) == 2
    assert find_mode(Tally.of([7])) == 7


def test_the_mode_of_a_stepped_counter_is_finer_than_its_step() -> None:
    # 9.5 ns in steps of 10 ns: the mean of the neighbourhood is the true length.
    readings = np.floor(np.arange(100_000) * 9.5 / 10) * 10
    assert find_mode(Tally.of(np.diff(readings)), step=10.0) == pytest.approx(9.5, abs=1e-3)


@given(SAMPLES)
def test_the_mode_lies_among_the_samples(samples) -> None:
    assert find_mode(Tally.of(samples)) in samples
