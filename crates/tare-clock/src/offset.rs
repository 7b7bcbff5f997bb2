//! How far the counters of two CPUs disagree: ping-pong over one shared cache line.
//!
//! The asker reads t1, calls; the answerer reads t2, answers; the asker reads t3. As t2 happened
//! between t1 and t3, the answerer's counter is ahead by at least t2 - t3 and at most t2 - t1
//! (Cristian 1989, doi:10.1007/BF01784024). Many rounds narrow the bounds.

use crate::Counter;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Rounds; some 100 ns each when both CPUs are free.
const ROUNDS: u64 = 20_000;

/// Longest time to spend, for when another thread keeps one of the CPUs.
const LIMIT: Duration = Duration::from_millis(200);

/// The other counter minus this one lies between these two, ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetBounds {
    /// At least.
    pub lower_ticks: i64,
    /// At most.
    pub upper_ticks: i64,
}

impl OffsetBounds {
    /// The largest disagreement that the bounds leave possible, ticks.
    #[must_use]
    pub fn largest_ticks(&self) -> u64 {
        self.lower_ticks.unsigned_abs().max(self.upper_ticks.unsigned_abs())
    }

    fn narrowed(self, asked: u64, answered: u64, received: u64) -> Self {
        // Differences of counters that are far closer than 2^63 ticks.
        let ahead = |of: u64| answered.wrapping_sub(of).cast_signed();
        Self {
            lower_ticks: self.lower_ticks.max(ahead(received)),
            upper_ticks: self.upper_ticks.min(ahead(asked)),
        }
    }
}

/// The two threads' meeting place, alone on its cache lines.
#[repr(align(128))]
struct Table {
    /// Odd: the asker has called; even: the answerer has answered.
    turn: AtomicU64,
    answer: AtomicU64,
    closed: AtomicBool,
}

/// Measure between the CPUs `asker` and `answerer`. `pin` binds the calling thread to a CPU and says
/// whether that worked; `None` if it did not, for then both might share one CPU, or if not one round
/// came to its end in time.
pub fn offset_between<C: Counter>(
    counter: &C,
    asker: u32,
    answerer: u32,
    pin: impl Fn(u32) -> bool + Sync,
) -> Option<OffsetBounds> {
    let table = Table {
        turn: AtomicU64::new(0),
        answer: AtomicU64::new(0),
        closed: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            if pin(answerer) {
                answer(counter, &table);
            } else {
                table.closed.store(true, Ordering::Release);
            }
        });
        let asking = scope.spawn(|| {
            let bounds = if pin(asker) { ask(counter, &table) } else { None };
            table.closed.store(true, Ordering::Release);
            bounds
        });
        let answered = answering.join().is_ok();
        asking.join().ok().flatten().filter(|_| answered)
    })
}

fn ask<C: Counter>(counter: &C, table: &Table) -> Option<OffsetBounds> {
    let start = Instant::now();
    let mut bounds = OffsetBounds { lower_ticks: i64::MIN, upper_ticks: i64::MAX };
    let mut rounds = 0;
    'rounds: while rounds < ROUNDS && start.elapsed() < LIMIT {
        let call = 2 * rounds + 1;
        let asked = counter.read_ordered();
        table.turn.store(call, Ordering::Release);
        while table.turn.load(Ordering::Acquire) == call {
            if table.closed.load(Ordering::Relaxed) || start.elapsed() > LIMIT {
                break 'rounds;
            }
            std::hint::spin_loop();
        }
        let received = counter.read_ordered();
        bounds = bounds.narrowed(asked, table.answer.load(Ordering::Acquire), received);
        rounds += 1;
    }
    (rounds > 0).then_some(bounds)
}

fn answer<C: Counter>(counter: &C, table: &Table) {
    while !table.closed.load(Ordering::Acquire) {
        let turn = table.turn.load(Ordering::Acquire);
        if turn % 2 == 1 {
            table.answer.store(counter.read_ordered(), Ordering::Release);
            table.turn.store(turn + 1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_narrow_around_the_true_offset() {
        // The answerer is 40 ticks ahead; calls and answers take 100 and 30, then 20 and 200.
        let start = OffsetBounds { lower_ticks: i64::MIN, upper_ticks: i64::MAX };
        let bounds = start.narrowed(1_000, 1_140, 1_130).narrowed(5_000, 5_060, 5_220);
        assert_eq!(bounds, OffsetBounds { lower_ticks: 10, upper_ticks: 60 });
        assert_eq!(bounds.largest_ticks(), 60);
    }

    #[test]
    fn one_clock_does_not_disagree_with_itself() {
        let counter = crate::OsClock::new();
        let bounds = offset_between(&counter, 0, 1, |_| true).unwrap();
        assert!(bounds.lower_ticks <= 0 && 0 <= bounds.upper_ticks, "{bounds:?}");
    }

    #[test]
    fn without_pinning_there_is_no_answer() {
        assert_eq!(offset_between(&crate::OsClock::new(), 0, 1, |cpu| cpu == 0), None);
        assert_eq!(offset_between(&crate::OsClock::new(), 0, 1, |cpu| cpu == 1), None);
    }
}
