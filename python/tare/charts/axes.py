"""Axes and reference lines that several forms share: lengths in time, logarithmic, with units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from tare import units
from tare.charts import theme

# The unit stands at every label: a log axis from 10 ns to 1 s has no single good unit.
TIME_LABEL = (
    "datum.value === 0 ? '0' : "
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '~r') + ' s' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '~r') + ' ms' : "
    "abs(datum.value) >= 1e3 ? format(datum.value / 1e3, '~r') + ' µs' : "
    "format(datum.value, '~r') + ' ns'"
)
# 1 000 000 as 1M: counts and one-in-n.
COUNT_LABEL = "datum.value >= 1000 ? format(datum.value, '~s') : format(datum.value, '~r')"
# 0.001 as 0.1 %, below that in parts per million.
SHARE_LABEL = (
    "datum.value >= 0.9999e-4 ? format(datum.value * 100, '~r') + ' %' : "
    "datum.value === 0 ? '0' : format(datum.value * 1e6, '~r') + ' ppm'"
)


@dataclass(frozen=True)
class Limit:
    """A horizontal line that means something: `threshold`, `cut-off`, `floor`.

    Attributes
    ----------
    name : str
        What it is.
    value_ns : float
        Where it lies.
    """

    name: str
    value_ns: float


# A scale over no data has no ends, and Vega then writes NaN: an empty picture gets these.
EMPTY_DOMAIN = [0.0, 1.0]


@dataclass(frozen=True)
class Kinds:
    """What colours mean.

    Attributes
    ----------
    title : str
        Of the legend.
    names : sequence of str
        In the order of the palette, at most seven.
    """

    title: str
    names: Sequence[str]


SOURCES = Kinds("source", theme.SOURCES)


def colour(kinds: Kinds, present: Iterable[str]) -> Any:
    """Return the colours of the column `source`: fixed by name, shown if there is a choice.

    Parameters
    ----------
    kinds : Kinds
        What they mean.
    present : iterable of str
        Which of them are drawn.
    """
    held = set(present)
    shown = [name for name in kinds.names if name in held]
    if len(shown) < 2:
        return alt.Undefined
    return alt.Color(
        "source:N",
        scale=alt.Scale(domain=list(kinds.names)),
        legend=alt.Legend(title=kinds.title, values=shown),
    )


def log_domain(low: float, high: float, room: float = 1.25) -> list[float]:
    """Return a log axis' ends with some room beyond the data.

    Parameters
    ----------
    low, high : float
        Positive; equal ends are opened to half a decade each way.
    room : float
        Factor beyond either end.
    """
    if high <= low:
        return [low / 3, high * 3]
    return [low / room, high * room]


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers inside the ends: decades, or 1-2-5 where there are few decades."""
    decades = math.log10(high / low)
    mantissas: tuple[float, ...] = (1.0, 2.0, 5.0)
    if decades > 3:
        mantissas = (1.0,)
    elif decades > 1.6:
        mantissas = (1.0, 3.0)
    elif decades < 0.5:
        mantissas = tuple(float(m) for m in range(1, 10))
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**e for e in exponents for m in mantissas]
    # 1.0 * 10.0**-3 is not 0.001 to the last bit; twelve digits are.
    return [float(f"{tick:.12g}") for tick in ticks if low <= tick <= high]


def log_time(field: str, title: str, ends: Sequence[float], *, y: bool = True) -> Any:
    """Return a logarithmic axis of times in ns, labelled with their units."""
    channel: Any = alt.Y if y else alt.X
    return channel(
        field,
        type="quantitative",
        scale=alt.Scale(type="log", domain=list(ends), nice=False, clamp=True),
        axis=alt.Axis(title=title, values=log_ticks(ends[0], ends[1]), labelExpr=TIME_LABEL),
    )


def time_s(field: str = "time_s:Q", ends: Sequence[float] | None = None, title: str = "") -> alt.X:
    """Return the axis of the time since the start of the measurement, in seconds."""
    axis = alt.Axis(title=title or "time (s)", grid=False, tickCount=10, format="~g")
    scale = alt.Scale(nice=False, zero=False)
    if ends is not None:
        scale = alt.Scale(nice=False, zero=False, domain=list(ends))
    return alt.X(field, scale=scale, axis=axis)


def limit_lines(
    limits: Sequence[Limit], ends: Sequence[float], middle_ns: float
) -> list[alt.Chart]:
    """Return lines with their names and values, names at the left and right in turn.

    Parameters
    ----------
    limits : sequence of Limit
        Any order. Those outside `ends` are not drawn.
    ends : sequence of float
        Of the log axis, ns.
    middle_ns : float
        Where most of the points lie: a name stands on the far side of its line.
    """
    layers = []
    inside = sorted(
        (limit for limit in limits if ends[0] <= limit.value_ns <= ends[1]),
        key=lambda limit: limit.value_ns,
    )
    dashes = {"floor": [1, 3], "threshold": [6, 4]}
    for position, limit in enumerate(inside):
        # Neighbours that lie close would write over each other: sides alternate.
        left = position % 2 == 0
        words = f"{limit.name} {units.time(limit.value_ns)}"
        where: dict[str, Any] = {
            "y": alt.datum(limit.value_ns),
            "x": alt.value(4) if left else alt.value("width"),
        }
        text: dict[str, Any] = {
            "text": words,
            "align": "left" if left else "right",
            "baseline": "top" if limit.value_ns < middle_ns else "bottom",
            "dy": 4 if limit.value_ns < middle_ns else -3,
            "dx": 0 if left else -4,
        }
        base = alt.Chart(alt.InlineData(values=[{}]))
        dash = dashes.get(limit.name, [0])
        layers.append(
            base.mark_rule(style="limit", strokeDash=dash, aria=False).encode(y=where["y"])
        )
        layers += label(where, text)
    return layers


def label(where: dict[str, Any], text: dict[str, Any]) -> list[alt.Chart]:
    """Return words that can be read on a cloud of points: a halo of paper, the ink upon it.

    Parameters
    ----------
    where : dict
        Encoding of the place: `x`, `y`.
    text : dict
        Properties of the text mark: `text`, `align`, `dx`, ...
    """
    base = alt.Chart(alt.InlineData(values=[{}]))
    return [
        base.mark_text(style=style, aria=False, **text).encode(**where)
        for style in ("halo", "limit-label")
    ]
