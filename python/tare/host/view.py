"""Show a diagnosis: a table and commands for people, one object for programs.

Answers: how findings look in a terminal and in JSON. Does not answer: what was found (doctor.py).

What was read from the machine is foreign text: control characters are shown as escapes, and
nothing of it is taken for markup.
"""

from __future__ import annotations

from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tare.host import cpulist
from tare.host.doctor import Diagnosis
from tare.host.finding import Evidence, Finding, State

FORMAT: Final = "tare-doctor"
SCHEMA_VERSION: Final = 1

_STYLES: Final = {
    State.DISTURBS: "bold yellow",
    State.UNKNOWN: "magenta",
    State.OK: "green",
    State.NOT_HERE: "dim",
}
# Longest piece of one evidence in the table; the JSON has all of it.
_LONGEST: Final = 160
_MOST_SHOWN: Final = 4


def to_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the object that `tare doctor --json` prints; docs/reference/doctor.md describes it."""
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "system": diagnosis.system,
        "kernel": diagnosis.kernel,
        "cpus": list(diagnosis.cpus),
        "window_s": diagnosis.window_s,
        "counts": {state.value: len(diagnosis.of(state)) for state in State},
        "unchecked": list(diagnosis.unchecked),
        "findings": [_finding_json(finding) for finding in diagnosis.findings],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.name,
        "theme": finding.theme,
        "state": finding.state.value,
        "severity": finding.severity.value,
        "evidence": [{"source": e.source, "value": e.value} for e in finding.evidence],
        "why": finding.why,
        "mend": finding.mend,
        "undo": finding.undo,
        "advice": finding.advice,
    }


def show(diagnosis: Diagnosis, console: Console, *, everything: bool = False) -> None:
    """Print the findings as a table, then the commands that mend what disturbs.

    Parameters
    ----------
    diagnosis
        What was found.
    console
        Where to print.
    everything
        Show what is ok and what is not here with its evidence too, instead of by name only.
    """
    cpus = cpulist.write_list(diagnosis.cpus)
    console.print(
        Text(f"What disturbs a measurement on CPU {cpus} of this machine (nothing was changed)\n")
    )
    quiet = (State.OK, State.NOT_HERE)
    rows = [f for f in diagnosis.findings if everything or f.state not in quiet]
    if rows:
        console.print(_table(rows))
    if not everything:
        for state in quiet:
            _print_names(console, state, diagnosis.of(state))
    if diagnosis.unchecked:
        names = ", ".join(diagnosis.unchecked)
        console.print(Text(f"\nno check on {diagnosis.system} for: {names}"))
    _print_cures(console, diagnosis)
    console.print(Text(f"\n{summary(diagnosis)}"))


def summary(diagnosis: Diagnosis) -> str:
    """Return the answer in one line."""
    counts = {state: len(diagnosis.of(state)) for state in State}
    disturbing = counts[State.DISTURBS]
    head = "nothing that was checked disturbs" if not disturbing else (
        f"{disturbing} {'thing disturbs' if disturbing == 1 else 'things disturb'}"
    )  # fmt: skip
    return (
        f"{head}; {counts[State.UNKNOWN]} unknown, {counts[State.OK]} ok, "
        f"{counts[State.NOT_HERE]} not on this machine"
    )


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("state", no_wrap=True)
    table.add_column("weight", no_wrap=True)
    table.add_column("check", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    for finding in findings:
        table.add_row(
            Text(_words(finding.state), style=_STYLES[finding.state]),
            Text(finding.severity.value),
            Text(finding.name),
            Text(_evidence(finding.evidence)),
        )
    return table


def _print_names(console: Console, state: State, findings: tuple[Finding, ...]) -> None:
    if findings:
        names = ", ".join(finding.name for finding in findings)
        console.print(Text(f"\n{_words(state)}: ", style=_STYLES[state], end="") + Text(names))


def _print_cures(console: Console, diagnosis: Diagnosis) -> None:
    """Print commands on lines of their own, never wrapped: they are there to be copied."""
    for finding in (*diagnosis.of(State.DISTURBS), *diagnosis.of(State.UNKNOWN)):
        parts = [("mend", finding.mend), ("undo", finding.undo), ("note", finding.advice)]
        told = [(label, text) for label, text in parts if text]
        if finding.state is State.UNKNOWN and not told:
            continue
        console.print(Text(f"\n{finding.name}", style="bold") + Text(f": {finding.why}"))
        for label, text in told:
            line = Text(f"{label}: {printable(text)}")
            if label == "note":
                console.print(Padding(line, (0, 0, 0, 2)))
            else:
                console.print(Text("  ") + line, soft_wrap=True)


def _evidence(evidence: tuple[Evidence, ...]) -> str:
    lines = [f"{_value(e.value)}  ({printable(e.source)})" for e in evidence[:_MOST_SHOWN]]
    if len(evidence) > _MOST_SHOWN:
        lines.append(f"... and {len(evidence) - _MOST_SHOWN} more (--json has all)")
    return "\n".join(lines)


def _value(value: str) -> str:
    if not value:
        return "empty"
    shown = " ".join(value.split())
    return printable(shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…")


def printable(text: str) -> str:
    """Replace what a terminal would obey (escapes, carriage returns) by its escape in words."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _words(state: State) -> str:
    return state.value.replace("_", " ")
