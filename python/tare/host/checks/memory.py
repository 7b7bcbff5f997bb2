"""Memory: what the kernel does to pages behind a program's back.

Answers: which background work on memory is on, how full memory is. Does not answer: how many
faults a measurement took; its recording says that.

References: Linux admin guide `mm/transhuge.rst`, `mm/ksm.rst`, `sysctl/vm.rst`,
`sysctl/kernel.rst`; `accounting/psi.rst`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from tare.host.finding import Check, Evidence, Severity, Unclear, Verdict, disturbs, ok, shorten
from tare.host.machine import Machine

_VM: Final = "/proc/sys/vm"
# More than this is written back in bursts that one sees: half a second of a 100 MB/s disk. KiB.
_MUCH_DIRTY_KIB: Final = 48 * 1024
# Below this share of memory the kernel begins to reclaim pages while programs run.
_LITTLE_FREE: Final = 0.10


def _knob(machine: Machine, path: str, quiet: int) -> Verdict:
    """Judge a number that is quiet at one value and disturbs at every other."""
    found = machine.value(path)
    if found.number() == quiet:
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({path: quiet}),
        undo=machine.write({path: found.value}),
    )


def thp(machine: Machine) -> Verdict:
    """Read when the kernel makes huge pages by itself."""
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    found = machine.value(path)
    chosen = re.search(r"\[(\w+)\]", found.value)
    if chosen is None:
        raise Unclear(path, f"{shorten(found.value)} marks no choice")
    if chosen[1] in ("never", "madvise"):
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({path: "madvise"}),
        undo=machine.write({path: chosen[1]}),
    )


def swap(machine: Machine) -> Verdict:
    """See whether pages lie in swap."""
    total, total_kib = machine.meminfo_kib("SwapTotal")
    free, free_kib = machine.meminfo_kib("SwapFree")
    used = Evidence("swap in use", f"{max(0, total_kib - free_kib)} KiB")
    moved = [machine.window.growth("/proc/vmstat", name) or 0 for name in ("pswpin", "pswpout")]
    if total_kib == 0 or (total_kib <= free_kib and not any(moved)):
        return ok(total, used)
    return disturbs(
        total,
        free,
        used,
        Evidence("/proc/vmstat pswpin, pswpout", f"{moved[0]}, {moved[1]} within the window"),
        mend=f"{machine.sudo}swapoff -a",
        undo=f"{machine.sudo}swapon -a",
        advice="swapoff needs as much free memory as is in swap; tare locks its own memory",
    )


def swappiness(machine: Machine) -> Verdict:
    """See whether the kernel may swap programs out in favour of file pages."""
    total, total_kib = machine.meminfo_kib("SwapTotal")
    found = machine.value(f"{_VM}/swappiness")
    # 60 is the default; at 10 and below programs' pages go only when little else is left.
    if total_kib == 0 or found.number() <= 10:
        return ok(found, total)
    return disturbs(
        found,
        total,
        mend=machine.write({found.source: 1}),
        undo=machine.write({found.source: found.value}),
    )


def aslr(machine: Machine) -> Verdict:
    """See whether addresses differ from start to start."""
    verdict = _knob(machine, "/proc/sys/kernel/randomize_va_space", 0)
    if verdict.mend is None:
        return verdict
    return disturbs(
        *verdict.evidence,
        mend=verdict.mend,
        undo=verdict.undo,
        advice="this weakens the machine's defences; `setarch -R COMMAND` turns it off for one "
        "command only, and many starts of the program average it out",
    )


def numa_balancing(machine: Machine) -> Verdict:
    """See whether the kernel unmaps pages to learn who uses them."""
    return _knob(machine, "/proc/sys/kernel/numa_balancing", 0)


def ksm(machine: Machine) -> Verdict:
    """See whether the kernel merges equal pages."""
    found = machine.value("/sys/kernel/mm/ksm/run")
    if found.number() != 1:
        return ok(found)
    return disturbs(
        found, mend=machine.write({found.source: 0}), undo=machine.write({found.source: 1})
    )


def compaction(machine: Machine) -> Verdict:
    """See whether the kernel compacts memory before anybody asks."""
    return _knob(machine, f"{_VM}/compaction_proactiveness", 0)


def vmstat_updates(machine: Machine) -> Verdict:
    """See how often each CPU folds its memory statistics."""
    found = machine.value(f"{_VM}/stat_interval")
    # The default is 1 s; a minute and more is rarer than anything else that is left.
    if found.number() >= 60:
        return ok(found)
    return disturbs(
        found,
        mend=machine.write({found.source: 120}),
        undo=machine.write({found.source: found.value}),
    )


def dirty_pages(machine: Machine) -> Verdict:
    """See how much waits to be written to disk."""
    dirty, dirty_kib = machine.meminfo_kib("Dirty")
    leaving, leaving_kib = machine.meminfo_kib("Writeback")
    if dirty_kib + leaving_kib <= _MUCH_DIRTY_KIB:
        return ok(dirty, leaving)
    return disturbs(dirty, leaving, mend="sync", advice="there is nothing to undo")


def laptop_mode(machine: Machine) -> Verdict:
    """See whether writes are held back and then done in one burst."""
    return _knob(machine, f"{_VM}/laptop_mode", 0)


def free_memory(machine: Machine) -> Verdict:
    """See whether there is memory to be had without reclaiming."""
    available, available_kib = machine.meminfo_kib("MemAvailable")
    total, total_kib = machine.meminfo_kib("MemTotal")
    if total_kib <= 0:
        raise Unclear(total.source, f"{total.value} cannot be")
    if available_kib >= _LITTLE_FREE * total_kib:
        return ok(available, total)
    return disturbs(available, total, advice="end what holds the memory, or measure less at once")


def memory_pressure(machine: Machine) -> Verdict:
    """See whether tasks wait for memory."""
    return pressure(machine, "memory")


def pressure(machine: Machine, kind: str) -> Verdict:
    """Judge one file of /proc/pressure: waiting within the window, or in the last ten seconds."""
    path = f"/proc/pressure/{kind}"
    first = machine.value(path)
    some = re.search(r"^some avg10=(\d+\.\d+)", first.value)
    if some is None:
        raise Unclear(path, f"{shorten(first.value)} is not a pressure")
    grown_us = machine.window.growth(path, "total") or 0
    found = Evidence(f"{path} some avg10", f"{some[1]} %")
    now = Evidence(f"{path} some total", f"{grown_us} us more in {machine.window_s:g} s")
    # One per cent: PSI averages every 2 s, less is a single short wait.
    if float(some[1]) < 1.0 and grown_us < machine.window_s * 1e4:
        return ok(found, now)
    return disturbs(found, now, advice="wait until what causes it has ended; see busy_processes")


_check = partial(Check, theme="memory")

CHECKS: Final = (
    _check(
        name="thp",
        severity=Severity.MEDIUM,
        asks="Are huge pages made only where a program asks for them?",
        why="khugepaged and page faults copy and clear 2 MiB at once, hundreds of microseconds, at "
        "times that no program chose",
        look=thp,
        area="/sys/kernel/mm",
    ),
    _check(
        name="swap",
        severity=Severity.HIGH,
        asks="Is everything in memory?",
        why="a page that lies in swap costs a disk access, milliseconds, at its next use",
        look=swap,
        area="/proc/meminfo",
    ),
    _check(
        name="swappiness",
        severity=Severity.LOW,
        asks="Does the kernel keep programs in memory when files are read?",
        why="with swap and a high swappiness, copying a large file swaps idle programs out",
        look=swappiness,
        area=_VM,
    ),
    _check(
        name="aslr",
        severity=Severity.LOW,
        asks="Do programs start at the same addresses each time?",
        why="addresses decide cache and TLB conflicts, so starts of one program differ by some per "
        "cent while repetitions within one start agree",
        look=aslr,
        area="/proc/sys/kernel",
    ),
    _check(
        name="numa_balancing",
        severity=Severity.MEDIUM,
        asks="Is automatic NUMA balancing off?",
        why="it unmaps pages to see who touches them: page faults and copies in a running program",
        look=numa_balancing,
        area="/proc/sys/kernel",
    ),
    _check(
        name="ksm",
        severity=Severity.MEDIUM,
        asks="Is the merging of equal pages off?",
        why="ksmd reads through memory on some CPU, and a write to a merged page costs a copy",
        look=ksm,
        area="/sys/kernel/mm",
    ),
    _check(
        name="compaction",
        severity=Severity.LOW,
        asks="Is proactive compaction off?",
        why="kcompactd moves pages about in the background; a moved page stalls who uses it",
        look=compaction,
        area=_VM,
    ),
    _check(
        name="vmstat_updates",
        severity=Severity.LOW,
        asks="Are memory statistics folded rarely?",
        why="a kernel worker wakes on every CPU once each interval, by default each second",
        look=vmstat_updates,
        area=_VM,
    ),
    _check(
        name="dirty_pages",
        severity=Severity.MEDIUM,
        asks="Has everything been written to disk?",
        why="dirty pages are written back in bursts: interrupts, kernel workers, full disk queues",
        look=dirty_pages,
        area="/proc/meminfo",
    ),
    _check(
        name="laptop_mode",
        severity=Severity.LOW,
        asks="Are writes spread out rather than held back?",
        why="laptop mode holds writes back and does them all whenever the disk is awake",
        look=laptop_mode,
        area=_VM,
    ),
    _check(
        name="free_memory",
        severity=Severity.HIGH,
        asks="Is memory left?",
        why="without free memory every allocation first has to reclaim some from others",
        look=free_memory,
        area="/proc/meminfo",
    ),
    _check(
        name="memory_pressure",
        severity=Severity.HIGH,
        asks="Does no task wait for memory?",
        why="tasks that wait for memory are tasks that reclaim, swap and write, on every CPU",
        look=memory_pressure,
        area="/proc/pressure",
    ),
)
