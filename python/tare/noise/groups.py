"""Sum up repetitions, and the study's table 1: what belongs to no single trace.

Answers: noise fraction of one loop on one CPU over all repetitions, with the interval between them;
mean skewness and kurtosis over traces, raw and cleaned by each rule. Does not analyse a trace.

Place on the way of the data: last step of inference.

References
----------
Rehn, Hamilton & Holdsworth 2014, table 1 (means over traces: 25.35 -> 0.34 and 989.32 -> 6.05).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from tare import stats
from tare.noise.cutoffs import RULES, Data, as_tally
from tare.noise.results import GroupSummary, TraceAnalysis

FEWEST_REPETITIONS = 3
"""Repetitions from which the spread between them gives the interval."""


def summarise(traces: Sequence[TraceAnalysis]) -> tuple[GroupSummary, ...]:
    """Sum up the traces of each loop, CPU and quantum.

    Parameters
    ----------
    traces : sequence of TraceAnalysis

    Returns
    -------
    tuple of GroupSummary
        In order of first appearance.
    """
    grouped: dict[tuple[str, int, int | None], list[TraceAnalysis]] = {}
    for trace in traces:
        grouped.setdefault((trace.loop, trace.cpu, trace.quantum_ns), []).append(trace)
    return tuple(_summary(members) for members in grouped.values())


def _summary(traces: list[TraceAnalysis]) -> GroupSummary:
    elapsed = sum(trace.fraction.elapsed_ns for trace in traces)
    fraction = sum(trace.fraction.stolen_ns for trace in traces) / elapsed
    low, high = _between(traces, fraction)
    observed = sum(trace.observed_ns for trace in traces)
    detours = sum(trace.rate_per_s * trace.observed_ns for trace in traces)
    thresholds = [trace.threshold_ns for trace in traces if trace.threshold_ns is not None]
    longest = [trace.lengths.longest_ns for trace in traces if trace.lengths is not None]
    first = traces[0]
    return GroupSummary(
        first.loop,
        first.cpu,
        first.quantum_ns,
        len(traces),
        observed,
        fraction,
        low,
        high,
        detours / observed,
        min(thresholds, default=None),
        max(thresholds, default=None),
        max(longest, default=None),
    )


def _between(traces: list[TraceAnalysis], fraction: float) -> tuple[float | None, float | None]:
    """Interval between repetitions, weighted by their time; of one trace, its own."""
    if len(traces) < FEWEST_REPETITIONS:
        longest = max(traces, key=lambda trace: trace.observed_ns).fraction
        return (longest.low, longest.high) if len(traces) == 1 else (None, None)
    # Ratio estimator: Cochran 1977, Sampling Techniques, equation 6.13.
    stolen = np.array([trace.fraction.stolen_ns for trace in traces])
    elapsed = np.array([trace.fraction.elapsed_ns for trace in traces])
    n = len(traces)
    rest = stolen - fraction * elapsed
    error = math.sqrt(float(np.dot(rest, rest)) / (n * (n - 1))) / float(elapsed.mean())
    half = float(student.ppf(0.975, n - 1)) * error
    return max(0.0, fraction - half), min(1.0, fraction + half)


@dataclass(frozen=True)
class MomentRow:
    """Means over traces of skewness and kurtosis.

    Attributes
    ----------
    rule : str
        `raw`, or the rule that cleaned the traces.
    traces : int
        Traces in the means.
    undefined : int
        Traces left out: constant after cleaning, so that they have neither.
    mean_skewness, mean_kurtosis : float or None
        Kurtosis is not the excess: 3 for a normal distribution. None if no trace has any.
    removed_share : float
        Samples removed, over all samples of all traces.
    """

    rule: str
    traces: int
    undefined: int
    mean_skewness: float | None
    mean_kurtosis: float | None
    removed_share: float


def moment_table(traces: Iterable[Data]) -> tuple[MomentRow, ...]:
    """Recompute table 1 of Rehn et al. for any traces, with every rule.

    Parameters
    ----------
    traces : iterable of Tally or array_like[n]
        One to each trace; read once.

    Returns
    -------
    tuple of MomentRow
        `raw` first, then the rules in the order of `tare.noise.cutoffs.RULES`.

    Notes
    -----
    The paper does not say which estimators it used; these are the population ones, g1 = m3/m2^1.5
    and b2 = m4/m2^2. For 10 000 samples the others differ by less than one part in a thousand.
    """
    found: dict[str, list[tuple[float | None, float | None]]] = {"raw": []}
    removed: dict[str, int] = {"raw": 0}
    samples = 0
    for data in traces:
        tally = as_tally(data)
        samples += tally.n
        raw = stats.moments(tally)
        found["raw"].append((raw.skewness_population, raw.kurtosis_population))
        for name, rule in RULES.items():
            cutoff = rule(tally)
            kept, _ = tally.split(cutoff.value)
            clean = stats.moments(tally if kept is None else kept)
            pair = (clean.skewness_population, clean.kurtosis_population)
            found.setdefault(name, []).append(pair)
            removed[name] = removed.get(name, 0) + cutoff.removed
    return tuple(
        _moment_row(name, pairs, removed[name] / max(samples, 1)) for name, pairs in found.items()
    )


def _moment_row(
    name: str, pairs: list[tuple[float | None, float | None]], removed_share: float
) -> MomentRow:
    known = [(s, k) for s, k in pairs if s is not None and k is not None]
    undefined = len(pairs) - len(known)
    if not known:
        return MomentRow(name, 0, undefined, None, None, removed_share)
    skewness, kurtosis = np.mean(known, axis=0)
    return MomentRow(name, len(known), undefined, float(skewness), float(kurtosis), removed_share)
