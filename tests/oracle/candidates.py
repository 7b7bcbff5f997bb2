"""Other automatic rules that were tried: kept as rivals, so that the choice can be checked again.

None of them is offered to users. Each takes a tally and gives the largest value kept.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.special import logsumexp

from tare.noise.automatic import find_step
from tare.noise.tally import Tally

PER_OCTAVE = 16


def _excess(tally: Tally) -> tuple[np.ndarray, np.ndarray, float, float] | None:
    """Histogram of the excess over the median, in spreads, on a log axis from 1/2 spread."""
    median = float(tally.quantile(0.5))
    spread = max(find_step(tally) or 0.0, median - float(tally.quantile(0.05)))
    spread = spread or abs(median) or 1.0
    if tally.maximum <= median + spread:
        return None
    u = np.maximum((tally.values - median) / spread, 0.5)
    edges = np.arange(-1, math.log2(u[-1]) + 2 / PER_OCTAVE, 1 / PER_OCTAVE)
    counts, _ = np.histogram(np.log2(u), bins=edges, weights=tally.counts)
    return edges, counts, median, spread


def otsu(tally: Tally) -> float:
    """Otsu 1979: the split of the log axis with the largest variance between its two sides."""
    made = _excess(tally)
    if made is None:
        return tally.maximum
    edges, counts, median, spread = made
    middle = (edges[:-1] + edges[1:]) / 2
    below, total = np.cumsum(counts)[:-1], counts.sum()
    sums = np.cumsum(counts * middle)
    above = total - below
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = sums[:-1] / below - (sums[-1] - sums[:-1]) / above
    between = np.nan_to_num(below * above * difference**2)
    return median + spread * 2 ** edges[1 + int(np.argmax(between))]


def valley(tally: Tally) -> float:
    """First valley of the smoothed log density, a quarter octave wide, that rises again twofold."""
    made = _excess(tally)
    if made is None:
        return tally.maximum
    edges, counts, median, spread = made
    density = gaussian_filter1d(counts.astype(float), PER_OCTAVE / 4, mode="constant")
    place = lowest = int(np.argmax(density))
    for i in range(place, len(density)):
        if density[i] < density[lowest]:
            lowest = i
        elif density[i] > 2 * density[lowest] + 0.2:
            return median + spread * 2 ** ((edges[lowest] + edges[lowest + 1]) / 2)
    return tally.maximum


def mixture(tally: Tally) -> float:
    """Normal mixture on the log axis by EM, 1 to 4 parts by BIC; the first part is the floor."""
    made = _excess(tally)
    if made is None:
        return tally.maximum
    edges, counts, median, spread = made
    x, w = ((edges[:-1] + edges[1:]) / 2)[counts > 0], counts[counts > 0].astype(float)
    best, chosen = math.inf, None
    for parts in range(1, min(4, len(x)) + 1):
        fit = _em(x, w, parts)
        bic = -2 * fit[0] + (3 * parts - 1) * math.log(w.sum())
        if bic < best:
            best, chosen = bic, fit
    assert chosen is not None
    _, weight, mean, sd = chosen
    if len(mean) == 1:
        return tally.maximum
    floor = int(np.argmin(mean))
    grid = np.linspace(mean[floor], edges[-1], 2000)
    log_density = np.log(weight) - np.log(sd) - 0.5 * ((grid[:, None] - mean) / sd) ** 2
    others = np.delete(log_density, floor, axis=1).max(axis=1)
    crossed = np.flatnonzero(others > log_density[:, floor])
    return median + spread * 2 ** grid[crossed[0]] if len(crossed) else tally.maximum


def _em(x: np.ndarray, w: np.ndarray, parts: int) -> tuple[float, np.ndarray, ...]:
    mean = np.linspace(x[0], x[-1], parts + 1)[:parts]
    sd, weight = np.full(parts, (x[-1] - x[0]) / parts + 0.1), np.full(parts, 1 / parts)
    total = 0.0
    for _ in range(200):
        logs = np.log(weight + 1e-300) - np.log(sd) - 0.5 * ((x[:, None] - mean) / sd) ** 2
        norm = logsumexp(logs, axis=1)
        before, total = total, float(np.dot(w, norm - 0.5 * math.log(2 * math.pi)))
        own = np.exp(logs - norm[:, None]) * w[:, None]
        mass = own.sum(axis=0) + 1e-12
        weight, mean = mass / mass.sum(), (own * x[:, None]).sum(axis=0) / mass
        variance = (own * (x[:, None] - mean) ** 2).sum(axis=0) / mass
        sd = np.sqrt(np.maximum(variance, (0.5 / PER_OCTAVE) ** 2))
        if abs(total - before) < 1e-6 * abs(total):
            break
    return total, weight, mean, sd
