"""The empirical distribution function, thinned exactly.

Answers: which share of the samples is at most x, as a step function; thinned for a chart to points
that lie exactly on it, with the largest height that thinning hides. Needs no bins. Does not resolve
a tail of rare values: that is the percentile curve's work. Place on the way of the data: infer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tare.stats.data import Data, Floats, Tallied, columns_of, samples_of


@dataclass(frozen=True)
class Ecdf:
    """Points of the step function, to be drawn as steps: flat to the right of each.

    Attributes
    ----------
    values : float64[m]
        Distinct samples, ascending, unit of the data; the smallest and the largest are among them.
    shares : float64[m]
        Share of all samples that are at most the value: exact at each, 1 at the last.
    hidden : float
        Most that the drawn steps lie below the true ones, anywhere; 0 when nothing was thinned.
    n : int
        Samples.
    """

    values: Floats
    shares: Floats
    hidden: float
    n: int


def ecdf(data: Data, *, max_points: int = 1000) -> Ecdf:
    """Empirical distribution function, with at most about `max_points` points.

    Parameters
    ----------
    data : Tallied or array_like[n]
    max_points : int
        At least 3; `hidden` stays below 1 / (max_points - 2).

    Returns
    -------
    Ecdf

    Raises
    ------
    ValueError
        If data are empty or not finite, or `max_points` is below 3.
    """
    if max_points < 3:
        msg = f"{max_points} points draw no distribution; hint: choose at least 3"
        raise ValueError(msg)
    if isinstance(data, Tallied):
        values, counts = columns_of(data)
    else:
        values, counts = np.unique(samples_of(data), return_counts=True)
    cumulative = np.cumsum(counts)
    n = int(cumulative[-1])
    shares = cumulative / n
    if values.size <= max_points:
        return Ecdf(values, shares, 0.0, n)
    # The first value at or above each of equally spaced heights: until the next one kept, the true
    # steps stay below the next height.
    heights = np.arange(1, max_points - 1) / (max_points - 2)
    reached = np.searchsorted(shares, heights, side="left")
    kept = np.unique(np.concatenate([[0], np.minimum(reached, values.size - 1), [values.size - 1]]))
    hidden = shares[kept[1:] - 1] - shares[kept[:-1]]
    return Ecdf(values[kept], shares[kept], float(hidden.max()), n)
