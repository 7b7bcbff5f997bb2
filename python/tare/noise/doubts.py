"""Conditions that make a noise result doubtful: what was seen, what it does, what would mend it.

Way of the data: measure -> recording -> infer -> *show*. Reads the manifest and the analysis;
judges no number of the result itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from tare import units
from tare.noise.results import NoiseAnalysis
from tare.recording import Recording
from tare.report import Doubt

# Load average per CPU from which other work, not the OS alone, takes the time. With nothing else to
# do a machine stays below a tenth of this.
_BUSY_LOAD_PER_CPU = 0.3

# What a refused rung means for noise. A name that is not here has its detail alone.
_RUNGS = {
    "fifo": "Ordinary threads may have run in between and count as noise; run as root, "
    "or allow it with `ulimit -r`.",
    "pin": "The thread may have moved between CPUs; take the CPUs that this process may use.",
    "lock_memory": "Pages may have been taken away and fetched again; run as root, or raise "
    "`ulimit -l`.",
    "rt_throttling": "The kernel stops a spinning real-time thread now and then; those holes are "
    "the measurement's own.",
}


def doubts(recording: Recording, analysis: NoiseAnalysis) -> list[Doubt]:
    """Return what makes the result doubtful, the gravest first.

    Parameters
    ----------
    recording : Recording
        Of kind `noise`.
    analysis : NoiseAnalysis
        What it says.
    """
    return [
        *_incomplete(recording),
        *_rungs(recording),
        *_others(recording),
        *_machine(recording),
        *_clock(recording),
        *_traces(analysis),
    ]


def _incomplete(recording: Recording) -> Iterator[Doubt]:
    manifest, losses = recording.manifest, recording.losses
    if manifest.status == "interrupted":
        reason = f": {manifest.status_reason}" if manifest.status_reason else ""
        yield Doubt(f"Not complete{reason}.", "Traces that were not whole are left out.")
    if losses.records:
        yield Doubt(
            f"{units.count(losses.records)} records were lost.",
            "Their time is counted, their lengths and starts are not; measure for a shorter time.",
        )


def _rungs(recording: Recording) -> Iterator[Doubt]:
    refused: dict[tuple[str, str, str], list[int]] = {}
    for rung in recording.manifest.rungs:
        if rung.state in {"refused", "unsupported"}:
            key = (rung.name, rung.state, rung.detail or "")
            refused.setdefault(key, [])
            if rung.cpu is not None:
                refused[key].append(rung.cpu)
    for (name, state, detail), cpus in refused.items():
        where = f" on CPU {units.cpu_list(cpus)}" if cpus else ""
        said = f": {detail}" if detail else ""
        yield Doubt(f"{name.replace('_', ' ')} {state}{where}{said}.", _RUNGS.get(name, ""))


def real_time(recording: Recording) -> bool:
    """Tell whether every loop ran with real-time priority: ordinary threads took nothing then."""
    states = [rung.state for rung in recording.manifest.rungs if rung.name == "fifo"]
    return bool(states) and all(state == "granted" for state in states)


def _others(recording: Recording) -> Iterator[Doubt]:
    seen, host = recording.conditions, recording.host
    cpus = len(host.topology) or None
    if seen.steal_ns:
        share = seen.steal_ns / (seen.window_ns * cpus) if cpus and seen.window_ns else None
        of = f", {units.share(share)} of all CPU time" if share is not None else ""
        yield Doubt(
            f"The hypervisor gave {units.time(seen.steal_ns)} to others{of}.",
            "That looks like noise of this OS; measure when its neighbours are quiet.",
        )
    above = real_time(recording)
    load = seen.load_1min_before
    if load is not None and load >= _BUSY_LOAD_PER_CPU * (cpus or 1):
        yield Doubt(
            f"Load average {load:.1f} before the start.",
            "Other programs were at work, and their interrupts and caches are in it; stop them, or "
            "name them in the result.",
        )
    if seen.runnable_before:
        yield Doubt(
            f"{units.count(seen.runnable_before)} other threads could run at the start.",
            "They had to wait: the loop had real-time priority, and an ordinary program would lose "
            "time to them too (`--priority other` measures that)."
            if above
            else "What they took counts as noise.",
        )
    if seen.cgroup_throttled_ns:
        yield Doubt(
            f"The cgroup was throttled for {units.time(seen.cgroup_throttled_ns)}.",
            "A CPU limit stopped the measurement itself; raise it.",
        )
    if seen.thermal_throttles:
        yield Doubt(
            f"{units.count(seen.thermal_throttles)} thermal throttle events.",
            "The CPU slowed down because it was hot; let it cool.",
        )


def _machine(recording: Recording) -> Iterator[Doubt]:
    host, seen = recording.host, recording.conditions
    if host.virtualisation not in {None, "none", ""}:
        yield Doubt(
            f"Virtual machine ({host.virtualisation}).",
            "Noise of the host below is in it, and cannot be told from that of this OS.",
        )
    if host.container not in {None, "none", ""}:
        yield Doubt(
            f"Inside {host.container}.", "Its limits and its other programs take part as well."
        )
    if host.governor not in {None, "", "performance"}:
        yield Doubt(
            f"Frequency governor {host.governor}.",
            "The CPU's frequency may move under the measurement; see `tare doctor`.",
        )
    span = seen.frequency_range_khz
    if span and span[0] and span[1] / span[0] > 1.05:
        low, high = (units.frequency(value * 1e3) for value in span)
        yield Doubt(
            f"CPU frequency between {low} and {high}.",
            "Equal work took unequal time without anyone taking it.",
        )


def _clock(recording: Recording) -> Iterator[Doubt]:
    clock = recording.clock
    if clock.source == "os":
        yield Doubt(
            "Time was read from the OS, not from the CPU's counter.",
            "Short detours are hidden in the cost of a reading.",
        )
    elif clock.invariant is False:
        yield Doubt(
            "The counter does not run at one rate in all power states.",
            "Lengths are right only while the frequency stays.",
        )


def _traces(analysis: NoiseAnalysis) -> Iterator[Doubt]:
    where: dict[str, list[tuple[str, int]]] = {}
    for trace in analysis.traces:
        words = list(trace.doubts)
        if trace.fraction.why and trace.loop == "selfish":
            words.append(trace.fraction.why)
        for word in words:
            where.setdefault(word, []).append((trace.loop, trace.cpu))
    for word, places in where.items():
        loops = ", ".join(dict.fromkeys(loop for loop, _ in places))
        cpus = units.cpu_list(cpu for _, cpu in places)
        yield Doubt(f"{loops}, CPU {cpus}: {word}.", "")
