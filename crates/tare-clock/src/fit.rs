//! The rate of a counter: a line through (OS clock, counter) pairs taken throughout a recording.
//!
//! Formulas: ordinary least squares, centred on the means so that nothing cancels (e.g. Draper &
//! Smith 1998, ch. 1): slope = sum (x - mx)(y - my) / sum (x - mx)^2.

use crate::Counter;

/// Readings of the OS clock tried for one pair; the one between the two closest counter readings
/// is kept.
const TRIES: usize = 64;

/// A pair is kept for the fit if its bracket is at most this many times as wide as the median one:
/// the others were interrupted between two readings.
const WIDEST: u64 = 3;

/// One instant on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    reference_ns: u64,
    ticks: u64,
    /// Counter after minus counter before the OS clock was read.
    width_ticks: u64,
}

/// Pairs so far.
#[derive(Debug, Clone, Default)]
pub struct RateFit {
    pairs: Vec<Pair>,
}

/// The rate, and how good the line is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Ticks per second of the OS clock.
    pub ticks_per_second: f64,
    /// Largest distance of a pair from the line, ns.
    pub residual_ns: f64,
    /// Pairs in the fit.
    pub pairs: u32,
    /// From the first to the last of them, ns.
    pub span_ns: u64,
}

impl Rate {
    /// Length of `ticks`, ns.
    #[must_use]
    pub fn ns(&self, ticks: f64) -> f64 {
        ticks / self.ticks_per_second * 1e9
    }

    /// Whole ticks nearest to `ns`.
    #[must_use]
    pub fn ticks(&self, ns: u64) -> u64 {
        (ns as f64 * self.ticks_per_second / 1e9).round() as u64
    }
}

impl RateFit {
    /// Take one pair now: about 64 readings of both clocks.
    pub fn observe<C: Counter>(&mut self, counter: &C, reference_ns: impl Fn() -> u64) {
        let tries = (0..TRIES).map(|_| {
            let before = counter.read_ordered();
            let reference_ns = reference_ns();
            let width_ticks = counter.read_ordered().wrapping_sub(before);
            Pair { reference_ns, ticks: before.wrapping_add(width_ticks / 2), width_ticks }
        });
        self.pairs.extend(tries.min_by_key(|pair| pair.width_ticks));
    }

    /// The line through the pairs; `None` before there are two at different times, or if the
    /// counter did not go forward.
    #[must_use]
    pub fn fit(&self) -> Option<Rate> {
        let first = self.pairs.first()?;
        let mut widths: Vec<u64> = self.pairs.iter().map(|pair| pair.width_ticks).collect();
        widths.sort_unstable();
        let widest = widths[widths.len() / 2].saturating_mul(WIDEST);
        let points: Vec<(f64, f64)> = self
            .pairs
            .iter()
            .filter(|pair| pair.width_ticks <= widest)
            .map(|pair| {
                let x = pair.reference_ns.wrapping_sub(first.reference_ns) as i64 as f64;
                (x, pair.ticks.wrapping_sub(first.ticks) as i64 as f64)
            })
            .collect();
        line(&points)
    }
}

fn line(points: &[(f64, f64)]) -> Option<Rate> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let sxx: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let slope = sxy / sxx;
    if !(slope.is_finite() && slope > 0.0) {
        return None;
    }
    let distance = |p: &(f64, f64)| ((p.1 - mean_y) - slope * (p.0 - mean_x)).abs() / slope;
    let (low, high) =
        points.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p.0), h.max(p.0)));
    Some(Rate {
        ticks_per_second: slope * 1e9,
        residual_ns: points.iter().map(distance).fold(0.0, f64::max),
        pairs: points.len() as u32,
        span_ns: (high - low) as u64,
    })
}

/// One instant on three clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The counter.
    pub ticks: u64,
    /// The OS's monotonic clock, ns.
    pub monotonic_ns: u64,
    /// Wall time, ns since 1970-01-01 UTC.
    pub unix_ns: i64,
}

