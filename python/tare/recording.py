"""Open a recording: check that it is one, hand out its tables, tell whether two hosts agree.

Way of the data: measure -> *recording* -> infer -> show. A recording is data from a stranger: it
may come from another machine by mail. Nothing in it is executed, no name in it leaves its folder,
and whatever is wrong with it is said as a `RecordingError`.

Not here: how a table is turned into figures (the capabilities), how a recording is written (Rust).
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from tare.errors import RecordingError
from tare.recording_schema import (
    FORMAT,
    MAX_MANIFEST_BYTES,
    SCHEMA_VERSION,
    TABLES,
    Clock,
    Conditions,
    Host,
    Losses,
    Manifest,
    TableEntry,
)

MANIFEST_NAME = "recording.json"

# Not part of the fingerprint: two machines of one kind may differ in their name alone.
_NOT_COMPARED = frozenset({"hostname"})

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

_WHOLE = "copy the folder again, whole, or measure again"


@dataclass(frozen=True)
class Difference:
    """One thing in which two hosts differ.

    Attributes
    ----------
    field : str
        Name in `Host`.
    left, right : object
        The two values; None where that host does not tell.
    """

    field: str
    left: object
    right: object

    def __str__(self) -> str:
        return f"{self.field}: {_shown(self.left)} / {_shown(self.right)}"


def _shown(value: object) -> str:
    text = "unknown" if value is None else str(value)
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True)
class Recording:
    """An opened, checked recording. Its tables are read when asked for.

    Attributes
    ----------
    path : Path
        Its folder.
    manifest : Manifest
        The whole of `recording.json`.
    """

    path: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.path.resolve().name

    @property
    def kind(self) -> str:
        """What was measured: `noise`."""
        return self.manifest.kind

    @property
    def clock(self) -> Clock:
        """The clock that every `_ticks` column was read from."""
        return self.manifest.clock

    @property
    def host(self) -> Host:
        """The host fingerprint."""
        return self.manifest.host

    @property
    def conditions(self) -> Conditions:
        """What went on beside the measurement."""
        return self.manifest.conditions

    @property
    def losses(self) -> Losses:
        """What is missing from the tables."""
        return self.manifest.losses

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hex digits that two hosts share exactly if they agree in every field."""
        return fingerprint(self.host)

    def has(self, name: str) -> bool:
        """Tell whether there is a table of this name with at least one row."""
        return any(entry.name == name and entry.rows > 0 for entry in self.manifest.tables)

    def rows(self, name: str) -> int:
        """Rows of a table; 0 where the recording has none of this name."""
        return sum(entry.rows for entry in self.manifest.tables if entry.name == name)

    def file(self, name: str) -> Path:
        """Path of a table's Parquet file.

        Raises
        ------
        RecordingError
            If the recording has no such table.
        """
        for entry in self.manifest.tables:
            if entry.name == name:
                return self.path / entry.file
        held = ", ".join(entry.name for entry in self.manifest.tables) or "none"
        raise RecordingError(
            f"{self.path}: has no table '{name}'",
            hint=f"it holds: {held}; measure again with the loop that writes it",
        )

    def table(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read one table whole.

        Parameters
        ----------
        name : str
            As in docs/reference/recording.md.
        columns : sequence of str, optional
            Only these.

        Returns
        -------
        polars.DataFrame
            Columns and units as declared; nulls are unknown.

        Raises
        ------
        RecordingError
            If it is not there or its data is damaged.
        """
        file = self.file(name)
        try:
            frame = pl.read_parquet(file, columns=list(columns) if columns else None)
            return _without_nulls(file, name, frame)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _damaged(file, error) from error

    def iter_batches(
        self, name: str, rows: int = 1 << 20, columns: Sequence[str] | None = None
    ) -> Iterator[pl.DataFrame]:
        """Read one table in order, a bounded number of rows at a time.

        Parameters
        ----------
        name : str
            As in docs/reference/recording.md.
        rows : int
            Most rows of one batch, at least 1.
        columns : sequence of str, optional
            Only these.

        Yields
        ------
        polars.DataFrame
            Never empty; memory is bounded by `rows` and by the row groups that they touch.

        Raises
        ------
        RecordingError
            If it is not there or its data is damaged.
        """
        file = self.file(name)
        try:
            lazy = pl.scan_parquet(file)
            if columns:
                lazy = lazy.select(*columns)
            for start in range(0, self.rows(name), rows):
                yield _without_nulls(file, name, lazy.slice(start, rows).collect())
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _damaged(file, error) from error


def open(path: str | Path) -> Recording:
    """Open a recording and check it: manifest, version, every table's file, columns and types.

    The data pages of the tables are not read; damage inside them is found when they are.

    Parameters
    ----------
    path : str or Path
        The recording's folder, or its `recording.json`.

    Returns
    -------
    Recording

    Raises
    ------
    RecordingError
        If it is not a recording, of a newer schema, or not whole.
    """
    folder = Path(path)
    if folder.name == MANIFEST_NAME and not folder.is_dir():
        folder = folder.parent
    manifest = _read_manifest(folder)
    names = [entry.name for entry in manifest.tables]
    if len(set(names)) != len(names):
        raise RecordingError(f"{folder / MANIFEST_NAME}: names a table twice", hint=_WHOLE)
    for entry in manifest.tables:
        _check_table(folder, entry)
    return Recording(folder, manifest)


def _read_manifest(folder: Path) -> Manifest:
    file = folder / MANIFEST_NAME
    _check_folder(folder, file)
    size = file.stat().st_size
    if size > MAX_MANIFEST_BYTES:
        raise RecordingError(
            f"{file}: {size} bytes, more than a manifest can have ({MAX_MANIFEST_BYTES})",
            hint="this is not a recording that tare-probe wrote",
        )
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{file}: not JSON ({_first_line(error)})", hint=_WHOLE) from error
    except OSError as error:
        raise RecordingError(
            f"{file}: cannot be read ({error.strerror})", hint="check the rights of the file"
        ) from error
    _check_version(file, data)
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise RecordingError(f"{file}: {_first_complaint(error)}", hint=_WHOLE) from error


def _check_folder(folder: Path, file: Path) -> None:
    try:
        if not folder.exists():
            raise RecordingError(
                f"{folder}: no such recording", hint="give the folder that tare-probe wrote"
            )
        if not folder.is_dir():
            raise RecordingError(
                f"{folder}: not a recording, which is a folder with {MANIFEST_NAME}",
                hint="give the folder that tare-probe wrote",
            )
        if not file.is_file():
            raise RecordingError(
                f"{folder}: not a recording, it has no {MANIFEST_NAME}",
                hint="give the folder that tare-probe wrote, not one above or below it",
            )
    except OSError as error:
        raise RecordingError(
            f"{folder}: cannot be opened ({error.strerror})", hint="check the path and its rights"
        ) from error


def _check_version(file: Path, data: Any) -> None:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordingError(
            f"{file}: not the manifest of a recording (its `format` is not `{FORMAT}`)",
            hint="give the folder that tare-probe wrote",
        )
    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise RecordingError(
            f"{file}: schema version {version}, this tare reads up to {SCHEMA_VERSION}",
            hint="update tare, or read it with the tare that belongs to the probe that wrote it",
        )


def _check_table(folder: Path, entry: TableEntry) -> None:
    # The name of a file is the stranger's word: only `NAME.parquet` beside the manifest is read.
    if entry.file != f"{entry.name}.parquet" or not _PLAIN_NAME.fullmatch(entry.name):
        raise RecordingError(
            f"{folder}: table '{_shown(entry.name)}' names the file '{_shown(entry.file)}', "
            f"which is not NAME.parquet",
            hint="tare-probe writes no such recording; do not trust it",
        )
    file = folder / entry.file
    try:
        status = file.lstat()
    except OSError as error:
        raise RecordingError(
            f"{file}: missing, though the manifest names it ({error.strerror})", hint=_WHOLE
        ) from error
    if not stat.S_ISREG(status.st_mode):
        raise RecordingError(
            f"{file}: not a plain file",
            hint="tare-probe writes no links; copy the files themselves",
        )
    if status.st_size != entry.size_bytes:
        raise RecordingError(
            f"{file}: {status.st_size} bytes, the manifest says {entry.size_bytes}: cut or changed",
            hint=_WHOLE,
        )
    _check_columns(file, entry)


def _check_columns(file: Path, entry: TableEntry) -> None:
    try:
        schema = pl.read_parquet_schema(file)
        rows = pl.scan_parquet(file).select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(file, error) from error
    if rows != entry.rows:
        raise RecordingError(
            f"{file}: {rows} rows, the manifest says {entry.rows}: cut or changed", hint=_WHOLE
        )
    types = {"U32": pl.UInt32, "U64": pl.UInt64, "I64": pl.Int64, "F64": pl.Float64}
    for column, (kind, _) in TABLES.get(entry.name, {}).items():
        if column not in schema:
            raise RecordingError(f"{file}: has no column '{column}'", hint=_WHOLE)
        wanted, found = types.get(kind, pl.String), schema[column]
        # Text may come as a dictionary: Arrow keeps that in the file's metadata.
        text = kind == "Text" and isinstance(found, pl.Categorical | pl.Enum)
        if found != wanted and not text:
            raise RecordingError(
                f"{file}: column '{column}' is {found}, it should be {wanted.__name__}",
                hint="the file was not written by tare-probe, or was changed by another tool",
            )


def _without_nulls(file: Path, name: str, frame: pl.DataFrame) -> pl.DataFrame:
    declared = TABLES.get(name, {})
    for column in frame.get_columns():
        if column.null_count() and not declared.get(column.name, ("", True))[1]:
            raise RecordingError(
                f"{file}: column '{column.name}' holds nulls, which it may not", hint=_WHOLE
            )
    return frame


def _damaged(file: Path, error: Exception) -> RecordingError:
    return RecordingError(
        f"{file}: cannot be read, the file is cut or damaged ({_first_line(error)})", hint=_WHOLE
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return _shown(lines[0]) if lines else type(error).__name__


def _first_complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the whole"
    return f"`{_shown(where)}` is wrong: {first['msg'].lower()}"


def _compared(host: Host) -> dict[str, Any]:
    fields: dict[str, Any] = host.model_dump(mode="json")
    return {name: value for name, value in fields.items() if name not in _NOT_COMPARED}


def fingerprint(host: Host) -> str:
    """Short hash of everything that must agree before results may be merged.

    Parameters
    ----------
    host : Host
        Its name does not count.

    Returns
    -------
    str
        Twelve hex digits.
    """
    canonical = json.dumps(_compared(host), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def differences(left: Host, right: Host) -> list[Difference]:
    """List what two hosts differ in.

    Known on one side and unknown on the other is a difference: it cannot be ruled out.

    Parameters
    ----------
    left, right : Host
        Their names do not count.

    Returns
    -------
    list of Difference
        Empty if the fingerprints agree.
    """
    ours, theirs = _compared(left), _compared(right)
    return [
        Difference(name, value, theirs[name])
        for name, value in ours.items()
        if value != theirs[name]
    ]


def check_mergeable(recordings: Sequence[Recording]) -> None:
    """Refuse to treat recordings of unlike hosts or kinds as one.

    Parameters
    ----------
    recordings : sequence of Recording
        Any number; none and one always agree.

    Raises
    ------
    RecordingError
        If two differ, with what they differ in.
    """
    for other in recordings[1:]:
        first = recordings[0]
        if other.kind != first.kind:
            raise RecordingError(
                f"{first.path} holds {first.kind}, {other.path} holds {other.kind}",
                hint="only recordings of one kind can be merged",
            )
        unlike = differences(first.host, other.host)
        if unlike:
            shown = "; ".join(str(difference) for difference in unlike[:3])
            more = f"; and {len(unlike) - 3} more" if len(unlike) > 3 else ""
            raise RecordingError(
                f"{first.path} and {other.path} come from unlike hosts: {shown}{more}",
                hint="look at them side by side instead: tare report A B",
            )
