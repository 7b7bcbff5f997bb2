"""System tests: tare-probe as a user has it, on a real machine.

They start the release binary, look at what it leaves and never at how long it took. What a machine
does not offer (root, Wine, a target's linker) is skipped with the reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from on_machine import REPOSITORY


@pytest.fixture(scope="session")
def probe() -> Path:
    """Path of the release binary."""
    path = REPOSITORY / "target/release/tare-probe"
    if not path.exists():
        pytest.fail(f"{path} is missing: cargo build --release -p tare-probe")
    return path


@pytest.fixture
def root_rights() -> None:
    """Skip where this process may not do what root may."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach, too (tmp_path is root's alone)."""
    folder = Path(mkdtemp(prefix="tare-system-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)
