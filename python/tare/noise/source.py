"""What inference asks of a recording: a manifest and tables, nothing of files.

Place on the way of the data: the door between recording and inference. `tare.recording.Recording`
fits; so does anything made in a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import polars as pl


class Source(Protocol):
    """A recording as inference sees it."""

    @property
    def manifest(self) -> Any:
        """Manifest; its attributes are those of docs/reference/recording.md."""
        ...

    def has(self, name: str) -> bool:
        """Tell whether there is a table of this name with at least one row."""
        ...

    def table(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read one table whole."""
        ...

    def iter_batches(
        self, name: str, rows: int = 1 << 20, columns: Sequence[str] | None = None
    ) -> Iterator[pl.DataFrame]:
        """Read one table in order, a bounded number of rows at a time."""
        ...
