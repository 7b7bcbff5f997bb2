"""`tare doctor`: what on this machine disturbs measurements, and the command that mends it."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.host import Machine

_UNITS_S: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_LONGEST_S: Final = 600.0


def doctor(
    *,
    cpus: Annotated[
        str | None,
        typer.Option(
            metavar="LIST|all",
            help="CPUs that a measurement would use; default: the last one this process may use.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="How long to watch counters and processes.")
    ] = "1s",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one object (docs/reference/doctor.md).")
    ] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit with 1 if something disturbs.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print only the one-line answer.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show what is ok with its evidence too.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colour.")] = False,
) -> None:
    """Say what on this machine disturbs measurements, and how to mend it; change nothing."""
    from rich.console import Console

    from tare.host import Machine, State, diagnose, view

    machine = Machine.here(cpus=_wanted(cpus), window_s=_seconds(duration))
    _refuse_missing_cpus(machine)
    diagnosis = diagnose(machine)
    if as_json:
        sys.stdout.write(json.dumps(view.to_json(diagnosis), indent=2) + "\n")
    else:
        console = Console(no_color=no_color or None, highlight=False)
        if quiet:
            console.print(view.summary(diagnosis), soft_wrap=True)
        else:
            view.show(diagnosis, console, everything=verbose)
    if gate and diagnosis.of(State.DISTURBS):
        raise typer.Exit(1)


def _wanted(cpus: str | None) -> frozenset[int] | None:
    """Read --cpus; None is the default CPU."""
    from tare.host import Machine, cpulist

    if cpus is None:
        return None
    if cpus.strip() == "all":
        return Machine.here().allowed or Machine.here().online or frozenset({0})
    try:
        wanted = cpulist.parse_list(cpus)
    except ValueError as cause:
        raise UsageError(
            f"--cpus {cpus!r} is not a list of CPUs: {cause}", hint="write `0,2-3` or `all`"
        ) from None
    if not wanted:
        raise UsageError("--cpus names no CPU", hint="write `0,2-3` or `all`")
    return wanted


def _refuse_missing_cpus(machine: Machine) -> None:
    from tare.host import cpulist

    missing = set(machine.cpus) - machine.online
    if machine.online and missing:
        raise UsageError(
            f"CPU {cpulist.write_list(missing)} is not online here",
            hint=f"online are {cpulist.write_list(machine.online)}",
        )


def _seconds(text: str) -> float:
    """Read --duration, within what makes sense for a look at a machine."""
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(us|ms|s|m)\s*", text, re.ASCII)
    seconds = float(found[1]) * _UNITS_S[found[2]] if found else 0.0
    if not 0 < seconds <= _LONGEST_S:
        raise UsageError(
            f"--duration {text!r} is not a time up to {_LONGEST_S:g} s",
            hint="write for instance `1s` or `500ms`",
        )
    return seconds
