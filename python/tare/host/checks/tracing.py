"""Others who measure: tracers and profilers that are already running.

Answers: does somebody else's instrument sit in the kernel or on a process. Does not answer: what
tare's own costs; its benches say that.

References: Linux `trace/ftrace.rst`, `trace/events.rst`; admin guide `sysctl/kernel.rst`
(bpf_stats_enabled); proc(5) on TracerPid.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host.finding import Absent, Check, Evidence, Severity, Verdict, disturbs, ok
from tare.host.machine import Machine

_TRACING: Final = "/sys/kernel/tracing"
_PROFILERS: Final = (
    "perf", "bpftrace", "bpftool", "trace-cmd", "rtla", "strace", "ltrace", "gdb", "lldb",
    "rr", "valgrind", "sysdig", "falco", "stap", "stapio", "lttng-sessiond", "lttng-consumerd",
    "perfetto", "traced", "samply", "blktrace",
)  # fmt: skip


def tracers(machine: Machine) -> Verdict:
    """See whether the kernel's tracer or its events are on, in any instance."""
    if not machine.names(_TRACING):
        raise Absent(_TRACING, "is empty: tracefs is not mounted")
    roots = [_TRACING]
    roots += [f"{_TRACING}/instances/{name}" for name in machine.names(f"{_TRACING}/instances")]
    seen, wrong = [], []
    for root in roots:
        for file, quiet in (("current_tracer", "nop"), ("events/enable", "0")):
            found = machine.maybe(f"{root}/{file}")
            if found is None:
                continue
            seen.append(found)
            if found.value != quiet:
                wrong.append((found, quiet))
    if not seen:
        raise Absent(_TRACING, "has no tracer")
    if not wrong:
        return ok(*seen)
    # `X` says that some events are on; there is no single value that puts just those back.
    again = {found.source: found.value for found, _ in wrong if found.value != "X"}
    return disturbs(
        *(found for found, _ in wrong),
        mend=machine.write({found.source: quiet for found, quiet in wrong}),
        undo=machine.write(again) if len(again) == len(wrong) else None,
        advice="somebody may be waiting for this trace; single events that are on (`X`) are named "
        f"in {_TRACING}/set_event: keep a copy before turning them off",
    )


def profilers(machine: Machine) -> Verdict:
    """See whether a profiler or a debugger runs, or follows this very process."""
    try:
        traced = machine.status_field("TracerPid")
    except Absent:
        traced = Evidence("/proc/self/status TracerPid", "0")
    found = machine.running(*_PROFILERS)
    evidence = [Evidence(f"/proc/{p.pid}/stat", p.command) for p in found]
    if traced.number() != 0:
        evidence.append(traced)
    if not evidence:
        return ok(Evidence("/proc/*/stat", "no profiler or debugger runs"), traced)
    pids = " ".join(str(p.pid) for p in found)
    return disturbs(
        *evidence,
        mend=f"{machine.sudo}kill -INT {pids}" if pids else None,
        advice="it ends its measurement then, and cannot be put back",
    )


def bpf_stats(machine: Machine) -> Verdict:
    """See whether the kernel times every BPF program."""
    found = machine.value("/proc/sys/kernel/bpf_stats_enabled")
    if found.number() == 0:
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({found.source: 0}),
        undo=machine.write({found.source: found.value}),
    )


_check = partial(Check, theme="tracing")

CHECKS: Final = (
    _check(
        name="tracers",
        severity=Severity.HIGH,
        asks="Is the kernel's tracing off?",
        why="the function tracer makes each kernel function several times slower, events tens to "
        "hundreds of nanoseconds each; a tracer left behind falsifies everything after it",
        look=tracers,
        area="/sys/kernel",
    ),
    _check(
        name="profilers",
        severity=Severity.HIGH,
        asks="Does no profiler or debugger run?",
        why="a profiler interrupts every CPU a thousand times a second, a debugger stops a process "
        "at each system call",
        look=profilers,
        area="/proc/self/status",
    ),
    _check(
        name="bpf_stats",
        severity=Severity.LOW,
        asks="Is the timing of BPF programs off?",
        why="each run of each BPF program then reads the clock twice",
        look=bpf_stats,
        area="/proc/sys/kernel",
    ),
)
