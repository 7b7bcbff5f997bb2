"""The few questions that macOS, FreeBSD and Windows answer through a command.

Answers: clock, power, memory, load and virtualisation, where those systems tell them. Does not
answer: everything else; `Diagnosis.unchecked` names what is left.

These were written from the systems' manuals and are tested with recorded output only; they have
not been run there. A different output is `unknown`, never a guess.

References: macOS pmset(1), sysctl(3); FreeBSD timecounters(4), security(7), sysctl(8), loader(8);
Windows `powercfg /getactivescheme`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from tare.host.finding import Check, Evidence, Severity, Unclear, Verdict, disturbs, ok, shorten
from tare.host.machine import Machine

# GUID of the power scheme 'High performance' (GUID_MIN_POWER_SAVINGS, winnt.h).
_HIGH_PERFORMANCE: Final = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c"
# FreeBSD's quality of a time counter; below 800 stand those that ask a device or a host.
_QUICK_COUNTERS: Final = frozenset({"TSC", "TSC-low", "ARM MPCore Timecounter"})


def _sysctl(machine: Machine, name: str) -> Evidence:
    found = machine.output("sysctl", "-n", name)
    return Evidence(f"sysctl {name}", found.value)


def load(machine: Machine) -> Verdict:
    """Read the load average of macOS and FreeBSD: `{ 0.15 0.10 0.08 }`."""
    found = _sysctl(machine, "vm.loadavg")
    one = re.search(r"\d+[.,]\d+", found.value)
    if one is None:
        raise Unclear(found.source, f"{shorten(found.value)} is not a load average")
    # Half a task on average over the last minute.
    if float(one[0].replace(",", ".")) <= 0.5:
        return ok(found)
    return disturbs(found, advice="end other programs, or wait")


def mac_power(machine: Machine) -> Verdict:
    """See whether a Mac draws from its battery."""
    found = machine.output("pmset", "-g", "batt")
    first = Evidence(found.source, found.value.partition("\n")[0])
    if "'AC Power'" in first.value:
        return ok(first)
    if "'Battery Power'" in first.value:
        return disturbs(first, advice="plug the machine in")
    raise Unclear(found.source, f"{shorten(first.value)} names no power source")


def mac_low_power_mode(machine: Machine) -> Verdict:
    """See whether a Mac's low power mode is on."""
    found = machine.output("pmset", "-g")
    mode = re.search(r"\blowpowermode\s+(\d)", found.value)
    if mode is None:
        raise Unclear(found.source, "does not name lowpowermode")
    told = Evidence(f"{found.source} lowpowermode", mode[1])
    if told.number() == 0:
        return ok(told)
    return disturbs(
        told,
        mend=f"{machine.sudo}pmset -a lowpowermode 0",
        undo=f"{machine.sudo}pmset -a lowpowermode 1",
    )


def mac_hypervisor(machine: Machine) -> Verdict:
    """See whether macOS is a guest."""
    found = _sysctl(machine, "kern.hv_vmm_present")
    return ok(found) if found.number() == 0 else disturbs(found, advice="measure on bare metal")


def mac_swap(machine: Machine) -> Verdict:
    """See whether macOS has swapped: `total = 2048.00M  used = 918.00M  free = ...`."""
    found = _sysctl(machine, "vm.swapusage")
    used = re.search(r"used = (\d+[.,]\d+)M", found.value)
    if used is None:
        raise Unclear(found.source, f"{shorten(found.value)} names no use")
    if float(used[1].replace(",", ".")) == 0:
        return ok(found)
    return disturbs(found, advice="end what holds the memory")


def bsd_clock_source(machine: Machine) -> Verdict:
    """Read FreeBSD's time counter."""
    found = _sysctl(machine, "kern.timecounter.hardware")
    if found.value in _QUICK_COUNTERS:
        return ok(found)
    offered = _sysctl(machine, "kern.timecounter.choice")
    knob = f"{machine.sudo}sysctl kern.timecounter.hardware"
    if re.search(r"\bTSC-low\(\d+\)", offered.value) and re.fullmatch(r"[\w -]+", found.value):
        return disturbs(found, offered, mend=f"{knob}=TSC-low", undo=f"{knob}='{found.value}'")
    return disturbs(found, offered, advice="the kernel offers no better counter")


