"""Which detours belong to a period that was found, and what exactly that period is.

Answers: the probability of each detour to be one of the family, from its place within the period
and its length; the period, phase and jitter fitted to exact times. Does not find periods
(`tare.noise.spectrum` does).

Place on the way of the data: inference, between the spectrum and `tare.noise.periods`.

A family lies around one phase with a normal spread, chance detours lie evenly over all phases. How
many of the detours of a given length are of the family is estimated for each band of lengths by
itself, so that chance detours of other lengths that fall into its phase are not taken for members.

References
----------
Dempster, Laird & Rubin 1977, "Maximum likelihood from incomplete data via the EM algorithm", JRSS B
39(1) (mixture of a normal and an even density).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from scipy.stats import poisson

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

WIDEST = 0.2
"""Largest jitter, in periods: beyond it a family can hardly be told from chance."""

NARROWEST = 1e-9
"""Smallest jitter, in periods: keeps the density finite when all phases are equal."""

WINDOWS = (1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)
"""Widths of the phase windows in which a first centre is looked for, in periods."""

ROUNDS = 40
"""Steps of expectation and maximisation; they mostly settle within ten."""

SETTLED = 1e-4
"""Change of the spread, relative, or of a membership, at which the rounds end."""

LENGTHS_PER_OCTAVE = 2
"""Bands of length in which the family's part is estimated by itself."""

GONE = 1e-3
"""Weight below which earlier families have taken a detour for good."""

CHANCE_P = 1e-3
"""A band of lengths holds members only if as many in the window have less than this probability."""


@dataclass(frozen=True)
class PhaseFit:
    """A periodic family, fitted.

    Attributes
    ----------
    frequency : float
        1/ns.
    frequency_error : float
        Its standard deviation, 1/ns.
    phase : float
        Mean place within the period, in periods, 0 to 1.
    jitter : float
        Standard deviation around it, in periods.
    member : float64[n]
        Probability of belonging to the family.
    """

    frequency: float
    frequency_error: float
    phase: float
    jitter: float
    member: Floats


def circular(distance: Floats) -> Floats:
    """Wrap differences of phases into [-0.5, 0.5)."""
    wrapped: Floats = (distance + 0.5) % 1.0 - 0.5
    return wrapped


def length_bands(length_ns: Floats) -> NDArray[np.int64]:
    """Number of the band of lengths that each detour falls into, from 0."""
    band = np.floor(np.log2(np.maximum(length_ns, 1e-3)) * LENGTHS_PER_OCTAVE).astype(np.int64)
    lowest: NDArray[np.int64] = band - (band.min() if len(band) else 0)
    return lowest


def _first_guess(phase: Floats, weight: Floats) -> tuple[float, float]:
    """Centre and spread of the phase window that holds most more than chance would put there."""
    phase, weight = phase[weight > GONE], weight[weight > GONE]
    order = np.argsort(phase)
    around = np.concatenate([phase[order], phase[order] + 1.0])
    until = np.concatenate([[0.0], np.cumsum(np.tile(weight[order], 2))])
    heavy = np.tile(weight[order], 2)
    best, centre, spread = -np.inf, 0.0, WIDEST
    for width in WINDOWS:
        end = np.searchsorted(around, phase[order] + width, side="right")
        inside = until[end] - until[: len(order)]
        expected = weight.sum() * width
        excess = (inside - expected) / np.sqrt(expected + 1.0)
        place = int(np.argmax(excess))
        if excess[place] > best:
            best = float(excess[place])
            members, mass = around[place : end[place]], heavy[place : end[place]]
            centre = float(np.average(members, weights=mass))
            variance = float(np.average((members - centre) ** 2, weights=mass))
            spread = max(variance**0.5, NARROWEST)
    return centre % 1.0, spread


def _density(distance: Floats, spread: float) -> Floats:
    """Normal density of the distance in periods, normal over one period."""
    mass = erf(0.5 / (spread * np.sqrt(2.0)))
    scaled = distance / spread
    return np.asarray(np.exp(-0.5 * scaled**2) / (spread * np.sqrt(2 * np.pi) * mass))


def _parts(band: NDArray[np.int64], member: Floats, weight: Floats) -> Floats:
    """Family's part among the detours of each band; neighbours lend half their weight."""
    bands = int(band.max()) + 1
    inside = np.bincount(band, weights=member * weight, minlength=bands)
    whole = np.bincount(band, weights=weight, minlength=bands)
    kernel = np.array([0.5, 1.0, 0.5])
    smooth = np.convolve(np.pad(inside, 1), kernel, "valid")
    total = np.convolve(np.pad(whole, 1), kernel, "valid")
    parts = np.divide(smooth, total, out=np.zeros(bands), where=total > 0)
    return np.minimum(parts, 1.0)


