//! The OS's monotonic clock, where no counter of the CPU can be trusted.

use super::{Counter, Source};
use std::time::Instant;

/// Nanoseconds since this value was made, from the standard library's monotonic clock:
/// `clock_gettime(CLOCK_MONOTONIC)` on Linux and FreeBSD, `CLOCK_UPTIME_RAW` on macOS,
/// `QueryPerformanceCounter` on Windows. On most of them reading it is no system call.
#[derive(Debug, Clone)]
pub struct OsClock {
    epoch: Instant,
}

impl OsClock {
    /// A clock that starts at 0 now.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: Instant::now() }
    }
}

impl Default for OsClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Counter for OsClock {
    const SOURCE: Source = Source::Os;

    // Not inlined: 1000 copies of it in an unrolled block would not fit the instruction cache.
    #[inline(never)]
    fn read(&self) -> u64 {
        let elapsed = self.epoch.elapsed();
        // 2^64 ns are 584 years.
        elapsed
            .as_secs()
            .wrapping_mul(1_000_000_000)
            .wrapping_add(u64::from(elapsed.subsec_nanos()))
    }

    fn read_ordered(&self) -> u64 {
        self.read()
    }
}
