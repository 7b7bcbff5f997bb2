"""`tare survey`: how heavy is this OS here and now? One report in about a minute."""

from __future__ import annotations

import typer

from tare.cli import options


def survey(
    *,
    cpus: options.Cpus = "all",
    output: options.Output = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Weigh this machine in about a minute: measure, print the answer, write a page."""
    del debug
    terminal = options.terminal(quiet=quiet, verbose=verbose, no_color=no_color)
    from tare import measure
    from tare.report import capabilities, files, page

    folder = output or options.default_folder("survey")
    steps = measure.survey_steps(cpus or "all")
    with terminal.progress("measuring") as on_progress:
        recorded = measure.run_steps(steps, folder, on_progress=on_progress, on_log=terminal.detail)
    views = capabilities.views(recorded)
    written = folder / "report.html"
    files.write(written, page.render(views, command="tare survey"))
    options.answer(terminal, recorded, views, json=json, page=written)


def add(app: typer.Typer) -> None:
    """Make it a verb."""
    app.command()(survey)
