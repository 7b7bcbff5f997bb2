"""Percentile curves against what they promise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tare import stats


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


def test_refuses_too_few_points() -> None:
    with pytest.raises(ValueError, match="hint"):
        stats.percentile_curve([1.0], points_per_decade=0)
