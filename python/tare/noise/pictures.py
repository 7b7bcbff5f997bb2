"""The pictures of a noise analysis: which traces are drawn, in which form.

Way of the data: measure -> recording -> infer -> *show*. Ten traces give ten times as many pictures
as a person looks at: what can be overlaid is drawn for all CPUs, the rest for the CPU that lost the
largest share.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import stats, units
from tare.charts import Picture
from tare.charts.axes import Kinds, Limit
from tare.charts.before_after import before_after
from tare.charts.heat_map import heat_map
from tare.charts.lanes import Lane, lanes
from tare.charts.length_distribution import length_distribution
from tare.charts.percentile_curve import Curve, percentile_curve
from tare.charts.run_sequence import Run, run_sequence
from tare.charts.spectrum import Peak, spectrum
from tare.charts.trace_scatter import trace_scatter
from tare.noise.results import TraceAnalysis
from tare.recording import Recording

Floats = NDArray[np.float64]

# More curves than colours can tell apart are no picture.
MOST_CURVES = 7
MOST_LANES = 16

# A trace of at most so many deltas is thinned as a whole, by time and length.
MOST_RAW_DELTAS = 2_000_000

# A longer one in blocks of this times its excess: about 2 000 blocks, as many as a picture holds.
_BLOCKS_OF = 1000

# Bins of the heat map of detours: as wide as a phone can show.
_TIME_BINS = 120
_BINS_PER_DECADE = 10

# Repetitions from which their order says something.
_FEWEST_RUNS = 3

NO_PERIOD = "no period"


def pictures(recording: Recording, loop: str, traces: Sequence[TraceAnalysis]) -> list[Picture]:
    """Return the pictures of one loop.

    Parameters
    ----------
    recording : Recording
        Where the deltas of a timestamps trace are.
    loop : str
        `selfish`, `timestamps`, `fwq` or `ftq`.
    traces : sequence of TraceAnalysis
        Of that loop (and of one slot length), all CPUs and repetitions.
    """
    worst = max(traces, key=lambda trace: trace.fraction.value)
    found: list[Picture] = []
    if any(trace.detours.start_ns.size for trace in traces):
        found += [_trace(loop, worst), _lanes(loop, traces), _lengths(loop, traces)]
    found += _tail(loop, traces)
    found += _heat(loop, worst)
    found += _periods(loop, worst)
    if worst.kept is not None and worst.cutoff is not None and loop == "timestamps":
        found += _cleaning(recording, worst)
    return found + _repetitions(loop, traces)


def _names(trace: TraceAnalysis) -> tuple[list[str], Kinds]:
    """Name each detour by the period that it belongs to."""
    names = np.full(trace.detours.start_ns.size, NO_PERIOD, dtype=object)
    # Largest share first, so the first colours are theirs; seven colours in all.
    families = trace.periods.families[: MOST_CURVES - 1]
    for family in reversed(families):
        names[family.members] = family.name
    order = [NO_PERIOD, *dict.fromkeys(family.name for family in families)]
    return [str(name) for name in names], Kinds("period", order)


def _limits(trace: TraceAnalysis) -> list[Limit]:
    limits = []
    if trace.loop in {"selfish", "timestamps"}:
        if trace.floor_ns:
            limits.append(Limit("floor", trace.floor_ns))
        if trace.threshold_ns:
            # What is drawn is the length without the floor; so is the line.
            name = "cut-off" if trace.loop == "timestamps" else "threshold"
            limits.append(Limit(name, trace.threshold_ns))
    return limits


def _visible(length_ns: Floats) -> NDArray[np.bool_]:
    # A gap exactly as long as the floor has no length, and no place on a log axis.
    seen: NDArray[np.bool_] = length_ns > 0
    return seen


def _trace(loop: str, trace: TraceAnalysis) -> Picture:
    seen = _visible(trace.detours.length_ns)
    names, kinds = _names(trace)
    begin, end = trace.windows_ns[0][0], trace.windows_ns[-1][1]
    missing = {"ftq": "time missing from a slot", "fwq": "time lost in a quantum"}
    return trace_scatter(
        f"{loop}-trace",
        f"What the noise of CPU {trace.cpu} looks like",
        (trace.detours.start_ns[seen] - begin) / 1e9,
        trace.detours.length_ns[seen],
        [name for name, shown in zip(names, seen, strict=True) if shown],
        limits=_limits(trace),
        ends_s=(0.0, (end - begin) / 1e9),
        n=trace.detours.start_ns.size + trace.detours.lost,
        length_title=missing.get(loop, "detour length"),
        kinds=kinds,
        caption=_rests(trace),
    )


def _rests(trace: TraceAnalysis) -> str | None:
    if len(trace.windows_ns) < 2:
        return None
    return (
        f"Measured in {len(trace.windows_ns)} windows; the loop rested between them, so that the "
        "kernel would not stop it."
    )


def _lanes(loop: str, traces: Sequence[TraceAnalysis]) -> Picture:
    by_cpu = _by_cpu(traces)
    cpus = sorted(by_cpu, key=lambda cpu: -_taken(by_cpu[cpu]))[:MOST_LANES]
    first = min(trace.windows_ns[0][0] for cpu in cpus for trace in by_cpu[cpu])
    last = max(trace.windows_ns[-1][1] for cpu in cpus for trace in by_cpu[cpu])
    kinds = _names(by_cpu[cpus[0]][0])[1]
    drawn = [_lane(cpu, by_cpu[cpu], kinds, (first, last)) for cpu in sorted(cpus)]
    left = len(by_cpu) - len(cpus)
    caption = "A bar is as high as the logarithm of its length; grey is time not measured."
    if left:
        caption += f" The {left} CPUs that lost least are left out."
    return lanes(
        f"{loop}-lanes",
        "Which CPU is hit when",
        drawn,
        (0.0, (last - first) / 1e9),
        kinds=kinds,
        caption=caption,
    )


def _lane(
    cpu: int, traces: Sequence[TraceAnalysis], kinds: Kinds, span_ns: tuple[float, float]
) -> Lane:
    starts, lengths, names = [], [], []
    windows: list[tuple[float, float]] = []
    for trace in traces:
        seen = _visible(trace.detours.length_ns)
        starts.append(trace.detours.start_ns[seen])
        lengths.append(trace.detours.length_ns[seen])
        told = [name if name in kinds.names else NO_PERIOD for name in _names(trace)[0]]
        names += [name for name, shown in zip(told, seen, strict=True) if shown]
        windows += trace.windows_ns
    first, last = span_ns
    edges = [first, *(edge for window in sorted(windows) for edge in window), last]
    rests = [
        ((begin - first) / 1e9, (end - first) / 1e9)
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
        # The skew of a synchronous start is no gap that one could see.
        if end - begin > 1e-4 * (last - first)
    ]
    start_s = (np.concatenate(starts) - first) / 1e9
    return Lane(cpu, start_s, np.concatenate(lengths), names, rests)


def _by_cpu(traces: Sequence[TraceAnalysis]) -> dict[int, list[TraceAnalysis]]:
    grouped: dict[int, list[TraceAnalysis]] = {}
    for trace in traces:
        grouped.setdefault(trace.cpu, []).append(trace)
    return grouped


def _taken(traces: Sequence[TraceAnalysis]) -> float:
    elapsed = sum(trace.fraction.elapsed_ns for trace in traces)
    return sum(trace.fraction.stolen_ns for trace in traces) / elapsed if elapsed else 0.0


def _worst_cpus(traces: Sequence[TraceAnalysis]) -> dict[str, list[TraceAnalysis]]:
    by_cpu = _by_cpu(traces)
    worst = sorted(by_cpu, key=lambda cpu: -_taken(by_cpu[cpu]))[:MOST_CURVES]
    return {f"CPU {cpu}": by_cpu[cpu] for cpu in sorted(worst)}


def _left_out(traces: Sequence[TraceAnalysis]) -> str | None:
    cpus = len(_by_cpu(traces))
    if cpus <= MOST_CURVES:
        return None
    return f"The {MOST_CURVES} of {cpus} CPUs that lost the largest share."


def _lengths(loop: str, traces: Sequence[TraceAnalysis]) -> Picture:
    lengths = {
        name: np.concatenate([t.detours.length_ns[_visible(t.detours.length_ns)] for t in group])
        for name, group in _worst_cpus(traces).items()
    }
    return length_distribution(
        f"{loop}-lengths",
        "Which lengths occur",
        lengths,
        caption=_left_out(traces),
    )


def _tail(loop: str, traces: Sequence[TraceAnalysis]) -> list[Picture]:
    curves = []
    what, title = "detours", "detour length"
    for name, group in _worst_cpus(traces).items():
        kept = group[0].kept
        if loop in {"timestamps", "fwq"} and kept is not None:
            longest = max(group, key=lambda trace: trace.samples)
            data: object = longest.kept.tally if longest.kept is not None else kept.tally
            what = "deltas" if loop == "timestamps" else "quanta"
            title = "length of one of them"
        else:
            values = np.concatenate([trace.detours.length_ns for trace in group])
            data = values[_visible(values)]
            if not values.size:
                continue
        curve = stats.percentile_curve(data)  # type: ignore[arg-type]
        inner = (curve.p > 0) & (curve.p < 1)
        curves.append(
            Curve(
                name,
                curve.p[inner],
                curve.values[inner],
                curve.low[inner],
                curve.high[inner],
                curve.n,
            )
        )
    if not curves:
        return []
    return [
        percentile_curve(
            f"{loop}-tail",
            "How bad the tail is",
            curves,
            value_title=title,
            what=what,
            caption="Each line to the right is ten times rarer; the band is the 95 % interval.",
        )
    ]


def _heat(loop: str, trace: TraceAnalysis) -> list[Picture]:
    begin = trace.windows_ns[0][0]
    title = f"Is it stable over time? CPU {trace.cpu}"
    if trace.heat is not None and trace.heat.counts.sum() > 0:
        return [_heat_of_deltas(loop, title, trace, begin)]
    seen = _visible(trace.detours.length_ns)
    start, length = trace.detours.start_ns[seen], trace.detours.length_ns[seen]
    if not length.size:
        return []
    time_edges = np.linspace(begin, trace.windows_ns[-1][1], _TIME_BINS + 1)
    low = np.floor(np.log10(length.min()) * _BINS_PER_DECADE)
    high = np.floor(np.log10(length.max()) * _BINS_PER_DECADE) + 1
    length_edges = 10.0 ** (np.arange(low, high + 1) / _BINS_PER_DECADE)
    counts, _, _ = np.histogram2d(start, length, [time_edges, length_edges])
    longest = np.full(_TIME_BINS, np.nan)
    column = np.clip(np.searchsorted(time_edges, start, side="right") - 1, 0, _TIME_BINS - 1)
    np.fmax.at(longest, column, length)
    return [
        heat_map(
            f"{loop}-heat",
            title,
            time_edges_s=(time_edges - begin) / 1e9,
            length_edges_ns=length_edges,
            counts=counts.astype(np.int64),
            longest_ns=longest,
        )
    ]


def _heat_of_deltas(loop: str, title: str, trace: TraceAnalysis, begin: float) -> Picture:
    heat = trace.heat
    assert heat is not None  # noqa: S101 - the caller has looked
    join = max(1, heat.counts.shape[0] // _TIME_BINS)
    held = np.flatnonzero(heat.counts.sum(axis=0))
    lengths = slice(int(held[0]), int(held[-1]) + 1)
    firsts = np.arange(0, heat.counts.shape[0], join)
    edges = np.append(heat.time_edges_ns[:-1][firsts], heat.time_edges_ns[-1])
    counts = np.add.reduceat(heat.counts[:, lengths], firsts, axis=0)
    longest = np.full(firsts.size, np.nan)
    column = np.searchsorted(edges, heat.longest_start_ns, side="right") - 1
    np.fmax.at(longest, np.clip(column, 0, firsts.size - 1), heat.longest_ns)
    return heat_map(
        f"{loop}-heat",
        title,
        time_edges_s=(edges - begin) / 1e9,
        length_edges_ns=heat.length_edges_ns[lengths.start : lengths.stop + 1],
        counts=counts,
        longest_ns=longest,
        what="deltas",
        length_title="length of a delta",
    )


def _periods(loop: str, trace: TraceAnalysis) -> list[Picture]:
    periods = trace.periods
    if periods.spectrum is None:
        return []
    found = periods.spectrum
    peaks = []
    for family in periods.families:
        peaks.append(Peak(family.frequency_hz, _power(trace, family.frequency_hz), family.name))
    left = units.share(periods.left_share)
    named = units.share(periods.share - periods.left_share)
    words = (
        f"The named periods take {named} of the time of this CPU, what comes without a period "
        f"{left}. Lines at multiples belong to the named one; above the dashed line chance alone "
        "is unlikely."
    )
    return [
        spectrum(
            f"{loop}-periods",
            f"Is it periodic? CPU {trace.cpu}",
            found.frequency_hz,
            found.power,
            peaks,
            n=periods.events,
            limit=found.level,
            power_title="power of the starts (multiples of the background)",
            caption=words,
        )
    ]


def _power(trace: TraceAnalysis, frequency_hz: float) -> float:
    """Height of the drawn spectrum where a family's name is to stand."""
    found = trace.periods.spectrum
    assert found is not None  # noqa: S101 - the caller has looked
    at = int(np.argmin(np.abs(found.frequency_hz - frequency_hz)))
    return float(found.power[max(0, at - 2) : at + 3].max())


