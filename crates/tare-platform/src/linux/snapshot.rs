//! Counters of the machine, read from /proc and /sys in one go.

use super::tree::Tree;
use super::{cgroup, cpus, interrupts, stat};
use crate::Snapshot;

/// `hertz`: units of /proc/stat, a second.
pub(super) fn read(tree: &Tree, monotonic_ns: u64, hertz: Option<u32>) -> Snapshot {
    let text = |path: &str| tree.text(path).unwrap_or_default();
    let stat = stat::parse(&text("proc/stat"), hertz.unwrap_or(0));
    let (load_1min, runnable) = stat::parse_load(&text("proc/loadavg"));
    let vmstat = text("proc/vmstat");
    let online = cpus::online(tree).unwrap_or_else(|| stat.cpus.keys().copied().collect());
    Snapshot {
        monotonic_ns,
        load_1min,
        runnable,
        steal_ns: stat.total.steal_ns,
        context_switches: stat.context_switches,
        page_faults: stat::field(&vmstat, "pgfault"),
        page_faults_major: stat::field(&vmstat, "pgmajfault"),
        interrupts: stat.interrupts,
        softirqs: stat.softirqs,
        forks: stat.forks,
        thermal_throttles: cpus::thermal_throttles(tree, &online),
        cgroup_throttled_ns: cgroup::throttled_ns(tree),
        frequency_range_khz: cpus::frequency_range_khz(tree, &online),
        cpu_times: stat.cpus,
        interrupt_lines: interrupts::parse(&text("proc/interrupts")),
        softirq_kinds: interrupts::parse_softirqs(&text("proc/softirqs")),
    }
}
