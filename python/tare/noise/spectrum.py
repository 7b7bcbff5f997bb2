"""Lines in the spectrum of detour starts: the strongest one that chance does not explain.

Answers: at which frequency, in which band of lengths, do starts line up more than those of a
process without memory would? Does not fit periods nor tell members (`tare.noise.phase`), nor name
them (`tare.noise.periods`).

Place on the way of the data: inference; first step of finding periods.

References
----------
Bartlett 1963, "The spectral analysis of point processes", JRSS B 25(2): |sum exp(-2 pi i f t)|^2/n
is exponential with mean 1 for a Poisson process.
Lewis 1970, "Remarks on the theory, computation and application of the spectral analysis of series
of events", Journal of Sound and Vibration 12(3) (clumps raise the whole lower spectrum: hence the
local level).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import minimize_scalar

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FALSE_ALARM = 0.01
"""Probability of finding any line at all where there is none."""

SHORTEST_PERIOD_NS = 2e5
"""Shortest period looked for, ns: 5 kHz; a 1000 Hz tick has its harmonics below that."""

BINS_PER_PERIOD = 4
"""Bins of the starts in the shortest period: a line loses at most a fifth of its power in them."""

SEARCHED_NS = 50e9
"""Time in which lines are looked for, ns: 10^6 bins."""

FEWEST_EVENTS = 8
"""Detours below which a band is not searched."""

FEWEST_CYCLES = 8
"""Longest period: so many must fit into the time that is searched."""

BAND_OCTAVES = 2
"""Width of a band of lengths; bands overlap by half."""

MOST_FOLDS = 64
"""Harmonic number from which a line may be folded down to its fundamental."""

HIGHEST_MULTIPLE = 1024
"""Multiple of a line up to which its frequency is refined."""

MULTIPLE_POWER = 0.5
"""A multiple refines the frequency if it has at least this share of the line's power."""

FOLD_POWER = 0.25
"""A lower line is the fundamental if it has at least this share of the power of its multiple."""


@dataclass(frozen=True)
class Line:
    """A line that beats chance.

    Attributes
    ----------
    frequency : float
        Of the fundamental, 1/ns.
    power : float
        Power over the local background.
    false_alarm : float
        Probability of one as strong anywhere by chance.
    band_ns : (float, float)
        Lengths of the detours that show it, ns.
    """

    frequency: float
    power: float
    false_alarm: float
    band_ns: tuple[float, float]


