"""Periods found in simulated detours whose periods are known, and none where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tare.noise.periods import Periods, find_periods, name_period
from tare.noise.simulate import (
    Bursts,
    Counter,
    Family,
    Lognormal,
    Periodic,
    Random,
    simulate_detours,
    simulate_selfish,
)

TICK = Periodic(4e6, Lognormal(5e3, 0.5, 2e3, 2e4), jitter_ns=2e3)
INJECTED = Periodic(50e6, Lognormal(1e6), jitter_ns=5e4)
HOST = Periodic(10e6, Lognormal(8e3, 0.4), jitter_ns=3e4)
CHANCE = Random(300, Lognormal(2e3, 1.0, 300))
COUNTER = Counter(2.6, 26)


def seen(families: list[Family], seed: int, seconds: float = 5.0, **names) -> Periods:
    """What the selfish loop would list, searched for periods."""
    simulated = simulate_selfish(
        families,
        seconds * 1e9,
        COUNTER,
        np.random.default_rng([21, seed]),
        floor_ns=20.0,
        threshold_ns=250.0,
    )
    start, length = simulated.start_ticks / 2.6, simulated.values / 2.6 - 20.0
    return find_periods(start, length, [(0.0, seconds * 1e9)], **names)


def nearest(periods: Periods, period_ns: float):
    return min(periods.families, key=lambda family: abs(family.period_ns / period_ns - 1))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "background", [[TICK], [TICK, CHANCE], [TICK, HOST, CHANCE]], ids=["tick", "+ chance", "+ host"]
)
def test_the_injected_disturbance_is_found_with_its_period_and_share(background, seed) -> None:
    found = nearest(seen([INJECTED, *background], seed, timer_hz=250), 50e6)
    assert found.period_ns == pytest.approx(50e6, rel=1e-3)
    assert found.share == pytest.approx(1e6 / 50e6, rel=0.05)
    assert found.events == pytest.approx(100, abs=2)
    assert found.jitter_ns == pytest.approx(5e4, rel=0.4)


@pytest.mark.parametrize("seed", range(4))
def test_the_tick_is_found_among_the_others_and_named(seed) -> None:
    periods = seen([INJECTED, TICK, CHANCE], seed, timer_hz=250)
    assert {family.name for family in periods.families} == {"timer tick 250 Hz", "every 50 ms"}
    tick = nearest(periods, 4e6)
    assert tick.period_ns == pytest.approx(4e6, rel=1e-5)
    assert abs(tick.period_ns - 4e6) < 5 * tick.period_error_ns + 1e-9
    assert tick.jitter_ns == pytest.approx(2e3, rel=0.2)
    assert tick.events == pytest.approx(1230, rel=0.05)
    assert tick.harmonics[:4] == (1, 2, 3, 4)
    # Chance: 300 a second for 5 s, less what falls together.
    assert periods.left_events == pytest.approx(1450, rel=0.1)


def test_a_guest_tick_and_its_hosts_tick_are_two_families() -> None:
    periods = seen([TICK, HOST, CHANCE], 1, timer_hz=250, virtual=True)
    names = {family.name for family in periods.families}
    assert names == {"timer tick 250 Hz", "100 Hz, a host's timer tick?"}


def test_jitter_and_missing_events_do_not_break_it() -> None:
    loose = Periodic(4e6, Lognormal(5e3, 0.5), jitter_ns=2e5, present=0.4)
    for seed in range(4):
        periods = seen([loose, CHANCE], seed, timer_hz=250)
        (found,) = periods.families
        assert found.period_ns == pytest.approx(4e6, rel=1e-3)
        assert found.present_share == pytest.approx(0.4, rel=0.2)
        assert found.jitter_ns == pytest.approx(2e5, rel=0.25)


def test_rests_between_windows_make_no_period_and_hide_none() -> None:
    random = np.random.default_rng(5)
    windows = [(i * 0.95e9, i * 0.95e9 + 0.83e9) for i in range(6)]
    detours = simulate_detours([INJECTED, TICK, CHANCE], 6e9, random)
    start, length = detours.start_ns, detours.length_ns
    inside = np.any([(start >= a) & (start < b) for a, b in windows], axis=0)
    periods = find_periods(start[inside], length[inside], windows, timer_hz=250)
    found = nearest(periods, 50e6)
    assert found.period_ns == pytest.approx(50e6, rel=1e-3)
    assert found.share == pytest.approx(0.02, rel=0.05)
    short = [(i * 0.13e9, i * 0.13e9 + 0.1e9) for i in range(45)]
    chance = simulate_detours([Random(3000, Lognormal(2e3, 0.5))], 6e9, random)
    inside = np.any([(chance.start_ns >= a) & (chance.start_ns < b) for a, b in short], axis=0)
    assert find_periods(chance.start_ns[inside], chance.length_ns[inside], short).families == ()


def test_the_holes_that_a_long_family_punches_into_chance_are_no_period() -> None:
    long = Periodic(50e6, Lognormal(5e6), jitter_ns=5e4)
    periods = seen([long, Random(8000, Lognormal(2e3, 0.7, 300))], 2)
    assert [family.name for family in periods.families] == ["every 50 ms"]


def test_chance_detours_of_another_length_are_not_taken_in() -> None:
    loose = Periodic(4e6, Lognormal(5e3, 0.3), jitter_ns=1e5)
    long = Random(3.0, Lognormal(5e6, 0.3))
    taken = 0
    for seed in range(6):
        periods = seen([loose, long], seed, timer_hz=250)
        tick = nearest(periods, 4e6)
        taken += tick.length_max_ns > 1e6
    assert taken <= 1


@pytest.mark.parametrize(
    "family",
    [
        Random(100, Lognormal(2e3, 1.0)),
        Random(3000, Lognormal(2e3, 1.0)),
        Bursts(20, 40, 15e3, Lognormal(2e3, 0.5)),
    ],
    ids=["sparse", "dense", "clumps"],
)
def test_no_period_where_there_is_none(family) -> None:
    traces = 120
    false = 0
    for seed in range(traces):
        detours = simulate_detours([family], 2e9, np.random.default_rng([31, seed]))
        false += len(find_periods(detours.start_ns, detours.length_ns, [(0.0, 2e9)]).families) > 0
    # 1 in 100 is what is claimed; more than this has a chance below 0.001 then.
    assert false <= binom.ppf(0.999, traces, 0.01)


def test_a_long_trace_is_fitted_beyond_the_part_that_is_searched() -> None:
    periods = seen([INJECTED, TICK], 3, seconds=120.0, timer_hz=250)
    found = nearest(periods, 50e6)
    assert periods.why is not None
    assert found.events == pytest.approx(2400, abs=10)
    assert found.period_ns == pytest.approx(50e6, rel=1e-6)


def test_names_say_no_more_than_is_known() -> None:
    assert name_period(250.1, 250) == "timer tick 250 Hz"
    assert name_period(252.0, 250) == "every 3.968 ms"
    assert name_period(50.0, 250) == "every 5th tick of 250 Hz"
    assert name_period(1000.0, None) == "1000 Hz, a timer tick?"
    assert name_period(100.0, 250, virtual=True) == "100 Hz, a host's timer tick?"
    assert name_period(20.0, 250) == "every 50 ms"
