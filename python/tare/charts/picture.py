"""What a chart form hands out: a Vega-Lite specification, the data it draws, and words.

The data travels beside the specification, as CSV: the report holds it once, for the chart and for
the reader who wants the numbers. Not here: rendering in a browser (`tare.report`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import polars as pl
import vl_convert

from tare.charts import theme
from tare.charts.compact import compact

DATA_NAME = "shown"

# Width in CSS pixels of a picture outside a browser (print, SVG, PNG).
STATIC_WIDTH_PX = 680

# Samples and times are shown to a person: six significant digits tell more than a screen can.
_DIGITS = 6


@dataclass(frozen=True)
class Picture:
    """One chart.

    Attributes
    ----------
    name : str
        Short name, usable as a file name.
    title : str
        What it shows, as a person asks it.
    spec : dict
        Vega-Lite without data: the dataset is called `shown`.
    data : polars.DataFrame
        What is drawn; the ending of a column's name is its unit.
    alt : str
        The same in words, for those who cannot see it.
    n : str
        How many of what it rests on: `2 500 detours`.
    caption : str or None
        One line, only where the picture needs it.
    half : bool
        May stand beside its neighbour on a wide screen.
    """

    name: str
    title: str
    spec: dict[str, Any]
    data: pl.DataFrame
    alt: str
    n: str
    caption: str | None = None
    half: bool = False

    def csv(self) -> str:
        """Return the data that is drawn, as CSV with a head line."""
        floats = [name for name, kind in self.data.schema.items() if kind.is_float()]
        rounded = self.data.with_columns(pl.col(floats).round_sig_figs(_DIGITS))
        return rounded.write_csv(float_scientific=None)

    def complete(self, mode: Literal["light", "dark"] = "light") -> dict[str, Any]:
        """Return the specification with its data and colours, as any Vega-Lite tool reads it."""
        whole = fixed_width(self.spec, STATIC_WIDTH_PX)
        data = {"name": DATA_NAME, "values": self.csv(), "format": self.format()}
        # Alone on a page of unknown colour, it brings its own paper.
        paper = {"background": theme.INKS[mode]["paper"]}
        return {**whole, "data": data, "config": theme.config(mode) | paper}

    def format(self) -> dict[str, Any]:
        """Return how Vega-Lite is to read the CSV: which columns are numbers."""
        kinds = {
            name: "number" if kind.is_numeric() else "string"
            for name, kind in self.data.schema.items()
        }
        return {"type": "csv", "parse": kinds}

    def svg(self, mode: Literal["light", "dark"] = "light") -> str:
        """Render without a browser."""
        return compact(str(vl_convert.vegalite_to_svg(self.complete(mode))))

    def png(self, mode: Literal["light", "dark"] = "light", scale: float = 2.0) -> bytes:
        """Render without a browser, `scale` pixels for each CSS pixel."""
        return bytes(vl_convert.vegalite_to_png(self.complete(mode), scale=scale))


def fixed_width(spec: dict[str, Any], width_px: int) -> dict[str, Any]:
    """Replace every `"width": "container"` by a number of CSS pixels."""
    out: dict[str, Any] = {}
    for key, value in spec.items():
        if key == "width" and value == "container":
            out[key] = width_px
        elif isinstance(value, dict):
            out[key] = fixed_width(value, width_px)
        elif isinstance(value, list):
            out[key] = [
                fixed_width(part, width_px) if isinstance(part, dict) else part for part in value
            ]
        else:
            out[key] = value
    return out


def specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Turn an Altair chart over the dataset `shown` into a plain specification.

    Parameters
    ----------
    chart : altair chart
        Built on `source()`.

    Returns
    -------
    dict
        Without `$schema`, `config` and data; those are the report's business.
    """
    spec: dict[str, Any] = chart.to_dict()
    for key in ("$schema", "config"):
        spec.pop(key, None)
    spec["data"] = {"name": DATA_NAME}
    return spec


def layered(layers: Sequence[alt.Chart], height_px: int, *, zoom: bool = False) -> dict[str, Any]:
    """Put layers upon each other, as wide as the page lets them be.

    Parameters
    ----------
    layers : sequence of altair charts
        The lowest first.
    height_px : int
        Of the plot, CSS pixels.
    zoom : bool
        Zoom along x by Shift + wheel and drag, which leaves plain scrolling to the page.

    Returns
    -------
    dict
        As `specification` gives it.
    """
    chart: Any = alt.layer(*layers).properties(width="container", height=height_px)
    if zoom:
        chart = chart.add_params(
            alt.selection_interval(
                name="zoom", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]"
            )
        )
    return specification(chart)


def source() -> alt.NamedData:
    """Return the dataset that every form draws: by name, filled in later."""
    return alt.NamedData(name=DATA_NAME)
