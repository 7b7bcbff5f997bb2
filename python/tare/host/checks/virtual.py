"""Other masters: hypervisor, container, control group.

Answers: who besides this kernel decides when a program runs. Does not answer: what the host does;
a guest cannot see it, except as steal.

References: Linux admin guide `cgroup-v2.rst` (cpu.max, cpu.stat) and `cgroup-v1`;
proc(5) on steal; `Documentation/ABI/stable/sysfs-hypervisor-xen`.
"""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
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
    shorten,
)
from tare.host.machine import Machine

# Files that a container runtime leaves in the container's root.
_CONTAINER_MARKS: Final = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
# Namespaces that the kernel made at boot: PROC_PID_INIT_INO and PROC_UTS_INIT_INO of
# include/linux/proc_ns.h. Every container has process ids or a host name of its own.
_OF_BOOT: Final = {"pid": "pid:[4026531836]", "uts": "uts:[4026531838]"}
# The build date that gVisor's own kernel gives in every release, whatever version it claims (4.4.0,
# 4.19.0-gvisor).
_GVISOR_BUILD: Final = "#1 SMP Sun Jan 10 15:06:54 PST 2016"
# Steal below this share of the window is one or two ticks of rounding.
_MUCH_STEAL: Final = 0.005


def hypervisor(machine: Machine) -> Verdict:
    """See whether this kernel is a guest."""
    marks = []
    for path in ("/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"):
        found = machine.maybe(path)
        if found is not None:
            marks.append(found)
    for line in machine.text("/proc/cpuinfo").splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == "flags":
            is_guest = "hypervisor" in rest.split()
            flag = Evidence("/proc/cpuinfo flags", "hypervisor" if is_guest else "no hypervisor")
            if not is_guest:
                return ok(flag, *marks)
            return disturbs(flag, *marks, advice="measure on bare metal, or beside a quiet host")
    if marks and marks[0].source == "/sys/hypervisor/type":
        return disturbs(*marks, advice="measure on bare metal, or beside a quiet host")
    raise Unclear("/proc/cpuinfo", "has no flags from which to tell (another kind of CPU)")


def steal(machine: Machine) -> Verdict:
    """See whether the hypervisor gave the measuring CPUs to others within the window."""
    uses = {cpu: machine.window.cpu_use(cpu) for cpu in machine.cpus}
    evidence, most = [], 0.0
    for cpu, use in uses.items():
        if use is None:
            raise Unclear(f"/proc/stat cpu{cpu}", "counts no time here")
        most = max(most, use.steal)
        evidence.append(Evidence(f"/proc/stat cpu{cpu} steal", f"{use.steal:.1%} of the window"))
    if most <= _MUCH_STEAL:
        return ok(*evidence)
    return disturbs(*evidence, advice="measure when the host is quieter, or on dedicated CPUs")


def container(machine: Machine) -> Verdict:
    """See whether this is a container or a sandbox."""
    version = machine.value("/proc/version")
    if _GVISOR_BUILD in version.value:
        return disturbs(
            Evidence(version.source, "the build that gVisor's kernel claims to be"),
            advice="gVisor serves system calls itself; measure outside, unless you weigh gVisor",
        )
    spaces = {kind: machine.link(f"/proc/self/ns/{kind}") for kind in _OF_BOOT}
    if spaces == _OF_BOOT:
        # A virtual machine made of a container's image keeps the files of one.
        told = ", ".join(_OF_BOOT.values())
        return ok(Evidence("/proc/self/ns", f"{told}: the namespaces of boot"))
    marks = [path for path in _CONTAINER_MARKS if machine.exists(path)]
    if not marks:
        return ok(Evidence(", ".join(_CONTAINER_MARKS), "none is there"))
    return disturbs(
        *(Evidence(path, "is there") for path in marks),
        advice="run tare on the host; inside, other containers are invisible but not absent",
    )


def cpu_quota(machine: Machine) -> Verdict:
    """See whether this process' control group, or one above it, limits CPU time."""
    path, is_v2 = _own_group(machine.text("/proc/self/cgroup"))
    seen: list[Evidence] = []
    for folder in _upwards(path):
        verdict = _quota_v2(machine, folder, seen) if is_v2 else _quota_v1(machine, folder, seen)
        if verdict is not None:
            return verdict
    if not seen:
        return ok(Evidence(f"control group {shorten(path)}", "nothing above it limits CPU time"))
    return ok(*seen)


def _own_group(cgroups: str) -> tuple[str, bool]:
    """Return the folder of this process' CPU group, and whether it is of version 2."""
    unified = None
    for line in cgroups.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "cpu" in controllers.split(","):
            return f"/sys/fs/cgroup/{controllers}{path}", False
        if controllers == "" and path.startswith("/"):
            unified = f"/sys/fs/cgroup{path}"
    if unified is None:
        raise Absent("/proc/self/cgroup", "names no group for CPU time")
    return unified, True


def _upwards(path: str) -> list[str]:
    """Return a group's folder and those above it, down to the root of all groups."""
    if "\0" in path or ".." in path:
        # A process outside of its own cgroup namespace: what is above cannot be named from here.
        raise Unclear("/proc/self/cgroup", f"{shorten(path)} lies outside of this namespace")
    here = PurePosixPath(path)
    return [str(p) for p in (here, *here.parents) if len(p.parts) >= 4]


def _quota_v2(machine: Machine, folder: str, seen: list[Evidence]) -> Verdict | None:
    found = machine.maybe(f"{folder}/cpu.max")
    if found is None:
        return None
    seen.append(found)
    quota, _, period = found.value.partition(" ")
    if quota == "max":
        return None
    Evidence(found.source, quota).number()  # raises where it is neither
    throttled = [
        Evidence(f"{folder}/cpu.stat", line)
        for line in machine.text(f"{folder}/cpu.stat").splitlines()
        if line.startswith(("nr_throttled", "throttled_usec"))
    ]
    return disturbs(
        found,
        *throttled,
        mend=machine.write({found.source: f"max {period}".strip()}),
        undo=machine.write({found.source: found.value}),
    )


def _quota_v1(machine: Machine, folder: str, seen: list[Evidence]) -> Verdict | None:
    found = machine.maybe(f"{folder}/cpu.cfs_quota_us")
    if found is None:
        return None
    seen.append(found)
    if found.number() < 0:
        return None
    return disturbs(
        found,
        mend=machine.write({found.source: -1}),
        undo=machine.write({found.source: found.value}),
    )


_check = partial(Check, theme="virtual")

CHECKS: Final = (
    _check(
        name="hypervisor",
        severity=Severity.MEDIUM,
        asks="Does this kernel run on bare metal?",
        why="a hypervisor takes CPUs away, delivers interrupts late and makes some instructions a "
        "thousand times slower, all invisible to the guest",
        look=hypervisor,
        area="/proc/cpuinfo",
    ),
    _check(
        name="steal",
        severity=Severity.HIGH,
        asks="Does the hypervisor leave the measuring CPUs to this guest?",
        why="stolen time is time that the program waits while the guest believes that it runs",
        look=steal,
        area="/proc/stat",
    ),
    _check(
        name="container",
        severity=Severity.LOW,
        asks="Is this outside of any container or sandbox?",
        why="a container hides the neighbours that disturb it, and often forbids pinning, priority "
        "and memory locks",
        look=container,
        area="/proc/version",
    ),
    _check(
        name="cpu_quota",
        severity=Severity.HIGH,
        asks="May this process use a CPU without pause?",
        why="a group that has used its quota stands still until the period ends: holes of tens of "
        "milliseconds",
        look=cpu_quota,
        area="/proc/self/cgroup",
    ),
)
