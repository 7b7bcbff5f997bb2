"""Hosts made up for the judging of cut-off rules: every kind of floor, counter and disturbance.

Each scenario is a recipe for traces whose truth is known sample by sample. Numbers are those of
real machines: a 2.6 GHz TSC in steps of 26 ticks, a 24 MHz counter, ticks of 2 to 20 us, handlers
around 1 to 3 us, preemptions of milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tare.noise.simulate import (
    Bursts,
    Counter,
    Family,
    Floor,
    FloorPart,
    Lognormal,
    Periodic,
    Random,
    Simulated,
    simulate_timestamps,
)

TSC = Counter(ticks_per_ns=2.6, step_ticks=26)
FINE = Counter(ticks_per_ns=1.0)
COARSE = Counter(ticks_per_ns=0.024)

TICK = Periodic(4e6, Lognormal(5e3, 0.5, 2e3, 2e4), jitter_ns=2e3)
TICK_1000 = Periodic(1e6, Lognormal(3e3, 0.4, 1.5e3, 2e4), jitter_ns=1e3)
INTERRUPTS = Random(2000.0, Lognormal(1.5e3, 0.7, 400.0, 1e5))
PREEMPTIONS = Random(5.0, Lognormal(2e6, 0.8, 1e5, 2e7))
NETWORK = Bursts(20.0, 40.0, 15e3, Lognormal(2e3, 0.5, 500.0, 5e4))
USUAL: tuple[Family, ...] = (TICK, INTERRUPTS, PREEMPTIONS)

PLAIN = Floor((FloorPart(10.0, 0.6, 0.5),))
SKEWED = Floor((FloorPart(15.0, 6.0, 0.9),))
TWO_WAYS = Floor((FloorPart(10.0, 1.0, 0.3, 0.65), FloorPart(45.0, 3.0, 0.3, 0.35)))
WIDE = Floor((FloorPart(5.0, 40.0, 0.6),))
DRIFTED = Floor((FloorPart(12.0, 1.0, 0.4),), drift=0.25)
QUANTUM = Floor((FloorPart(1e5, 60.0, 0.6),))
QUANTUM_LONG = Floor((FloorPart(1e6, 250.0, 0.6),))
QUANTUM_DRIFTED = Floor((FloorPart(1e5, 60.0, 0.6),), drift=0.03)


@dataclass(frozen=True)
class Scenario:
    """A recipe: `traces` independent traces of `samples` each."""

    name: str
    floor: Floor
    families: tuple[Family, ...]
    counter: Counter
    samples: int
    traces: int
    doc: str

    @property
    def fwq(self) -> bool:
        """Whether the floor is work, not the bare cost of a reading."""
        return self.floor.parts[0].base_ns >= 1e4

    def simulate(self, seed: int) -> Iterator[Simulated]:
        """Simulate the traces, one after the other."""
        for number in range(self.traces):
            rng = np.random.default_rng([seed, number])
            yield simulate_timestamps(self.floor, self.families, self.samples, self.counter, rng)


SCENARIOS = (
    Scenario("paper", PLAIN, USUAL, COARSE, 10_000, 120, "10 000 deltas, 24 MHz counter"),
    Scenario("stepped short", PLAIN, USUAL, TSC, 10_000, 120, "10 000 deltas, TSC in steps of 26"),
    Scenario("stepped long", PLAIN, USUAL, TSC, 1_000_000, 6, "10⁶ deltas, TSC in steps of 26"),
    Scenario("fine", PLAIN, USUAL, FINE, 1_000_000, 4, "10⁶ deltas, 1 ns counter"),
    Scenario("skewed", SKEWED, USUAL, FINE, 1_000_000, 4, "floor lognormal, sigma 0.9"),
    Scenario("two ways", TWO_WAYS, USUAL, TSC, 1_000_000, 4, "bimodal floor: 10 ns and 45 ns"),
    Scenario("wide", WIDE, USUAL, FINE, 1_000_000, 4, "floor from 10 ns to 300 ns"),
    Scenario("drifted", DRIFTED, USUAL, TSC, 1_000_000, 4, "floor 25 % longer at the end"),
    Scenario("bursts", PLAIN, (TICK, NETWORK), TSC, 1_000_000, 6, "clumps of 40 handlers"),
    Scenario("fast tick", SKEWED, (TICK_1000,), TSC, 1_000_000, 4, "1000 Hz tick alone"),
    Scenario("quiet stepped", PLAIN, (), TSC, 1_000_000, 4, "no noise"),
    Scenario("quiet coarse", PLAIN, (), COARSE, 10_000, 60, "no noise, 24 MHz counter"),
    Scenario("quiet skewed", SKEWED, (), FINE, 1_000_000, 4, "no noise, sigma 0.9"),
    Scenario("quiet two ways", TWO_WAYS, (), TSC, 1_000_000, 4, "no noise, bimodal"),
    Scenario("quiet wide", WIDE, (), FINE, 1_000_000, 4, "no noise, 10 ns to 300 ns"),
    Scenario("FWQ 100 us", QUANTUM, USUAL, FINE, 50_000, 6, "quanta of 100 µs, 1 in 5 hit"),
    Scenario("FWQ heavy", QUANTUM_LONG, (TICK, Random(60.0, Lognormal(1e4, 0.8, 2e3))), FINE,
             20_000, 6, "quanta of 1 ms, 3 in 10 hit"),
    Scenario("FWQ mostly hit", QUANTUM_LONG, (TICK, Random(700.0, Lognormal(1e4, 0.8, 2e3))), FINE,
             20_000, 6, "quanta of 1 ms, 6 in 10 hit"),
    Scenario("FWQ drifted", QUANTUM_DRIFTED, USUAL, FINE, 50_000, 6,
             "quanta of 100 µs that get 3 % longer"),
    Scenario("FWQ quiet", QUANTUM, (), FINE, 50_000, 6, "quanta of 100 µs, no noise"),
)  # fmt: skip


def drawn_scenario(number: int) -> Scenario:
    """A scenario drawn at random: none of its numbers was looked at when the rules were made."""
    rng = np.random.default_rng([78, number])

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    base = between(4, 400)
    parts = [FloorPart(base, base * between(0.02, 1.0), rng.uniform(0.1, 1.0), 1.0)]
    if rng.random() < 0.3:
        parts.append(
            FloorPart(base * rng.uniform(1.5, 3), base * 0.05, 0.3, rng.uniform(0.05, 0.5))
        )
    families: list[Family] = []
    samples = int(rng.choice([10_000, 100_000, 300_000]))
    shortest = max(300.0, 10 * base)
    if rng.random() < 0.8:
        # 3 to 3000 detours in a trace, as in a longer one, but at most 30 % of the time.
        span_ns = samples * base * 1.5
        median, sigma = shortest * between(2, 20), rng.uniform(0.2, 0.8)
        rate = min(between(3, 3000) / span_ns, 0.3 / (median * np.exp(sigma**2 / 2))) * 1e9
        families.append(Random(rate, Lognormal(median, sigma, shortest)))
        period = max(span_ns / between(3, 300), 100 * shortest)
        families.append(Periodic(period, Lognormal(shortest * 4, 0.3)))
    counter = [TSC, FINE, COARSE, Counter(3.0)][rng.integers(4)]
    floor = Floor(tuple(parts), drift=float(rng.choice([0.0, 0.0, 0.1])))
    name = f"drawn {number}"
    return Scenario(name, floor, tuple(families), counter, samples, 1, "drawn at random")
