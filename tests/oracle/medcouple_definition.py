"""The medcouple by its definition: every pair, no shortcut, no floating-point doubt.

Brys, Hubert & Struyf 2004, equations 2.2 and 2.3. Shares nothing with the implementation: other
language, other formula, O(n^2) memory.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike


def medcouple_exact(samples: ArrayLike) -> Fraction:
    """Medcouple in exact rational arithmetic; for small samples."""
    x = sorted(Fraction(float(value)) for value in np.asarray(samples))
    median = _median(x)
    upper = [value for value in x if value >= median]
    lower = [value for value in reversed(x) if value <= median]
    tied = sum(value == median for value in x)
    h = []
    # Both sides begin with the tied values, so that i and j number them, from 1.
    for i, above in enumerate(upper, start=1):
        for j, below in enumerate(lower, start=1):
            if above == below:
                h.append(Fraction((i + j - 1 > tied) - (i + j - 1 < tied)))
            else:
                h.append(((above - median) - (median - below)) / (above - below))
    return _median(sorted(h))


def medcouple_listed(samples: ArrayLike) -> float:
    """Medcouple in floating point, all pairs in one array; for integers up to a few thousand."""
    x = np.sort(np.asarray(samples, dtype=np.float64))
    median = (x[(x.size - 1) // 2] + x[x.size // 2]) / 2
    upper, lower = x[x >= median], x[x <= median][::-1]
    tied = int(np.sum(x == median))
    above, below = upper[:, None], lower[None, :]
    with np.errstate(invalid="ignore"):
        h = ((above - median) - (median - below)) / (above - below)
    i, j = np.indices((tied, tied))
    h[:tied, :tied] = np.sign(i + j + 1 - tied)
    return float(np.median(h))


def _median(ordered: list[Fraction]) -> Fraction:
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