def bsd_timer_frequency(machine: Machine) -> Verdict:
    """Read how often FreeBSD's tick fires on a busy CPU."""
    found = _sysctl(machine, "kern.hz")
    if found.number() <= 250:
        return ok(found)
    line = "kern.hz=100"
    return disturbs(
        found,
        mend=f"echo {line} | {machine.sudo}tee -a /boot/loader.conf",
        undo=f"{machine.sudo}sed -i '' '/^{line}$/d' /boot/loader.conf",
        advice="takes effect with the next boot",
    )


def bsd_hypervisor(machine: Machine) -> Verdict:
    """See whether FreeBSD is a guest."""
    found = _sysctl(machine, "kern.vm_guest")
    return ok(found) if found.value == "none" else disturbs(found, advice="measure on bare metal")


def bsd_aslr(machine: Machine) -> Verdict:
    """See whether FreeBSD places programs at random."""
    found = _sysctl(machine, "kern.elf64.aslr.enable")
    if found.number() == 0:
        return ok(found)
    knob = f"{machine.sudo}sysctl kern.elf64.aslr.enable"
    return disturbs(found, mend=f"{knob}=0", undo=f"{knob}={found.number()}")


def windows_power_scheme(machine: Machine) -> Verdict:
    """Read the active power scheme of Windows."""
    found = machine.output("powercfg", "/getactivescheme")
    scheme = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", found.value.lower())
    if scheme is None:
        raise Unclear(found.source, f"{shorten(found.value)} names no scheme")
    if scheme[0] == _HIGH_PERFORMANCE:
        return ok(found)
    return disturbs(
        found,
        mend=f"powercfg /setactive {_HIGH_PERFORMANCE}",
        undo=f"powercfg /setactive {scheme[0]}",
    )


_LOAD: Final = "Does nothing else use CPU time?"
_LOAD_WHY: Final = "work on any CPU shares caches, memory bandwidth, power and heat"
_GUEST: Final = "Does this kernel run on bare metal?"
_GUEST_WHY: Final = "a hypervisor takes CPUs away and delivers interrupts late"
_mac = partial(Check, system="macos")
_bsd = partial(Check, system="freebsd")

CHECKS: Final = (
    _mac(name="busy_processes", theme="activity", severity=Severity.HIGH, asks=_LOAD,
         why=_LOAD_WHY, look=load),
    _mac(name="power_supply", theme="cpu", severity=Severity.MEDIUM,
         asks="Does a portable machine run on mains power?",
         why="on battery the firmware lowers the CPU's speed", look=mac_power),
    _mac(name="governor", theme="cpu", severity=Severity.HIGH, asks="Is low power mode off?",
         why="low power mode lowers the CPU's speed", look=mac_low_power_mode),
    _mac(name="hypervisor", theme="virtual", severity=Severity.MEDIUM, asks=_GUEST,
         why=_GUEST_WHY, look=mac_hypervisor),
    _mac(name="swap", theme="memory", severity=Severity.HIGH, asks="Is everything in memory?",
         why="a page that lies in swap costs a disk access at its next use", look=mac_swap),
    _bsd(name="busy_processes", theme="activity", severity=Severity.HIGH, asks=_LOAD,
         why=_LOAD_WHY, look=load),
    _bsd(name="clock_source", theme="clock", severity=Severity.HIGH,
         asks="Is the kernel's clock read in user space?",
         why="other time counters cost up to microseconds a reading", look=bsd_clock_source),
    _bsd(name="timer_frequency", theme="isolation", severity=Severity.MEDIUM,
         asks="Is the tick slow?", why="a 1000 Hz tick interrupts four times as often as one of "
         "250 Hz", look=bsd_timer_frequency),
    _bsd(name="hypervisor", theme="virtual", severity=Severity.MEDIUM, asks=_GUEST,
         why=_GUEST_WHY, look=bsd_hypervisor),
    _bsd(name="aslr", theme="memory", severity=Severity.LOW,
         asks="Do programs start at the same addresses each time?",
         why="addresses decide cache and TLB conflicts", look=bsd_aslr),
    Check(name="governor", theme="cpu", severity=Severity.HIGH, system="windows",
          asks="Is the power scheme the one that keeps the CPU fast?",
          why="other schemes change the CPU's speed with the load", look=windows_power_scheme),
)  # fmt: skip
