//! Selfish detour (Beckman et al. 2006, doi:10.1109/CLUSTR.2006.311846): read the counter without
//! end, keep only gaps at or above a threshold.

use std::sync::atomic::{AtomicBool, Ordering};
use tare_clock::Counter;

/// Readings between two looks at the time limit and the stop flag; 16 unrolled bodies stay small,
/// and the looks cost nothing beside 16 readings.
const UNROLL: u64 = 16;

/// One gap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Detour {
    /// Reading before the gap.
    pub start_ticks: u64,
    /// Reading after it, minus the one before.
    pub gap_ticks: u64,
}

/// What the window left behind, besides the buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// First reading.
    pub start_ticks: u64,
    /// Last reading.
    pub end_ticks: u64,
    /// Readings after the first.
    pub samples: u64,
    /// Places of the buffer that were filled.
    pub records: usize,
    /// Gaps that did not fit.
    pub lost_records: u64,
    /// Their summed length.
    pub lost_ticks: u64,
    /// Was the loop stopped before its time?
    pub stopped: bool,
}

impl Kept {
    /// The gap goes into the buffer, or is counted.
    #[inline(always)]
    fn keep(&mut self, buffer: &mut [Detour], detour: Detour) {
        if let Some(place) = buffer.get_mut(self.records) {
            *place = detour;
            self.records += 1;
        } else {
            self.lost_records += 1;
            self.lost_ticks += detour.gap_ticks;
        }
    }
}

/// Keep gaps of `threshold_ticks` and more until `duration_ticks` have passed.
#[inline(never)]
pub fn keep_gaps<C: Counter>(
    counter: &C,
    threshold_ticks: u64,
    duration_ticks: u64,
    buffer: &mut [Detour],
    stop: &AtomicBool,
) -> Kept {
    let start_ticks = counter.read();
    let mut kept = Kept { start_ticks, ..Kept::default() };
    let mut previous = start_ticks;
    loop {
        for _ in 0..UNROLL {
            let now = counter.read();
            let gap_ticks = now.wrapping_sub(previous);
            if gap_ticks >= threshold_ticks {
                kept.keep(buffer, Detour { start_ticks: previous, gap_ticks });
            }
            previous = now;
        }
        kept.samples += UNROLL;
        kept.stopped = stop.load(Ordering::Relaxed);
        if kept.stopped || previous.wrapping_sub(start_ticks) >= duration_ticks {
            kept.end_ticks = previous;
            return kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;

    fn run(gaps: &[u64], room: usize, duration_ticks: u64) -> (Kept, Vec<Detour>) {
        let counter = Scripted::with_gaps(1_000, gaps, 26);
        let mut buffer = vec![Detour::default(); room];
        let kept = keep_gaps(&counter, 260, duration_ticks, &mut buffer, &AtomicBool::new(false));
        buffer.truncate(kept.records);
        (kept, buffer)
    }

    #[test]
    fn known_gaps_come_out_exactly() {
        let (kept, detours) = run(&[26, 259, 260, 26, 1 << 40, 1, 25], 8, 1 << 40);
        let expected = [(1_000 + 26 + 259, 260), (1_000 + 26 + 259 + 260 + 26, 1 << 40)];
        let seen: Vec<_> = detours.iter().map(|d| (d.start_ticks, d.gap_ticks)).collect();
        assert_eq!(seen, expected);
        assert_eq!((kept.lost_records, kept.lost_ticks, kept.stopped), (0, 0, false));
    }

    #[test]
    fn a_full_buffer_is_counted_and_the_loop_goes_on() {
        let (kept, detours) = run(&[300, 400, 26, 500, 600], 2, 10_000);
        assert_eq!(detours.iter().map(|d| d.gap_ticks).collect::<Vec<_>>(), [300, 400]);
        assert_eq!((kept.lost_records, kept.lost_ticks), (2, 1_100));
        assert!(kept.end_ticks - kept.start_ticks >= 10_000);
    }

    #[test]
    fn readings_and_times_add_up() {
        let (kept, _) = run(&[], 1, 26 * 160);
        assert_eq!(kept.samples, 160);
        assert_eq!((kept.start_ticks, kept.end_ticks), (1_000, 1_000 + 26 * 160));
    }

    #[test]
    fn a_stop_ends_it() {
        let counter = Scripted::with_gaps(0, &[], 26);
        let kept = keep_gaps(&counter, 260, u64::MAX, &mut [], &AtomicBool::new(true));
        assert!(kept.stopped);
        assert_eq!(kept.samples, UNROLL);
    }
}
