"""The noise fraction: how much of the elapsed time was taken from the program.

Answers: stolen time over elapsed time for each kind of loop, what was lost included, with an
interval that allows for periodic and clumped detours; how long the longest detour of a window is
to be expected; what the slowest of many processes loses. Does not say who took the time, and does
not look beyond what was observed: a window longer than a tenth of the trace has no answer.

Place on the way of the data: inference; times in ns in, frozen dataclasses out.

References
----------
Beckman et al. 2006, CLUSTER (selfish detour); Petrini, Kerbyson & Pakin 2003, SC'03 (FWQ against
its shortest quantum); Sottile & Minnich 2004, CLUSTER (FTQ, missing work).
Law & Carson 1979, "A sequential procedure for determining the length of a steady-state
simulation", Operations Research 27(5) (batch means, batches joined until they are uncorrelated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from tare.noise.tally import Tally, find_mode

Floats = NDArray[np.float64]

MOST_BLOCKS = 64
"""Blocks to begin with; joined two by two while neighbours are correlated."""

FEWEST_BLOCKS = 8
"""Blocks below which joining stops: Student's t with 7 degrees of freedom is still useful."""

FEWEST_EVENTS = 5
"""Detours below which the spread between blocks says nothing."""


@dataclass(frozen=True)
class FractionEstimate:
    """Noise fraction of one trace.

    Attributes
    ----------
    value : float
        Stolen time over elapsed time, 0 to 1 (FWQ and FTQ against the mode may be just below 0).
    low, high : float or None
        Interval at `confidence`; None if it cannot be had, `why` says why.
    confidence : float
        Of the interval, e.g. 0.95.
    stolen_ns, elapsed_ns : float
        Numerator and denominator, ns; lost records are in both.
    lost_ns : float
        Part of `stolen_ns` that is known by its sum alone (records that did not fit, or wrapped).
    blocks : int or None
        Time blocks behind the interval.
    reference : str
        What was taken as undisturbed: `floor`, `minimum` or `mode`.
    why : str or None
        What is missing or doubtful.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    stolen_ns: float
    elapsed_ns: float
    lost_ns: float
    blocks: int | None
    reference: str
    why: str | None


@dataclass(frozen=True)
class Expectation:
    """An expected value with its interval.

    Attributes
    ----------
    value : float or None
        None if too little was observed; `why` says so.
    low, high : float or None
        Interval at 0.95.
    n : int
        Windows or blocks behind it.
    why : str or None
        What is missing.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str | None


def stolen_per_block(start_ns: Floats, length_ns: Floats, elapsed_ns: float, blocks: int) -> Floats:
    """Stolen time in equal blocks of the elapsed time; a long detour is shared out exactly.

    Parameters
    ----------
    start_ns : float64[n]
        Starts from the start of the trace, ascending, none before the end of the one before.
    length_ns : float64[n]
        Lengths without the floor, ns.
    elapsed_ns : float
        Length of the trace, ns, above 0.
    blocks : int
        How many.

    Returns
    -------
    float64[blocks]
        Sum in each, ns.
    """
    if not len(start_ns):
        return np.zeros(blocks)
    knots = np.stack([start_ns, start_ns + length_ns], axis=1).ravel()
    until = np.cumsum(length_ns)
    taken = np.stack([until - length_ns, until], axis=1).ravel()
    # Rounding of ticks to ns may put an end a hair past the next start.
    edges = np.linspace(0.0, elapsed_ns, blocks + 1)
    edges[-1] = max(elapsed_ns, float(knots[-1]))
    return np.diff(np.interp(edges, np.maximum.accumulate(knots), taken, left=0.0))


def batch_means(block_means: Floats, confidence: float = 0.95) -> tuple[float, float, int]:
    """Interval of a mean over time from the means of successive equal blocks.

    Blocks are joined two by two while neighbours are correlated: clumps and slow changes widen the
    interval as they must, and what comes like clockwork narrows it.

    Parameters
    ----------
    block_means : float64[n]
        Mean of each block, in order of time; n at least 8.
    confidence : float
        Probability of covering, between 0 and 1.

    Returns
    -------
    low, high : float
        The interval, unit of the means.
    blocks : int
        Blocks after joining.

    References
    ----------
    Law & Carson 1979; the correlation of neighbours is tested at 5 %, two-sided.
    """
    means = np.asarray(block_means, dtype=np.float64)
    while len(means) >= 2 * FEWEST_BLOCKS and _correlated(means):
        even = len(means) // 2 * 2
        means = means[:even].reshape(-1, 2).mean(axis=1)
    n = len(means)
    error = float(means.std(ddof=1)) / math.sqrt(n)
    half = float(student.ppf(0.5 + confidence / 2, n - 1)) * error
    centre = float(np.mean(block_means))
    return centre - half, centre + half, n


