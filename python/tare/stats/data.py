"""What the statistics read: an array of samples, or a tally of their distinct values.

Answers: are these data fit to compute with; which value has a given rank. Does not compute
statistics. Place on the way of the data: the door of `tare.stats`.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@runtime_checkable
class Tallied(Protocol):
    """Distinct values and how often each occurred: 10^8 samples in a few kilobytes.

    Any object with these two attributes will do, such as `tare.noise.tally.Tally`.

    Attributes
    ----------
    values : float64[k]
        Finite, ascending, without repeats.
    counts : int64[k]
        Each at least 1.
    """

    @property
    def values(self) -> Floats:
        """Distinct values, ascending."""

    @property
    def counts(self) -> Ints:
        """How often each occurred."""


Data: TypeAlias = Tallied | ArrayLike


def samples_of(data: ArrayLike) -> Floats:
    """Check an array of samples.

    Parameters
    ----------
    data : array_like[n]

    Returns
    -------
    float64[n]
        The same array where it is float64 already; not to be written to.

    Raises
    ------
    ValueError
        If it is empty, not one-dimensional, or holds NaN or infinity.
    """
    samples = np.asarray(data, dtype=np.float64)
    if samples.ndim != 1 or not samples.size:
        msg = f"samples of shape {samples.shape}; hint: pass one dimension with at least one value"
        raise ValueError(msg)
    # Minimum and maximum carry NaN along, and need no array of their own as isfinite does.
    if not (np.isfinite(samples.min()) and np.isfinite(samples.max())):
        first = int(np.flatnonzero(~np.isfinite(samples))[0])
        msg = f"sample {first} is {samples[first]}; hint: drop NaN and infinite values first"
        raise ValueError(msg)
    return samples


def columns_of(tally: Tallied) -> tuple[Floats, Ints]:
    """Check a tally.

    Parameters
    ----------
    tally : Tallied

    Returns
    -------
    float64[k], int64[k]
        Values and counts.

    Raises
    ------
    ValueError
        If it is empty, its lengths differ, its values are not finite or do not ascend, or a count
        is below 1.
    """
    values, counts = samples_of(tally.values), np.asarray(tally.counts)
    if counts.shape != values.shape or not np.issubdtype(counts.dtype, np.integer):
        msg = f"{values.size} values with counts of shape {counts.shape}, {counts.dtype}; hint: pass one whole number for each value"  # noqa: E501
        raise ValueError(msg)
    if np.any(values[1:] <= values[:-1]) or counts.min() < 1:
        msg = "a tally needs ascending values and counts of 1 or more; hint: sort, merge equal values, leave out counts of 0"  # noqa: E501
        raise ValueError(msg)
    return values, counts.astype(np.int64, copy=False)


class Ordered:
    """Order statistics of samples or a tally.

    Parameters
    ----------
    data : Tallied or array_like[n]

    Raises
    ------
    ValueError
        As `samples_of` and `columns_of`.
    """

    def __init__(self, data: Data) -> None:
        self._cumulative: Ints | None = None
        if isinstance(data, Tallied):
            self._values, counts = columns_of(data)
            self._cumulative = np.cumsum(counts)
            self.n = int(self._cumulative[-1])
        else:
            self._values = samples_of(data)
            self.n = self._values.size

    def at(self, ranks: Ints) -> Floats:
        """Values of the given ranks.

        Parameters
        ----------
        ranks : int64[...]
            From 0, the smallest sample, to n - 1.

        Returns
        -------
        float64[...]
            Same shape.
        """
        if self._cumulative is not None:
            return self._values[np.searchsorted(self._cumulative, ranks, side="right")]
        wanted = np.unique(ranks)
        return np.asarray(np.partition(self._values, wanted)[ranks])
