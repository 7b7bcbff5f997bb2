//! /proc/interrupts and /proc/softirqs, as text: a head that names CPUs, then a line of counts each.

use crate::InterruptLine;
use std::collections::BTreeMap;

/// Lines that hold one total for all CPUs (arch/x86/kernel/irq.c, arch/arm64/kernel/irq.c).
const TOTALS: [&str; 2] = ["ERR", "MIS"];

/// Last parts of the word that names how a line is triggered (`5-edge`, `9-fasteoi`, `-virq`); what
/// follows it is the device.
const TRIGGERS: [&str; 8] = ["edge", "level", "fasteoi", "virq", "event", "ipi", "demux", "none"];

/// Counts since boot by line; lines that count nothing per CPU are left out.
pub(super) fn parse(text: &str) -> BTreeMap<String, InterruptLine> {
    let mut lines = BTreeMap::new();
    for row in rows(text).filter(|row| !TOTALS.iter().any(|t| t.eq_ignore_ascii_case(row.label))) {
        let name = if row.label.bytes().all(|byte| byte.is_ascii_digit()) {
            device(&row.rest)
        } else {
            Some(row.rest.join(" "))
        };
        let name = name.filter(|name| !name.is_empty());
        lines.insert(row.label.to_owned(), InterruptLine { name, counts: row.counts });
    }
    lines
}

/// Counts since boot by kind and CPU.
pub(super) fn parse_softirqs(text: &str) -> BTreeMap<(String, u32), u64> {
    let kind_and_count = |row: Row| {
        let label = row.label.to_owned();
        row.counts.into_iter().map(move |(cpu, count)| ((label.clone(), cpu), count))
    };
    rows(text).flat_map(kind_and_count).collect()
}

struct Row<'a> {
    label: &'a str,
    counts: BTreeMap<u32, u64>,
    rest: Vec<&'a str>,
}

/// Rows that have a count for each CPU of the head.
fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().split_ascii_whitespace();
    let cpus: Option<Vec<u32>> = head.map(|name| name.strip_prefix("CPU")?.parse().ok()).collect();
    let cpus = cpus.unwrap_or_default();
    lines.filter_map(move |line| {
        let (label, rest) = line.split_once(':')?;
        let mut words = rest.split_ascii_whitespace();
        let count = |cpu: &u32| Some((*cpu, words.next()?.parse().ok()?));
        let counts: Option<BTreeMap<u32, u64>> = cpus.iter().map(count).collect();
        let counts = counts.filter(|counts| !counts.is_empty())?;
        Some(Row { label: label.trim(), counts, rest: words.collect() })
    })
}

/// The device at the end of `chip [hardware number]-trigger device, device`; all of it where there
/// is no trigger.
fn device(words: &[&str]) -> Option<String> {
    let is_trigger = |word: &&str| {
        let last = word.rsplit('-').next().unwrap_or_default();
        TRIGGERS.iter().any(|trigger| trigger.eq_ignore_ascii_case(last))
    };
    let after = words.iter().position(is_trigger).map_or(0, |at| at + 1);
    Some(words[after..].join(" ")).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use proptest::prelude::*;

    fn lines_of(machine: &str) -> BTreeMap<String, InterruptLine> {
        parse(fixture::file(machine, "proc/interrupts"))
    }

    fn name(text: &str, line: &str) -> Option<String> {
        parse(text)[line].name.clone()
    }

    #[test]
    fn reads_a_virtual_machine() {
        let lines = lines_of(fixture::VM);
        assert_eq!(lines["36"].counts, BTreeMap::from([(0, 0), (1, 144_795)]));
        assert_eq!(lines["36"].name.as_deref(), Some("virtio1-req.0"));
        assert_eq!(lines["LOC"].counts[&0], 50_070);
        assert_eq!(lines["LOC"].name.as_deref(), Some("Local timer interrupts"));
        assert!(!lines.contains_key("ERR") && !lines.contains_key("MIS"));
    }

    #[test]
    fn counts_go_to_the_cpus_of_the_head_when_one_is_offline() {
        let lines = lines_of(fixture::LAPTOP);
        assert_eq!(lines["9"].counts.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 4, 5, 6, 7]);
        assert_eq!(lines["9"].counts[&4], 5021);
        assert_eq!(lines["9"].name.as_deref(), Some("acpi"));
        assert_eq!(lines["16"].name.as_deref(), Some("i801_smbus, idma64.0"));
    }

    #[test]
    fn the_total_of_one_cpu_is_no_count_of_a_cpu() {
        let one = "           CPU0\nERR:          3\nLOC:  7   Local timer interrupts\n";
        assert_eq!(parse(one).into_keys().collect::<Vec<_>>(), ["LOC"]);
    }

    #[test]
    fn reads_arm_and_xen_names() {
        let head = "   CPU0\n";
        let with = |line: &str| format!("{head}{line}\n");
        assert_eq!(
            name(&with(" 11: 5 GICv3  27 Level     arch_timer"), "11").unwrap(),
            "arch_timer"
        );
        assert_eq!(name(&with(" 48: 5 xen-percpu    -virq      timer0"), "48").unwrap(), "timer0");
        assert_eq!(
            name(&with("IPI0: 5       Rescheduling interrupts"), "IPI0").unwrap(),
            "Rescheduling interrupts"
        );
        assert_eq!(name(&with(" 12: 5 odd chip"), "12").unwrap(), "odd chip");
        assert_eq!(name(&with(" 13: 5"), "13"), None);
    }

    #[test]
    fn reads_softirqs() {
        let kinds = parse_softirqs(fixture::file(fixture::VM, "proc/softirqs"));
        assert_eq!(kinds[&("RCU".into(), 1)], 36_653);
        assert_eq!(kinds[&("HI".into(), 0)], 0);
    }

    #[test]
    fn short_or_headless_files_give_nothing() {
        assert!(parse("").is_empty());
        assert!(parse("LOC: 1 2\n").is_empty());
        assert!(parse("  CPU0 CPU1\n 24: 1\n").is_empty());
    }

    proptest! {
        #[test]
        fn never_panics(text in "( *CPU0 *(CPU[0-9]{1,11})?\n)?[ 0-9a-zA-Z:\n,-]{0,200}") {
            let _ = (parse(&text), parse_softirqs(&text));
        }
    }
}
