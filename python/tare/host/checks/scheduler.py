"""The scheduler: who may interrupt a loop that runs at real-time priority.

Answers: is a FIFO thread throttled, are ordinary tasks grouped by session. Does not answer: what
ran beside it (activity.py).

References: Linux `scheduler/sched-rt-group.rst`; the commits 'sched/rt: Remove default bandwidth
control' and 'sched/fair: Add trivial fair server', both in Linux 6.12; sched(7), autogroups.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host.finding import Absent, Check, Severity, Unclear, Verdict, disturbs, ok
from tare.host.machine import Machine

_KERNEL: Final = "/proc/sys/kernel"
# First kernel with the fair server, which throttles FIFO threads in place of the old limit.
_FAIR_SERVER_SINCE: Final = (6, 12)


def rt_throttling(machine: Machine) -> Verdict:
    """See whether a FIFO thread is stopped when it has used its share of each period."""
    runtime = machine.value(f"{_KERNEL}/sched_rt_runtime_us")
    period = machine.value(f"{_KERNEL}/sched_rt_period_us")
    if runtime.number() < 0 or runtime.number() >= period.number():
        return ok(runtime, period)
    evidence = [runtime, period]
    if machine.kernel >= _FAIR_SERVER_SINCE:
        evidence.append(machine.config.option("RT_GROUP_SCHED"))
        if not _groups_are_throttled(machine):
            return ok(*evidence)
    return disturbs(
        *evidence,
        mend=machine.write({runtime.source: -1}),
        undo=machine.write({runtime.source: runtime.value}),
        advice="with -1 a FIFO loop without end locks the CPU up; tare's windows end by themselves",
    )


def _groups_are_throttled(machine: Machine) -> bool:
    """Say whether a kernel with the fair server still keeps the old limit: only for RT groups."""
    asked = machine.boot_parameters.get("rt_group_sched")
    if asked is not None:
        return asked not in ("0", "n", "off")
    is_built_off = machine.config.is_on("RT_GROUP_SCHED_DEFAULT_DISABLED")
    return machine.config.is_on("RT_GROUP_SCHED") and not is_built_off


def fair_server(machine: Machine) -> Verdict:
    """See whether ordinary tasks are given time before a FIFO thread (Linux 6.12 and later)."""
    if machine.kernel < _FAIR_SERVER_SINCE:
        raise Absent("the fair server", "came with Linux 6.12")
    folder = "/sys/kernel/debug/sched/fair_server"
    told = [machine.maybe(f"{folder}/cpu{cpu}/runtime") for cpu in machine.cpus]
    if None in told:
        raise Unclear(
            folder,
            "is not shown; the default gives ordinary tasks 50 ms of each second",
            f"{machine.sudo}mount -t debugfs none /sys/kernel/debug, then ask again as root",
        )
    runtimes = [runtime for runtime in told if runtime is not None]
    active = [runtime for runtime in runtimes if runtime.number() > 0]
    if not active:
        return ok(*runtimes)
    return disturbs(
        *active,
        mend=machine.write({runtime.source: 0 for runtime in active}),
        undo=machine.write({runtime.source: runtime.value for runtime in active}),
    )


def autogroup(machine: Machine) -> Verdict:
    """See whether ordinary tasks share the CPU by session rather than one by one."""
    found = machine.value(f"{_KERNEL}/sched_autogroup_enabled")
    if found.number() == 0:
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({found.source: 0}),
        undo=machine.write({found.source: found.value}),
    )


_check = partial(Check, theme="scheduler", area=_KERNEL)

CHECKS: Final = (
    _check(
        name="rt_throttling",
        severity=Severity.HIGH,
        asks="May a FIFO thread run without being throttled?",
        why="a FIFO loop longer than the runtime of a period (0.95 s of 1 s) is stopped for the "
        "rest of it: holes of about 50 ms that the measurement itself caused",
        look=rt_throttling,
    ),
    _check(
        name="fair_server",
        severity=Severity.HIGH,
        asks="Is the fair server off on the measuring CPUs?",
        why="since Linux 6.12 the fair server takes the CPU from a FIFO thread, by default 50 ms "
        "of each second, as soon as an ordinary task waits",
        look=fair_server,
    ),
    _check(
        name="autogroup",
        severity=Severity.LOW,
        asks="Does each task get its own share of a CPU?",
        why="with autogroups a session's share does not depend on its number of tasks, so the same "
        "load weighs differently from another terminal, and nice values lose their meaning",
        look=autogroup,
    ),
)
