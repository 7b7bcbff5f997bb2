"""What the study computes from its traces: table 1, the medcouples, every cut-off, memory states.

Place on the way of the data: recording -> *inference* -> views. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tare import stats
from tare.noise.cutoffs import Cutoff, all_cutoffs
from tare.noise.groups import MomentRow, moment_table
from tare.noise.source import Source
from tare.noise.tally import Tally

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """One trace of the protocol.

    Attributes
    ----------
    cpu, repetition : int
    memory_state : str or None
    delta_ns : float64[n]
        In order of time.
    tally : Tally
        The same, counted.
    medcouple : float
    skewness : float or None
        Population skewness g1; None if the trace is constant.
    cutoffs : tuple of Cutoff
        Every rule, ns.
    """

    cpu: int
    repetition: int
    memory_state: str | None
    delta_ns: Floats = field(repr=False)
    tally: Tally = field(repr=False)
    medcouple: float
    skewness: float | None
    cutoffs: tuple[Cutoff, ...]

    def cutoff(self, rule: str) -> Cutoff:
        """Return the answer of one rule."""
        return next(cutoff for cutoff in self.cutoffs if cutoff.rule == rule)


@dataclass(frozen=True)
class RuleSummary:
    """One rule over all traces.

    Attributes
    ----------
    rule : str
    lowest_ns, median_ns, highest_ns : float
        Its cut-offs.
    removed_share : float
        Of all samples.
    suited : int
        Traces whose data meet what the rule takes for granted.
    traces : int
    """

    rule: str
    lowest_ns: float
    median_ns: float
    highest_ns: float
    removed_share: float
    suited: int
    traces: int


@dataclass(frozen=True)
class StateSummary:
    """One memory state over its traces; spans are lowest and highest of the traces.

    Attributes
    ----------
    memory_state : str
    traces : int
    median_delta_ns : float
        Median over the traces of their median delta.
    mean_skewness : float or None
        Of the raw traces that are not constant.
    rehn_ns, automatic_ns : float
        Median cut-off of both rules.
    longest_ns : float
        Longest delta of all traces.
    """

    memory_state: str
    traces: int
    median_delta_ns: float
    mean_skewness: float | None
    rehn_ns: float
    automatic_ns: float
    longest_ns: float


@dataclass(frozen=True)
class Study:
    """The whole rerun.

    Attributes
    ----------
    traces : tuple of Trace
    moments : tuple of MomentRow
        Table 1: raw first, then cleaned by each rule.
    rules : tuple of RuleSummary
    states : tuple of StateSummary
    lowest_medcouple, highest_medcouple : float
    exemplar : Trace
        The trace with the largest skewness: what figure 3 shows.
    largest_skew_ns : float or None
        Largest start skew between CPUs of one group; None on one CPU.
    """

    traces: tuple[Trace, ...] = field(repr=False)
    moments: tuple[MomentRow, ...]
    rules: tuple[RuleSummary, ...]
    states: tuple[StateSummary, ...]
    lowest_medcouple: float
    highest_medcouple: float
    exemplar: Trace
    largest_skew_ns: float | None

    def moment(self, rule: str) -> MomentRow:
        """Return the row of table 1 of one rule; `raw` for none."""
        return next(row for row in self.moments if row.rule == rule)


def analyse(sources: Sequence[Source]) -> Study:
    """Compute the study from recordings of its protocol.

    Parameters
    ----------
    sources : sequence of Source
        Of one host, with traces of the timestamps loop.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If there is no such trace.
    """
    traces = tuple(trace for source in sources for trace in _traces(source))
    if not traces:
        msg = "no trace of the timestamps loop: the protocol needs `--loop timestamps`"
        raise ValueError(msg)
    medcouples = [trace.medcouple for trace in traces]
    return Study(
        traces=traces,
        moments=moment_table(trace.tally for trace in traces),
        rules=tuple(_rule(traces, cutoff.rule) for cutoff in traces[0].cutoffs),
        states=tuple(_states(traces)),
        lowest_medcouple=min(medcouples),
        highest_medcouple=max(medcouples),
        exemplar=max(traces, key=lambda trace: trace.skewness or 0.0),
        largest_skew_ns=_largest_skew(sources),
    )


def _traces(source: Source) -> Iterable[Trace]:
    clock = source.manifest.clock
    ns_per_tick = 1e9 / clock.ticks_per_second
    rows = source.table("traces")
    deltas = source.table("deltas").partition_by("trace_id", as_dict=True)
    for row in rows.sort("trace_id").to_dicts():
        part = deltas.get((row["trace_id"],))
        if row["loop"] != "timestamps" or part is None:
            continue
        delta_ns = part["delta_ticks"].to_numpy().astype(np.float64) * ns_per_tick
        tally = Tally.of(delta_ns)
        yield Trace(
            cpu=row["cpu"],
            repetition=row["repetition"],
            memory_state=row["memory_state"],
            delta_ns=delta_ns,
            tally=tally,
            medcouple=stats.medcouple(tally),
            skewness=stats.moments(tally).skewness_population,
            cutoffs=all_cutoffs(tally, clock.step_ticks * ns_per_tick),
        )


def _largest_skew(sources: Sequence[Source]) -> float | None:
    known = [
        skew * 1e9 / source.manifest.clock.ticks_per_second
        for source in sources
        for skew in source.table("traces")["start_skew_ticks"].drop_nulls()
    ]
    return max(known, default=None)


def _rule(traces: Sequence[Trace], rule: str) -> RuleSummary:
    cutoffs = [trace.cutoff(rule) for trace in traces]
    values = [cutoff.value for cutoff in cutoffs]
    return RuleSummary(
        rule=rule,
        lowest_ns=min(values),
        median_ns=float(np.median(values)),
        highest_ns=max(values),
        removed_share=sum(c.removed for c in cutoffs) / sum(trace.tally.n for trace in traces),
        suited=sum(cutoff.suited for cutoff in cutoffs),
        traces=len(traces),
    )


def _states(traces: Sequence[Trace]) -> Iterable[StateSummary]:
    by_state: dict[str, list[Trace]] = {}
    for trace in traces:
        by_state.setdefault(trace.memory_state or "none", []).append(trace)
    for state, members in by_state.items():
        skewness = [trace.skewness for trace in members if trace.skewness is not None]
        yield StateSummary(
            memory_state=state,
            traces=len(members),
            median_delta_ns=float(np.median([trace.tally.quantile(0.5) for trace in members])),
            mean_skewness=float(np.mean(skewness)) if skewness else None,
            rehn_ns=float(np.median([trace.cutoff("rehn").value for trace in members])),
            automatic_ns=float(np.median([trace.cutoff("automatic").value for trace in members])),
            longest_ns=max(trace.tally.maximum for trace in members),
        )
