"""Quantiles of samples, and how well they are known.

Answers: below which value a share p of the samples lies, by the nine usual definitions, from arrays
and tallies; and an interval for the quantile of the
population that assumes nothing of its shape. Does not allow for samples that depend on each other:
the interval holds for independent ones and is too narrow for a trace with bursts.
Place on the way of the data: infer.

References
----------
Hyndman & Fan 1996, "Sample quantiles in statistical packages", The American Statistician 50(4),
361-365, doi:10.1080/00031305.1996.10473566 (the nine types).
David & Nagaraja 2003, *Order Statistics*, 3rd edition, section 7.1 (the interval).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from tare.stats.data import Data, Floats, Ints, Ordered

CONTINUOUS = {
    4: (0.0, 1.0),
    5: (0.5, 0.5),
    6: (0.0, 0.0),
    7: (1.0, 1.0),
    8: (1 / 3, 1 / 3),
    9: (3 / 8, 3 / 8),
}
"""Types 4 to 9: (alpha, beta) of the plotting position (k - alpha) / (n + 1 - alpha - beta)."""

FUZZ = 4 * float(np.finfo(np.float64).eps)
"""n p of types 1 to 3 counts as whole within this, relative: 100 x 0.07 is 7 and 100 x 0.29 is 29.
R takes the same value as an absolute distance, and so misses the second."""


@overload
def quantile(data: Data, p: float, *, method: int = 7) -> float: ...
@overload
def quantile(data: Data, p: Sequence[float] | Floats, *, method: int = 7) -> Floats: ...
def quantile(data: Data, p: float | Sequence[float] | Floats, *, method: int = 7) -> float | Floats:
    """Sample quantiles.

    Parameters
    ----------
    data : Tallied or array_like[n]
    p : float or float64[m]
        Shares from 0 to 1.
    method : int
        Type 1 to 9 of Hyndman & Fan; 7 interpolates linearly between order statistics and is the
        default of R, NumPy and spreadsheets.

    Returns
    -------
    float or float64[m]
        Unit of the data.

    Raises
    ------
    ValueError
        If data are empty or not finite, a share lies outside 0 to 1, or there is no such type.
    """
    shares = _shares(p)
    ordered = Ordered(data)
    below, weight = _place(ordered.n, shares, method)
    low = ordered.at(np.clip(below, 0, ordered.n - 1))
    high = ordered.at(np.clip(below + 1, 0, ordered.n - 1))
    # Where the weight is 1 the upper value itself, free of the rounding of low + (high - low).
    values = np.where(weight == 1.0, high, low + weight * (high - low))
    return float(values) if shares.ndim == 0 else values


def _shares(p: float | Sequence[float] | Floats) -> Floats:
    shares = np.asarray(p, dtype=np.float64)
    if not np.all((shares >= 0) & (shares <= 1)):
        msg = f"a share of {p} has no quantile; hint: choose from 0 to 1"
        raise ValueError(msg)
    return shares


def _place(n: int, shares: Floats, method: int) -> tuple[Ints, Floats]:
    """Rank (from 0) of the lower neighbour and weight of the upper one."""
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        # Solved for the rank k, and 1 less, as ranks count from 0 here.
        place = alpha + shares * (n + 1 - alpha - beta) - 1
        below = np.floor(place)
        return below.astype(np.int64), place - below
    if method not in {1, 2, 3}:
        msg = f"there is no quantile of type {method}; hint: choose 1 to 9"
        raise ValueError(msg)
    place = n * shares - (0.5 if method == 3 else 0.0)
    below = np.floor(place + FUZZ * np.maximum(np.abs(place), 1.0))
    whole = np.abs(place - below) <= FUZZ * np.maximum(np.abs(place), 1.0)
    at_whole = {1: 0.0, 2: 0.5}.get(method, below % 2)  # type 3 takes the even rank
    return below.astype(np.int64) - 1, np.where(whole, at_whole, 1.0)


@dataclass(frozen=True)
class QuantileInterval:
    """A quantile with its interval.

    Attributes
    ----------
    p : float
        Share.
    estimate : float
        Sample quantile of type 7, unit of the data.
    low, high : float or None
        Ends of the interval, samples themselves; None where no sample bounds it (too few beyond).
    confidence : float
        What was asked for.
    coverage : float
        What the interval has, at least `confidence`: order statistics come in whole steps.
    n : int
        Samples.
    """

    p: float
    estimate: float
    low: float | None
    high: float | None
    confidence: float
    coverage: float
    n: int


def quantile_interval(data: Data, p: float, *, confidence: float = 0.95) -> QuantileInterval:
    """A quantile of the population, between two order statistics.

    The number of samples below the p-quantile is binomial(n, p) whatever the distribution, so that
    two ranks enclose it with known probability; with ties, at least that. Samples have to be
    independent.

    Parameters
    ----------
    data : Tallied or array_like[n]
    p : float
        Share from 0 to 1.
    confidence : float
        Between 0 and 1; each side gets half of what is left.

    Returns
    -------
    QuantileInterval

    Raises
    ------
    ValueError
        If data are empty or not finite, or p or confidence lie outside their range.

    References
    ----------
    David & Nagaraja 2003, section 7.1.
    """
    shares = _shares(p)
    ordered = Ordered(data)
    low, high, coverage = interval_ranks(ordered.n, shares, confidence)
    ends = ordered.at(np.clip(np.stack([low, high]), 0, ordered.n - 1))
    return QuantileInterval(
        p=p,
        estimate=quantile(data, p),
        low=float(ends[0]) if low >= 0 else None,
        high=float(ends[1]) if high < ordered.n else None,
        confidence=confidence,
        coverage=float(coverage),
        n=ordered.n,
    )


def interval_ranks(n: int, shares: Floats, confidence: float) -> tuple[Ints, Ints, Floats]:
    """Ranks that enclose quantiles of the population.

    Parameters
    ----------
    n : int
        Samples.
    shares : float64[...]
        From 0 to 1.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    low, high : int64[...]
        Ranks from 0; -1 and n where no sample bounds the quantile.
    coverage : float64[...]
        Probability that the interval holds the quantile, at least `confidence`.

    Raises
    ------
    ValueError
        If confidence lies outside its range.
    """
    if not 0 < confidence < 1:
        msg = f"a confidence of {confidence} is none; hint: choose between 0 and 1, such as 0.95"
        raise ValueError(msg)
    # Here, not at the top: it takes 80 MiB, which the other statistics do without.
    from scipy.stats import binom  # noqa: PLC0415

    tail = (1 - confidence) / 2
    # With B samples below the quantile, rank r lies above it if B <= r (ranks from 0).
    low = np.asarray(binom.ppf(tail, n, shares)).astype(np.int64) - 1
    high = np.asarray(binom.ppf(1 - tail, n, shares)).astype(np.int64)
    low = np.where(shares == 0, -1, low)
    high = np.where(shares == 1, n, high)
    coverage = np.asarray(binom.cdf(high, n, shares)) - np.asarray(binom.cdf(low, n, shares))
    return low, high, coverage
