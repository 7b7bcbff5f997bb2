"""What the analysis of a noise recording hands to the views: frozen dataclasses, no behaviour.

Place on the way of the data: between inference (`tare.noise.analysis` fills them) and showing
(`tare.noise.view` draws them). All times are ns. The time axis of a recording begins at the
earliest first reading of its traces and is common to all CPUs. Unknown is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tare.noise.cutoffs import Cutoff
from tare.noise.fraction import Expectation, FractionEstimate
from tare.noise.periods import Periods
from tare.noise.tally import Tally
from tare.stats import Moments, QuantileInterval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class DetourList:
    """The detours of one trace, in order of time.

    Attributes
    ----------
    start_ns : float64[n]
        On the time axis of the recording.
    length_ns : float64[n]
        Without the floor. FTQ: work missing from a slot, as time.
    lost : int
        Detours that are counted but not listed.
    lost_ns : float
        Their summed length, ns.
    """

    start_ns: Floats = field(repr=False)
    length_ns: Floats = field(repr=False)
    lost: int
    lost_ns: float


@dataclass(frozen=True)
class HeatMap:
    """Time against length: how many deltas of which length in which interval.

    Attributes
    ----------
    time_edges_ns : float64[t + 1]
        On the time axis of the recording.
    length_edges_ns : float64[b + 1]
        Of the deltas, floor included.
    counts : int64[t, b]
    longest_start_ns, longest_ns : float64[m]
        Longest delta of each interval that has any.
    """

    time_edges_ns: Floats = field(repr=False)
    length_edges_ns: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    longest_start_ns: Floats = field(repr=False)
    longest_ns: Floats = field(repr=False)


@dataclass(frozen=True)
class LengthSummary:
    """Lengths of the detours of one trace.

    Attributes
    ----------
    n : int
        Detours in the list.
    mean_ns : float
    quantiles : tuple of QuantileInterval
        0.5, 0.9, 0.99, 0.999 as far as there are samples; each with its interval.
    longest_ns : float
    longest_start_ns : float
        On the time axis of the recording.
    """

    n: int
    mean_ns: float
    quantiles: tuple[QuantileInterval, ...]
    longest_ns: float
    longest_start_ns: float


@dataclass(frozen=True)
class Samples:
    """Every sample of a loop that keeps all of them (timestamps, FWQ, FTQ).

    Attributes
    ----------
    tally : Tally
        Deltas or durations in ns; FTQ: missing work as time.
    raw : Moments
        Of all samples.
    clean : Moments
        Of those up to the chosen cut-off.
    medcouple : float
    cutoffs : tuple of Cutoff
        Every rule, ns.
    """

    tally: Tally = field(repr=False)
    raw: Moments
    clean: Moments
    medcouple: float
    cutoffs: tuple[Cutoff, ...]


@dataclass(frozen=True)
class ThreadUsage:
    """What the OS counted for the measuring thread inside the window; None if it does not tell."""

    page_faults_minor: int | None
    page_faults_major: int | None
    switches_voluntary: int | None
    switches_involuntary: int | None
    cpu_time_ns: int | None


@dataclass(frozen=True)
class TraceAnalysis:
    """One measurement: one loop on one CPU, once; its windows joined.

    Attributes
    ----------
    loop : str
        `timestamps`, `selfish`, `fwq` or `ftq`.
    cpu, repetition : int
    memory_state : str or None
    quantum_ns : int or None
        FWQ: length aimed at; FTQ: length of a slot.
    trace_ids : tuple of int
        Rows of `traces` that belong together (windows).
    windows_ns : tuple of (float, float)
        Start and end of each on the time axis of the recording.
    observed_ns : float
        Their summed length.
    start_skew_ns : float or None
        First reading after the earliest CPU of the group, the largest of the windows.
    samples : int
    floor_ns : float or None
        Usual length of one undisturbed iteration; None for FTQ.
    step_ns : float
        Step of the counter.
    threshold_ns : float or None
        Smallest gap that counts as a detour (selfish, timestamps; floor included); FWQ: longest
        undisturbed quantum; FTQ: most time missing from an undisturbed slot.
    cutoff : Cutoff or None
        The chosen (automatic) one; None for selfish, which keeps only detours.
    kept : Samples or None
        None for selfish.
    detours : DetourList
    lengths : LengthSummary or None
        None without detours.
    rate_per_s : float
        Detours in a second, lost ones included.
    rate_low_per_s, rate_high_per_s : float or None
        Interval at 0.95.
    fraction : FractionEstimate
        The answer. Timestamps and selfish: against the floor; FWQ and FTQ: against the minimum.
    fraction_mode : FractionEstimate or None
        FWQ and FTQ: against the mode.
    expected_longest : tuple of (float, Expectation)
        Window in ns and the longest detour to expect in it.
    periods : Periods
    heat : HeatMap or None
        Timestamps only.
    usage : ThreadUsage
    lost_records, wrapped_deltas : int
    doubts : tuple of str
        What makes this trace doubtful, in words.
    """

    loop: str
    cpu: int
    repetition: int
    memory_state: str | None
    quantum_ns: int | None
    trace_ids: tuple[int, ...]
    windows_ns: tuple[tuple[float, float], ...]
    observed_ns: float
    start_skew_ns: float | None
    samples: int
    floor_ns: float | None
    step_ns: float
    threshold_ns: float | None
    cutoff: Cutoff | None
    kept: Samples | None
    detours: DetourList
    lengths: LengthSummary | None
    rate_per_s: float
    rate_low_per_s: float | None
    rate_high_per_s: float | None
    fraction: FractionEstimate
    fraction_mode: FractionEstimate | None
    expected_longest: tuple[tuple[float, Expectation], ...]
    periods: Periods
    heat: HeatMap | None
    usage: ThreadUsage
    lost_records: int
    wrapped_deltas: int
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class GroupSummary:
    """Repetitions of one loop on one CPU, all memory states together.

    Attributes
    ----------
    loop : str
    cpu : int
    quantum_ns : int or None
    traces : int
    observed_ns : float
    fraction : float
        Stolen over observed time of all repetitions.
    fraction_low, fraction_high : float or None
        Interval at 0.95: between repetitions from three on, else that of the only or longest trace.
    rate_per_s : float
    threshold_low_ns, threshold_high_ns : float or None
        Smallest and largest threshold among the repetitions.
    longest_ns : float or None
        Longest detour of all; None if there was none.
    """

    loop: str
    cpu: int
    quantum_ns: int | None
    traces: int
    observed_ns: float
    fraction: float
    fraction_low: float | None
    fraction_high: float | None
    rate_per_s: float
    threshold_low_ns: float | None
    threshold_high_ns: float | None
    longest_ns: float | None


@dataclass(frozen=True)
class NoiseAnalysis:
    """Everything that a noise recording says.

    Attributes
    ----------
    traces : tuple of TraceAnalysis
        In order of start.
    groups : tuple of GroupSummary
        By loop and CPU, in order of first start.
    span_ns : float
        From the first reading of all traces to the last.
    """

    traces: tuple[TraceAnalysis, ...]
    groups: tuple[GroupSummary, ...]
    span_ns: float
