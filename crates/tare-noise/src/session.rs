//! A session: threads, buffers and locked memory for some CPUs, over any number of groups of traces.

use crate::budget::Budget;
use crate::calibrate::Floor;
use crate::crew::Crew;
use crate::error::SessionError;
use crate::meeting::Meeting;
use crate::seat::{Calibrating, Paid, Seat, Spec};
use crate::store_cost::StoreCost;
use crate::trace::Trace;
use crate::window::{Buffers, Sizes};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tare_clock::{Counter, ReadCost};
use tare_platform::{Answer, Platform};

/// What the OS said to one CPU's thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The CPU.
    pub cpu: u32,
    /// Pinning to it.
    pub pin: Answer,
    /// Real-time priority; `None` if nobody asked.
    pub fifo: Option<Answer>,
}

/// Threads on some CPUs, ready to measure together.
pub struct Session<C: Counter> {
    crew: Crew<C>,
    platform: &'static dyn Platform,
    budget: Option<Budget>,
    rest_until: Instant,
}

impl<C: Counter> Session<C> {
    /// Create one thread for each CPU and pin it. `stop`, when set, ends every loop soon.
    ///
    /// # Errors
    /// [`SessionError::Thread`] if the OS gives no thread.
    pub fn open(
        counter: &C,
        platform: &'static dyn Platform,
        cpus: &[u32],
        real_time: bool,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Self, Vec<Settled>), SessionError> {
        let seat = |&cpu: &u32| Seat {
            cpu,
            counter: counter.clone(),
            platform,
            stop: stop.clone(),
            pinned: false,
            calibration: None,
            buffers: Buffers::default(),
        };
        let crew = Crew::hire(cpus.iter().map(seat).collect())?;
        let settled = crew.all(move |seat| {
            let (pin, fifo) = seat.settle(real_time);
            Settled { cpu: seat.cpu, pin, fifo }
        })?;
        let budget = Budget::of(platform);
        Ok((Self { crew, platform, budget, rest_until: Instant::now() }, settled))
    }

    /// How long real-time loops may spin here; `None` without a limit.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// Allocate and touch all buffers, each on its own CPU, then lock all memory: in this order,
    /// because locked memory makes new threads and allocations slow, and may refuse them.
    ///
    /// # Errors
    /// [`SessionError::Memory`] if they do not fit.
    pub fn reserve(&mut self, sizes: Sizes) -> Result<Answer, SessionError> {
        for reserved in self.crew.all(move |seat| seat.reserve(sizes))? {
            reserved?;
        }
        Ok(self.platform.lock_memory())
    }

    /// Find floors, thresholds and work on all CPUs at the same time, in the order of the CPUs.
    ///
    /// # Errors
    /// [`SessionError::Worker`] if a thread is gone.
    pub fn calibrate(&mut self, how: Calibrating) -> Result<Vec<Floor>, SessionError> {
        self.rest(how.real_time);
        let floors = self.crew.all(move |seat| seat.calibrate(how))?;
        Ok(floors.into_iter().map(|floor| self.pay(floor)).collect())
    }

    /// What a raw and a stored reading cost, on the first CPU.
    ///
    /// # Errors
    /// [`SessionError::NotCalibrated`] before [`Self::calibrate`].
    pub fn judge(&mut self, real_time: bool) -> Result<(ReadCost, StoreCost), SessionError> {
        self.rest(real_time);
        let judged = self.crew.first(move |seat| seat.judge(real_time))??;
        Ok(self.pay(judged))
    }

    /// Take one trace on every CPU, started together; in the order of the CPUs. Rests before, if
    /// the OS would take the CPU away otherwise.
    ///
    /// # Errors
    /// The first error of any CPU; the traces of the others are dropped then.
    pub fn take(&mut self, spec: Spec) -> Result<Vec<Trace>, SessionError> {
        self.rest(spec.real_time);
        let meeting = Arc::new(Meeting::of(self.crew.len()));
        let taken = self.crew.all(move |seat| seat.take(&spec, &meeting))?;
        // A CPU that could not take part is the reason; the others only say that it was called off.
        let (good, mut bad): (Vec<_>, Vec<_>) = taken.into_iter().partition(Result::is_ok);
        bad.sort_by_key(|taken| matches!(taken, Err(SessionError::CalledOff)));
        if let Some(Err(error)) = bad.into_iter().next() {
            return Err(error);
        }
        let mut traces: Vec<Trace> =
            good.into_iter().flatten().map(|taken| self.pay(taken)).collect();
        set_skews(&mut traces);
        Ok(traces)
    }

    /// Give the vectors of a trace back to its CPU.
    pub fn recycle(&mut self, trace: Trace) {
        self.crew.tell(trace.cpu, move |seat| seat.recycle(trace.records));
    }

    fn pay<T>(&mut self, paid: Paid<T>) -> T {
        if let Some(budget) = self.budget.filter(|_| paid.real_time > Duration::ZERO) {
            let rest = budget.rest_after(paid.real_time);
            self.rest_until = self.rest_until.max(Instant::now() + rest);
        }
        paid.value
    }

