"""The checks of macOS, FreeBSD and Windows, on recorded output of their commands."""

from __future__ import annotations

import pytest

from tare.host import Machine, State, diagnose
from tare.host.finding import Absent

HIGH = "Power Scheme GUID: 8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c  (High performance)"
BALANCED = "Power Scheme GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (Balanced)"
OK, DISTURBS, UNKNOWN = State.OK, State.DISTURBS, State.UNKNOWN

CASES = [
    ("macos", "busy_processes", {"sysctl -n vm.loadavg": "{ 0.15 0.10 0.08 }"}, OK),
    ("macos", "busy_processes", {"sysctl -n vm.loadavg": "{ 2,15 1,10 0,08 }"}, DISTURBS),
    ("macos", "busy_processes", {"sysctl -n vm.loadavg": "calm"}, UNKNOWN),
    ("macos", "power_supply", {"pmset -g batt": "Now drawing from 'AC Power'\n -Int"}, OK),
    ("macos", "power_supply", {"pmset -g batt": "Now drawing from 'Battery Power'"}, DISTURBS),
    ("macos", "power_supply", {"pmset -g batt": ""}, UNKNOWN),
    ("macos", "governor", {"pmset -g": " lowpowermode         0\n"}, OK),
    ("macos", "governor", {"pmset -g": " lowpowermode         1\n"}, DISTURBS),
    ("macos", "governor", {"pmset -g": " sleep 1\n"}, UNKNOWN),
    ("macos", "hypervisor", {"sysctl -n kern.hv_vmm_present": "0"}, OK),
    ("macos", "hypervisor", {"sysctl -n kern.hv_vmm_present": "1"}, DISTURBS),
    ("macos", "swap", {"sysctl -n vm.swapusage": "total = 0.00M  used = 0.00M  free = 0.00M"}, OK),
    ("macos", "swap", {"sysctl -n vm.swapusage": "total = 9.00M  used = 3.25M"}, DISTURBS),
    ("macos", "swap", {"sysctl -n vm.swapusage": "none"}, UNKNOWN),
    ("freebsd", "clock_source", {"sysctl -n kern.timecounter.hardware": "TSC-low"}, OK),
    ("freebsd", "clock_source", {"sysctl -n kern.timecounter.hardware": "HPET",
     "sysctl -n kern.timecounter.choice": "TSC-low(1000) HPET(950) i8254(0)"}, DISTURBS),
    ("freebsd", "clock_source", {"sysctl -n kern.timecounter.hardware": "HPET",
     "sysctl -n kern.timecounter.choice": "HPET(950) i8254(0)"}, DISTURBS),
    ("freebsd", "timer_frequency", {"sysctl -n kern.hz": "100"}, OK),
    ("freebsd", "timer_frequency", {"sysctl -n kern.hz": "1000"}, DISTURBS),
    ("freebsd", "hypervisor", {"sysctl -n kern.vm_guest": "none"}, OK),
    ("freebsd", "hypervisor", {"sysctl -n kern.vm_guest": "kvm"}, DISTURBS),
    ("freebsd", "aslr", {"sysctl -n kern.elf64.aslr.enable": "0"}, OK),
    ("freebsd", "aslr", {"sysctl -n kern.elf64.aslr.enable": "1"}, DISTURBS),
    ("windows", "governor", {"powercfg /getactivescheme": HIGH}, OK),
    ("windows", "governor", {"powercfg /getactivescheme": BALANCED}, DISTURBS),
    ("windows", "governor", {"powercfg /getactivescheme": "?"}, UNKNOWN),
]  # fmt: skip


def ask(root, system, answers):
    def run(argv: tuple[str, ...]) -> str:
        if " ".join(argv) not in answers:
            raise Absent(argv[0], "is not installed")
        return answers[" ".join(argv)]

    return diagnose(Machine(root, system=system, run=run))


@pytest.mark.parametrize(("system", "name", "answers", "state"), CASES)
def test_judges_recorded_output(tmp_path, system, name, answers, state):
    found = {f.name: f for f in ask(tmp_path, system, answers).findings}
    assert found[name].state is state
    others = [f for f in found.values() if f.name != name]
    assert all(f.state is State.NOT_HERE for f in others)


def test_windows_puts_the_scheme_back_that_was_there(tmp_path):
    (finding,) = ask(tmp_path, "windows", {"powercfg /getactivescheme": BALANCED}).findings
    assert finding.undo == "powercfg /setactive 381b4222-f694-41f0-9685-ff5bb260df2e"


@pytest.mark.parametrize(("system", "number"), [("macos", 5), ("freebsd", 5), ("windows", 1)])
def test_names_what_is_not_checked_there(tmp_path, system, number):
    diagnosis = ask(tmp_path, system, {})
    assert len(diagnosis.findings) == number
    assert "rt_throttling" in diagnosis.unchecked
    assert not {f.name for f in diagnosis.findings} & set(diagnosis.unchecked)


def test_an_unknown_system_has_no_checks_and_says_so(tmp_path):
    diagnosis = ask(tmp_path, "plan9", {})
    assert diagnosis.findings == ()
    assert "clock_source" in diagnosis.unchecked
