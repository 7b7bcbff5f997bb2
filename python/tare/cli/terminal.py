"""Print: the answer on stdout, everything else on stderr.

Text from a recording may hold anything, escape sequences of terminals too: control characters are
shown as escapes, and nothing of it is taken for markup.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from tare.probe import Progress
    from tare.report import Table, View

# Width of a table that goes into a file or a pipe: wide enough for every table, and readable in
# a mail.
PIPE_WIDTH = 120


class Terminal:
    """Where a verb prints.

    Parameters
    ----------
    color : bool
        False leaves out colours; so does the variable NO_COLOR.
    verbosity : int
        -1 with --quiet: errors only; 1 with --verbose.
    """

    def __init__(self, *, color: bool = True, verbosity: int = 0) -> None:
        self.color = color
        self.verbosity = verbosity

    def console(self, *, stderr: bool = False) -> Console:
        """Return where rich prints: stdout, or stderr."""
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else PIPE_WIDTH
        no_color = None if self.color else True
        return Console(
            stderr=stderr,
            no_color=no_color,
            highlight=False,
            markup=False,
            emoji=False,
            width=width,
        )

    def line(self, text: str = "") -> None:
        """Print one line of the answer."""
        self.console().print(printable(text), soft_wrap=True)

    def log(self, text: str) -> None:
        """Say something beside the answer, unless asked to be quiet."""
        if self.verbosity >= 0:
            self.console(stderr=True).print(printable(text), soft_wrap=True)

    def detail(self, text: str) -> None:
        """Say something that only --verbose wants to know."""
        if self.verbosity > 0:
            self.log(text)

    def error(self, message: str, hint: str | None) -> None:
        """Say what went wrong, and the next step."""
        from rich.text import Text

        console = self.console(stderr=True)
        console.print(Text("error: ", "bold red") + Text(printable(message)), soft_wrap=True)
        if hint:
            console.print(Text("hint: ", "bold cyan") + Text(printable(hint)), soft_wrap=True)

    def json(self, value: Any) -> None:
        """Print one JSON object: dataclasses by field, arrays as lists, NaN as null."""
        from tare.report.files import as_json

        sys.stdout.write(as_json(value) + "\n")

    def view(self, view: View) -> None:
        """Print what the first screen of the report says, and the tables."""
        from rich.text import Text

        console = self.console()
        console.print(Text(printable(view.title), "bold"))
        for sentence in view.sentences:
            console.print(printable(sentence))
        for table in view.tables[: 1 if self.verbosity <= 0 else None]:
            console.print()
            console.print(_rich_table(table))
            if table.caption:
                console.print(Text(printable(table.caption), "dim"))
        if view.doubts:
            console.print()
            console.print(Text("What makes this doubtful", "bold yellow"))
            for doubt in view.doubts:
                console.print(f"- {printable(doubt.what)} {printable(doubt.why)}")

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[Progress], None] | None]:
        """Show a bar on stderr that moves only when it is told to.

        Parameters
        ----------
        what : str
            What is going on.

        Yields
        ------
        callable or None
            Takes each `Progress`; None where nobody looks: a pipe, or --quiet.
        """
        if self.verbosity < 0 or not sys.stderr.isatty():
            yield None
            return
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(),
        )
        console = self.console(stderr=True)
        # Not by itself, ten times a second: this process must sleep while the probe measures.
        with Bar(*columns, console=console, auto_refresh=False, transient=True) as bar:
            task = bar.add_task(what, total=None)

            def step(seen: Progress) -> None:
                bar.update(
                    task,
                    description=printable(seen.what) or what,
                    completed=seen.done_ns,
                    total=seen.total_ns or None,
                    refresh=True,
                )

            yield step


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: control characters and line ends as escapes."""
    # The narrow space that parts thousands is not printable by Python's book.
    return "".join(
        char if char.isprintable() or char == "\u202f" else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _rich_table(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    heads, rows = table.shown()
    shown = RichTable(
        title=Text(printable(table.title), "bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        header_style="dim",
    )
    for head, column in zip(heads, table.columns, strict=True):
        shown.add_column(
            Text(printable(head)),
            justify="right" if column.numeric else "left",
            overflow="fold",
        )
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown
