"""Noise fraction: right on the mean, and its interval covers the truth as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tare.noise.fraction import (
    detour_fraction,
    expected_longest,
    expected_slowest,
    ftq_fraction,
    fwq_fraction,
    stolen_per_block,
)
from tare.noise.simulate import (
    Bursts,
    Counter,
    Family,
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

TICK = Periodic(4e6, Lognormal(5e3, 0.5), jitter_ns=2e3)
INJECTED = Periodic(50e6, Lognormal(1e6))
HANDLERS = Random(2000, Lognormal(1.5e3, 0.7))
PREEMPTIONS = Random(5, Lognormal(2e6, 0.8))
CLUMPS = Bursts(20, 40, 15e3, Lognormal(2e3, 0.5))
DURATION = 5e9


def expected_fraction(families: list[Family]) -> float:
    """Long-run share of time by the theory of each family; overlaps queue, so shares add up."""
    total = 0.0
    for family in families:
        mean = family.lengths.median_ns * np.exp(family.lengths.sigma**2 / 2)
        if isinstance(family, Periodic):
            total += mean * family.present / family.period_ns
        elif isinstance(family, Random):
            total += mean * family.rate_per_s * 1e-9
        else:
            total += mean * family.rate_per_s * family.size * 1e-9
    return total


@pytest.mark.parametrize(
    ("families", "least"),
    [
        ([TICK], 0.95),
        ([TICK, INJECTED], 0.95),
        ([HANDLERS], 0.95),
        ([TICK, HANDLERS, PREEMPTIONS], 0.90),
        ([CLUMPS], 0.90),
    ],
    ids=["tick", "tick and injected", "handlers", "rare long ones", "clumps"],
)
def test_the_interval_covers_the_expected_fraction(families: list[Family], least: float) -> None:
    """`least` is what docs/methods/noise-fraction.md promises for this kind of noise."""
    truth, traces, covered, values = expected_fraction(families), 150, 0, []
    for seed in range(traces):
        detours = simulate_detours(families, DURATION, np.random.default_rng([11, seed]))
        whole = detours.start_ns + detours.length_ns <= DURATION
        found = detour_fraction(detours.start_ns[whole], detours.length_ns[whole], DURATION)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
        values.append(found.value)
    assert covered >= binom.ppf(0.001, traces, least)
    error = np.std(values) / np.sqrt(traces)
    assert abs(np.mean(values) - truth) < 4 * error + 1e-3 * truth


def test_the_interval_is_not_idle_either() -> None:
    widths, values = [], []
    for seed in range(60):
        detours = simulate_detours([HANDLERS], DURATION, np.random.default_rng([12, seed]))
        found = detour_fraction(detours.start_ns, detours.length_ns, DURATION * 1.001)
        widths.append(found.high - found.low)
        values.append(found.value)
    # Four standard deviations of the estimates themselves, give or take their own chance.
    assert 0.7 < np.mean(widths) / (3.92 * np.std(values)) < 1.4


def test_all_four_loops_weigh_the_same_noise_alike() -> None:
    families = [TICK, HANDLERS, INJECTED]
    counter, random = Counter(2.6, 26), np.random.default_rng(9)
    truth = expected_fraction(families)
    ns = 1 / counter.ticks_per_ns

    selfish = simulate_selfish(families, 20e9, counter, random, floor_ns=20.0, threshold_ns=150.0)
    gaps = selfish.values * ns - 20.0
    by_selfish = detour_fraction(selfish.start_ticks * ns, gaps, 20e9)
    assert by_selfish.value == pytest.approx(truth, rel=0.02)

    quantum = Floor((FloorPart(1e6, 30.0, 0.3),))
    fwq = simulate_timestamps(quantum, families, 20_000, counter, random)
    assert fwq_fraction(fwq.values * ns).value == pytest.approx(truth, rel=0.02)

    ftq = simulate_ftq(families, 20_000, counter, random, slot_ns=1e6, unit_ns=500.0)
    assert ftq_fraction(ftq.values, 1e6).value == pytest.approx(truth, rel=0.04)


def test_the_mode_is_blind_where_every_quantum_is_hit_and_the_minimum_is_not() -> None:
    families = [Periodic(4e6, Lognormal(2e4))]
    quantum = Floor((FloorPart(1e7, 10.0, 0.2),))
    values = simulate_timestamps(
        quantum, families, 2000, Counter(1.0), np.random.default_rng(1)
    ).values.astype(float)
    truth = 2e4 / 4e6
    assert fwq_fraction(values, reference="mode").value < 0.3 * truth
    # Every quantum holds two or three ticks: even the shortest holds two.
    assert fwq_fraction(values, reference="minimum").value < 0.3 * truth
    short = simulate_timestamps(
        Floor((FloorPart(3e6, 10.0, 0.2),)), families, 6000, Counter(1.0), np.random.default_rng(1)
    ).values.astype(float)
    assert fwq_fraction(short, reference="mode").value < 0
    assert fwq_fraction(short, reference="minimum").value == pytest.approx(truth, rel=0.02)


def test_detours_that_were_lost_are_counted_in() -> None:
    detours = simulate_detours([HANDLERS], DURATION, np.random.default_rng(4))
    kept = len(detours.start_ns) // 2
    whole = detour_fraction(detours.start_ns, detours.length_ns, DURATION)
    lost = float(detours.length_ns[kept:].sum())
    half = detour_fraction(
        detours.start_ns[:kept], detours.length_ns[:kept], DURATION, lost_ns=lost
    )
    assert half.value == pytest.approx(whole.value, rel=1e-12)
    assert half.lost_ns == lost
    assert half.low <= whole.value <= half.high
    # Had their sum been put at no place at all, half the trace would look quiet.
    assert half.high - half.low < 3 * (whole.high - whole.low)


def test_the_longest_detour_of_a_window_is_as_theory_has_it() -> None:
    # Poisson with rate r and exponential-tailed lengths: P(max < x) = exp(-r w P(length > x)).
    family = Random(500.0, Lognormal(5e3, 0.8))
    detours = simulate_detours([family], 100e9, np.random.default_rng(8))
    found = expected_longest(detours.start_ns, detours.length_ns, 100e9, 1e8)
    draws = family.lengths.draw(np.random.default_rng(1), 4_000_000)
    x = np.linspace(0, 2e5, 4000)
    tail = 1 - np.searchsorted(np.sort(draws), x) / len(draws)
    theory = np.trapezoid(1 - np.exp(-500.0 * 0.1 * tail), x)
    assert found.low < theory < found.high
    assert found.value == pytest.approx(theory, rel=0.05)


def test_the_slowest_of_many_processes_agrees_with_simulating_them() -> None:
    families = [Random(300.0, Lognormal(5e3, 0.8))]
    detours = simulate_detours(families, 40e9, np.random.default_rng(6))
    stolen = stolen_per_block(detours.start_ns, detours.length_ns, 40e9, 40_000)
    found = expected_slowest(stolen, 64)
    steps = simulate_collective(families, 64, 1e6, 4000, np.random.default_rng(7)) - 1e6
    assert found.value == pytest.approx(steps.mean(), rel=0.05)
    assert expected_slowest(stolen, 10_000).value is None
