"""Periods of the detours: which of them come like clockwork, and what is left.

Answers: period, phase, jitter, lengths and share of the elapsed time of each periodic family
(kernel tick, host tick, a thread that wakes every 50 ms), found against chance with a stated false
alarm; what remains. Does not say which code runs in a family: a period is only a hint.

Place on the way of the data: inference; starts and lengths in ns in, frozen dataclasses out.

How it works
------------
The starts are a point process. In several bands of length (so that a rare long family is not
drowned by a frequent short one), its power at every frequency comes from an FFT of binned starts;
the strongest line that beats chance in all bands and frequencies together is folded onto its
fundamental, its period refined with the exact times, and each detour gets a probability of
belonging to it (`tare.noise.phase`). Then it is taken out by that probability, and the search
starts anew. Observation may have gaps (windows): what the gaps alone would show is subtracted.

References
----------
Bartlett 1963, "The spectral analysis of point processes", JRSS B 25 (periodogram of starts; its
ordinates are exponential for a Poisson process).
Hogbom 1974, "Aperture synthesis with a non-regular distribution of interferometer baselines",
Astronomy & Astrophysics Suppl. 15 (CLEAN: name the strongest line, subtract, search again).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tare.noise.phase import PhaseFit, circular, fit_family
from tare.noise.spectrum import (
    FEWEST_EVENTS,
    SEARCHED_NS,
    SHORTEST_PERIOD_NS,
    Line,
    LineSearch,
)

Floats = NDArray[np.float64]

MOST_FAMILIES = 12
"""Families that are named before the search gives up."""

MOST_ROUNDS = 24
"""Lines that are taken out in all; several may turn out to be of one family."""

SLOTS_PER_PERIOD = 2.2
"""Slots or quanta that a period must hold at least: two, by Nyquist, and a margin."""

SAME_PHASE = 0.1
"""Two lines of one period are one family if their phases are nearer than this, in periods."""

COMMON_HZ = (100, 250, 300, 1000)
"""Timer frequencies that kernels are built with (Linux: kernel/Kconfig.hz)."""

NAME_TOLERANCE = 2e-3
"""Relative distance at which a frequency is called by a timer's name."""

MOST_TICKS = 10
"""'every k-th tick' is a name up to this k."""


@dataclass(frozen=True)
class PeriodFamily:
    """Detours that come at regular intervals.

    Attributes
    ----------
    name : str
        `timer tick 250 Hz`, or only the period if no timer fits.
    period_ns : float
        Distance of the planned starts, ns.
    period_error_ns : float
        Standard deviation of `period_ns`, ns.
    frequency_hz : float
        1e9 / `period_ns`.
    phase_ns : float
        Mean start after the origin of the time axis, modulo the period, ns.
    jitter_ns : float
        Standard deviation of a start around its plan, ns.
    events : float
        Detours of the family: sum of the probabilities of membership.
    present_share : float
        The same over the observed number of periods.
    share : float
        Time that they took, over the observed time.
    length_mean_ns, length_median_ns, length_p95_ns, length_max_ns : float
        Of the members, ns.
    power : float
        Power of the line, in units of the background's mean.
    false_alarm : float
        Probability of a line as strong anywhere by chance.
    band_ns : tuple of float
        Lengths in which the line was found, ns.
    harmonics : tuple of int
        Multiples of the fundamental that show a line too, up to 8.
    members : int64[m]
        Indices of the detours that belong to it with probability above 0.5.
    """

    name: str
    period_ns: float
    period_error_ns: float
    frequency_hz: float
    phase_ns: float
    jitter_ns: float
    events: float
    present_share: float
    share: float
    length_mean_ns: float
    length_median_ns: float
    length_p95_ns: float
    length_max_ns: float
    power: float
    false_alarm: float
    band_ns: tuple[float, float]
    harmonics: tuple[int, ...]
    members: NDArray[np.int64] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Spectrum:
    """Power of the starts at each frequency, over the background's mean.

    Attributes
    ----------
    frequency_hz : float64[m]
    power : float64[m]
        All detours, before any family is taken out.
    power_left : float64[m]
        What is left after the families.
    level : float
        Power that chance reaches anywhere with probability `tare.noise.spectrum.FALSE_ALARM`.
    trials : float
        Frequencies times bands that were looked at.
    """

    frequency_hz: Floats = field(repr=False, compare=False)
    power: Floats = field(repr=False, compare=False)
    power_left: Floats = field(repr=False, compare=False)
    level: float
    trials: float


