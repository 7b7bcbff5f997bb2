"""Quantiles against NumPy, R and exact fractions; intervals against the binomial they come from."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.r_judge import judge
from tare import stats

SHARES = [0.0, 0.01, 0.07, 0.1, 0.25, 0.3, 1 / 3, 0.5, 0.6, 0.75, 0.9, 0.95, 0.999, 1.0]
METHODS = range(1, 10)
NUMPY_NAME = {
    4: "interpolated_inverted_cdf",
    5: "hazen",
    6: "weibull",
    7: "linear",
    8: "median_unbiased",
    9: "normal_unbiased",
}


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.sampled_from(METHODS))
def test_tally_and_array_agree(samples: list[int], method: int) -> None:
    values, counts = np.unique(np.array(samples, dtype=float), return_counts=True)
    tally = SimpleNamespace(values=values, counts=counts)
    ours = stats.quantile(tally, SHARES, method=method)
    np.testing.assert_array_equal(ours, stats.quantile(samples, SHARES, method=method))


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60))
def test_continuous_types_are_those_of_numpy(samples: list[int]) -> None:
    for method, name in NUMPY_NAME.items():
        theirs = np.quantile(samples, SHARES, method=name)
        np.testing.assert_allclose(
            stats.quantile(samples, SHARES, method=method), theirs, rtol=1e-12, atol=1e-11
        )


def test_all_nine_types_are_those_of_r(tmp_path: Path) -> None:
    random = np.random.default_rng(1996)
    samples = [random.integers(0, 30, n).astype(float) for n in (1, 2, 3, 7, 10, 20, 25, 100, 999)]
    shares = ", ".join(repr(share) for share in SHARES)
    expression = f"sapply(1:9, function(type) quantile(x, c({shares}), type = type))"
    for x, answer in zip(samples, judge(samples, expression, tmp_path), strict=True):
        for method, theirs in zip(METHODS, answer.reshape(9, -1), strict=True):
            ours = stats.quantile(x, SHARES, method=method)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9, err_msg=f"type {method}")


@pytest.mark.parametrize("n", [1, 7, 25, 50, 100, 200, 300, 1000])
def test_whole_n_p_counts_as_whole(n: int) -> None:
    # 100 x 0.07 and 100 x 0.29 are not whole in floating point.
    samples, percents = np.arange(1, n + 1), range(101)
    shares = [percent / 100 for percent in percents]
    found = [stats.quantile(samples, shares, method=method) for method in (1, 2, 3)]
    for percent, *of_types in zip(percents, *found, strict=True):
        place = Fraction(n * percent, 100)
        ceiling, whole = math.ceil(place), place.denominator == 1
        expected = [ceiling, place + Fraction(1, 2) if whole else ceiling, round(place)]
        assert of_types == [min(max(rank, 1), n) for rank in expected], f"{percent} %"


def test_does_not_hold_the_samples_of_a_tally() -> None:
    tally = SimpleNamespace(values=np.array([26.0, 52.0]), counts=np.array([10**15, 1]))
    assert stats.quantile(tally, 0.5) == 26
    assert stats.quantile(tally, 1.0) == 52


def test_neighbours_that_are_equal_stay_exact() -> None:
    assert stats.quantile([0.1, 0.1, 0.1], 0.3) == 0.1


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_refuses_a_share_outside(p: float) -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.quantile([1.0], p)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [np.nan],
        [1.0, np.inf],
        [[1.0]],
        SimpleNamespace(values=np.array([2.0, 1.0]), counts=np.array([1, 1])),
        SimpleNamespace(values=np.array([1.0, 1.0]), counts=np.array([1, 1])),
        SimpleNamespace(values=np.array([1.0, 2.0]), counts=np.array([1, 0])),
        SimpleNamespace(values=np.array([1.0, 2.0]), counts=np.array([1])),
        SimpleNamespace(values=np.array([1.0, 2.0]), counts=np.array([1.5, 1.0])),
    ],
)
def test_refuses_what_is_no_sample(data: object) -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.quantile(data, 0.5)  # type: ignore[call-overload]


def test_refuses_an_unknown_type() -> None:
    with pytest.raises(ValueError, match="choose 1 to 9"):
        stats.quantile([1.0], 0.5, method=10)


def binomial_cdf(k: int, n: int, p: Fraction) -> Fraction:
    terms = (comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))
    return sum(terms, start=Fraction(0))


@pytest.mark.parametrize("n", [1, 5, 20, 59, 130])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 20)])
def test_interval_has_exactly_the_coverage_it_states(n: int, p: Fraction) -> None:
    # The samples are their own ranks from 1, so that the ends tell which ranks were taken.
    found = stats.quantile_interval(np.arange(1, n + 1), float(p))
    below = Fraction(0) if found.low is None else binomial_cdf(int(found.low) - 1, n, p)
    above = Fraction(0) if found.high is None else 1 - binomial_cdf(int(found.high) - 1, n, p)
    assert found.coverage == pytest.approx(float(1 - below - above), abs=1e-12)
    assert below <= Fraction(25, 1000) + Fraction(1, 10**12)
    assert above <= Fraction(25, 1000) + Fraction(1, 10**12)
    # ... and one rank further in would miss too often.
    if found.low is not None:
        assert binomial_cdf(int(found.low), n, p) > Fraction(25, 1000)
    if found.high is not None:
        assert 1 - binomial_cdf(int(found.high) - 2, n, p) > Fraction(25, 1000)


def test_interval_without_enough_samples_is_open() -> None:
    found = stats.quantile_interval(np.arange(50), 0.99)
    assert found.high is None
    assert found.low is not None
    assert stats.quantile_interval([3.0], 0.5).low is None


def test_interval_covers_as_often_as_it_says() -> None:
    # Exponential samples, whose quantile is known. The number of hits is binomial with the stated
    # coverage; six standard deviations are missed once in 10^9 seeds, and the seed is fixed.
    random = np.random.default_rng(2003)
    repeats, n, p = 2000, 80, 0.8
    truth = -np.log(1 - p)
    hits, coverage = 0, 0.0
    for _ in range(repeats):
        found = stats.quantile_interval(random.exponential(size=n), p)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
        coverage = found.coverage
    spread = np.sqrt(repeats * coverage * (1 - coverage))
    assert coverage >= 0.95
    assert abs(hits - repeats * coverage) < 6 * spread


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
def test_refuses_a_confidence_outside(confidence: float) -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.quantile_interval([1.0, 2.0], 0.5, confidence=confidence)