    fn rest(&self, real_time: bool) {
        if real_time {
            std::thread::sleep(self.rest_until.saturating_duration_since(Instant::now()));
        }
    }
}

/// First readings relative to the earliest of the group.
fn set_skews(traces: &mut [Trace]) {
    let Some(earliest) = traces.iter().map(|trace| trace.start_ticks).min() else { return };
    if traces.len() > 1 {
        for trace in traces {
            trace.start_skew_ticks = Some((trace.start_ticks - earliest).cast_signed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Records;
    use crate::window::Task;
    use tare_clock::OsClock;
    use tare_platform::fake::FakePlatform;
    use tare_platform::{RtThrottle, ThreadUsage};

    const CALIBRATING: Calibrating =
        Calibrating { step_ticks: 1, least_ticks: 100, quantum_ticks: None, real_time: true };

    fn spec(task: Task) -> Spec {
        let sizes = Sizes::for_task(&task, 1000, 1000);
        Spec { task, sizes, memory_state: None, real_time: true, start_at_unix_ns: None }
    }

    fn open(platform: FakePlatform, cpus: &[u32]) -> (Session<OsClock>, Vec<Settled>) {
        // The session's threads may outlive the test's stack frame.
        let platform: &'static FakePlatform = Box::leak(Box::new(platform));
        Session::open(&OsClock::new(), platform, cpus, true, &Arc::default()).expect("threads")
    }

    #[test]
    fn traces_of_a_group_come_in_the_order_of_the_cpus_with_their_skew() {
        let (mut session, settled) = open(FakePlatform::with_cpus(2), &[0, 1]);
        assert!(settled.iter().all(|s| s.pin.is_granted() && s.fifo.is_some()));
        session.calibrate(CALIBRATING).expect("calibrated");
        let traces = session.take(spec(Task::Timestamps { samples: 1500 })).expect("taken");
        assert_eq!(traces.iter().map(|trace| trace.cpu).collect::<Vec<_>>(), [0, 1]);
        assert!(traces.iter().any(|trace| trace.start_skew_ticks == Some(0)));
        for trace in traces {
            assert!(trace.real_time && trace.start_skew_ticks >= Some(0));
            let Records::Deltas(deltas) = &trace.records else { panic!("{trace:?}") };
            let sum: u64 = deltas.iter().map(|&delta| u64::from(delta)).sum();
            assert_eq!((deltas.len(), sum), (1500, trace.end_ticks - trace.start_ticks));
        }
    }

    #[test]
    fn one_cpu_has_no_skew_and_its_usage_is_that_of_the_window() {
        let usage = |faults| ThreadUsage { page_faults_minor: Some(faults), ..Default::default() };
        let platform = FakePlatform::with_cpus(1);
        *platform.thread_usages.lock().expect("own lock") = vec![usage(40), usage(43)];
        let (mut session, _) = open(platform, &[0]);
        session.calibrate(CALIBRATING).expect("calibrated");
        let task = Task::Selfish { duration_ticks: 100_000, threshold_ticks: Some(u64::MAX) };
        let trace = session.take(spec(task)).expect("taken").remove(0);
        assert_eq!(trace.start_skew_ticks, None);
        assert_eq!(trace.usage.page_faults_minor, Some(3));
        assert_eq!(trace.usage.cpu_time_ns, None);
        assert_eq!(trace.records, Records::Detours(vec![]));
    }

    #[test]
    fn what_the_os_refuses_is_said_and_measuring_goes_on() {
        let mut platform = FakePlatform::with_cpus(1);
        platform.fifo = Answer::Refused("no right".into());
        platform.rt_throttle = Some(RtThrottle { runtime_us: 950_000, period_us: 1_000_000 });
        let (mut session, settled) = open(platform, &[0]);
        assert_eq!(settled[0].fifo, Some(Answer::Refused("no right".into())));
        session.calibrate(CALIBRATING).expect("calibrated");
        let traces = session.take(spec(Task::Timestamps { samples: 1000 })).expect("taken");
        assert!(!traces[0].real_time);
    }

    #[test]
    fn vectors_go_back_and_forth() {
        let (mut session, _) = open(FakePlatform::with_cpus(1), &[0]);
        session.calibrate(CALIBRATING).expect("calibrated");
        for _ in 0..3 {
            let task = Task::Timestamps { samples: 3000 };
            let trace = session.take(spec(task)).expect("taken").remove(0);
            assert_eq!(trace.samples, 3000);
            session.recycle(trace);
        }
    }

    #[test]
    fn failures_end_the_group_and_name_the_reason() {
        let (mut session, _) = open(FakePlatform::with_cpus(2), &[0, 1]);
        let task = Task::Timestamps { samples: 1000 };
        assert!(matches!(session.take(spec(task)), Err(SessionError::NotCalibrated)));
        session.calibrate(CALIBRATING).expect("calibrated");
        let sizes = Sizes { low: usize::MAX / 8, ..Sizes::default() };
        let huge = Spec { sizes, ..spec(task) };
        assert!(matches!(session.take(huge), Err(SessionError::Memory { .. })));
        assert_eq!(session.take(spec(task)).expect("the session lives on").len(), 2);
    }
}
