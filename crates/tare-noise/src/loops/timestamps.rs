//! Timestamps (the FWQ variation of Rehn et al. 2014): the counter read back to back, every reading
//! kept.
//!
//! Within the window only the low 32 bits of a reading are stored, 4 bytes and no subtraction; the
//! differences are taken afterwards. At the end of each block of [`BLOCK`] readings the whole
//! reading is kept too, so that a difference of 2^32 ticks and more (1.7 s at 2.6 GHz) is noticed.

use std::sync::atomic::{AtomicBool, Ordering};
use tare_clock::Counter;
pub use tare_clock::unroll::BLOCK;

/// What the window left behind, besides the buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// The reading before all that were stored.
    pub start_ticks: u64,
    /// Blocks that were filled; fewer than there is room for only if stopped.
    pub blocks: usize,
}

/// Fill `low` with the low halves of successive readings, [`BLOCK`] for each place of `ends`, which
/// receives the block's last reading whole. `low` shorter than that ends the window earlier.
#[inline(never)]
pub fn fill<C: Counter>(
    counter: &C,
    low: &mut [u32],
    ends: &mut [u64],
    stop: &AtomicBool,
) -> Filled {
    let start_ticks = counter.read();
    let mut blocks = 0;
    for (block, end) in low.chunks_exact_mut(BLOCK).zip(ends) {
        *end = fill_block(counter, block);
        blocks += 1;
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Filled { start_ticks, blocks }
}

/// One unrolled block; `block` has [`BLOCK`] places. Returns the last reading.
#[inline(always)]
fn fill_block<C: Counter>(counter: &C, block: &mut [u32]) -> u64 {
    assert_eq!(block.len(), BLOCK);
    let first: *mut u32 = block.as_mut_ptr();
    let mut last;
    let mut place = 0;
    tare_clock::times_1000!({
        last = counter.read();
        // SAFETY: `place` counts from 0 to BLOCK - 1 (times_1000 repeats BLOCK times, tested
        // beside it), and the block has BLOCK places. Volatile, so that each reading is stored at
        // once, by itself: the compiler would gather four of them into one vector.
        unsafe { first.add(place).write_volatile(last as u32) };
        place += 1;
    });
    last
}

/// Turn readings into differences, in place. Returns how many times 2^32 ticks are hidden in them:
/// the number of wrapped deltas, unless one hides twice that and counts twice.
pub fn differences(filled: Filled, low: &mut [u32], ends: &[u64]) -> u64 {
    let mut wrapped = 0;
    let mut before = filled.start_ticks;
    for (block, &end) in low.chunks_exact_mut(BLOCK).zip(ends).take(filled.blocks) {
        let mut previous = before as u32;
        let mut sum = 0_u64;
        for reading in block {
            let delta = reading.wrapping_sub(previous);
            previous = *reading;
            *reading = delta;
            sum += u64::from(delta);
        }
        wrapped += end.wrapping_sub(before).wrapping_sub(sum) >> 32;
        before = end;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;

    fn run(gaps: &[u64], blocks: usize) -> (Filled, Vec<u32>, u64) {
        let counter = Scripted::with_gaps(5_000_000_000, gaps, 26);
        let (mut low, mut ends) = (vec![0; blocks * BLOCK], vec![0; blocks]);
        let filled = fill(&counter, &mut low, &mut ends, &AtomicBool::new(false));
        let wrapped = differences(filled, &mut low, &ends);
        (filled, low, wrapped)
    }

    #[test]
    fn every_gap_comes_out_as_it_went_in() {
        let mut gaps = vec![26_u64; 2500];
        gaps[0] = 1;
        gaps[999] = 25;
        gaps[1000] = 7_000;
        gaps[2499] = u64::from(u32::MAX);
        let (filled, deltas, wrapped) = run(&gaps, 3);
        assert_eq!(filled, Filled { start_ticks: 5_000_000_000, blocks: 3 });
        assert_eq!(deltas[..2500].iter().map(|&d| u64::from(d)).collect::<Vec<_>>(), gaps);
        assert!(deltas[2500..].iter().all(|&delta| delta == 26));
        assert_eq!(wrapped, 0);
    }

    #[test]
    fn deltas_of_two_to_the_32_and_more_are_counted() {
        let mut gaps = vec![26_u64; 2000];
        gaps[10] = 1 << 32;
        gaps[11] = (1 << 32) + 500;
        gaps[1500] = 2 * (1 << 32) + 3;
        let (_, deltas, wrapped) = run(&gaps, 2);
        assert_eq!((deltas[10], deltas[11], deltas[1500]), (0, 500, 3));
        assert_eq!(wrapped, 1 + 1 + 2);
    }

    #[test]
    fn a_stop_ends_it_after_the_block() {
        let (mut low, mut ends) = (vec![0; 5 * BLOCK], vec![0; 5]);
        let counter = Scripted::with_gaps(0, &[], 10);
        assert_eq!(fill(&counter, &mut low, &mut ends, &AtomicBool::new(true)).blocks, 1);
    }
}
