"""What a recording must look like: its manifest, its tables, their columns and types.

The declaration is Rust's (crates/tare-record: manifest.rs, tables.rs); this is its mirror for the
reading side, and a unit test compares the two. Not here: opening files (`tare.recording`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = "tare-recording"
SCHEMA_VERSION = 1

# Column -> (type, may it be null). Types are named as in tables.rs.
TABLES: dict[str, dict[str, tuple[str, bool]]] = {
    "traces": {
        "trace_id": ("U32", False),
        "loop": ("Text", False),
        "cpu": ("U32", False),
        "cpu_after": ("U32", True),
        "group": ("U32", False),
        "repetition": ("U32", False),
        "window": ("U32", False),
        "memory_state": ("Text", True),
        "start_ticks": ("U64", False),
        "end_ticks": ("U64", False),
        "start_skew_ticks": ("I64", True),
        "samples": ("U64", False),
        "floor_ticks": ("F64", True),
        "threshold_ticks": ("U64", True),
        "quantum_ns": ("U64", True),
        "work_per_quantum": ("U64", True),
        "page_faults_minor": ("U64", True),
        "page_faults_major": ("U64", True),
        "switches_voluntary": ("U64", True),
        "switches_involuntary": ("U64", True),
        "cpu_time_ns": ("U64", True),
        "lost_records": ("U64", False),
        "lost_ticks": ("U64", False),
        "wrapped_deltas": ("U64", False),
    },
    "deltas": {"trace_id": ("U32", False), "delta_ticks": ("U32", False)},
    "detours": {
        "trace_id": ("U32", False),
        "start_ticks": ("U64", False),
        "gap_ticks": ("U64", False),
    },
    "quanta": {
        "trace_id": ("U32", False),
        "start_ticks": ("U64", False),
        "duration_ticks": ("U64", False),
    },
    "slots": {"trace_id": ("U32", False), "slot": ("U64", False), "work": ("U64", False)},
    "cpu_times": {
        "cpu": ("U32", False),
        "user_ns": ("U64", True),
        "system_ns": ("U64", True),
        "irq_ns": ("U64", True),
        "softirq_ns": ("U64", True),
        "idle_ns": ("U64", True),
        "steal_ns": ("U64", True),
    },
    "interrupts": {
        "line": ("Text", False),
        "name": ("Text", True),
        "cpu": ("U32", False),
        "count": ("U64", False),
    },
    "softirqs": {"kind": ("Text", False), "cpu": ("U32", False), "count": ("U64", False)},
}

# A manifest is read whole before anything is known about it; these bounds keep a hostile or broken
# one from filling the memory. The largest real one (1 024 CPUs) has about 150 kB.
MAX_MANIFEST_BYTES = 16 * 2**20
_Text = Annotated[str, Field(max_length=65_536)]
_Count = Annotated[int, Field(ge=0, lt=2**64)]
_Cpu = Annotated[int, Field(ge=0, lt=2**32)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Part(BaseModel):
    # Unknown fields are let through: a new nullable field does not raise the schema version.
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Tool(_Part):
    """The program that measured."""

    name: _Text
    version: _Text
    target: _Text


class CpuPlace(_Part):
    """Where one CPU sits."""

    cpu: _Cpu
    core: _Cpu | None = None
    package: _Cpu | None = None
    node: _Cpu | None = None
    siblings: _Text | None = None
    llc_shared: _Text | None = None


class Host(_Part):
    """Host fingerprint: what the machine is. `None` is unknown."""

    hostname: _Text | None = None
    os: _Text
    os_release: _Text | None = None
    kernel: _Text | None = None
    kernel_version: _Text | None = None
    boot_parameters: _Text | None = None
    preemption: _Text | None = None
    timer_hz: _Count | None = None
    architecture: _Text
    cpu_model: _Text | None = None
    microcode: _Text | None = None
    cpus_online: _Text | None = None
    cpus_isolated: _Text | None = None
    cpus_nohz_full: _Text | None = None
    topology: list[CpuPlace] = Field(default_factory=list, max_length=65_536)
    memory_bytes: _Count | None = None
    clock_source: _Text | None = None
    virtualisation: _Text | None = None
    container: _Text | None = None
    governor: _Text | None = None
    frequency_driver: _Text | None = None
    turbo: bool | None = None
    smt: bool | None = None
    idle_driver: _Text | None = None
    thp: _Text | None = None
    aslr: _Count | None = None
    swappiness: _Count | None = None
    swap_bytes: _Count | None = None
    rt_runtime_us: int | None = None
    rt_period_us: _Count | None = None
    numa_balancing: _Count | None = None
    nmi_watchdog: bool | None = None
    mitigations: dict[_Text, _Text] = Field(default_factory=dict, max_length=4096)


class Clock(_Part):
    """The clock that every `_ticks` column was read from."""

    source: _Text
    invariant: bool | None = None
    reference: _Text
    ticks_per_second: Annotated[float, Field(gt=0, lt=1e15, allow_inf_nan=False)]
    rate_residual_ns: _Finite
    rate_n: _Count
    rate_span_ns: _Count
    read_cost_ns: _Finite
    read_cost_range_ns: Annotated[list[_Finite], Field(min_length=2, max_length=2)]
    step_ticks: _Count
    store_cost_ratio: _Finite | None = None
    anchor_ticks: _Count
    anchor_monotonic_ns: _Count
    anchor_unix_ns: int
    cpu_offset_ns: _Finite | None = None

    def ns(self, ticks: float) -> float:
        """Convert a difference of two readings to nanoseconds."""
        return ticks * (1e9 / self.ticks_per_second)


class Rung(_Part):
    """One thing asked of the OS and its answer."""

    name: _Text
    cpu: _Cpu | None = None
    state: Literal["granted", "refused", "unsupported", "not_asked"]
    detail: _Text | None = None


class Conditions(_Part):
    """What went on beside the measurement: differences over its window. `None` is unknown."""

    window_ns: _Count
    load_1min_before: _Finite | None = None
    load_1min_after: _Finite | None = None
    runnable_before: _Count | None = None
    steal_ns: _Count | None = None
    context_switches: _Count | None = None
    page_faults: _Count | None = None
    page_faults_major: _Count | None = None
    interrupts: _Count | None = None
    softirqs: _Count | None = None
    forks: _Count | None = None
    thermal_throttles: _Count | None = None
    cgroup_throttled_ns: _Count | None = None
    frequency_range_khz: Annotated[list[_Count], Field(min_length=2, max_length=2)] | None = None


class Losses(_Part):
    """What is missing from the tables; all zero means that nothing is."""

    records: _Count
    wrapped_deltas: _Count


class TableEntry(_Part):
    """One table beside the manifest."""

    name: _Text
    file: _Text
    rows: _Count
    size_bytes: _Count


class Manifest(_Part):
    """The whole of `recording.json`."""

    format: Literal["tare-recording"]
    schema_version: Annotated[int, Field(ge=1)]
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    tool: Tool
    started_at: _Text
    finished_at: _Text
    status: Literal["complete", "interrupted"]
    status_reason: _Text | None = None
    asked: dict[_Text, Any]
    host: Host
    clock: Clock
    rungs: Annotated[list[Rung], Field(max_length=65_536)]
    conditions: Conditions
    losses: Losses
    tables: Annotated[list[TableEntry], Field(max_length=256)]
