"""The static build needs nothing of the machine that it is copied to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from on_machine import REPOSITORY, needs, run

from tare import recording

pytestmark = pytest.mark.system

TARGET = "x86_64-unknown-linux-musl"


def test_it_measures_in_an_empty_root(open_folder: Path, root_rights: None) -> None:
    linked = run(REPOSITORY / "scripts/check-targets", "--link", TARGET, timeout=1800)
    if "skipped" in linked.stdout:
        pytest.skip(linked.stdout.strip())
    assert linked.status == 0, linked.all
    shutil.copy(REPOSITORY / "target" / TARGET / "release/tare-probe", open_folder)
    # No library, no /proc, no /sys: only the file itself.
    measure = ["/tare-probe", "noise", "--duration", "200ms", "-o", "/noise"]
    ended = run(needs("chroot"), open_folder, *measure)
    assert ended.status == 0, ended.all
    opened = recording.open(open_folder / "noise")
    assert opened.manifest.status == "complete"
    assert opened.table("traces")["samples"][0] > 0
    assert opened.host.boot_parameters is None
    assert opened.conditions.context_switches is None
    assert opened.conditions.steal_ns is None
