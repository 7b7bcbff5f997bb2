"""The percentile curve: the tail, drawn out.

Answers: which value is exceeded once in x samples, for x on a log grid up to the number of samples
and no further, with the interval in which the population's value lies. Does not extrapolate beyond
the samples, and does not allow for their dependence (see `tare.stats.quantiles`).
Place on the way of the data: infer; drawn by `tare.charts` with x = 1 / (1 - p) on a log axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tare.stats.data import Data, Floats, Ordered
from tare.stats.quantiles import interval_ranks, quantile


@dataclass(frozen=True)
class PercentileCurve:
    """Points of the curve.

    Attributes
    ----------
    once_in : float64[m]
        x = 1 / (1 - p), ascending from 1 (the minimum) to at most n.
    p : float64[m]
        Shares.
    values : float64[m]
        Quantiles of type 7, unit of the data.
    low, high : float64[m]
        Interval; NaN where no sample bounds it.
    maximum : float
        The largest sample: one observation, not a quantile.
    confidence : float
        Of each point on its own.
    n : int
        Samples.
    """

    once_in: Floats
    p: Floats
    values: Floats
    low: Floats
    high: Floats
    maximum: float
    confidence: float
    n: int


def percentile_curve(
    data: Data, *, points_per_decade: int = 20, confidence: float = 0.95
) -> PercentileCurve:
    """Quantiles on a log grid of 1 / (1 - p), ending where samples end.

    Parameters
    ----------
    data : Tallied or array_like[n]
    points_per_decade : int
        At least 1.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    PercentileCurve

    Raises
    ------
    ValueError
        If data are empty or not finite, or an option lies outside its range.

    References
    ----------
    Tene, HdrHistogram and jHiccup (the form of the curve); David & Nagaraja 2003, section 7.1 (the
    interval).
    """
    if points_per_decade < 1:
        msg = f"{points_per_decade} points per decade; hint: choose at least 1"
        raise ValueError(msg)
    ordered = Ordered(data)
    # The rounded logarithm of an exact power of ten must not lose its own point.
    steps = math.floor(math.log10(ordered.n) * points_per_decade + 1e-9)
    once_in = np.minimum(10.0 ** (np.arange(steps + 1) / points_per_decade), ordered.n)
    p = 1 - 1 / once_in
    low_rank, high_rank, _ = interval_ranks(ordered.n, p, confidence)
    last = ordered.n - 1
    ends = ordered.at(np.clip(np.stack([low_rank, high_rank]), 0, last))
    return PercentileCurve(
        once_in=once_in,
        p=p,
        values=quantile(data, p),
        low=np.where(low_rank >= 0, ends[0], np.nan),
        high=np.where(high_rank <= last, ends[1], np.nan),
        maximum=float(ordered.at(np.array(last))),
        confidence=confidence,
        n=ordered.n,
    )
