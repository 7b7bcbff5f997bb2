"""The CPU itself: its speed, and who shares it.

Answers: does the clock frequency stand still, is the core ours alone. Does not answer: how fast
the CPU is.

References: Linux admin guide, `pm/cpufreq.rst` and `pm/intel_pstate.rst`;
Documentation/ABI/testing/sysfs-devices-system-cpu (smt, thermal_throttle).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host import cpulist
from tare.host.finding import (
    Absent,
    Check,
    Evidence,
    Severity,
    Unclear,
    Verdict,
    disturbs,
    ok,
    shorten,
)
from tare.host.machine import Machine

_CPU: Final = "/sys/devices/system/cpu"
# Governors that leave the frequency where it is: at its top, or where a person put it.
_STEADY: Final = frozenset({"performance", "userspace"})


def governor(machine: Machine) -> Verdict:
    """Read the frequency governor of each measuring CPU."""
    found = [machine.value(f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor") for cpu in machine.cpus]
    moving = [e for e in found if e.value not in _STEADY]
    if not moving:
        return ok(*found)
    return disturbs(
        *moving,
        mend=machine.write({e.source: "performance" for e in moving}),
        undo=machine.write({e.source: e.value for e in moving}),
    )


def turbo(machine: Machine) -> Verdict:
    """Read the switch of turbo or boost."""
    switches = (
        (f"{_CPU}/intel_pstate/no_turbo", 0),
        (f"{_CPU}/cpufreq/boost", 1),
    )
    for path, on in switches:
        found = machine.maybe(path)
        if found is None:
            continue
        if found.number() != on:
            return ok(found)
        return disturbs(found, mend=machine.write({path: 1 - on}), undo=machine.write({path: on}))
    raise Absent(switches[0][0])


def smt(machine: Machine) -> Verdict:
    """Look for online hardware threads that share a core with a measuring CPU."""
    evidence: list[Evidence] = []
    others: set[int] = set()
    for cpu in machine.cpus:
        found, siblings = machine.cpu_list(f"{_CPU}/cpu{cpu}/topology/thread_siblings_list")
        evidence.append(found)
        others |= siblings & machine.online - {cpu}
    if not others:
        return ok(*evidence)
    mine = set(machine.cpus)
    switches = [f"{_CPU}/cpu{cpu}/online" for cpu in sorted(others - mine)]
    if not switches or not all(machine.exists(path) for path in switches):
        return disturbs(*evidence, advice="measure on one hardware thread of each core")
    return disturbs(
        *evidence,
        mend=machine.write(dict.fromkeys(switches, 0)),
        undo=machine.write(dict.fromkeys(switches, 1)),
        advice="taking a CPU offline also shrinks cpusets and moves interrupts, and putting it "
        "back does not mend those; `nosmt` at boot has no such trace",
    )


def thermal_throttling(machine: Machine) -> Verdict:
    """Look for slow-downs because of heat."""
    places = [
        f"{_CPU}/cpu{cpu}/thermal_throttle/{kind}_throttle_count"
        for cpu in machine.cpus
        for kind in ("core", "package")
    ]
    counts = [found for path in places if (found := machine.maybe(path)) is not None]
    if not counts:
        raise Absent(places[0])
    since_boot = [found for found in counts if found.number() > 0]
    if not since_boot:
        return ok(*counts)
    grown = sum(machine.window.growth(found.source) or 0 for found in since_boot)
    return disturbs(
        *since_boot,
        Evidence("within the window", f"{grown} more"),
        advice="better cooling or a lower fixed frequency; tare counts the events of each run",
    )


def power_supply(machine: Machine) -> Verdict:
    """See whether the machine runs on its battery."""
    folder = "/sys/class/power_supply"
    mains, batteries = [], []
    for name in machine.names(folder):
        kind = machine.maybe(f"{folder}/{name}/type")
        if kind is not None and kind.value == "Mains":
            mains.append(machine.value(f"{folder}/{name}/online"))
        elif kind is not None and kind.value == "Battery":
            batteries.append(machine.value(f"{folder}/{name}/status"))
    if not batteries:
        raise Absent(folder, "names no battery")
    if any(found.value == "Discharging" for found in batteries) or (
        mains and all(found.number() == 0 for found in mains)
    ):
        return disturbs(*batteries, *mains, advice="plug the machine in")
    return ok(*batteries, *mains)


def cpu_affinity(machine: Machine) -> Verdict:
    """See whether this process may run on the measuring CPUs at all."""
    found = machine.status_field("Cpus_allowed_list")
    try:
        allowed = cpulist.parse_list(found.value)
    except ValueError as cause:
        raise Unclear(found.source, f"{shorten(found.value)}: {cause}") from None
    shut = set(machine.cpus) - allowed
    if not shut:
        return ok(found)
    return disturbs(
        found,
        Evidence("measuring CPUs", cpulist.write_list(machine.cpus)),
        advice=f"choose other CPUs with --cpus, or widen the cpuset by CPU "
        f"{cpulist.write_list(shut)}",
    )


_check = partial(Check, theme="cpu", area=_CPU)

CHECKS: Final = (
    _check(
        name="governor",
        severity=Severity.HIGH,
        asks="Does the frequency governor keep the CPU at one speed?",
        why="a governor changes the CPU's speed with the load, so the same work takes a different "
        "time at the start and at the end of a run",
        look=governor,
    ),
    _check(
        name="turbo",
        severity=Severity.HIGH,
        asks="Is turbo or boost off?",
        why="turbo depends on heat and on how many cores are busy, so speed changes with the "
        "neighbours and the weather",
        look=turbo,
    ),
    _check(
        name="smt",
        severity=Severity.HIGH,
        asks="Has each measuring CPU its core for itself?",
        why="a hardware thread shares its core's units and caches; work on the sibling slows this "
        "one without any event that the kernel could show",
        look=smt,
    ),
    _check(
        name="thermal_throttling",
        severity=Severity.HIGH,
        asks="Has the CPU been slowed down because of heat?",
        why="a hot CPU is slowed down or halted by its firmware, invisible to the scheduler",
        look=thermal_throttling,
    ),
    _check(
        name="power_supply",
        severity=Severity.MEDIUM,
        asks="Does a portable machine run on mains power?",
        why="on battery the firmware and the desktop lower the CPU's speed",
        look=power_supply,
        area="/sys/class/power_supply",
    ),
    _check(
        name="cpu_affinity",
        severity=Severity.HIGH,
        asks="May this process run on the measuring CPUs?",
        why="pinning to a CPU outside the affinity or cpuset is refused, and the measurement "
        "wanders over other CPUs",
        look=cpu_affinity,
        area="/proc/self/status",
    ),
)
