"""The command in a folder of its own, with a stand-in for the probe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tare

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    probe = tmp_path / "bin" / "tare-probe"
    probe.parent.mkdir()
    fake = Path(__file__).with_name("fake_probe.py")
    probe.write_text(f'#!/bin/sh\nexec {sys.executable} {fake} "$@"\n')
    probe.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    return kept | {"TARE_PROBE": str(probe), "FAKE_VERSION": tare.__version__}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def run(environment: dict[str, str], work: Path) -> Run:
    """Run `tare ARGUMENTS` in an empty folder; `fake` tells the probe what to do."""

    def call(*arguments: str, **fake: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from tare.cli import main; main()", *arguments],
            cwd=work,
            env=environment | {"FAKE": json.dumps(fake)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call
