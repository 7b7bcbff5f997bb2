"""What a noise recording says: the answer in three sentences, figures, pictures and tables.

Way of the data: measure -> recording -> infer -> *show*. Takes the analysis (`analyse`) and words
it; computes no statistics of its own. Conditions that make it doubtful: doubts.py; which pictures:
pictures.py.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from tare import units
from tare.errors import RecordingError
from tare.noise.analysis import analyse
from tare.noise.doubts import doubts, real_time
from tare.noise.periods import PeriodFamily
from tare.noise.pictures import pictures
from tare.noise.profile import make_profile
from tare.noise.profile_file import to_text
from tare.noise.results import GroupSummary, NoiseAnalysis, TraceAnalysis
from tare.recording import Recording
from tare.report import Column, Figure, Table, View

# Loops in the order in which they answer 'how much is taken': selfish sees every detour and runs
# for long, the others see it through their quanta or for a short time.
LOOPS = ("selfish", "timestamps", "fwq", "ftq")

_PAPERS = {
    "selfish": "selfish detours",
    "timestamps": "timestamps",
    "fwq": "fixed work quanta",
    "ftq": "fixed time slots",
}
# What stands before the analysis in the summary, as JSON Schema.
SUMMARY_HEAD: dict[str, dict[str, Any]] = {
    "kind": {"const": "noise"},
    "recording": {"type": "string", "description": "Name of its folder."},
    "fingerprint": {"type": "string", "description": "Of the host: equal means comparable."},
    "status": {"enum": ["complete", "interrupted"]},
    "doubts": {
        "type": "array",
        "description": "What makes it doubtful.",
        "items": {
            "type": "object",
            "properties": {"what": {"type": "string"}, "why": {"type": "string"}},
            "required": ["what", "why"],
        },
    },
}

_MOST_ROWS = 200
_MOST_LINES = 12
_MOST_FAMILIES = 5


def views(recordings: Sequence[Recording]) -> list[View]:
    """Return one view of each recording.

    Parameters
    ----------
    recordings : sequence of Recording
        Of kind `noise`.

    Raises
    ------
    RecordingError
        If a recording contradicts itself.
    """
    return [_view(recording) for recording in recordings]


def _view(recording: Recording) -> View:
    try:
        analysis = analyse(recording)
    except ValueError as error:
        raise RecordingError(
            f"{recording.path}: {error}", hint="the recording contradicts itself; measure again"
        ) from error
    main = main_loop(analysis)
    traces = [trace for trace in analysis.traces if (trace.loop, trace.quantum_ns) == main]
    groups = [group for group in analysis.groups if (group.loop, group.quantum_ns) == main]
    drawn = pictures(recording, main[0], traces)
    if main[0] != "timestamps":
        stamps = [trace for trace in analysis.traces if trace.loop == "timestamps"]
        drawn += _of_timestamps(recording, stamps)
    return View(
        name="noise",
        title=f"OS noise on {recording.host.hostname or 'an unnamed host'}",
        sentences=_sentences(recording, groups, traces),
        figures=_figures(groups, traces),
        doubts=doubts(recording, analysis),
        pictures=drawn,
        tables=_tables(recording, analysis, traces),
        recordings=(recording,),
        data=summary(recording, analysis),
        profile=to_text(make_profile(analysis, recording.manifest)),
    )


def main_loop(analysis: NoiseAnalysis) -> tuple[str, int | None]:
    """Return the loop (and slot length) that answers how much is taken.

    Parameters
    ----------
    analysis : NoiseAnalysis
        With at least one trace.
    """
    held = {(trace.loop, trace.quantum_ns) for trace in analysis.traces}
    return min(held, key=lambda key: (LOOPS.index(key[0]), key[1] or 0))


def summary(recording: Recording, analysis: NoiseAnalysis) -> dict[str, Any]:
    """Return the analysis as `--json` prints it: everything but the arrays of single detours.

    Parameters
    ----------
    recording : Recording
        What it rests on.
    analysis : NoiseAnalysis
        What it says.
    """
    return {
        "kind": "noise",
        "recording": recording.name,
        "fingerprint": recording.fingerprint,
        "status": recording.manifest.status,
        "doubts": [dataclasses.asdict(doubt) for doubt in doubts(recording, analysis)],
        **_without_arrays(analysis),
    }


def _without_arrays(value: Any) -> Any:
    # Results keep their bulk out of `repr`; it stays out of the summary in the same way.
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _without_arrays(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.repr
        }
    if isinstance(value, tuple | list):
        return [_without_arrays(part) for part in value]
    return value


def _of_timestamps(recording: Recording, traces: Sequence[TraceAnalysis]) -> list[Any]:
    wanted = ("timestamps-tail", "timestamps-cleaning")
    if not traces:
        return []
    return [
        dataclasses.replace(picture, title=f"{picture.title} (every delta)")
        if picture.name == "timestamps-tail"
        else picture
        for picture in pictures(recording, "timestamps", traces)
        if picture.name.startswith(wanted)
    ]


# --- the answer ---------------------------------------------------------------------------


def _sentences(
    recording: Recording, groups: Sequence[GroupSummary], traces: Sequence[TraceAnalysis]
) -> list[str]:
    who = "real-time program" if real_time(recording) else "program"
    return [_how_much(who, groups), _how_long(groups, traces), _how_often(traces)]


def _interval(group: GroupSummary) -> str:
    if group.fraction_low is None or group.fraction_high is None:
        return ""
    low, high = units.share(group.fraction_low), units.share(group.fraction_high)
    return f"{low} to {high}"


def _how_much(who: str, groups: Sequence[GroupSummary]) -> str:
    ordered = sorted(groups, key=lambda group: -group.fraction)
    worst, best = ordered[0], ordered[-1]
    interval = _interval(worst)
    sure = f" (95 % interval {interval})" if interval else ""
    text = f"A {who} on CPU {worst.cpu} loses {units.share(worst.fraction)} of its time{sure}"
    if len(ordered) == 1:
        return f"{text}."
    which = "the other" if len(ordered) == 2 else f"the best of {len(ordered)}"
    return f"{text}; on {which}, CPU {best.cpu}, it is {units.share(best.fraction)}."


def _longest(traces: Sequence[TraceAnalysis]) -> TraceAnalysis | None:
    known = [trace for trace in traces if trace.lengths is not None]
    return max(known, key=lambda t: t.lengths.longest_ns if t.lengths else 0.0, default=None)


def _how_long(groups: Sequence[GroupSummary], traces: Sequence[TraceAnalysis]) -> str:
    longest = _longest(traces)
    if longest is None or longest.lengths is None:
        return f"Not one detour was seen in {_observed(groups)}."
    worst = max(groups, key=lambda group: group.fraction)
    typical = next(trace for trace in traces if trace.cpu == worst.cpu)
    middle = ""
    if typical.lengths is not None:
        middle = f", half of them for less than {units.time(typical.lengths.quantiles[0].estimate)}"
    where = "" if longest.cpu == worst.cpu else f", on CPU {longest.cpu}"
    return (
        f"CPU {worst.cpu} is interrupted {units.significant(worst.rate_per_s)} times a second"
        f"{middle}; the longest detour took {units.time(longest.lengths.longest_ns)}{where}."
    )


def _observed(groups: Sequence[GroupSummary]) -> str:
    longest = units.time(max(group.observed_ns for group in groups))
    return longest if len(groups) == 1 else f"{longest} on each of {len(groups)} CPUs"


def _strongest(traces: Sequence[TraceAnalysis]) -> tuple[TraceAnalysis, PeriodFamily] | None:
    found = [(trace, family) for trace in traces for family in trace.periods.families]
    return max(found, key=lambda pair: pair[1].share, default=None)


def _known_name(family: PeriodFamily) -> str | None:
    # A family that no timer explains is named by its period, which stands there already.
    return None if re.fullmatch(r"every \S+ \S+", family.name) else family.name


def _how_often(traces: Sequence[TraceAnalysis]) -> str:
    strongest = _strongest(traces)
    if strongest is None:
        why = next((t.periods.why for t in traces if t.periods.why), None)
        return f"No period was found: {why}." if why else "No period was found in it."
    trace, family = strongest
    whole = trace.periods.share
    part = units.share(family.share / whole) if whole else units.UNKNOWN
    left = units.share(trace.periods.left_share / whole) if whole else units.UNKNOWN
    name = _known_name(family)
    said = f" ({name})" if name else ""
    return (
        f"The strongest period is {units.time(family.period_ns)}{said}: it makes up "
        f"{part} of the time taken on CPU {trace.cpu}; {left} comes without any period."
    )


def _figures(groups: Sequence[GroupSummary], traces: Sequence[TraceAnalysis]) -> list[Figure]:
    worst = max(groups, key=lambda group: group.fraction)
    interval = _interval(worst)
    note = f"CPU {worst.cpu}, 95 % interval {interval}" if interval else f"CPU {worst.cpu}"
    figures = [Figure("time taken", units.share(worst.fraction), note)]
    longest = _longest(traces)
    if longest is not None and longest.lengths is not None:
        n = sum(t.lengths.n for t in traces if t.lengths)
        of = f"CPU {longest.cpu}, of {units.count(n)} in {_observed(groups)}"
        figures.append(Figure("longest detour", units.time(longest.lengths.longest_ns), of))
    strongest = _strongest(traces)
    if strongest is not None:
        trace, family = strongest
        name = _known_name(family) or "no known timer"
        rest = f"{name}, CPU {trace.cpu}, {units.count(family.events)} detours"
        figures.append(Figure("strongest period", units.time(family.period_ns), rest))
    else:
        per_second = f"CPU {worst.cpu}, {_PAPERS[worst.loop]}"
        figures.append(Figure("detours", units.rate(worst.rate_per_s), per_second))
    return figures


# --- tables -------------------------------------------------------------------------------


def _tables(
    recording: Recording, analysis: NoiseAnalysis, traces: Sequence[TraceAnalysis]
) -> list[Table]:
    tables = [
        _of_groups(analysis),
        _of_lengths(traces),
        _of_periods(traces),
        _of_expectations(traces),
        *_of_cleaning(_cleaned(analysis)),
        _of_interrupts(recording),
    ]
    return [table for table in tables if table.rows]


def _place(group: GroupSummary) -> tuple[int, int, int]:
    return LOOPS.index(group.loop), group.quantum_ns or 0, group.cpu


def _of_groups(analysis: NoiseAnalysis) -> Table:
    columns = (
        Column("loop"),
        Column("CPU"),
        Column("slot", "time_ns"),
        Column("traces", "count"),
        Column("observed", "time_ns"),
        Column("time taken", "share"),
        Column("from", "share"),
        Column("to", "share"),
        Column("detours", "rate_hz"),
        Column("longest", "time_ns"),
    )
    rows = [
        (
            group.loop,
            str(group.cpu),
            group.quantum_ns if group.quantum_ns is not None else "-",
            group.traces,
            group.observed_ns,
            group.fraction,
            group.fraction_low,
            group.fraction_high,
            group.rate_per_s,
            group.longest_ns if group.rate_per_s else "-",
        )
        for group in sorted(analysis.groups, key=_place)[:_MOST_ROWS]
    ]
    return Table(
        "loops",
        "How much is taken, by loop and CPU",
        columns,
        rows,
        "From and to: 95 % interval. FWQ and FTQ count everything beyond their best quantum.",
    )


def _of_lengths(traces: Sequence[TraceAnalysis]) -> Table:
    columns = (
        Column("CPU"),
        Column("floor", "time_ns"),
        Column("threshold", "time_ns"),
        Column("detours", "count"),
        Column("mean", "time_ns"),
        Column("median", "time_ns"),
        Column("90 %", "time_ns"),
        Column("99 %", "time_ns"),
        Column("99.9 %", "time_ns"),
        Column("longest", "time_ns"),
    )
    rows = []
    for trace in [trace for trace in traces if trace.lengths is not None][:_MOST_ROWS]:
        lengths = trace.lengths
        if lengths is None:
            continue
        quantiles = {quantile.p: quantile.estimate for quantile in lengths.quantiles}
        known = [quantiles.get(p) for p in (0.5, 0.9, 0.99, 0.999)]
        floor, threshold = trace.floor_ns, trace.threshold_ns
        rows.append(
            (
                str(trace.cpu),
                floor,
                threshold,
                lengths.n,
                lengths.mean_ns,
                *known,
                lengths.longest_ns,
            )
        )
    title = f"How long detours are ({_PAPERS[traces[0].loop]})"
    return Table(
        "lengths",
        title,
        columns,
        rows,
        "A quantile is unknown where there are too few detours to tell it.",
    )


def _of_periods(traces: Sequence[TraceAnalysis]) -> Table:
    columns = (
        Column("CPU"),
        Column("name"),
        Column("period", "time_ns"),
        Column("detours", "count"),
        Column("in a period", "number"),
        Column("time taken", "share"),
        Column("median length", "time_ns"),
        Column("longest", "time_ns"),
    )
    rows = [
        (
            str(trace.cpu),
            family.name,
            family.period_ns,
            family.events,
            family.present_share,
            family.share,
            family.length_median_ns,
            family.length_max_ns,
        )
        for trace in traces
        for family in trace.periods.families[:_MOST_FAMILIES]
    ]
    return Table(
        "periods",
        "What comes at regular intervals",
        columns,
        rows[:_MOST_ROWS],
        "In a period: detours of the family for each of its planned instants; 1 is a clock.",
    )


def _of_expectations(traces: Sequence[TraceAnalysis]) -> Table:
    worst = max(traces, key=lambda trace: trace.fraction.value)
    columns = (
        Column("in a window of", "time_ns"),
        Column("longest detour to expect", "time_ns"),
        Column("from", "time_ns"),
        Column("to", "time_ns"),
        Column("windows", "count"),
    )
    rows = [
        (window, expected.value, expected.low, expected.high, expected.n)
        for window, expected in worst.expected_longest
        if expected.value is not None
    ]
    return Table(
        "expected",
        f"How long a delay to expect on CPU {worst.cpu}",
        columns,
        rows,
        "From and to: 95 % interval.",
    )


def _cleaned(analysis: NoiseAnalysis) -> TraceAnalysis | None:
    """The trace whose cleaning is shown: timestamps if there are any, on the CPU that lost most."""
    held = [trace for trace in analysis.traces if trace.kept is not None]
    order = [loop for loop in ("timestamps", *LOOPS) if any(t.loop == loop for t in held)]
    of_loop = [trace for trace in held if order and trace.loop == order[0]]
    return max(of_loop, key=lambda trace: trace.fraction.value, default=None)


def _of_cleaning(trace: TraceAnalysis | None) -> list[Table]:
    if trace is None or trace.kept is None:
        return []
    kept = trace.kept
    name = f"{_PAPERS[trace.loop]}, CPU {trace.cpu}"
    cutoffs = Table(
        "cutoffs",
        f"Where each rule cuts ({name})",
        (
            Column("rule"),
            Column("cut-off", "time_ns"),
            Column("removed", "count"),
            Column("removed share", "share"),
            Column("suited"),
            Column("why"),
        ),
        [(c.rule, c.value, c.removed, c.removed_share, c.suited, c.why) for c in kept.cutoffs],
        "The automatic rule is the one that is used here.",
    )
    moments = Table(
        "moments",
        f"Shape before and after cleaning ({name})",
        (
            Column("samples"),
            Column("n", "count"),
            Column("mean", "time_ns"),
            Column("standard deviation", "time_ns"),
            Column("skewness", "number"),
            Column("kurtosis", "number"),
        ),
        [
            (what, m.n, m.mean, m.sd_population, m.skewness_population, m.kurtosis_population)
            for what, m in (("all", kept.raw), ("up to the cut-off", kept.clean))
        ],
        "Kurtosis is not the excess: 3 for a normal distribution.",
    )
    return [cutoffs, moments]


def _of_interrupts(recording: Recording) -> Table:
    columns = (
        Column("line"),
        Column("name"),
        Column("CPU"),
        Column("count", "count"),
        Column("rate", "rate_hz"),
    )
    rows: list[tuple[str, str, str, int, float]] = []
    seconds = recording.conditions.window_ns / 1e9
    if recording.has("interrupts") and seconds > 0:
        frame = recording.table("interrupts").sort("count", descending=True).head(_MOST_LINES)
        rows = [
            (row["line"], row["name"] or "", str(row["cpu"]), row["count"], row["count"] / seconds)
            for row in frame.iter_rows(named=True)
        ]
    return Table(
        "interrupts",
        "Busiest interrupt lines during the window",
        columns,
        rows,
        "Counted by the OS over the whole window, rests and other loops included.",
    )
