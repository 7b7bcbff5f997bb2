"""Make OS noise whose truth is known.

Answers: what would each of the four loops record on a host with this floor, this counter and these
detours, and which samples did a detour really hit? The oracle tests judge every rule by it, and a
profile can drive it, so that a program can be tried under the noise of another host.

Does not answer what a host's noise is (`tare.noise.profile` does), and does not model what detours
do to caches: a sample is its undisturbed length plus the time stolen inside it.

Place on the way of the data: beside it. Takes models, gives arrays; every draw comes from the
generator that the caller hands in.

References
----------
Hoefler, Schneider & Lumsdaine 2010, "Characterizing the influence of system noise on large-scale
applications by simulation", SC'10 (noise replayed from measured detours).
Beckman, Iskra, Yoshii & Coghlan 2006, "The influence of operating systems on the performance of
collective operations at extreme scale", CLUSTER 2006 (noise as periodic and random detours).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Lengths(Protocol):
    """Anything that draws lengths of detours."""

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` lengths, ns, all above 0."""
        ...


@dataclass(frozen=True)
class Lognormal:
    """Lengths whose logarithm is normal: the usual shape of interrupt handlers.

    Parameters
    ----------
    median_ns : float
        Median length, ns.
    sigma : float
        Standard deviation of the natural logarithm; 0 makes all lengths equal.
    minimum_ns, maximum_ns : float
        Draws are clipped to this range, ns.
    """

    median_ns: float
    sigma: float = 0.0
    minimum_ns: float = 1.0
    maximum_ns: float = float("inf")

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` lengths, ns."""
        drawn = self.median_ns * np.exp(self.sigma * rng.standard_normal(n))
        return np.clip(drawn, self.minimum_ns, self.maximum_ns)


@dataclass(frozen=True)
class Binned:
    """Lengths from a histogram, even on a log axis within each bin: what a profile holds.

    Parameters
    ----------
    edges_ns : float64[bins + 1]
        Ascending edges, ns, above 0.
    counts : int64[bins]
        Detours in each bin; at least one in all.
    """

    edges_ns: Sequence[float]
    counts: Sequence[int]

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` lengths, ns."""
        weights = np.asarray(self.counts, dtype=np.float64)
        edges = np.log(np.asarray(self.edges_ns, dtype=np.float64))
        bins = rng.choice(len(weights), size=n, p=weights / weights.sum())
        drawn: Floats = np.exp(edges[bins] + rng.random(n) * np.diff(edges)[bins])
        return drawn

    def mean(self) -> float:
        """Mean length of what is drawn, ns."""
        edges = np.asarray(self.edges_ns, dtype=np.float64)
        # A density of 1/x between a and b has the mean (b - a) / ln(b / a).
        means = np.diff(edges) / np.diff(np.log(edges))
        return float(np.average(means, weights=np.asarray(self.counts, dtype=np.float64)))


@dataclass(frozen=True)
class Periodic:
    """One detour in each period, late by a random time, and sometimes missing.

    Parameters
    ----------
    period_ns : float
        Distance of the planned starts, ns.
    lengths : Lengths
        How long each one takes.
    jitter_ns : float
        Standard deviation of a start around its plan, ns.
    present : float
        Probability that one takes place at all.
    phase_ns : float or None
        First planned start, ns; None draws it.
    """

    period_ns: float
    lengths: Lengths
    jitter_ns: float = 0.0
    present: float = 1.0
    phase_ns: float | None = None

    def starts(self, rng: np.random.Generator, duration_ns: float) -> Floats:
        """Draw starts within `[0, duration_ns)`, ns, in no order."""
        phase = rng.random() * self.period_ns if self.phase_ns is None else self.phase_ns
        planned = np.arange(phase % self.period_ns, duration_ns, self.period_ns)
        planned = planned[rng.random(len(planned)) < self.present]
        return planned + self.jitter_ns * rng.standard_normal(len(planned))


@dataclass(frozen=True)
class Random:
    """Detours without memory: a Poisson process.

    Parameters
    ----------
    rate_per_s : float
        Mean number in a second.
    lengths : Lengths
        How long each one takes.
    """

    rate_per_s: float
    lengths: Lengths

    def starts(self, rng: np.random.Generator, duration_ns: float) -> Floats:
        """Draw starts within `[0, duration_ns)`, ns, in no order."""
        return rng.random(rng.poisson(self.rate_per_s * duration_ns * 1e-9)) * duration_ns


@dataclass(frozen=True)
class Bursts:
    """Detours in clumps, as from a network card or a compiling neighbour.

    Parameters
    ----------
    rate_per_s : float
        Mean number of clumps in a second.
    size : float
        Mean number of detours in a clump, at least 1 (geometric).
    spacing_ns : float
        Mean distance of the starts within a clump, ns (exponential).
    lengths : Lengths
        How long each detour takes.
    """

    rate_per_s: float
    size: float
    spacing_ns: float
    lengths: Lengths

    def starts(self, rng: np.random.Generator, duration_ns: float) -> Floats:
        """Draw starts within `[0, duration_ns)`, ns, in no order."""
        clumps = rng.random(rng.poisson(self.rate_per_s * duration_ns * 1e-9)) * duration_ns
        sizes = rng.geometric(1 / self.size, len(clumps))
        if not len(clumps):
            return np.empty(0)
        return np.concatenate(
            [
                c + np.cumsum(rng.exponential(self.spacing_ns, n))
                for c, n in zip(clumps, sizes, strict=True)
            ]
        )


Family = Periodic | Random | Bursts


@dataclass(frozen=True)
class FloorPart:
    """One way in which an undisturbed iteration can go.

    Parameters
    ----------
    base_ns : float
        Hard lower bound, ns.
    spread_ns : float
        Median of what comes on top, ns.
    sigma : float
        Standard deviation of its natural logarithm: 0.3 is nearly symmetrical, 1 is much skewed.
    weight : float
        Share among the parts.
    """

    base_ns: float
    spread_ns: float = 0.0
    sigma: float = 0.0
    weight: float = 1.0


@dataclass(frozen=True)
class Floor:
    """Lengths of undisturbed iterations.

    Parameters
    ----------
    parts : tuple of FloorPart
        Drawn from by weight, independently.
    drift : float
        Relative change of the length from the first to the last iteration (a clock that slows
        down): 0.1 is 10 % longer at the end.
    """

    parts: tuple[FloorPart, ...]
    drift: float = 0.0

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` successive lengths, ns."""
        weights = np.array([p.weight for p in self.parts])
        which = rng.choice(len(self.parts), size=n, p=weights / weights.sum())
        base = np.array([p.base_ns for p in self.parts])[which]
        spread = np.array([p.spread_ns for p in self.parts])[which]
        sigma = np.array([p.sigma for p in self.parts])[which]
        lengths = base + spread * np.exp(sigma * rng.standard_normal(n))
        drawn: Floats = lengths * np.linspace(1.0, 1.0 + self.drift, n)
        return drawn


