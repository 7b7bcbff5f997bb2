"""Write results as files: the page, pictures, tables, the analysis. Whole or not at all.

A file is written under a hidden name beside its place and renamed when it is whole, so that a full
disk or a Ctrl-C leaves no half of one.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic_core import to_json

from tare.errors import OutputError
from tare.report.view import Table, View

Format = Literal["svg", "png", "csv", "parquet", "json", "profile"]

_ENDINGS: dict[Format, str] = {"profile": "profile.json"}


def write(path: Path, content: str | bytes) -> None:
    """Write one file, replacing one of that name.

    Parameters
    ----------
    path : Path
        Its folder is made if it is not there.
    content : str or bytes
        Text is written as UTF-8.

    Raises
    ------
    OutputError
        If it cannot be written; nothing is left then.
    """
    data = content.encode() if isinstance(content, str) else content
    part = path.parent / f".{path.name}.partial-{os.getpid()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror})",
            hint="check the rights and the room on the disk, or name another file with -o",
        ) from error


def export(views: Sequence[View], folder: Path, formats: Iterable[Format]) -> list[Path]:
    """Write pictures, tables and analyses into a folder.

    Parameters
    ----------
    views : sequence of View
        In the order of the report.
    folder : Path
        Made if it is not there.
    formats : iterable of Format
        `svg` and `png` are pictures, `csv` and `parquet` what they draw and the tables, `json` the
        analysis, `profile` the reusable profile of those that have one.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    OutputError
        If something cannot be written.
    """
    written = []
    for number, view in enumerate(views, start=1):
        prefix = view.name if len(views) == 1 else f"{number}-{view.name}"
        for format_ in formats:
            for name, content in _files(view, format_):
                ending = f"-{name}" if name else ""
                path = folder / f"{prefix}{ending}.{_ENDINGS.get(format_, format_)}"
                write(path, content())
                written.append(path)
    return written


_File = tuple[str, Callable[[], str | bytes]]


def _files(view: View, format_: Format) -> list[_File]:
    if format_ == "svg":
        return [(picture.name, picture.svg) for picture in view.pictures]
    if format_ == "png":
        return [(picture.name, picture.png) for picture in view.pictures]
    if format_ == "json":
        return [("", lambda: as_json(view.data))]
    if format_ == "profile":
        return [("", lambda: view.profile or "")] if view.profile else []
    frames = [(picture.name, picture.data) for picture in view.pictures]
    frames += [(f"table-{table.name}", frame(table)) for table in view.tables]
    if format_ == "csv":
        return [(name, data.write_csv) for name, data in frames]
    return [(name, lambda data=data: _parquet(data)) for name, data in frames]  # type: ignore[misc]


def frame(table: Table) -> pl.DataFrame:
    """Return a table in base units: the ending of a column's name is its unit."""
    return pl.DataFrame(table.records(), infer_schema_length=None)


def _parquet(data: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    data.write_parquet(buffer)
    return buffer.getvalue()


def as_json(value: object) -> str:
    """Write dataclasses by field, arrays as lists, NaN and infinity as null."""
    return to_json(value, indent=2, inf_nan_mode="null", fallback=_bare).decode()


def _bare(value: object) -> object:
    # Arrays and numbers of numpy, the only values of an analysis that are not Python's own.
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")
