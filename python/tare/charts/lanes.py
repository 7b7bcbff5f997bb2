"""Who took it, and did it hit several CPUs at once? One lane for each CPU, one bar for each detour.

A bar is as wide as the detour is long, and as high as the logarithm of that: a short one keeps a
hair's width, so that it is seen at all, and a long one still stands out among thousands. Zooming in
shows the true widths. Time whose records were lost is drawn as a gap, not as quiet.
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

MOST_BARS = 4000


@dataclass(frozen=True)
class Lane:
    """The detours of one CPU.

    Attributes
    ----------
    cpu : int
        Its number.
    start_s : float64[k]
        Start of each, seconds since the start of the measurement.
    length_ns : float64[k]
        Positive.
    sources : sequence of str[k] or None
        Of the names of `kinds`.
    not_measured_s : sequence of (float, float)
        Spans in which nothing was kept.
    """

    cpu: int
    start_s: NDArray[np.float64]
    length_ns: NDArray[np.float64]
    sources: Sequence[str] | None = None
    not_measured_s: Sequence[tuple[float, float]] = ()


def lanes(
    name: str,
    title: str,
    of: Sequence[Lane],
    ends_s: tuple[float, float],
    *,
    kinds: axes.Kinds = axes.SOURCES,
    caption: str | None = None,
) -> Picture:
    """Draw the detours of all CPUs on one axis of time.

    Parameters
    ----------
    name, title : str
        File name and heading.
    of : sequence of Lane
        In the order from top to bottom.
    ends_s : tuple of float
        First and last instant of the measurement.
    kinds : Kinds
        What the colours mean.
    caption : str, optional
        One line under the picture.

    Returns
    -------
    Picture
        Of at most `MOST_BARS` bars, the longest of each span of time.
    """
    each = max(1, MOST_BARS // max(1, len(of)))
    schema = {
        "cpu": pl.Int64,
        "from_s": pl.Float64,
        "to_s": pl.Float64,
        "length_ns": pl.Float64,
        "source": pl.String,
    }
    rows: list[pl.DataFrame] = [pl.DataFrame(schema=schema)]
    for lane in of:
        rows += [_bars(lane, each, schema), _gaps(lane, schema)]
    data = _placed(pl.concat(rows), [lane.cpu for lane in of])
    total = sum(lane.start_s.size for lane in of)
    return Picture(
        name=name,
        title=title,
        spec=_chart(data, [lane.cpu for lane in of], ends_s, kinds),
        data=data,
        alt=f"{title}. {_taken(of, ends_s)}",
        n=f"{units.count(total)} detours",
        caption=caption,
    )


def _bars(lane: Lane, most: int, schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    if not lane.start_s.size:
        return pl.DataFrame(schema=schema)
    chosen = thin.by_maximum(lane.start_s, lane.length_ns, most)
    kinds = ["unknown"] * chosen.size
    if lane.sources is not None:
        kinds = [str(lane.sources[i]) for i in chosen]
    start, length = lane.start_s[chosen], lane.length_ns[chosen]
    columns = {"from_s": start, "to_s": start + length / 1e9, "length_ns": length}
    return pl.DataFrame(
        {"cpu": [lane.cpu] * chosen.size, **columns, "source": kinds}, schema=schema
    )


def _gaps(lane: Lane, schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    spans = list(lane.not_measured_s)
    columns = {
        "cpu": [lane.cpu] * len(spans),
        "from_s": [begin for begin, _ in spans],
        "to_s": [end for _, end in spans],
        "length_ns": [(end - begin) * 1e9 for begin, end in spans],
        "source": ["not measured"] * len(spans),
    }
    return pl.DataFrame(columns, schema=schema)


# A lane is one unit high; bars take this much of it, the rest keeps the lanes apart.
_LANE_FILL = 0.86
_LEAST_HEIGHT = 0.1


def _placed(data: pl.DataFrame, cpus: list[int]) -> pl.DataFrame:
    foot = {cpu: float(len(cpus) - 1 - at) for at, cpu in enumerate(cpus)}
    length = pl.col("length_ns").log()
    logs = np.log(data.filter(pl.col("source") != "not measured")["length_ns"].to_numpy())
    low, high = (float(logs.min()), float(logs.max())) if logs.size else (0.0, 1.0)
    part = (length - low) / (high - low) if high > low else pl.lit(1.0)
    height = _LANE_FILL * (_LEAST_HEIGHT + (1 - _LEAST_HEIGHT) * part)
    gap = pl.col("source") == "not measured"
    return data.with_columns(
        foot=pl.col("cpu").replace_strict(foot, return_dtype=pl.Float64)
    ).with_columns(top=pl.col("foot") + pl.when(gap).then(_LANE_FILL).otherwise(height))


def _taken(of: Sequence[Lane], ends_s: tuple[float, float]) -> str:
    words = []
    for lane in of:
        away = sum(end - begin for begin, end in lane.not_measured_s)
        span = ends_s[1] - ends_s[0] - away
        part = float(lane.length_ns.sum()) / 1e9 / span if span > 0 else None
        words.append(
            f"CPU {lane.cpu}: {units.count(lane.start_s.size)} detours, "
            f"{units.share(part)} of its time"
        )
    return "; ".join(words) + "."


def _chart(
    data: pl.DataFrame, cpus: list[int], ends_s: tuple[float, float], kinds: axes.Kinds
) -> dict[str, Any]:
    base = alt.Chart(source())
    x = axes.time_s("from_s:Q", ends_s)
    last = len(cpus) - 1
    y = alt.Y(
        "foot:Q",
        scale=alt.Scale(domain=[-0.04, len(cpus)], nice=False),
        axis=alt.Axis(
            title="CPU",
            values=list(range(len(cpus))),
            labelExpr=f"{cpus}[{last} - datum.value]",
            labelFontSize=12,
            labelBaseline="bottom",
            labelOverlap=len(cpus) > 24,
            grid=True,
        ),
    )
    colour = axes.colour(kinds, data["source"].unique())
    bars = (
        base.transform_filter("datum.source !== 'not measured'")
        .mark_rect(strokeWidth=0.7, clip=True, aria=False)
        .encode(
            x=x,
            x2="to_s:Q",
            y=y,
            y2="top:Q",
            color=colour,
            stroke=colour,
            tooltip=[
                alt.Tooltip("cpu:N", title="CPU"),
                alt.Tooltip("from_s:Q", title="start (s)", format=".6f"),
                alt.Tooltip("length_ns:Q", title="length (ns)", format=",.4~r"),
                alt.Tooltip("source:N", title=kinds.title),
            ],
        )
    )
    layers: list[alt.Chart] = []
    if data.height and (data["source"] == "not measured").any():
        layers.append(
            base.transform_filter("datum.source === 'not measured'")
            .mark_rect(style="quiet", opacity=0.16, strokeWidth=0, clip=True, aria=False)
            .encode(x=x, x2="to_s:Q", y=y, y2="top:Q")
        )
    layers.append(bars)
    return layered(layers, max(110, min(64 * len(cpus), 720)), zoom=True)
