"""Do repetitions agree? One point for each repetition in its order, with its interval.

Shows warm-up and drift, which boxes and means hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import polars as pl

from tare import units
from tare.charts import axes
from tare.charts.picture import Picture, layered, source

Quantity = Literal["share", "time"]


@dataclass(frozen=True)
class Run:
    """One repetition.

    Attributes
    ----------
    number : int
        In the order in which they ran, from 0.
    series : str
        What it belongs to: `CPU 0`.
    value : float or None
        What it gave, a fraction of 1 or ns; None is not drawn.
    low, high : float or None
        Its interval.
    """

    number: int
    series: str
    value: float | None
    low: float | None = None
    high: float | None = None


def run_sequence(
    name: str,
    title: str,
    runs: Sequence[Run],
    *,
    quantity: Quantity,
    value_title: str,
    run_title: str = "repetition",
    caption: str | None = None,
) -> Picture:
    """Draw repetitions in order.

    Parameters
    ----------
    name, title : str
        File name and heading.
    runs : sequence of Run
        Any order.
    quantity : {"share", "time"}
        Whether values are fractions of 1 or ns.
    value_title, run_title : str
        Titles of the axes.
    caption : str, optional
        One line under the picture.

    Returns
    -------
    Picture
    """
    unit = "fraction" if quantity == "share" else "ns"
    names = {"value": f"value_{unit}", "low": f"low_{unit}", "high": f"high_{unit}"}
    data = pl.DataFrame(
        [(run.number, run.series, run.value, run.low, run.high) for run in runs],
        schema={
            "run": pl.Int64,
            "series": pl.String,
            names["value"]: pl.Float64,
            names["low"]: pl.Float64,
            names["high"]: pl.Float64,
        },
        orient="row",
    )
    data = _dodged(data)
    show = units.share if quantity == "share" else units.time
    known = data[names["value"]].drop_nulls()
    spread = (
        f"from {show(float(known.min()))} to {show(float(known.max()))}"  # type: ignore[arg-type]
        if known.len()
        else "none known"
    )
    return Picture(
        name=name,
        title=title,
        spec=_chart(data, names, quantity, value_title, run_title),
        data=data,
        alt=f"{title}. {units.count(known.len())} repetitions, {spread}.",
        n=f"{units.count(known.len())} repetitions",
        caption=caption,
    )


def _dodged(data: pl.DataFrame) -> pl.DataFrame:
    # Intervals of several series would hide each other: each stands a little beside its number.
    places = {key: at for at, key in enumerate(data["series"].unique(maintain_order=True))}
    step = 0.4 / len(places) if places else 0.0
    shift = [step * (places[key] - (len(places) - 1) / 2) for key in data["series"]]
    return data.with_columns(shown_at=pl.col("run") + pl.Series(shift, dtype=pl.Float64))


def _chart(
    data: pl.DataFrame,
    names: dict[str, str],
    quantity: Quantity,
    value_title: str,
    run_title: str,
) -> dict[str, Any]:
    several = data["series"].n_unique() > 1
    colour = alt.Color("series:N", title=None) if several else alt.Undefined
    domain: Any = alt.Undefined if data.height else axes.EMPTY_DOMAIN
    x = alt.X(
        "shown_at:Q",
        scale=alt.Scale(nice=False, zero=False, padding=12, domain=domain),
        axis=alt.Axis(title=run_title, tickMinStep=1, format="d", grid=False),
    )
    y = alt.Y(
        f"{names['value']}:Q",
        scale=alt.Scale(zero=False, nice=True, domain=domain),
        axis=alt.Axis(
            title=value_title,
            tickCount=5,
            labelExpr=axes.SHARE_LABEL if quantity == "share" else axes.TIME_LABEL,
        ),
    )
    base = alt.Chart(source())
    layers: list[alt.Chart] = [
        base.mark_line(strokeWidth=1, opacity=0.6, aria=False).encode(x=x, y=y, color=colour),
        base.mark_circle(size=46, opacity=1, aria=False).encode(x=x, y=y, color=colour),
    ]
    if data[names["low"]].count():
        layers.insert(
            0,
            base.mark_rule(strokeWidth=2, opacity=0.5, aria=False)
            .transform_filter(f"isValid(datum['{names['low']}'])")
            .encode(x=x, y=alt.Y(f"{names['low']}:Q"), y2=f"{names['high']}:Q", color=colour),
        )
    return layered(layers, 220)
