//! Before a trace: what an undisturbed iteration costs, which gap is a detour, how much work fills
//! a quantum.
//!
//! The threshold. On the machine that this was written on (EPYC at 2.6 GHz, TSC in steps of 26
//! ticks) 89 % of the gaps between back-to-back readings are 26 ticks, 5.4 % are 1 and 5.4 % are
//! 25 (two readings within one step), idle or loaded, with FIFO or without; 4 in 10^6 to 3 in 10^4
//! are 51 to 260; detours by the kernel begin at some 1 000 (400 ns). '9 x the smallest gap' would
//! be 9 ticks there, and 95 % of all time a detour. So:
//!
//! threshold = max(3 x upper edge, 100 ns), rounded up to whole steps,
//!
//! where the upper edge is the median, over 64 blocks, of each block's 99 % quantile, and one step
//! at least. The median of blocks does not see interrupts; three times the edge is past an ordinary
//! iteration that took one step more; 100 ns is less than any way into a kernel and back takes, and
//! usually the larger of the two, which makes repeats agree to the tick.

use crate::loops::timestamps::{self, BLOCK};
use crate::loops::{selfish, work::work};
use std::sync::atomic::AtomicBool;
use tare_clock::Counter;

/// Blocks of gaps, spread over some 3 ms at 10 ns a reading.
const BLOCKS: usize = 64;

/// Unrolled blocks in each: 4000 gaps, of which the 99 % quantile leaves 40 above.
const UNROLLED: usize = 4;

/// See the formula above.
const EDGES: u64 = 3;

/// Times that work is repeated to find how long it takes undisturbed.
const WORK_REPEATS: usize = 5;

/// Work is timed over at least this many ticks: 100 us at 2.6 GHz, 11 ms at 24 MHz.
const WORK_TICKS: u64 = 1 << 18;

/// What the two loops that read back to back need to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Smallest gap that counts as a detour, ticks.
    pub threshold_ticks: u64,
    /// Mean of undisturbed iterations of the timestamps loop, ticks.
    pub timestamps_ticks: f64,
    /// The same of the selfish loop.
    pub selfish_ticks: f64,
}

/// The threshold, from gaps in blocks (each at least one gap), the counter's step and 100 ns in
/// ticks of it.
#[must_use]
pub fn threshold(blocks: &mut [Vec<u32>], step_ticks: u32, least_ticks: u64) -> u64 {
    let mut edges: Vec<u32> = blocks.iter_mut().map(|block| quantile_99(block)).collect();
    edges.sort_unstable();
    let edge = edges.get(edges.len() / 2).copied().unwrap_or(0).max(step_ticks);
    let step = u64::from(step_ticks.max(1));
    (EDGES * u64::from(edge)).max(least_ticks).div_ceil(step) * step
}

/// Smallest value that 99 % of the others do not exceed; 0 of none.
fn quantile_99(values: &mut [u32]) -> u32 {
    let place = (values.len() * 99).div_ceil(100).saturating_sub(1);
    if values.is_empty() { 0 } else { *values.select_nth_unstable(place).1 }
}

/// Calibrate the two loops that read back to back.
#[must_use]
pub fn floor<C: Counter>(counter: &C, step_ticks: u32, least_ticks: u64) -> Floor {
    let mut blocks: Vec<Vec<u32>> = (0..BLOCKS).map(|_| gaps(counter)).collect();
    let threshold_ticks = threshold(&mut blocks, step_ticks, least_ticks);
    let timestamps = blocks.iter().filter_map(|block| mean_below(block, threshold_ticks));
    let timestamps_ticks = median(timestamps.collect()).unwrap_or(0.0);
    let duration_ticks = (timestamps_ticks * (UNROLLED * BLOCK) as f64) as u64;
    let runs = (0..BLOCKS).filter_map(|_| selfish_floor(counter, threshold_ticks, duration_ticks));
    let selfish_ticks = median(runs.collect()).unwrap_or(timestamps_ticks);
    Floor { threshold_ticks, timestamps_ticks, selfish_ticks }
}

/// Gaps of one block, from the timestamps loop itself.
fn gaps<C: Counter>(counter: &C) -> Vec<u32> {
    let (mut low, mut ends) = (vec![0; UNROLLED * BLOCK], [0; UNROLLED]);
    let filled = timestamps::fill(counter, &mut low, &mut ends, &AtomicBool::new(false));
    timestamps::differences(filled, &mut low, &ends);
    low
}

fn mean_below(gaps: &[u32], threshold_ticks: u64) -> Option<f64> {
    let usual = gaps.iter().map(|&gap| u64::from(gap)).filter(|&gap| gap < threshold_ticks);
    let (count, sum) = usual.fold((0_u64, 0_u64), |(n, sum), gap| (n + 1, sum + gap));
    (count > 0).then(|| sum as f64 / count as f64)
}

