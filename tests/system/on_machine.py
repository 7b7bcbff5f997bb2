"""What the system tests share: run a program, read the manifest that it left."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """A finished process."""

    status: int
    stdout: str
    stderr: str

    @property
    def all(self) -> str:
        """Everything it said, for a failed assertion."""
        return f"exit {self.status}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def run(*command: object, cwd: Path | None = None, **settings: Any) -> Ended:
    """Run a command to its end; a minute is far more than any of these takes."""
    settings.setdefault("timeout", 60)
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, **settings)
    return Ended(done.returncode, done.stdout, done.stderr)


def needs(program: str) -> str:
    """Path of a program, or skip."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed (./setup system)")
    return path


def manifest_of(recording: Path) -> dict[str, Any]:
    """The manifest as it stands in the file: what is null there is None here."""
    return json.loads((recording / "recording.json").read_text())


def rung(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    """What was asked under this name (of the first CPU), and the answer."""
    return next(rung for rung in manifest["rungs"] if rung["name"] == name)
