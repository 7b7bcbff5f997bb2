"""Simulated noise: books that balance, whatever is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.noise.simulate import (
    Binned,
    Bursts,
    Counter,
    Floor,
    FloorPart,
    Lognormal,
    Periodic,
    Random,
    simulate_collective,
    simulate_detours,
    simulate_ftq,
    simulate_selfish,
    simulate_timestamps,
)

FLOOR = Floor((FloorPart(100.0, 5.0, 0.3),))
FAMILIES = st.lists(
    st.one_of(
        st.builds(
            Periodic,
            st.floats(5e3, 1e5),
            st.builds(Lognormal, st.floats(100, 2e3), st.floats(0, 0.8)),
            jitter_ns=st.floats(0, 1e3),
            present=st.floats(0, 1),
        ),
        st.builds(Random, st.floats(0, 1e5), st.builds(Lognormal, st.floats(100, 2e3))),
        st.builds(
            Bursts, st.floats(0, 3e3), st.floats(1, 5), st.just(5e2), st.just(Lognormal(300.0))
        ),
    ),
    max_size=3,
)


@given(FAMILIES, st.integers(0, 2**32), st.sampled_from([1, 7, 26]))
@settings(max_examples=60, deadline=None)
def test_every_sample_is_its_floor_and_what_was_stolen(families, seed, step) -> None:
    counter = Counter(ticks_per_ns=2.6, step_ticks=step)
    made = simulate_timestamps(FLOOR, families, 500, counter, np.random.default_rng(seed))
    assert made.values.sum() == made.elapsed_ticks
    assert np.all(made.hit == (made.stolen_ns > 0))
    # The floor is 102 to 130 ns or so; steps blur each end by one.
    rest = made.values / 2.6 - made.stolen_ns
    assert rest.min() > 100 - 2 * step / 2.6
    assert rest.max() < 160 + 2 * step / 2.6


@given(FAMILIES, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_detours_wait_for_one_another(families, seed) -> None:
    made = simulate_detours(families, 1e6, np.random.default_rng(seed))
    ends = made.start_ns + made.length_ns
    assert np.all(np.diff(made.start_ns) >= -1e-6)
    assert np.all(made.start_ns[1:] >= ends[:-1] - 1e-6)
    assert np.all(made.length_ns > 0)


@given(FAMILIES, st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_ftq_finishes_what_time_is_left(families, seed) -> None:
    made = simulate_ftq(
        families, 100, Counter(), np.random.default_rng(seed), slot_ns=1e5, unit_ns=100.0
    )
    left = 100 * 1e5 - made.stolen_ns.sum()
    assert made.values.sum() == pytest.approx(left / 100.0, abs=1)
    assert made.values.min() >= 0
    assert made.stolen_ns.max() <= 1e5 * (1 + 1e-9)


def test_selfish_lists_gaps_above_the_threshold_only_and_joins_neighbours() -> None:
    families = [Periodic(1e5, Lognormal(300.0), phase_ns=0.0)]
    random = np.random.default_rng(1)
    made = simulate_selfish(families, 1e7, Counter(), random, floor_ns=20.0, threshold_ns=250.0)
    assert len(made.values) == 100
    assert set(made.values.tolist()) <= {319, 320, 321}
    none = simulate_selfish(families, 1e7, Counter(), random, floor_ns=20.0, threshold_ns=400.0)
    assert len(none.values) == 0
    crowd = [Bursts(1000.0, 50.0, 1.0, Lognormal(300.0))]
    joined = simulate_selfish(crowd, 1e7, Counter(), random, floor_ns=20.0, threshold_ns=250.0)
    assert len(joined.values) < len(joined.detours.start_ns) / 10


def test_a_stepped_counter_shows_steps_and_never_stands_still() -> None:
    times = np.cumsum(np.full(10_000, 9.5))
    deltas = np.diff(Counter(ticks_per_ns=2.6, step_ticks=26).read(times))
    assert deltas.min() == 1
    assert np.mean(deltas == 26) > 0.85
    assert set(np.unique(deltas).tolist()) == {1, 25, 26}


def test_binned_lengths_have_the_mean_that_they_claim() -> None:
    lengths = Binned([100.0, 200.0, 800.0], [3, 1])
    drawn = lengths.draw(np.random.default_rng(1), 400_000)
    assert drawn.min() >= 100
    assert drawn.max() <= 800
    assert np.mean(drawn < 200) == pytest.approx(0.75, abs=0.005)
    assert drawn.mean() == pytest.approx(lengths.mean(), rel=0.005)


def test_more_processes_wait_longer() -> None:
    families = [Random(1000.0, Lognormal(5e3, 0.5))]
    few = simulate_collective(families, 2, 1e6, 2000, np.random.default_rng(1)).mean()
    many = simulate_collective(families, 50, 1e6, 2000, np.random.default_rng(1)).mean()
    assert many - 1e6 > 1.5 * (few - 1e6)
    assert simulate_collective([], 3, 1e6, 5, np.random.default_rng(1)).tolist() == [1e6] * 5


def test_noise_that_leaves_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="no time"):
        simulate_timestamps(
            FLOOR, [Random(1e6, Lognormal(2e3))], 1000, Counter(), np.random.default_rng(1)
        )
