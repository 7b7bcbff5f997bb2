"""`tare doctor`: what on this machine disturbs measurements, and the command that mends it."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options


def doctor(
    *,
    cpus: options.Cpus = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show what is in order too, with its evidence.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Say what here disturbs measurements, with evidence, and what would mend it; change nothing."""
    del debug
    terminal = options.terminal(quiet=quiet, verbose=verbose, no_color=no_color)
    from tare.host import doctor as host_doctor
    from tare.host import view
    from tare.host.machine import Machine

    diagnosis = host_doctor.diagnose(Machine.here(cpus=_wanted(cpus)))
    if json:
        terminal.json(view.to_json(diagnosis))
        return
    view.show(diagnosis, terminal.console(), everything=everything or verbose)


def _wanted(cpus: str | None) -> frozenset[int] | None:
    from tare.errors import UsageError
    from tare.host.cpulist import parse_list, write_list
    from tare.host.machine import Machine

    if cpus is None:
        return None
    online = Machine.here().online
    if cpus == "all":
        return online
    try:
        wanted = parse_list(cpus)
    except ValueError as error:
        raise UsageError(
            f"--cpus {cpus}: not a list of CPUs", hint="give `0,2-3` or `all`"
        ) from error
    if not wanted <= online:
        missing = write_list(wanted - online)
        raise UsageError(f"CPU {missing} is not online", hint=f"online: {write_list(online)}")
    return wanted


def add(app: typer.Typer) -> None:
    """Make it a verb."""
    app.command()(doctor)
