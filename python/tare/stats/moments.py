"""Moments: mean, standard deviation, skewness and kurtosis, each under its full name.

Answers: how large, how spread, how lopsided, how heavy-tailed. Does not resist outliers (that is
the medcouple's and the quantiles' work), which is why published noise studies quote both.
Place on the way of the data: infer.

'Skewness' and 'kurtosis' have several definitions; Joanes & Gill name them, so does this module:

========================  ======  =====================================  ==========================
here                      there   definition                             also in
========================  ======  =====================================  ==========================
`skewness_population`     g1      m3 / m2^(3/2)                          SciPy, R moments
`skewness_sample`         G1      g1 sqrt(n (n - 1)) / (n - 2)           spreadsheets, SAS, SPSS
`kurtosis_population`     g2 + 3  m4 / m2^2; 3 for a normal              R moments, Stata
`excess_population`       g2      m4 / m2^2 - 3; 0 for a normal          SciPy
`excess_sample`           G2      ((n + 1) g2 + 6) (n - 1)/(n - 2)/(n - 3)  spreadsheets, SAS, SPSS
========================  ======  =====================================  ==========================

References
----------
Joanes & Gill 1998, "Comparing measures of sample skewness and kurtosis", The Statistician 47(1),
183-189, doi:10.1111/1467-9884.00122.
Chan, Golub & LeVeque 1983, "Algorithms for computing the sample variance", The American
Statistician 37(3), 242-247, doi:10.1080/00031305.1983.10483115 (two passes, corrected).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tare.stats.data import Data, Floats, Tallied, columns_of, samples_of

CHUNK = 1 << 18
"""Samples worked on at a time: temporary arrays of 2 MiB, within which NumPy sums pairwise."""


@dataclass(frozen=True)
class Moments:
    """Moments of a sample. What constant data or too few samples leave undefined is None.

    Attributes
    ----------
    n : int
        Samples.
    minimum, maximum, mean : float
        Unit of the data.
    sd_population : float
        sqrt(m2), divisor n; unit of the data.
    skewness_population : float or None
        g1.
    kurtosis_population : float or None
        m4 / m2^2, not the excess: 3 for a normal distribution.
    """

    n: int
    minimum: float
    maximum: float
    mean: float
    sd_population: float
    skewness_population: float | None
    kurtosis_population: float | None

    @property
    def sd_sample(self) -> float | None:
        """Standard deviation with divisor n - 1, unit of the data."""
        return self.sd_population * math.sqrt(self.n / (self.n - 1)) if self.n > 1 else None

    @property
    def skewness_sample(self) -> float | None:
        """G1: unbiased for a normal population; needs 3 samples."""
        g1, n = self.skewness_population, self.n
        return None if g1 is None or n < 3 else g1 * math.sqrt(n * (n - 1)) / (n - 2)

    @property
    def excess_population(self) -> float | None:
        """g2: kurtosis less 3."""
        b2 = self.kurtosis_population
        return None if b2 is None else b2 - 3

    @property
    def excess_sample(self) -> float | None:
        """G2: unbiased for a normal population; needs 4 samples."""
        g2, n = self.excess_population, self.n
        if g2 is None or n < 4:
            return None
        return ((n + 1) * g2 + 6) * (n - 1) / ((n - 2) * (n - 3))


def moments(data: Data) -> Moments:
    """Moments of a sample, in two passes and bounded extra memory.

    Parameters
    ----------
    data : Tallied or array_like[n]

    Returns
    -------
    Moments

    Raises
    ------
    ValueError
        If data are empty or not finite.

    References
    ----------
    Joanes & Gill 1998; Chan, Golub & LeVeque 1983.
    """
    if isinstance(data, Tallied):
        values, counts = columns_of(data)
        return _moments(values, counts.astype(np.float64), int(counts.sum()))
    samples = samples_of(data)
    return _moments(samples, None, samples.size)


def _moments(values: Floats, weights: Floats | None, n: int) -> Moments:
    minimum, maximum = float(values.min()), float(values.max())
    if minimum == maximum:
        return Moments(n, minimum, maximum, minimum, 0.0, None, None)
    # In units of the range no power over- or underflows; halves, because the range itself may.
    half_range = maximum / 2 - minimum / 2

    def power_mean(mean: float, offset: float, power: int) -> float:
        return _mean(
            values, weights, n, lambda x: ((x / 2 - mean / 2) / half_range - offset) ** power
        )

    rough = _mean(values, weights, n, lambda x: x)
    # What rounding took from the first mean, found in a second pass and taken off in the powers.
    offset = power_mean(rough, 0.0, 1)
    m2, m3, m4 = (power_mean(rough, offset, power) for power in (2, 3, 4))
    return Moments(
        n=n,
        minimum=minimum,
        maximum=maximum,
        mean=rough + half_range * (2 * offset),
        sd_population=half_range * (2 * math.sqrt(m2)),
        skewness_population=m3 / m2**1.5,
        kurtosis_population=m4 / m2**2,
    )


def _mean(values: Floats, weights: Floats | None, n: int, of: Callable[[Floats], Floats]) -> float:
    def parts() -> Iterator[float]:
        for start in range(0, values.size, CHUNK):
            terms = of(values[start : start + CHUNK])
            # Divided before the sum, which could overflow.
            share = 1 / n if weights is None else weights[start : start + CHUNK] / n
            yield float(np.sum(terms * share))

    return math.fsum(parts())
