//! Counters of the whole machine, and what they moved by between two readings.
//!
//! Pure arithmetic: the folder of each OS fills a [`Snapshot`], nothing here asks an OS. A counter
//! that is missing on either side, or that went backwards (a CPU that went offline, a kernel that
//! corrects its idle time), moved by an unknown amount: `None`, never a huge number.

use std::collections::BTreeMap;
use tare_record::Conditions;

/// Counters of the machine at one instant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The OS's monotonic clock, ns.
    pub monotonic_ns: u64,
    /// Load average over one minute.
    pub load_1min: Option<f64>,
    /// Threads that can run, the one that reads this not among them.
    pub runnable: Option<u32>,
    /// Time that the hypervisor gave to others since boot, all CPUs, ns.
    pub steal_ns: Option<u64>,
    /// Context switches since boot.
    pub context_switches: Option<u64>,
    /// Page faults since boot, minor and major.
    pub page_faults: Option<u64>,
    /// Major page faults since boot.
    pub page_faults_major: Option<u64>,
    /// Interrupts since boot.
    pub interrupts: Option<u64>,
    /// Softirqs since boot.
    pub softirqs: Option<u64>,
    /// Processes started since boot.
    pub forks: Option<u64>,
    /// Thermal throttle events since boot, all cores.
    pub thermal_throttles: Option<u64>,
    /// Time that this process' cgroup was throttled, ns.
    pub cgroup_throttled_ns: Option<u64>,
    /// Lowest and highest CPU frequency at this instant, kHz.
    pub frequency_range_khz: Option<[u64; 2]>,
    /// What each CPU did since boot, by CPU.
    pub cpu_times: BTreeMap<u32, CpuTimes>,
    /// Interrupts since boot, by line.
    pub interrupt_lines: BTreeMap<String, InterruptLine>,
    /// Softirqs since boot, by kind and CPU.
    pub softirq_kinds: BTreeMap<(String, u32), u64>,
}

/// What one CPU did, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User mode, nice included.
    pub user_ns: Option<u64>,
    /// Kernel mode.
    pub system_ns: Option<u64>,
    /// Interrupt handlers.
    pub irq_ns: Option<u64>,
    /// Softirqs.
    pub softirq_ns: Option<u64>,
    /// Idle, waiting for I/O included.
    pub idle_ns: Option<u64>,
    /// Given to others by the hypervisor.
    pub steal_ns: Option<u64>,
}

/// One interrupt line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterruptLine {
    /// Device or meaning.
    pub name: Option<String>,
    /// CPU -> count since boot.
    pub counts: BTreeMap<u32, u64>,
}

/// What the counters moved by between two snapshots: the manifest's conditions, and the rows of
/// three tables of the recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// For the manifest.
    pub conditions: Conditions,
    /// For `tables::CPU_TIMES`, by CPU.
    pub cpu_times: Vec<CpuTimesRow>,
    /// For `tables::INTERRUPTS`; what stayed at zero is left out.
    pub interrupts: Vec<InterruptRow>,
    /// For `tables::SOFTIRQS`; what stayed at zero is left out.
    pub softirqs: Vec<SoftirqRow>,
}

/// A row of `cpu_times`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimesRow {
    /// CPU.
    pub cpu: u32,
    /// What it did in the window.
    pub times: CpuTimes,
}

/// A row of `interrupts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptRow {
    /// `24`, `LOC`, ...
    pub line: String,
    /// Device or meaning.
    pub name: Option<String>,
    /// CPU.
    pub cpu: u32,
    /// How many in the window.
    pub count: u64,
}

/// A row of `softirqs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftirqRow {
    /// `TIMER`, `NET_RX`, ...
    pub kind: String,
    /// CPU.
    pub cpu: u32,
    /// How many in the window.
    pub count: u64,
}

/// `after - before`, if both are known and the counter did not go backwards.
pub(crate) fn difference(after: Option<u64>, before: Option<u64>) -> Option<u64> {
    after?.checked_sub(before?)
}

impl CpuTimes {
    fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: difference(self.user_ns, before.user_ns),
            system_ns: difference(self.system_ns, before.system_ns),
            irq_ns: difference(self.irq_ns, before.irq_ns),
            softirq_ns: difference(self.softirq_ns, before.softirq_ns),
            idle_ns: difference(self.idle_ns, before.idle_ns),
            steal_ns: difference(self.steal_ns, before.steal_ns),
        }
    }
}

impl Snapshot {
    /// What happened between `before` and `self`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Window {
        Window {
            conditions: self.conditions_since(before),
            cpu_times: self.cpu_times_since(before),
            interrupts: self.interrupts_since(before),
            softirqs: self.softirqs_since(before),
        }
    }

    fn conditions_since(&self, before: &Self) -> Conditions {
        Conditions {
            window_ns: self.monotonic_ns.saturating_sub(before.monotonic_ns),
            load_1min_before: before.load_1min,
            load_1min_after: self.load_1min,
            runnable_before: before.runnable,
            steal_ns: difference(self.steal_ns, before.steal_ns),
            context_switches: difference(self.context_switches, before.context_switches),
            page_faults: difference(self.page_faults, before.page_faults),
            page_faults_major: difference(self.page_faults_major, before.page_faults_major),
            interrupts: difference(self.interrupts, before.interrupts),
            softirqs: difference(self.softirqs, before.softirqs),
            forks: difference(self.forks, before.forks),
            thermal_throttles: difference(self.thermal_throttles, before.thermal_throttles),
            cgroup_throttled_ns: difference(self.cgroup_throttled_ns, before.cgroup_throttled_ns),
            frequency_range_khz: span(before.frequency_range_khz, self.frequency_range_khz),
        }
    }

    /// One row per CPU that was online at either end; a CPU that came or went has no known times.
    fn cpu_times_since(&self, before: &Self) -> Vec<CpuTimesRow> {
        let mut cpus: Vec<u32> =
            self.cpu_times.keys().chain(before.cpu_times.keys()).copied().collect();
        cpus.sort_unstable();
        cpus.dedup();
        let at = |snapshot: &Self, cpu| snapshot.cpu_times.get(&cpu).copied().unwrap_or_default();
        cpus.into_iter()
            .map(|cpu| CpuTimesRow { cpu, times: at(self, cpu).since(&at(before, cpu)) })
            .collect()
    }

    /// A line that appeared meanwhile began at zero; one that shrank (its device was replaced)
    /// moved by an unknown amount and is left out.
    fn interrupts_since(&self, before: &Self) -> Vec<InterruptRow> {
        let mut rows = Vec::new();
        for (line, after) in &self.interrupt_lines {
            let old = before.interrupt_lines.get(line);
            for (&cpu, &count) in &after.counts {
                let begun = old.and_then(|line| line.counts.get(&cpu)).copied().unwrap_or(0);
                if let Some(count @ 1..) = count.checked_sub(begun) {
                    let (line, name) = (line.clone(), after.name.clone());
                    rows.push(InterruptRow { line, name, cpu, count });
                }
            }
        }
        rows
    }

    fn softirqs_since(&self, before: &Self) -> Vec<SoftirqRow> {
        let mut rows = Vec::new();
        for ((kind, cpu), &count) in &self.softirq_kinds {
            let begun = before.softirq_kinds.get(&(kind.clone(), *cpu)).copied();
            if let Some(count @ 1..) = difference(Some(count), begun) {
                rows.push(SoftirqRow { kind: kind.clone(), cpu: *cpu, count });
            }
        }
        rows
    }
}

/// Lowest and highest of two ranges; one of them alone if the other is unknown.
fn span(a: Option<[u64; 2]>, b: Option<[u64; 2]>) -> Option<[u64; 2]> {
    match (a, b) {
        (Some([low_a, high_a]), Some([low_b, high_b])) => {
            Some([low_a.min(low_b), high_a.max(high_b)])
        }
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(counts: &[(u32, u64)]) -> InterruptLine {
        InterruptLine { name: None, counts: counts.iter().copied().collect() }
    }

    #[test]
    fn a_counter_that_goes_backwards_or_is_missing_moved_by_an_unknown_amount() {
        assert_eq!(difference(Some(7), Some(5)), Some(2));
        assert_eq!(difference(Some(5), Some(7)), None);
        assert_eq!(difference(None, Some(7)), None);
        assert_eq!(difference(Some(7), None), None);
    }

    #[test]
    fn a_cpu_that_comes_or_goes_has_a_row_of_unknowns() {
        let times = CpuTimes { user_ns: Some(5), ..CpuTimes::default() };
        let cpus = |cpus: &[u32]| Snapshot {
            cpu_times: cpus.iter().map(|cpu| (*cpu, times)).collect(),
            ..Snapshot::default()
        };
        let rows = cpus(&[0, 2]).since(&cpus(&[0, 1])).cpu_times;
        let user: Vec<_> = rows.iter().map(|row| (row.cpu, row.times.user_ns)).collect();
        assert_eq!(user, [(0, Some(0)), (1, None), (2, None)]);
    }

    #[test]
    fn interrupt_lines_may_appear_shrink_or_stay() {
        let lines = |lines: &[(&str, InterruptLine)]| Snapshot {
            interrupt_lines: lines.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect(),
            ..Snapshot::default()
        };
        let before = lines(&[("24", line(&[(0, 5), (1, 5)])), ("25", line(&[(0, 9)]))]);
        let after = lines(&[
            ("24", line(&[(0, 5), (1, 8)])),
            ("25", line(&[(0, 2)])),
            ("26", line(&[(0, 4)])),
        ]);
        let rows = after.since(&before).interrupts;
        let rows: Vec<_> = rows.iter().map(|row| (row.line.as_str(), row.cpu, row.count)).collect();
        assert_eq!(rows, [("24", 1, 3), ("26", 0, 4)]);
    }

    #[test]
    fn frequencies_of_both_ends_make_one_range() {
        let at = |range| Snapshot { frequency_range_khz: range, ..Snapshot::default() };
        let both = at(Some([900, 2000])).since(&at(Some([800, 1500])));
        assert_eq!(both.conditions.frequency_range_khz, Some([800, 2000]));
        let one = at(None).since(&at(Some([800, 1500])));
        assert_eq!(one.conditions.frequency_range_khz, Some([800, 1500]));
    }

    proptest! {
        #[test]
        fn no_difference_is_larger_than_the_later_reading(after: Option<u64>, before: Option<u64>) {
            prop_assert!(difference(after, before) <= after);
        }
    }
}
