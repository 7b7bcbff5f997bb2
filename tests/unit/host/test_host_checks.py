"""Every check in both states, on machines of small files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from fake_host import (
    CLOCK,
    CPU,
    KERNEL,
    NOW_S,
    QUIET,
    VM,
    Content,
    build,
    config,
    cpu_times,
    stat_line,
)

from tare.host import Finding, State, diagnose
from tare.host.checks import ALL

Look = Callable[..., Finding]

UNPRIVILEGED = "TracerPid:\t0\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n"
MEMINFO = str(QUIET["/proc/meminfo"])
# check, what is different, what the command must say (None: there is none), later, more
CASES: list[tuple[str, dict[str, Content], str | None, dict[str, Any]]] = [
    ("governor", {f"{CPU}/cpu3/cpufreq/scaling_governor": "schedutil"},
     f"echo performance | sudo tee {CPU}/cpu3/cpufreq/scaling_governor", {}),
    ("turbo", {f"{CPU}/intel_pstate/no_turbo": "0"},
     f"echo 1 | sudo tee {CPU}/intel_pstate/no_turbo", {}),
    ("turbo", {f"{CPU}/intel_pstate/no_turbo": None, f"{CPU}/cpufreq/boost": "1"},
     f"echo 0 | sudo tee {CPU}/cpufreq/boost", {}),
    ("smt", {f"{CPU}/cpu3/topology/thread_siblings_list": "1,3"},
     f"echo 0 | sudo tee {CPU}/cpu1/online", {}),
    ("smt", {f"{CPU}/cpu3/topology/thread_siblings_list": "0,3"}, None, {}),
    ("thermal_throttling", {f"{CPU}/cpu3/thermal_throttle/core_throttle_count": "4"}, None, {}),
    ("power_supply", {"/sys/class/power_supply/BAT0/status": "Discharging"}, None, {}),
    ("power_supply", {"/sys/class/power_supply/AC/online": "0"}, None, {}),
    ("cpu_affinity",
     {"/proc/self/status": UNPRIVILEGED.replace("0-3", "0-1")}, None, {"cpus": (3,)}),
    ("isolated_cpus", {f"{CPU}/isolated": "\n"},
     "sudo mkdir -p /etc/default/grub.d && echo "
     "'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX isolcpus=managed_irq,domain,3\"' | "
     "sudo tee /etc/default/grub.d/90-tare-isolcpus.cfg && sudo update-grub", {}),
    ("isolated_cpus", {f"{CPU}/isolated": "", "/etc/default/grub": None, "/sbin/grubby": ""},
     "sudo grubby --update-kernel=ALL --args=isolcpus=managed_irq,domain,3", {}),
    ("isolated_cpus", {f"{CPU}/isolated": "", "/etc/default/grub": None}, None, {}),
    ("isolated_cpus", {f"{CPU}/isolated": ""}, None, {"cpus": (0, 1, 2, 3)}),
    ("nohz_full", {f"{CPU}/nohz_full": "(null)"}, "nohz_full=3", {}),
    ("nohz_full", {f"{CPU}/nohz_full": None}, None, {}),
    ("rcu_callbacks", {f"{CPU}/nohz_full": "", "/proc/cmdline": "quiet"}, "rcu_nocbs=3", {}),
    ("rcu_callbacks", {f"{CPU}/nohz_full": "", "/proc/cmdline": "rcu_nocbs=0-2"},
     "rcu_nocbs=3", {}),
    ("rcu_callbacks", {f"{CPU}/nohz_full": None, "/proc/cmdline": "", "/proc/config.gz":
     config(HZ="250")}, None, {}),
    ("workqueues", {"/sys/devices/virtual/workqueue/cpumask": "f"},
     "echo 7 | sudo tee /sys/devices/virtual/workqueue/cpumask", {}),
    ("device_interrupts", {
        "/proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 24: 0 0 0 5  PCI-MSI eth0\n",
        "/proc/irq/24/effective_affinity_list": "3"},
     "echo 0-2 | sudo tee /proc/irq/24/smp_affinity_list", {}),
    ("irqbalance", {"/proc/7/stat": stat_line(7, "irqbalance")},
     "sudo systemctl stop irqbalance", {}),
    ("timer_migration", {f"{KERNEL}/timer_migration": "1"},
     f"echo 0 | sudo tee {KERNEL}/timer_migration", {}),
    ("timer_frequency", {f"{CPU}/nohz_full": "", "/proc/config.gz": config(HZ="1000")}, None, {}),
    ("rt_throttling", {f"{KERNEL}/sched_rt_runtime_us": "950000",
                       f"{KERNEL}/osrelease": "6.1.0-18-amd64"},
     f"echo -1 | sudo tee {KERNEL}/sched_rt_runtime_us", {}),
    ("rt_throttling", {f"{KERNEL}/sched_rt_runtime_us": "950000",
                       "/proc/config.gz": config(RT_GROUP_SCHED="y")},
     f"echo -1 | sudo tee {KERNEL}/sched_rt_runtime_us", {}),
    ("fair_server", {"/sys/kernel/debug/sched/fair_server/cpu3/runtime": "50000000"},
     "echo 0 | sudo tee /sys/kernel/debug/sched/fair_server/cpu3/runtime", {}),
    ("autogroup", {f"{KERNEL}/sched_autogroup_enabled": "1"},
     f"echo 0 | sudo tee {KERNEL}/sched_autogroup_enabled", {}),
    ("clock_source", {f"{CLOCK}/current_clocksource": "hpet"},
     f"echo tsc | sudo tee {CLOCK}/current_clocksource", {}),
    ("clock_source", {f"{CLOCK}/current_clocksource": "hpet",
                      f"{CLOCK}/available_clocksource": "hpet acpi_pm"}, None, {}),
    ("tsc_reliability", {f"{CLOCK}/available_clocksource": "hpet acpi_pm"}, None, {}),
    ("tsc_reliability", {"/proc/cpuinfo": "flags : tsc constant_tsc\n"}, None, {}),
    ("idle_states", {f"{CPU}/cpu3/cpuidle/state1/disable": "0"},
     f"echo 1 | sudo tee {CPU}/cpu3/cpuidle/state1/disable", {}),
    ("cpu_dma_latency", {f"{CPU}/cpu3/cpuidle/state1/disable": "0",
                         "/dev/cpu_dma_latency": b"\x00\x94\x35\x77"},
     "exec 3<>/dev/cpu_dma_latency", {}),
    ("thp", {"/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
     "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled", {}),
    ("swap", {"/proc/meminfo": MEMINFO.replace("SwapTotal: 0", "SwapTotal: 900")},
     "sudo swapoff -a", {}),
    ("swap", {"/proc/meminfo": MEMINFO.replace("SwapTotal: 0", "SwapTotal: 900").replace(
        "SwapFree: 0", "SwapFree: 900")}, "sudo swapoff -a",
     {"later": {"/proc/vmstat": "pswpin 3\npswpout 0\n"}}),
    ("swappiness", {"/proc/meminfo": MEMINFO.replace("SwapTotal: 0", "SwapTotal: 900")},
     f"echo 1 | sudo tee {VM}/swappiness", {}),
    ("aslr", {f"{KERNEL}/randomize_va_space": "2"},
     f"echo 0 | sudo tee {KERNEL}/randomize_va_space", {}),
    ("numa_balancing", {f"{KERNEL}/numa_balancing": "1"},
     f"echo 0 | sudo tee {KERNEL}/numa_balancing", {}),
    ("ksm", {"/sys/kernel/mm/ksm/run": "1"}, "echo 0 | sudo tee /sys/kernel/mm/ksm/run", {}),
    ("compaction", {f"{VM}/compaction_proactiveness": "20"},
     f"echo 0 | sudo tee {VM}/compaction_proactiveness", {}),
    ("vmstat_updates", {f"{VM}/stat_interval": "1"},
     f"echo 120 | sudo tee {VM}/stat_interval", {}),
    ("dirty_pages", {"/proc/meminfo": MEMINFO.replace("Dirty: 12", "Dirty: 999999")}, "sync", {}),
    ("laptop_mode", {f"{VM}/laptop_mode": "5"}, f"echo 0 | sudo tee {VM}/laptop_mode", {}),
    ("free_memory", {"/proc/meminfo": MEMINFO.replace("6000000", "60000")}, None, {}),
    ("memory_pressure", {"/proc/pressure/memory": "some avg10=7.10 avg60=0 avg300=0 total=1"},
     None, {}),
    ("io_pressure", {}, None,
     {"later": {"/proc/pressure/io": "some avg10=0.00 avg60=0 avg300=0 total=500010\n"}}),
    ("nmi_watchdog", {f"{KERNEL}/nmi_watchdog": "1"},
     f"echo 0 | sudo tee {KERNEL}/nmi_watchdog", {}),
    ("soft_watchdog", {f"{KERNEL}/watchdog_cpumask": "0-3"},
     f"echo 0-2 | sudo tee {KERNEL}/watchdog_cpumask", {}),
    ("soft_watchdog", {f"{KERNEL}/watchdog_cpumask": None},
     f"echo 0 | sudo tee {KERNEL}/soft_watchdog", {}),
    ("machine_check_poll", {"/sys/devices/system/machinecheck/machinecheck3/check_interval": "300"},
     "echo 0 | sudo tee /sys/devices/system/machinecheck/machinecheck3/check_interval", {}),
    ("mitigations", {f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI"}, "mitigations=off", {}),
    ("debug_kernel", {"/proc/config.gz": config(KASAN="y")}, None, {}),
    ("hypervisor", {"/proc/cpuinfo": "flags : tsc hypervisor\n"}, None, {}),
    ("hypervisor", {"/proc/cpuinfo": "processor : 0\n", "/sys/hypervisor/type": "xen"}, None, {}),
    ("steal", {}, None, {"later": {"/proc/stat": cpu_times(idle=1080, steal=20)}}),
    ("container", {"/.dockerenv": ""}, None, {}),
    ("container", {"/proc/version": "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"},
     None, {}),
    ("cpu_quota", {"/sys/fs/cgroup/user.slice/cpu.max": "50000 100000",
                   "/sys/fs/cgroup/user.slice/cpu.stat": "usage_usec 1\nnr_throttled 3\n"},
     "echo 'max 100000' | sudo tee /sys/fs/cgroup/user.slice/cpu.max", {}),
    ("cpu_quota", {"/proc/self/cgroup": "3:cpu,cpuacct:/box\n0::/\n",
                   "/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "20000"},
     "echo -1 | sudo tee /sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", {}),
    ("busy_cpus", {}, None, {"later": {"/proc/stat": cpu_times(user=150, idle=1050)}}),
    ("busy_processes", {"/proc/9/stat": stat_line(9, "make", ticks=5)}, "sudo kill -STOP 9",
     {"later": {"/proc/9/stat": stat_line(9, "make", ticks=45)}}),
    ("busy_processes", {"/proc/9/stat": stat_line(9, "kswapd0", flags=0x200000)}, None,
     {"later": {"/proc/9/stat": stat_line(9, "kswapd0", ticks=45, flags=0x200000)}}),
    ("cron", {"/proc/8/stat": stat_line(8, "cron")}, "sudo systemctl stop cron", {}),
    ("cron", {"/proc/8/stat": stat_line(8, "crond"), "/run/systemd/system/here": None},
     "sudo service crond stop", {}),
    ("timers", {}, "sudo systemctl stop apt-daily.timer", {"timers": json.dumps([
        {"unit": "apt-daily.timer", "next": int((NOW_S + 60) * 1e6)},
        {"unit": "later.timer", "next": int((NOW_S + 3600) * 1e6)},
        {"unit": "never.timer", "next": None}])}),
    ("package_updates", {"/proc/8/stat": stat_line(8, "apt-get")}, None, {}),
    ("raid_resync", {"/proc/mdstat": "md0 : active\n [=>..] resync = 12.3% (1/9) finish=1min\n"},
     None, {}),
    ("tracers", {"/sys/kernel/tracing/instances/mine/current_tracer": "function"},
     "echo nop | sudo tee /sys/kernel/tracing/instances/mine/current_tracer", {}),
    ("tracers", {"/sys/kernel/tracing/events/enable": "X"},
     "echo 0 | sudo tee /sys/kernel/tracing/events/enable", {}),
    ("profilers", {"/proc/8/stat": stat_line(8, "bpftrace")}, "sudo kill -INT 8", {}),
    ("profilers", {"/proc/self/status": str(QUIET["/proc/self/status"]).replace(
        "TracerPid:\t0", "TracerPid:\t77")}, None, {}),
    ("bpf_stats", {f"{KERNEL}/bpf_stats_enabled": "1"},
     f"echo 0 | sudo tee {KERNEL}/bpf_stats_enabled", {}),
    ("rtprio", {"/proc/self/status": UNPRIVILEGED},
     'echo "$(id -un) - rtprio 99" | sudo tee /etc/security/limits.d/90-tare-rtprio.conf', {}),
    ("memlock", {"/proc/self/status": UNPRIVILEGED},
     "memlock unlimited", {}),
    ("perf_events", {"/proc/self/status": UNPRIVILEGED},
     f"echo 0 | sudo tee {KERNEL}/perf_event_paranoid", {}),
    ("bpf", {"/proc/self/status": UNPRIVILEGED}, None, {}),
    ("bpf", {"/sys/kernel/btf/vmlinux": None}, None, {}),
    ("bpf", {"/sys/kernel/security/lockdown": "none integrity [confidentiality]"}, None, {}),
]  # fmt: skip


def test_nothing_disturbs_the_quiet_machine(tmp_path):
    diagnosis = diagnose(build(tmp_path))
    wrong = {f.name: (f.state, f.evidence) for f in diagnosis.findings if f.state is not State.OK}
    assert wrong == {}
    assert diagnosis.cpus == (3,)


def test_every_check_of_linux_has_a_case_in_which_it_disturbs():
    assert {case[0] for case in CASES} == {c.name for c in ALL if c.system == "linux"}


@pytest.mark.parametrize(
    ("name", "changes", "command", "more"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_disturbs_with_its_command(look: Look, name, changes, command, more):
    finding = look(name, changes, **more)
    assert finding.state is State.DISTURBS
    assert finding.evidence
    assert all(e.source for e in finding.evidence)
    if command is None:
        assert finding.mend is None
        assert finding.advice
    else:
        assert command in str(finding.mend)
    for text in filter(None, (finding.mend, finding.undo)):
        subprocess.run(["sh", "-n", "-c", text], check=True)  # noqa: S607 - parsed, not run


@pytest.mark.parametrize(
    ("name", "changes", "undo"),
    [
        ("governor", {f"{CPU}/cpu3/cpufreq/scaling_governor": "schedutil"},
         f"echo schedutil | sudo tee {CPU}/cpu3/cpufreq/scaling_governor"),
        ("workqueues", {"/sys/devices/virtual/workqueue/cpumask": "f"},
         "echo f | sudo tee /sys/devices/virtual/workqueue/cpumask"),
        ("thp", {"/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
         "echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        ("isolated_cpus", {f"{CPU}/isolated": ""},
         "sudo rm /etc/default/grub.d/90-tare-isolcpus.cfg && sudo update-grub"),
        ("cpu_quota", {"/sys/fs/cgroup/user.slice/cpu.max": "50000 100000",
                       "/sys/fs/cgroup/user.slice/cpu.stat": ""},
         "echo '50000 100000' | sudo tee /sys/fs/cgroup/user.slice/cpu.max"),
        ("tracers", {"/sys/kernel/tracing/current_tracer": "osnoise"},
         "echo osnoise | sudo tee /sys/kernel/tracing/current_tracer"),
        # Some events are on: no single value puts just those back.
        ("tracers", {"/sys/kernel/tracing/events/enable": "X"}, None),
    ],
)  # fmt: skip
def test_undo_puts_back_what_was_read(look: Look, name, changes, undo):
    assert look(name, changes).undo == undo


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("governor", {f"{CPU}/cpu3/cpufreq/scaling_governor": "userspace"}),
        ("turbo", {f"{CPU}/intel_pstate/no_turbo": None, f"{CPU}/cpufreq/boost": "0"}),
        # The sibling is there but offline.
        ("smt", {f"{CPU}/cpu3/topology/thread_siblings_list": "3,7"}),
        ("rcu_callbacks", {f"{CPU}/nohz_full": "", "/proc/cmdline": "rcu_nocbs=0-3"}),
        ("rcu_callbacks", {f"{CPU}/nohz_full": "", "/proc/cmdline": "rcu_nocbs"}),
        ("rcu_callbacks", {f"{CPU}/nohz_full": "", "/proc/cmdline": "", "/proc/config.gz":
                           config(HZ="250", RCU_NOCB_CPU="y", RCU_NOCB_CPU_DEFAULT_ALL="y")}),
        # Aimed here, but it has never fired anywhere near.
        ("device_interrupts", {"/proc/irq/24/effective_affinity_list": "3"}),
        ("timer_frequency", {f"{CPU}/nohz_full": ""}),
        # Since 6.12 only kernels with RT groups keep the old limit.
        ("rt_throttling", {f"{KERNEL}/sched_rt_runtime_us": "950000"}),
        ("rt_throttling", {f"{KERNEL}/sched_rt_runtime_us": "950000", "/proc/cmdline":
                           "rt_group_sched=0", "/proc/config.gz": config(RT_GROUP_SCHED="y")}),
        ("timer_frequency", {"/proc/config.gz": config(HZ="1000")}),
        ("soft_watchdog", {f"{KERNEL}/soft_watchdog": "0", f"{KERNEL}/watchdog_cpumask": "0-3"}),
        ("cpu_quota", {"/proc/self/cgroup": "0::/\n"}),
        ("package_updates", {
            "/proc/8/stat": stat_line(8, "unattended-upgr"),
            "/proc/8/cmdline": "python3\0/usr/share/unattended-upgrade-shutdown\0--wait\0"}),
        ("rtprio", {"/proc/self/status": UNPRIVILEGED,
                    "/proc/self/limits": "Max realtime priority  99  99\n"}),
        ("memlock", {"/proc/self/status": UNPRIVILEGED,
                     "/proc/self/limits": "Max locked memory  unlimited  unlimited  bytes\n"}),
        ("perf_events", {"/proc/self/status": UNPRIVILEGED, f"{KERNEL}/perf_event_paranoid": "-1"}),
        ("cpu_dma_latency", {f"{CPU}/cpu3/cpuidle/state1/disable": "0"}),
    ],
)  # fmt: skip
def test_ok_in_a_less_obvious_way(look: Look, name, changes):
    assert look(name, changes).state is State.OK


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("governor", {f"{CPU}/cpu3/cpufreq/scaling_governor": None}),
        ("turbo", {f"{CPU}/intel_pstate/no_turbo": None}),
        ("thermal_throttling", {f"{CPU}/cpu3/thermal_throttle/{k}_throttle_count": None
                                for k in ("core", "package")}),
        ("power_supply", {"/sys/class/power_supply/BAT0/type": None}),
        ("fair_server", {f"{KERNEL}/osrelease": "6.11.0"}),
        ("tsc_reliability", {"/proc/cpuinfo": "processor : 0\nFeatures : fp asimd\n"}),
        ("numa_balancing", {f"{KERNEL}/numa_balancing": None}),
        ("raid_resync", {"/proc/mdstat": None}),
        ("cpu_dma_latency", {"/dev/cpu_dma_latency": None, "/dev/null": ""}),
    ],
)  # fmt: skip
def test_what_the_kernel_does_not_have_is_not_here(look: Look, name, changes):
    assert look(name, changes).state is State.NOT_HERE


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("fair_server", {"/sys/kernel/debug/sched/fair_server/cpu3/runtime": None}, "not shown"),
        ("timer_frequency", {"/proc/config.gz": None}, "how it was built"),
        ("timer_frequency", {"/proc/config.gz": b"\x1f\x8bbroken"}, "unpack"),
        ("debug_kernel", {"/proc/config.gz": None}, "how it was built"),
        ("busy_processes", {"/proc/1/stat": None}, "hidepid"),
        ("profilers", {"/proc/1/stat": None}, "hidepid"),
        ("aslr", {f"{KERNEL}/randomize_va_space": "yes"}, "not a number"),
        ("thp", {"/sys/kernel/mm/transparent_hugepage/enabled": "always"}, "no choice"),
        ("isolated_cpus", {f"{CPU}/isolated": "3-1"}, "backwards"),
        ("cpu_quota", {"/sys/fs/cgroup/user.slice/cpu.max": "soon"}, "not a number"),
        ("cpu_quota", {"/proc/self/cgroup": "0::/../other\n"}, "outside"),
        ("memory_pressure", {"/proc/pressure/memory": "calm"}, "not a pressure"),
        ("cpu_dma_latency", {"/dev/cpu_dma_latency": b"\0"}, "1 bytes"),
    ],
)
def test_what_cannot_be_told_is_unknown(look: Look, name, changes, said):
    finding = look(name, changes)
    assert finding.state is State.UNKNOWN
    assert said in finding.evidence[0].value


@pytest.mark.parametrize("answer", ["", "no json", "{}", "[1]", '[{"unit": 3, "next": 1}]'])
def test_odd_answers_of_the_timer_list_name_no_timer(look: Look, answer):
    assert look("timers", timers=answer).state in (State.OK, State.UNKNOWN)


def test_a_timer_with_a_name_that_a_shell_would_run_is_left_out_of_the_command(look: Look):
    rows = [{"unit": "x; rm -rf ~.timer", "next": int(NOW_S * 1e6)}]
    assert look("timers", timers=json.dumps(rows)).state is State.OK


def test_an_interrupt_names_its_device_and_its_counts(look: Look):
    table = "  CPU0 CPU1 CPU2 CPU3\n 24: 0 0 0 {}  PCI-MSI 1-edge eth0\n"
    finding = look(
        "device_interrupts",
        {"/proc/interrupts": table.format(5), "/proc/irq/24/effective_affinity_list": "3"},
        later={"/proc/interrupts": table.format(47)},
    )
    assert finding.evidence[0].source == "/proc/interrupts 24 eth0"
    assert finding.evidence[0].value == "42 in 1 s, 47 since boot"


def test_never_offers_to_stop_itself_or_its_parents(look: Look):
    me, shell = os.getpid(), 999_999_990
    busy = {
        f"/proc/{me}/stat": stat_line(me, "tare", ticks=50, parent=shell),
        f"/proc/{shell}/stat": stat_line(shell, "bash", ticks=50, parent=1),
        "/proc/1/stat": stat_line(1, "init", ticks=50, parent=0),
    }
    calm = {path: text.replace(" 50 0 0 0 20", " 0 0 0 0 20") for path, text in busy.items()}
    finding = look("busy_processes", calm, later=busy)
    assert finding.state is State.DISTURBS
    assert finding.mend is None
    assert {e.value.split()[0] for e in finding.evidence} == {"bash", "init"}


def test_root_needs_no_sudo(look: Look):
    finding = look("aslr", {f"{KERNEL}/randomize_va_space": "2"}, is_root=True)
    assert finding.mend == f"echo 0 | tee {KERNEL}/randomize_va_space"


def test_an_interrupt_without_an_effective_place_is_where_it_may_go(look: Look):
    changes = {
        "/proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 24: 0 0 0 5  PCI-MSI eth0\n",
        "/proc/irq/24/effective_affinity_list": None,
        "/proc/irq/24/smp_affinity_list": "2-3",
    }
    finding = look("device_interrupts", changes)
    assert finding.undo == "echo 2-3 | sudo tee /proc/irq/24/smp_affinity_list"


def test_a_machine_made_of_a_containers_image_is_no_container(tmp_path):
    machine = build(tmp_path, {"/.dockerenv": "", "/proc/self/ns/x": ""})
    folder = tmp_path / "proc/self/ns"
    for name in ("pid:[4026531836]", "uts:[4026531838]"):
        (folder / name.partition(":")[0]).symlink_to(name)
    finding = next(f for f in diagnose(machine).findings if f.name == "container")
    assert finding.state is State.OK


def test_a_counter_that_was_not_there_before_has_not_grown(look: Look):
    finding = look(
        "swap",
        {"/proc/meminfo": MEMINFO.replace("Total: 0", "Total: 9").replace("Free: 0", "Free: 9"),
         "/proc/vmstat": "other 1\n"},
        later={"/proc/vmstat": "pswpin 3\npswpout 3\n"},
    )  # fmt: skip
    assert finding.state is State.OK