@dataclass(frozen=True)
class Counter:
    """The counter that the loop reads.

    Parameters
    ----------
    ticks_per_ns : float
        Its rate.
    step_ticks : int
        Its value is a multiple of this, except that a second reading within one step shows one
        tick more than the first, as x86 counters do to stay strictly monotonic.
    """

    ticks_per_ns: float = 1.0
    step_ticks: int = 1

    def read(self, times_ns: Floats) -> Ints:
        """Readings at ascending times, ticks."""
        step = self.step_ticks
        shown = np.floor(times_ns * self.ticks_per_ns / step).astype(np.int64) * step
        if step == 1:
            return shown
        first = np.concatenate([[True], np.diff(shown) > 0])
        place = np.arange(len(shown))
        repeated = place - np.maximum.accumulate(np.where(first, place, 0))
        ascending: Ints = shown + np.minimum(repeated, step - 1)
        return ascending


@dataclass(frozen=True)
class Detours:
    """What was really taken from the program.

    Attributes
    ----------
    start_ns : float64[n]
        Ascending; a detour that falls into another one waits for its end.
    length_ns : float64[n]
        Length of each.
    family : int64[n]
        Which of the given families made it.
    """

    start_ns: Floats
    length_ns: Floats
    family: Ints


@dataclass(frozen=True)
class Simulated:
    """What one loop recorded, and the truth beside it.

    Attributes
    ----------
    values : int64[n]
        Deltas, durations or gaps in ticks; work units for FTQ.
    start_ticks : int64[n]
        Counter at the start of each.
    hit : bool[n]
        Did a detour fall into this sample?
    stolen_ns : float64[n]
        Time stolen inside it.
    elapsed_ticks : int
        Counter at the end minus counter at the start.
    detours : Detours
        All detours, recorded or not.
    """

    values: Ints
    start_ticks: Ints
    hit: Bools
    stolen_ns: Floats
    elapsed_ticks: int
    detours: Detours = field(repr=False)


