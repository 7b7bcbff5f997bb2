"""Is it stable over time? Time across, log length up, colour = log count; the longest above it.

Shows drift (a band that bends), periods (stripes) and phases (blocks). The line above is the
longest of each interval of time.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import units
from tare.charts import axes
from tare.charts.picture import Picture, source, specification


def heat_map(
    name: str,
    title: str,
    *,
    time_edges_s: NDArray[np.float64],
    length_edges_ns: NDArray[np.float64],
    counts: NDArray[np.int64],
    longest_ns: NDArray[np.float64],
    what: str = "detours",
    length_title: str = "detour length",
    caption: str | None = None,
) -> Picture:
    """Draw counts by time and length.

    Parameters
    ----------
    name, title : str
        File name and heading.
    time_edges_s : float64[t + 1]
        Edges of the intervals of time, seconds, rising.
    length_edges_ns : float64[h + 1]
        Edges of the lengths, positive, rising, equal steps in log.
    counts : int64[t, h]
        How many in each cell.
    longest_ns : float64[t]
        Longest of each interval; NaN where there is none.
    what : str
        What is counted, in the plural.
    length_title : str
        Title of the y axis.
    caption : str, optional
        One line under the picture.

    Returns
    -------
    Picture
    """
    data = _rows(time_edges_s, length_edges_ns, counts, longest_ns)
    total = int(counts.sum())
    longest = float(np.nanmax(longest_ns)) if np.isfinite(longest_ns).any() else None
    full = float((counts.sum(axis=1) > 0).mean()) if counts.size else 0.0
    ends_s = [float(time_edges_s[0]), float(time_edges_s[-1])]
    return Picture(
        name=name,
        title=title,
        spec=specification(_chart(data, ends_s, what, length_title)),
        data=data,
        alt=(
            f"{title}. {units.count(total)} {what} in {counts.shape[0]} intervals of time, "
            f"{units.share(full)} of which hold any; the longest is {units.time(longest)}."
        ),
        n=f"{units.count(total)} {what}",
        caption=caption,
    )


_SCHEMA = {
    "row": pl.String,
    "from_s": pl.Float64,
    "to_s": pl.Float64,
    "from_ns": pl.Float64,
    "to_ns": pl.Float64,
    "count": pl.Int64,
}


def _rows(
    time_edges_s: NDArray[np.float64],
    length_edges_ns: NDArray[np.float64],
    counts: NDArray[np.int64],
    longest_ns: NDArray[np.float64],
) -> pl.DataFrame:
    at, length = np.nonzero(counts)
    cells = pl.DataFrame(
        {
            "row": ["cell"] * at.size,
            "from_s": time_edges_s[at],
            "to_s": time_edges_s[at + 1],
            "from_ns": length_edges_ns[length],
            "to_ns": length_edges_ns[length + 1],
            "count": counts[at, length],
        },
        schema=_SCHEMA,
    )
    # An interval without any is kept, empty: the line has a gap there.
    line = pl.DataFrame(
        {
            "row": ["longest"] * longest_ns.size,
            "from_s": time_edges_s[:-1],
            "to_s": time_edges_s[1:],
            "from_ns": longest_ns,
            "to_ns": longest_ns,
            "count": counts.sum(axis=1),
        },
        schema=_SCHEMA,
    )
    return pl.concat([cells, line.with_columns(pl.col("from_ns", "to_ns").fill_nan(None))])


def _chart(
    data: pl.DataFrame, ends_s: list[float], what: str, length_title: str
) -> alt.VConcatChart:
    cells = data.filter(pl.col("row") == "cell")
    line = data.filter(pl.col("row") == "longest")
    low, high = _span(cells, "from_ns", "to_ns")
    ends = axes.log_domain(low, high, 1.0)
    top_ends = axes.log_domain(*_span(line, "from_ns", "to_ns"))
    most = float(cells["count"].max() or 1)  # type: ignore[arg-type]
    base = alt.Chart(source())
    above = (
        base.transform_filter("datum.row === 'longest'")
        .mark_line(interpolate="step-after", strokeWidth=1.5, aria=False)
        .encode(
            x=axes.time_s("from_s:Q", ends_s).axis(None),
            y=axes.log_time("from_ns", "longest in each interval", top_ends),
        )
        .properties(width="container", height=70)
    )
    below = (
        base.transform_filter("datum.row === 'cell'")
        .mark_rect(aria=False, clip=True)
        .encode(
            x=axes.time_s("from_s:Q", ends_s),
            x2="to_s:Q",
            y=axes.log_time("from_ns", length_title, ends),
            y2="to_ns:Q",
            color=alt.Color(
                "count:Q",
                scale=alt.Scale(type="log", domain=[1, max(most, 2.0)]),
                legend=alt.Legend(
                    title=f"{what} in a cell (count)",
                    values=_few(axes.log_ticks(1, max(most, 2.0))),
                    labelExpr=axes.COUNT_LABEL,
                    gradientLength=110,
                    gradientThickness=8,
                ),
            ),
            tooltip=[
                alt.Tooltip("from_s:Q", title="from (s)", format=".4~f"),
                alt.Tooltip("from_ns:Q", title="longer than (ns)", format=",.4~r"),
                alt.Tooltip("count:Q", title=what),
            ],
        )
        .properties(width="container", height=220)
    )
    return alt.vconcat(above, below, spacing=26)


def _few(ticks: list[float]) -> list[float]:
    # The bar of colours is as wide as a phone lets it be: four numbers fit beneath it.
    return ticks[:: -(-len(ticks) // 4)]


def _span(frame: pl.DataFrame, low: str, high: str) -> tuple[float, float]:
    if not frame[low].count():
        return 1e2, 1e6
    return float(frame[low].min()), float(frame[high].max())  # type: ignore[arg-type]
