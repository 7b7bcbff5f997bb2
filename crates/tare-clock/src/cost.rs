//! What one raw reading costs: readings back to back, nothing kept.

use crate::Counter;
use crate::unroll::BLOCK;

/// Cost of one raw reading, ticks; from blocks of 1001 readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadCost {
    /// Median of the blocks.
    pub median_ticks: f64,
    /// Cheapest block.
    pub lowest_ticks: f64,
    /// Dearest block; holds an interrupt when one came.
    pub highest_ticks: f64,
}

/// Readings in one block: the unrolled ones and the one that ends it.
const READINGS: usize = BLOCK + 1;

/// Ticks that one block of readings takes.
#[inline(never)]
fn raw_block<C: Counter>(counter: &C) -> u64 {
    let first = counter.read();
    crate::times_1000!({
        // As wide as a reading that is stored: the low half.
        counter.read_low();
    });
    counter.read().wrapping_sub(first)
}

/// Ticks of one raw reading, mean of one block: to set beside another block in the same run.
pub fn raw_block_ticks_per_read<C: Counter>(counter: &C) -> f64 {
    raw_block(counter) as f64 / READINGS as f64
}

/// Measure the cost of a raw reading in `blocks` blocks (at least one), after one that warms up.
#[must_use]
pub fn read_cost<C: Counter>(counter: &C, blocks: usize) -> ReadCost {
    raw_block(counter);
    let ticks: Vec<u64> = (0..blocks.max(1)).map(|_| raw_block(counter)).collect();
    cost_of(ticks)
}

fn cost_of(mut blocks: Vec<u64>) -> ReadCost {
    blocks.sort_unstable();
    let per_read = |ticks: u64| ticks as f64 / READINGS as f64;
    let (low, high) = (blocks[(blocks.len() - 1) / 2], blocks[blocks.len() / 2]);
    ReadCost {
        median_ticks: f64::midpoint(per_read(low), per_read(high)),
        lowest_ticks: per_read(blocks[0]),
        highest_ticks: per_read(blocks[blocks.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_per_reading_and_robust() {
        let cost = cost_of([30, 1000, 20, 24].map(|ticks| ticks * 1001).to_vec());
        assert_eq!((cost.lowest_ticks, cost.median_ticks), (20.0, 27.0));
        assert_eq!(cost.highest_ticks, 1000.0);
    }

    #[test]
    fn a_real_counter_costs_something() {
        let cost = read_cost(&crate::OsClock::new(), 5);
        assert!(0.0 < cost.lowest_ticks && cost.lowest_ticks <= cost.median_ticks);
        assert!(cost.median_ticks <= cost.highest_ticks);
    }
}