@dataclass(frozen=True)
class Periods:
    """All periodic families of one trace and what is left.

    Attributes
    ----------
    families : tuple of PeriodFamily
        By share, largest first.
    events : int
        Detours in all.
    left_events : float
        Detours of no family.
    share, left_share : float
        Time of all detours, and of those of no family, over the observed time.
    observed_ns : float
        Observed time, gaps left out, ns.
    spectrum : Spectrum or None
        None if there were too few detours to search.
    why : str or None
        Why nothing was searched, or only a part.
    """

    families: tuple[PeriodFamily, ...]
    events: int
    left_events: float
    share: float
    left_share: float
    observed_ns: float
    spectrum: Spectrum | None
    why: str | None


def find_periods(
    start_ns: Floats,
    length_ns: Floats,
    windows_ns: Sequence[tuple[float, float]],
    *,
    timer_hz: float | None = None,
    virtual: bool = False,
    resolution_ns: float = 0.0,
) -> Periods:
    """Find the periodic families among detours.

    Parameters
    ----------
    start_ns : float64[n]
        Starts, ascending, ns on any time axis.
    length_ns : float64[n]
        Lengths, ns, above 0.
    windows_ns : sequence of (float, float)
        Start and end of each stretch that was observed, ns on the same axis, ascending.
    timer_hz : float or None
        The kernel's timer frequency, Hz, to name families; None if unknown.
    virtual : bool
        Does a hypervisor run beneath? Then a line at another timer's frequency may be the host's.
    resolution_ns : float
        How exactly a start is known, ns: the length of a quantum or slot for FWQ and FTQ. Periods
        shorter than 2.2 of it are not looked for.

    Returns
    -------
    Periods

    Raises
    ------
    ValueError
        If starts and lengths do not match, or there are no windows.
    """
    windows = np.asarray(windows_ns, dtype=np.float64).reshape(-1, 2)
    if len(start_ns) != len(length_ns) or not len(windows):
        msg = "starts and lengths must be as many, and there must be a window"
        raise ValueError(msg)
    observed = float((windows[:, 1] - windows[:, 0]).sum())
    start = np.asarray(start_ns, dtype=np.float64) - windows[0, 0]
    length = np.asarray(length_ns, dtype=np.float64)
    n, share = len(start), float(length.sum()) / observed
    shortest = max(SHORTEST_PERIOD_NS, SLOTS_PER_PERIOD * resolution_ns)
    search = LineSearch(start, length, windows - windows[0, 0], shortest)
    if search.empty:
        why = f"{n} detours in {observed * 1e-9:.3g} s are too few for a period"
        return Periods((), n, float(n), share, share, observed, None, why)
    drafts, left = _take_out(start, length, search, resolution_ns)
    before = search.power(np.ones(n))
    families = [
        _describe(
            draft,
            start,
            length,
            observed_ns=observed,
            name=name_period(draft.frequency * 1e9, timer_hz, virtual),
            harmonics=search.harmonics(before, draft.frequency),
        )
        for draft in drafts
    ]
    families.sort(key=lambda family: -family.share)
    spectrum = Spectrum(
        search.frequency * 1e9, before, search.power(left), search.level(), float(search.trials)
    )
    note: str | None = None
    if not search.inside.all():
        note = f"lines were looked for in the middle {SEARCHED_NS * 1e-9:.0f} s of the trace"
    return Periods(
        tuple(families),
        n,
        float(left.sum()),
        share,
        float(np.dot(left, length)) / observed,
        observed,
        spectrum,
        note,
    )


@dataclass
class _Draft:
    """A family in the making: its strongest line's fit, and how much of each detour is its own."""

    frequency: float
    frequency_error: float
    phase: float
    line: Line
    taken: Floats