def _cleaning(recording: Recording, trace: TraceAnalysis) -> list[Picture]:
    cutoff = trace.cutoff
    assert cutoff is not None  # noqa: S101 - the caller has looked
    block = -(-trace.samples // MOST_RAW_DELTAS)
    position, value = _deltas(recording, trace, cutoff.value, block)
    before, after = before_after(
        "timestamps-cleaning",
        f"CPU {trace.cpu}",
        position,
        value,
        cutoff.value,
        rule=cutoff.rule,
        n=trace.samples,
        removed=cutoff.removed,
        position_title="sample (number)",
    )
    if block == 1:
        return [before, after]
    drawn = f"Drawn: the longest and the first of every {units.count(block * _BLOCKS_OF)} samples."
    return [before, dataclasses.replace(after, caption=f"{after.caption} {drawn}")]


def _deltas(
    recording: Recording, trace: TraceAnalysis, cutoff_ns: float, block: int
) -> tuple[Floats, Floats]:
    """Numbers and lengths of the deltas of a trace; of a long one, those that a picture needs."""
    wanted = pl.col("trace_id").is_in(trace.trace_ids)
    per_tick = 1e9 / recording.clock.ticks_per_second
    positions, values, passed = [], [], 0
    for batch in recording.iter_batches("deltas"):
        value = batch.filter(wanted)["delta_ticks"].to_numpy().astype(np.float64) * per_tick
        # A delta of nothing has no place among lengths: the counter stood still for one step.
        chosen = _chosen(value, cutoff_ns, block * _BLOCKS_OF) if block > 1 else value.nonzero()[0]
        chosen = chosen[value[chosen] > 0]
        positions.append((passed + chosen).astype(np.float64))
        values.append(value[chosen])
        passed += value.size
    return np.concatenate(positions), np.concatenate(values)


def _chosen(value: Floats, cutoff_ns: float, block: int) -> NDArray[np.intp]:
    """Of every block: its first, its longest, and its longest that the cut-off keeps."""
    if not value.size:
        return np.empty(0, dtype=np.intp)
    firsts = np.arange(0, value.size, block)
    kept = np.where(value <= cutoff_ns, value, 0.0)
    tops = [_argmax(part, firsts, block) for part in (value, kept)]
    return np.unique(np.concatenate([firsts, *tops]))


def _argmax(value: Floats, firsts: NDArray[np.intp], block: int) -> NDArray[np.intp]:
    whole = value.size // block
    inside = value[: whole * block].reshape(whole, block).argmax(axis=1)
    tops: NDArray[np.intp] = inside + firsts[:whole]
    if whole < firsts.size:
        rest = np.array([firsts[-1] + value[firsts[-1] :].argmax()])
        tops = np.concatenate([tops, rest])
    return tops


def _repetitions(loop: str, traces: Sequence[TraceAnalysis]) -> list[Picture]:
    runs = []
    for name, group in _worst_cpus(traces).items():
        if len(group) < _FEWEST_RUNS:
            continue
        runs += [
            Run(number, name, trace.fraction.value, trace.fraction.low, trace.fraction.high)
            for number, trace in enumerate(group)
        ]
    if not runs:
        return []
    return [
        run_sequence(
            f"{loop}-repetitions",
            "Do repetitions agree?",
            runs,
            quantity="share",
            value_title="share of time taken (%)",
            caption="In the order in which they ran; a line is the interval of one repetition.",
        )
    ]
