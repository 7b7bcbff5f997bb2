"""Compare two noise profiles: how many times noisier, and is that more than chance.

Answers: ratios of floor, fraction, rate and lengths of the CPUs that two profiles share, with
intervals. Does not say whether the hosts should differ: their fingerprints do
(`tare.recording.differences`).

Place on the way of the data: inference on profiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tare.noise.profile import CpuProfile, NoiseProfile


@dataclass(frozen=True)
class ProfileRatio:
    """One quantity of two CPUs, right over left.

    Attributes
    ----------
    cpu : int
    quantity, unit : str
    left, right : float or None
        In `unit`.
    ratio : float or None
        right / left.
    low, high : float or None
        Interval at 0.95.
    why : str or None
        What is missing.
    """

    cpu: int
    quantity: str
    unit: str
    left: float | None
    right: float | None
    ratio: float | None
    low: float | None
    high: float | None
    why: str | None


def compare_profiles(left: NoiseProfile, right: NoiseProfile) -> tuple[ProfileRatio, ...]:
    """Compare the CPUs that two profiles share.

    Parameters
    ----------
    left, right : NoiseProfile

    Returns
    -------
    tuple of ProfileRatio
        Right over left, with an interval at 0.95 where both have one: the two log intervals are
        combined as those of independent estimates. `why` says what is missing.

    Raises
    ------
    ValueError
        If no CPU was measured with the same loop on both.
    """
    mine = {(entry.cpu, entry.loop): entry for entry in left.cpus}
    pairs = [
        (mine[entry.cpu, entry.loop], entry)
        for entry in right.cpus
        if (entry.cpu, entry.loop) in mine
    ]
    if not pairs:
        msg = "the two profiles share no CPU that was measured with the same loop"
        raise ValueError(msg)
    return tuple(ratio for a, b in pairs for ratio in _ratios(a, b))


_Value = tuple[float | None, float | None, float | None]


def _ratios(a: CpuProfile, b: CpuProfile) -> list[ProfileRatio]:
    rows: list[tuple[str, str, _Value, _Value]] = [
        ("floor", "ns", (a.floor_ns, None, None), (b.floor_ns, None, None)),
        (
            "noise fraction",
            "1",
            (a.fraction, a.fraction_low, a.fraction_high),
            (b.fraction, b.fraction_low, b.fraction_high),
        ),
        (
            "detour rate",
            "1/s",
            (a.rate_per_s, a.rate_low_per_s, a.rate_high_per_s),
            (b.rate_per_s, b.rate_low_per_s, b.rate_high_per_s),
        ),
    ]
    others = {q.p: q for q in b.quantiles}
    for q in a.quantiles:
        if (other := others.get(q.p)) is not None:
            rows.append(
                (
                    f"length P{q.p * 100:g}",
                    "ns",
                    (q.value_ns, q.low_ns, q.high_ns),
                    (other.value_ns, other.low_ns, other.high_ns),
                )
            )
    rows.append(("longest detour", "ns", (a.longest_ns, None, None), (b.longest_ns, None, None)))
    rows.append(
        (
            "unexplained share",
            "1",
            (a.unexplained_share, None, None),
            (b.unexplained_share, None, None),
        )
    )
    return [_ratio(a.cpu, *row) for row in rows]


def _ratio(cpu: int, quantity: str, unit: str, left: _Value, right: _Value) -> ProfileRatio:
    a, b = left[0], right[0]
    if a is None or b is None or a <= 0 or b < 0:
        why = "unknown or 0 on one side"
        return ProfileRatio(cpu, quantity, unit, a, b, None, None, None, why)
    ratio = b / a
    mine, other = _log_half_width(left), _log_half_width(right)
    if mine is None or other is None or ratio == 0:
        why = "no interval on one side"
        return ProfileRatio(cpu, quantity, unit, a, b, ratio, None, None, why)
    half = math.exp(math.hypot(mine, other))
    return ProfileRatio(cpu, quantity, unit, a, b, ratio, ratio / half, ratio * half, None)


def _log_half_width(value: _Value) -> float | None:
    """Half the width of an interval on a log axis; None if it has no ends above 0."""
    _, low, high = value
    if low is None or high is None or low <= 0:
        return None
    return math.log(high / low) / 2
