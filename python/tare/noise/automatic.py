"""The fully automatic cut-off: where the floor's own tail ends.

Answers: the largest value that still belongs to undisturbed iterations, from the values alone,
without a parameter that a person has to tune to the data. Does not answer which of the samples
near the cut-off were hit, cannot tell a detour shorter than a few spreads of the floor from the
floor, and takes a floor that drifts by many times its own spread for one wide floor.

Place on the way of the data: first inference on the tally of a trace, next to the published rules
in `tare.noise.cutoffs`.

How it works
------------
Let u be the distance from the floor's centre on a log axis; the centre is the median, or the mode
where the median itself was hit. For the usual families of the floor (normal, lognormal, gamma,
Weibull, uniform) the share of the remaining samples that is used up per octave of u never falls:
the generalised failure rate u f(u)/S(u) increases (IGFR). A detour adds samples
far out, so that between floor and detours the survival curve S stays flat: the rate falls. Three
steps follow.

1. *Is there a gap?* For a place `a` in the tail, the rate up to `a` bounds from below the share of
   samples beyond `a` that an IGFR floor alone would use up by `b`. A binomial test asks whether as
   few as observed are possible. No place fails it: no detours, everything stays.
2. *How far may the floor reach?* The same bound, run forward from every place left of the gap, and
   the least of them taken, bounds the number of floor samples above any value.
3. *Where to cut?* Where the samples above, less twice that bound, are most: each detour kept costs
   as much as each floor sample removed. In an empty gap, at its geometric middle.

A counter that moves in steps makes a comb of the density; every count is therefore spread evenly
over one step before anything is looked at.

References
----------
Lariviere 2006, "A note on probability distributions with increasing generalized failure rates",
Operations Research 54(3) (the families, and that truncation and scaling keep the property).
Rehn, Hamilton & Holdsworth 2014 (leave a fully automatic rule as future work).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from tare.noise.tally import Tally, find_mode

Floats = NDArray[np.float64]

REACH = 8.0
"""Samples nearer to the median than this many spreads never count as evidence of detours: the
second mode of a bimodal floor lies there. Chosen on the scenarios of tests/oracle: 16 loses the
short ticks of FWQ; below 4 the second modes fall."""

NEAREST = 4.0
"""Once there is a gap, the cut-off lies at least this many spreads from the median."""

GAP_P = 1e-6
"""Largest probability at which a gap is believed. About 10^4 pairs are looked at, most nearly the
same, and the bound is one-sided; an oracle test counts false gaps in quiet traces."""

PER_OCTAVE = 8
"""Places looked at in each octave of the distance from the median."""

COST_RATIO = 3.0
"""A loop whose floor is the bare cost of a reading may have a second way through it (a page or a
cache line further) that costs up to this many times the usual; no detour is as short as that."""

SLOWER = 0.5
"""A gap uses samples up at most at this share of the rate before it."""

SPREAD_PARTS = 16
"""Parts into which the width of one step is cut when counts are spread over it."""


@dataclass(frozen=True)
class Gap:
    """Where the floor ends, or why no end was found.

    Attributes
    ----------
    value : float or None
        Largest value kept, unit of the tally; None if nothing parts from the floor.
    log_p : float or None
        Natural logarithm of the probability of so few samples in the gap without detours.
    spread : float
        Scale of the floor that distances are measured in, unit of the tally.
    step : float or None
        Step of the counter, given or estimated; None if there is none to see.
    """

    value: float | None
    log_p: float | None
    spread: float
    step: float | None


def find_step(tally: Tally) -> float | None:
    """Estimate the step of the counter from the values that it showed.

    Parameters
    ----------
    tally : Tally
        Differences of counter readings in any unit.

    Returns
    -------
    float or None
        The largest unit of which at least 80 % of the samples are whole multiples (a few odd
        readings are usual); None if there is no such unit. A floor that is always the same number
        of ticks makes that number the step.
    """
    common = np.argsort(tally.counts)[::-1][:12]
    common = common[tally.counts[common] >= 0.01 * tally.counts[common[0]]]
    top = tally.values[common]
    units = np.unique(np.abs(np.concatenate([top, (top[:, None] - top[None, :]).ravel()])))
    for unit in units[units > 0][::-1]:
        times = np.round(tally.values / unit)
        whole = np.abs(tally.values - times * unit) <= 1e-6 * np.abs(tally.values)
        whole &= (times != 0) | (tally.values == 0)
        if tally.counts[whole].sum() >= 0.8 * tally.n:
            return float(unit)
    return None


@dataclass(frozen=True)
class _Tail:
    """The survival curve right of the floor's centre on a log axis."""

    centre: float
    spread: float
    octave: Floats  # log2 of the distance from the centre in spreads
    survivors: Floats  # samples beyond, counts spread over the step


def _tail(tally: Tally, centre: float, spread: float, step: float) -> _Tail:
    top = np.log2((tally.maximum - centre) / spread) + 0.5
    octave = np.arange(-1.0, top + 1 / PER_OCTAVE, 1 / PER_OCTAVE)
    places = centre + spread * 2.0**octave
    below = np.concatenate([[0], np.cumsum(tally.counts)])
    shifts = ((np.arange(SPREAD_PARTS) + 0.5) / SPREAD_PARTS - 0.5) * step
    found = np.searchsorted(tally.values, places[None, :] + shifts[:, None], side="right")
    survivors = tally.n - below[found].mean(axis=0)
    # A floor narrower than half a spread is over before the axis begins: the rate at which it used
    # its samples up is then seen from the quarter of all that a wide one would have there.
    survivors[0] = max(survivors[0], tally.n / 4)
    return _Tail(centre, spread, octave, survivors)


