"""The Windows binary measures, under Wine: Windows' calls on a Linux kernel, not Windows itself.

What can be judged here is that the Windows build runs to its end, writes a recording that reads
like any other, and leaves unknown what Windows does not tell.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from on_machine import REPOSITORY, Ended, manifest_of, needs, run

from tare import recording

pytestmark = pytest.mark.system

TARGET = "x86_64-pc-windows-gnu"
WINE_FOLDER = "/usr/lib/wine"


@dataclass(frozen=True)
class Wine:
    """A Wine of our own: its prefix, and a folder with the probe in it."""

    program: str
    folder: Path
    settings: dict[str, str]

    def probe(self, *arguments: str) -> Ended:
        """Run the probe in the folder."""
        exe = self.folder / "tare-probe.exe"
        return run(self.program, exe, *arguments, cwd=self.folder, env=self.settings, timeout=180)


@pytest.fixture(scope="module")
def windows_build() -> Path:
    """The folder with the Windows binary, linked by mingw-w64."""
    ended = run(REPOSITORY / "scripts/check-targets", "--link", TARGET, timeout=1800)
    if "skipped" in ended.stdout:
        pytest.skip(ended.stdout.strip())
    assert ended.status == 0, ended.all
    return REPOSITORY / "target" / TARGET / "release"


@pytest.fixture(scope="module")
def wine(windows_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    """Wine with the probe and the DLL that Wine 8 lacks; no server of it is left running."""
    program = shutil.which("wine64", path=f"{WINE_FOLDER}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("wine64 is not installed (./setup system)")
    server = shutil.which("wineserver", path=f"{WINE_FOLDER}:{os.environ['PATH']}")
    assert server is not None
    folder = tmp_path_factory.mktemp("wine")
    shutil.copy(windows_build / "tare-probe.exe", folder)
    compiler = needs("x86_64-w64-mingw32-gcc")
    source = Path(__file__).with_name("bcryptprimitives.c")
    made = run(compiler, "-shared", "-o", folder / "bcryptprimitives.dll", source, "-ladvapi32")
    assert made.status == 0, made.all
    prefix = folder / "prefix"
    settings = os.environ | {"WINEPREFIX": str(prefix), "WINEDEBUG": "-all", "DISPLAY": ""}
    yield Wine(program, folder, settings)
    subprocess.run([server, "-k", "-w"], env=settings, check=False, timeout=60)
    shutil.rmtree(prefix, ignore_errors=True)


@pytest.fixture(scope="module")
def measured(wine: Wine) -> Path:
    """A second of the selfish loop."""
    ended = wine.probe("noise", "--loop", "selfish", "--duration", "1s", "--output", "noise")
    assert ended.status == 0, ended.all
    return wine.folder / "noise"


def test_the_recording_reads_like_any_other(measured: Path) -> None:
    opened = recording.open(measured)
    assert opened.kind == "noise"
    assert opened.host.os == "windows"
    assert opened.manifest.status == "complete"
    traces = opened.table("traces")
    assert traces["loop"].to_list() == ["selfish"]
    assert traces["samples"][0] > 1000
    measured_s = (traces["end_ticks"] - traces["start_ticks"])[0] / opened.clock.ticks_per_second
    assert measured_s >= 0.999, "the rate is a fit, so a second may read a millionth less"


def test_the_clock_was_calibrated(measured: Path) -> None:
    clock = recording.open(measured).clock
    assert clock.source in ("tsc", "os")
    assert clock.ticks_per_second > 1e6
    assert clock.rate_n > 1
    assert clock.read_cost_ns > 0


def test_it_says_that_this_is_wine(measured: Path) -> None:
    assert manifest_of(measured)["host"]["container"] == "wine"


@pytest.mark.parametrize("field", ["boot_parameters", "governor", "rt_runtime_us", "nmi_watchdog"])
def test_what_windows_does_not_tell_is_null(measured: Path, field: str) -> None:
    assert manifest_of(measured)["host"][field] is None


@pytest.mark.parametrize(
    "field", ["load_1min_before", "steal_ns", "softirqs", "cgroup_throttled_ns"]
)
def test_conditions_that_windows_does_not_know_are_null(measured: Path, field: str) -> None:
    assert manifest_of(measured)["conditions"][field] is None


def test_every_rung_has_an_answer(measured: Path) -> None:
    rungs = manifest_of(measured)["rungs"]
    assert {"pin", "fifo", "lock_memory"} <= {rung["name"] for rung in rungs}
    for rung in rungs:
        if rung["state"] in ("refused", "unsupported"):
            assert rung["detail"], rung


def test_a_cpu_that_is_not_there_is_refused_with_a_hint(wine: Wine) -> None:
    ended = wine.probe("noise", "--cpus", "4000", "--duration", "1s", "--output", "none")
    assert ended.status == 2, ended.all
    assert "error:" in ended.stderr
    assert "hint:" in ended.stderr
    assert not (wine.folder / "none").exists()
