"""Ask one machine every question that its system has, and put the answers in order.

Answers: what disturbs measurements here, worst first. Does not answer: by how much; only a
measurement (`tare noise`) does. Changes nothing: commands that mend are text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tare.host.checks import ALL
from tare.host.finding import (
    Absent,
    Check,
    Evidence,
    Finding,
    Severity,
    State,
    Unclear,
    Verdict,
)
from tare.host.machine import Machine

_STATES: Final = list(State)
_SEVERITIES: Final = list(Severity)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings of one machine.

    Attributes
    ----------
    system
        `linux`, `macos`, `freebsd`, `windows` or another name that Python gives the system.
    kernel
        Release of a Linux kernel; None where it is not told.
    cpus
        CPUs that the findings are about: those that a measurement would use.
    window_s
        Length of the window in which changes were watched, seconds.
    findings
        Sorted: what disturbs first, then what is unknown, ok, and not here; within each by
        severity.
    unchecked
        Names of checks that exist on Linux and have no counterpart on this system.
    """

    system: str
    kernel: str | None
    cpus: tuple[int, ...]
    window_s: float
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]

    def of(self, state: State) -> tuple[Finding, ...]:
        """Return the findings in one state, in order."""
        return tuple(finding for finding in self.findings if finding.state is state)


def diagnose(machine: Machine, checks: tuple[Check, ...] = ALL) -> Diagnosis:
    """Ask every check that this machine's system has.

    Parameters
    ----------
    machine
        The machine to look at.
    checks
        The table of checks.

    Returns
    -------
    Diagnosis
        One finding for each check of this system.
    """
    asked = [check for check in checks if check.system == machine.system]
    names = {check.name for check in asked}
    findings = sorted((_ask(check, machine) for check in asked), key=_rank)
    unchecked = tuple(check.name for check in checks if check.name not in names)
    return Diagnosis(
        system=machine.system,
        kernel=_kernel(machine),
        cpus=machine.cpus,
        window_s=machine.window_s,
        findings=tuple(findings),
        unchecked=tuple(dict.fromkeys(unchecked)),
    )


def _ask(check: Check, machine: Machine) -> Finding:
    verdict = _look(check, machine)
    return Finding(
        name=check.name,
        theme=check.theme,
        state=verdict.state,
        severity=check.severity,
        evidence=verdict.evidence,
        why=check.why,
        mend=verdict.mend,
        undo=verdict.undo,
        advice=verdict.advice,
    )


def _look(check: Check, machine: Machine) -> Verdict:
    if check.area is not None and not machine.exists(check.area):
        hidden = Evidence(check.area, "is hidden here (container, sandbox or another kernel)")
        return Verdict(State.UNKNOWN, (hidden,), advice="run tare outside of it, on the host")
    try:
        return check.look(machine)
    except Absent as answer:
        return Verdict(State.NOT_HERE, (Evidence(answer.source, answer.reason),))
    except Unclear as answer:
        told = Evidence(answer.source, answer.reason)
        return Verdict(State.UNKNOWN, (told,), advice=answer.advice)


def _rank(finding: Finding) -> tuple[int, int]:
    return _STATES.index(finding.state), _SEVERITIES.index(finding.severity)


def _kernel(machine: Machine) -> str | None:
    try:
        return machine.value("/proc/sys/kernel/osrelease").value or None
    except (Absent, Unclear):
        return None
