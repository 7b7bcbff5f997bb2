"""Is it periodic? Power of the detours' starts against frequency; the peaks carry their names.

A source that comes 250 times a second is a peak at 250 Hz and smaller ones at its multiples. What
is left once the named ones are taken out is said in words by the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import units
from tare.charts import axes, thin
from tare.charts.picture import Picture, layered, source


@dataclass(frozen=True)
class Peak:
    """A named frequency.

    Attributes
    ----------
    frequency_hz : float
        Where it is.
    power : float
        How high it is, on the scale of the spectrum.
    name : str
        What it is: `250 Hz kernel tick`; `unnamed` if nothing is known of it.
    """

    frequency_hz: float
    power: float
    name: str


def spectrum(
    name: str,
    title: str,
    frequency_hz: NDArray[np.float64],
    power: NDArray[np.float64],
    peaks: Sequence[Peak],
    *,
    n: int,
    limit: float | None = None,
    power_title: str = "power (dimensionless)",
    caption: str | None = None,
) -> Picture:
    """Draw a spectrum and name its peaks.

    Parameters
    ----------
    name, title : str
        File name and heading.
    frequency_hz : float64[k]
        Positive, rising.
    power : float64[k]
        Not negative.
    peaks : sequence of Peak
        Named in the picture; the highest eight, the others are in the data.
    n : int
        Detours that it rests on.
    limit : float, optional
        Power that chance alone reaches only rarely; drawn as a line.
    power_title : str
        Title of the y axis.
    caption : str, optional
        One line under the picture.

    Returns
    -------
    Picture
    """
    usable = (frequency_hz > 0) & (power > 0)
    frequency, height = frequency_hz[usable], power[usable]
    if frequency.size:
        chosen = thin.by_maximum(np.log(frequency), height, 2000)
        frequency, height = frequency[chosen], height[chosen]
    data = pl.concat(
        [
            pl.DataFrame({"frequency_hz": frequency, "power": height}).with_columns(
                peak=pl.lit(None, pl.String)
            ),
            pl.DataFrame(
                {
                    "frequency_hz": [peak.frequency_hz for peak in peaks],
                    "power": [peak.power for peak in peaks],
                    "peak": [peak.name for peak in peaks],
                },
                schema={"frequency_hz": pl.Float64, "power": pl.Float64, "peak": pl.String},
            ),
        ]
    )
    named = ", ".join(f"{peak.name} at {units.frequency(peak.frequency_hz)}" for peak in peaks)
    return Picture(
        name=name,
        title=title,
        spec=_chart(data, peaks, limit, power_title),
        data=data,
        alt=f"{title}. " + (f"Peaks: {named}." if named else "No peak stands out."),
        n=f"{units.count(n)} detours",
        caption=caption,
    )


def _chart(
    data: pl.DataFrame, peaks: Sequence[Peak], limit: float | None, power_title: str
) -> dict[str, Any]:
    lowest, highest = (1.0, 1e3)
    if data.height:
        lowest = float(data["frequency_hz"].min())  # type: ignore[arg-type]
        highest = float(data["frequency_hz"].max())  # type: ignore[arg-type]
    ends = axes.log_domain(lowest, highest, 1.05)
    base = alt.Chart(source())
    x = alt.X(
        "frequency_hz:Q",
        scale=alt.Scale(type="log", domain=ends, nice=False),
        axis=alt.Axis(
            title="frequency (Hz)",
            values=axes.log_ticks(*ends),
            labelExpr=axes.COUNT_LABEL,
            grid=False,
        ),
    )
    # Names stand to the right of their peaks and above each other: they need head room.
    top = 1.12 * float(data["power"].max() or 1.0)  # type: ignore[arg-type]
    y = alt.Y(
        "power:Q",
        axis=alt.Axis(title=power_title, tickCount=4, labelExpr=axes.COUNT_LABEL),
        scale=alt.Scale(domain=[0, top], nice=False),
    )
    body = base.transform_filter("!isValid(datum.peak) || datum.peak === ''")
    layers: list[alt.Chart] = [
        body.mark_line(strokeWidth=1, interpolate="linear", aria=False).encode(x=x, y=y)
    ]
    if limit is not None:
        line = alt.Chart(alt.InlineData(values=[{}]))
        layers.append(
            line.mark_rule(style="limit", strokeDash=[6, 4], aria=False).encode(y=alt.datum(limit))
        )
    layers += _names(peaks, ends)
    return layered(layers, 240)


_MOST_NAMES = 8
# Sizes for the narrowest picture, a phone: what fits there fits everywhere.
_NARROW_PX, _LETTER_PX, _ROW_PX = 300.0, 6.2, 14


def _names(peaks: Sequence[Peak], ends: Sequence[float]) -> list[alt.Chart]:
    layers: list[alt.Chart] = []
    taken: list[tuple[float, float, int]] = []
    for peak in sorted(peaks, key=lambda peak: -peak.power)[:_MOST_NAMES]:
        along = np.log(peak.frequency_hz / ends[0]) / np.log(ends[1] / ends[0]) * _NARROW_PX
        width = _LETTER_PX * len(peak.name) + 12
        left = along + width > _NARROW_PX
        span = (along - width, along) if left else (along, along + width)
        row = 0
        while any(span[0] < end and begin < span[1] and row == at for begin, end, at in taken):
            row += 1
        taken.append((*span, row))
        words: dict[str, Any] = {
            "text": peak.name,
            "align": "right" if left else "left",
            "baseline": "middle",
            "dx": -7 if left else 7,
            "dy": row * _ROW_PX,
        }
        place = {"x": alt.datum(peak.frequency_hz), "y": alt.datum(peak.power)}
        point = alt.Chart(alt.InlineData(values=[{}]))
        point = point.mark_point(style="strong", filled=True, size=40, aria=False)
        layers += [point.encode(**place), *axes.label(place, words)]
    return layers
