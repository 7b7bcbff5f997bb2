"""The medcouple's known values and refusals."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tare import stats


def test_known_values() -> None:
    assert stats.medcouple([0, 1, 2, 2, 3]) == -1 / 6
    assert stats.medcouple([7.5] * 1000) == 0
    assert stats.medcouple([3]) == 0


def test_a_floor_of_more_than_half_gives_one() -> None:
    # The floor is median and minimum at once: nothing lies below, and h is +1 above it.
    floor = SimpleNamespace(values=np.array([26.0, 52.0]), counts=np.array([99_999_000, 1_000]))
    assert stats.medcouple(floor) == 1


@pytest.mark.parametrize(
    "data", [[], [1.0, np.nan], [np.inf, 1.0], 3.0, [[1.0, 2.0]], np.zeros((2, 0))]
)
def test_refuses_what_is_no_sample(data: object) -> None:
    with pytest.raises(ValueError, match=r"hint|no values"):
        stats.medcouple(data)  # type: ignore[arg-type]


def test_reads_every_layout() -> None:
    x = np.arange(20) ** 2
    expected = stats.medcouple(x.astype(np.float64))
    assert stats.medcouple(x) == expected
    assert stats.medcouple(np.repeat(x, 2)[::2]) == expected
    assert stats.medcouple(x[::-1].astype(np.float32)) == expected
    read_only = x.astype(np.float64)
    read_only.flags.writeable = False
    assert stats.medcouple(read_only) == expected
