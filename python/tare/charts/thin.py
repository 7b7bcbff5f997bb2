"""Fewer points without losing the ones that matter: thin by maximum, never by mean.

A mean of a thousand samples hides the one detour that a reader looks for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 3000

_HIGH_BINS = 48


def by_maximum(
    time: NDArray[np.float64], value: NDArray[np.float64], most: int = MOST_POINTS
) -> NDArray[np.intp]:
    """Choose points so that every cell of time x log value keeps its largest.

    Parameters
    ----------
    time : float64[n]
        Any unit, any order, finite.
    value : float64[n]
        Positive, finite.
    most : int
        Upper bound of the answer's length.

    Returns
    -------
    intp[k]
        Indices in order of time, k <= max(most, 1). All of them where n <= most. The largest
        value of all is among them, and so is the largest of every occupied column of time.
    """
    if time.size <= most:
        return np.argsort(time, kind="stable")
    columns = max(1, most)
    while True:
        chosen = _cells(time, value, columns)
        if chosen.size <= most or columns == 1:
            break
        columns = max(1, min(columns - 1, int(columns * most / chosen.size)))
    if chosen.size > most:
        chosen = chosen[np.argsort(value[chosen])[-most:]]
    return chosen[np.argsort(time[chosen], kind="stable")]


def _cells(time: NDArray[np.float64], value: NDArray[np.float64], columns: int) -> NDArray[np.intp]:
    column = _bins(time, columns)
    row = _bins(np.log(value), _HIGH_BINS)
    cell = column * _HIGH_BINS + row
    # Sorted by cell, then by value: the last of every cell is its largest.
    order = np.lexsort((value, cell))
    last: NDArray[np.bool_] = np.append(np.diff(cell[order]) != 0, True)
    chosen: NDArray[np.intp] = order[last]
    return chosen


def _bins(value: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    low, high = float(value.min()), float(value.max())
    if high <= low:
        return np.zeros(value.size, dtype=np.int64)
    scaled = (value - low) * (bins / (high - low))
    return np.minimum(scaled.astype(np.int64), bins - 1)
