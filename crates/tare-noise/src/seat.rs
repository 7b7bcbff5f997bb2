//! One CPU's place in a session: what was found out there, and how a trace is taken.
//!
//! Everything here runs on the thread that is pinned to the CPU, so that pages are first touched
//! where they are used. The measured window is the one call of [`Bench::run`] in [`Seat::measure`].

use crate::calibrate::{self, Floor};
use crate::error::SessionError;
use crate::meeting::{Meeting, Place};
use crate::memory::{Blocks, MemoryState};
use crate::store_cost::{StoreCost, store_cost};
use crate::trace::{Records, Trace};
use crate::window::{Bench, Buffers, Calibration, Outcome, Sizes, Task};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tare_clock::{Counter, ReadCost, read_cost};
use tare_platform::{Answer, Platform, ThreadUsage};

/// The lowest real-time rank: above every ordinary thread, below every thread of the kernel that
/// has a real-time rank itself (threaded interrupts: 50), which is noise that we want to see.
pub(crate) const FIFO_PRIORITY: u8 = 1;

/// Blocks of 1001 raw readings from which their cost is taken; 2 ms at 10 ns a reading.
const READ_COST_BLOCKS: usize = 201;

/// A thread with real-time priority spins no longer than this for an agreed time to come; before
/// that it sleeps.
const SPIN_BEFORE_START_NS: i64 = 5_000_000;

/// One trace to take on each CPU of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// What to run.
    pub task: Task,
    /// Places in the buffers.
    pub sizes: Sizes,
    /// How to allocate memory before.
    pub memory_state: Option<MemoryState>,
    /// With real-time priority, where the OS gives it.
    pub real_time: bool,
    /// Not before this wall time, ns since 1970-01-01 UTC.
    pub start_at_unix_ns: Option<i64>,
}

/// What to find out before the first trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibrating {
    /// Step of the counter, ticks.
    pub step_ticks: u32,
    /// Smallest gap that can be a detour at all (100 ns), ticks.
    pub least_ticks: u64,
    /// FWQ: length of a quantum, ticks.
    pub quantum_ticks: Option<u64>,
    /// With real-time priority, where the OS gives it.
    pub real_time: bool,
}

/// One CPU's place.
pub(crate) struct Seat<C> {
    pub(crate) cpu: u32,
    pub(crate) counter: C,
    pub(crate) platform: &'static dyn Platform,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) pinned: bool,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) buffers: Buffers,
}

/// Something, and the real time that it cost.
pub(crate) struct Paid<T> {
    pub(crate) value: T,
    pub(crate) real_time: Duration,
}

impl<C: Counter> Seat<C> {
    /// Pin this thread, and ask once whether it may have real-time priority (given back at once).
    pub(crate) fn settle(&mut self, real_time: bool) -> (Answer, Option<Answer>) {
        let pin = self.platform.pin_thread(self.cpu);
        self.pinned = pin.is_granted();
        let fifo = real_time.then(|| self.platform.set_fifo(FIFO_PRIORITY));
        if fifo.as_ref().is_some_and(Answer::is_granted) {
            self.platform.set_other();
        }
        (pin, fifo)
    }

    /// Find floor and threshold, and the work of a quantum where one is asked for.
    pub(crate) fn calibrate(&mut self, how: Calibrating) -> Paid<Floor> {
        let spell = RealTime::begin(self.platform, how.real_time);
        let floor = calibrate::floor(&self.counter, how.step_ticks, how.least_ticks);
        let ticks_per_unit = calibrate::ticks_per_unit(&self.counter);
        let units_per_quantum =
            how.quantum_ticks.map(|ticks| calibrate::units_for(&self.counter, ticks));
        self.calibration = Some(Calibration { floor, ticks_per_unit, units_per_quantum });
        Paid { value: floor, real_time: spell.end() }
    }

    /// What a raw and a stored reading cost.
    pub(crate) fn judge(
        &mut self,
        real_time: bool,
    ) -> Result<Paid<(ReadCost, StoreCost)>, SessionError> {
        let floor = self.calibration.ok_or(SessionError::NotCalibrated)?.floor;
        let spell = RealTime::begin(self.platform, real_time);
        let read = read_cost(&self.counter, READ_COST_BLOCKS);
        let store = store_cost(&self.counter, floor.threshold_ticks);
        Ok(Paid { value: (read, store), real_time: spell.end() })
    }

