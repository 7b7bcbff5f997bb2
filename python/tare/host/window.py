"""Two looks at the machine, a pause between them: what changed.

Answers: how many interrupts, how much CPU time, how much steal in the window. Does not answer:
who caused a single detour; that needs kernel events.

Times are in the kernel's USER_HZ ticks (10 ms), so only shares of a CPU are derived from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.host.machine import Machine

# PF_KTHREAD, include/linux/sched.h: the process is a thread of the kernel.
_PF_KTHREAD = 0x0020_0000
# Columns of a cpu line in /proc/stat, proc(5).
_IDLE, _IOWAIT, _STEAL = 3, 4, 7


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat; `ticks` is user and system time."""

    pid: int
    parent: int
    command: str
    is_kernel: bool
    ticks: int


@dataclass(frozen=True, slots=True)
class CpuUse:
    """What one CPU did in the window, as shares of it."""

    busy: float
    steal: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of /proc/interrupts on some CPUs."""

    line: str
    name: str
    in_window: int
    since_boot: int


@dataclass(frozen=True, slots=True)
class Window:
    """The two looks."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    processes_before: Mapping[int, Process]
    processes_after: Mapping[int, Process]

    def total_ticks(self) -> int | None:
        """Return the ticks that all CPUs counted; None where the machine counts none."""
        span = self._cpu_ticks("cpu")
        return None if span is None else sum(span)

    def cpu_use(self, cpu: int) -> CpuUse | None:
        """Return what a CPU did; None where the machine does not say."""
        span = self._cpu_ticks(f"cpu{cpu}")
        if span is None:
            return None
        total = sum(span)
        steal = span[_STEAL] if len(span) > _STEAL else 0
        return CpuUse(1 - (span[_IDLE] + span[_IOWAIT] + steal) / total, steal / total)

    def device_lines(self, cpus: frozenset[int]) -> list[Line]:
        """Return the numbered (device) interrupt lines that ever fired on these CPUs."""
        old = dict(_interrupt_rows(self.before.get("/proc/interrupts", ""), cpus))
        lines = []
        for (line, name), count in _interrupt_rows(self.after.get("/proc/interrupts", ""), cpus):
            if line.isascii() and line.isdigit() and count > 0:
                grown = max(0, count - old.get((line, name), count))
                lines.append(Line(line, name, grown, count))
        return lines

    def growth(self, path: str, read: str | None = None) -> int | None:
        """Return how much a counter file grew; `read` picks the `name value` or `name=value` pair.

        None where it is missing or holds no number.
        """
        first, last = (_counter(side.get(path), read) for side in (self.before, self.after))
        return None if first is None or last is None else last - first

    def consumers(self) -> list[tuple[Process, int]]:
        """Return the processes that used CPU time, most first, with their ticks."""
        used = []
        for pid, process in self.processes_after.items():
            old = self.processes_before.get(pid)
            ticks = process.ticks - (old.ticks if old else 0)
            if ticks > 0:
                used.append((process, ticks))
        return sorted(used, key=lambda pair: (-pair[1], pair[0].pid))

    def ancestors(self, pid: int) -> set[int]:
        """Return a process and all its parents: those that must not be stopped from here."""
        line: set[int] = set()
        while pid not in line and pid in self.processes_after:
            line.add(pid)
            pid = self.processes_after[pid].parent
        return line

    def _cpu_ticks(self, label: str) -> list[int] | None:
        sides = (self.before, self.after)
        first, last = (_stat_row(side.get("/proc/stat", ""), label) for side in sides)
        if first is None or last is None:
            return None
        span = [max(0, b - a) for a, b in zip(first, last, strict=False)]
        # Guest time is contained in user time (proc(5)), so only the first eight columns add up.
        span = span[:8]
        return span if len(span) > _IOWAIT and sum(span) > 0 else None


def watched_paths(machine: Machine) -> list[str]:
    """Return the files whose change within the window some check asks for."""
    paths = ["/proc/stat", "/proc/interrupts", "/proc/vmstat"]
    paths += [f"/proc/pressure/{kind}" for kind in ("cpu", "io", "memory")]
    for cpu in machine.cpus:
        place = f"/sys/devices/system/cpu/cpu{cpu}/thermal_throttle"
        paths += [f"{place}/core_throttle_count", f"{place}/package_throttle_count"]
    return paths


def parse_process(stat: str) -> Process | None:
    """Read /proc/PID/stat; None if it is not one. The command may hold blanks and brackets."""
    head, _, tail = stat.rpartition(")")
    pid, bracket, command = head.partition("(")
    fields = tail.split()
    # proc(5), counted after the command: 1 ppid, 6 flags, 11 utime, 12 stime.
    if not bracket or len(fields) < 13:
        return None
    try:
        user, system = int(fields[11]), int(fields[12])
        is_kernel = bool(int(fields[6]) & _PF_KTHREAD)
        return Process(int(pid), int(fields[1]), command, is_kernel, user + system)
    except ValueError:
        return None


def _stat_row(text: str, label: str) -> list[int] | None:
    for line in text.splitlines():
        name, *fields = line.split() or [""]
        if name == label:
            try:
                return [int(field) for field in fields]
            except ValueError:
                return None
    return None


def _interrupt_rows(text: str, cpus: frozenset[int]) -> Iterator[tuple[tuple[str, str], int]]:
    head, *rows = text.splitlines() or [""]
    columns = [word.removeprefix("CPU") for word in head.split()]
    wanted = [
        i
        for i, cpu in enumerate(columns)
        if cpu.isascii() and cpu.isdigit() and int(cpu[:6]) in cpus
    ]
    for row in rows:
        line, colon, rest = row.partition(":")
        fields = rest.split()
        counts, words = fields[: len(columns)], fields[len(columns) :]
        if not colon or len(counts) < len(columns):
            continue
        try:
            count = sum(int(counts[i]) for i in wanted)
        except ValueError:
            continue
        yield (line.strip(), words[-1] if words else ""), count


def _counter(text: str | None, read: str | None) -> int | None:
    if text is None:
        return None
    if read is not None:
        words = text.replace("=", " ").split()
        text = words[words.index(read) + 1] if read in words[:-1] else ""
    try:
        return int(text)
    except ValueError:
        return None
