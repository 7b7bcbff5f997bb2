//! Counters of the machine, by sysctl.

use crate::{CpuTimes, InterruptLine, Snapshot, sysctl, unix};
use std::collections::BTreeMap;

/// States of `kern.cp_times`, in their order (sys/resource.h, CPUSTATES): user, nice, system,
/// interrupt, idle.
const STATES: usize = 5;

/// Read them all.
pub(super) fn read(monotonic_ns: u64) -> Snapshot {
    let system = |name: &str| sysctl::count(&format!("vm.stats.sys.{name}"));
    let memory = |name: &str| sysctl::count(&format!("vm.stats.vm.{name}"));
    let forks = ["v_forks", "v_vforks", "v_rforks"].map(memory);
    let cpu_times = cpu_times(&sysctl::bytes("kern.cp_times").unwrap_or_default(), stat_hz());
    Snapshot {
        monotonic_ns,
        load_1min: unix::load_1min(),
        context_switches: system("v_swtch"),
        interrupts: system("v_intr"),
        softirqs: system("v_soft"),
        page_faults: memory("v_vm_faults"),
        page_faults_major: memory("v_io_faults"),
        forks: forks.into_iter().try_fold(0, |sum: u64, count| sum.checked_add(count?)),
        frequency_range_khz: frequency_range_khz(cpu_times.len()),
        cpu_times,
        interrupt_lines: interrupt_lines(
            &sysctl::bytes("hw.intrnames").unwrap_or_default(),
            &sysctl::bytes("hw.intrcnt").unwrap_or_default(),
        ),
        ..Snapshot::default()
    }
}

/// Units of the CPU times, a second: `stathz`, the fourth field of `kern.clockrate`
/// (sys/time.h, struct clockinfo: hz, tick, spare, stathz, profhz).
fn stat_hz() -> Option<u64> {
    let rates = sysctl::bytes("kern.clockrate")?;
    let hertz = i32::from_ne_bytes(rates.get(12..16)?.try_into().ok()?);
    u64::try_from(hertz).ok().filter(|hertz| *hertz > 0)
}

fn longs(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
}

fn cpu_times(bytes: &[u8], hertz: Option<u64>) -> BTreeMap<u32, CpuTimes> {
    let words: Vec<u64> = longs(bytes).collect();
    let ns = |ticks: u64| Some(ticks.checked_mul(1_000_000_000)? / hertz?);
    let times = |states: &[u64]| CpuTimes {
        user_ns: states[0].checked_add(states[1]).and_then(ns),
        system_ns: ns(states[2]),
        irq_ns: ns(states[3]),
        idle_ns: ns(states[4]),
        ..CpuTimes::default()
    };
    (0..).zip(words.chunks_exact(STATES).map(times)).collect()
}

/// FreeBSD counts a line for the whole machine, but for those whose name says the CPU
/// (`cpu3:timer`); only these have a place in the table.
fn interrupt_lines(names: &[u8], counts: &[u8]) -> BTreeMap<String, InterruptLine> {
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.map(|name| String::from_utf8_lossy(name).trim().to_owned());
    let mut lines: BTreeMap<String, InterruptLine> = BTreeMap::new();
    for (name, count) in names.zip(longs(counts)) {
        let of_cpu = name.strip_prefix("cpu").and_then(|rest| rest.split_once(':'));
        if let Some((Ok(cpu), line)) = of_cpu.map(|(cpu, line)| (cpu.parse::<u32>(), line)) {
            lines.entry(line.to_owned()).or_default().counts.insert(cpu, count);
        }
    }
    lines
}

fn frequency_range_khz(cpus: usize) -> Option<[u64; 2]> {
    let mhz = |cpu| sysctl::count(&format!("dev.cpu.{cpu}.freq"));
    let khz: Vec<u64> = (0..cpus).filter_map(mhz).map(|mhz| mhz * 1000).collect();
    Some([*khz.iter().min()?, *khz.iter().max()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn times_are_per_cpu_and_unknown_without_a_unit() {
        let bytes = words(&[1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 7]);
        let times = cpu_times(&bytes, Some(100));
        assert_eq!(times.len(), 2);
        assert_eq!(times[&1].user_ns, Some(300_000_000));
        assert_eq!(times[&0].irq_ns, Some(40_000_000));
        assert_eq!(cpu_times(&bytes, None)[&0], CpuTimes::default());
    }

    #[test]
    fn only_lines_of_a_cpu_are_kept() {
        let names = b"irq1: atkbd0\0\0\0\0cpu0:timer \0cpu12:timer\0";
        let lines = interrupt_lines(names, &words(&[9, 5, 6]));
        assert_eq!(lines["timer"].counts, BTreeMap::from([(0, 5), (12, 6)]));
        assert_eq!(lines.len(), 1);
    }
}