def simulate_detours(
    families: Sequence[Family], duration_ns: float, rng: np.random.Generator
) -> Detours:
    """Draw all detours of a CPU.

    Parameters
    ----------
    families : sequence of Periodic, Random or Bursts
        What disturbs; may be empty.
    duration_ns : float
        How long, ns, above 0.
    rng : numpy.random.Generator
        Source of every draw.

    Returns
    -------
    Detours
        In order of time, none overlapping another.
    """
    starts, lengths, kinds = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for number, family in enumerate(families):
        drawn = family.starts(rng, duration_ns)
        drawn = drawn[(drawn >= 0) & (drawn < duration_ns)]
        starts.append(drawn)
        lengths.append(family.lengths.draw(rng, len(drawn)))
        kinds.append(np.full(len(drawn), number))
    start = np.concatenate(starts)
    order = np.argsort(start, kind="stable")
    start, length = start[order], np.concatenate(lengths)[order]
    # start_i = max(plan_i, end_{i-1}): with the time spent before subtracted, a running maximum.
    before = np.concatenate([[0.0], np.cumsum(length)[:-1]]) if len(length) else length
    start = np.maximum.accumulate(start - before) + before if len(start) else start
    return Detours(start, length, np.concatenate(kinds)[order])


def _stolen_per_interval(edges_own_ns: Floats, detours: Detours) -> tuple[Bools, Floats]:
    """Share detours out to intervals of the program's own time (wall time minus stolen time)."""
    n = len(edges_own_ns) - 1
    before = np.cumsum(detours.length_ns) - detours.length_ns
    where = np.searchsorted(edges_own_ns, detours.start_ns - before, side="right") - 1
    inside = (where >= 0) & (where < n)
    stolen = np.bincount(where[inside], weights=detours.length_ns[inside], minlength=n)
    return np.bincount(where[inside], minlength=n) > 0, stolen.astype(np.float64)


def simulate_timestamps(
    floor: Floor,
    families: Sequence[Family],
    samples: int,
    counter: Counter,
    rng: np.random.Generator,
) -> Simulated:
    """Simulate the timestamps loop, or FWQ (whose floor is one quantum of work).

    Parameters
    ----------
    floor : Floor
        Lengths of undisturbed iterations.
    families : sequence of Periodic, Random or Bursts
        What disturbs.
    samples : int
        Deltas, at least 1.
    counter : Counter
        What is read.
    rng : numpy.random.Generator
        Source of every draw.

    Returns
    -------
    Simulated
        `values : int64[samples]` deltas in ticks.
    """
    undisturbed = floor.draw(rng, samples)
    own = np.concatenate([[0.0], np.cumsum(undisturbed)])
    detours = _detours_for_own_time(families, float(own[-1]), rng)
    hit, stolen = _stolen_per_interval(own, detours)
    wall = own + np.concatenate([[0.0], np.cumsum(stolen)])
    readings = counter.read(wall + rng.random() * counter.step_ticks / counter.ticks_per_ns)
    return Simulated(
        np.diff(readings), readings[:-1], hit, stolen, int(readings[-1] - readings[0]), detours
    )


def _detours_for_own_time(
    families: Sequence[Family], own_ns: float, rng: np.random.Generator
) -> Detours:
    """Draw detours until the program itself has had `own_ns`: each one makes the run longer."""
    duration = own_ns * 1.05
    state = rng.bit_generator.state
    for _ in range(20):
        rng.bit_generator.state = state
        detours = simulate_detours(families, duration, rng)
        if duration - detours.length_ns.sum() >= own_ns:
            return detours
        duration *= 1.5
    msg = "the detours leave the program no time: lower their rates or lengths"
    raise ValueError(msg)