/// Mean iteration of the selfish loop without its detours, from one short run of it.
fn selfish_floor<C: Counter>(counter: &C, threshold: u64, duration_ticks: u64) -> Option<f64> {
    // No room: every gap is counted as lost, with its length, which is all we want to know.
    let never = AtomicBool::new(false);
    let kept = selfish::keep_gaps(counter, threshold, duration_ticks, &mut [], &never);
    let usual = kept.samples - kept.lost_records;
    let ticks = kept.end_ticks.wrapping_sub(kept.start_ticks) - kept.lost_ticks;
    (usual > 0).then(|| ticks as f64 / usual as f64)
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    Some(f64::midpoint(*values.get(n.checked_sub(1)? / 2)?, values[n / 2]))
}

/// Ticks that one step of work takes undisturbed.
#[must_use]
pub fn ticks_per_unit<C: Counter>(counter: &C) -> f64 {
    let mut units = 1024_u64;
    loop {
        let ticks = undisturbed(counter, units);
        if ticks >= WORK_TICKS || units >= 1 << 40 {
            return ticks.max(1) as f64 / units as f64;
        }
        units *= 2;
    }
}

/// Steps of work that take `quantum_ticks` undisturbed, at least one.
#[must_use]
pub fn units_for<C: Counter>(counter: &C, quantum_ticks: u64) -> u64 {
    let mut units = (quantum_ticks as f64 / ticks_per_unit(counter)).max(1.0);
    // Twice at the length itself: a CPU may run long work at another frequency than short work.
    for _ in 0..2 {
        let ticks = undisturbed(counter, units as u64).max(1);
        units = (units * quantum_ticks as f64 / ticks as f64).max(1.0);
    }
    units.round() as u64
}

fn undisturbed<C: Counter>(counter: &C, units: u64) -> u64 {
    let once = |_| {
        let before = counter.read_ordered();
        std::hint::black_box(work(before, units));
        counter.read_ordered().wrapping_sub(before)
    };
    (0..WORK_REPEATS).map(once).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;
    use proptest::prelude::*;

    /// Gaps as on the stepped counter above, with an interrupt now and then.
    fn stepped(block: usize) -> Vec<u32> {
        (0..4000)
            .map(|i| match (i + block) % 400 {
                0 | 40 | 80 | 120 => 1,
                1 | 41 | 81 | 121 => 25,
                200 if i > 3000 => 5_000,
                300 if i < 1000 => 52,
                _ => 26,
            })
            .collect()
    }

    #[test]
    fn a_stepped_counter_with_gaps_of_one_tick() {
        let mut blocks: Vec<_> = (0..64).map(stepped).collect();
        // 100 ns are 260 ticks, ten steps.
        assert_eq!(threshold(&mut blocks, 26, 260), 260);
        assert_eq!(threshold(&mut blocks, 26, 250), 260);
        // Without that limit: three times the upper edge of 26.
        assert_eq!(threshold(&mut blocks, 26, 0), 78);
    }

    #[test]
    fn a_few_blocks_full_of_interrupts_change_nothing() {
        let mut blocks: Vec<_> = (0..64).map(stepped).collect();
        for block in blocks.iter_mut().take(20) {
            block.iter_mut().step_by(10).for_each(|gap| *gap = 9_000);
        }
        assert_eq!(threshold(&mut blocks, 26, 0), 78);
    }

    #[test]
    fn a_coarse_counter_that_mostly_stands_still() {
        // Apple silicon: a tick of 41.7 ns, readings of some 5 ns: mostly 0, sometimes 1.
        let mut blocks = vec![(0..4000).map(|i| u32::from(i % 8 == 0)).collect(); 64];
        assert_eq!(threshold(&mut blocks, 1, 3), 3);
        // A step of 100 ns (ticks of 1 ns) that fewer than 1 % of the readings show.
        let mut blocks = vec![(0..4000).map(|i| 100 * u32::from(i % 200 == 0)).collect(); 64];
        assert_eq!(threshold(&mut blocks, 100, 100), 300);
    }

    #[test]
    fn floor_of_a_scripted_counter() {
        let floor = floor(&Scripted::with_gaps(0, &[26, 5_000, 26, 26], 26), 26, 260);
        assert_eq!(
            floor,
            Floor { threshold_ticks: 260, timestamps_ticks: 26.0, selfish_ticks: 26.0 }
        );
    }

    #[test]
    fn work_is_scaled_to_the_quantum() {
        // A counter that moves WORK_TICKS between two readings, whatever the work: 1024 units seem
        // to take them, so 2048 are tried for twice as many, found too short twice, and doubled.
        let units = units_for(&Scripted::with_gaps(0, &[], WORK_TICKS), 2 * WORK_TICKS);
        assert_eq!(units, 1024 * 8);
    }

    #[test]
    fn median_of_none_one_and_many() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }

    proptest! {
        #[test]
        fn the_threshold_is_whole_steps_and_above_the_floor(
            step in 1_u32..200,
            base in 1_u32..20,
            least in 0_u64..1000,
        ) {
            let mut blocks = vec![vec![base * step; 500]; 8];
            let threshold = threshold(&mut blocks, step, least);
            prop_assert_eq!(threshold % u64::from(step), 0);
            prop_assert!(threshold >= least.max(3 * u64::from(base * step)));
            prop_assert!(threshold < least.max(3 * u64::from(base * step)) + u64::from(step));
        }
    }
}
