//! What keeping a reading costs beyond the reading, and whether the edges of the unrolled blocks
//! can be seen: the timestamps loop judged by itself.

use crate::calibrate::median;
use crate::loops::timestamps::{self, BLOCK, Filled};
use std::sync::atomic::AtomicBool;
use tare_clock::{Counter, raw_block_ticks_per_read};

/// Blocks of stored readings, each beside one of raw readings. Together they run through 4 MB of
/// buffer, so stores go to memory that is in no nearby cache, as they do in a long trace.
const PAIRS: usize = 1000;

/// The timestamps loop, judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoreCost {
    /// One reading that is stored, over a raw one: median of the pairs of blocks.
    pub ratio: f64,
    /// Mean delta across the edge of two blocks, those at and above the threshold left out, ticks.
    pub edge_ticks: f64,
    /// The same of all other deltas.
    pub inner_ticks: f64,
    /// Share of the deltas across edges at and above the threshold.
    pub edge_above: f64,
    /// The same of all other deltas.
    pub inner_above: f64,
}

/// Measure on this thread; some 30 ms at 10 ns a reading.
#[must_use]
pub fn store_cost<C: Counter>(counter: &C, threshold_ticks: u64) -> StoreCost {
    let never = AtomicBool::new(false);
    let (mut low, mut ends) = (vec![0_u32; PAIRS * BLOCK], vec![0; PAIRS]);
    timestamps::fill(counter, &mut low, &mut ends, &never);
    let mut ratios = Vec::with_capacity(PAIRS);
    for (low, end) in low.chunks_exact_mut(BLOCK).zip(ends.chunks_exact_mut(1)) {
        let raw = raw_block_ticks_per_read(counter);
        let filled = timestamps::fill(counter, low, end, &never);
        let stored = end[0].wrapping_sub(filled.start_ticks) as f64 / BLOCK as f64;
        ratios.push(stored / raw);
    }
    let filled = timestamps::fill(counter, &mut low, &mut ends, &never);
    timestamps::differences(filled, &mut low, &ends);
    let (edges, inner) = split_at_edges(filled, &low);
    let (edge_ticks, edge_above) = usual(&edges, threshold_ticks);
    let (inner_ticks, inner_above) = usual(&inner, threshold_ticks);
    let ratio = median(ratios).unwrap_or(f64::NAN);
    StoreCost { ratio, edge_ticks, inner_ticks, edge_above, inner_above }
}

/// Deltas from the last reading of one block to the first of the next, and all others.
fn split_at_edges(filled: Filled, deltas: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let numbered = deltas[..filled.blocks * BLOCK].iter().copied().enumerate();
    let (edges, inner): (Vec<_>, Vec<_>) =
        numbered.skip(1).partition(|(place, _)| place.is_multiple_of(BLOCK));
    let values = |numbered: Vec<(usize, u32)>| numbered.into_iter().map(|(_, d)| d).collect();
    (values(edges), values(inner))
}

/// Mean below the threshold, and share not below.
fn usual(deltas: &[u32], threshold_ticks: u64) -> (f64, f64) {
    let below: Vec<f64> =
        deltas.iter().filter(|&&d| u64::from(d) < threshold_ticks).map(|&d| f64::from(d)).collect();
    let mean = below.iter().sum::<f64>() / below.len() as f64;
    (mean, 1.0 - below.len() as f64 / deltas.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;

    #[test]
    fn edges_are_told_from_the_rest() {
        let mut deltas = vec![26_u32; 3 * BLOCK];
        (deltas[BLOCK], deltas[2 * BLOCK], deltas[7]) = (52, 900, 300);
        let (edges, inner) = split_at_edges(Filled { start_ticks: 0, blocks: 3 }, &deltas);
        assert_eq!(edges, [52, 900]);
        assert_eq!(inner.len(), 3 * BLOCK - 1 - 2);
        assert_eq!(usual(&edges, 260), (52.0, 0.5));
        assert_eq!(usual(&inner, 260).0, 26.0);
    }

    #[test]
    fn a_counter_that_costs_the_same_either_way() {
        let cost = store_cost(&Scripted::with_gaps(0, &[], 26), 260);
        assert_eq!((cost.ratio, cost.edge_ticks, cost.inner_ticks), (1.0, 26.0, 26.0));
        assert_eq!((cost.edge_above, cost.inner_above), (0.0, 0.0));
    }
}
