//! Detours that the measurement itself brought about: the OS took the CPU from a real-time thread
//! to give ordinary ones their share (RT throttling; the fair server of Linux since 6.12).
//!
//! Windows and rests keep below both limits, but the fair server also counts what waiting threads
//! did not use of their share: with many of them coming and going, one window in some fifty still
//! had such a hole (54 ms, on a machine with a load of 47). No counter of the kernel tells of it,
//! so it is recognised by its length and by the switch that it forced, and named.

use std::ops::RangeInclusive;
use tare_noise::{Budget, Records, Trace};

/// A hole is at least this part of the share that ordinary threads get in a period...
const SHORTEST: f64 = 0.5;
/// ...and at most this many times as long: the OS looks by ticks, and more than one may wait.
const LONGEST: f64 = 2.5;

/// One hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Trace, as in the recording.
    pub trace_id: u64,
    /// Begin, after the first reading of the trace, ns.
    pub after_ns: u64,
    /// Length, ns.
    pub length_ns: u64,
}

impl Hole {
    /// For the recording.
    pub fn describe(&self) -> String {
        let time = |ns: u64| crate::words::time(ns as f64);
        format!("trace {} after {}: {}", self.trace_id, time(self.after_ns), time(self.length_ns))
    }
}

/// Holes in one trace.
pub fn find(trace: &Trace, trace_id: u64, budget: Option<Budget>, ns_per_tick: f64) -> Vec<Hole> {
    let Some(budget) = budget.filter(|_| trace.real_time) else { return Vec::new() };
    // A thread that was never made to leave its CPU lost it to an interrupt or a hypervisor.
    if trace.usage.switches_involuntary == Some(0) {
        return Vec::new();
    }
    let share_ns = budget.others_ns() as f64;
    let ticks = |share: f64| (share * share_ns / ns_per_tick) as u64;
    let lengths = ticks(SHORTEST)..=ticks(LONGEST);
    let hole = |(start_ticks, length_ticks): (u64, u64)| Hole {
        trace_id,
        after_ns: (start_ticks.wrapping_sub(trace.start_ticks) as f64 * ns_per_tick) as u64,
        length_ns: (length_ticks as f64 * ns_per_tick) as u64,
    };
    gaps(trace, &lengths).into_iter().map(hole).collect()
}

/// Start and length of the gaps of these lengths, ticks. Slots hold no times: for FTQ there is
/// nothing to look at but the slots themselves.
fn gaps(trace: &Trace, lengths: &RangeInclusive<u64>) -> Vec<(u64, u64)> {
    match &trace.records {
        Records::Detours(detours) => {
            let all = detours.iter().map(|detour| (detour.start_ticks, detour.gap_ticks));
            all.filter(|(_, length)| lengths.contains(length)).collect()
        }
        Records::Deltas(deltas) => {
            let ends = deltas.iter().scan(trace.start_ticks, |now, &delta| {
                *now += u64::from(delta);
                Some((*now - u64::from(delta), u64::from(delta)))
            });
            ends.filter(|(_, length)| lengths.contains(length)).collect()
        }
        Records::Readings(readings) => {
            let all = readings.windows(2).map(|pair| (pair[0], pair[1].wrapping_sub(pair[0])));
            all.filter(|(_, length)| lengths.contains(length)).collect()
        }
        Records::Slots(work) => empty_slots(trace, work, lengths),
    }
}

/// Runs of slots without work.
fn empty_slots(trace: &Trace, work: &[u64], lengths: &RangeInclusive<u64>) -> Vec<(u64, u64)> {
    let length = trace.end_ticks.wrapping_sub(trace.start_ticks) as f64;
    let slot = length / work.len().max(1) as f64;
    let mut place = 0;
    let runs = work.chunk_by(|a, b| (*a == 0) == (*b == 0)).map(|run| {
        let start = place;
        place += run.len();
        (run[0] == 0, start, run.len())
    });
    runs.filter(|&(empty, ..)| empty)
        .map(|(_, start, slots)| {
            (trace.start_ticks + (start as f64 * slot) as u64, (slots as f64 * slot) as u64)
        })
        .filter(|(_, length)| lengths.contains(length))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_noise::loops::selfish::Detour;
    use tare_platform::fake::FakePlatform;
    use tare_platform::{RtThrottle, ThreadUsage};

    fn budget() -> Option<Budget> {
        let mut platform = FakePlatform::with_cpus(1);
        platform.rt_throttle = Some(RtThrottle { runtime_us: 950_000, period_us: 1_000_000 });
        Budget::of(&platform)
    }

    fn trace(records: Records, switches: Option<u64>, real_time: bool) -> Trace {
        let usage = ThreadUsage { switches_involuntary: switches, ..ThreadUsage::default() };
        let (start_ticks, end_ticks) = (1_000, 1_000 + 800_000_000);
        Trace { start_ticks, end_ticks, real_time, usage, ..Trace::of(records) }
    }

    fn detours(lengths_ns: &[u64]) -> Records {
        let detour = |(i, &gap_ticks): (usize, &u64)| Detour {
            start_ticks: 1_000 + 100_000_000 * i as u64,
            gap_ticks,
        };
        Records::Detours(lengths_ns.iter().enumerate().map(detour).collect())
    }

    #[test]
    fn a_gap_as_long_as_the_share_of_others_is_named() {
        let records = detours(&[12_000, 4_000_000, 54_000_000, 844_000_000]);
        let holes = find(&trace(records, Some(1), true), 7, budget(), 1.0);
        assert_eq!(holes, [Hole { trace_id: 7, after_ns: 200_000_000, length_ns: 54_000_000 }]);
        assert_eq!(holes[0].describe(), "trace 7 after 200 ms: 54.0 ms");
    }

    #[test]
    fn a_thread_that_kept_its_cpu_or_is_ordinary_has_none() {
        let records = || detours(&[54_000_000]);
        assert_eq!(find(&trace(records(), Some(0), true), 0, budget(), 1.0), []);
        assert_eq!(find(&trace(records(), Some(9), false), 0, budget(), 1.0), []);
        assert_eq!(find(&trace(records(), Some(9), true), 0, None, 1.0), []);
        assert_eq!(find(&trace(records(), None, true), 0, budget(), 1.0).len(), 1);
    }

    #[test]
    fn the_other_loops_show_them_too() {
        let hole = [Hole { trace_id: 0, after_ns: 2_000_000, length_ns: 50_000_000 }];
        let deltas = Records::Deltas(vec![1_000_000, 1_000_000, 50_000_000, 1_000_000]);
        assert_eq!(find(&trace(deltas, Some(1), true), 0, budget(), 1.0), hole);
        let readings =
            Records::Readings([0, 1, 2, 52, 53].map(|ms| 1_000 + ms * 1_000_000).to_vec());
        assert_eq!(find(&trace(readings, Some(1), true), 0, budget(), 1.0), hole);
        let mut work = vec![4000; 800];
        work[2..52].fill(0);
        assert_eq!(find(&trace(Records::Slots(work), Some(1), true), 0, budget(), 1.0), hole);
    }
}