def _take_out(
    start: Floats, length: Floats, search: LineSearch, resolution_ns: float
) -> tuple[list[_Draft], Floats]:
    """Name the strongest line, take its members out by their probability, and search again."""
    left = np.ones(len(start))
    drafts: list[_Draft] = []
    for _ in range(MOST_ROUNDS):
        line = search.strongest(left)
        if line is None:
            break
        fit = fit_family(
            start, length, left,
            frequency=line.frequency, band_ns=line.band_ns, searched=search.searched,
        )  # fmt: skip
        taken = left * fit.member
        if taken.sum() < FEWEST_EVENTS / 2:
            break
        # Rounding must not leave a weight below 0.
        left = np.maximum(left - taken, 0.0)
        same = _same_family(drafts, fit, start, resolution_ns)
        if same is not None:
            same.taken = same.taken + taken
        elif len(drafts) < MOST_FAMILIES:
            drafts.append(_Draft(fit.frequency, fit.frequency_error, fit.phase, line, taken))
        else:
            left = left + taken
            break
    return drafts, left


def _same_family(
    drafts: list[_Draft], fit: PhaseFit, start: Floats, resolution_ns: float
) -> _Draft | None:
    """Find the family whose leftover a line is: same period, nearly the same phase."""
    span = float(start[-1] - start[0])
    for draft in drafts:
        # Starts known only to a slot lie in two neighbouring ones, and beat between them.
        blur = resolution_ns * draft.frequency
        if abs(draft.frequency - fit.frequency) * span > 0.5 + blur:
            continue
        # Phases are compared in the middle of the trace, where both fits are best.
        middle = (start[0] + start[-1]) / 2
        turn = middle * (draft.frequency - fit.frequency)
        apart = circular(np.array([draft.phase - fit.phase - turn]))[0]
        if abs(apart) < SAME_PHASE + blur:
            return draft
    return None


def _describe(
    draft: _Draft,
    start: Floats,
    length: Floats,
    *,
    observed_ns: float,
    name: str,
    harmonics: tuple[int, ...],
) -> PeriodFamily:
    """Sum up the detours that were taken out as one family."""
    period = 1 / draft.frequency
    taken = draft.taken
    events = float(taken.sum())
    distance = circular(start * draft.frequency - draft.phase)
    shift = float(np.dot(taken, distance)) / events
    jitter = float(np.sqrt(np.dot(taken, (distance - shift) ** 2) / events))
    stolen = float(np.dot(taken, length))
    members = np.flatnonzero(taken > 0.5)
    of = length[members] if len(members) else length[taken > 0]
    median, p95 = np.quantile(of, [0.5, 0.95])
    return PeriodFamily(
        name=name,
        period_ns=period,
        period_error_ns=draft.frequency_error * period**2,
        frequency_hz=draft.frequency * 1e9,
        phase_ns=float((draft.phase + shift) % 1.0) * period,
        jitter_ns=jitter * period,
        events=events,
        present_share=events * period / observed_ns,
        share=stolen / observed_ns,
        length_mean_ns=stolen / events,
        length_median_ns=float(median),
        length_p95_ns=float(p95),
        length_max_ns=float(of.max()),
        power=draft.line.power,
        false_alarm=draft.line.false_alarm,
        band_ns=draft.line.band_ns,
        harmonics=harmonics,
        members=members,
    )


def _near(value: float, target: float) -> bool:
    return abs(value / target - 1) < NAME_TOLERANCE


def name_period(frequency_hz: float, timer_hz: float | None, virtual: bool = False) -> str:
    """Name a period by the timer that it fits, else by itself.

    Parameters
    ----------
    frequency_hz : float
        Frequency, Hz, above 0.
    timer_hz : float or None
        The kernel's timer frequency, Hz; None if unknown.
    virtual : bool
        Does a hypervisor run beneath?

    Returns
    -------
    str
        `timer tick 250 Hz`, `every 5th tick of 250 Hz`, `100 Hz, a host's timer tick?`,
        `every 50 ms`. Only a hint: other things may keep the same period.
    """
    if timer_hz:
        if _near(frequency_hz, timer_hz):
            return f"timer tick {timer_hz:g} Hz"
        ticks = round(timer_hz / frequency_hz)
        if 2 <= ticks <= MOST_TICKS and _near(frequency_hz * ticks, timer_hz):
            ending = {2: "nd", 3: "rd"}.get(ticks, "th")
            return f"every {ticks}{ending} tick of {timer_hz:g} Hz"
    for hertz in COMMON_HZ:
        if _near(frequency_hz, hertz):
            whose = "a host's timer tick?" if virtual else "a timer tick?"
            return f"{hertz} Hz, {whose}"
    return f"every {1e3 / frequency_hz:.4g} ms"
