"""Which capability shows which recording: found by folder name, so that none is listed here.

A capability is a folder `tare/KIND/` whose `view.py` has `views(recordings)`. A recording of kind
`noise` is shown by `tare.noise.view`. Its kind is a stranger's word: only folders of this package
that have a `view.py` are ever imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from tare.errors import RecordingError
from tare.recording import Recording
from tare.report.view import View

_PACKAGE = Path(__file__).resolve().parents[1]


class _Shows(Protocol):
    def views(self, recordings: Sequence[Recording]) -> list[View]: ...


def kinds() -> list[str]:
    """Return the kinds of recordings that can be shown."""
    return sorted(
        view.parent.name
        for view in _PACKAGE.glob("*/view.py")
        if "def views(" in view.read_text(encoding="utf-8")
    )


def views(recordings: Sequence[Recording]) -> list[View]:
    """Return the views of recordings, those of one kind together.

    Parameters
    ----------
    recordings : sequence of Recording
        Of any kinds, in the order of reading.

    Returns
    -------
    list of View
        Kinds in the order in which they come first.

    Raises
    ------
    RecordingError
        If there is a kind that nothing here shows.
    """
    known = kinds()
    by_kind: dict[str, list[Recording]] = {}
    for recording in recordings:
        if recording.kind not in known:
            raise RecordingError(
                f"{recording.path}: holds {recording.kind}, which this tare cannot show",
                hint=f"it shows: {', '.join(known)}; update tare",
            )
        by_kind.setdefault(recording.kind, []).append(recording)
    found: list[View] = []
    for kind, group in by_kind.items():
        capability = cast(_Shows, import_module(f"tare.{kind}.view"))
        found += capability.views(group)
    return found
