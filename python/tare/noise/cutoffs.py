"""Cut-offs: up to which value a sample is an inlier.

Answers: the upper cut-off of one trace by every published rule, by the family that Rehn et al.
swept by hand, and by the automatic rule; whether the rule is suited to these data; how much it
removes. Only upper cut-offs: noise has a hard lower bound, so what is left of the median always
stays. Does not judge the rules: tests/oracle does, by truth (docs/methods/noise-cutoffs.md).

Place on the way of the data: inference; arrays or tallies in, `Cutoff` out. Values keep their unit.

References
----------
Tukey 1977, *Exploratory Data Analysis*.
Hubert & Vandervieren 2008, "An adjusted boxplot for skewed distributions", Computational
Statistics & Data Analysis 52(12).
Rehn, Hamilton & Holdsworth 2014, "Towards an adaptive OS noise mitigation technique for
microbenchmarking on Apple iPad devices".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tare import stats
from tare.noise.automatic import COST_RATIO, find_floor_end
from tare.noise.tally import Tally

Data = Tally | ArrayLike

FENCE = 1.5
"""Tukey's factor; also that of the adjusted boxplot and of Rehn's equation 3."""

ADJUSTED_RIGHT, ADJUSTED_LEFT = 3.0, 4.0
"""Exponents of the upper fence for MC >= 0 and MC < 0: Hubert & Vandervieren 2008, equation 5, and
robustbase `adjboxStats` (b = 3, -a = 4)."""

ADJUSTED_LIMIT = 0.6
"""|medcouple| up to which the adjusted boxplot was fitted (Hubert & Vandervieren 2008)."""

REHN_PERCENTILE, REHN_RATIO = 0.95, 3.0
"""Rehn et al. 2014, equation 4."""

LEAST_EXPONENT = -300.0
"""Power of ten below which a chance is not told apart."""

SWEEP_PERCENTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999)
SWEEP_RATIOS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)


@dataclass(frozen=True)
class Cutoff:
    """One rule's answer.

    Attributes
    ----------
    rule : str
        `tukey`, `one-sided`, `adjusted-boxplot`, `rehn`, `family` or `automatic`.
    value : float
        Largest value kept as an inlier, unit of the data; at least the median.
    suited : bool
        Do the data meet what the rule takes for granted?
    why : str
        How the value came about, or what the data lack.
    removed : int
        Samples above the value.
    removed_share : float
        The same over all samples, 0 to 1.
    """

    rule: str
    value: float
    suited: bool
    why: str
    removed: int
    removed_share: float


def as_tally(data: Data) -> Tally:
    """Take a tally as it is and count an array.

    Parameters
    ----------
    data : Tally or array_like[n]
        At least one finite sample.

    Returns
    -------
    Tally

    Raises
    ------
    ValueError
        If there are none, or one is NaN or infinite.
    """
    return data if isinstance(data, Tally) else Tally.of(data)


def _cutoff(tally: Tally, rule: str, fence: float, suited: bool, why: str) -> Cutoff:
    value = max(fence, float(tally.quantile(0.5)))
    removed = tally.above(value)
    return Cutoff(rule, value, suited, why, removed, removed / tally.n)


def _spread_seen(spread: float, formula: str, range_: str) -> tuple[bool, str]:
    """Say whether a rule that multiplies a range has one to multiply."""
    if spread > 0:
        return True, formula
    return False, f"{range_} is 0 (the counter's steps are coarser): any larger value is removed"


def tukey(data: Data) -> Cutoff:
    """Tukey's upper fence, Q3 + 1.5 (Q3 - Q1); made for samples that are nearly normal.

    Parameters
    ----------
    data : Tally or array_like[n]

    Returns
    -------
    Cutoff

    References
    ----------
    Tukey 1977; Rehn et al. 2014, equation 2.
    """
    tally = as_tally(data)
    q1, q3 = tally.quantile([0.25, 0.75])
    suited, why = _spread_seen(q3 - q1, "Q3 + 1.5 (Q3 - Q1)", "Q3 - Q1")
    return _cutoff(tally, "tukey", float(q3 + FENCE * (q3 - q1)), suited, why)


def one_sided(data: Data) -> Cutoff:
    """One-sided fence, Q3 + 1.5 (Q3 - Q0): uses the range that is sure to hold inliers.

    Parameters
    ----------
    data : Tally or array_like[n]

    Returns
    -------
    Cutoff

    References
    ----------
    Rehn et al. 2014, equation 3.
    """
    tally = as_tally(data)
    q3 = float(tally.quantile(0.75))
    spread = q3 - tally.minimum
    suited, why = _spread_seen(spread, "Q3 + 1.5 (Q3 - Q0)", "Q3 - Q0")
    return _cutoff(tally, "one-sided", q3 + FENCE * spread, suited, why)


def adjusted_boxplot(data: Data, medcouple: float | None = None) -> Cutoff:
    """Upper fence of the adjusted boxplot; unsuited beyond a medcouple of 0.6.

    Q3 + 1.5 exp(3 MC) IQR for MC >= 0, Q3 + 1.5 exp(4 MC) IQR for MC < 0.

    Parameters
    ----------
    data : Tally or array_like[n]
    medcouple : float or None
        Medcouple of the data, -1 to 1; None computes it exactly.

    Returns
    -------
    Cutoff

    Notes
    -----
    Quartiles are of type 7 here; R's `adjboxStats` takes Tukey's hinges instead.

    References
    ----------
    Hubert & Vandervieren 2008, equation 5; Brys, Hubert & Struyf 2004 (medcouple).
    """
    tally = as_tally(data)
    mc = stats.medcouple(tally) if medcouple is None else medcouple
    q1, q3 = tally.quantile([0.25, 0.75])
    exponent = ADJUSTED_RIGHT if mc >= 0 else ADJUSTED_LEFT
    fence = float(q3 + FENCE * math.exp(exponent * mc) * (q3 - q1))
    suited, why = _spread_seen(
        q3 - q1, f"Q3 + 1.5 exp({exponent:g} MC) (Q3 - Q1), MC = {mc:.3f}", "Q3 - Q1"
    )
    if abs(mc) > ADJUSTED_LIMIT:
        suited, why = False, f"medcouple {mc:.3f} is beyond ±{ADJUSTED_LIMIT}: the rule is unsuited"
    return _cutoff(tally, "adjusted-boxplot", fence, suited, why)


def family(data: Data, percentile: float, ratio: float, *, rule: str = "family") -> Cutoff:
    """Any member of Rehn's family, P_p + r (P_p - Q0).

    Parameters
    ----------
    data : Tally or array_like[n]
    percentile : float
        p, from 0 to 1.
    ratio : float
        r, at least 0.
    rule : str
        Name that the result carries.

    Returns
    -------
    Cutoff

    Raises
    ------
    ValueError
        If p or r lies outside its range.

    References
    ----------
    Rehn et al. 2014: 'cutoff points ... over varying percentiles and distance ratios'.
    """
    if not 0 <= percentile <= 1 or not ratio >= 0:
        msg = f"percentile {percentile} must lie from 0 to 1, ratio {ratio} at 0 or above"
        raise ValueError(msg)
    tally = as_tally(data)
    anchor = float(tally.quantile(percentile))
    spread = anchor - tally.minimum
    name = f"P{percentile * 100:g}"
    suited, why = _spread_seen(spread, f"{name} + {ratio:g} ({name} - Q0)", f"{name} - Q0")
    return _cutoff(tally, rule, anchor + ratio * spread, suited, why)


def rehn(data: Data) -> Cutoff:
    """Rehn's rule, P95 + 3 (P95 - Q0), found by eye on tablet traces of 10 000 deltas.

    Parameters
    ----------
    data : Tally or array_like[n]

    Returns
    -------
    Cutoff

    References
    ----------
    Rehn et al. 2014, equation 4.
    """
    return family(data, REHN_PERCENTILE, REHN_RATIO, rule="rehn")


def automatic(data: Data, step: float | None = None, cost_ratio: float = COST_RATIO) -> Cutoff:
    """Cut where the floor's own tail ends; keep everything if nothing parts from the floor.

    Parameters
    ----------
    data : Tally or array_like[n]
    step : float or None
        Step of the counter, unit of the data; None estimates it from the data.
    cost_ratio : float
        Values up to this many times the median never hold a detour: a loop that only reads the
        counter may have a second way through it. 1 for FWQ and FTQ.

    Returns
    -------
    Cutoff
        Unsuited where more than half of the samples are hit: the floor then ends left of the
        median, where all stay.

    References
    ----------
    `tare.noise.automatic` explains the rule.
    """
    tally = as_tally(data)
    gap = find_floor_end(tally, step, cost_ratio)
    if gap.value is None:
        why = "no gap between the floor and larger values: everything stays"
        return _cutoff(tally, "automatic", tally.maximum, True, why)
    # Beyond what a double can hold the logarithm is minus infinity.
    exponent = max((gap.log_p or 0.0) / math.log(10), LEAST_EXPONENT)
    most = "less than " if exponent == LEAST_EXPONENT else "about "
    why = f"end of the floor's tail; such a gap without detours: {most}1e{exponent:.0f}"
    if gap.value < float(tally.quantile(0.5)):
        why = "more than half of the samples are hit, but what is left of the median always stays"
        return _cutoff(tally, "automatic", gap.value, False, why)
    return _cutoff(tally, "automatic", gap.value, True, why)


RULES: dict[str, Callable[[Data], Cutoff]] = {
    "tukey": tukey,
    "one-sided": one_sided,
    "adjusted-boxplot": adjusted_boxplot,
    "rehn": rehn,
    "automatic": automatic,
}
"""Every rule without parameters, by name, in the order of the documentation."""


def all_cutoffs(
    data: Data, step: float | None = None, cost_ratio: float = COST_RATIO
) -> tuple[Cutoff, ...]:
    """Apply every rule to the same data.

    Parameters
    ----------
    data : Tally or array_like[n]
    step : float or None
        Step of the counter, unit of the data, for the automatic rule.
    cost_ratio : float
        As in `automatic`.

    Returns
    -------
    tuple of Cutoff
        In the order of `RULES`.
    """
    tally = as_tally(data)
    return tuple(
        automatic(tally, step, cost_ratio) if name == "automatic" else rule(tally)
        for name, rule in RULES.items()
    )


def sweep(
    data: Data,
    percentiles: Sequence[float] = SWEEP_PERCENTILES,
    ratios: Sequence[float] = SWEEP_RATIOS,
) -> NDArray[np.float64]:
    """Cut-offs of a grid of Rehn's family: what the authors then judged by eye.

    Parameters
    ----------
    data : Tally or array_like[n]
    percentiles : sequence of float[m]
        p, from 0 to 1.
    ratios : sequence of float[k]
        r, at least 0.

    Returns
    -------
    float64[m, k]
        Cut-off for each p (row) and r (column), unit of the data; at least the median.
    """
    tally = as_tally(data)
    anchors = tally.quantile(np.asarray(percentiles, dtype=np.float64))
    fences = anchors[:, None] + np.asarray(ratios)[None, :] * (anchors - tally.minimum)[:, None]
    return np.maximum(fences, float(tally.quantile(0.5)))
