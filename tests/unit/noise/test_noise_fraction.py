"""Noise fraction: sums by hand, blocks, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.noise.fraction import (
    batch_means,
    detour_fraction,
    expected_longest,
    ftq_fraction,
    fwq_fraction,
    stolen_per_block,
)


def test_a_detour_is_shared_out_over_the_blocks_that_it_covers() -> None:
    start, length = np.array([5.0, 18.0, 39.0]), np.array([1.0, 14.0, 1.0])
    blocks = stolen_per_block(start, length, 40.0, 4)
    np.testing.assert_allclose(blocks, [1.0, 2.0, 10.0, 3.0])


@given(st.lists(st.tuples(st.floats(0.1, 50), st.floats(0.1, 50)), max_size=30), st.integers(1, 20))
def test_blocks_lose_nothing(pairs, blocks) -> None:
    rests, lengths = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    starts = np.cumsum(rests) + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])[: len(pairs)]
    elapsed = float(starts[-1] + lengths[-1]) + 1 if pairs else 10.0
    shared = stolen_per_block(starts, lengths, elapsed, blocks)
    assert shared.sum() == pytest.approx(lengths.sum())
    assert shared.min() >= -1e-9
    assert shared.max() <= elapsed / blocks * (1 + 1e-9)


def test_the_fraction_is_stolen_over_elapsed() -> None:
    start = np.arange(100) * 1000.0
    found = detour_fraction(start, np.full(100, 20.0), 100_000.0)
    assert found.value == 0.02
    assert found.low <= 0.02 <= found.high
    assert (found.stolen_ns, found.elapsed_ns, found.lost_ns) == (2000.0, 100_000.0, 0.0)


def test_too_few_detours_have_no_interval_and_say_so() -> None:
    found = detour_fraction(np.array([1.0]), np.array([3.0]), 100.0)
    assert (found.value, found.low, found.high) == (0.03, None, None)
    assert "1 detours are too few" in found.why
    nothing = detour_fraction(np.empty(0), np.empty(0), 100.0)
    assert (nothing.value, nothing.low) == (0.0, None)


@pytest.mark.parametrize("elapsed", [0.0, -1.0, np.nan])
def test_time_that_did_not_pass_is_refused(elapsed) -> None:
    with pytest.raises(ValueError, match="above 0"):
        detour_fraction(np.empty(0), np.empty(0), elapsed)


def test_fwq_against_the_shortest_quantum() -> None:
    durations = np.array([10.0, 10.0, 10.0, 12.0] * 50)
    found = fwq_fraction(durations)
    assert found.value == pytest.approx(2 / 42)
    assert fwq_fraction(durations, reference="mode").value == pytest.approx(2 / 42)
    with pytest.raises(ValueError, match="unknown reference"):
        fwq_fraction(durations, reference="median")


def test_ftq_counts_slots_that_were_slept_through() -> None:
    work = np.array([100] * 95 + [0] * 5)
    assert ftq_fraction(work, 1e6, reference="mode").value == pytest.approx(0.05)
    with pytest.raises(ValueError, match="no slot holds any work"):
        ftq_fraction(np.zeros(10, dtype=np.int64), 1e6)


def test_blocks_that_depend_on_each_other_are_joined() -> None:
    random = np.random.default_rng(1)
    alone = random.standard_normal(64)
    low, high, blocks = batch_means(alone)
    assert blocks == 64
    assert low < alone.mean() < high
    slow = np.repeat(random.standard_normal(8), 8)
    wide_low, wide_high, joined = batch_means(slow)
    assert joined <= 16
    assert wide_high - wide_low > 1.8 * 2 * 1.96 * slow.std() / 8


def test_a_window_too_long_for_the_trace_has_no_expectation() -> None:
    found = expected_longest(np.array([1.0]), np.array([1.0]), 100.0, 20.0)
    assert (found.value, found.n) == (None, 5)
    assert "measure for longer" in found.why


def test_the_longest_of_each_window_is_averaged() -> None:
    start = np.arange(20) * 10.0 + 1
    found = expected_longest(start, np.tile([2.0, 6.0], 10), 200.0, 20.0)
    assert found.value == 6.0
