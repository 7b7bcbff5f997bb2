"""The clock: what time is read from.

Answers: is the kernel's clock source quick, is the CPU's counter to be trusted. Does not answer:
what a reading costs, or at what rate the counter runs; each recording says that.

References: Linux `timers/timekeeping.rst`; arch/x86/kernel/tsc.c; Intel SDM volume 3B, 'Invariant
TSC'.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host.finding import (
    Absent,
    Check,
    Evidence,
    Severity,
    Unclear,
    Verdict,
    disturbs,
    ok,
)
from tare.host.machine import Machine

_CLOCK: Final = "/sys/devices/system/clocksource/clocksource0"
# Read in user space within tens of nanoseconds, without asking a device or the host.
_GOOD_SOURCES: Final = frozenset({"tsc", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
# Flags of an x86 CPU whose TSC keeps one rate in all speeds and does not stop when idle.
_INVARIANT: Final = ("constant_tsc", "nonstop_tsc")


def clock_source(machine: Machine) -> Verdict:
    """Read the kernel's clock source."""
    path = f"{_CLOCK}/current_clocksource"
    found = machine.value(path)
    if found.value in _GOOD_SOURCES:
        return ok(found)
    offered = machine.value(f"{_CLOCK}/available_clocksource")
    better = [name for name in offered.value.split() if name in _GOOD_SOURCES]
    if not better:
        advice = "the kernel offers no better one; its log says why (`dmesg | grep -i clocksource`)"
        return disturbs(found, offered, advice=advice)
    return disturbs(
        found,
        offered,
        mend=machine.write({path: better[0]}),
        undo=machine.write({path: found.value}),
    )


def tsc_reliability(machine: Machine) -> Verdict:
    """See whether an x86 time stamp counter runs at one rate and is trusted by the kernel."""
    flags: list[str] | None = None
    for line in machine.text("/proc/cpuinfo").splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == "flags":
            flags = rest.split()
            break
    if flags is None or "tsc" not in flags:
        raise Absent("/proc/cpuinfo flags", "name no TSC (another kind of CPU)")
    have = [flag for flag in (*_INVARIANT, "tsc_reliable", "tsc_known_freq") if flag in flags]
    found = Evidence("/proc/cpuinfo flags", " ".join(have) or "tsc only")
    offered = machine.maybe(f"{_CLOCK}/available_clocksource")
    if not set(_INVARIANT) <= set(have):
        return disturbs(found, advice="measure with the OS clock, or on a CPU with invariant TSC")
    if offered is None:
        raise Unclear(_CLOCK, "is hidden here, so the kernel's opinion of the TSC is not known")
    if "tsc" not in offered.value.split():
        return disturbs(
            found,
            offered,
            advice="the kernel has rejected the TSC; its log says why (`dmesg | grep -i tsc`)",
        )
    return ok(found, offered)


_check = partial(Check, theme="clock")

CHECKS: Final = (
    _check(
        name="clock_source",
        severity=Severity.HIGH,
        asks="Is the kernel's clock read in user space?",
        why="every other source costs a system call, a device access or a guest's page of the "
        "host's clock for each reading, up to microseconds",
        look=clock_source,
        area="/sys/devices/system/clocksource",
    ),
    _check(
        name="tsc_reliability",
        severity=Severity.HIGH,
        asks="Does the TSC run at one rate, and does the kernel trust it?",
        why="tare reads this counter; if it stops or changes its rate, ticks become wrong times",
        look=tsc_reliability,
        area="/proc/cpuinfo",
    ),
)
