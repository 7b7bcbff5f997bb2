"""A disturbance of known period and length is found, from the kernel's scheduler to the analysis.

The injector (crates/tare-probe/examples/inject.rs) says what it truly took; the recording knows
nothing of it.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from on_machine import REPOSITORY, run

from tare import recording
from tare.noise.analysis import analyse
from tare.noise.periods import PeriodFamily
from tare.noise.results import NoiseAnalysis

pytestmark = pytest.mark.system

PERIOD_NS = 50e6
BUSY_NS = 1e6
RUNS = 3
"""A neighbour of this machine may spoil one run: the middle of three counts."""


@dataclass(frozen=True)
class Measured:
    """What was truly taken, and what was found."""

    truth: dict[str, Any]
    found: NoiseAnalysis


def last_cpu() -> int:
    """Return the CPU that the probe measures on by default."""
    cpus = Path("/sys/devices/system/cpu/online").read_text()
    return int(cpus.replace("-", ",").split(",")[-1])


@pytest.fixture(scope="module")
def injector() -> Path:
    """Build the injector; return its path."""
    build = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "tare-probe"]
    built = run(*build, "--example", "inject", cwd=REPOSITORY, timeout=1800)
    assert built.status == 0, built.all
    return REPOSITORY / "target/release/examples/inject"


@pytest.fixture(scope="module")
def measured(
    injector: Path, probe: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[Measured]:
    """The selfish loop while the injector runs on the same CPU, five seconds, three times."""
    folder = tmp_path_factory.mktemp("disturbed")
    return [disturbed(injector, probe, folder / f"noise-{i}") for i in range(RUNS)]


def disturbed(injector: Path, probe: Path, folder: Path) -> Measured:
    """One run."""
    cpu = str(last_cpu())
    settings = ["--cpu", cpu, "--period", "50ms", "--busy", "1ms", "--duration", "60s"]
    disturbing = subprocess.Popen([injector, *settings], stdout=subprocess.PIPE, text=True)
    try:
        assert disturbing.stdout is not None
        if not disturbing.stdout.readline():
            pytest.skip("no real-time priority for the injector")
        ended = run(probe, "noise", "--cpus", cpu, "--duration", "5s", "-o", folder)
    finally:
        disturbing.terminate()
        said, _ = disturbing.communicate(timeout=60)
    assert ended.status == 0, ended.all
    return Measured(json.loads(said), analyse(recording.open(folder)))


def family_of(measured: Measured) -> PeriodFamily | None:
    """Return the family with the injected period, the heaviest if there are two."""
    (trace,) = measured.found.traces
    near = [
        one for one in trace.periods.families if one.period_ns == pytest.approx(PERIOD_NS, rel=0.01)
    ]
    return max(near, key=lambda one: one.share, default=None)


def middle(measured: list[Measured], off: Callable[[PeriodFamily, dict[str, Any]], float]) -> float:
    """Median over the runs of how far the family is off; a run without it is infinitely far."""
    families = [(family_of(one), one.truth) for one in measured]
    return statistics.median(
        math.inf if family is None else abs(off(family, truth)) for family, truth in families
    )


def test_its_period_is_found_within_one_percent(measured: list[Measured]) -> None:
    assert middle(measured, lambda f, truth: f.period_ns / truth["period_mean_ns"] - 1) < 0.01


def test_its_share_is_found_within_five_percent(measured: list[Measured]) -> None:
    # By the CPU time that the OS accounts to the injector: waking up and switching to it (35 us)
    # are part of what it takes, and its own counter does not see them.
    def off(family: PeriodFamily, truth: dict[str, Any]) -> float:
        return family.share * truth["duration_ns"] / truth["busy_by_cpu_time_ns"] - 1

    assert middle(measured, off) < 0.05


def test_its_length_is_found(measured: list[Measured]) -> None:
    assert middle(measured, lambda f, _: f.length_median_ns / BUSY_NS - 1) < 0.1
