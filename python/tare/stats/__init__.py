"""Statistics of samples: what a sample says, with the interval in which it says so.

Answers: quantiles, moments, skewness without outliers, intervals and percentile curves,
from arrays and from tallies. Does not know what the numbers mean: cut-offs and noise are in
`tare.noise`. Place on the way of the data: infer. Pure functions: arrays in, numbers or frozen
dataclasses out.

Units are those of the data. NaN and infinities are refused with ValueError everywhere: a sample
that is not known was lost, and a loss is counted where it happened, not averaged over.
"""

from __future__ import annotations

from tare.stats.data import Data, Tallied
from tare.stats.medcouple import medcouple
from tare.stats.moments import Moments, moments
from tare.stats.percentile_curve import PercentileCurve, percentile_curve
from tare.stats.quantiles import QuantileInterval, quantile, quantile_interval

__all__ = [
    "Data",
    "Moments",
    "PercentileCurve",
    "QuantileInterval",
    "Tallied",
    "medcouple",
    "moments",
    "percentile_curve",
    "quantile",
    "quantile_interval",
]
