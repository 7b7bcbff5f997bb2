"""Judge every cut-off rule by truth: each sample of a simulated trace holds a detour or does not.

`judge()` gives the figures, `page()` the table of docs/methods/noise-cutoffs.md. Counts of all
traces of a scenario are pooled before precision and recall are taken, because a short trace often
holds no detour at all. Where nothing was hit and nothing removed, F1 is 1: the right answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oracle.candidates import mixture, otsu, valley
from oracle.scenarios import SCENARIOS, Scenario, drawn_scenario
from tare.noise.cutoffs import RULES, SWEEP_PERCENTILES, SWEEP_RATIOS, sweep
from tare.noise.tally import Tally

SEED = 20140101
DRAWN = 200
RIVALS: dict[str, Callable[[Tally], float]] = {"otsu": otsu, "valley": valley, "mixture": mixture}
BEST = "best possible"


@dataclass(frozen=True)
class Trace:
    """A tally with truth: how many samples of each value were hit."""

    tally: Tally
    hits: np.ndarray


@dataclass(frozen=True)
class Score:
    """Pooled over the traces of a scenario."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Hit samples among the removed; None if nothing was removed."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Removed samples among the hit; None if nothing was hit."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 1 if nothing was hit and nothing removed."""
        whole = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / whole if whole else 1.0


def traces_of(scenario: Scenario, seed: int = SEED) -> list[Trace]:
    made = []
    for simulated in scenario.simulate(seed):
        values, place = np.unique(simulated.values, return_inverse=True)
        counts = np.bincount(place)
        hits = np.bincount(place, weights=simulated.hit).astype(np.int64)
        made.append(Trace(Tally(values, counts), hits))
    return made


def score(traces: list[Trace], cutoffs: list[float]) -> Score:
    right = wrong = missed = 0
    for trace, cutoff in zip(traces, cutoffs, strict=True):
        removed = trace.tally.values > cutoff
        hit = int(trace.hits[removed].sum())
        right += hit
        wrong += int(trace.tally.counts[removed].sum()) - hit
        missed += int(trace.hits[~removed].sum())
    return Score(right, wrong, missed)


def best_cutoff(trace: Trace) -> float:
    """The single cut-off with the largest F1, known only with the truth."""
    hits = np.append(np.cumsum(trace.hits[::-1])[::-1], 0)[1:]
    removed = np.append(np.cumsum(trace.tally.counts[::-1])[::-1], 0)[1:]
    total = trace.hits.sum()
    whole = removed + total
    f1 = np.where(whole > 0, 2 * hits / np.maximum(whole, 1), 1.0)
    return float(trace.tally.values[int(np.argmax(f1))])


Judged = tuple[dict[str, dict[str, Score]], np.ndarray]


def judge(scenarios: tuple[Scenario, ...] = SCENARIOS, seed: int = SEED) -> Judged:
    """Score of every rule in every scenario, and F1 of the sweep [scenario, p, r]."""
    table: dict[str, dict[str, Score]] = {}
    swept = []
    for scenario in scenarios:
        traces = traces_of(scenario, seed)
        row = {BEST: score(traces, [best_cutoff(trace) for trace in traces])}
        for name, rule in RULES.items():
            # Whoever measures knows the loop; the published rules make no use of it.
            known = {"cost_ratio": 1.0} if scenario.fwq and name == "automatic" else {}
            row[name] = score(traces, [rule(trace.tally, **known).value for trace in traces])
        for name, rival in RIVALS.items():
            row[name] = score(traces, [rival(trace.tally) for trace in traces])
        grids = [sweep(trace.tally) for trace in traces]
        swept.append(
            [
                [score(traces, [grid[i, j] for grid in grids]).f1 for j in range(len(SWEEP_RATIOS))]
                for i in range(len(SWEEP_PERCENTILES))
            ]
        )
        table[scenario.name] = row
    return table, np.array(swept)


def best_of_sweep(swept: np.ndarray) -> tuple[float, float, np.ndarray]:
    """The (p, r) with the largest mean F1 over scenarios, and its F1 in each."""
    i, j = np.unravel_index(int(np.argmax(swept.mean(axis=0))), swept.shape[1:])
    return SWEEP_PERCENTILES[i], SWEEP_RATIOS[j], swept[:, i, j]


def page(judged: Judged) -> str:
    """The generated part of the page: Markdown, figures only."""
    table, swept = judged
    p, r, best_swept = best_of_sweep(swept)
    names = [BEST, *RULES, *RIVALS]
    swept_name = f"P{p * 100:g} + {r:g} (P{p * 100:g} - Q0)"
    lines = ["### F1", "", "| scenario | hit | " + " | ".join([*names, "swept"]) + " |"]
    lines.append("|---" * (len(names) + 3) + "|")
    for k, scenario in enumerate(SCENARIOS):
        row = table[scenario.name]
        hit = row[BEST].right + row[BEST].missed
        cells = [f"{row[name].f1:.3f}" for name in names] + [f"{best_swept[k]:.3f}"]
        lines.append(f"| {scenario.name} | {hit:,} | " + " | ".join(cells) + " |")
    for label, summary in (("median", np.median), ("mean", np.mean), ("worst", np.min)):
        cells = [f"{summary([row[n].f1 for row in table.values()]):.3f}" for n in names]
        cells.append(f"{summary(best_swept):.3f}")
        lines.append(f"| **{label}** | | " + " | ".join(cells) + " |")
    lines += ["", f"`swept` is the best of Rehn's family over all scenarios: {swept_name}."]
    lines += ["", "### Scenarios drawn at random", "", *_drawn_lines(names, p, r)]
    lines += ["", "### Precision / recall", "", "| scenario | " + " | ".join(names) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for scenario in SCENARIOS:
        row = table[scenario.name]
        cells = [f"{_cell(row[n].precision)} / {_cell(row[n].recall)}" for n in names]
        lines.append(f"| {scenario.name} | " + " | ".join(cells) + " |")
    lines += ["", "### Scenarios", "", "| name | traces x samples | what |", "|---|---|---|"]
    for s in SCENARIOS:
        lines.append(f"| {s.name} | {s.traces} x {s.samples:,} | {s.doc} |")
    return "\n".join(lines) + "\n"


def _drawn_lines(names: list[str], p: float, r: float) -> list[str]:
    """F1 over scenarios that no rule was made on."""
    table, swept = judge(tuple(drawn_scenario(number) for number in range(DRAWN)))
    columns = {name: np.array([row[name].f1 for row in table.values()]) for name in names}
    columns["swept"] = swept[:, SWEEP_PERCENTILES.index(p), SWEEP_RATIOS.index(r)]
    lines = ["| F1 | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for label, summary in (
        ("median", np.median),
        ("mean", np.mean),
        ("lowest tenth", lambda f1: np.quantile(f1, 0.1)),
        ("share at least 0.95", lambda f1: np.mean(f1 >= 0.95)),
    ):
        cells = [f"{summary(f1):.3f}" for f1 in columns.values()]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
