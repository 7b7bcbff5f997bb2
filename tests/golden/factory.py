"""Recordings with known content, written as tare-probe writes them.

The noise in them is simulated from a seed, so that a test knows the truth: a periodic tick on every
CPU, rare long detours at random instants, and, where asked, one disturbance of known period and
length. `python -m golden.factory DIR` writes one to look at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tare.recording_schema import TABLES

TICKS_PER_SECOND = 2.0e9
TYPES = {"U32": pl.UInt32, "U64": pl.UInt64, "I64": pl.Int64, "F64": pl.Float64, "Text": pl.String}
START_TICKS = 10_000_000_000


@dataclass(frozen=True)
class Truth:
    """What is in a simulated trace.

    Attributes
    ----------
    starts_ns, lengths_ns : float64[n_detours]
        In order of time, not overlapping.
    """

    starts_ns: np.ndarray
    lengths_ns: np.ndarray


def host(**changes: Any) -> dict[str, Any]:
    """A plausible host; `changes` replace single fields."""
    known: dict[str, Any] = {
        "hostname": "scale-1",
        "os": "linux",
        "os_release": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.1.0-18-amd64",
        "kernel_version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1",
        "boot_parameters": "quiet splash",
        "preemption": "voluntary",
        "timer_hz": 250,
        "architecture": "x86_64",
        "cpu_model": "Example CPU @ 2.00GHz",
        "microcode": "0x1",
        "cpus_online": "0-1",
        "cpus_isolated": "",
        "cpus_nohz_full": "",
        "topology": [
            {"cpu": c, "core": c, "package": 0, "node": 0, "siblings": str(c), "llc_shared": "0-1"}
            for c in (0, 1)
        ],
        "memory_bytes": 8 * 2**30,
        "clock_source": "tsc",
        "virtualisation": "none",
        "container": "none",
        "governor": "performance",
        "frequency_driver": None,
        "turbo": None,
        "smt": False,
        "idle_driver": "intel_idle",
        "thp": "madvise",
        "aslr": 2,
        "swappiness": 60,
        "swap_bytes": 0,
        "rt_runtime_us": 950_000,
        "rt_period_us": 1_000_000,
        "numa_balancing": 0,
        "nmi_watchdog": False,
        "mitigations": {"meltdown": "Mitigation: PTI"},
    }
    return known | changes


def manifest(**changes: Any) -> dict[str, Any]:
    """A whole manifest without tables; `changes` replace whole fields."""
    known: dict[str, Any] = {
        "format": "tare-recording",
        "schema_version": 1,
        "kind": "noise",
        "tool": {"name": "tare-probe", "version": "0.1.0", "target": "x86_64-unknown-linux-gnu"},
        "started_at": "2026-01-02T03:04:05Z",
        "finished_at": "2026-01-02T03:04:15Z",
        "status": "complete",
        "status_reason": None,
        "asked": {"loop": ["selfish"], "cpus": "0-1", "duration_ns": 10_000_000_000},
        "host": host(),
        "clock": {
            "source": "tsc",
            "invariant": True,
            "reference": "CLOCK_MONOTONIC_RAW",
            "ticks_per_second": TICKS_PER_SECOND,
            "rate_residual_ns": 35.0,
            "rate_n": 100,
            "rate_span_ns": 10_000_000_000,
            "read_cost_ns": 9.5,
            "read_cost_range_ns": [9.4, 9.9],
            "step_ticks": 2,
            "store_cost_ratio": 1.01,
            "anchor_ticks": START_TICKS,
            "anchor_monotonic_ns": 5_000_000_000,
            "anchor_unix_ns": 1_767_322_645_000_000_000,
            "cpu_offset_ns": 20.0,
        },
        "rungs": [
            {"name": "pin", "cpu": 0, "state": "granted", "detail": "sched_setaffinity"},
            {"name": "fifo", "cpu": 0, "state": "granted", "detail": "SCHED_FIFO 90"},
            {"name": "lock_memory", "cpu": None, "state": "granted", "detail": "mlockall"},
        ],
        "conditions": {
            "window_ns": 10_000_000_000,
            "load_1min_before": 0.1,
            "load_1min_after": 0.4,
            "runnable_before": 0,
            "steal_ns": 0,
            "context_switches": 1234,
            "page_faults": 321,
            "page_faults_major": 0,
            "interrupts": 5432,
            "softirqs": 2345,
            "forks": 1,
            "thermal_throttles": None,
            "cgroup_throttled_ns": None,
            "frequency_range_khz": None,
        },
        "losses": {"records": 0, "wrapped_deltas": 0},
        "tables": [],
    }
    return known | changes


def write(
    folder: Path, tables: Mapping[str, pl.DataFrame], content: Mapping[str, Any] | None = None
) -> Path:
    """Write a recording: the tables as declared, and the manifest that names them."""
    folder.mkdir(parents=True)
    entries = []
    for name, frame in tables.items():
        file = folder / f"{name}.parquet"
        frame.write_parquet(file, compression="lz4")
        entries.append(
            {
                "name": name,
                "file": file.name,
                "rows": frame.height,
                "size_bytes": file.stat().st_size,
            }
        )
    whole = dict(content or manifest()) | {"tables": entries}
    (folder / "recording.json").write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return folder


def frame(name: str, rows: Mapping[str, Any]) -> pl.DataFrame:
    """A table as declared: columns in order, missing nullable ones null."""
    declared = TABLES[name]
    height = next((len(values) for values in rows.values() if np.ndim(values)), 1)
    columns = []
    for column, (kind, nullable) in declared.items():
        if column in rows:
            values = rows[column]
            if np.ndim(values) == 0:
                values = [values] * height
            columns.append(pl.Series(column, values).cast(TYPES[kind]))
        elif nullable:
            columns.append(pl.Series(column, [None] * height, dtype=TYPES[kind]))
        else:
            raise KeyError(f"{name}.{column} must be given")
    return pl.DataFrame(columns)


def simulate(
    rng: np.random.Generator,
    duration_ns: float,
    *,
    tick_hz: float = 250.0,
    tick_ns: float = 2_000.0,
    rare_per_s: float = 5.0,
    injected: tuple[float, float] | None = None,
) -> Truth:
    """Noise with known truth: a tick, rare detours of 20-200 us, maybe an injected disturbance.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of chance.
    duration_ns : float
        Length of the trace.
    tick_hz, tick_ns : float
        Rate and median length of the tick (log-normal, sigma 0.2).
    rare_per_s : float
        Rate of the rare detours, exponential gaps.
    injected : tuple of float, optional
        Period and length in ns of one more disturbance.
    """
    parts = []
    if tick_hz:
        starts = np.arange(rng.uniform(0, 1e9 / tick_hz), duration_ns, 1e9 / tick_hz)
        parts.append((starts, tick_ns * rng.lognormal(0.0, 0.2, starts.size)))
    rare = rng.uniform(0, duration_ns, rng.poisson(rare_per_s * duration_ns / 1e9))
    parts.append((rare, np.exp(rng.uniform(np.log(2e4), np.log(2e5), rare.size))))
    if injected is not None:
        starts = np.arange(injected[0] / 3, duration_ns, injected[0])
        parts.append((starts, np.full(starts.size, injected[1])))
    starts = np.concatenate([start for start, _ in parts])
    lengths = np.concatenate([length for _, length in parts])
    order = np.argsort(starts, kind="stable")
    return _apart(starts[order], lengths[order], duration_ns)


def _apart(starts: np.ndarray, lengths: np.ndarray, duration_ns: float) -> Truth:
    # A detour that begins inside another one is seen as one longer gap.
    kept: list[list[float]] = []
    for start, length in zip(starts, lengths, strict=True):
        if start + length >= duration_ns:
            break
        if kept and start < kept[-1][0] + kept[-1][1] + 100:
            kept[-1][1] += length
        else:
            kept.append([start, length])
    pairs = np.array(kept, dtype=float).reshape(-1, 2)
    return Truth(pairs[:, 0], pairs[:, 1])


def noise(
    folder: Path,
    *,
    seed: int = 1,
    cpus: Sequence[int] = (0, 1),
    loops: Sequence[str] = ("selfish",),
    seconds: float = 10.0,
    samples: int = 10_000,
    changes: Mapping[str, Any] | None = None,
    **noise_options: Any,
) -> tuple[Path, dict[int, Truth]]:
    """A noise recording and the truth of each trace, by trace_id."""
    rng = np.random.default_rng(seed)
    traces: list[dict[str, Any]] = []
    parts: dict[str, list[pl.DataFrame]] = {}
    truth = {}
    for group, loop in enumerate(loops):
        for cpu in cpus:
            number = len(traces)
            length_ns = samples * FLOOR_NS if loop == "timestamps" else seconds * 1e9
            truth[number] = simulate(rng, length_ns, **noise_options)
            start = START_TICKS + int(group * (seconds + 1) * TICKS_PER_SECOND) + 40 * cpu
            rows, about = _LOOPS[loop](rng, truth[number], start, length_ns, number)
            parts.setdefault(_TABLE[loop], []).append(rows)
            traces.append(_trace(number, loop, cpu, group, start) | about)
    tables = {
        "traces": pl.DataFrame(
            [frame("traces", trace).row(0) for trace in traces],
            schema=frame("traces", traces[0]).schema,
            orient="row",
        )
    }
    tables |= {name: pl.concat(rows) for name, rows in parts.items()}
    tables |= _counters(cpus, seconds)
    content = manifest(**{"asked": {"loop": list(loops), "cpus": list(cpus)}} | dict(changes or {}))
    return write(folder, tables, content), truth


FLOOR_NS = 10.0
THRESHOLD_NS = 100.0
_TABLE = {"selfish": "detours", "timestamps": "deltas", "fwq": "quanta", "ftq": "slots"}


def _ticks(ns: Any) -> np.ndarray:
    # The counter moves in steps of two ticks.
    return (np.asarray(ns) * TICKS_PER_SECOND / 1e9 / 2).round().astype(np.int64) * 2


def _trace(number: int, loop: str, cpu: int, group: int, start: int) -> dict[str, Any]:
    return {
        "trace_id": number,
        "loop": loop,
        "cpu": cpu,
        "cpu_after": cpu,
        "group": group,
        "repetition": 0,
        "window": 0,
        "start_ticks": start,
        "start_skew_ticks": 40 * cpu,
        "page_faults_minor": 0,
        "page_faults_major": 0,
        "switches_voluntary": 0,
        "switches_involuntary": 0,
        "lost_records": 0,
        "lost_ticks": 0,
        "wrapped_deltas": 0,
    }


def _selfish(
    rng: np.random.Generator, truth: Truth, start: int, length_ns: float, number: int
) -> tuple[pl.DataFrame, dict[str, Any]]:
    gaps = _ticks(truth.lengths_ns + FLOOR_NS)
    starts = start + _ticks(truth.starts_ns)
    kept = gaps >= _ticks(THRESHOLD_NS)
    rows = frame(
        "detours",
        {"trace_id": number, "start_ticks": starts[kept], "gap_ticks": gaps[kept]},
    )
    return rows, {
        "end_ticks": start + int(_ticks(length_ns)),
        "samples": int((length_ns - truth.lengths_ns.sum()) / FLOOR_NS),
        "floor_ticks": float(_ticks(FLOOR_NS)),
        "threshold_ticks": int(_ticks(THRESHOLD_NS)),
    }


def _timestamps(
    rng: np.random.Generator, truth: Truth, start: int, length_ns: float, number: int
) -> tuple[pl.DataFrame, dict[str, Any]]:
    n = int(length_ns / FLOOR_NS)
    deltas = _ticks(FLOOR_NS + 1.0 * rng.integers(-1, 2, n))
    at = np.minimum((truth.starts_ns / FLOOR_NS).astype(int), n - 1)
    np.add.at(deltas, at, _ticks(truth.lengths_ns))
    rows = frame("deltas", {"trace_id": number, "delta_ticks": deltas})
    return rows, {
        "end_ticks": start + int(deltas.sum()),
        "samples": n,
        "floor_ticks": float(_ticks(FLOOR_NS)),
    }


def _fwq(
    rng: np.random.Generator, truth: Truth, start: int, length_ns: float, number: int
) -> tuple[pl.DataFrame, dict[str, Any]]:
    quantum_ns = 1e6
    n = int((length_ns - truth.lengths_ns.sum()) / quantum_ns)
    # Time of the application runs on only outside the detours.
    own = truth.starts_ns - np.concatenate([[0], np.cumsum(truth.lengths_ns)[:-1]])
    extra = np.bincount(
        np.minimum((own / quantum_ns).astype(int), n - 1), truth.lengths_ns, minlength=n
    )
    durations = _ticks(quantum_ns + extra + rng.normal(0, 20, n))
    starts = start + np.concatenate([[0], np.cumsum(durations)[:-1]])
    rows = frame("quanta", {"trace_id": number, "start_ticks": starts, "duration_ticks": durations})
    return rows, {
        "end_ticks": int(starts[-1] + durations[-1]),
        "samples": n,
        "quantum_ns": int(quantum_ns),
        "work_per_quantum": 4096,
        "floor_ticks": float(_ticks(quantum_ns)),
    }


def _ftq(
    rng: np.random.Generator, truth: Truth, start: int, length_ns: float, number: int
) -> tuple[pl.DataFrame, dict[str, Any]]:
    slot_ns, unit_ns = 1e6, 250.0
    n = int(length_ns / slot_ns)
    taken = np.zeros(n)
    for begin, length in zip(truth.starts_ns, truth.lengths_ns, strict=True):
        first, end = begin, begin + length
        while first < end and int(first / slot_ns) < n:
            slot = int(first / slot_ns)
            upto = min(end, (slot + 1) * slot_ns)
            taken[slot] += upto - first
            first = upto
    work = np.maximum(0, np.floor((slot_ns - taken) / unit_ns)).astype(np.int64)
    rows = frame("slots", {"trace_id": number, "slot": np.arange(n), "work": work})
    return rows, {
        "end_ticks": start + int(_ticks(n * slot_ns)),
        "samples": n,
        "quantum_ns": int(slot_ns),
    }


_LOOPS = {"selfish": _selfish, "timestamps": _timestamps, "fwq": _fwq, "ftq": _ftq}


def _counters(cpus: Sequence[int], seconds: float) -> dict[str, pl.DataFrame]:
    n = len(cpus)
    return {
        "cpu_times": frame(
            "cpu_times",
            {
                "cpu": list(cpus),
                "user_ns": [int(seconds * 0.97e9)] * n,
                "system_ns": [10_000_000] * n,
                "irq_ns": [4_000_000] * n,
                "softirq_ns": [4_000_000] * n,
                "idle_ns": [int(seconds * 0.02e9)] * n,
                "steal_ns": [0] * n,
            },
        ),
        "interrupts": frame(
            "interrupts",
            {
                "line": ["LOC"] * n + ["24"],
                "name": ["Local timer interrupts"] * n + ["virtio0-input.0"],
                "cpu": [*cpus, cpus[0]],
                "count": [int(seconds * 250)] * n + [42],
            },
        ),
        "softirqs": frame(
            "softirqs",
            {
                "kind": ["TIMER"] * n + ["NET_RX"],
                "cpu": [*cpus, cpus[0]],
                "count": [int(seconds * 200)] * n + [42],
            },
        ),
    }


if __name__ == "__main__":
    noise(Path(sys.argv[1]), loops=("timestamps", "selfish", "fwq", "ftq"), samples=1_000_000)
