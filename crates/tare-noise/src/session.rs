//! A session: threads, buffers and locked memory for some CPUs, over any number of groups of traces.

use crate::budget::Budget;
use crate::calibrate::Floor;
use crate::crew::Crew;
use crate::meeting::Meeting;
use crate::seat::{Calibrating, Paid, Seat, Spec};
use crate::trace::Trace;
use crate::window::{Buffers, Sizes};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tare_clock::Counter;
use tare_platform::{Answer, Platform};

/// Why no trace could be taken.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The OS gave no thread.
    #[error("no thread for CPU {cpu}: {source}")]
    Thread {
        /// The CPU.
        cpu: u32,
        /// What the OS said.
        source: std::io::Error,
    },
    /// The thread of a CPU ended before its time.
    #[error("the measuring thread of CPU {cpu} is gone")]
    Worker {
        /// The CPU.
        cpu: u32,
    },
    /// No memory for the buffers.
    #[error("no memory for the buffers of CPU {cpu}: {size_bytes} bytes")]
    Memory {
        /// The CPU.
        cpu: u32,
        /// What was asked for.
        size_bytes: u64,
    },
    /// No memory for a memory state.
    #[error("no memory for the memory state {name} on CPU {cpu}")]
    MemoryState {
        /// The CPU.
        cpu: u32,
        /// The state.
        name: &'static str,
    },
    /// Another CPU of the group could not take part.
    #[error("another CPU of the group could not take part")]
    CalledOff,
    /// [`Session::calibrate`] was not called before [`Session::take`].
    #[error("nothing was calibrated before the first trace")]
    NotCalibrated,
}

impl SessionError {
    /// The next step for whoever meets this.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Memory { .. } | Self::MemoryState { .. } => {
                "ask for fewer samples, a shorter time or fewer CPUs"
            }
            Self::Thread { .. } => "see `ulimit -u` and the pids limit of the cgroup",
            Self::Worker { .. } | Self::CalledOff | Self::NotCalibrated => {
                "run again with -v; if it happens again, it is a fault in tare: please report it"
            }
        }
    }
}

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
