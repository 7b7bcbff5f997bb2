"""Put views on one HTML page that needs nothing else: no network, no file beside it.

Everything taken from data is escaped: text by Jinja's autoescape, JSON by its `tojson` filter
(which writes `<` as an escape), CSV by percent-encoding. A content security policy by hash lets
only the page's own scripts run, so that nothing in a recording can become one.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import vl_convert
from markupsafe import Markup

from tare import __version__
from tare.charts import Picture, theme
from tare.recording import Recording, differences
from tare.report import evidence
from tare.report.view import Table, View

_ASSETS = Path(__file__).parent / "assets"


# Longest text, in letters, that a cell keeps on one line.
_LONG_CELL = 28


@dataclass(frozen=True)
class _Shown:
    """A picture with everything that the template writes."""

    picture: Picture
    id: str
    csv_link: str
    svg_link: str


def render(views: Sequence[View], *, command: str | None = None) -> str:
    """Write the page.

    Parameters
    ----------
    views : sequence of View
        In the order of reading, at least one.
    command : str, optional
        How to make this page again.

    Returns
    -------
    str
        A whole HTML document.
    """
    sections = [_section(view, number) for number, view in enumerate(views)]
    script = _script()
    recordings = _recordings(views)
    page = (
        _environment()
        .get_template("page.html.j2")
        .render(
            title=views[0].title if len(views) == 1 else f"{len(views)} results",
            sections=sections,
            unlike=_unlike(recordings),
            specs={
                shown.id: {"spec": shown.picture.spec, "parse": shown.picture.format()["parse"]}
                for section in sections
                for shown in section["pictures"]
            },
            themes={mode: theme.config(mode) for mode in ("light", "dark")},
            style=Markup(_asset("page.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file and the bundled library
            script_hash=_hash(script),
            early=Markup(_asset("early.js")),  # noqa: S704 - our own file
            early_hash=_hash(_asset("early.js")),
            version=__version__,
            command=command,
        )
    )
    return str(page)


def _section(view: View, number: int) -> dict[str, Any]:
    prefix = f"v{number}"
    return {
        "id": prefix,
        "view": view,
        "pictures": [_shown(picture, f"{prefix}-{at}") for at, picture in enumerate(view.pictures)],
        "tables": [_table(table) for table in view.tables],
        "profile_link": view.profile and _link("application/json", view.profile),
        "evidence": [
            {"recording": recording, "facts": evidence.facts(recording)}
            for recording in view.recordings
        ],
    }


def _shown(picture: Picture, identity: str) -> _Shown:
    csv = _link("text/csv;charset=utf-8", picture.csv())
    svg = base64.b64encode(picture.svg().encode()).decode()
    return _Shown(picture, identity, csv, f"data:image/svg+xml;base64,{svg}")


def _link(media: str, text: str) -> str:
    # Percent-encoded text is smaller than base64, because digits and commas stay as they are.
    return f"data:{media}," + quote(text, safe=" ,.:;-+_()/")


def _table(table: Table) -> Mapping[str, Any]:
    heads, rows = table.shown()
    kinds = []
    for at, column in enumerate(table.columns):
        longest = max((len(row[at]) for row in rows), default=0)
        kinds.append("num" if column.numeric else "long" if longest > _LONG_CELL else "")
    return {
        "table": table,
        "heads": [{"text": head, "kind": kind} for head, kind in zip(heads, kinds, strict=True)],
        "rows": rows,
    }


def _recordings(views: Sequence[View]) -> list[Recording]:
    seen: dict[Path, Recording] = {}
    for view in views:
        for recording in view.recordings:
            seen.setdefault(recording.path.resolve(), recording)
    return list(seen.values())


def _unlike(recordings: Sequence[Recording]) -> list[str]:
    """List what the hosts of the page differ in, so that nobody takes them for one."""
    lines = []
    for other in recordings[1:]:
        first = recordings[0]
        lines += [
            f"{first.name} / {other.name}: {difference}"
            for difference in differences(first.host, other.host)
        ]
    return lines


# A number and its unit stay on one line.
_UNIT = re.compile(r"(?<=\d) (?=(?:%|ppm|ns|µs|ms|s|Hz|kHz|MHz|GHz|B|KiB|MiB|GiB|/s)(?![\w/]))")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")


def _bound(text: str) -> str:
    return _UNIT.sub("\u00a0", text)


def _instant(text: str) -> str:
    """Write an instant as people do; what is none stays as it is."""
    found = _INSTANT.fullmatch(text)
    return f"{found[1]} {found[2]} UTC" if found else text


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"bound": _bound, "instant": _instant}
    return environment


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Vega, Vega-Lite and Vega-Embed, and the page's own script, in one function of their own."""
    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # The bundle declares hundreds of names at top level; inside a function they disturb nobody.
    return f'(function () {{\n"use strict";\n{library}\n}})();\n{_asset("page.js")}'


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
