"""Idle states: how deep a CPU sleeps, and so how long it takes to wake.

Answers: how long a wake-up from idle may take. Does not answer: what a loop that never sleeps
suffers; it does not sleep.

References: Linux admin guide `pm/cpuidle.rst`; `power/pm_qos_interface.rst`.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import Final

from tare.host.finding import Absent, Check, Evidence, Severity, Unclear, Verdict, disturbs, ok
from tare.host.machine import Machine

_CPU: Final = "/sys/devices/system/cpu"
# Waking from C1 takes about 2 us on today's CPUs, from C6 tens to hundreds. Microseconds.
_SHALLOW_US: Final = 10


def _deep_states(machine: Machine) -> tuple[list[Evidence], list[str]]:
    """Return the latencies of all states of the measuring CPUs, and the switches of deep ones."""
    latencies, switches = [], []
    for cpu in machine.cpus:
        folder = f"{_CPU}/cpu{cpu}/cpuidle"
        for state in machine.names(folder):
            latency = machine.maybe(f"{folder}/{state}/latency")
            if latency is None:
                continue
            name = machine.maybe(f"{folder}/{state}/name")
            label = f"{name.value}: " if name else ""
            latencies.append(Evidence(latency.source, f"{label}{latency.number()} us"))
            off = machine.maybe(f"{folder}/{state}/disable")
            if latency.number() > _SHALLOW_US and off is not None and off.number() == 0:
                switches.append(off.source)
    if not latencies:
        raise Absent(f"{_CPU}/cpu{machine.cpus[0]}/cpuidle", "has no states")
    return latencies, switches


def idle_states(machine: Machine) -> Verdict:
    """Find enabled idle states of the measuring CPUs that take long to leave."""
    latencies, switches = _deep_states(machine)
    if not switches:
        return ok(*latencies)
    return disturbs(
        *latencies,
        mend=machine.write(dict.fromkeys(switches, 1)),
        undo=machine.write(dict.fromkeys(switches, 0)),
    )


def cpu_dma_latency(machine: Machine) -> Verdict:
    """See whether anybody asks the kernel to keep wake-ups short."""
    path = "/dev/cpu_dma_latency"
    asked = machine.raw(path)
    if len(asked) != 4:
        raise Unclear(path, f"holds {len(asked)} bytes, not the 4 of a number")
    limit_us = struct.unpack("=i", asked)[0]
    found = Evidence(path, f"{limit_us} us")
    latencies, switches = _deep_states(machine)
    if limit_us <= _SHALLOW_US or not switches:
        return ok(found, *latencies)
    return disturbs(
        found,
        mend=f"{machine.sudo}sh -c "
        f"'exec 3<>{path}; printf \"\\0\\0\\0\\0\" >&3; exec sleep infinity'",
        advice="the request lives as long as that command: Ctrl-C takes it back",
    )


_check = partial(Check, theme="idle")

CHECKS: Final = (
    _check(
        name="idle_states",
        severity=Severity.MEDIUM,
        asks="Are deep idle states off on the measuring CPUs?",
        why="a task that sleeps wakes later by the state's exit latency, and finds caches and "
        "speed gone",
        look=idle_states,
        area=_CPU,
    ),
    _check(
        name="cpu_dma_latency",
        severity=Severity.LOW,
        asks="Is a short wake-up asked of the kernel?",
        why="without a request through this file the kernel chooses idle states for power, not for "
        "short wake-ups",
        look=cpu_dma_latency,
        area="/dev",
    ),
)
