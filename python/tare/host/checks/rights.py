"""What this user may do: priority, memory locks, counters, BPF.

Answers: which rung a measurement will stand on. Does not answer: what was granted in a
measurement; its recording says that.

These do not disturb by themselves: what is refused, `tare` does without, and the measurement
lies open to the disturbances that the right would have kept away.

References: capabilities(7); getrlimit(2); limits.conf(5); perf_event_open(2); Linux admin guide
`sysctl/kernel.rst` and `perf-security.rst`; kernel_lockdown(7).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host.finding import Absent, Check, Evidence, Severity, Unclear, Verdict, disturbs, ok
from tare.host.machine import Machine

# Bits of a capability set, include/uapi/linux/capability.h.
_IPC_LOCK: Final = 14
_SYS_ADMIN: Final = 21
_SYS_NICE: Final = 23
_PERFMON: Final = 38
_BPF: Final = 39
# The largest buffer that `tare noise` locks with its defaults, with room for the program itself.
_LOCKED_BYTES: Final = 512 << 20


def _capable(machine: Machine, *any_of: int) -> tuple[Evidence, bool]:
    """Return this process' effective capabilities, and whether one of these is among them."""
    found = machine.status_field("CapEff")
    try:
        held = int(found.value, 16)
    except ValueError:
        raise Unclear(found.source, "is not a set of capabilities") from None
    return found, any(held >> bit & 1 for bit in any_of)


def _limit(machine: Machine, name: str) -> tuple[Evidence, int | None]:
    """Return the soft limit of this name; None is unlimited."""
    for line in machine.text("/proc/self/limits").splitlines():
        if line.startswith(name):
            soft = Evidence(f"/proc/self/limits {name}", (line[len(name) :].split() or [""])[0])
            return soft, None if soft.value == "unlimited" else soft.number()
    raise Absent(f"/proc/self/limits {name}")


def _raise_limit(machine: Machine, item: str, value: str) -> tuple[str, str]:
    drop_in = f"/etc/security/limits.d/90-tare-{item}.conf"
    mend = f'echo "$(id -un) - {item} {value}" | {machine.sudo}tee {drop_in}'
    return mend, f"{machine.sudo}rm {drop_in}"


def rtprio(machine: Machine) -> Verdict:
    """See whether this user may ask for real-time priority."""
    held, may = _capable(machine, _SYS_NICE)
    if may:
        return ok(held)
    limit, highest = _limit(machine, "Max realtime priority")
    if highest is None or highest >= 1:
        return ok(limit)
    mend, undo = _raise_limit(machine, "rtprio", "99")
    return disturbs(
        held, limit, mend=mend, undo=undo, advice="log in again afterwards, or run as root"
    )


def memlock(machine: Machine) -> Verdict:
    """See whether this user may lock as much memory as a measurement needs."""
    held, may = _capable(machine, _IPC_LOCK)
    if may:
        return ok(held)
    limit, most_bytes = _limit(machine, "Max locked memory")
    if most_bytes is None or most_bytes >= _LOCKED_BYTES:
        return ok(limit)
    mend, undo = _raise_limit(machine, "memlock", "unlimited")
    return disturbs(
        held, limit, mend=mend, undo=undo, advice="log in again afterwards, or run as root"
    )


def perf_events(machine: Machine) -> Verdict:
    """See whether this user may watch kernel events of a CPU."""
    found = machine.value("/proc/sys/kernel/perf_event_paranoid")
    held, may = _capable(machine, _PERFMON, _SYS_ADMIN)
    # 0 and below: events of whole CPUs and kernel profiling without a right (perf-security.rst).
    if may or found.number() <= 0:
        return ok(found, held)
    return disturbs(
        found,
        held,
        mend=machine.write({found.source: 0}),
        undo=machine.write({found.source: found.value}),
        advice="or run as root",
    )


def bpf(machine: Machine) -> Verdict:
    """See whether this user may load BPF programs that name the causes of detours."""
    types = "/sys/kernel/btf/vmlinux"
    if not machine.exists(types):
        return disturbs(
            Evidence(types, "is not there: the kernel is built without CONFIG_DEBUG_INFO_BTF"),
            advice="use a kernel with CONFIG_DEBUG_INFO_BTF=y",
        )
    lockdown = machine.maybe("/sys/kernel/security/lockdown")
    if lockdown is not None and "[confidentiality]" in lockdown.value:
        return disturbs(lockdown, advice="BPF may not read kernel memory in this lockdown mode")
    held, may_load = _capable(machine, _BPF, _SYS_ADMIN)
    _, may_trace = _capable(machine, _PERFMON, _SYS_ADMIN)
    found = Evidence(types, "is there")
    if may_load and may_trace:
        return ok(found, held)
    return disturbs(found, held, advice="run as root")


_check = partial(Check, theme="rights")

CHECKS: Final = (
    _check(
        name="rtprio",
        severity=Severity.MEDIUM,
        asks="May this user run at real-time priority?",
        why="without it every ordinary task may preempt the measurement",
        look=rtprio,
        area="/proc/self/status",
    ),
    _check(
        name="memlock",
        severity=Severity.MEDIUM,
        asks="May this user lock memory?",
        why="memory that is not locked may be moved, swapped or faulted in during the window",
        look=memlock,
        area="/proc/self/status",
    ),
    _check(
        name="perf_events",
        severity=Severity.LOW,
        asks="May this user watch kernel events?",
        why="without them a detour is seen but its cause cannot be named",
        look=perf_events,
        area="/proc/sys/kernel",
    ),
    _check(
        name="bpf",
        severity=Severity.LOW,
        asks="May this user load BPF programs?",
        why="without them a detour is seen but its cause cannot be named",
        look=bpf,
        area="/sys/kernel",
    ),
)