def _rates(octave: Floats, survivors: Floats) -> Floats:
    """Bits of survival used up per octave from the start of the axis to each place."""
    bits = -np.log2(np.maximum(survivors, 0.5))
    rates = np.zeros(len(octave))
    rates[1:] = (bits[1:] - bits[0]) / (octave[1:] - octave[0])
    return rates


def _find_gap(tail: _Tail, reach: float) -> tuple[int, int, float] | None:
    """Find the first place `a` with a gap, its far side `b` and the log probability."""
    octave, survivors = tail.octave, tail.survivors
    rates = _rates(octave, survivors)
    bits = -np.log2(np.maximum(survivors, 0.5))
    far = int(np.searchsorted(octave, np.log2(reach)))
    for a in range(2, len(octave) - 1):
        if survivors[a] < 1:
            return None
        b = np.arange(max(a + 1, far), len(octave))
        b = b[survivors[b] >= 1]
        if not len(b):
            return None
        width = octave[b] - octave[a]
        expected = 1 - 2.0 ** (-rates[a] * width)
        inside = np.floor(survivors[a] - survivors[b] + 1e-9)
        log_p = binom.logcdf(inside, int(np.ceil(survivors[a])), expected)
        flat = (bits[b] - bits[a]) / width < SLOWER * rates[a]
        gap = (log_p < np.log(GAP_P)) & flat
        if gap.any():
            # The far side: where most samples lie beyond the longest flat stretch.
            best = np.argmax(np.where(gap, survivors[b] * width, -np.inf))
            return a, int(b[best]), float(log_p[best])
    return None


def _floor_bound(tail: _Tail, far_side: int) -> Floats:
    """Bound the floor samples beyond each place, from all places left of it within the gap."""
    octave = tail.octave
    floor = np.maximum(tail.survivors - tail.survivors[far_side], 1.0)
    rates = _rates(octave, floor)
    # An IGFR tail uses up later octaves at least as fast as the one just before.
    bits = -np.log2(floor)
    rates[PER_OCTAVE:] = np.maximum(rates[PER_OCTAVE:], bits[PER_OCTAVE:] - bits[:-PER_OCTAVE])
    bound = np.full(len(octave), np.inf)
    for a in range(2, far_side):
        ahead = floor[a] * 2.0 ** (-rates[a] * (octave[a:] - octave[a]))
        bound[a:] = np.minimum(bound[a:], ahead)
    return bound


def find_floor_end(tally: Tally, step: float | None = None, cost_ratio: float = COST_RATIO) -> Gap:
    """Find the end of the floor.

    Parameters
    ----------
    tally : Tally
        Deltas or durations in any unit; a change of the unit changes nothing but the unit.
    step : float or None
        Step of the counter in the same unit; None estimates it.
    cost_ratio : float
        Values up to this many times the median never hold a detour; 1 where the floor is work
        (FWQ), so that a detour may be short against it.

    Returns
    -------
    Gap
    """
    step = find_step(tally) if step is None else step
    centre, spread = _centre(tally, step or 0.0, cost_ratio)
    cost = (cost_ratio - 1) * centre / spread
    reach, nearest = max(REACH, cost), max(NEAREST, cost)
    if tally.maximum <= centre + reach * spread:
        return Gap(None, None, spread, step)
    tail = _tail(tally, centre, spread, step or 0.0)
    gap = _find_gap(tail, reach)
    if gap is None:
        return Gap(None, None, spread, step)
    _, far_side, log_p = gap
    first = int(np.searchsorted(tail.octave, np.log2(nearest)))
    score = tail.survivors - 2 * _floor_bound(tail, far_side)
    place = centre + spread * 2.0 ** tail.octave[first + int(np.argmax(score[first:]))]
    return Gap(_middle_of_gap(tally, centre, place, spread), log_p, spread, step)


def _centre(tally: Tally, step: float, cost_ratio: float) -> tuple[float, float]:
    """Where the floor lies, and how far it spreads to the left."""
    low, median = tally.quantile([0.05, 0.5]).tolist()
    mode = find_mode(tally)
    least = max(step, mode - low)
    # More than half of the samples are hit, and the median is one of them.
    hit = least > 0 and median - mode > max(REACH * least, (cost_ratio - 1) * mode)
    centre = mode if hit else median
    spread = max(step, centre - low)
    return centre, spread or abs(centre) or float(np.diff(tally.values).min(initial=np.inf))


def _middle_of_gap(tally: Tally, centre: float, place: float, spread: float) -> float:
    """Middle, on the log axis of the distance from the centre, of the gap around a place."""
    right = int(np.searchsorted(tally.values, place, side="right"))
    low = max(float(tally.values[right - 1]) - centre, spread / 2)
    high = float(tally.values[min(right, len(tally.values) - 1)]) - centre
    return centre + float(np.sqrt(low * high)) if high > low else float(tally.values[right - 1])
