"""What went wrong, said so that a person can go on: what, where, why, and a hint.

Every error that `tare` raises on purpose is a `TareError`. Only the command line turns it into text
and an exit code (`tare.cli`); a library user catches it like any exception.
"""

from __future__ import annotations


class TareError(Exception):
    """An expected failure with a way out.

    Parameters
    ----------
    message : str
        What failed, where and why: one sentence, no full stop, no traceback.
    hint : str or None
        The next step that mends it.
    """

    exit_code = 2
    """Exit code of the command: 2 is wrong use or bad input, 3 is 'could not measure'."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(TareError):
    """The command was used wrongly; nothing was measured and nothing written."""


class RecordingError(TareError):
    """A recording cannot be read, or cannot be put beside another one."""


class ProbeError(TareError):
    """The probe is missing, of another version, or could not measure."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 3) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


class OutputError(TareError):
    """A result cannot be written: disk full, no right, or something in the way."""

    exit_code = 3