def _drop_chance_bands(
    parts: Floats, band: NDArray[np.int64], weight: Floats, distance: Floats, spread: float
) -> Floats:
    """Set to 0 the parts of bands that have no more in the window than chance puts there."""
    width = min(1.0, 6 * spread)
    near = np.abs(distance) <= width / 2
    bands = len(parts)
    kernel = np.array([0.5, 1.0, 0.5])
    found = np.convolve(np.pad(np.bincount(band, weight * near, bands), 1), kernel, "valid")
    whole = np.convolve(np.pad(np.bincount(band, weight, bands), 1), kernel, "valid")
    chance = poisson.sf(np.ceil(found) - 1, np.maximum(whole * width, 1e-12))
    return np.where(chance < CHANCE_P, parts, 0.0)


def _membership(family: Floats, chance: Floats | float) -> Floats:
    """Probability of one of two densities. Both may underflow to 0: then neither made it."""
    both = family + chance
    return np.divide(family, both, out=np.zeros(len(family)), where=both > 0)


def fit_phase(
    phase: Floats, band: NDArray[np.int64], weight: Floats, first: Bools
) -> tuple[float, float, Floats]:
    """Fit one phase and spread, and give each detour its probability of membership.

    Parameters
    ----------
    phase : float64[n]
        Place within the period, in periods, 0 to 1.
    band : int64[n]
        Band of lengths of each, from 0.
    weight : float64[n]
        What earlier families have left of each detour, 0 to 1.
    first : bool[n]
        Detours that fix phase and spread: those of the band in which the line was found.

    Returns
    -------
    centre, spread : float
        In periods.
    member : float64[n]
        Probability of membership.
    """
    centre, spread = _first_guess(phase[first], weight[first])
    member = np.full(int(first.sum()), 0.5)
    one_band = np.zeros(len(member), dtype=np.int64)
    own, own_weight = phase[first], weight[first]
    for _ in range(ROUNDS):
        distance = circular(own - centre)
        part = _parts(one_band, member, own_weight)[0]
        member = _membership(part * _density(distance, spread), 1 - part)
        mass = float(np.dot(member, own_weight))
        if mass < 1:
            break
        shift = float(np.dot(member * own_weight, distance)) / mass
        centre = (centre + shift) % 1.0
        variance = float(np.dot(member * own_weight, (distance - shift) ** 2)) / mass
        before, spread = spread, float(np.clip(np.sqrt(variance), NARROWEST, WIDEST))
        if abs(spread - before) < SETTLED * before:
            break
    distance = circular(phase - centre)
    density = _density(distance, spread)
    every: Floats = np.full(len(phase), 0.5)
    for _ in range(ROUNDS):
        parts = _parts(band, every, weight)
        parts = _drop_chance_bands(parts, band, weight, distance, spread)
        last, every = every, _membership(parts[band] * density, 1 - parts[band])
        if float(np.abs(every - last).max()) < SETTLED:
            break
    return centre, spread, every


def _line_fit(
    start: Floats, weight: Floats, frequency: float, centre: float
) -> tuple[float, float] | None:
    """Least squares of start = t0 + cycle / frequency: frequency and its standard deviation."""
    cycle = np.round(start * frequency - centre)
    mass = float(weight.sum())
    if mass < 3:
        return None
    mean_cycle, mean_start = np.dot(weight, cycle) / mass, np.dot(weight, start) / mass
    spread = float(np.dot(weight, (cycle - mean_cycle) ** 2))
    if spread <= 0:
        return None
    period = float(np.dot(weight, (cycle - mean_cycle) * (start - mean_start))) / spread
    rest = start - mean_start - period * (cycle - mean_cycle)
    variance = float(np.dot(weight, rest**2)) / (mass - 2)
    return 1 / period, float(np.sqrt(variance / spread)) / period**2


def fit_family(
    start: Floats,
    length: Floats,
    weight: Floats,
    *,
    frequency: float,
    band_ns: tuple[float, float],
    searched: tuple[float, float],
) -> PhaseFit:
    """Fit a family to exact times, from the part that was searched outwards to the whole trace.

    Parameters
    ----------
    start, length : float64[n]
        Of all detours, ns; starts from the origin of the trace.
    weight : float64[n]
        What earlier families have left of each, 0 to 1.
    frequency : float
        Where the line was found, 1/ns.
    band_ns : (float, float)
        Lengths in which it was found, ns.
    searched : (float, float)
        Stretch of time in which it was found, ns.

    Returns
    -------
    PhaseFit
    """
    low, high = searched
    first = (length >= band_ns[0]) & (length < band_ns[1])
    bands = length_bands(length)
    error = 0.0
    end = float(start[-1])
    while True:
        part = (start >= low) & (start <= high)
        for _ in range(2):
            phase = (start[part] * frequency) % 1.0
            centre, spread, member = fit_phase(phase, bands[part], weight[part], first[part])
            own = member * weight[part] * first[part]
            better = _line_fit(start[part], own, frequency, centre)
            if better is not None:
                frequency, error = better
        if low <= start[0] and high >= end:
            break
        reach = high - low
        low, high = low - reach / 2, high + reach / 2
    phase = (start * frequency) % 1.0
    centre, spread, member = fit_phase(phase, bands, weight, first)
    return PhaseFit(frequency, error, centre, spread, member)