impl Anchor {
    /// Read all three, as close together as one of 64 tries got them.
    #[must_use]
    pub fn take<C: Counter>(
        counter: &C,
        monotonic_ns: impl Fn() -> u64,
        unix_ns: impl Fn() -> i64,
    ) -> Self {
        let read = || {
            let before = counter.read_ordered();
            let (monotonic_ns, unix_ns) = (monotonic_ns(), unix_ns());
            let width = counter.read_ordered().wrapping_sub(before);
            (width, Self { ticks: before.wrapping_add(width / 2), monotonic_ns, unix_ns })
        };
        let first = read();
        let best = (1..TRIES)
            .map(|_| read())
            .fold(first, |best, next| if next.0 < best.0 { next } else { best });
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(rate: f64, times_ns: &[u64], error_ticks: &[i64], widths: &[u64]) -> RateFit {
        let pair = |i: usize| Pair {
            reference_ns: 7_000_000_000_000 + times_ns[i],
            ticks: (1_000_000_000_000_000_i64
                + (times_ns[i] as f64 * rate).round() as i64
                + error_ticks[i]) as u64,
            width_ticks: widths[i],
        };
        RateFit { pairs: (0..times_ns.len()).map(pair).collect() }
    }

    #[test]
    fn an_exact_line_has_its_slope_and_no_residual() {
        let fit = pairs(2.6, &[0, 1_000_000_000, 5_000_000_000], &[0; 3], &[50; 3]).fit().unwrap();
        assert!((fit.ticks_per_second - 2.6e9).abs() < 1e-3, "{fit:?}");
        assert!(fit.residual_ns < 1e-3, "{fit:?}");
        assert_eq!((fit.pairs, fit.span_ns), (3, 5_000_000_000));
    }

    #[test]
    fn the_residual_is_the_largest_distance_from_the_line() {
        // Symmetric, so that the slope stays and the line moves by the mean: +26 against a mean of
        // 26/3 leaves 2/3 of 26 ticks = 6.67 ns.
        let fit =
            pairs(2.6, &[0, 1_000_000_000, 2_000_000_000], &[0, 26, 0], &[50; 3]).fit().unwrap();
        assert!((fit.ticks_per_second - 2.6e9).abs() < 1e-3, "{fit:?}");
        assert!((fit.residual_ns - 20.0 / 3.0).abs() < 1e-3, "{fit:?}");
    }

    #[test]
    fn a_pair_with_a_wide_bracket_is_left_out() {
        let times = [0, 1_000_000_000, 2_000_000_000, 3_000_000_000];
        let fit = pairs(2.6, &times, &[0, 0, 1_000_000, 0], &[50, 60, 9000, 40]).fit().unwrap();
        assert!((fit.ticks_per_second - 2.6e9).abs() < 1e-3, "{fit:?}");
        assert_eq!(fit.pairs, 3);
    }

    #[test]
    fn no_rate_from_one_instant_or_a_counter_that_stands() {
        assert_eq!(RateFit::default().fit(), None);
        assert_eq!(pairs(2.6, &[5], &[0], &[50]).fit(), None);
        assert_eq!(pairs(2.6, &[5, 5], &[0, 0], &[50, 50]).fit(), None);
        assert_eq!(pairs(0.0, &[0, 1_000_000], &[0, 0], &[50, 50]).fit(), None);
    }

    #[test]
    fn ticks_and_ns_are_inverse() {
        let rate = Rate { ticks_per_second: 2.6e9, residual_ns: 0.0, pairs: 2, span_ns: 1 };
        assert_eq!(rate.ticks(1_000), 2_600);
        assert!((rate.ns(2_600.0) - 1_000.0).abs() < 1e-9);
    }

    #[test]
    fn the_os_clock_measured_against_itself_runs_at_one_tick_a_ns() {
        let counter = crate::OsClock::new();
        let reference = counter.clone();
        let mut fit = RateFit::default();
        while counter.read() < 20_000_000 {
            fit.observe(&counter, || reference.read());
        }
        let rate = fit.fit().unwrap();
        assert!((rate.ticks_per_second / 1e9 - 1.0).abs() < 1e-3, "{rate:?}");
    }
}
