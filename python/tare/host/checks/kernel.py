"""The kernel's own habits: watchdogs, polls, mitigations, debugging.

Answers: what the kernel does by itself at intervals, and what makes each entry to it longer. Does
not answer: how long an entry takes; `tare noise` measures that.

References: Linux admin guide `lockup-watchdogs.rst`, `hw-vuln/index.rst`,
`kernel-parameters.txt`; `arch/x86/x86_64/machinecheck.rst`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host import cpulist
from tare.host.finding import Absent, Check, Evidence, Severity, Verdict, disturbs, ok, shorten
from tare.host.machine import Machine

_KERNEL: Final = "/proc/sys/kernel"
_DEBUG: Final = ("KASAN", "KCSAN", "KMEMLEAK", "PROVE_LOCKING", "DEBUG_PAGEALLOC", "LOCK_STAT")


def nmi_watchdog(machine: Machine) -> Verdict:
    """See whether a counter overflow interrupts each CPU to see if it hangs."""
    found = machine.value(f"{_KERNEL}/nmi_watchdog")
    if found.number() == 0:
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({found.source: 0}),
        undo=machine.write({found.source: found.value}),
    )


def soft_watchdog(machine: Machine) -> Verdict:
    """See whether the soft-lockup watchdog has a timer on the measuring CPUs."""
    found = machine.value(f"{_KERNEL}/soft_watchdog")
    if found.number() == 0:
        return ok(found)
    path = f"{_KERNEL}/watchdog_cpumask"
    if machine.maybe(path) is None:
        return disturbs(
            found,
            mend=machine.write({found.source: 0}),
            undo=machine.write({found.source: found.value}),
        )
    watched, cpus = machine.cpu_list(path)
    if not cpus & set(machine.cpus):
        return ok(found, watched)
    rest = cpus - set(machine.cpus)
    knob, quiet = (watched, cpulist.write_list(rest)) if rest else (found, "0")
    return disturbs(
        found,
        watched,
        mend=machine.write({knob.source: quiet}),
        undo=machine.write({knob.source: knob.value}),
    )


def machine_check_poll(machine: Machine) -> Verdict:
    """See whether each CPU polls its machine-check banks."""
    folder = "/sys/devices/system/machinecheck"
    found = [
        poll
        for cpu in machine.cpus
        if (poll := machine.maybe(f"{folder}/machinecheck{cpu}/check_interval")) is not None
    ]
    if not found:
        raise Absent(folder)
    active = [poll for poll in found if poll.number() != 0]
    if not active:
        return ok(*found)
    return disturbs(
        *active,
        mend=machine.write({poll.source: 0 for poll in active}),
        undo=machine.write({poll.source: poll.value for poll in active}),
        advice="corrected memory errors are then found later",
    )


def mitigations(machine: Machine) -> Verdict:
    """List the mitigations of CPU vulnerabilities that are active."""
    folder = "/sys/devices/system/cpu/vulnerabilities"
    found = [machine.value(f"{folder}/{name}") for name in machine.names(folder)]
    if not found:
        raise Absent(folder)
    active = [e for e in found if e.value.startswith("Mitigation")]
    if not active:
        return ok(Evidence(folder, f"none of {len(found)} is mitigated"))
    mend, undo, advice = machine.boot_with("mitigations=off")
    return disturbs(
        *(Evidence(e.source, shorten(e.value, 80)[1:-1]) for e in active),
        mend=mend,
        undo=undo,
        advice=f"only on a machine that runs nothing but your own programs: this opens it to "
        f"attacks. Usually right: leave them on and compare only with hosts alike; {advice}",
    )


def debug_kernel(machine: Machine) -> Verdict:
    """See whether the kernel checks itself while it works."""
    on = [machine.config.option(name) for name in _DEBUG if machine.config.is_on(name)]
    if not on:
        return ok(Evidence(machine.config.source, f"none of {', '.join(_DEBUG)}"))
    return disturbs(*on, advice="use the distribution's ordinary kernel")


_check = partial(Check, theme="kernel")

CHECKS: Final = (
    _check(
        name="nmi_watchdog",
        severity=Severity.LOW,
        asks="Is the NMI watchdog off?",
        why="it interrupts every CPU some times a minute with an interrupt that nothing can hold "
        "off, and it occupies a hardware counter",
        look=nmi_watchdog,
        area=_KERNEL,
    ),
    _check(
        name="soft_watchdog",
        severity=Severity.LOW,
        asks="Is the soft-lockup watchdog off on the measuring CPUs?",
        why="it wakes a thread of highest priority on each watched CPU every four seconds",
        look=soft_watchdog,
        area=_KERNEL,
    ),
    _check(
        name="machine_check_poll",
        severity=Severity.LOW,
        asks="Is the polling for machine checks off?",
        why="every CPU reads its machine-check banks every five minutes, tens of microseconds",
        look=machine_check_poll,
        area="/sys/devices/system/cpu",
    ),
    _check(
        name="mitigations",
        severity=Severity.LOW,
        asks="Are entries to the kernel free of mitigations?",
        why="mitigations of CPU vulnerabilities make every entry to the kernel longer, so each "
        "detour too; hosts with other mitigations do not compare",
        look=mitigations,
        area="/sys/devices/system/cpu",
    ),
    _check(
        name="debug_kernel",
        severity=Severity.HIGH,
        asks="Is this an ordinary kernel rather than a debugging one?",
        why="a kernel that checks its locks or memory takes several times as long for everything",
        look=debug_kernel,
        area=_KERNEL,
    ),
)
