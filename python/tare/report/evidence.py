"""The evidence of a recording: host, rungs, clock, conditions, losses, tables, as tables to show.

Every recording carries these, whatever its kind, so every report shows them in the same way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tare import units
from tare.recording import Recording
from tare.recording_schema import Conditions, Host, Rung

_GRANTED_FIRST = {"refused": 0, "unsupported": 1, "not_asked": 2, "granted": 3}

# Fields of the host that are shown first; the others follow in their own order.
_HOST_UNITS = {"memory_bytes": units.size, "swap_bytes": units.size}
_CONDITION_NAMES = {
    "window_ns": "length of the window",
    "load_1min_before": "load average (1 min), before",
    "load_1min_after": "load average (1 min), after",
    "runnable_before": "other threads that could run, before",
    "steal_ns": "time given to others by the hypervisor",
    "context_switches": "context switches, whole machine",
    "page_faults": "page faults, whole machine",
    "page_faults_major": "major page faults, whole machine",
    "interrupts": "interrupts, whole machine",
    "softirqs": "softirqs, whole machine",
    "forks": "processes started",
    "thermal_throttles": "thermal throttle events",
    "cgroup_throttled_ns": "time throttled by the cgroup",
    "frequency_range_khz": "CPU frequency, lowest and highest seen",
}


@dataclass(frozen=True)
class Facts:
    """A titled list of names and values.

    Attributes
    ----------
    title : str
        Heading.
    rows : list of (str, str)
        Name and value; an unknown value reads `unknown`.
    open : bool
        Shown without being asked for.
    """

    title: str
    rows: list[tuple[str, str]]
    open: bool = False


def facts(recording: Recording) -> list[Facts]:
    """Return all evidence of one recording.

    Parameters
    ----------
    recording : Recording
        Of any kind.
    """
    return [
        Facts("What was asked, and when", _asked(recording), open=True),
        Facts("Rungs: what the OS granted", _rungs(recording.manifest.rungs), open=True),
        Facts("Conditions during the window", _conditions(recording.conditions), open=True),
        Facts("Clock", _clock(recording)),
        Facts("Losses and tables", _losses(recording)),
        Facts(f"Host, fingerprint {recording.fingerprint}", _host(recording.host)),
    ]


def _text(value: Any) -> str:
    if value is None:
        return units.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(part) for part in value) or "none"
    if value == "":
        return "none"
    return str(value)


def _asked(recording: Recording) -> list[tuple[str, str]]:
    manifest = recording.manifest
    status: str = manifest.status
    if manifest.status_reason:
        status += f": {manifest.status_reason}"
    rows = [
        ("recording", recording.name),
        ("begun", manifest.started_at),
        ("ended", manifest.finished_at),
        ("status", status),
        ("tool", f"{manifest.tool.name} {manifest.tool.version} ({manifest.tool.target})"),
    ]
    return rows + [
        (f"--{name.replace('_', '-')}", _text(value)) for name, value in manifest.asked.items()
    ]


def _rungs(rungs: list[Rung]) -> list[tuple[str, str]]:
    # Hundreds of CPUs give hundreds of equal answers: one row each, with how many.
    grouped: dict[tuple[str, str, str], list[int | None]] = {}
    for rung in rungs:
        key = (rung.name, rung.state, rung.detail or "")
        grouped.setdefault(key, []).append(rung.cpu)
    rows = []
    for (name, state, detail), cpus in sorted(
        grouped.items(), key=lambda item: (_GRANTED_FIRST[item[0][1]], item[0])
    ):
        known = [cpu for cpu in cpus if cpu is not None]
        where = f" (CPU {units.cpu_list(known)})" if known else ""
        words = state.replace("_", " ")
        rows.append((name.replace("_", " ") + where, f"{words}: {detail}" if detail else words))
    return rows


def _conditions(conditions: Conditions) -> list[tuple[str, str]]:
    rows = []
    for name, value in conditions.model_dump().items():
        label = _CONDITION_NAMES.get(name, name.replace("_", " "))
        if name.endswith("_ns"):
            shown = units.time(value)
        elif name == "frequency_range_khz":
            shown = (
                "unknown" if value is None else " to ".join(units.frequency(v * 1e3) for v in value)
            )
        elif name.startswith("load"):
            shown = "unknown" if value is None else f"{value:.2f}"
        else:
            shown = units.count(value)
        rows.append((label, shown))
    return rows


def _clock(recording: Recording) -> list[tuple[str, str]]:
    clock = recording.clock
    low, high = clock.read_cost_range_ns
    step = clock.ns(clock.step_ticks)
    ratio = clock.store_cost_ratio
    return [
        ("source", clock.source),
        ("same rate in all power states", _text(clock.invariant)),
        ("rate", units.frequency(clock.ticks_per_second)),
        (
            "rate measured against",
            f"{clock.reference}, {units.count(clock.rate_n)} readings over "
            f"{units.time(clock.rate_span_ns)}, "
            f"largest residual {units.time(clock.rate_residual_ns)}",
        ),
        (
            "cost of one reading",
            f"{units.time(clock.read_cost_ns)} ({units.time(low)} to {units.time(high)})",
        ),
        ("step", f"{units.count(clock.step_ticks)} ticks, {units.time(step)}"),
        (
            "cost of a stored reading over a raw one",
            units.UNKNOWN if ratio is None else f"{ratio:.3f} (ratio)",
        ),
        ("largest disagreement between CPUs", units.time(clock.cpu_offset_ns)),
    ]


def _losses(recording: Recording) -> list[tuple[str, str]]:
    losses = recording.losses
    rows = [
        ("records that did not fit", units.count(losses.records)),
        ("deltas that wrapped", units.count(losses.wrapped_deltas)),
    ]
    for table in recording.manifest.tables:
        per_row = f", {table.size_bytes / table.rows:.2f} B a row" if table.rows else ""
        rows.append(
            (table.file, f"{units.count(table.rows)} rows, {units.size(table.size_bytes)}{per_row}")
        )
    return rows


def _host(host: Host) -> list[tuple[str, str]]:
    rows = []
    for name, value in host.model_dump().items():
        if name == "topology":
            rows.append(("topology", _topology(host)))
        elif name == "mitigations":
            rows += [(f"mitigation: {key}", _text(state)) for key, state in value.items()]
        elif name in _HOST_UNITS:
            rows.append((name.removesuffix("_bytes"), _HOST_UNITS[name](value)))
        else:
            rows.append((name.replace("_", " "), _text(value)))
    return rows


def _topology(host: Host) -> str:
    if not host.topology:
        return units.UNKNOWN
    packages = {place.package for place in host.topology}
    cores = {(place.package, place.core) for place in host.topology}
    nodes = {place.node for place in host.topology}
    siblings = Counter(place.siblings for place in host.topology)
    threads = max(siblings.values())
    parts = [f"{len(host.topology)} CPUs"]
    if None not in packages:
        parts.append(f"{len(packages)} packages")
    if not any(core is None for _, core in cores):
        parts.append(f"{len(cores)} cores")
    if None not in siblings:
        parts.append(f"{threads} threads a core")
    if None not in nodes:
        parts.append(f"{len(nodes)} NUMA nodes")
    return ", ".join(parts)
