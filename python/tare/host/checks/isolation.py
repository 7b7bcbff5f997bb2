"""Keeping others off the measuring CPUs: tasks, ticks, callbacks, interrupts, kernel work.

Answers: what else the kernel is allowed to run there. Does not answer: what it did run during a
measurement; the recording's conditions say that.

References: Linux admin guide `kernel-parameters.txt` (isolcpus, nohz_full, rcu_nocbs) and
`kernel-per-CPU-kthreads.rst`; core-api/irq/irq-affinity.rst; core-api/workqueue.rst.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tare.host import cpulist
from tare.host.finding import (
    Check,
    Evidence,
    Severity,
    Unclear,
    Verdict,
    disturbs,
    ok,
)
from tare.host.machine import Machine

_CPU: Final = "/sys/devices/system/cpu"
_NO_ROOM: Final = "all CPUs are measured; leave at least one to everything else with --cpus"


def _boot_for_cpus(machine: Machine, parameter: str, *evidence: Evidence) -> Verdict:
    """Disturbs: mend by a boot parameter that names the measuring CPUs."""
    if not machine.housekeeping:
        return disturbs(*evidence, advice=_NO_ROOM)
    mend, undo, advice = machine.boot_with(f"{parameter}{cpulist.write_list(machine.cpus)}")
    return disturbs(*evidence, mend=mend, undo=undo, advice=advice)


def isolated_cpus(machine: Machine) -> Verdict:
    """See whether the scheduler leaves the measuring CPUs alone."""
    found, isolated = machine.cpu_list(f"{_CPU}/isolated")
    if set(machine.cpus) <= isolated:
        return ok(found)
    return _boot_for_cpus(machine, "isolcpus=managed_irq,domain,", found)


def nohz_full(machine: Machine) -> Verdict:
    """See whether the tick stops on a measuring CPU that runs one task."""
    path = f"{_CPU}/nohz_full"
    if machine.maybe(path) is None:
        found = Evidence(path, "absent: the kernel is built without CONFIG_NO_HZ_FULL")
        return disturbs(found, advice="use a kernel built with CONFIG_NO_HZ_FULL=y")
    found, tickless = machine.cpu_list(path)
    if set(machine.cpus) <= tickless:
        return ok(found)
    return _boot_for_cpus(machine, "nohz_full=", found)


def rcu_callbacks(machine: Machine) -> Verdict:
    """See whether RCU callbacks of the measuring CPUs are run elsewhere."""
    given = machine.boot_parameters.get("rcu_nocbs")
    found = Evidence("/proc/cmdline rcu_nocbs", "not given" if given is None else given)
    mine = set(machine.cpus)
    if given is not None:
        try:
            if given in ("", "all") or mine <= cpulist.parse_list(given):
                return ok(found)
        except ValueError as cause:
            raise Unclear(found.source, str(cause)) from None
    # nohz_full implies rcu_nocbs for the same CPUs (kernel-parameters.txt).
    tickless = machine.maybe(f"{_CPU}/nohz_full")
    if tickless is not None and mine <= machine.cpu_list(tickless.source)[1]:
        return ok(found, tickless)
    try:
        if machine.config.is_on("RCU_NOCB_CPU_DEFAULT_ALL"):
            return ok(found, machine.config.option("RCU_NOCB_CPU_DEFAULT_ALL"))
        if not machine.config.is_on("RCU_NOCB_CPU"):
            unbuilt = machine.config.option("RCU_NOCB_CPU")
            return disturbs(found, unbuilt, advice="use a kernel with CONFIG_RCU_NOCB_CPU=y")
    except Unclear:
        pass  # the build is not told; the boot parameter still is what to ask for
    return _boot_for_cpus(machine, "rcu_nocbs=", found)


def workqueues(machine: Machine) -> Verdict:
    """See whether unbound kernel work may run on the measuring CPUs."""
    path = "/sys/devices/virtual/workqueue/cpumask"
    found, mask = machine.cpu_mask(path)
    if not mask & set(machine.cpus):
        return ok(found)
    rest = mask & machine.online - set(machine.cpus)
    if not rest:
        return disturbs(found, advice=_NO_ROOM)
    return disturbs(
        found,
        mend=machine.write({path: cpulist.write_mask(rest)}),
        undo=machine.write({path: found.value}),
    )


def device_interrupts(machine: Machine) -> Verdict:
    """Find the device interrupts that are delivered to the measuring CPUs."""
    mine = frozenset(machine.cpus)
    lines = {line.line: line for line in machine.window.device_lines(mine)}
    if not machine.text("/proc/interrupts").strip():
        raise Unclear("/proc/interrupts", "is empty here")
    aimed = {}
    for number in machine.names("/proc/irq"):
        path = f"/proc/irq/{number}/smp_affinity_list"
        place = machine.maybe(f"/proc/irq/{number}/effective_affinity_list") or machine.maybe(path)
        if number in lines and place is not None:
            _, cpus = machine.cpu_list(place.source)
            if cpus & mine:
                aimed[number] = machine.value(path)
    counts = [
        Evidence(
            f"/proc/interrupts {n} {lines[n].name}",
            f"{lines[n].in_window} in {machine.window_s:g} s, {lines[n].since_boot} since boot",
        )
        for n in sorted(aimed, key=lambda n: (-lines[n].in_window, -lines[n].since_boot))
    ]
    if not aimed:
        return ok(Evidence("/proc/irq", "none is aimed at the measuring CPUs"))
    if not machine.housekeeping:
        return disturbs(*counts, advice=_NO_ROOM)
    elsewhere = cpulist.write_list(machine.housekeeping)
    return disturbs(
        *counts,
        mend=machine.write({found.source: elsewhere for found in aimed.values()}),
        undo=machine.write({found.source: found.value for found in aimed.values()}),
        advice="an interrupt whose placing the kernel manages itself refuses with an "
        "input/output error; `isolcpus=managed_irq,...` at boot moves those",
    )


def irqbalance(machine: Machine) -> Verdict:
    """See whether a daemon moves interrupts about."""
    found = machine.running("irqbalance")
    if not found:
        return ok(Evidence("/proc/*/stat", "no irqbalance runs"))
    return disturbs(
        *(Evidence(f"/proc/{p.pid}/stat", p.command) for p in found),
        mend=f"{machine.sudo}systemctl stop irqbalance",
        undo=f"{machine.sudo}systemctl start irqbalance",
    )


def timer_migration(machine: Machine) -> Verdict:
    """See whether timers of idle CPUs move to busy ones."""
    found = machine.value("/proc/sys/kernel/timer_migration")
    if found.number() == 0:
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({found.source: 0}),
        undo=machine.write({found.source: found.value}),
    )


def timer_frequency(machine: Machine) -> Verdict:
    """See how often the tick interrupts a measuring CPU."""
    found = machine.config.option("HZ")
    frequency_hz = found.number()
    tickless = machine.maybe(f"{_CPU}/nohz_full")
    if tickless is not None and set(machine.cpus) <= machine.cpu_list(tickless.source)[1]:
        return ok(found, tickless)
    # 250 Hz is the default of kernel/Kconfig.hz and of Debian; faster ticks take in proportion.
    if frequency_hz <= 250:
        return ok(found)
    return disturbs(
        found, advice="use a kernel with CONFIG_HZ of 250 or less, or stop the tick (nohz_full)"
    )


_check = partial(Check, theme="isolation")

CHECKS: Final = (
    _check(
        name="isolated_cpus",
        severity=Severity.MEDIUM,
        asks="Does the scheduler keep other tasks off the measuring CPUs?",
        why="the scheduler places any task there and balances load across it",
        look=isolated_cpus,
        area=_CPU,
    ),
    _check(
        name="nohz_full",
        severity=Severity.MEDIUM,
        asks="Does the tick stop on the measuring CPUs?",
        why="the scheduler's tick interrupts a busy CPU at a fixed rate, some microseconds each",
        look=nohz_full,
        area=_CPU,
    ),
    _check(
        name="rcu_callbacks",
        severity=Severity.MEDIUM,
        asks="Are RCU callbacks run on other CPUs?",
        why="callbacks that free kernel memory run as softirqs, in bursts, where they were queued",
        look=rcu_callbacks,
        area="/proc/cmdline",
    ),
    _check(
        name="workqueues",
        severity=Severity.MEDIUM,
        asks="Is unbound kernel work kept off the measuring CPUs?",
        why="kernel worker threads write back, compact and clean up wherever this mask lets them",
        look=workqueues,
        area="/sys/devices",
    ),
    _check(
        name="device_interrupts",
        severity=Severity.HIGH,
        asks="Are device interrupts delivered elsewhere?",
        why="each interrupt stops the program for its handler and the softirqs that it raises",
        look=device_interrupts,
        area="/proc/interrupts",
    ),
    _check(
        name="irqbalance",
        severity=Severity.LOW,
        asks="Do interrupts stay where they are?",
        why="irqbalance moves interrupts between CPUs every ten seconds, so that runs differ",
        look=irqbalance,
        area="/proc/self/stat",
    ),
    _check(
        name="timer_migration",
        severity=Severity.LOW,
        asks="Do other CPUs keep their own timers?",
        why="timers of idle CPUs are handed to busy ones, and the measuring CPU is always busy",
        look=timer_migration,
        area="/proc/sys/kernel",
    ),
    _check(
        name="timer_frequency",
        severity=Severity.MEDIUM,
        asks="Is the tick slow, or stopped?",
        why="a 1000 Hz tick interrupts four times as often as one of 250 Hz",
        look=timer_frequency,
        area="/proc/sys/kernel",
    ),
)
