"""Thinning keeps what a reader looks for: the largest of every stretch of time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.charts import thin


@settings(deadline=None)
@given(n=st.integers(0, 3000), most=st.integers(1, 200), seed=st.integers(0, 2**32 - 1))
def test_keeps_the_largest_and_the_order(n: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    time, value = rng.uniform(0, 10, n), rng.lognormal(5, 3, n)
    chosen = thin.by_maximum(time, value, most)
    assert chosen.size <= max(n if n <= most else most, 0)
    assert len(set(chosen.tolist())) == chosen.size
    assert (np.diff(time[chosen]) >= 0).all()
    if n <= most:
        assert chosen.size == n
    else:
        assert value.argmax() in chosen


def test_every_column_keeps_its_largest() -> None:
    rng = np.random.default_rng(3)
    time, value = np.arange(100_000.0), rng.lognormal(3, 1, 100_000)
    chosen = thin.by_maximum(time, value, 2_000)
    assert 500 < chosen.size <= 2_000
    kept = set(chosen.tolist())
    # The largest of any twentieth of the trace must be there, whatever the columns were.
    for part in np.array_split(np.arange(time.size), 20):
        assert part[value[part].argmax()] in kept


def test_a_lone_peak_survives_in_a_hundred_million_to_one_crowd() -> None:
    value = np.full(1_000_000, 10.0)
    value[123_456] = 11.0
    assert 123_456 in thin.by_maximum(np.arange(1e6), value, 100)


def test_constant_time_and_value() -> None:
    assert thin.by_maximum(np.zeros(50), np.ones(50), 10).size == 1
