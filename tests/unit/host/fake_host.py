"""A machine of small files on which nothing disturbs, and ways to spoil it."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

from tare.host import Machine

CPU = "/sys/devices/system/cpu"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
KERNEL = "/proc/sys/kernel"
VM = "/proc/sys/vm"

# What stands in a file; None is a file that is not there.
Content = str | bytes | None


def stat_line(pid: int, command: str, *, ticks: int = 0, parent: int = 1, flags: int = 0) -> str:
    """Write /proc/PID/stat with its first fifteen fields."""
    return f"{pid} ({command}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 0 0 20 0 1 0\n"


def config(**options: str) -> bytes:
    """Pack a kernel configuration."""
    lines = "".join(f"CONFIG_{name}={value}\n" for name, value in options.items())
    return gzip.compress(f"# Linux\n{lines}".encode())


def cpu_times(*, user: int = 100, idle: int = 1000, steal: int = 0) -> str:
    """Write /proc/stat of four CPUs alike."""
    one = f"{user} 0 0 {idle} 0 0 0 {steal} 0 0"
    everything = " ".join(str(4 * int(x)) for x in one.split())
    return f"cpu  {everything}\n" + "".join(f"cpu{i} {one}\n" for i in range(4))


QUIET: Mapping[str, Content] = {
    # cpu
    f"{CPU}/online": "0-3\n",
    f"{CPU}/cpu3/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu3/topology/thread_siblings_list": "3\n",
    f"{CPU}/cpu3/thermal_throttle/core_throttle_count": "0\n",
    f"{CPU}/cpu3/thermal_throttle/package_throttle_count": "0\n",
    f"{CPU}/cpu1/online": "1\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    "/sys/class/power_supply/AC/type": "Mains\n",
    "/sys/class/power_supply/AC/online": "1\n",
    "/sys/class/power_supply/BAT0/type": "Battery\n",
    "/sys/class/power_supply/BAT0/status": "Full\n",
    # isolation
    f"{CPU}/isolated": "3\n",
    f"{CPU}/nohz_full": "3\n",
    "/sys/devices/virtual/workqueue/cpumask": "7\n",
    "/proc/cmdline": "quiet isolcpus=3 nohz_full=3\n",
    "/proc/interrupts": "      CPU0 CPU1 CPU2 CPU3\n 24:  7 0 0 0  PCI-MSI 1-edge  eth0\n"
    "LOC:  9 9 9 9  Local timer interrupts\n",
    "/proc/irq/24/effective_affinity_list": "0\n",
    "/proc/irq/24/smp_affinity_list": "0-3\n",
    f"{KERNEL}/timer_migration": "0\n",
    # scheduler and clock
    f"{KERNEL}/osrelease": "6.12.3-amd64\n",
    f"{KERNEL}/sched_rt_runtime_us": "-1\n",
    f"{KERNEL}/sched_rt_period_us": "1000000\n",
    "/sys/kernel/debug/sched/fair_server/cpu3/runtime": "0\n",
    f"{KERNEL}/sched_autogroup_enabled": "0\n",
    f"{CLOCK}/current_clocksource": "tsc\n",
    f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm \n",
    # idle
    f"{CPU}/cpu3/cpuidle/state0/name": "POLL\n",
    f"{CPU}/cpu3/cpuidle/state0/latency": "0\n",
    f"{CPU}/cpu3/cpuidle/state0/disable": "0\n",
    f"{CPU}/cpu3/cpuidle/state1/name": "C6\n",
    f"{CPU}/cpu3/cpuidle/state1/latency": "133\n",
    f"{CPU}/cpu3/cpuidle/state1/disable": "1\n",
    "/dev/cpu_dma_latency": b"\0\0\0\0",
    # memory
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/kernel/mm/ksm/run": "0\n",
    "/proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\nSwapTotal: 0 kB\n"
    "SwapFree: 0 kB\nDirty: 12 kB\nWriteback: 0 kB\n",
    "/proc/vmstat": "pswpin 0\npswpout 0\n",
    f"{VM}/swappiness": "60\n",
    f"{VM}/compaction_proactiveness": "0\n",
    f"{VM}/stat_interval": "120\n",
    f"{VM}/laptop_mode": "0\n",
    f"{KERNEL}/randomize_va_space": "0\n",
    f"{KERNEL}/numa_balancing": "0\n",
    "/proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\n",
    "/proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\n",
    # kernel
    f"{KERNEL}/nmi_watchdog": "0\n",
    f"{KERNEL}/soft_watchdog": "1\n",
    f"{KERNEL}/watchdog_cpumask": "0-2\n",
    "/sys/devices/system/machinecheck/machinecheck3/check_interval": "0\n",
    f"{CPU}/vulnerabilities/meltdown": "Not affected\n",
    "/proc/config.gz": config(HZ="250", NO_HZ_FULL="y", RCU_NOCB_CPU="y"),
    # virtual
    "/proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n",
    "/proc/version": "Linux version 6.12.3-amd64 (builder@example) (gcc) #1 SMP\n",
    "/proc/self/cgroup": "0::/user.slice/session-1.scope\n",
    "/sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
    "/proc/stat": cpu_times(),
    # activity
    "/proc/loadavg": "0.01 0.02 0.00 1/100 4321\n",
    "/proc/1/stat": stat_line(1, "systemd", parent=0),
    "/proc/self/stat": stat_line(4321, "python3"),
    "/proc/mdstat": "Personalities :\nunused devices: <none>\n",
    "/run/systemd/system/here": "",
    # tracing
    "/sys/kernel/tracing/current_tracer": "nop\n",
    "/sys/kernel/tracing/events/enable": "0\n",
    "/sys/kernel/tracing/instances/mine/current_tracer": "nop\n",
    f"{KERNEL}/bpf_stats_enabled": "0\n",
    # rights
    "/proc/self/status": "Name:\tpython3\nTracerPid:\t0\nCapEff:\t000001ffffffffff\n"
    "Cpus_allowed_list:\t0-3\n",
    "/proc/self/limits": "Limit  Soft  Hard  Units\n"
    "Max locked memory         8388608   8388608   bytes\n"
    "Max realtime priority     0         0\n",
    f"{KERNEL}/perf_event_paranoid": "2\n",
    "/sys/kernel/btf/vmlinux": b"\x9f\xeb\x01",
    "/etc/default/grub": 'GRUB_CMDLINE_LINUX=""\n',
    "/usr/sbin/update-grub": "",
}
# What the kernel counts on meanwhile: one second of four idle CPUs.
QUIET_LATER: Mapping[str, Content] = {"/proc/stat": cpu_times(idle=1100)}
TIMERS = ("systemctl", "list-timers", "--output=json")
NOW_S = 1_700_000_000.0


def plant(root: Path, files: Mapping[str, Content]) -> None:
    """Write these files under the root, and remove those that are None."""
    for name, content in files.items():
        place = root / name.lstrip("/")
        if content is None:
            place.unlink(missing_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)


def build(
    root: Path,
    changes: Mapping[str, Content] | None = None,
    *,
    later: Mapping[str, Content] | None = None,
    timers: str = "[]",
    base: Mapping[str, Content] = QUIET,
    cpus: tuple[int, ...] | None = None,
    is_root: bool = False,
) -> Machine:
    """Stand up a machine; `later` is what has changed when the window closes."""
    plant(root, {**base, **(changes or {})})

    def run(argv: tuple[str, ...]) -> str:
        assert argv == TIMERS, f"a check ran {argv}"
        return timers

    def pause(seconds: float) -> None:
        assert seconds > 0
        plant(root, {**QUIET_LATER, **(later or {})} if base is QUIET else later or {})

    return Machine(
        root, run=run, pause=pause, unix_s=lambda: NOW_S, cpus=cpus, is_root=is_root
    )  # fmt: skip
