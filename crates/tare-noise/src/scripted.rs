//! A counter whose readings the test writes down beforehand.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tare_clock::{Counter, Source};

/// Starts at a value, then goes on by the given gaps, then by one and the same gap for ever.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    readings: Arc<Vec<u64>>,
    usual: u64,
    next: Arc<AtomicUsize>,
}

impl Scripted {
    pub(crate) fn with_gaps(start: u64, gaps: &[u64], usual: u64) -> Self {
        let mut readings = vec![start];
        readings.extend(gaps.iter().scan(start, |now, gap| {
            *now += gap;
            Some(*now)
        }));
        Self { readings: Arc::new(readings), usual, next: Arc::default() }
    }
}

impl Counter for Scripted {
    const SOURCE: Source = Source::Os;

    fn read(&self) -> u64 {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let last = self.readings.len() - 1;
        self.readings[index.min(last)] + self.usual * index.saturating_sub(last) as u64
    }

    fn read_ordered(&self) -> u64 {
        self.read()
    }
}
