"""`tare report`: one HTML file from any recordings."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options


class Export(StrEnum):
    """What can be written beside the page."""

    SVG = "svg"
    PNG = "png"
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"
    PROFILE = "profile"


def report(
    recordings: Annotated[
        list[Path], typer.Argument(metavar="RECORDING", help="Folders that tare-probe wrote.")
    ],
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")
    ] = Path("report.html"),
    export: Annotated[
        list[Export] | None,
        typer.Option(
            "--export",
            metavar="FORMAT",
            help="Also write pictures (`svg`, `png`), what they draw and the tables (`csv`, "
            "`parquet`), the analysis (`json`), or the reusable profile of the noise (`profile`) "
            "into a folder beside the page; can be given again.",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Write one HTML page from any recordings; it opens offline, on a phone and on paper."""
    del debug
    terminal = options.terminal(quiet=quiet, verbose=verbose, no_color=no_color)
    from tare import recording
    from tare.errors import UsageError
    from tare.report import capabilities, files, page

    if output.is_dir():
        raise UsageError(f"{output} is a folder", hint=f"name a file: -o {output / 'report.html'}")
    opened = [recording.open(path) for path in recordings]
    views = capabilities.views(opened)
    if export and Export.PROFILE in export and not any(view.profile for view in views):
        raise UsageError(
            "none of these recordings gives a profile", hint="`tare noise` records one that does"
        )
    command = shlex.join(["tare", *sys.argv[1:]])
    html = page.render(views, command=command)
    files.write(output, html)
    written = [output]
    if export:
        folder = output.with_suffix("")
        written += files.export(views, folder, [kind.value for kind in dict.fromkeys(export)])
    if json:
        terminal.json({"written": written, "results": [view.data for view in views]})
        return
    for view in views:
        terminal.view(view)
        terminal.line()
    for path in written:
        terminal.log(f"wrote {path}")


def add(app: typer.Typer) -> None:
    """Make it a verb."""
    app.command()(report)
