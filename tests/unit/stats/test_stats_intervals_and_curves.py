"""Mean intervals, percentile curves and ECDFs against what they promise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import signal
from scipy.stats import ttest_1samp

from tare import stats

Floats = NDArray[np.float64]


def autoregressive(random: np.random.Generator, repeats: int, n: int, phi: float) -> Floats:
    """Series of mean 0 in which neighbours correlate by phi, each started in its steady state."""
    noise = random.normal(size=(repeats, n))
    noise[:, 0] /= np.sqrt(1 - phi**2)
    return np.asarray(signal.lfilter([1], [1, -phi], noise))


def test_short_series_get_the_ordinary_t_interval() -> None:
    x = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    found = stats.mean_interval(x)
    theirs = ttest_1samp(x, 0).confidence_interval(0.95)
    assert found.batches == 5
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_mean_is_that_of_all_samples_also_with_uneven_batches() -> None:
    x = np.random.default_rng(5).exponential(size=1003)
    assert stats.mean_interval(x, batches=30).mean == pytest.approx(x.mean(), rel=1e-13)


def test_one_sample_knows_no_spread() -> None:
    found = stats.mean_interval([4.0])
    assert (found.mean, found.low, found.high) == (4.0, None, None)
    assert found.batches_depend is None
    assert stats.mean_interval(np.full(100, 4.0)).batches_depend is None


def test_covers_a_dependent_series_as_often_as_it_says() -> None:
    # Neighbours correlate by 0.9: the interval that takes samples for independent ones covers about
    # a third of the time. Batch means cover 95 %, less a little, as batches of 100 still depend
    # a little; the spread of 1500 trials is 0.006.
    series = autoregressive(np.random.default_rng(1963), 1500, 3000, 0.9)
    found = [stats.mean_interval(x) for x in series]
    hits = np.mean(
        [f.low is not None and f.high is not None and f.low <= 0 <= f.high for f in found]
    )
    naive = ttest_1samp(series, 0, axis=1).confidence_interval(0.95)
    naive_hits = np.mean((naive.low <= 0) & (naive.high >= 0))
    assert 0.91 < hits < 0.97
    assert naive_hits < 0.5


def test_says_when_batches_depend() -> None:
    random = np.random.default_rng(1978)
    alarms = [
        np.mean(
            [stats.mean_interval(x).batches_depend for x in autoregressive(random, 400, 900, phi)]
        )
        for phi in (0.0, 0.99)
    ]
    # 5 % by construction, within five standard deviations; and nearly always where 30 batches of 30
    # samples share a memory of 100 samples.
    assert alarms[0] < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 400)
    assert alarms[0] > 0
    assert alarms[1] > 0.95


@pytest.mark.parametrize("options", [{"batches": 1}, {"confidence": 0.0}, {"confidence": 1.5}])
def test_refuses_options_outside(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.mean_interval([1.0, 2.0], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [1, 2, 9, 10, 1000, 1001, 12_345])
def test_percentile_curve_ends_where_samples_end(n: int) -> None:
    curve = stats.percentile_curve(np.arange(n), points_per_decade=10)
    assert curve.once_in[0] == 1
    assert curve.once_in[-1] <= n < curve.once_in[-1] * 10**0.1 * (1 + 1e-9)
    assert curve.maximum == n - 1
    np.testing.assert_allclose(curve.values, np.quantile(np.arange(n), curve.p), atol=1e-9)


def test_percentile_curve_has_the_intervals_of_its_points() -> None:
    x = np.random.default_rng(8).exponential(size=3000)
    curve = stats.percentile_curve(x, points_per_decade=4)
    for p, low, high in zip(curve.p, curve.low, curve.high, strict=True):
        one = stats.quantile_interval(x, float(p))
        assert (one.low is None) == np.isnan(low)
        assert (one.high is None) == np.isnan(high)
        assert one.low is None or one.low == low
        assert one.high is None or one.high == high
    assert np.isnan(curve.high[-1])
    assert not np.isnan(curve.high[4])


def test_percentile_curve_of_a_tally_is_that_of_its_samples() -> None:
    values, counts = np.array([26.0, 52.0, 900.0]), np.array([5000, 300, 4])
    tally = stats.percentile_curve(SimpleNamespace(values=values, counts=counts))
    array = stats.percentile_curve(np.repeat(values, counts))
    for name in ("once_in", "p", "values", "low", "high"):
        np.testing.assert_array_equal(getattr(tally, name), getattr(array, name))


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=300),
    st.integers(3, 40),
)
def test_ecdf_points_are_exact_and_hide_no_more_than_they_say(
    samples: list[int], most: int
) -> None:
    x = np.sort(np.array(samples, dtype=float))
    found = stats.ecdf(x, max_points=most)
    true = np.searchsorted(x, found.values, side="right") / x.size
    np.testing.assert_array_equal(found.shares, true)
    assert found.values.size <= most
    assert (found.values[0], found.values[-1], found.shares[-1]) == (x[0], x[-1], 1.0)
    drawn = found.shares[np.searchsorted(found.values, x, side="right") - 1]
    lost = np.searchsorted(x, x, side="right") / x.size - drawn
    assert lost.min() >= 0
    assert lost.max() == pytest.approx(found.hidden, abs=1e-15)
    assert found.hidden < 1 / (most - 2)


def test_ecdf_of_a_tally_is_that_of_its_samples() -> None:
    values, counts = np.arange(500.0), np.arange(1, 501)
    tally = stats.ecdf(SimpleNamespace(values=values, counts=counts), max_points=50)
    array = stats.ecdf(np.repeat(values, counts), max_points=50)
    np.testing.assert_array_equal(tally.shares, array.shares)
    np.testing.assert_array_equal(tally.values, array.values)
    assert tally.n == array.n == counts.sum()


def test_refuses_too_few_points() -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.ecdf([1.0], max_points=2)
    with pytest.raises(ValueError, match="hint"):
        stats.percentile_curve([1.0], points_per_decade=0)
