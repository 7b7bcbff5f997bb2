"""From a recording to what it says: floor, cut-offs, noise fraction, lengths and periods.

Answers: `analyse(recording)` gives one `TraceAnalysis` to each measurement of any of the four loops
and a summary to each CPU. Does not draw or print (`tare.noise.view` does) and does not read files:
it asks a `Source` for tables.

Place on the way of the data: recording -> *inference* -> views.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import stats
from tare.noise.automatic import COST_RATIO
from tare.noise.cutoffs import Cutoff, all_cutoffs, automatic
from tare.noise.deltas import Scanned, TraceRow, scan_deltas
from tare.noise.fraction import (
    MOST_BLOCKS,
    FractionEstimate,
    batch_means,
    detour_fraction,
    expected_longest,
    ftq_fraction,
    fwq_fraction,
)
from tare.noise.groups import summarise
from tare.noise.periods import find_periods
from tare.noise.results import (
    DetourList,
    HeatMap,
    LengthSummary,
    NoiseAnalysis,
    Samples,
    ThreadUsage,
    TraceAnalysis,
)
from tare.noise.source import Source
from tare.noise.tally import Tally, find_mode

Floats = NDArray[np.float64]

QUANTILES = (0.5, 0.9, 0.99, 0.999)
WINDOWS_NS = (1e6, 1e7, 1e8, 1e9, 1e10)
"""Windows for which the longest detour to expect is given: 1 ms to 10 s."""

WRAP_TICKS = 1 << 32
"""`delta_ticks` is modulo this."""

WORK_RATIO = 1.0
"""`cost_ratio` of FWQ and FTQ: their floor is work, a detour may be short against it."""

_JOINED = ("loop", "cpu", "repetition", "memory_state", "quantum_ns")


@dataclass(frozen=True)
class _Axis:
    """Ticks to nanoseconds on the time axis of the recording."""

    origin_ticks: int
    ns_per_tick: float
    step_ns: float

    def place(self, ticks: Any) -> Floats:
        """Instants, ns from the origin."""
        # Differences of unsigned readings wrap; as signed numbers they are right either way.
        since = np.asarray(ticks, dtype=np.uint64) - np.uint64(self.origin_ticks)
        return np.asarray(since.astype(np.int64).astype(np.float64) * self.ns_per_tick)


@dataclass(frozen=True)
class _Measurement:
    """The windows of one measurement: rows of `traces` that belong together."""

    rows: tuple[dict[str, Any], ...]
    windows_ns: tuple[tuple[float, float], ...]

    @property
    def observed_ns(self) -> float:
        return sum(end - start for start, end in self.windows_ns)

    def total(self, name: str) -> int | None:
        """Sum of a column over the windows; None if one is unknown."""
        values = [row[name] for row in self.rows]
        return None if any(value is None for value in values) else int(sum(values))

    def own_time(self, start_ns: Floats) -> Floats:
        """Map instants onto observed time: the rests between windows are left out."""
        starts = np.array([start for start, _ in self.windows_ns])
        ends = np.array([end for _, end in self.windows_ns])
        rests = np.concatenate([[starts[0]], starts[1:] - ends[:-1]]).cumsum()
        window = np.clip(np.searchsorted(starts, start_ns, side="right") - 1, 0, None)
        return np.asarray(start_ns - rests[window])


def analyse(source: Source) -> NoiseAnalysis:
    """Analyse every trace of a noise recording.

    Parameters
    ----------
    source : Source
        A recording, such as `tare.recording.open` gives.

    Returns
    -------
    NoiseAnalysis

    Raises
    ------
    ValueError
        If it has no traces, or a table contradicts `traces`.
    """
    traces = source.table("traces")
    if traces.is_empty():
        msg = "the recording holds no traces"
        raise ValueError(msg)
    clock = source.manifest.clock
    per_tick = 1e9 / clock.ticks_per_second
    origin = int(traces["start_ticks"].min())  # type: ignore[arg-type]
    axis = _Axis(origin, per_tick, clock.step_ticks * per_tick)
    measurements = list(_measurements(traces, axis))
    data = _Tables(source, axis, traces)
    analysed = [_analyse_one(measurement, data) for measurement in measurements]
    analysed.sort(key=lambda trace: (trace.windows_ns[0][0], trace.cpu))
    last = float(axis.place(traces["end_ticks"].to_numpy()).max())
    return NoiseAnalysis(tuple(analysed), summarise(analysed), last)


def _measurements(traces: pl.DataFrame, axis: _Axis) -> Iterator[_Measurement]:
    """Join the windows of each measurement, in order of time."""
    grouped: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in traces.sort("start_ticks").to_dicts():
        grouped.setdefault(tuple(row[name] for name in _JOINED), []).append(row)
    for rows in grouped.values():
        starts = axis.place([row["start_ticks"] for row in rows])
        ends = axis.place([row["end_ticks"] for row in rows])
        if np.any(ends <= starts) or np.any(starts[1:] < ends[:-1]):
            ids = ", ".join(str(row["trace_id"]) for row in rows)
            msg = f"traces {ids}: a window ends before it starts, or overlaps the next"
            raise ValueError(msg)
        windows = tuple(zip(starts.tolist(), ends.tolist(), strict=True))
        yield _Measurement(tuple(rows), windows)


class _Tables:
    """The tables of a recording, by trace."""

    def __init__(self, source: Source, axis: _Axis, traces: pl.DataFrame) -> None:
        self.axis = axis
        host = source.manifest.host
        self.timer_hz = host.timer_hz
        self.virtual = host.virtualisation not in (None, "none")
        self._parts = {name: _by_trace(source, name) for name in ("detours", "quanta", "slots")}
        self._step_ticks = float(source.manifest.clock.step_ticks)
        stamps = traces.filter(pl.col("loop") == "timestamps")
        names = ("trace_id", "start_ticks", "end_ticks", "samples")
        rows = {row["trace_id"]: TraceRow(*(row[n] for n in names)) for row in stamps.to_dicts()}
        self.scanned: dict[int, Scanned] = {}
        if rows and source.has("deltas"):
            self.scanned = scan_deltas(source, rows, self._threshold)

    def _threshold(self, tally: Tally) -> int:
        """First whole number of ticks above the cut-off."""
        return math.floor(automatic(tally, self._step_ticks).value) + 1

    def columns(self, table: str, row: dict[str, Any], *names: str) -> list[NDArray[Any]]:
        """Columns of one trace in one table; empty where it has no rows."""
        frame = self._parts[table].get(row["trace_id"])
        if frame is None:
            return [np.empty(0, dtype=np.uint64) for _ in names]
        return [frame[name].to_numpy() for name in names]


def _by_trace(source: Source, name: str) -> dict[int, pl.DataFrame]:
    if not source.has(name):
        return {}
    parts = source.table(name).partition_by("trace_id", as_dict=True)
    return {int(key[0]): part for key, part in parts.items()}


@dataclass(frozen=True)
class _Found:
    """What one loop's own reading of its tables found; the rest is the same for all loops."""

    detours: DetourList
    fraction: FractionEstimate
    fraction_mode: FractionEstimate | None
    floor_ns: float | None
    threshold_ns: float | None
    cutoff: Cutoff | None
    kept: Samples | None
    heat: HeatMap | None
    resolution_ns: float
    doubts: tuple[str, ...] = ()