def simulate_selfish(
    families: Sequence[Family],
    duration_ns: float,
    counter: Counter,
    rng: np.random.Generator,
    *,
    floor_ns: float,
    threshold_ns: float,
) -> Simulated:
    """Simulate the selfish loop without making its undisturbed iterations: hours cost nothing.

    Parameters
    ----------
    families : sequence of Periodic, Random or Bursts
        What disturbs.
    duration_ns : float
        How long the loop runs, ns.
    counter : Counter
        What is read.
    rng : numpy.random.Generator
        Source of every draw.
    floor_ns : float
        Length of one undisturbed iteration, ns.
    threshold_ns : float
        Smallest gap that is kept, ns.

    Returns
    -------
    Simulated
        `values : int64[kept]` gaps in ticks (floor included), `hit` all true.
    """
    detours = simulate_detours(families, duration_ns, rng)
    start, length = detours.start_ns, detours.length_ns
    # Detours within one iteration of each other look like one gap.
    end = start + length
    first = np.concatenate([[True], start[1:] - end[:-1] >= floor_ns]) if len(start) else start > 0
    group = np.cumsum(first) - 1
    stolen = np.bincount(group, weights=length) if len(start) else length
    begin = start[first] - rng.random(int(first.sum())) * floor_ns
    kept = (stolen + floor_ns >= threshold_ns) & (begin + stolen + floor_ns <= duration_ns)
    begin, stolen = np.maximum(begin[kept], 0.0), stolen[kept]
    opened, closed = counter.read(begin), counter.read(begin + stolen + floor_ns)
    return Simulated(
        closed - opened,
        opened,
        np.ones(len(opened), dtype=bool),
        stolen,
        int(duration_ns * counter.ticks_per_ns),
        detours,
    )


def simulate_ftq(
    families: Sequence[Family],
    slots: int,
    counter: Counter,
    rng: np.random.Generator,
    *,
    slot_ns: float,
    unit_ns: float,
) -> Simulated:
    """Simulate FTQ: work units finished in each slot of an absolute grid.

    Parameters
    ----------
    families : sequence of Periodic, Random or Bursts
        What disturbs.
    slots : int
        How many.
    counter : Counter
        What is read.
    rng : numpy.random.Generator
        Source of every draw.
    slot_ns : float
        Length of a slot, ns; many units long.
    unit_ns : float
        Length of one undisturbed work unit, ns.

    Returns
    -------
    Simulated
        `values : int64[slots]` work units. `stolen_ns` shares a detour out over the slots it
        covers.
    """
    duration = slot_ns * slots
    detours = simulate_detours(families, duration, rng)
    edges = np.arange(slots + 1) * slot_ns
    knots = np.stack([detours.start_ns, detours.start_ns + detours.length_ns], axis=1).ravel()
    taken = np.repeat(np.cumsum(detours.length_ns), 2)
    taken[::2] -= detours.length_ns
    stolen_until = np.interp(edges, knots, taken, left=0.0) if len(knots) else np.zeros(len(edges))
    finished = np.floor((edges - stolen_until) / unit_ns).astype(np.int64)
    stolen = np.diff(stolen_until)
    return Simulated(
        np.diff(finished),
        (edges[:-1] * counter.ticks_per_ns).astype(np.int64),
        stolen > 0,
        stolen,
        int(duration * counter.ticks_per_ns),
        detours,
    )


def simulate_collective(
    families: Sequence[Family],
    processes: int,
    step_ns: float,
    steps: int,
    rng: np.random.Generator,
) -> Floats:
    """Simulate a program that waits for its slowest process after each step.

    Parameters
    ----------
    families : sequence of Periodic, Random or Bursts
        What disturbs each process; phases that are None differ between processes.
    processes : int
        Number of processes, each on its own CPU, at least 1.
    step_ns : float
        Work of each process in each step, ns.
    steps : int
        Number of steps.
    rng : numpy.random.Generator
        Source of every draw.

    Returns
    -------
    float64[steps]
        Wall time of each step, ns: the work and the largest time stolen from any process in it.
        Noise runs on in the program's own time, so a process that waits is not disturbed: the
        result is a little too high for detours much longer than a step.

    References
    ----------
    Petrini, Kerbyson & Pakin 2003, SC'03; Hoefler et al. 2010.
    """
    longest = np.zeros(steps)
    edges = np.arange(steps + 1, dtype=np.float64) * step_ns
    for _ in range(processes):
        detours = _detours_for_own_time(families, float(edges[-1]), rng)
        _, stolen = _stolen_per_interval(edges, detours)
        np.maximum(longest, stolen, out=longest)
    return longest + step_ns
