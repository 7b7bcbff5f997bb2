"""The interval of a mean when samples depend on their neighbours.

Answers: between which values does the long-run mean lie, given one series in order of time. The
usual s / sqrt(n) is too narrow for a trace: noise comes in bursts and periods. Does not help where
the series is shorter than what it depends on, but says so (`batches_depend`). Place on the way of
the data: infer.

Method: cut the series into batches, take the means of the batches for independent samples, use
Student's t. Whether they are independent is tested with von Neumann's ratio.

References
----------
Conway 1963, "Some tactical problems in digital simulation", Management Science 10(1), 47-61,
doi:10.1287/mnsc.10.1.47 (batch means).
Schmeiser 1982, "Batch size effects in the analysis of simulation output", Operations Research
30(3), 556-568, doi:10.1287/opre.30.3.556 (10 to 30 batches suffice).
Fishman 1978, "Grouping observations in digital simulation", Management Science 24(5), 510-521,
doi:10.1287/mnsc.24.5.510 (the test).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tare.stats.data import Floats, samples_of

BATCHES = 30
"""Schmeiser 1982: more make the interval hardly shorter, and the batches less independent."""

DEPENDENT_P = 0.05
"""Batches are called dependent where independent ones would seldom look so."""


@dataclass(frozen=True)
class MeanInterval:
    """A mean with its interval.

    Attributes
    ----------
    mean : float
        Of all samples, unit of the data.
    low, high : float or None
        Ends of the interval; None with a single batch, which knows no spread.
    confidence : float
        Of the interval.
    n, batches : int
        Samples, and the batches that they were cut into.
    batches_depend : bool or None
        Do the means of the batches depend on their neighbours? Then the interval is too narrow, and
        a longer series is needed. None with fewer than 8 batches or with constant ones.
    """

    mean: float
    low: float | None
    high: float | None
    confidence: float
    n: int
    batches: int
    batches_depend: bool | None


def mean_interval(
    series: ArrayLike, *, confidence: float = 0.95, batches: int = BATCHES
) -> MeanInterval:
    """Mean of a series with an interval by batch means.

    Parameters
    ----------
    series : array_like[n]
        In order of time.
    confidence : float
        Between 0 and 1.
    batches : int
        At least 2; a series shorter than that has one batch to each sample, which is the ordinary t
        interval.

    Returns
    -------
    MeanInterval

    Raises
    ------
    ValueError
        If the series is empty or not finite, or batches or confidence lie outside their range.

    References
    ----------
    Conway 1963; Schmeiser 1982; Fishman 1978.
    """
    samples = samples_of(series)
    if batches < 2 or not 0 < confidence < 1:
        msg = f"{batches} batches, confidence {confidence}; hint: at least 2, and between 0 and 1"
        raise ValueError(msg)
    used = min(batches, samples.size)
    # Sizes differ by one sample at most, so that none is dropped and all weigh alike.
    starts = np.arange(used) * samples.size // used
    sizes = np.diff(starts, append=samples.size)
    means = np.add.reduceat(samples, starts) / sizes
    mean = float(np.average(means, weights=sizes))
    half = None
    if used > 1:
        half = (
            float(special.stdtrit(used - 1, (1 + confidence) / 2))
            * means.std(ddof=1)
            / math.sqrt(used)
        )
    return MeanInterval(
        mean=mean,
        low=None if half is None else float(mean - half),
        high=None if half is None else float(mean + half),
        confidence=confidence,
        n=samples.size,
        batches=used,
        batches_depend=_depend(means),
    )


def _depend(means: Floats) -> bool | None:
    """One-sided test for positive dependence of neighbours.

    Fishman 1978, equation 5: C = 1 - sum of squared differences / (2 sum of squared deviations) is
    about normal with mean 0 and variance (b - 2) / (b^2 - 1) for b independent batches, b >= 8.
    """
    b = means.size
    deviations = float(np.sum((means - means.mean()) ** 2))
    if b < 8 or deviations == 0:
        return None
    c = 1 - float(np.sum(np.diff(means) ** 2)) / (2 * deviations)
    return bool(special.ndtr(-c / math.sqrt((b - 2) / (b * b - 1))) < DEPENDENT_P)
