"""The JSON that `--json` prints, as a JSON Schema, made from the dataclasses that it is made from.

What a field means is read from the `Attributes` of its class; fields that are kept out of `repr`
hold bulk and are left out, as in the output. A value that may be unknown may be null.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from typing import Any

_PLAIN = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    type(None): "null",
}


def schema(kind: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a dataclass and of all that it holds.

    Parameters
    ----------
    kind : type
        A dataclass.
    title : str
        Of the schema.

    Raises
    ------
    TypeError
        If it holds something that has no JSON form.
    """
    held: dict[str, Any] = {}
    whole = _object(kind, held)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **whole,
        "$defs": dict(sorted(held.items())),
    }


def _object(kind: type, held: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    meanings = _meanings(kind)
    properties = {}
    for field in dataclasses.fields(kind):
        if not field.repr:
            continue
        described = _value(hints[field.name], held)
        if meanings.get(field.name):
            described = {**described, "description": meanings[field.name]}
        properties[field.name] = described
    first = (kind.__doc__ or "").strip().splitlines()[0]
    return {
        "type": "object",
        "description": first,
        "properties": properties,
        "required": list(properties),
    }


def _value(hint: Any, held: dict[str, Any]) -> dict[str, Any]:
    if hint in _PLAIN:
        # NaN and infinity are written as null: JSON has neither.
        return {"type": ["number", "null"]} if hint is float else {"type": _PLAIN[hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in held:
            held[hint.__name__] = {}
            held[hint.__name__] = _object(hint, held)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return _compound(hint, held)


def _compound(hint: Any, held: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        return {"anyOf": [_value(part, held) for part in arguments]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _value(arguments[0], held)}
    if origin is tuple:
        parts = [_value(part, held) for part in arguments]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    raise TypeError(f"{hint} has no JSON form")


def _meanings(kind: type) -> dict[str, str]:
    """Read the `Attributes` section of a numpydoc docstring."""
    text = inspect.getdoc(kind) or ""
    if "Attributes\n" not in text:
        return {}
    section = text.split("Attributes\n", 1)[1].split("\n", 1)[1]
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        head = re.match(r"^(\w[\w, ]*?)(?: : .*)?$", line)
        if head and not line.startswith(" "):
            names = [name.strip() for name in head[1].split(",")]
            for name in names:
                found[name] = []
        elif line.startswith("    "):
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(lines) for name, lines in found.items() if lines}
