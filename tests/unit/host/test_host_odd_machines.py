"""Machines that hide, lie or are broken: an answer for each check, and never a crash."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from fake_host import QUIET, TIMERS, Content, build, stat_line
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.host import Machine, State, diagnose, view
from tare.host.checks import ALL
from tare.host.finding import Absent, Unclear
from tare.host.machine import run_command

LINUX = tuple(check for check in ALL if check.system == "linux")
# What gVisor shows: no /sys/devices, no /proc/interrupts, times of zero, few knobs.
GVISOR: dict[str, Content] = {
    "/proc/version": "Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
    "/proc/stat": "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n",
    "/proc/cpuinfo": "processor : 0\nflags : fpu tsc hypervisor\n",
    "/proc/loadavg": "0.00 0.00 0.00 0/0 0\n",
    "/proc/meminfo": "MemTotal: 2000000 kB\nMemAvailable: 1900000 kB\n",
    "/proc/self/status": "Name:\ttare\nTracerPid:\t0\nCapEff:\t00000000a80405fb\n",
    "/proc/self/stat": stat_line(2, "tare"),
    "/proc/1/stat": stat_line(1, "init", parent=0),
    "/proc/sys/kernel/osrelease": "4.19.0-gvisor\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz\n",
    "/sys/kernel/empty": None,
}

junk = st.one_of(
    st.none(),
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode(errors="replace")),
    st.sampled_from(
        [b"", b"-1", b"9" * 5000, b"\xb2", b"0-3", b"1 (x", b") (", b"cpu3 1 2", b"\0\0\0\0", b"a:"]
    ),
    st.sampled_from([content for content in QUIET.values() if content]).map(
        lambda content: content.encode() if isinstance(content, str) else content
    ),
)


def check_shape(machine: Machine, number: int) -> None:
    diagnosis = diagnose(machine)
    assert len(diagnosis.findings) == number
    for finding in diagnosis.findings:
        assert finding.state in State
        assert finding.evidence
        if finding.state is not State.DISTURBS:
            assert finding.mend is None
            assert finding.undo is None
    order = [list(State).index(finding.state) for finding in diagnosis.findings]
    assert order == sorted(order)
    json.dumps(view.to_json(diagnosis))


@settings(max_examples=60, deadline=None)
@given(
    changes=st.dictionaries(st.sampled_from(sorted(QUIET)), junk, max_size=12),
    later=st.dictionaries(st.sampled_from(["/proc/stat", "/proc/interrupts", "/proc/vmstat",
                          "/proc/pressure/io", "/proc/1/stat"]), junk, max_size=3),
    timers=st.text(max_size=30),
)  # fmt: skip
def test_no_content_of_a_file_crashes_a_check(changes, later, timers):
    with tempfile.TemporaryDirectory() as root:
        check_shape(build(Path(root), changes, later=later, timers=timers), len(LINUX))


@settings(max_examples=20, deadline=None)
@given(st.sets(st.sampled_from(sorted(QUIET))))
def test_no_missing_file_crashes_a_check(gone):
    with tempfile.TemporaryDirectory() as root:
        check_shape(build(Path(root), dict.fromkeys(gone)), len(LINUX))


def test_an_empty_machine_has_nothing_to_mend(tmp_path):
    diagnosis = diagnose(build(tmp_path, base={}))
    assert diagnosis.of(State.DISTURBS) == ()
    assert diagnosis.of(State.OK) == ()
    assert diagnosis.kernel is None
    assert diagnosis.cpus == (0,)


def test_a_sandbox_hides_and_is_named(tmp_path):
    findings = {f.name: f for f in diagnose(build(tmp_path, base=GVISOR)).findings}
    for hidden in ("governor", "smt", "isolated_cpus", "clock_source", "device_interrupts"):
        assert findings[hidden].state is State.UNKNOWN, hidden
        assert "hidden" in findings[hidden].evidence[0].value
    for missing in ("aslr", "numa_balancing", "rt_throttling"):
        assert findings[missing].state is State.NOT_HERE, missing
    # Times of zero are no idle machine.
    for untold in ("steal", "busy_cpus", "busy_processes"):
        assert findings[untold].state is State.UNKNOWN, untold
    assert findings["container"].state is State.DISTURBS
    assert findings["rtprio"].state in (State.DISTURBS, State.NOT_HERE)


def test_a_file_that_may_not_be_read_is_unknown_and_says_who_may(tmp_path, monkeypatch):
    machine = build(tmp_path)
    shut = tmp_path / "dev/cpu_dma_latency"
    read = Path.read_bytes

    def guarded(path: Path) -> bytes:
        if path == shut:
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", guarded)
    finding = next(f for f in diagnose(machine).findings if f.name == "cpu_dma_latency")
    assert finding.state is State.UNKNOWN
    assert finding.evidence[0].value == "permission denied"
    assert "root" in str(finding.advice)


def test_a_file_that_fails_to_read_is_unknown(tmp_path):
    machine = build(tmp_path, {"/proc/pressure/io": None, "/proc/pressure/io/x": ""})
    finding = next(f for f in diagnose(machine).findings if f.name == "io_pressure")
    assert finding.state is State.UNKNOWN
    assert "directory" in finding.evidence[0].value


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux' /proc")
def test_this_machine_is_read_and_not_changed(tmp_path):
    knobs = [Path(p) for p in ("/proc/sys/kernel/randomize_va_space", "/proc/sys/vm/swappiness")]
    before = [knob.read_text() for knob in knobs if knob.exists()]
    check_shape(Machine.here(window_s=0.05), len(LINUX))
    assert [knob.read_text() for knob in knobs if knob.exists()] == before


def test_nothing_but_listing_commands_is_run(tmp_path):
    asked = []
    machine = build(tmp_path)
    machine._run = lambda argv: asked.append(argv) or "[]"
    diagnose(machine)
    assert asked == [TIMERS]


def test_a_command_that_is_missing_fails_or_hangs_is_an_answer(monkeypatch):
    with pytest.raises(Absent, match="not installed"):
        run_command(("tare-no-such-command",))
    with pytest.raises(Unclear, match="no-such-file"):
        run_command(("ls", "/no-such-file"))
    monkeypatch.setattr("tare.host.machine._COMMAND_PATIENCE_S", 0.01)
    with pytest.raises(Unclear, match="no answer"):
        run_command(("sleep", "60"))


def test_the_default_cpu_is_the_last_that_this_process_may_use(tmp_path):
    status = str(QUIET["/proc/self/status"]).replace("0-3", "0-1")
    assert build(tmp_path, {"/proc/self/status": status}).cpus == (1,)
    assert build(tmp_path, {"/proc/self/status": status}, cpus=(2, 0)).cpus == (0, 2)


def test_a_process_name_with_brackets_and_blanks_is_read_whole(tmp_path):
    machine = build(tmp_path, {"/proc/6/stat": stat_line(6, "a) R (b c", ticks=7)})
    process = machine.processes()[6]
    assert (process.command, process.ticks, process.parent) == ("a) R (b c", 7, 1)
    assert os.getpid() not in machine.processes()
