"""What must hold of the medcouple for any sample."""

from __future__ import annotations

from types import SimpleNamespace

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.medcouple_definition import medcouple_exact
from tare import stats

Floats = NDArray[np.float64]

ANY = hnp.arrays(
    np.float64, st.integers(1, 25), elements=st.floats(allow_nan=False, allow_infinity=False)
)
"""Any finite numbers: subnormal, huge, neighbours."""

TIED = hnp.arrays(np.float64, st.integers(1, 80), elements=st.integers(-6, 6).map(float))

EIGHTHS = hnp.arrays(
    np.float64, st.integers(1, 80), elements=st.integers(-8_000, 8_000).map(lambda v: v / 8)
)
"""Numbers that can be shifted and scaled without rounding."""


@given(ANY)
def test_is_the_definition_on_any_numbers(x: Floats) -> None:
    assert stats.medcouple(x) == pytest.approx(float(medcouple_exact(x)), abs=1e-12)


@given(TIED | EIGHTHS)
def test_lies_between_minus_one_and_one_and_does_not_depend_on_order(x: Floats) -> None:
    found = stats.medcouple(x)
    assert -1 <= found <= 1
    assert stats.medcouple(np.sort(x)) == found


@given(TIED | EIGHTHS)
def test_mirror_image_has_the_opposite_sign(x: Floats) -> None:
    assert stats.medcouple(-x) == pytest.approx(-stats.medcouple(x), abs=1e-12)


@given(EIGHTHS, st.integers(-4_000, 4_000), st.integers(1, 500))
def test_does_not_depend_on_place_and_scale(x: Floats, shift: int, scale: int) -> None:
    assert stats.medcouple(scale * x + shift) == pytest.approx(stats.medcouple(x), abs=1e-12)


@given(TIED | EIGHTHS)
def test_symmetric_samples_have_none(x: Floats) -> None:
    assert stats.medcouple(np.concatenate([x, 100 - x])) == pytest.approx(0, abs=1e-12)


@given(TIED, st.integers(1, 1000))
def test_tally_is_the_expanded_sample(x: Floats, times: int) -> None:
    values, counts = np.unique(x, return_counts=True)
    tally = SimpleNamespace(values=values, counts=counts * times)
    assert stats.medcouple(tally) == stats.medcouple(np.repeat(values, counts * times))
