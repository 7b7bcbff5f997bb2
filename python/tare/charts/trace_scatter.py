"""What does the noise look like? Time across, length of each detour up (log), colour = source.

Drawn: threshold, cut-off and floor as lines. Thinned by maximum. Read it for bands (a periodic
source), clouds (load) and lone high points (the tail).
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import units
from tare.charts import axes, thin
from tare.charts.picture import Picture, layered, source


def trace_scatter(
    name: str,
    title: str,
    time_s: NDArray[np.float64],
    length_ns: NDArray[np.float64],
    sources: Sequence[str] | None = None,
    *,
    limits: Sequence[axes.Limit] = (),
    ends_s: tuple[float, float] | None = None,
    n: int | None = None,
    what: str = "detours",
    length_title: str = "detour length",
    kinds: axes.Kinds = axes.SOURCES,
    caption: str | None = None,
    half: bool = False,
) -> Picture:
    """Draw one trace.

    Parameters
    ----------
    name, title : str
        File name and heading.
    time_s : float64[k]
        Start of each, seconds since the start of the measurement.
    length_ns : float64[k]
        Positive.
    sources : sequence of str[k], optional
        One of `kinds.names` each; without them nothing is coloured.
    limits : sequence of Limit
        Lines across the picture.
    ends_s : tuple of float, optional
        First and last instant of the measurement; else those of the points.
    n : int, optional
        How many the arrays stand for, if they are thinned already; else k.
    what : str
        What the points are, in the plural.
    length_title : str
        Title of the y axis.
    kinds : Kinds
        What the colours mean.
    caption : str, optional
        One line under the picture.
    half : bool
        May stand beside its neighbour.

    Returns
    -------
    Picture
        An empty trace gives an empty frame with its lines, and says so.
    """
    total = time_s.size if n is None else n
    if ends_s is None and not time_s.size:
        ends_s = (axes.EMPTY_DOMAIN[0], axes.EMPTY_DOMAIN[1])
    chosen = thin.by_maximum(time_s, length_ns) if time_s.size else np.empty(0, np.intp)
    columns = {"time_s": time_s[chosen], "length_ns": length_ns[chosen]}
    data = pl.DataFrame(columns)
    if sources is not None:
        told = np.asarray(sources, dtype=str)[chosen]
        data = data.with_columns(pl.Series("source", told, dtype=pl.String))
    ends = _ends(length_ns, limits)
    middle = float(np.median(length_ns)) if length_ns.size else ends[0]
    layers = [
        _points(data, ends, ends_s, length_title, kinds),
        *axes.limit_lines(limits, ends, middle),
    ]
    return Picture(
        name=name,
        title=title,
        spec=layered(layers, 280, zoom=True),
        data=data,
        alt=_words(title, length_ns, total, what, limits),
        n=f"{units.count(total)} {what}",
        caption=caption,
        half=half,
    )


def _ends(length_ns: NDArray[np.float64], limits: Sequence[axes.Limit]) -> list[float]:
    marks = [limit.value_ns for limit in limits if limit.value_ns > 0]
    values = np.concatenate([length_ns, marks])
    if not values.size:
        return [1e2, 1e6]
    low, high = axes.log_domain(float(values.min()), float(values.max()), 1.4)
    # The lowest line has its name below it.
    return [low / (1.6 if marks else 1.0), high]


def _points(
    data: pl.DataFrame,
    ends: Sequence[float],
    ends_s: tuple[float, float] | None,
    length_title: str,
    kinds: axes.Kinds,
) -> alt.Chart:
    dense = data.height > 800
    mark = alt.Chart(source()).mark_circle(
        size=14 if dense else 24, fillOpacity=0.6 if dense else 0.85, clip=True, aria=False
    )
    told = "source" in data.columns
    colour = axes.colour(kinds, data["source"].unique()) if told else alt.Undefined
    points: alt.Chart = mark.encode(
        x=axes.time_s(ends=ends_s),
        y=axes.log_time("length_ns", length_title, ends),
        color=colour,
        tooltip=[
            alt.Tooltip("time_s:Q", title="time (s)", format=".6f"),
            alt.Tooltip("length_ns:Q", title="length (ns)", format=",.4~r"),
            *([alt.Tooltip("source:N", title=kinds.title)] if told else []),
        ],
    )
    return points


def _words(
    title: str, length_ns: NDArray[np.float64], n: int, what: str, limits: Sequence[axes.Limit]
) -> str:
    lines = ", ".join(f"{limit.name} at {units.time(limit.value_ns)}" for limit in limits)
    drawn = f" Lines: {lines}." if lines else ""
    if not length_ns.size:
        return f"{title}. No {what} at all: the picture is empty.{drawn}"
    low, mid, high = (float(np.quantile(length_ns, q)) for q in (0, 0.5, 1))
    return (
        f"{title}. {units.count(n)} {what} from {units.time(low)} to {units.time(high)}, "
        f"half of those drawn below {units.time(mid)}.{drawn}"
    )
