"""Numbers with their unit, as people read them.

Shows only: nothing here is parsed back or computed with. Unknown (`None`, NaN) becomes `unknown`,
never 0. Three significant digits unless said, because no measured figure here has more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

UNKNOWN = "unknown"

_TIME_STEPS = ((1e-9, 1e9, "s"), (1e-6, 1e6, "ms"), (1e-3, 1e3, "µs"))
_SI = ("", " k", " M", " G", " T")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, without an exponent.

    Parameters
    ----------
    value : float
        Finite.
    digits : int
        At least 1. Digits before the decimal point are never cut.

    Returns
    -------
    str
        `0.0123`, `1.23`, `12.3`, `1 230`: thousands are set apart by a narrow space.
    """
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    # Rounding may add a digit (9.996 -> 10.00): ask again with the rounded value.
    rounded = round(value, decimals)
    if rounded:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}".replace(",", "\u202f")


def time(ns: float | None, digits: int = 3) -> str:
    """Write a time in the unit that leaves one to three digits before the point.

    Parameters
    ----------
    ns : float or None
        Nanoseconds, any sign.
    digits : int
        Significant digits.

    Returns
    -------
    str
        `9.50 ns`, `1.23 µs`, `4.00 ms`, `2.50 s`; `unknown` for None and NaN.
    """
    if ns is None or math.isnan(ns):
        return UNKNOWN
    if math.isinf(ns):
        return "∞" if ns > 0 else "-∞"
    for factor, bound, unit in _TIME_STEPS:
        # The bound is compared after rounding, so that 999.9996 ns is 1.00 µs, not 1 000 ns.
        if float(f"{abs(ns):.{digits - 1}e}") >= bound:
            return f"{significant(ns * factor, digits)} {unit}"
    return f"{significant(ns, digits)} ns"


def count(value: float | None) -> str:
    """Write a count in full, thousands set apart: `1 000 000`; `unknown` for None."""
    if value is None or math.isnan(value):
        return UNKNOWN
    return f"{round(value):,}".replace(",", "\u202f")


def short_count(value: float | None) -> str:
    """Write a large count short: `950`, `12.3 k`, `100 M`; `unknown` for None."""
    if value is None or math.isnan(value):
        return UNKNOWN
    scaled, step = float(value), 0
    while abs(float(f"{scaled:.2e}")) >= 1000 and step < len(_SI) - 1:
        scaled, step = scaled / 1000, step + 1
    digits = significant(scaled) if step else f"{scaled:.0f}"
    return digits + _SI[step]


def share(fraction: float | None) -> str:
    """Write a fraction of 1 as per cent, small ones as parts per million.

    Parameters
    ----------
    fraction : float or None
        0.0123 is 1.23 %.

    Returns
    -------
    str
        `1.23 %`, `45 ppm` (below 0.01 %), `0 %`; `unknown` for None and NaN.
    """
    if fraction is None or math.isnan(fraction):
        return UNKNOWN
    if fraction != 0 and abs(fraction) < 1e-4:
        return f"{significant(fraction * 1e6)} ppm"
    return f"{significant(fraction * 100)} %"


def size(bytes_: float | None) -> str:
    """Write a size in binary units: `512 B`, `4.00 MiB`; `unknown` for None."""
    if bytes_ is None or math.isnan(bytes_):
        return UNKNOWN
    scaled, step = float(bytes_), 0
    while abs(scaled) >= 1024 and step < len(_BINARY) - 1:
        scaled, step = scaled / 1024, step + 1
    return f"{scaled:.0f} B" if step == 0 else f"{significant(scaled)} {_BINARY[step]}"


def rate(per_second: float | None) -> str:
    """Write a rate: `250 /s`; `unknown` for None and NaN."""
    if per_second is None or math.isnan(per_second):
        return UNKNOWN
    return f"{significant(per_second)} /s"


def frequency(hertz: float | None) -> str:
    """Write a frequency: `250 Hz`, `2.10 GHz`; `unknown` for None and NaN."""
    if hertz is None or math.isnan(hertz):
        return UNKNOWN
    for bound, unit in ((1e9, "GHz"), (1e6, "MHz"), (1e4, "kHz")):
        if hertz >= bound:
            return f"{significant(hertz / (1e3 if unit == 'kHz' else bound))} {unit}"
    return f"{significant(hertz)} Hz"


def cpu_list(cpus: Iterable[int]) -> str:
    """Write CPU numbers as the kernel does: `0,2-5`; `none` for no CPU."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs) or "none"
