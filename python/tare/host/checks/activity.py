"""Right now: what runs beside the measurement, and what is about to.

Answers: who uses CPU and disk in this moment, which jobs are due. Does not answer: what ran during
a measurement; its recording says that.

References: proc(5) on /proc/stat, /proc/PID/stat and loadavg; systemctl(1), list-timers;
admin-guide/md.rst.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from typing import Any, Final

from tare.host.checks.memory import pressure
from tare.host.finding import Absent, Check, Evidence, Severity, Unclear, Verdict, disturbs, ok
from tare.host.machine import Machine
from tare.host.window import Process

# Shares of one CPU. The kernel counts in ticks of 10 ms, so one tick of a 1 s window is 0.01.
_BUSY_CPU: Final = 0.05
_BUSY_PROCESS: Final = 0.03
_SHOWN: Final = 5
_SOON_S: Final = 15 * 60
_PACKAGE_TOOLS: Final = (
    "apt", "apt-get", "aptitude", "dpkg", "unattended-upgr", "apt.systemd.dai",
    "dnf", "yum", "rpm", "zypper", "pacman", "apk", "update-initramf", "mandb",
)  # fmt: skip
_CRONS: Final = ("cron", "crond", "anacron", "fcron")


def busy_cpus(machine: Machine) -> Verdict:
    """Measure how busy the measuring CPUs are while nothing is measured."""
    evidence, most = [], 0.0
    for cpu in machine.cpus:
        use = machine.window.cpu_use(cpu)
        if use is None:
            raise Unclear(f"/proc/stat cpu{cpu}", "counts no time here")
        most = max(most, use.busy)
        evidence.append(
            Evidence(f"/proc/stat cpu{cpu}", f"busy {use.busy:.0%} of {machine.window_s:g} s")
        )
    load = machine.maybe("/proc/loadavg")
    if load is not None:
        evidence.append(load)
    if most <= _BUSY_CPU:
        return ok(*evidence)
    return disturbs(*evidence, advice="wait, or end what runs there; see busy_processes")


def busy_processes(machine: Machine) -> Verdict:
    """Name the processes that use CPU time right now."""
    window = machine.window
    total = window.total_ticks()
    if total is None or not machine.online:
        raise Unclear("/proc/stat", "counts no time here")
    machine.all_processes()  # unknown where they are hidden
    per_cpu = total / len(machine.online)
    spared = window.ancestors(os.getpid())
    busy = [
        (process, ticks / per_cpu)
        for process, ticks in window.consumers()
        if ticks / per_cpu > _BUSY_PROCESS and process.pid != os.getpid()
    ]
    if not busy:
        return ok(Evidence("/proc/*/stat", f"none uses more than {_BUSY_PROCESS:.0%} of a CPU"))
    shown = busy[:_SHOWN]
    ours = [p.pid for p, _ in shown if not p.is_kernel and p.pid > 1 and p.pid not in spared]
    pids = " ".join(map(str, ours))
    return disturbs(
        *(Evidence(f"/proc/{p.pid}/stat", _use(p, share)) for p, share in shown),
        mend=f"{machine.sudo}kill -STOP {pids}" if ours else None,
        undo=f"{machine.sudo}kill -CONT {pids}" if ours else None,
        advice="stop only what is yours to stop; a service is better stopped by its manager",
    )


def _use(process: Process, share: float) -> str:
    kind = "kernel thread " if process.is_kernel else ""
    return f"{kind}{process.command} {share:.0%} of a CPU"


def io_pressure(machine: Machine) -> Verdict:
    """See whether tasks wait for disks."""
    return pressure(machine, "io")


def cron(machine: Machine) -> Verdict:
    """See whether a cron daemon may start jobs."""
    found = machine.running(*_CRONS)
    if not found:
        return ok(Evidence("/proc/*/stat", f"none of {', '.join(_CRONS)} runs"))
    names = sorted({p.command for p in found})
    manager = "systemctl {} {}" if machine.exists("/run/systemd/system") else "service {1} {0}"
    commands = [
        " && ".join(machine.sudo + manager.format(verb, name) for name in names)
        for verb in ("stop", "start")
    ]
    return disturbs(
        *(Evidence(f"/proc/{p.pid}/stat", p.command) for p in found),
        mend=commands[0] if set(names) <= set(_CRONS) else None,
        undo=commands[1] if set(names) <= set(_CRONS) else None,
    )


def timers(machine: Machine) -> Verdict:
    """List the systemd timers that are due soon."""
    if not machine.exists("/run/systemd/system"):
        raise Absent("/run/systemd/system", "is not there: systemd does not run this machine")
    listed = machine.output("systemctl", "list-timers", "--output=json")
    due = []
    for unit, next_s in _parse_timers(listed):
        left_s = next_s - machine.unix_s()
        if left_s <= _SOON_S:
            due.append((unit, max(0.0, left_s)))
    if not due:
        return ok(Evidence(listed.source, f"none is due within {_SOON_S // 60} minutes"))
    units = " ".join(unit for unit, _ in due)
    return disturbs(
        *(Evidence(f"{listed.source} {unit}", f"due in {left:.0f} s") for unit, left in due),
        mend=f"{machine.sudo}systemctl stop {units}",
        undo=f"{machine.sudo}systemctl start {units}",
    )


def _parse_timers(listed: Evidence) -> list[tuple[str, float]]:
    """Return units and wall-clock seconds of their next start. Units go into a command: checked."""
    try:
        rows: Any = json.loads(listed.value or "[]")
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise Unclear(listed.source, "answers in another form than JSON rows")
    timers = []
    for row in rows:
        unit = row.get("unit") if isinstance(row, dict) else None
        next_us = row.get("next") if isinstance(row, dict) else None
        if not isinstance(unit, str) or not isinstance(next_us, int) or next_us <= 0:
            continue  # a timer without a next start
        if re.fullmatch(r"[\w@.:\\-]+", unit, re.ASCII) and next_us < 1 << 63:
            timers.append((unit, next_us / 1e6))
    return timers


def package_updates(machine: Machine) -> Verdict:
    """See whether packages are being installed or updated."""
    found = []
    for process in machine.running(*_PACKAGE_TOOLS):
        try:
            command = machine.text(f"/proc/{process.pid}/cmdline")
        except (Absent, Unclear):
            command = ""
        # This one only waits for the machine's shutdown.
        if "unattended-upgrade-shutdown" not in command:
            found.append(process)
    if not found:
        return ok(Evidence("/proc/*/stat", "no package manager runs"))
    return disturbs(
        *(Evidence(f"/proc/{p.pid}/stat", p.command) for p in found),
        advice="wait until it has ended; stopping it may leave packages half installed",
    )


def raid_resync(machine: Machine) -> Verdict:
    """See whether a software RAID is being checked or rebuilt."""
    text = machine.text("/proc/mdstat")
    works = re.findall(r"(resync|recovery|check|reshape)\s*=\s*([\d.]+%)", text)
    if not works:
        return ok(Evidence("/proc/mdstat", "no array is at work"))
    return disturbs(
        *(Evidence("/proc/mdstat", f"{what} at {done}") for what, done in works),
        advice="wait until it has ended",
    )


_check = partial(Check, theme="activity")

CHECKS: Final = (
    _check(
        name="busy_cpus",
        severity=Severity.HIGH,
        asks="Are the measuring CPUs idle?",
        why="what runs there shares the CPU with the measurement; at real-time priority it still "
        "shares caches and memory",
        look=busy_cpus,
        area="/proc/stat",
    ),
    _check(
        name="busy_processes",
        severity=Severity.HIGH,
        asks="Does nothing else use CPU time?",
        why="work on any CPU shares caches, memory bandwidth, power and heat with the measurement",
        look=busy_processes,
        area="/proc/stat",
    ),
    _check(
        name="io_pressure",
        severity=Severity.MEDIUM,
        asks="Does no task wait for a disk?",
        why="disk traffic brings interrupts, kernel workers and full queues",
        look=io_pressure,
        area="/proc/pressure",
    ),
    _check(
        name="cron",
        severity=Severity.LOW,
        asks="Is no cron daemon about to start jobs?",
        why="jobs start at full minutes and run for minutes, in some runs and not in others",
        look=cron,
        area="/proc/self/stat",
    ),
    _check(
        name="timers",
        severity=Severity.MEDIUM,
        asks="Is no systemd timer due soon?",
        why="timers start updates, index rebuilds, file-system trims in the middle of a run",
        look=timers,
    ),
    _check(
        name="package_updates",
        severity=Severity.HIGH,
        asks="Is no package being installed or updated?",
        why="an update unpacks, compiles and writes on every CPU for minutes",
        look=package_updates,
        area="/proc/self/stat",
    ),
    _check(
        name="raid_resync",
        severity=Severity.MEDIUM,
        asks="Is no disk array being checked or rebuilt?",
        why="a check or rebuild reads every block for hours, with interrupts and kernel threads",
        look=raid_resync,
        area="/proc",
    ),
)