def _correlated(means: Floats) -> bool:
    centred = means - means.mean()
    total = float(np.dot(centred, centred))
    if total == 0:
        return False
    first = float(np.dot(centred[1:], centred[:-1])) / total
    # Both ways: clumps make neighbours alike, a period that does not divide the block unlike.
    return abs(first) > 1.96 / math.sqrt(len(means))


def detour_fraction(
    start_ns: Floats,
    length_ns: Floats,
    elapsed_ns: float,
    *,
    lost_ns: float = 0.0,
    confidence: float = 0.95,
) -> FractionEstimate:
    """Noise fraction from a list of detours (selfish, or deltas above a cut-off).

    Parameters
    ----------
    start_ns : float64[n]
        Starts from the start of the trace, ascending, ns.
    length_ns : float64[n]
        Lengths without the floor, ns.
    elapsed_ns : float
        Length of the trace, ns, above 0.
    lost_ns : float
        Sum of the lengths (without the floor) of detours that are not in the list, ns. They were
        lost after the buffer had filled, so the interval spreads them over the time that remains
        after the last one in the list.
    confidence : float
        Of the interval.

    Returns
    -------
    FractionEstimate

    Raises
    ------
    ValueError
        If `elapsed_ns` is not above 0.
    """
    _need_time(elapsed_ns)
    stolen = float(length_ns.sum()) + lost_ns
    value = stolen / elapsed_ns
    base = (confidence, stolen, elapsed_ns, lost_ns)
    if len(start_ns) < FEWEST_EVENTS:
        why = f"{len(start_ns)} detours are too few for an interval"
        return FractionEstimate(value, None, None, *base, None, "floor", why)
    blocks = stolen_per_block(start_ns, length_ns, elapsed_ns, MOST_BLOCKS)
    note: str | None = None
    if lost_ns > 0:
        filled = float(start_ns[-1] + length_ns[-1])
        edges = np.linspace(0.0, elapsed_ns, MOST_BLOCKS + 1)
        blocks = blocks + lost_ns * np.diff(
            np.interp(edges, [min(filled, elapsed_ns * (1 - 1e-9)), elapsed_ns], [0.0, 1.0])
        )
        note = "detours were lost: their sum is counted in, their places are not known"
    low, high, used = batch_means(blocks / (elapsed_ns / MOST_BLOCKS), confidence)
    return FractionEstimate(value, max(0.0, low), min(1.0, high), *base, used, "floor", note)


def _need_time(elapsed_ns: float) -> None:
    if not elapsed_ns > 0:
        msg = f"the elapsed time must be above 0 ns, not {elapsed_ns}"
        raise ValueError(msg)


def fwq_fraction(
    duration_ns: Floats,
    *,
    reference: str = "minimum",
    step_ns: float | None = None,
    lost_ns: float = 0.0,
    confidence: float = 0.95,
) -> FractionEstimate:
    """Noise fraction from fixed work quanta, sum (T - T0) / sum T.

    Parameters
    ----------
    duration_ns : float64[n]
        Duration of each quantum in order of time, ns; n at least 1.
    reference : {'minimum', 'mode'}
        T0: the shortest quantum (right even where every quantum holds a tick, but a clock that
        once ran faster counts as noise) or the most usual one (blind to what hits every quantum).
    step_ns : float or None
        Step of the counter, ns, for the mode.
    lost_ns : float
        Sum of the durations of quanta that did not fit into the buffer; taken to be as noisy as
        the others.
    confidence : float
        Of the interval.

    Returns
    -------
    FractionEstimate

    Raises
    ------
    ValueError
        If there are no quanta or the reference is unknown.

    References
    ----------
    Petrini et al. 2003 (minimum).
    """
    tally = Tally.of(duration_ns)
    undisturbed = _reference(tally, reference, tally.minimum, step_ns)
    total = float(duration_ns.sum())
    value = 1.0 - undisturbed * len(duration_ns) / total
    elapsed = total + lost_ns
    low, high, blocks, why = _ratio_interval(
        duration_ns - undisturbed, duration_ns, value, confidence
    )
    if lost_ns > 0:
        why = "quanta were lost: taken to be as noisy as the others"
    lost_noise = value * lost_ns
    return FractionEstimate(
        value, low, high, confidence, value * elapsed, elapsed, lost_noise, blocks, reference, why
    )


def _reference(tally: Tally, reference: str, extreme: float, step: float | None) -> float:
    if reference == "mode":
        return find_mode(tally, step)
    if reference in ("minimum", "maximum"):
        return extreme
    msg = f"unknown reference {reference!r}: minimum or mode"
    raise ValueError(msg)


