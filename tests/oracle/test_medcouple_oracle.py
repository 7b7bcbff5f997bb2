"""The medcouple against its definition and against R's robustbase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from oracle.medcouple_definition import medcouple_exact, medcouple_listed
from oracle.r_judge import judge
from tare import stats

Floats = NDArray[np.float64]
SEED = 20_040_101
Maker = Callable[[np.random.Generator, int], Floats]

MAKERS: dict[str, Maker] = {
    "few integers": lambda r, n: r.integers(0, r.integers(1, 12), n).astype(float),
    "stepped floor": lambda r, n: 26.0 * (3 + r.geometric(0.8, n)),
    "floor and detours": lambda r, n: np.where(r.random(n) < 0.9, 26.0, r.integers(30, 99, n)),
    "two modes": lambda r, n: np.where(r.random(n) < 0.5, 10.0, 40.0) + r.integers(0, 3, n),
    "half ties": lambda r, n: np.where(r.random(n) < 0.5, 0.0, r.normal(size=n).round(1)),
    "left tail": lambda r, n: -np.floor(r.exponential(4, n)),
}


def heavy_with_ties(how_many: int, longest: int) -> Iterator[Floats]:
    random = np.random.default_rng(SEED)
    makers = list(MAKERS.values())
    for turn in range(how_many):
        yield makers[turn % len(makers)](random, int(random.integers(1, longest)))


def test_equals_the_definition_on_ten_thousand_samples_heavy_with_ties() -> None:
    worst = max(abs(stats.medcouple(x) - medcouple_listed(x)) for x in heavy_with_ties(10_000, 60))
    assert worst <= 1e-12


def test_the_listed_definition_is_the_exact_one() -> None:
    for x in heavy_with_ties(300, 25):
        assert medcouple_listed(x) == pytest.approx(float(medcouple_exact(x)), abs=1e-12)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("n", [500, 1501, 3000])
def test_equals_the_definition_on_long_samples(maker: str, n: int) -> None:
    x = MAKERS[maker](np.random.default_rng(SEED + n), n)
    assert stats.medcouple(x) == pytest.approx(medcouple_listed(x), abs=1e-12)


@pytest.mark.parametrize("n", [500, 1501, 3000])
def test_equals_the_definition_without_ties(n: int) -> None:
    x = np.random.default_rng(SEED + n).permutation(n) ** 2.0
    assert stats.medcouple(x) == pytest.approx(medcouple_listed(x), abs=1e-12)


def test_agrees_with_robustbase(tmp_path: Path) -> None:
    # Of an even number of pairs robustbase takes the upper middle one. With doReflect it averages
    # the lower one in, which gives the median of the definition. Where the median is also minimum
    # or maximum it returns -1 or 1 without looking at pairs, which the definition does not.
    random = np.random.default_rng(SEED)
    samples = [*heavy_with_ties(600, 60), *(maker(random, 4001) for maker in MAKERS.values())]
    samples += [random.normal(size=n) for n in (7, 100, 5000)]
    both = "c(mc(x, doReflect = FALSE), mc(x, doReflect = TRUE))"
    answers = judge(samples, both, tmp_path, package="robustbase")
    compared = 0
    for x, (one_sided, reflected) in zip(samples, answers, strict=True):
        median = np.median(x)
        if median in {x.min(), x.max()}:
            continue
        compared += 1
        found = stats.medcouple(x)
        # robustbase takes differences below its eps of 1e-14 for ties.
        assert found == pytest.approx(reflected, abs=1e-10)
        if np.sum(x >= median) * np.sum(x <= median) % 2 == 1:
            assert found == pytest.approx(one_sided, abs=1e-10)
    assert compared > 300