def _analyse_one(measurement: _Measurement, data: _Tables) -> TraceAnalysis:
    first = measurement.rows[0]
    reader = {
        "timestamps": _timestamps,
        "selfish": _selfish,
        "fwq": _fwq,
        "ftq": _ftq,
    }.get(first["loop"])
    if reader is None:
        msg = f"trace {first['trace_id']}: unknown loop {first['loop']!r}"
        raise ValueError(msg)
    found = reader(measurement, data)
    detours, observed = found.detours, measurement.observed_ns
    own = measurement.own_time(detours.start_ns)
    low, high = _rate_interval(own, observed)
    scale = (len(own) + detours.lost) / max(len(own), 1)
    skews = [row["start_skew_ticks"] for row in measurement.rows]
    known = [skew for skew in skews if skew is not None]
    return TraceAnalysis(
        loop=first["loop"],
        cpu=first["cpu"],
        repetition=first["repetition"],
        memory_state=first["memory_state"],
        quantum_ns=first["quantum_ns"],
        trace_ids=tuple(row["trace_id"] for row in measurement.rows),
        windows_ns=measurement.windows_ns,
        observed_ns=observed,
        start_skew_ns=max(known) * data.axis.ns_per_tick if known else None,
        samples=measurement.total("samples") or 0,
        floor_ns=found.floor_ns,
        step_ns=data.axis.step_ns,
        threshold_ns=found.threshold_ns,
        cutoff=found.cutoff,
        kept=found.kept,
        detours=detours,
        lengths=_lengths(detours),
        rate_per_s=(len(own) + detours.lost) / observed * 1e9,
        rate_low_per_s=None if low is None else low * scale,
        rate_high_per_s=None if high is None else high * scale,
        fraction=found.fraction,
        fraction_mode=found.fraction_mode,
        expected_longest=tuple(
            (window, expected_longest(own, detours.length_ns, observed, window))
            for window in WINDOWS_NS
        ),
        periods=find_periods(
            detours.start_ns,
            detours.length_ns,
            measurement.windows_ns,
            timer_hz=data.timer_hz,
            virtual=data.virtual,
            resolution_ns=found.resolution_ns,
        ),
        heat=found.heat,
        usage=_usage(measurement),
        lost_records=measurement.total("lost_records") or 0,
        wrapped_deltas=measurement.total("wrapped_deltas") or 0,
        doubts=found.doubts + _doubts(measurement),
    )


