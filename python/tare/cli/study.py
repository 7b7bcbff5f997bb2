"""`tare study`: a published study, its protocol rerun here, its tables beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options


def study(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Without it: the studies there are.")
    ] = None,
    *,
    recordings: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="RECORDING",
            help="Use these recordings of its protocol instead of measuring; can be given again.",
        ),
    ] = None,
    cpus: options.Cpus = None,
    output: options.Output = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Rerun the protocol of a published study here and set its tables beside ours."""
    del debug
    terminal = options.terminal(quiet=quiet, verbose=verbose, no_color=no_color)
    from tare import measure, recording
    from tare.report import files, page

    if name is None:
        for known in measure.studies():
            terminal.line(known)
        return
    protocol = measure.study(name)
    folder = output or options.default_folder(name)
    if recordings:
        measure.new_folder(folder)
        recorded = [recording.open(path) for path in recordings]
    else:
        with terminal.progress("measuring") as on_progress:
            recorded = measure.run_steps(
                protocol.steps(cpus or "all"),
                folder,
                on_progress=on_progress,
                on_log=terminal.detail,
            )
    views = protocol.views(recorded)
    written = folder / "report.html"
    files.write(written, page.render(views, command=f"tare study {name}"))
    options.answer(terminal, recorded, views, json=json, page=written)


def add(app: typer.Typer) -> None:
    """Make it a verb."""
    app.command()(study)
