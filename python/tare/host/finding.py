"""What a check is, and what it answers.

Answers: the words in which every check of `tare doctor` speaks (state, severity, evidence,
command). Does not answer: anything about a machine; that is the checks' work.

Place on the way of the data: beside it. The doctor looks at the machine before a measurement;
it writes no recording and reads none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.host.machine import Machine


class State(StrEnum):
    """What a check found, worst first."""

    DISTURBS = "disturbs"
    UNKNOWN = "unknown"
    OK = "ok"
    NOT_HERE = "not_here"


class Severity(StrEnum):
    """How much the thing can do to a measurement where it disturbs, worst first.

    A judgement, not a measurement: `high` can take milliseconds at once, change the speed of the
    CPU or make the clock useless; `medium` takes microseconds again and again; `low` is rare,
    small, or only keeps `tare` from seeing more.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Absent(Exception):  # noqa: N818  (an answer, not a failure)
    """The machine or its kernel has no such thing."""

    def __init__(self, source: str, reason: str = "is not there") -> None:
        super().__init__(f"{source} {reason}")
        self.source = source
        self.reason = reason


class Unclear(Exception):  # noqa: N818  (an answer, not a failure)
    """The machine may have it, but does not tell us."""

    def __init__(self, source: str, reason: str, advice: str | None = None) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was read: where, and what it said."""

    source: str
    value: str

    def number(self) -> int:
        """Return the value as a whole number.

        Raises
        ------
        Unclear
            If the value is anything else.
        """
        try:
            return int(self.value)
        except ValueError:
            raise Unclear(self.source, f"holds {shorten(self.value)}, not a number") from None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one look of a check came to."""

    state: State
    evidence: tuple[Evidence, ...]
    mend: str | None = None
    undo: str | None = None
    advice: str | None = None


def ok(*evidence: Evidence) -> Verdict:
    """Say that this does not disturb."""
    return Verdict(State.OK, evidence)


def disturbs(
    *evidence: Evidence,
    mend: str | None = None,
    undo: str | None = None,
    advice: str | None = None,
) -> Verdict:
    """Say that this disturbs, with the command that mends it and the one that takes it back."""
    return Verdict(State.DISTURBS, evidence, mend, undo, advice)


@dataclass(frozen=True, slots=True)
class Check:
    """One question to the machine.

    `area` is a path that every kernel with this information shows. Where it is missing, the
    machine hides the answer (a container, a sandbox) and the finding is `unknown`; where it is
    there and the file itself is not, the kernel has no such thing and the finding is `not_here`.
    """

    name: str
    theme: str
    severity: Severity
    asks: str
    why: str
    look: Callable[[Machine], Verdict]
    area: str | None = None
    system: str = "linux"


@dataclass(frozen=True, slots=True)
class Finding:
    """A check and its verdict: one row of the doctor's table, one object of its JSON."""

    name: str
    theme: str
    state: State
    severity: Severity
    evidence: tuple[Evidence, ...]
    why: str
    mend: str | None
    undo: str | None
    advice: str | None


def shorten(text: str, limit: int = 60) -> str:
    """Quote foreign text for a message: printable, at most `limit` characters of it."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return repr(shown)
