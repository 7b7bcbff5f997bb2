"""The command `tare`: verbs, one file each, without logic.

A verb reads its flags, calls the room that does the work and prints what comes back. Errors become
text and an exit code here, and nowhere else:

    0  done
    1  done, and the answer is 'no'
    2  wrong use or bad input, nothing written
    3  could not measure or write; partial data is kept and named

A file in this folder is a verb if it has a function `add(app)`; a new verb is a new file, and
nothing else changes. Heavy libraries are imported by the verb that needs them, so that help comes
at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import typer

from tare import __version__
from tare.cli.terminal import Terminal
from tare.errors import TareError

_HELP = """Weigh an operating system: what it takes from a program, and what took it.

`tare survey` is the place to begin: it weighs this machine in about a minute."""


def build() -> Any:
    """Put all verbs together.

    Returns
    -------
    click command
        With `main`, `commands` and all that help, completion and the reference page are made from.
    """
    app = typer.Typer(
        name="tare",
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for found in iter_modules(__path__):
        verb = import_module(f"{__name__}.{found.name}")
        if hasattr(verb, "add"):
            verb.add(app)
    root: Any = typer.main.get_command(app)
    above = typer.Context(root, info_name="tare", **root.context_settings)
    for command in (root, *root.commands.values()):
        for option in command.get_params(typer.Context(command, parent=above)):
            # Help would say `--json <bool>`, as if a flag took a value.
            if getattr(option, "is_flag", False):
                option.metavar = ""
    return root


def _version(asked: bool) -> None:
    if asked:
        print(f"tare {__version__}")  # noqa: T201 - the answer
        raise typer.Exit


def _root(
    _: bool = typer.Option(
        False, "--version", "-V", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    # Its help is that of the whole command, set above.
    pass


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; never raises, save for `--debug`.

    Parameters
    ----------
    arguments : sequence of str
        Without the name of the program.
    """
    debug = "--debug" in arguments
    terminal = Terminal()
    try:
        code = build().main(args=list(arguments), prog_name="tare", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # `tare ... | head` has seen enough.
        _discard_output()
        return 0
    except Exception as error:  # the one place where errors become words
        if debug:
            traceback.print_exc()
        if isinstance(error, OSError):
            _discard_output()
        return _explain(terminal, error)
    except KeyboardInterrupt:
        terminal.error("stopped by Ctrl-C", "nothing that was whole is lost")
        return 130
    return int(code or 0)


def _discard_output() -> None:
    """Let go what stdout does not take: Python's own flush at its end would fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _explain(terminal: Terminal, error: Exception) -> int:
    if isinstance(error, TareError):
        terminal.error(error.message, error.hint)
        return error.exit_code
    if isinstance(error, typer.Abort):
        terminal.error("given up", None)
        return 1
    usage = getattr(error, "format_message", None)
    if usage is not None:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "tare"
        terminal.error(_lower(usage().rstrip(".")), f"see `{command} --help`")
        return int(getattr(error, "exit_code", 2))
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        terminal.error(f"{where}{what}", "check the path, its rights and the room on the disk")
        return 3
    if isinstance(error, MemoryError):
        terminal.error("not enough memory", "use fewer recordings at once, or a larger machine")
        return 3
    terminal.error(
        f"a fault in tare itself: {type(error).__name__}: {error}",
        "run it again with --debug and report what it prints",
    )
    return 3


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))
