"""Which lengths occur, and how often? Histogram of log lengths: 20 bins a decade, counts in log.

Not the share of time: a rare long detour may take more than a thousand short ones (heat map,
percentile curve). Bins are of equal width in log length, so a single source is a single hill.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import units
from tare.charts import axes
from tare.charts.picture import Picture, layered, source

BINS_PER_DECADE = 20


def length_distribution(
    name: str,
    title: str,
    lengths_ns: Mapping[str, NDArray[np.float64]],
    counts: Mapping[str, NDArray[np.int64]] | None = None,
    *,
    series: str = "CPU",
    what: str = "detours",
    limits: tuple[axes.Limit, ...] = (),
    length_title: str = "detour length",
    caption: str | None = None,
) -> Picture:
    """Draw how often each length occurred, one line for each series.

    Parameters
    ----------
    name, title : str
        File name and heading.
    lengths_ns : mapping of str to float64[k]
        Name of the series to positive lengths.
    counts : mapping of str to int64[k], optional
        How often each length occurred (a tally); once each without.
    series : str
        What the names are.
    what : str
        What is counted, in the plural.
    limits : tuple of Limit
        Upright lines.
    length_title : str
        Title of the x axis.
    caption : str, optional
        One line under the picture.

    Returns
    -------
    Picture
    """
    tallies = {
        key: (values, np.ones(values.size, np.int64) if counts is None else counts[key])
        for key, values in lengths_ns.items()
        if values.size
    }
    data = _histogram(tallies)
    total = sum(int(count.sum()) for _, count in tallies.values())
    longest = max((float(values.max()) for values, _ in tallies.values()), default=float("nan"))
    return Picture(
        name=name,
        title=title,
        spec=_chart(data, series, what, limits, length_title),
        data=data.rename({"series": series}),
        alt=f"{title}. {units.count(total)} {what}, the longest {units.time(longest)}.",
        n=f"{units.count(total)} {what}",
        caption=caption,
    )


_Tally = tuple[NDArray[np.float64], NDArray[np.int64]]


def _histogram(tallies: Mapping[str, _Tally]) -> pl.DataFrame:
    schema = {"series": pl.String, "from_ns": pl.Float64, "to_ns": pl.Float64, "count": pl.Int64}
    if not tallies:
        return pl.DataFrame(schema=schema)
    low = min(float(values.min()) for values, _ in tallies.values())
    high = max(float(values.max()) for values, _ in tallies.values())
    first = int(np.floor(np.log10(low) * BINS_PER_DECADE))
    last = int(np.floor(np.log10(high) * BINS_PER_DECADE)) + 1
    edges = 10.0 ** (np.arange(first, last + 1) / BINS_PER_DECADE)
    parts = []
    for key, (values, count) in tallies.items():
        # The bin is computed, not searched: it agrees with `first` and `last` to the last bit.
        bins = np.floor(np.log10(values) * BINS_PER_DECADE).astype(np.int64) - first
        held = np.bincount(bins, weights=count, minlength=edges.size - 1).astype(np.int64)
        # An empty bin at the end, where the steps of the line come down.
        held = np.append(held, 0)
        after = edges[-1] * 10 ** (1 / BINS_PER_DECADE)
        columns = {"from_ns": edges, "to_ns": np.append(edges[1:], after), "count": held}
        parts.append(pl.DataFrame({"series": [key] * held.size, **columns}, schema=schema))
    return pl.concat(parts)


def _chart(
    data: pl.DataFrame,
    series: str,
    what: str,
    limits: tuple[axes.Limit, ...],
    length_title: str,
) -> dict[str, Any]:
    ends = [1e2, 1e6]
    top = 10.0
    if data.height:
        low, high = float(data["from_ns"].min()), float(data["to_ns"].max())  # type: ignore[arg-type]
        marks = [limit.value_ns for limit in limits]
        ends = axes.log_domain(min([low, *marks]), max([high, *marks]), 1.1)
        top = max(10.0, float(data["count"].max()) * 1.5)  # type: ignore[arg-type]
    several = data["series"].n_unique() > 1
    colour = alt.Color(f"{series}:N", legend=alt.Legend(title=series)) if several else alt.Undefined
    counted = alt.Y(
        "shown:Q",
        scale=alt.Scale(type="log", domain=[0.8, top], nice=False, clamp=True),
        axis=alt.Axis(
            title=f"{what} in each bin (count)",
            values=axes.log_ticks(1, top),
            labelExpr=axes.COUNT_LABEL,
        ),
    )
    # Zero has no logarithm: an empty bin goes down to the foot of the picture.
    bars = (
        alt.Chart(source())
        .transform_calculate(shown="max(datum.count, 0.8)")
        .mark_area(
            interpolate="step-after",
            fillOpacity=0.0 if several else 0.2,
            line={"strokeWidth": 1.8},
            clip=True,
            aria=False,
        )
        .encode(
            x=axes.log_time("from_ns", length_title, ends, y=False),
            y=counted.stack(None),
            y2=alt.datum(0.8),
            color=colour,
        )
    )
    layers: list[alt.Chart] = [bars]
    for limit in limits:
        base = alt.Chart(alt.InlineData(values=[{}]))
        at = alt.datum(limit.value_ns)
        words = f"{limit.name} {units.time(limit.value_ns)}"
        layers += [
            base.mark_rule(style="limit", strokeDash=[6, 4], aria=False).encode(x=at),
            base.mark_text(
                style="limit-label",
                text=words,
                align="left",
                dx=4,
                dy=4,
                baseline="top",
                aria=False,
            ).encode(x=at, y=alt.value(0)),
        ]
    return layered(layers, 240)
