//! Fixed time quantum (Sottile & Minnich 2004, doi:10.1109/CLUSTR.2004.1392636): work in small
//! units, counted by the slot of an absolute time grid in which each unit ended.
//!
//! The grid hangs on the first reading alone: slot i ends at start + round((i + 1) x slot), however
//! late the loop came to notice the end of slot i - 1. So nothing drifts, and slots that the loop
//! slept through are there, with no work in them.

use super::work::work;
use std::sync::atomic::{AtomicBool, Ordering};
use tare_clock::Counter;

/// Slots of equal length, not always of whole ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Length of a slot in units of 2^-32 ticks: exact to 1 tick after 2^32 slots.
    slot_q32: u128,
}

impl Grid {
    /// Slots of one tick.
    pub(crate) const FINEST: Self = Self { slot_q32: 1 << 32 };

    /// Slots of this length, ticks; `None` below one tick or beyond 2^63.
    #[must_use]
    pub fn new(slot_ticks: f64) -> Option<Self> {
        let possible = slot_ticks >= 1.0 && slot_ticks < 2_f64.powi(63);
        possible.then(|| Self { slot_q32: (slot_ticks * 2_f64.powi(32)).round() as u128 })
    }

    /// End of slot `slot`, ticks after the start of the grid.
    #[inline(always)]
    fn end_of(self, slot: usize) -> u64 {
        ((self.slot_q32 * (slot as u128 + 1) + (1 << 31)) >> 32) as u64
    }
}

/// What the window left behind, besides the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// First reading: the grid begins there.
    pub start_ticks: u64,
    /// Last reading.
    pub end_ticks: u64,
    /// Was the loop stopped before the last slot?
    pub stopped: bool,
}

/// Work in units of `unit` steps until all slots of `slots` are over; each receives the number of
/// units that ended in it.
#[inline(never)]
pub fn count_work<C: Counter>(
    counter: &C,
    grid: Grid,
    unit: u64,
    slots: &mut [u64],
    stop: &AtomicBool,
) -> Counted {
    let start_ticks = counter.read_ordered();
    let mut counted = Counted { start_ticks, end_ticks: start_ticks, stopped: false };
    let (mut slot, mut done, mut end) = (0, 0, grid.end_of(0));
    let mut state = start_ticks;
    while slot < slots.len() && !counted.stopped {
        state = work(state, unit);
        counted.end_ticks = counter.read_ordered();
        let elapsed = counted.end_ticks.wrapping_sub(start_ticks);
        while elapsed >= end && slot < slots.len() {
            slots[slot] = done;
            done = 0;
            slot += 1;
            end = grid.end_of(slot);
            counted.stopped = stop.load(Ordering::Relaxed);
        }
        done += 1;
    }
    std::hint::black_box(state);
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;

    fn run(gaps: &[u64], usual: u64, slot_ticks: f64, slots: usize) -> (Counted, Vec<u64>) {
        let counter = Scripted::with_gaps(77, gaps, usual);
        let mut work = vec![u64::MAX; slots];
        let grid = Grid::new(slot_ticks).unwrap();
        let counted = count_work(&counter, grid, 1, &mut work, &AtomicBool::new(false));
        (counted, work)
    }

    #[test]
    fn a_unit_counts_where_it_ends() {
        // Units end at 40, 80, 120, ...: two in [0, 100), three in [100, 200) (120, 160; 200 is the
        // next slot's), and so on.
        let (counted, work) = run(&[], 40, 100.0, 4);
        assert_eq!(work, [2, 2, 3, 2]);
        assert_eq!((counted.start_ticks, counted.end_ticks), (77, 77 + 400));
    }

    #[test]
    fn slots_slept_through_have_no_work_and_the_grid_stays() {
        // One unit takes 530 ticks: it ends at 570, in slot 5; slots 1 to 4 are empty.
        let (_, work) = run(&[40, 530], 10, 100.0, 8);
        assert_eq!(work, [1, 0, 0, 0, 0, 1 + 2, 10, 10]);
    }

    #[test]
    fn the_grid_does_not_drift() {
        // 1.1 ticks past each slot's end before anyone notices: 100 000 slots later, the ends are
        // still where i x slot says.
        let grid = Grid::new(1_000.3).unwrap();
        for slot in [0_usize, 1, 999, 99_999] {
            let exact = (slot as f64 + 1.0) * 1_000.3;
            assert!((grid.end_of(slot) as f64 - exact).abs() <= 0.51, "slot {slot}");
        }
        let (counted, work) = run(&[], 7, 1_000.3, 10_000);
        let elapsed = counted.end_ticks - counted.start_ticks;
        assert!((10_003_000..10_003_007).contains(&elapsed), "{elapsed}");
        // The unit that ends the last slot belongs to no slot.
        assert_eq!(work.iter().sum::<u64>(), elapsed / 7 - 1);
        assert!(work.iter().all(|&units| units == 142 || units == 143), "{work:?}");
    }

    #[test]
    fn a_grid_needs_slots_of_a_tick_and_more() {
        for bad in [0.0, 0.5, -3.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Grid::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_stop_ends_it_at_the_end_of_a_slot() {
        let counter = Scripted::with_gaps(0, &[], 10);
        let mut work = [u64::MAX; 5];
        let grid = Grid::new(100.0).unwrap();
        assert!(count_work(&counter, grid, 1, &mut work, &AtomicBool::new(true)).stopped);
        assert_eq!(work[1], u64::MAX);
    }
}
