//! Fixed work quantum (Petrini et al. 2003, doi:10.1145/1048935.1050204): the same work again and
//! again, the time it takes kept.
//!
//! One quantum begins with the reading that ends the one before, so no time goes unseen; that
//! reading, ordered so that no work slips past it (some 20 ns), is part of the quantum.

use super::work::work;
use std::sync::atomic::{AtomicBool, Ordering};
use tare_clock::Counter;

/// What the window left behind, besides the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timed {
    /// Quanta that were kept: the buffer holds one reading more.
    pub quanta: usize,
    /// Quanta that did not fit.
    pub lost_records: u64,
    /// Last reading, kept or not.
    pub end_ticks: u64,
    /// Was the loop stopped before its time?
    pub stopped: bool,
}

/// Work in quanta of `units` until `duration_ticks` have passed; readings go to `readings`, of
/// which the first is the start.
#[inline(never)]
pub fn time_work<C: Counter>(
    counter: &C,
    units: u64,
    duration_ticks: u64,
    readings: &mut [u64],
    stop: &AtomicBool,
) -> Timed {
    let start_ticks = counter.read_ordered();
    if let Some(first) = readings.first_mut() {
        *first = start_ticks;
    }
    let mut timed = Timed { quanta: 0, lost_records: 0, end_ticks: start_ticks, stopped: false };
    let mut state = start_ticks;
    while !timed.stopped && timed.end_ticks.wrapping_sub(start_ticks) < duration_ticks {
        state = work(state, units);
        timed.end_ticks = counter.read_ordered();
        if let Some(place) = readings.get_mut(timed.quanta + 1) {
            *place = timed.end_ticks;
            timed.quanta += 1;
        } else {
            timed.lost_records += 1;
        }
        timed.stopped = stop.load(Ordering::Relaxed);
    }
    std::hint::black_box(state);
    timed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;

    #[test]
    fn durations_are_what_was_scripted() {
        let counter = Scripted::with_gaps(100, &[1_000, 1_000, 5_000, 1_000], 1_000);
        let mut readings = [0; 16];
        let timed = time_work(&counter, 3, 9_500, &mut readings, &AtomicBool::new(false));
        assert_eq!(timed, Timed { quanta: 6, lost_records: 0, end_ticks: 10_100, stopped: false });
        assert_eq!(readings[..7], [100, 1_100, 2_100, 7_100, 8_100, 9_100, 10_100]);
    }

    #[test]
    fn quanta_without_room_are_counted() {
        let counter = Scripted::with_gaps(0, &[], 1_000);
        let mut readings = [0; 3];
        let timed = time_work(&counter, 1, 5_000, &mut readings, &AtomicBool::new(false));
        assert_eq!(timed, Timed { quanta: 2, lost_records: 3, end_ticks: 5_000, stopped: false });
    }

    #[test]
    fn a_stop_ends_it() {
        let counter = Scripted::with_gaps(0, &[], 1);
        assert!(time_work(&counter, 1, u64::MAX, &mut [0; 4], &AtomicBool::new(true)).stopped);
    }
}
