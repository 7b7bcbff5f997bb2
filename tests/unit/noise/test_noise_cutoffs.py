"""Cut-off rules: formulas by hand, and what must hold for any data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tare.noise.cutoffs import (
    RULES,
    adjusted_boxplot,
    all_cutoffs,
    automatic,
    family,
    one_sided,
    rehn,
    sweep,
    tukey,
)
from tare.noise.tally import Tally

TICKS = hnp.arrays(np.int64, st.integers(1, 400), elements=st.integers(0, 5000))
NAMES = sorted(RULES)
X = np.array([2.0, 4.0, 4.0, 5.0, 7.0, 9.0, 30.0, 31.0, 100.0])  # Q1 4, median 7, Q3 30


def test_each_formula_by_hand() -> None:
    assert tukey(X).value == 30 + 1.5 * (30 - 4)
    assert one_sided(X).value == 30 + 1.5 * (30 - 2)
    p95 = 31 + 0.6 * (100 - 31)
    assert rehn(X).value == pytest.approx(p95 + 3 * (p95 - 2))
    assert family(X, 0.5, 2.0).value == 7 + 2 * (7 - 2)
    right = adjusted_boxplot(X, medcouple=0.5)
    assert right.value == pytest.approx(30 + 1.5 * math.exp(1.5) * 26)
    left = adjusted_boxplot(X, medcouple=-0.5)
    assert left.value == pytest.approx(30 + 1.5 * math.exp(-2.0) * 26)


def test_removed_samples_are_those_above_the_value() -> None:
    cutoff = tukey(X)
    assert (cutoff.removed, cutoff.removed_share) == (1, 1 / 9)
    assert cutoff.value < 100


@pytest.mark.parametrize(("medcouple", "suited"), [(0.6, True), (0.61, False), (-0.61, False)])
def test_the_adjusted_boxplot_is_unsuited_beyond_its_limit(medcouple, suited) -> None:
    assert adjusted_boxplot(X, medcouple=medcouple).suited is suited


def test_a_range_of_zero_makes_a_rule_unsuited_and_says_so() -> None:
    stepped = np.array([26] * 90 + [52] * 10)
    for rule in (tukey, one_sided):
        assert not rule(stepped).suited
        assert rule(stepped).value == 26
    assert "Q3 - Q1 is 0" in tukey(stepped).why
    assert rehn(stepped).suited


@given(TICKS, st.sampled_from(NAMES))
def test_what_is_left_of_the_median_always_stays(samples, name) -> None:
    cutoff = RULES[name](samples)
    assert cutoff.value >= np.quantile(samples, 0.5) - 1e-9
    assert cutoff.removed <= len(samples) / 2
    assert cutoff.removed == np.count_nonzero(samples > cutoff.value)


@given(TICKS, st.sampled_from(NAMES))
def test_a_tally_and_its_samples_give_the_same(samples, name) -> None:
    random = np.random.default_rng(1)
    values, counts = np.unique(samples, return_counts=True)
    assert RULES[name](Tally(values, counts)) == RULES[name](random.permutation(samples))


@given(TICKS, st.sampled_from(NAMES), st.integers(-20, 20))
def test_a_change_of_unit_changes_nothing_but_the_unit(samples, name, power) -> None:
    # Powers of two scale without rounding, so that the answer must be the same to the last bit.
    factor = 2.0**power
    plain, scaled = RULES[name](samples), RULES[name](samples * factor)
    assert scaled.value == pytest.approx(plain.value * factor, rel=1e-9)
    assert (scaled.removed, scaled.suited) == (plain.removed, plain.suited)


@given(TICKS, st.floats(0, 1), st.floats(0, 50), st.floats(0, 50))
def test_the_family_grows_with_its_ratio(samples, percentile, a, b) -> None:
    low, high = sorted((a, b))
    narrow, wide = family(samples, percentile, low), family(samples, percentile, high)
    assert narrow.value <= wide.value
    assert narrow.removed >= wide.removed


@given(TICKS, st.floats(0, 0.5))
def test_even_a_low_percentile_keeps_the_median(samples, percentile) -> None:
    assert family(samples, percentile, 0.0).value >= np.quantile(samples, 0.5) - 1e-9


@given(TICKS, st.floats(0, 50), st.floats(0, 1), st.floats(0, 1))
def test_the_family_grows_with_its_percentile(samples, ratio, a, b) -> None:
    low, high = sorted((a, b))
    wide = family(samples, high, ratio).value
    assert family(samples, low, ratio).value <= wide + 1e-9 * abs(wide)


@given(TICKS)
def test_the_sweep_is_the_family_at_each_of_its_places(samples) -> None:
    percentiles, ratios = (0.5, 0.75, 0.99), (0.5, 3.0)
    grid = sweep(samples, percentiles, ratios)
    one_by_one = [[family(samples, p, r).value for r in ratios] for p in percentiles]
    np.testing.assert_allclose(grid, one_by_one, rtol=1e-12)


@given(TICKS, st.integers(10**5, 10**7))
def test_the_longer_a_far_detour_the_less_it_moves_the_rules_that_do_not_see_it(
    samples, detour
) -> None:
    if len(samples) < 40:
        return
    near, far = np.append(samples, detour), np.append(samples, 2 * detour)
    for rule in (tukey, one_sided, adjusted_boxplot):
        assert rule(near).value == rule(far).value


def test_automatic_keeps_all_of_constant_and_of_tiny_data() -> None:
    for samples in ([5], [0, 0, 0], [7] * 1000, [1, 2], [0, 1] * 50):
        cutoff = automatic(np.array(samples))
        assert (cutoff.removed, cutoff.value) == (0, max(samples))


def test_automatic_cuts_between_a_stepped_floor_and_detours() -> None:
    floor = np.array([26] * 9000 + [52] * 900 + [25, 27, 1] * 10 + [78])
    detours = np.array([1300, 2600, 2626, 9984])
    cutoff = automatic(np.concatenate([floor, detours]))
    assert 78 <= cutoff.value < 1300
    assert cutoff.removed == 4


def test_a_second_way_through_the_loop_is_no_detour_but_a_tick_in_a_quantum_is() -> None:
    random = np.random.default_rng(3)
    short = 20 + 0.2 * random.standard_normal(20_000)
    short[::10] += 30
    assert automatic(short).removed == 0
    quanta = 1e6 + 20 * random.standard_normal(20_000)
    quanta[::4] += 5000 + 200 * random.standard_normal(5000)
    assert automatic(quanta).removed == 0
    assert automatic(quanta, cost_ratio=1.0).removed == 5000


def test_a_second_mode_near_the_floor_stays_when_there_are_detours_too() -> None:
    random = np.random.default_rng(8)
    quanta = 1e6 + 10 * random.standard_normal(50_000)
    quanta[::20] += 55  # a second way, 3 spreads off
    quanta[::100] += 8000
    cutoff = automatic(quanta, cost_ratio=1.0)
    assert cutoff.removed == 500


def test_all_cutoffs_are_in_the_order_of_the_rules() -> None:
    assert [cutoff.rule for cutoff in all_cutoffs(X)] == list(RULES)


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [1.0, math.inf]])
def test_no_rule_takes_what_is_no_sample(bad) -> None:
    for rule in RULES.values():
        with pytest.raises(ValueError, match=r"tally|finite"):
            rule(bad)


@pytest.mark.parametrize(("percentile", "ratio"), [(-0.1, 1), (1.1, 1), (0.5, -1), (0.5, math.nan)])
def test_the_family_refuses_parameters_out_of_range(percentile, ratio) -> None:
    with pytest.raises(ValueError, match="must lie"):
        family(X, percentile, ratio)