    /// Allocate and write the buffers.
    pub(crate) fn reserve(&mut self, sizes: Sizes) -> Result<(), SessionError> {
        let fail = |_| SessionError::Memory { cpu: self.cpu, size_bytes: sizes.bytes() };
        self.buffers.reserve(sizes).map_err(fail)
    }

    /// Use the vector of a trace again.
    pub(crate) fn recycle(&mut self, records: Records) {
        self.buffers.put_back(records);
    }

    /// Take one trace, together with the others of the meeting.
    pub(crate) fn take(
        &mut self,
        spec: &Spec,
        meeting: &Meeting,
    ) -> Result<Paid<Trace>, SessionError> {
        let place = meeting.place();
        let calibration = self.calibration.ok_or(SessionError::NotCalibrated)?;
        self.reserve(spec.sizes)?;
        let mut blocks = self.allocate(spec.memory_state)?;
        self.buffers.touch();
        place.gather().map_err(|_| SessionError::CalledOff)?;
        sleep_until(self.platform, spec.start_at_unix_ns);

        let spell = RealTime::begin(self.platform, spec.real_time);
        let granted = spell.granted;
        let mut bench = Bench {
            counter: &self.counter,
            calibration: &calibration,
            buffers: &mut self.buffers,
            stop: &self.stop,
        };
        bench.warm(&spec.task);
        if let Some(blocks) = &mut blocks {
            blocks.touch();
        }
        wait_for(self.platform, spec.start_at_unix_ns, &self.stop);
        let measured = measure(&mut bench, self.platform, &spec.task, place, self.pinned);
        let cpu_after = self.platform.current_cpu();
        let real_time = spell.end();

        let (outcome, usage) = measured?;
        let trace = bench.trace(outcome);
        let value = Trace { cpu: self.cpu, cpu_after, real_time: granted, usage, ..trace };
        Ok(Paid { value, real_time })
    }

    fn allocate(&self, state: Option<MemoryState>) -> Result<Option<Blocks>, SessionError> {
        let Some(state) = state else { return Ok(None) };
        let fail = SessionError::MemoryState { cpu: self.cpu, name: state.name };
        state.allocate().map(Some).ok_or(fail)
    }
}

/// The measured window, with the thread's usage read right outside it.
fn measure<C: Counter>(
    bench: &mut Bench<'_, C>,
    platform: &dyn Platform,
    task: &Task,
    place: Place<'_>,
    alone: bool,
) -> Result<(Outcome, ThreadUsage), SessionError> {
    let before = platform.thread_usage();
    place.start(alone).map_err(|_| SessionError::CalledOff)?;
    let outcome = bench.run(task);
    Ok((outcome, platform.thread_usage().since(&before)))
}

/// Sleep until just before the wall clock shows `unix_ns`.
fn sleep_until(platform: &dyn Platform, unix_ns: Option<i64>) {
    let left = unix_ns.map(|unix_ns| unix_ns - SPIN_BEFORE_START_NS - platform.unix_ns());
    if let Some(left) = left.and_then(|ns| u64::try_from(ns).ok()) {
        std::thread::sleep(Duration::from_nanos(left));
    }
}

/// Spin until the wall clock shows `unix_ns`, or somebody stops it.
fn wait_for(platform: &dyn Platform, unix_ns: Option<i64>, stop: &AtomicBool) {
    if let Some(unix_ns) = unix_ns {
        while platform.unix_ns() < unix_ns && !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }
}

/// A spell of real-time priority; over when dropped.
struct RealTime {
    platform: &'static dyn Platform,
    granted: bool,
    began: Instant,
}

impl RealTime {
    fn begin(platform: &'static dyn Platform, wanted: bool) -> Self {
        let granted = wanted && platform.set_fifo(FIFO_PRIORITY).is_granted();
        Self { platform, granted, began: Instant::now() }
    }

    /// How long it was; zero if it was not granted.
    fn end(self) -> Duration {
        if self.granted { self.began.elapsed() } else { Duration::ZERO }
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if self.granted {
            self.platform.set_other();
        }
    }
}
