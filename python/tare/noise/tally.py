"""Distinct values and how often each occurred: a trace of 10^8 samples in a few kilobytes.

Answers: quantiles, counts and steps of counter readings without holding the readings. Does not
keep their order in time; what needs it (blocks, periods) takes the detours instead.

Place on the way of the data: first thing that inference makes of a table of deltas or quanta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tare.stats import quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """Distinct values in ascending order and their counts.

    Parameters
    ----------
    values : float64[k]
        Distinct, ascending, finite; k at least 1.
    counts : int64[k]
        Each at least 1.

    Raises
    ------
    ValueError
        If it is empty, not ascending, not finite, or a count is below 1.
    """

    values: Floats
    counts: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.int64))
        if self.values.ndim != 1 or self.values.shape != self.counts.shape or not self.values.size:
            msg = "a tally needs as many counts as values, and at least one"
            raise ValueError(msg)
        if not np.all(np.isfinite(self.values)) or np.any(np.diff(self.values) <= 0):
            msg = "the values of a tally must be finite and ascending without repeats"
            raise ValueError(msg)
        if self.counts.min() < 1:
            msg = "every count of a tally must be at least 1"
            raise ValueError(msg)

    @classmethod
    def of(cls, samples: ArrayLike) -> Tally:
        """Count the distinct values of an array.

        Parameters
        ----------
        samples : array_like[n]
            At least one; NaN and infinities are refused, because a sample that is unknown must be
            counted as lost where it was measured.

        Returns
        -------
        Tally

        Raises
        ------
        ValueError
            If it is empty or not finite.
        """
        values, counts = np.unique(np.asarray(samples), return_counts=True)
        return cls(values, counts)

    @cached_property
    def _cumulative(self) -> Ints:
        return np.cumsum(self.counts)

    @property
    def n(self) -> int:
        """Samples in all."""
        return int(self._cumulative[-1])

    @property
    def minimum(self) -> float:
        """Smallest value."""
        return float(self.values[0])

    @property
    def maximum(self) -> float:
        """Largest value."""
        return float(self.values[-1])

    def quantile(self, p: float | Sequence[float] | Floats) -> Floats:
        """Quantiles of type 7 (linear between order statistics), as numpy and R give by default.

        Parameters
        ----------
        p : float or float64[m]
            Probabilities from 0 to 1.

        Returns
        -------
        float64[m] (float64[] for a scalar)

        References
        ----------
        Hyndman & Fan 1996, "Sample quantiles in statistical packages", The American Statistician
        50(4), definition 7.
        """
        return np.asarray(quantile(self, p))

    def above(self, value: float) -> int:
        """Count the samples larger than a value."""
        first = int(np.searchsorted(self.values, value, side="right"))
        return self.n - (int(self._cumulative[first - 1]) if first else 0)

    def split(self, value: float) -> tuple[Tally | None, Tally | None]:
        """Part at a value: what is not above it, and what is; None where nothing is."""
        first = int(np.searchsorted(self.values, value, side="right"))
        low = Tally(self.values[:first], self.counts[:first]) if first else None
        high = Tally(self.values[first:], self.counts[first:]) if first < len(self.values) else None
        return low, high

    def scaled(self, factor: float) -> Tally:
        """Multiply the values by a factor above 0: ticks to nanoseconds."""
        return Tally(self.values * factor, self.counts)

    def mean(self) -> float:
        """Arithmetic mean."""
        return float(np.average(self.values, weights=self.counts))

    def total(self) -> float:
        """Sum of all samples."""
        return float(np.dot(self.values, self.counts))


def find_mode(tally: Tally, step: float | None = None) -> float:
    """Most usual value: the middle of the shortest half, halved again and again.

    Parameters
    ----------
    tally : Tally
        Samples in any unit.
    step : float or None
        Step of the counter, same unit: the result is then the mean of the samples within one step
        of the mode, which is finer than the step.

    Returns
    -------
    float
        In the unit of the tally.

    References
    ----------
    Bickel & Fruehwirth 2006, "On a fast, robust estimator of the mode", Computational Statistics &
    Data Analysis 50(12) (half-sample mode).
    """
    values, counts = tally.values, tally.counts
    while len(values) > 2:
        until = np.cumsum(counts)
        need = (int(until[-1]) + 1) // 2
        # For each first value, the nearest last value with half of the samples between them.
        first = np.flatnonzero(until[-1] - until + counts >= need)
        last = np.searchsorted(until, until[first] - counts[first] + need)
        best = int(np.argmin(values[last] - values[first]))
        low, high = int(first[best]), int(last[best]) + 1
        if high - low == len(values):
            break
        values, counts = values[low:high], counts[low:high]
    mode = float(values[np.argmax(counts)])
    if not step:
        return mode
    near = np.abs(tally.values - mode) <= step * (1 + 1e-9)
    return float(np.average(tally.values[near], weights=tally.counts[near]))
