//! /proc/stat, /proc/loadavg and /proc/vmstat, as text (proc(5)).
//!
//! A compatibility layer such as gVisor writes all lines with zeros. A kernel that runs has switched
//! contexts, taken interrupts and spent time, so a zero there means that nobody counts: `None`.

use crate::CpuTimes;
use std::collections::BTreeMap;

/// What /proc/stat says, since boot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stat {
    /// The line of all CPUs together.
    pub(super) total: CpuTimes,
    /// The line of each online CPU.
    pub(super) cpus: BTreeMap<u32, CpuTimes>,
    pub(super) context_switches: Option<u64>,
    pub(super) interrupts: Option<u64>,
    pub(super) softirqs: Option<u64>,
    pub(super) forks: Option<u64>,
}

/// `hertz`: units of the times, a second (sysconf(_SC_CLK_TCK)).
pub(super) fn parse(text: &str, hertz: u32) -> Stat {
    let mut stat = Stat::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let numbers: Vec<Option<u64>> = words.map(|word| word.parse().ok()).collect();
        let first = numbers.first().copied().flatten().filter(|count| *count > 0);
        match name {
            "cpu" => stat.total = cpu_times(&numbers, hertz),
            "ctxt" => stat.context_switches = first,
            "intr" => stat.interrupts = first,
            "softirq" => stat.softirqs = first,
            "processes" => stat.forks = first,
            _ => {
                if let Some(cpu) = name.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok()) {
                    stat.cpus.insert(cpu, cpu_times(&numbers, hertz));
                }
            }
        }
    }
    stat
}

/// Columns: user nice system idle iowait irq softirq steal (guest is part of user). Older kernels
/// have fewer.
fn cpu_times(columns: &[Option<u64>], hertz: u32) -> CpuTimes {
    if columns.iter().all(|ticks| matches!(ticks, None | Some(0))) || hertz == 0 {
        return CpuTimes::default();
    }
    let column = |at: usize| columns.get(at).copied().flatten();
    let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
    let ns = |ticks: Option<u64>| Some(ticks?.checked_mul(1_000_000_000)? / u64::from(hertz));
    CpuTimes {
        user_ns: ns(sum(column(0), column(1))),
        system_ns: ns(column(2)),
        idle_ns: ns(sum(column(3), column(4))),
        irq_ns: ns(column(5)),
        softirq_ns: ns(column(6)),
        steal_ns: ns(column(7)),
    }
}

/// Load over one minute, and threads that can run without the one that reads this.
pub(super) fn parse_load(text: &str) -> (Option<f64>, Option<u32>) {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let threads = words.get(3).and_then(|word| word.split_once('/'));
    let threads = threads.and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
    match threads {
        // No thread in the whole system: nobody counts.
        None | Some((_, 0)) => (None, None),
        Some((runnable, _)) => {
            let load = words[0].parse().ok().filter(|load: &f64| load.is_finite());
            (load, Some(runnable.saturating_sub(1)))
        }
    }
}

/// One value of a file of `name value` lines, with or without a colon (/proc/vmstat, /proc/meminfo,
/// cpu.stat, memory.stat).
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let found = words.next()?.trim_end_matches(':') == name;
        words.next().filter(|_| found)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use proptest::prelude::*;

    fn stat_of(machine: &str) -> Stat {
        parse(fixture::file(machine, "proc/stat"), 100)
    }

    #[test]
    fn reads_a_virtual_machine() {
        let stat = stat_of(fixture::VM);
        assert_eq!(stat.context_switches, Some(1_000_409));
        assert_eq!(stat.interrupts, Some(450_220));
        assert_eq!(stat.softirqs, Some(316_878));
        assert_eq!(stat.forks, Some(19_936));
        assert_eq!(stat.total.steal_ns, Some(590_000_000));
        let one = stat.cpus[&1];
        assert_eq!(one.user_ns, Some((9582 + 1349) * 10_000_000));
        assert_eq!(one.idle_ns, Some((68_058 + 589) * 10_000_000));
        assert_eq!(one.irq_ns, Some(0), "a zero among other counts is a zero");
    }

    #[test]
    fn offline_cpus_have_no_line() {
        let cpus: Vec<u32> = stat_of(fixture::LAPTOP).cpus.into_keys().collect();
        assert_eq!(cpus, [0, 1, 2, 4, 5, 6, 7]);
    }

    #[test]
    fn nobody_counts_under_gvisor() {
        let stat = stat_of(fixture::GVISOR);
        assert_eq!(stat.cpus.len(), 2);
        assert!(stat.cpus.values().all(|times| *times == CpuTimes::default()));
        assert_eq!(Stat { cpus: BTreeMap::new(), ..stat }, Stat::default());
    }

    #[test]
    fn missing_columns_are_unknown() {
        let stat = parse("cpu 1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 x 3\n", 100);
        assert_eq!(stat.total.user_ns, Some(30_000_000));
        assert_eq!(stat.total.idle_ns, None);
        assert_eq!(stat.total.steal_ns, None);
        assert_eq!(stat.cpus[&1].user_ns, None);
        assert_eq!(stat.cpus[&1].system_ns, Some(30_000_000));
    }

    #[test]
    fn the_reader_is_not_among_the_runnable() {
        assert_eq!(parse_load("0.57 0.61 0.35 3/93 19938\n"), (Some(0.57), Some(2)));
        assert_eq!(parse_load("0.00 0.00 0.00 0/0 0\n"), (None, None));
        assert_eq!(parse_load("0.57"), (None, None));
    }

    #[test]
    fn finds_fields_by_their_whole_name() {
        assert_eq!(field("pgmajfault 7\npgfault 42\n", "pgfault"), Some(42));
        assert_eq!(field("MemTotal:  16 kB\n", "MemTotal"), Some(16));
        assert_eq!(field("pgfaults 1\npgfault\n", "pgfault"), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "(cpu|cpu1|intr|ctxt|softirq)?[ 0-9a-z\n/.]{0,200}", hertz: u32) {
            let _ = (parse(&text, hertz), parse_load(&text), field(&text, "cpu"));
        }
    }
}
