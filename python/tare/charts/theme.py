"""Colours and type of all charts, light and dark, from one palette.

Palette: Okabe & Ito, "Color Universal Design" (2008), told apart with every common kind of colour
blindness. In the dark the blue is the lighter of its two, because the darker one drowns.
Meaning never hangs on colour alone: every line is labelled, every chart has words beside it.
"""

from __future__ import annotations

from typing import Any, Literal

Mode = Literal["light", "dark"]

# What took the time (GLOSSARY: source), in the order of the palette.
SOURCES = ("unknown", "irq", "softirq", "thread", "fault", "hypervisor", "nmi")

_PALETTE: dict[Mode, list[str]] = {
    "light": ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F"],
    "dark": ["#56B4E9", "#E8743B", "#1FBF92", "#DE9CC0", "#F0B429", "#4E8FD6", "#A9A9A9"],
}
_RAMP: dict[Mode, list[str]] = {
    "light": ["#DCE9F3", "#9CC4E0", "#4E97C8", "#0072B2", "#0B3C5D"],
    "dark": ["#1C3346", "#1F5F8B", "#3C95CC", "#8CCBF0", "#F2FAFF"],
}
# Ink of text, of secondary text, of grid lines, and the paper.
INKS: dict[Mode, dict[str, str]] = {
    "light": {"ink": "#1B1F24", "soft": "#57606A", "grid": "#E3E7EB", "paper": "#FFFFFF"},
    "dark": {"ink": "#E8EBEE", "soft": "#A3ADB8", "grid": "#2B323A", "paper": "#16191D"},
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"


def config(mode: Mode) -> dict[str, Any]:
    """Return the Vega-Lite configuration of one mode.

    Parameters
    ----------
    mode : {"light", "dark"}
        Paper and ink.
    """
    ink, palette = INKS[mode], _PALETTE[mode]
    label = {"font": FONT, "fontSize": 12}
    return {
        "background": None,
        "font": FONT,
        "padding": {"left": 4, "right": 10, "top": 4, "bottom": 4},
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink["soft"],
            "labelFontSize": 11,
            "titleColor": ink["soft"],
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": ink["grid"],
            "domainColor": ink["grid"],
            "tickColor": ink["grid"],
            "labelFlush": True,
            "labelOverlap": True,
            "labelPadding": 5,
            "labelSeparation": 8,
        },
        # The title of the y axis lies flat above it: read without turning the head, and it
        # leaves the width of a phone to the picture.
        "axisY": {
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "end",
            "titleX": -50,
            "titleY": -11,
            "minExtent": 50,
            "labelFlush": False,
            "domain": False,
            "ticks": False,
        },
        "axisX": {"titlePadding": 8},
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "labelColor": ink["ink"],
            "titleColor": ink["soft"],
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "symbolOpacity": 1,
            "titleOrient": "left",
            "symbolSize": 70,
            "labelLimit": 240,
            "offset": 26,
        },
        "title": {"color": ink["ink"], "fontSize": 13, "anchor": "start"},
        "range": {"category": palette, "heatmap": _RAMP[mode], "ramp": _RAMP[mode]},
        "point": {"color": palette[0]},
        "circle": {"color": palette[0]},
        "line": {"color": palette[0], "strokeWidth": 2},
        "area": {"color": palette[0]},
        "rect": {"color": palette[0]},
        "bar": {"color": palette[0]},
        "rule": {"color": ink["soft"]},
        "text": {"color": ink["ink"], **label},
        "style": {
            "limit": {"stroke": ink["soft"], "strokeWidth": 1.2},
            "limit-label": {"fill": ink["ink"], "fontSize": 11, "font": FONT},
            # Drawn below a label, so that the label is read on a cloud of points.
            "halo": {
                "fill": ink["paper"],
                "stroke": ink["paper"],
                "strokeWidth": 4,
                "strokeJoin": "round",
                "fontSize": 11,
                "font": FONT,
            },
            "strong": {"color": palette[1]},
            "quiet": {"color": ink["soft"]},
        },
    }
