"""Before and after cleaning? Two scatters with their own scales, the removed share in words.

As in Rehn et al. 2014, figure 3: on the left the outliers flatten everything else, on the right the
floor shows its own structure.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tare import units
from tare.charts import axes, thin
from tare.charts.picture import Picture, layered, source


def before_after(
    name: str,
    title: str,
    position: NDArray[np.float64],
    value_ns: NDArray[np.float64],
    cutoff_ns: float,
    *,
    rule: str,
    n: int,
    removed: int,
    position_title: str = "sample",
) -> tuple[Picture, Picture]:
    """Draw one trace whole, and again without what lies beyond the cut-off.

    Parameters
    ----------
    name, title : str
        File name and heading; each picture adds its half.
    position : float64[k]
        Number of the sample or time, in order; may be thinned by maximum already.
    value_ns : float64[k]
        Positive.
    cutoff_ns : float
        Largest value that is kept.
    rule : str
        Name of the rule that gave the cut-off.
    n, removed : int
        Samples in all, and beyond the cut-off: of the whole trace, not of the points.
    position_title : str
        Title of the x axis.

    Returns
    -------
    tuple of Picture
        Before and after; both may stand beside each other.
    """
    kept = value_ns <= cutoff_ns
    share = removed / n if n else 0.0
    before = _half(position, value_ns, position_title, cutoff_ns)
    after = _half(position[kept], value_ns[kept], position_title, None)
    words = (
        f"The {rule} rule cuts at {units.time(cutoff_ns)} and removes {units.count(removed)} of "
        f"{units.count(n)} samples ({units.share(share)})."
    )
    own = "Own scale: what is left is the loop itself and its shortest disturbances."
    return (
        Picture(
            name=f"{name}-before",
            title=f"{title}: before",
            spec=before[0],
            data=before[1],
            alt=f"{title}, before. {_range(value_ns)} {words}",
            n=f"{units.count(n)} samples",
            caption=words,
            half=True,
        ),
        Picture(
            name=f"{name}-after",
            title=f"{title}: after",
            spec=after[0],
            data=after[1],
            alt=f"{title}, after. {_range(value_ns[kept])} {own}",
            n=f"{units.count(n - removed)} samples",
            caption=own,
            half=True,
        ),
    )


def _range(value_ns: NDArray[np.float64]) -> str:
    if not value_ns.size:
        return "Nothing is there."
    return f"From {units.time(float(value_ns.min()))} to {units.time(float(value_ns.max()))}."


def _half(
    position: NDArray[np.float64],
    value_ns: NDArray[np.float64],
    position_title: str,
    cutoff_ns: float | None,
) -> tuple[dict[str, Any], pl.DataFrame]:
    column, shown, factor = _unit(float(value_ns.max()) if value_ns.size else 1.0)
    chosen = thin.by_maximum(position, value_ns) if value_ns.size else np.empty(0, np.intp)
    data = pl.DataFrame({"position": position[chosen], column: value_ns[chosen] * factor})
    domain: Any = alt.Undefined if value_ns.size else axes.EMPTY_DOMAIN
    points = (
        alt.Chart(source())
        .mark_circle(size=12, fillOpacity=0.65, aria=False)
        .encode(
            x=alt.X(
                "position:Q",
                scale=alt.Scale(nice=False, zero=False, domain=domain),
                axis=alt.Axis(title=position_title, grid=False, format="~s", tickCount=5),
            ),
            y=alt.Y(
                f"{column}:Q",
                scale=alt.Scale(zero=False, nice=True, padding=6, domain=domain),
                axis=alt.Axis(title=f"length ({shown})", tickCount=5),
            ),
        )
    )
    layers: list[alt.Chart] = [points]
    if cutoff_ns is not None:
        line = alt.Chart(alt.InlineData(values=[{}])).mark_rule(style="strong", aria=False)
        layers.append(line.encode(y=alt.datum(cutoff_ns * factor)))
    return layered(layers, 220), data


def _unit(largest_ns: float) -> tuple[str, str, float]:
    if largest_ns >= 1e7:
        return "value_ms", "ms", 1e-6
    return ("value_us", "µs", 1e-3) if largest_ns >= 1e3 else ("value_ns", "ns", 1.0)
