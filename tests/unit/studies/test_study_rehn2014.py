"""The study of Rehn et al. 2014: its numbers against SciPy's on traces that are known."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as judge

from tare.studies import rehn2014
from tare.studies.rehn2014 import analysis
from tare.studies.rehn2014.protocol import published, steps
from tare.studies.rehn2014.view import _table_1

STATES = ("aligned16-small", "prime-large")


@dataclass
class Source:
    """Traces of the protocol, two ticks to the nanosecond."""

    deltas: dict[int, np.ndarray]

    @property
    def manifest(self) -> Any:
        return SimpleNamespace(clock=SimpleNamespace(ticks_per_second=2e9, step_ticks=2))

    def table(self, name: str, columns: Any = None) -> pl.DataFrame:
        if name == "deltas":
            return pl.concat(
                pl.DataFrame({"trace_id": number, "delta_ticks": ticks})
                for number, ticks in self.deltas.items()
            )
        return pl.DataFrame(
            [
                {
                    "trace_id": number,
                    "loop": "timestamps",
                    "cpu": number % 2,
                    "repetition": number // 2,
                    "memory_state": STATES[number % 2],
                    "start_skew_ticks": 10 * number,
                }
                for number in self.deltas
            ]
        )


@pytest.fixture
def source() -> Source:
    rng = np.random.default_rng(20141)
    deltas = {}
    for number in range(6):
        ticks = 2 * rng.integers(9, 13, 10_000)
        at = rng.choice(10_000, 40, replace=False)
        ticks[at] += 2 * rng.integers(500, 50_000, 40)
        deltas[number] = ticks.astype(np.uint32)
    return Source(deltas)


def test_the_protocol_is_the_papers() -> None:
    (step,) = steps("0-1")
    assert "--samples=10000" in step.arguments
    assert "--repeat=20" in step.arguments
    assert "--memory-state=all" in step.arguments
    assert "--cpus=0-1" in step.arguments


def test_raw_moments_are_those_of_scipy(source: Source) -> None:
    found = analysis.analyse([source]).moment("raw")
    assert found.traces == 6
    skewness = np.mean([judge.skew(d) for d in source.deltas.values()])
    kurtosis = np.mean([judge.kurtosis(d, fisher=False) for d in source.deltas.values()])
    assert found.mean_skewness == pytest.approx(skewness, rel=1e-9)
    assert found.mean_kurtosis == pytest.approx(kurtosis, rel=1e-9)


def test_the_papers_cutoff_is_its_formula(source: Source) -> None:
    study = analysis.analyse([source])
    rule = next(rule for rule in study.rules if rule.rule == "rehn")
    ns = [d / 2 for d in source.deltas.values()]
    by_hand = [np.quantile(d, 0.95) + 3 * (np.quantile(d, 0.95) - d.min()) for d in ns]
    assert rule.median_ns == pytest.approx(np.median(by_hand))
    assert rule.removed_share == pytest.approx(
        sum((d > c).sum() for d, c in zip(ns, by_hand, strict=True)) / 60_000
    )
    assert study.moment("rehn").removed_share == pytest.approx(rule.removed_share)


def test_states_and_skew_are_told_apart(source: Source) -> None:
    study = analysis.analyse([source])
    assert [(state.memory_state, state.traces) for state in study.states] == [
        (STATES[0], 3),
        (STATES[1], 3),
    ]
    assert study.largest_skew_ns == pytest.approx(25.0)
    assert study.exemplar.skewness == max(t.skewness for t in study.traces if t.skewness)


def test_table_1_shows_the_printed_numbers_beside_ours(source: Source) -> None:
    study = analysis.analyse([source])
    heads, rows = _table_1(study).shown()
    assert heads[1:5] == ["skewness there", "skewness here", "kurtosis there", "kurtosis here"]
    by_rule = {row[0]: row for row in _table_1(study).rows}
    raw, rehn = by_rule["raw data"], by_rule["P95 + 3.0 (P95 - Q0), the paper's"]
    assert (raw[1], raw[3], rehn[1], rehn[3]) == ("25.35", "989.32", "0.34", "6.05")
    assert raw[2] == study.moment("raw").mean_skewness
    assert by_rule["automatic"][1] == "-", "the paper has no automatic rule"
    assert len(rows) == len(study.moments)


def test_without_a_trace_it_says_so() -> None:
    empty = Source({0: np.arange(4, dtype=np.uint32)})
    empty.table = lambda name, columns=None: (  # type: ignore[method-assign]
        Source.table(empty, name).with_columns(loop=pl.lit("fwq"))
        if name == "traces"
        else Source.table(empty, name)
    )
    with pytest.raises(ValueError, match="timestamps"):
        analysis.analyse([empty])


def test_published_numbers_are_data() -> None:
    assert published()["mean kurtosis of the raw traces"] == 989.32
    assert callable(rehn2014.steps)
    assert callable(rehn2014.views)