def _usage(measurement: _Measurement) -> ThreadUsage:
    names = (
        "page_faults_minor", "page_faults_major", "switches_voluntary", "switches_involuntary",
        "cpu_time_ns",
    )  # fmt: skip
    return ThreadUsage(*(measurement.total(name) for name in names))


def _doubts(measurement: _Measurement) -> tuple[str, ...]:
    doubts = []
    minor, major = measurement.total("page_faults_minor"), measurement.total("page_faults_major")
    if minor or major:
        doubts.append(f"{(minor or 0) + (major or 0)} page faults of its own inside the window")
    moved = [r["cpu_after"] for r in measurement.rows if r["cpu_after"] not in (None, r["cpu"])]
    if moved:
        doubts.append(f"ended on CPU {moved[0]}, not on CPU {measurement.rows[0]['cpu']}")
    if lost := measurement.total("lost_records"):
        doubts.append(f"{lost} records did not fit into the buffer; their sum is counted in")
    if wrapped := measurement.total("wrapped_deltas"):
        doubts.append(f"{wrapped} deltas were too long for their column; their time is counted in")
    return tuple(doubts)


def _lengths(detours: DetourList) -> LengthSummary | None:
    length = detours.length_ns
    if not len(length):
        return None
    wanted = [p for p in QUANTILES if p <= 0.5 or len(length) * (1 - p) >= 1]
    quantiles = tuple(stats.quantile_interval(length, p) for p in wanted)
    longest = int(np.argmax(length))
    return LengthSummary(
        len(length),
        float(length.mean()),
        quantiles,
        float(length[longest]),
        float(detours.start_ns[longest]),
    )


def _rate_interval(own_ns: Floats, observed_ns: float) -> tuple[float | None, float | None]:
    """Interval of the rate, 1/s, from counts in equal blocks of observed time."""
    if len(own_ns) < MOST_BLOCKS // 4:
        return None, None
    counts, _ = np.histogram(own_ns, bins=MOST_BLOCKS, range=(0.0, observed_ns))
    low, high, _ = batch_means(counts / (observed_ns / MOST_BLOCKS) * 1e9)
    return max(0.0, low), high


def _samples(tally: Tally, step: float, cost_ratio: float) -> tuple[Samples, Cutoff]:
    cutoffs = all_cutoffs(tally, step, cost_ratio)
    chosen = next(cutoff for cutoff in cutoffs if cutoff.rule == "automatic")
    clean, _ = tally.split(chosen.value)
    # A cut-off is never below the median, so something always stays.
    kept = tally if clean is None else clean
    medcouple = stats.medcouple(tally)
    return Samples(tally, stats.moments(tally), stats.moments(kept), medcouple, cutoffs), chosen


def _timestamps(measurement: _Measurement, data: _Tables) -> _Found:
    # A timestamps trace is never cut into windows: its deltas follow one another without a rest.
    (row,) = measurement.rows
    scanned = data.scanned.get(row["trace_id"])
    if scanned is None:
        msg = f"trace {row['trace_id']}: no deltas, though `traces` says {row['samples']}"
        raise ValueError(msg)
    per_tick, step = data.axis.ns_per_tick, data.axis.step_ns
    tally = scanned.tally.scaled(per_tick)
    kept, cutoff = _samples(tally, step, COST_RATIO)
    inliers, _ = tally.split(cutoff.value)
    floor = find_mode(tally if inliers is None else inliers, step)
    start = data.axis.place(scanned.start_ticks)
    length = np.maximum(scanned.gap_ticks * per_tick - floor, 0.0)
    wrapped = int(row["wrapped_deltas"])
    lost = scanned.lost_ticks * per_tick - scanned.lost * floor + wrapped * WRAP_TICKS * per_tick
    detours = DetourList(start, length, scanned.lost + wrapped, lost)
    observed = measurement.observed_ns
    fraction = detour_fraction(measurement.own_time(start), length, observed, lost_ns=lost)
    heat = HeatMap(
        data.axis.place(scanned.time_edges_ticks),
        scanned.length_edges_ticks.astype(np.float64) * per_tick,
        scanned.heat.astype(np.int64),
        data.axis.place(scanned.longest_start_ticks),
        scanned.longest_ticks.astype(np.float64) * per_tick,
    )
    threshold = scanned.threshold_ticks * per_tick
    return _Found(detours, fraction, None, floor, threshold, cutoff, kept, heat, 0.0)


