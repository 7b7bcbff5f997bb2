"""A disturbance of known period and length is found, from the kernel's scheduler to the analysis.

The injector (crates/tare-probe/examples/inject.rs) says what it truly took; the recording knows
nothing of it.
"""

from __future__ import annotations

import json
import subprocess
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
def measured(injector: Path, probe: Path, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Five seconds of the selfish loop while the injector runs on the same CPU."""
    cpu, folder = str(last_cpu()), tmp_path_factory.mktemp("disturbed") / "noise"
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


def family_of(measured: Measured) -> PeriodFamily:
    """Return the family with the injected period, the heaviest if there are two."""
    (trace,) = measured.found.traces
    families = trace.periods.families
    near = [one for one in families if one.period_ns == pytest.approx(PERIOD_NS, rel=0.01)]
    assert near, f"found only {[one.name for one in families]}"
    return max(near, key=lambda one: one.share)


def test_its_period_is_found_within_one_percent(measured: Measured) -> None:
    assert family_of(measured).period_ns == pytest.approx(
        measured.truth["period_mean_ns"], rel=0.01
    )


def test_its_share_is_found_within_five_percent(measured: Measured) -> None:
    # By the CPU time that the OS accounts to the injector: waking up and switching to it (35 us)
    # are part of what it takes, and its own counter does not see them.
    taken = measured.truth["busy_by_cpu_time_ns"] / measured.truth["duration_ns"]
    assert family_of(measured).share == pytest.approx(taken, rel=0.05)


def test_its_length_is_found(measured: Measured) -> None:
    assert family_of(measured).length_median_ns == pytest.approx(BUSY_NS, rel=0.05)
