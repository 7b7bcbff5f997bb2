"""Options that mean the same for every verb, defined once."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli.terminal import Terminal
from tare.errors import ProbeError

if TYPE_CHECKING:
    from tare.recording import Recording
    from tare.report import View

Cpus = Annotated[
    str | None,
    typer.Option("--cpus", metavar="LIST", help="CPUs to measure: `0,2-3` or `all`."),
]
Duration = Annotated[
    str | None,
    typer.Option("--duration", metavar="TIME", help="How long: `5s`, `500ms`."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="DIR",
        help="Folder to write; it must not exist. Default: `recordings/` and a readable name.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="Say nothing but the answer and errors.")
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more, show every table.")]
NoColor = Annotated[
    bool, typer.Option("--no-color", help="No colours; so does the variable NO_COLOR.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def terminal(*, quiet: bool, verbose: bool, no_color: bool) -> Terminal:
    """Return where to print, as the options ask."""
    return Terminal(color=not no_color, verbosity=-1 if quiet else int(verbose))


def flags(**given: str | Sequence[str] | None) -> list[str]:
    """Return flags for the probe as `--flag=value`; what was not given is left to the probe.

    Parameters
    ----------
    **given : str, sequence of str or None
        Names with underscores; several values give the flag several times.
    """
    out = []
    for name, value in given.items():
        values = [value] if isinstance(value, str) else value or []
        out += [f"--{name.replace('_', '-')}={part}" for part in values]
    return out


def answer(
    terminal: Terminal,
    recordings: Sequence[Recording],
    views: Sequence[View],
    *,
    json: bool,
    page: Path | None = None,
) -> None:
    """Print what was measured, and where it is.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    recordings : sequence of Recording
        What was written.
    views : sequence of View
        What they say.
    json : bool
        One object instead of tables.
    page : Path, optional
        The report that was written.

    Raises
    ------
    ProbeError
        At the end, if the measurement was interrupted.
    """
    if json:
        terminal.json(
            {
                "recordings": [str(recording.path) for recording in recordings],
                "report": page,
                "results": [view.data for view in views],
            }
        )
    else:
        _in_words(terminal, recordings, views, page)
    for recording in recordings:
        if recording.manifest.status == "interrupted":
            raise ProbeError(
                f"interrupted; what was whole by then is kept in {recording.path}",
                hint=f"look at it with `tare report {recording.path}`, or measure again",
            )


def _in_words(
    terminal: Terminal, recordings: Sequence[Recording], views: Sequence[View], page: Path | None
) -> None:
    for view in views:
        terminal.view(view)
        terminal.line()
    for recording in recordings:
        terminal.log(f"recording: {recording.path}")
    if page is not None:
        terminal.log(f"report:    {page}")
    elif recordings:
        terminal.log(f"page:      tare report {' '.join(str(r.path) for r in recordings)}")


def default_folder(kind: str) -> Path:
    """Return a folder that is not there yet: `recordings/noise-2026-01-02-030405-host`.

    Parameters
    ----------
    kind : str
        What is measured.
    """
    import platform

    host = re.sub(r"[^A-Za-z0-9.-]+", "-", platform.node()).strip("-.")[:40] or "host"
    name = f"{kind}-{time.strftime('%Y-%m-%d-%H%M%S')}-{host}"
    folder = Path("recordings") / name
    number = 2
    while folder.exists():
        folder = Path("recordings") / f"{name}-{number}"
        number += 1
    return folder