class LineSearch:
    """Periodograms of one trace's detours, band by band.

    Parameters
    ----------
    start_ns, length_ns : float64[n]
        Ascending starts from 0, and lengths above 0, ns.
    windows_ns : float64[k, 2]
        Start and end of each observed stretch, ns.
    shortest_period_ns : float
        Shortest period looked for, ns.
    """

    def __init__(
        self, start_ns: Floats, length_ns: Floats, windows_ns: Floats, shortest_period_ns: float
    ) -> None:
        low, high = float(windows_ns[0, 0]), float(windows_ns[-1, 1])
        if high - low > SEARCHED_NS:
            middle = (low + high) / 2
            low, high = middle - SEARCHED_NS / 2, middle + SEARCHED_NS / 2
        self.searched = (low, high)
        self.inside: Bools = (start_ns >= low) & (start_ns < high)
        self._start = start_ns[self.inside] - low
        self._length = length_ns[self.inside]
        self._windows = np.clip(windows_ns, low, high) - low
        self._windows = self._windows[self._windows[:, 1] > self._windows[:, 0]]
        self._width = shortest_period_ns / BINS_PER_PERIOD
        self._bins = max(1, math.ceil((high - low) / self._width))
        self._place = np.minimum((self._start / self._width).astype(np.int64), self._bins - 1)
        # Twice the bins: a line between two frequencies then loses at most a fifth of its power.
        self._size = fft.next_fast_len(2 * self._bins, real=True)
        self._exposure = self._exposed()
        self.frequency = np.arange(self._size // 2 + 1) / (self._size * self._width)
        lowest = FEWEST_CYCLES / max(float(self._exposure.sum()) * self._width, 1.0)
        self._from = int(np.searchsorted(self.frequency, lowest))
        self._to = int(np.searchsorted(self.frequency, 1 / shortest_period_ns, side="right"))
        self.bands = self._length_bands()
        self.trials = max(1, (self._to - self._from) * len(self.bands))

    def _exposed(self) -> Floats:
        """Part of each bin in which a detour could start: observed, and not inside another one.

        Without the second condition, a long periodic detour would punch periodic holes into what
        is otherwise chance, and the holes would show as lines of their own.
        """
        edges = np.arange(self._bins + 1, dtype=np.float64) * self._width
        observed = _covered(edges, self._windows[:, 0], np.diff(self._windows, axis=1)[:, 0])
        taken = _covered(edges, self._start, self._length) if len(self._start) else 0.0
        return np.maximum(observed - taken, 0.0) / self._width

    def _length_bands(self) -> list[tuple[float, float]]:
        bands = [(0.0, math.inf)]
        if not len(self._length):
            return bands
        low = math.floor(math.log2(float(self._length.min())))
        high = math.ceil(math.log2(float(self._length.max()) * 1.0001))
        for octave in range(low, high):
            edge = (2.0**octave, 2.0 ** (octave + BAND_OCTAVES))
            if int(self._in_band(edge).sum()) >= FEWEST_EVENTS:
                bands.append(edge)
        return bands

    def _in_band(self, band: tuple[float, float]) -> Bools:
        return (self._length >= band[0]) & (self._length < band[1])

    @property
    def empty(self) -> bool:
        """Nothing to search: too few detours, or too short a time."""
        return len(self._start) < FEWEST_EVENTS or self._to <= self._from

    def level(self) -> float:
        """Power over the background that chance reaches anywhere with `FALSE_ALARM`."""
        return math.log(self.trials / FALSE_ALARM)

    def power(self, weight: Floats, band: tuple[float, float] = (0.0, math.inf)) -> Floats:
        """Power at each frequency of the grid, over the local background.

        Parameters
        ----------
        weight : float64[n]
            Weight of every detour of the trace, 0 to 1.
        band : (float, float)
            Lengths that take part, ns.

        Returns
        -------
        float64[m]
            Zero outside the frequencies that are searched.
        """
        own = weight[self.inside] * self._in_band(band)
        mass, squares = float(own.sum()), float(np.dot(own, own))
        whitened = np.zeros(len(self.frequency))
        if mass < FEWEST_EVENTS or squares == 0:
            return whitened
        counts = np.bincount(self._place, weights=own, minlength=self._bins)
        # What a process without memory would show in these windows is taken off.
        counts -= self._exposure * (mass / self._exposure.sum())
        raw = np.abs(fft.rfft(counts, self._size)) ** 2 / squares
        part = slice(self._from, self._to)
        whitened[part] = raw[part] / _local_level(raw[part])
        return whitened

    def strongest(self, weight: Floats) -> Line | None:
        """Find the strongest line of all bands, folded onto its fundamental.

        Parameters
        ----------
        weight : float64[n]
            What earlier families have left of every detour of the trace, 0 to 1.

        Returns
        -------
        Line or None
            None if chance explains all.
        """
        best, found = self.level(), None
        for band in self.bands:
            power = self.power(weight, band)
            place = int(np.argmax(power))
            if power[place] > best:
                best, found = float(power[place]), (band, power, place)
        if found is None:
            return None
        band, power, place = found
        frequency = self._refine(weight, band, self._fold(power, place))
        chance = min(1.0, self.trials * math.exp(-best))
        return Line(frequency, best, chance, band)

    def _fold(self, power: Floats, place: int) -> float:
        """Frequency of the lowest line that this one is a multiple of."""
        chosen = float(self.frequency[place])
        needed = max(math.log(MOST_FOLDS / FALSE_ALARM) + 3, FOLD_POWER * float(power[place]))
        for fold in range(2, MOST_FOLDS + 1):
            middle = round(place / fold)
            if middle < self._from + 1:
                break
            near = slice(middle - 1, middle + 2)
            if power[near].max() >= needed:
                chosen = float(self.frequency[middle - 1 + int(np.argmax(power[near]))])
        return chosen

    def _refine(self, weight: Floats, band: tuple[float, float], frequency: float) -> float:
        """Climb to the top of a line with exact times, then of its 2nd, 4th, 8th ... multiple.

        The multiple h pins the frequency h times as sharply, as long as the jitter is small against
        its period, which shows in its power.
        """
        own = weight[self.inside] * self._in_band(band)
        used = own > 0
        start, mass = self._start[used], own[used]
        reach = 1 / (self._size * self._width)
        top, power = self._climb(start, mass, frequency, 1.5 * reach)
        multiple = 2
        while multiple <= HIGHEST_MULTIPLE:
            near, height = self._climb(start, mass, multiple * top, 0.5 * reach)
            if height < MULTIPLE_POWER * power:
                break
            top = near / multiple
            multiple *= 2
        return top

    def _climb(
        self, start: Floats, mass: Floats, frequency: float, reach: float
    ) -> tuple[float, float]:
        """Highest point of the exact power within reach of a frequency, and its height."""
        observed = float((self._windows[:, 1] - self._windows[:, 0]).sum())
        rate = float(mass.sum()) / observed

        def power(at: float) -> float:
            turn = -2j * np.pi * at
            gaps = np.exp(turn * self._windows)
            even = rate * complex((gaps[:, 1] - gaps[:, 0]).sum()) / turn
            return float(abs(complex(np.dot(mass, np.exp(turn * start))) - even) ** 2)

        grid = frequency + np.linspace(-1, 1, 13) * reach
        top = float(grid[np.argmax([power(float(at)) for at in grid])])
        bounds = (top - reach / 6, top + reach / 6)
        climbed = minimize_scalar(
            lambda at: -power(at), bounds=bounds, method="bounded", options={"xatol": reach * 1e-3}
        )
        return float(climbed.x), -float(climbed.fun)

    def harmonics(self, power: Floats, frequency: float, most: int = 8) -> tuple[int, ...]:
        """Multiples of a frequency at which a spectrum has a line too."""
        step = self.frequency[1]
        needed = math.log(3 * most / FALSE_ALARM)
        found = []
        for multiple in range(1, most + 1):
            place = round(multiple * frequency / step)
            if place + 2 > self._to:
                break
            if power[max(place - 1, 0) : place + 2].max() >= needed:
                found.append(multiple)
        return tuple(found)


def _covered(edges: Floats, start: Floats, length: Floats) -> Floats:
    """Time in each interval that lies inside ascending stretches, shared out exactly."""
    knots = np.maximum.accumulate(np.stack([start, start + length], axis=1).ravel())
    until = np.cumsum(length)
    covered = np.stack([until - length, until], axis=1).ravel()
    return np.asarray(np.diff(np.interp(edges, knots, covered, left=0.0)))


def _local_level(power: Floats) -> Floats:
    """Local mean of the background: median over blocks that widen with frequency, over ln 2."""
    edges = [0]
    width = 32
    while edges[-1] < len(power):
        edges.append(min(len(power), edges[-1] + width))
        width = min(512, 2 * width)
    if len(edges) > 2 and edges[-1] - edges[-2] < width // 2:
        edges.pop(-2)
    middles, levels = [], []
    for low, high in pairwise(edges):
        middles.append((low + high - 1) / 2)
        levels.append(float(np.median(power[low:high])) / math.log(2))
    level = np.interp(np.arange(len(power)), middles, levels)
    # A regular process has less than chance; its lines must not be raised for that.
    return np.maximum(level, 1.0)
