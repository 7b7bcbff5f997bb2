"""The noise profile as a file: its text, read back, and the page that documents it.

Answers: a profile from a JSON file, checked; the text of a file from a profile. Holds
no inference. Place on the way of the data: between `tare.noise.profile` and the command line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from tare.errors import RecordingError
from tare.noise.profile import (
    FORMAT,
    SCHEMA_VERSION,
    CpuProfile,
    LengthHistogram,
    LengthQuantile,
    NoiseProfile,
    ProfilePeriod,
    Versions,
)

MAX_BYTES = 64 * 2**20
"""Largest file that is read: a thousand CPUs have about 10 MB."""


def reference_page() -> str:
    """The text of docs/reference/profile.md, made from the models."""
    lines = [
        "# Noise profile: the file",
        "",
        "<!-- Generated from tare.noise.profile: PYTHONPATH=tests python -m oracle.write_pages -->",
        "",
        f"JSON, UTF-8. `format` is `{FORMAT}`, `schema_version` is {SCHEMA_VERSION}. The ending of "
        "a name is its unit.",
        "Unknown is `null`, never 0. A reader takes any version up to its own and ignores fields "
        "it does not know.",
    ]
    models: tuple[type[BaseModel], ...] = (
        NoiseProfile, Versions, CpuProfile, ProfilePeriod, LengthHistogram, LengthQuantile,
    )  # fmt: skip
    for model in models:
        heading = "Top level" if model is NoiseProfile else model.__name__
        first_line = (model.__doc__ or "").strip().splitlines()[0]
        lines += [
            "",
            f"## {heading}",
            "",
            first_line,
            "",
            "| field | type | meaning |",
            "|---|---|---|",
        ]
        for name, info in model.model_fields.items():
            lines.append(f"| `{name}` | {_type_name(info.annotation)} | {info.description} |")
    return "\n".join(lines) + "\n"


def _type_name(annotation: Any) -> str:
    """Name of a field's type as a reader of JSON knows it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.__name__
    names = {int: "whole number", float: "number", str: "text", type(None): "null"}
    if annotation in names:
        return names[annotation]
    parts, origin = get_args(annotation), get_origin(annotation)
    if origin is Annotated:
        return _type_name(parts[0])
    if origin is list:
        return f"list of {_type_name(parts[0])}"
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    return "object" if origin is dict else " or ".join(_type_name(part) for part in parts)


def to_text(profile: NoiseProfile) -> str:
    """Write a profile as the text of its file."""
    return json.dumps(profile.to_dict(), indent=2, allow_nan=False) + "\n"


def read_profile(path: Path) -> NoiseProfile:
    """Read and check a profile.

    Raises
    ------
    RecordingError
        If it cannot be read or is not a profile.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RecordingError(f"{path}: too large for a profile", hint="check the file")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordingError(
            f"{path}: cannot be read ({error.strerror})", hint="check the path and its rights"
        ) from error
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: not JSON", hint="copy the file again, whole") from error
    try:
        return NoiseProfile.from_dict(data)
    except RecordingError as error:
        raise RecordingError(f"{path}: {error.message}", hint=error.hint) from error