def ftq_fraction(
    work: NDArray[np.int64],
    slot_ns: float,
    *,
    reference: str = "minimum",
    confidence: float = 0.95,
) -> FractionEstimate:
    """Noise fraction from fixed time quanta: missing work over possible work.

    Parameters
    ----------
    work : int64[n]
        Units finished in each slot in order of time; n at least 1, not all 0.
    slot_ns : float
        Length of a slot, ns.
    reference : {'minimum', 'mode'}
        Work of an undisturbed slot: the most ever done (the minimum of noise), less the half unit
        by which a slot may borrow from its neighbour; or the most usual.
    confidence : float
        Of the interval.

    Returns
    -------
    FractionEstimate

    Raises
    ------
    ValueError
        If there are no slots, no work at all, or the reference is unknown.

    References
    ----------
    Sottile & Minnich 2004.
    """
    tally = Tally.of(work)
    if tally.maximum <= 0:
        msg = "no slot holds any work"
        raise ValueError(msg)
    # A unit that ends in a slot is counted whole there, so the most is half a unit too much.
    full = _reference(tally, reference, tally.maximum - 0.5 * (tally.maximum > 1), 1.0)
    missing = (full - np.asarray(work, dtype=np.float64)) / full
    value = float(missing.mean())
    elapsed = slot_ns * len(work)
    low, high, blocks, why = _ratio_interval(missing, np.ones(len(work)), value, confidence)
    return FractionEstimate(
        value, low, high, confidence, value * elapsed, elapsed, 0.0, blocks, reference, why
    )


def _ratio_interval(
    part: Floats, whole: Floats, value: float, confidence: float
) -> tuple[float | None, float | None, int | None, str | None]:
    """Interval of sum(part) / sum(whole) from blocks of successive samples."""
    blocks = min(MOST_BLOCKS, len(part) // 4)
    if blocks < FEWEST_BLOCKS:
        return None, None, None, f"{len(part)} samples are too few for an interval"
    edges = np.linspace(0, len(part), blocks + 1).astype(np.int64)[:-1]
    means = np.add.reduceat(part, edges) / np.add.reduceat(whole, edges)
    low, high, used = batch_means(means, confidence)
    shift = value - float(means.mean())
    return low + shift, min(1.0, high + shift), used, None


def expected_longest(
    start_ns: Floats, length_ns: Floats, elapsed_ns: float, window_ns: float
) -> Expectation:
    """Expected length of the longest detour in a window of time.

    Parameters
    ----------
    start_ns : float64[n]
        Starts from the start of the trace, ascending, ns.
    length_ns : float64[n]
        Lengths, ns.
    elapsed_ns : float
        Length of the trace, ns.
    window_ns : float
        Length of the window, ns; at most a tenth of the trace.

    Returns
    -------
    Expectation
        Mean over disjoint windows, ns; a window without detours counts as 0.
    """
    windows = int(elapsed_ns / window_ns)
    if windows < 10:
        why = f"the trace holds {windows} such windows, 10 are needed: measure for longer"
        return Expectation(None, None, None, windows, why)
    if not len(start_ns):
        return Expectation(0.0, None, None, windows, "no detours at all")
    # Only windows with a detour are held: there may be 10^9 of them.
    place = np.minimum((start_ns / window_ns).astype(np.int64), windows - 1)
    first = np.flatnonzero(np.diff(place, prepend=-1))
    longest = np.maximum.reduceat(length_ns, first)
    value = float(longest.sum()) / windows
    blocks = min(windows, MOST_BLOCKS)
    edges = np.linspace(0, windows, blocks + 1).astype(np.int64)
    block = np.searchsorted(edges, place[first], side="right") - 1
    means = np.bincount(block, weights=longest, minlength=blocks) / np.diff(edges)
    low, high, _ = batch_means(means)
    return Expectation(value, max(0.0, low), high, windows, None)


def expected_slowest(stolen_ns: Floats, processes: int) -> Expectation:
    """Expected time stolen from the unluckiest of many processes in one step.

    Parameters
    ----------
    stolen_ns : float64[n]
        Time stolen in each of n steps of one process, ns (`stolen_per_block`).
    processes : int
        Processes that wait for one another, independent of each other, at least 1.

    Returns
    -------
    Expectation
        sum_i x_(i) [(i/n)^N - ((i-1)/n)^N], ns. Beyond N = n / 10 it leans on the single worst
        step and is None.

    References
    ----------
    Petrini et al. 2003; Hoefler et al. 2010 (noise grows with the number of processes).
    """
    n = len(stolen_ns)
    if n < 10 * processes:
        why = f"{n} steps cannot stand for {processes} processes: 10 a process are needed"
        return Expectation(None, None, None, n, why)
    rank = np.arange(n + 1) / n
    weights = np.diff(rank**processes)
    ordered = np.sort(stolen_ns)
    value = float(np.dot(ordered, weights))
    # Spread of the maximum of N draws, over the n/N independent groups that were observed.
    spread = math.sqrt(max(0.0, float(np.dot(ordered**2, weights)) - value**2))
    half = 1.96 * spread / math.sqrt(n / processes)
    return Expectation(value, max(0.0, value - half), value + half, n, None)
