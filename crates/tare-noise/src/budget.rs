//! How long a real-time loop may spin before the OS throws it off its CPU.
//!
//! Seen on Linux 6.18 (2 virtual CPUs, RT_RUNTIME 950 ms of each 1000 ms): a FIFO spin of 4 s has
//! holes of 48 ms, one a second, on an idle CPU (RT throttling), and of 54 ms with ordinary threads
//! waiting (the fair server, since 6.12). They are the tool's own doing. The same loop in windows
//! of 850 ms with rests of 107 ms between has none, with or without others waiting: neither
//! mechanism sees its share exceeded. So time beyond the budget is taken in windows, each a trace.

use std::time::Duration;
use tare_platform::{Platform, RtThrottle};

/// Share of the OS's budget that we use; the rest pays for preparing a window in real time and for
/// the OS's own accounting, which goes by ticks of up to 10 ms.
const USED: f64 = 0.9;

/// What the fair server leaves to real-time threads where the older throttle is switched off
/// (Linux since 6.12: 50 ms of each second go to waiting ordinary threads, kernel/sched/fair.c).
const FAIR_SERVER: RtThrottle = RtThrottle { runtime_us: 950_000, period_us: 1_000_000 };

/// The limit that we keep for real-time loops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// What the OS says.
    limit: RtThrottle,
}

impl Budget {
    /// The budget on this system; `None` where real-time threads may spin for ever.
    #[must_use]
    pub fn of(platform: &dyn Platform) -> Option<Self> {
        let told = platform.rt_throttle()?;
        let limit = if told.longest_spin_ns().is_some() { told } else { FAIR_SERVER };
        (limit.runtime_us > 0).then_some(Self { limit })
    }

    /// Longest window, ns.
    #[must_use]
    pub fn window_ns(&self) -> u64 {
        (self.limit.runtime_us as f64 * 1e3 * USED) as u64
    }

    /// What the OS keeps of each period for others, ns.
    #[must_use]
    pub fn others_ns(&self) -> u64 {
        let runtime_us = self.limit.runtime_us.unsigned_abs();
        self.limit.period_us.saturating_sub(runtime_us).saturating_mul(1000)
    }

    /// Equal windows that `duration_ns` of real-time looping is cut into.
    #[must_use]
    pub fn windows(&self, duration_ns: u64) -> u64 {
        duration_ns.div_ceil(self.window_ns().max(1)).max(1)
    }

    /// How long a thread must rest after `spent` in real time, so that its share of any period stays
    /// below the OS's.
    #[must_use]
    pub fn rest_after(&self, spent: Duration) -> Duration {
        let share = self.limit.runtime_us as f64 * USED / self.limit.period_us as f64;
        spent.mul_f64((1.0 / share - 1.0).max(0.0))
    }

    /// In words, for the recording.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "the OS lets real-time threads run {} ms of each {} ms; windows of at most {} ms with \
             rests between keep below that",
            self.limit.runtime_us / 1000,
            self.limit.period_us / 1000,
            self.window_ns() / 1_000_000,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_platform::fake::FakePlatform;

    fn budget(runtime_us: i64, period_us: u64) -> Option<Budget> {
        let mut platform = FakePlatform::with_cpus(1);
        platform.rt_throttle = Some(RtThrottle { runtime_us, period_us });
        Budget::of(&platform)
    }

    #[test]
    fn the_usual_limit_gives_windows_below_it() {
        let budget = budget(950_000, 1_000_000).unwrap();
        assert_eq!(budget.window_ns(), 855_000_000);
        assert_eq!(budget.others_ns(), 50_000_000);
        assert_eq!(budget.windows(5_000_000_000), 6);
        assert_eq!(budget.windows(100_000), 1);
        // A full window and its rest fill a period: 855 ms of it, which is less than 950.
        let rest = budget.rest_after(Duration::from_millis(855));
        assert!((rest.as_secs_f64() - 0.145).abs() < 1e-6, "{rest:?}");
    }

    #[test]
    fn the_fair_server_counts_where_the_throttle_is_off() {
        assert_eq!(budget(-1, 1_000_000), budget(950_000, 1_000_000));
        assert_eq!(budget(1_000_000, 1_000_000), budget(950_000, 1_000_000));
    }

    #[test]
    fn a_system_without_the_limit_has_no_budget() {
        assert_eq!(Budget::of(&FakePlatform::with_cpus(1)), None);
    }
}
