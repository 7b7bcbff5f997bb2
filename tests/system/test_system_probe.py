"""The probe on a real machine, when things go wrong: no rights, killed, full disk, Ctrl-C.

Whatever happens, what is left is a whole recording or none, and the machine as it was.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from on_machine import manifest_of, needs, run, rung

from tare import recording

pytestmark = pytest.mark.system

NOBODY = 65534
# Far longer than any of these waits: reached only if the probe hangs.
PATIENCE_S = 60.0


def start(probe: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start a measurement that says on stderr, line by line, how far it is."""
    words = [str(word) for word in (probe, "noise", "--progress", "json", *arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_measured(process: subprocess.Popen[str], ns: int) -> None:
    """Read the progress until so much is measured."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("{") and json.loads(line).get("done_ns", 0) >= ns:
            return
    pytest.fail(f"it ended before it had measured {ns} ns:\n{''.join(said)}")


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Look until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"{what} did not happen in {PATIENCE_S} s")
        time.sleep(0.0005)


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    return process.returncode, stdout, stderr


# --- rights ---------------------------------------------------------------------------------------


def test_root_is_granted_every_rung(probe: Path, tmp_path: Path, root_rights: None) -> None:
    folder = tmp_path / "noise"
    ended = run(probe, "noise", "--duration", "200ms", "-o", folder)
    assert ended.status == 0, ended.all
    manifest = manifest_of(folder)
    for name in ("pin", "fifo", "lock_memory"):
        assert rung(manifest, name)["state"] == "granted", rung(manifest, name)


def test_without_rights_it_goes_on_and_says_so(
    probe: Path, open_folder: Path, root_rights: None
) -> None:
    # The checkout may lie where only root can go.
    copy = open_folder / "tare-probe"
    copy.write_bytes(probe.read_bytes())
    copy.chmod(0o755)
    folder = open_folder / "noise"
    limited = [needs("prlimit"), "--rtprio=0:0", "--memlock=0:0"]
    nobody = [needs("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    nobody += ["--inh-caps=-all", "--bounding-set=-all"]
    ended = run(*limited, *nobody, copy, "noise", "--duration", "200ms", "-o", folder)
    assert ended.status == 0, ended.all
    manifest = manifest_of(folder)
    assert manifest["status"] == "complete"
    for name in ("fifo", "lock_memory"):
        answer = rung(manifest, name)
        assert answer["state"] == "refused", answer
        assert answer["detail"], "it must say why"
    assert rung(manifest, "pin")["state"] == "granted"
    assert "refused" in ended.stdout + ended.stderr
    assert folder.stat().st_uid == NOBODY


# --- killed, full, stopped ------------------------------------------------------------------------


def test_killed_while_measuring_it_leaves_no_recording(probe: Path, tmp_path: Path) -> None:
    process = start(probe, "--duration", "60s", "-o", tmp_path / "noise")
    wait_until_measured(process, 1)
    process.kill()
    end(process)
    assert [entry.name for entry in tmp_path.iterdir() if not entry.name.startswith(".")] == []


def test_killed_while_writing_it_leaves_nothing_that_the_next_run_keeps(
    probe: Path, tmp_path: Path
) -> None:
    hidden = ".noise.partial-*/*.parquet"
    process = start(
        probe, "--loop", "timestamps", "--samples", "50000000", "-o", tmp_path / "noise"
    )
    wait_for(lambda: bool(list(tmp_path.glob(hidden))), "the first byte of the recording")
    process.kill()
    end(process)
    left = [entry.name for entry in tmp_path.iterdir()]
    assert left, "it was killed before it wrote: the test missed its moment"
    assert all(name.startswith(".noise.partial-") for name in left), left

    ended = run(probe, "noise", "--duration", "100ms", "-o", tmp_path / "noise")
    assert ended.status == 0, ended.all
    assert [entry.name for entry in tmp_path.iterdir()] == ["noise"]
    assert recording.open(tmp_path / "noise").manifest.status == "complete"


def test_a_full_disk_is_named_and_nothing_stays(
    probe: Path, tmp_path: Path, root_rights: None
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    # In a mount namespace of its own: the small disk goes with the shell.
    script = 'mount -t tmpfs -o size=128k tare "$0" && cd "$0" && { "$@"; echo "exit $?"; ls -A; }'
    measure = ["noise", "--loop", "timestamps", "--samples", "5000000", "-o", "noise"]
    ended = run(needs("unshare"), "--mount", "sh", "-c", script, disk, probe, *measure)
    lines = ended.stdout.splitlines()
    assert lines and lines[-1] == "exit 3", f"nothing may be left on the disk\n{ended.all}"
    assert "error:" in ended.stderr
    assert "full" in ended.stderr or "space" in ended.stderr, ended.all
    assert "hint:" in ended.stderr
    assert "panicked" not in ended.stderr


def test_ctrl_c_keeps_what_is_done_and_names_it(probe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "noise"
    process = start(probe, "--duration", "200ms", "--repeat", "200", "-o", folder)
    wait_until_measured(process, 500_000_000)
    process.send_signal(signal.SIGINT)
    status, stdout, stderr = end(process)
    assert status == 3, stdout + stderr
    assert str(folder) in stdout + stderr
    opened = recording.open(folder)
    assert opened.manifest.status == "interrupted"
    assert opened.manifest.status_reason
    traces = opened.table("traces")
    assert 2 <= traces.height < 200
    assert [entry.name for entry in tmp_path.iterdir()] == ["noise"]


# --- the machine afterwards -----------------------------------------------------------------------


# Counters that stand among the settings.
NO_SETTINGS = ("/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/random/", "/proc/sys/fs/")


def settings_of_the_system() -> dict[str, str]:
    """Read every setting under /proc/sys that could be written, and the CPUs' governors."""
    found: dict[str, str] = {}
    paths = [*Path("/proc/sys").rglob("*"), *Path("/sys/devices/system/cpu").glob("cpu*/cpufreq/*")]
    for path in paths:
        try:
            if str(path).startswith(NO_SETTINGS):
                continue
            if path.is_file() and path.stat().st_mode & 0o200:
                found[str(path)] = path.read_text(errors="replace")
        except OSError:
            continue
    return found


def running_probes(probe: Path) -> list[int]:
    """PIDs of processes that run this binary."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "exe").readlink() == probe.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_the_machine_is_left_as_it_was(probe: Path, tmp_path: Path) -> None:
    others = running_probes(probe)
    before = settings_of_the_system()
    affinity, policy = os.sched_getaffinity(0), os.sched_getscheduler(0)

    process = start(probe, "--cpus", "all", "--duration", "500ms", "-o", tmp_path / "noise")
    wait_until_measured(process, 1)
    process.terminate()
    end(process)
    again = run(probe, "noise", "--duration", "200ms", "-o", tmp_path / "again")

    assert again.status == 0, again.all
    after = settings_of_the_system()
    assert {
        name: (was, after.get(name)) for name, was in before.items() if was != after.get(name)
    } == {}
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == (affinity, policy)
    assert [pid for pid in running_probes(probe) if pid not in others] == []


# --- wrong use ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flags",
    [
        ["--cpus", "4000"],
        ["--cpus", "one"],
        ["--duration", "0s"],
        ["--duration", "-1s"],
        ["--duration", "1000000000h"],
        ["--loop", "timestamps", "--samples", "1000000000000000"],
        ["--slot", "0ms"],
        ["--quantum", "nonsense"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_explained_and_writes_nothing(
    probe: Path, tmp_path: Path, flags: list[str]
) -> None:
    ended = run(probe, "noise", *flags, "-o", tmp_path / "noise")
    assert ended.status == 2, ended.all
    assert "error:" in ended.stderr
    assert "hint:" in ended.stderr, ended.all
    assert "panicked" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_never_overwritten(probe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "noise"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    ended = run(probe, "noise", "--duration", "100ms", "-o", folder)
    assert ended.status in (2, 3), ended.all
    assert "hint:" in ended.stderr
    assert [entry.name for entry in folder.iterdir()] == ["mine.txt"]


def test_an_unwritable_place_is_named(probe: Path) -> None:
    ended = run(probe, "noise", "--duration", "100ms", "-o", "/proc/nowhere/noise")
    assert ended.status == 3, ended.all
    assert "/proc/nowhere" in ended.stderr
    assert "hint:" in ended.stderr
