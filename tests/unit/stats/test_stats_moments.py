"""Moments against exact rational arithmetic, and against the definitions of other programs."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tare import stats


def exact(samples: list[float]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Mean and central moments 2 to 4."""
    x = [Fraction(value) for value in samples]
    mean = sum(x, start=Fraction(0)) / len(x)
    m2, m3, m4 = (sum((v - mean) ** k for v in x) / len(x) for k in (2, 3, 4))
    return mean, Fraction(m2), Fraction(m3), Fraction(m4)


def check(found: stats.Moments, samples: list[float]) -> None:
    mean, m2, m3, m4 = exact(samples)
    scale = max(abs(value) for value in samples)
    assert found.n == len(samples)
    assert found.mean == pytest.approx(float(mean), rel=1e-13, abs=1e-13 * scale)
    if m2 == 0:
        assert found.sd_population == 0
        assert found.skewness_population is None
        assert found.kurtosis_population is None
        return
    # Scaled to the range first: m2 itself may be too large or small for a float.
    unit = Fraction(max(samples)) - Fraction(min(samples))
    m2, m3, m4 = m2 / unit**2, m3 / unit**3, m4 / unit**4
    assert found.sd_population == pytest.approx(float(unit * Fraction(math.sqrt(m2))), rel=1e-9)
    assert found.skewness_population == pytest.approx(
        float(m3) / float(m2) ** 1.5, rel=1e-9, abs=1e-9
    )
    assert found.kurtosis_population == pytest.approx(float(m4 / m2**2), rel=1e-9)


@given(st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=40), st.integers(-20, 20))
def test_equals_exact_arithmetic(samples: list[int], power: int) -> None:
    x = [float(value) * 2.0**power for value in samples]
    check(stats.moments(x), x)


@given(st.lists(st.integers(0, 63), min_size=2, max_size=40))
def test_a_large_offset_takes_nothing_away(steps: list[int]) -> None:
    # The textbook sum of squares keeps no digit here: 10^12 and steps of 1/64.
    x = [1e12 + step / 64 for step in steps]
    check(stats.moments(x), x)


@pytest.mark.parametrize("unit", [1e-200, 1e200, 4e307])
def test_powers_do_not_overflow(unit: float) -> None:
    x = [0.0, unit, unit, 4 * unit] if unit < 1e300 else [-4 * unit, 0.0, unit, 4 * unit]
    check(stats.moments(x), x)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=80), st.integers(1, 1000))
def test_tally_is_the_expanded_sample(samples: list[int], times: int) -> None:
    values, counts = np.unique(np.array(samples, dtype=float), return_counts=True)
    found = stats.moments(SimpleNamespace(values=values, counts=counts * times))
    once = stats.moments(samples)
    assert found.n == times * once.n
    assert found.mean == pytest.approx(once.mean, abs=1e-12)
    assert found.sd_population == pytest.approx(once.sd_population, rel=1e-12)
    if once.kurtosis_population is None:
        assert found.kurtosis_population is None
    else:
        assert found.kurtosis_population == pytest.approx(once.kurtosis_population, rel=1e-12)


def test_more_than_one_chunk() -> None:
    x = np.random.default_rng(3).exponential(size=600_001)
    found = stats.moments(x)
    assert found.mean == pytest.approx(x.mean(), rel=1e-13)
    assert found.skewness_population == pytest.approx(scipy.stats.skew(x), rel=1e-10)
    assert found.kurtosis_population == pytest.approx(scipy.stats.kurtosis(x) + 3, rel=1e-10)


def test_more_than_one_chunk_of_a_tally() -> None:
    values, counts = np.sqrt(np.arange(300_000.0)), np.arange(300_000) % 3 + 1
    found = stats.moments(SimpleNamespace(values=values, counts=counts))
    once = stats.moments(np.repeat(values, counts))
    assert found.n == once.n
    assert found.mean == pytest.approx(once.mean, rel=1e-13)
    assert found.skewness_population == pytest.approx(once.skewness_population, rel=1e-10)


def test_a_far_outlier_takes_nothing_from_the_mean() -> None:
    x = [26.0] * 9999 + [1e15]
    check(stats.moments(x), x)
    tally = SimpleNamespace(values=np.array([26.0, 1e15]), counts=np.array([10**14, 1]))
    assert stats.moments(tally).mean == pytest.approx(36, rel=1e-13)


def test_names_stand_for_their_definitions() -> None:
    x = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 40.0]
    found = stats.moments(x)
    assert found.sd_sample == pytest.approx(np.std(x, ddof=1), rel=1e-14)
    assert found.skewness_population == pytest.approx(scipy.stats.skew(x), rel=1e-12)
    assert found.skewness_sample == pytest.approx(scipy.stats.skew(x, bias=False), rel=1e-12)
    assert found.excess_population == pytest.approx(scipy.stats.kurtosis(x), rel=1e-12)
    assert found.excess_sample == pytest.approx(scipy.stats.kurtosis(x, bias=False), rel=1e-12)
    assert found.kurtosis_population == pytest.approx(
        scipy.stats.kurtosis(x, fisher=False), rel=1e-12
    )


def test_what_too_few_samples_leave_open_is_none() -> None:
    one = stats.moments([5.0])
    assert (one.mean, one.sd_population, one.sd_sample) == (5.0, 0.0, None)
    assert one.skewness_population is None
    assert one.excess_sample is None
    assert stats.moments([1.0, 2.0]).skewness_sample is None
    assert stats.moments([1.0, 2.0, 4.0]).excess_sample is None


@pytest.mark.parametrize("data", [[], [np.nan], [1.0, -np.inf], [[1.0, 2.0]]])
def test_refuses_what_is_no_sample(data: object) -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.moments(data)  # type: ignore[arg-type]
