"""The README's commands on a machine with nothing of ours on it: a bare Debian root."""

from __future__ import annotations

import pytest
from on_machine import REPOSITORY, run

pytestmark = pytest.mark.slow

SKIPPED = 77


def try_fresh(*arguments: str) -> None:
    ended = run(REPOSITORY / "scripts/try-fresh", *arguments, timeout=3600)
    if ended.status == SKIPPED:
        pytest.skip(ended.stderr.strip().splitlines()[-1])
    assert ended.status == 0, ended.all


def test_debian_12_can_be_weighed_twice() -> None:
    try_fresh(
        "make survey",
        "make survey",
        "test -n \"$(find recordings -name '*.html')\"",
        'test -z "$(git status --porcelain)"',
    )


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_what_the_tests_need_can_be_installed(suite: str) -> None:
    try_fresh("--suite", suite, "./setup test", "./setup test")
