"""The probe compiles, and links, for the systems that it names as its own.

`scripts/check-targets` does the work and decides what can be tried here.
"""

from __future__ import annotations

import pytest
from on_machine import REPOSITORY, run

SCRIPT = REPOSITORY / "scripts/check-targets"
TARGETS = run(SCRIPT, "--list").stdout.split()
NOTHING_BUT_SKIPS = 77


def try_target(*arguments: str) -> None:
    ended = run(SCRIPT, *arguments, timeout=1800)
    if ended.status == NOTHING_BUT_SKIPS:
        pytest.skip(" ".join(ended.stdout.split()))
    assert ended.status == 0, ended.all


@pytest.mark.parametrize("target", TARGETS)
def test_it_compiles_for(target: str) -> None:
    try_target(target)


@pytest.mark.system
@pytest.mark.parametrize("target", TARGETS)
def test_it_links_for(target: str) -> None:
    try_target("--link", target)


def test_an_unknown_target_is_no_success() -> None:
    ended = run(SCRIPT, "sparc-sun-nowhere")
    assert ended.status == NOTHING_BUT_SKIPS
    assert "skipped" in ended.stdout
