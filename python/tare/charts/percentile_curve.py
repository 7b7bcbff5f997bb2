"""How bad is the tail? Length against 1 / (1 - q) in log: each step right is ten times rarer.

As jHiccup and HdrHistogram draw it. A curve stops where its samples end: with n samples nothing is
said beyond one in n. The band is the interval that the inference gives.
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
from tare.charts import axes
from tare.charts.picture import Picture, layered, source


@dataclass(frozen=True)
class Curve:
    """One series of quantiles.

    Attributes
    ----------
    name : str
        Of the series: `CPU 0`.
    q : float64[k]
        In (0, 1), rising.
    value_ns : float64[k]
        Quantiles, positive.
    low_ns, high_ns : float64[k] or None
        Ends of the interval; NaN where there is none.
    n : int
        Samples that it rests on.
    """

    name: str
    q: NDArray[np.float64]
    value_ns: NDArray[np.float64]
    low_ns: NDArray[np.float64] | None
    high_ns: NDArray[np.float64] | None
    n: int


def percentile_curve(
    name: str,
    title: str,
    curves: Sequence[Curve],
    *,
    value_title: str = "length",
    what: str = "samples",
    caption: str | None = None,
) -> Picture:
    """Draw quantiles up to the last that the samples can tell.

    Parameters
    ----------
    name, title : str
        File name and heading.
    curves : sequence of Curve
        One line each.
    value_title : str
        Title of the y axis.
    what : str
        What is counted, in the plural.
    caption : str, optional
        One line under the picture.

    Returns
    -------
    Picture
    """
    data = pl.concat([_rows(curve) for curve in curves]) if curves else _EMPTY
    tails = [
        f"{curve.name}: half below {units.time(_at(curve, 0.5))}, "
        f"99.9 % below {units.time(_at(curve, 0.999))}"
        for curve in curves
    ]
    total = sum(curve.n for curve in curves)
    return Picture(
        name=name,
        title=title,
        spec=_chart(data, value_title, what),
        data=data,
        alt=f"{title}. {'; '.join(tails)}.",
        n=f"{units.count(total)} {what}",
        caption=caption,
    )


_SCHEMA = {
    "series": pl.String,
    "quantile": pl.Float64,
    "one_in": pl.Float64,
    "value_ns": pl.Float64,
    "low_ns": pl.Float64,
    "high_ns": pl.Float64,
}
_EMPTY = pl.DataFrame(schema=_SCHEMA)


def _rows(curve: Curve) -> pl.DataFrame:
    one_in = 1.0 / (1.0 - curve.q)
    told = (one_in <= max(curve.n, 1) * (1 + 1e-9)) & (curve.value_ns > 0)
    unknown = np.full(curve.q.size, np.nan)
    frame = pl.DataFrame(
        {
            "series": [curve.name] * int(told.sum()),
            "quantile": curve.q[told],
            "one_in": one_in[told],
            "value_ns": curve.value_ns[told],
            "low_ns": (unknown if curve.low_ns is None else curve.low_ns)[told],
            "high_ns": (unknown if curve.high_ns is None else curve.high_ns)[told],
        },
        schema=_SCHEMA,
    )
    return frame.with_columns(pl.col("low_ns", "high_ns").fill_nan(None))


def _at(curve: Curve, q: float) -> float | None:
    if curve.n * (1 - q) < 1 or not curve.q.size:
        return None
    return float(curve.value_ns[int(np.argmin(np.abs(curve.q - q)))])


def _chart(data: pl.DataFrame, value_title: str, what: str) -> dict[str, Any]:
    ends, right = [1e0, 1e6], 10.0
    if data.height:
        lowest = float(data.select(pl.min_horizontal("value_ns", "low_ns").min()).item())
        highest = float(data.select(pl.max_horizontal("value_ns", "high_ns").max()).item())
        ends = axes.log_domain(lowest, highest)
        right = float(data["one_in"].max())  # type: ignore[arg-type]
    several = data["series"].n_unique() > 1
    colour = alt.Color("series:N", title=None) if several else alt.Undefined
    x = alt.X(
        "one_in:Q",
        scale=alt.Scale(type="log", domain=[1, max(right, 10.0)], nice=False),
        axis=alt.Axis(
            title=f"one in so many {what} is longer",
            values=axes.log_ticks(1, max(right, 10.0)),
            labelExpr=axes.COUNT_LABEL,
            grid=True,
        ),
    )
    base = alt.Chart(source())
    layers: list[alt.Chart] = []
    if data["low_ns"].count():
        band = base.mark_area(opacity=0.14, interpolate="step-before", clip=True, aria=False)
        layers.append(
            band.transform_filter("isValid(datum.low_ns) && isValid(datum.high_ns)").encode(
                x=x,
                y=alt.Y("low_ns:Q"),
                y2="high_ns:Q",
                color=colour,
            )
        )
    line = base.mark_line(interpolate="step-before", aria=False)
    layers.append(
        line.encode(
            x=x,
            y=axes.log_time("value_ns", value_title, ends),
            color=colour,
            tooltip=[
                alt.Tooltip("series:N"),
                alt.Tooltip("quantile:Q", format=".6~f"),
                alt.Tooltip("value_ns:Q", title="length (ns)", format=",.4~r"),
            ],
        )
    )
    return layered(layers, 280)
