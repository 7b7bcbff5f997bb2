"""`tare doctor`: what on this machine disturbs measurements, and the command that mends it."""

from __future__ import annotations

import re
import sys
from json import dumps
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tare.cli import options
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.host import Machine

_UNITS_S: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_LONGEST_S: Final = 600.0


def doctor(
    *,
    cpus: options.Cpus = None,
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="How long to watch counters and processes.")
    ] = "1s",
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit with 1 if something disturbs.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Say what here disturbs measurements, with evidence and the cure; change nothing."""
    del debug  # read before the verbs are (tare.cli)
    from tare.host import Machine, State, diagnose, view

    machine = Machine.here(cpus=_wanted(cpus), window_s=_seconds(duration))
    _refuse_missing_cpus(machine)
    diagnosis = diagnose(machine)
    terminal = options.terminal(quiet=quiet, verbose=verbose, no_color=no_color)
    if json:
        # Not by way of the report's JSON, whose libraries take longer to load than all checks.
        sys.stdout.write(dumps(view.to_json(diagnosis), indent=2) + "\n")
    elif quiet:
        terminal.line(view.summary(diagnosis))
    else:
        view.show(diagnosis, terminal.console(), everything=verbose)
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


def add(app: typer.Typer) -> None:
    """Make it a verb."""
    app.command()(doctor)
