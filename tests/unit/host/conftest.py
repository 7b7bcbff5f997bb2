"""Fixtures of the doctor's tests; the machine itself is in fake_host.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from fake_host import Content, build

from tare.host import Finding, diagnose


@pytest.fixture
def look(tmp_path: Path) -> Callable[..., Finding]:
    """Return a function that spoils the quiet machine and looks at it with one check."""

    def finding(name: str, changes: Mapping[str, Content] | None = None, **more: object) -> Finding:
        machine = build(tmp_path, changes, **more)  # type: ignore[arg-type]
        return next(f for f in diagnose(machine).findings if f.name == name)

    return finding