def _selfish(measurement: _Measurement, data: _Tables) -> _Found:
    per_tick = data.axis.ns_per_tick
    starts, lengths, lost_ns = [], [], 0.0
    for row in measurement.rows:
        start, gap = data.columns("detours", row, "start_ticks", "gap_ticks")
        floor = float(row["floor_ticks"] or 0.0)
        starts.append(data.axis.place(start))
        lengths.append(np.maximum(gap.astype(np.float64) - floor, 0.0) * per_tick)
        lost_ns += max(0.0, row["lost_ticks"] - row["lost_records"] * floor) * per_tick
    start_ns, length_ns = np.concatenate(starts), np.concatenate(lengths)
    own = measurement.own_time(start_ns)
    fraction = detour_fraction(own, length_ns, measurement.observed_ns, lost_ns=lost_ns)
    lost = measurement.total("lost_records") or 0
    floors = [row["floor_ticks"] for row in measurement.rows if row["floor_ticks"] is not None]
    limits = [r["threshold_ticks"] for r in measurement.rows if r["threshold_ticks"] is not None]
    return _Found(
        DetourList(start_ns, length_ns, lost, lost_ns),
        fraction,
        None,
        float(np.mean(floors)) * per_tick if floors else None,
        float(np.mean(limits)) * per_tick if limits else None,
        None,
        None,
        None,
        0.0,
        () if len(floors) == len(measurement.rows) else ("floor unknown: gaps count whole",),
    )


def _fwq(measurement: _Measurement, data: _Tables) -> _Found:
    per_tick, step = data.axis.ns_per_tick, data.axis.step_ns
    columns = [
        data.columns("quanta", row, "start_ticks", "duration_ticks") for row in measurement.rows
    ]
    start = np.concatenate([data.axis.place(start) for start, _ in columns])
    ticks = np.concatenate([duration for _, duration in columns]).astype(np.float64)
    if not len(ticks):
        msg = f"trace {measurement.rows[0]['trace_id']}: no quanta"
        raise ValueError(msg)
    duration = ticks * per_tick
    tally = Tally.of(ticks).scaled(per_tick)
    kept, cutoff = _samples(tally, step, WORK_RATIO)
    inliers, _ = tally.split(cutoff.value)
    floor = find_mode(tally if inliers is None else inliers, step)
    hit = duration > cutoff.value
    lost = measurement.total("lost_records") or 0
    lost_ns = max(0.0, measurement.observed_ns - float(duration.sum())) if lost else 0.0
    detours = DetourList(start[hit], np.maximum(duration[hit] - floor, 0.0), 0, 0.0)
    return _Found(
        detours,
        fwq_fraction(duration, reference="minimum", lost_ns=lost_ns),
        fwq_fraction(duration, reference="mode", step_ns=step, lost_ns=lost_ns),
        floor,
        cutoff.value,
        cutoff,
        kept,
        None,
        floor,
    )


def _ftq(measurement: _Measurement, data: _Tables) -> _Found:
    slot_ns = float(measurement.rows[0]["quantum_ns"] or 0)
    if slot_ns <= 0:
        msg = f"trace {measurement.rows[0]['trace_id']}: FTQ without the length of its slots"
        raise ValueError(msg)
    columns = [data.columns("slots", row, "slot", "work") for row in measurement.rows]
    begins = [
        start + slot.astype(np.float64) * slot_ns
        for (start, _), (slot, _) in zip(measurement.windows_ns, columns, strict=True)
    ]
    work = np.concatenate([work for _, work in columns]).astype(np.int64)
    if not len(work) or work.max() <= 0:
        msg = f"trace {measurement.rows[0]['trace_id']}: no slot holds any work"
        raise ValueError(msg)
    unit_ns = slot_ns / float(work.max())
    missing_units = work.max() - work
    tally = Tally.of(missing_units).scaled(unit_ns)
    kept, cutoff = _samples(tally, unit_ns, WORK_RATIO)
    missing = missing_units * unit_ns
    hit = missing > cutoff.value
    detours = DetourList(np.concatenate(begins)[hit], missing[hit], 0, 0.0)
    return _Found(
        detours,
        ftq_fraction(work, slot_ns, reference="minimum"),
        ftq_fraction(work, slot_ns, reference="mode"),
        None,
        cutoff.value,
        cutoff,
        kept,
        None,
        slot_ns,
    )
