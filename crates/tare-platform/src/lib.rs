//! What an operating system lets a measurement do, and what it tells about itself.
//!
//! Answers: on which CPUs may this process run, will the OS pin this thread, give it a real-time
//! priority, keep its memory in RAM; what machine is this ([`tare_record::Host`]); what else went on
//! meanwhile ([`Snapshot`], [`Window`]). Does not answer: what time it is to a nanosecond
//! (tare-clock), what the noise is (tare-noise), what it all means (Python).
//!
//! Place on the way of the data: the first step of *measure*; everything that tare asks of an OS
//! passes through [`Platform`], so a test can put a [`fake::FakePlatform`] in its place.
//!
//! One folder per OS with the same signatures, chosen here and nowhere else. What an OS does not
//! tell is `None`; what it cannot do is [`Answer::Unsupported`]; a zero is always a measured zero.

mod answer;
mod counters;
#[cfg(not(target_os = "freebsd"))]
mod cpuid;
pub mod cpulist;
pub mod fake;
mod rows;
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod sysctl;
#[cfg(unix)]
#[allow(clippy::disallowed_methods, reason = "this is the room that asks the OS")]
mod unix;

#[allow(clippy::disallowed_methods, reason = "this is the room that asks the OS")]
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(target_os = "macos", path = "macos/mod.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd/mod.rs")]
#[cfg_attr(target_os = "windows", path = "windows/mod.rs")]
mod os;

pub use answer::{Answer, PlatformError};
pub use counters::{
    CpuTimes, CpuTimesRow, InterruptLine, InterruptRow, Snapshot, SoftirqRow, Window,
};
pub use os::Native;

use std::sync::LazyLock;

/// Everything that tare asks of an operating system.
///
/// Methods that speak of "this thread" concern the calling thread and nothing else.
pub trait Platform: Send + Sync {
    /// What the machine is. Never fails: what the OS does not tell is `None`.
    fn host(&self) -> tare_record::Host;

    /// CPUs that the OS schedules on, ascending.
    ///
    /// # Errors
    /// [`PlatformError::Untold`] when the OS does not say; name the CPUs by hand then.
    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError>;

    /// CPUs that this process may run on (affinity, cpuset), ascending; `None` where the OS has no
    /// such limit or does not tell.
    fn allowed_cpus(&self) -> Option<Vec<u32>>;

    /// Bind this thread to one CPU, and see that it runs there.
    fn pin_thread(&self, cpu: u32) -> Answer;

    /// Give this thread the OS's first-in-first-out class at `priority` (1 to 99; 1 is already above
    /// every ordinary thread). Where the OS knows another real-time class, `detail` names it.
    fn set_fifo(&self, priority: u8) -> Answer;

    /// Put this thread back into the ordinary class.
    fn set_other(&self) -> Answer;

    /// Keep the pages that this process has now in RAM. Reserve and touch buffers before: those to
    /// come are not locked, because a finite limit would make their allocation fail.
    fn lock_memory(&self) -> Answer;

    /// The CPU that this thread runs on at the moment.
    fn current_cpu(&self) -> Option<u32>;

    /// What this thread has used since it began.
    fn thread_usage(&self) -> ThreadUsage;

    /// RAM that can be taken without swapping, bytes; the limit of a cgroup or job counts too.
    fn memory_available_bytes(&self) -> Option<u64>;

    /// The OS's monotonic clock, ns since some instant before now; does not count suspended time
    /// where the OS offers such a clock.
    fn monotonic_ns(&self) -> u64;

    /// Wall time, ns since 1970-01-01 UTC.
    fn unix_ns(&self) -> i64;

    /// Counters of the whole machine, to subtract from a later reading ([`Snapshot::since`]).
    fn snapshot(&self) -> Snapshot;

    /// The limit that the OS sets to real-time threads, where it has one.
    fn rt_throttle(&self) -> Option<RtThrottle>;
}

/// What one thread has used since it began. `None`: the OS does not tell it per thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Page faults without I/O.
    pub page_faults_minor: Option<u64>,
    /// Page faults with I/O.
    pub page_faults_major: Option<u64>,
    /// Context switches that the thread asked for by waiting.
    pub switches_voluntary: Option<u64>,
    /// Context switches forced upon it.
    pub switches_involuntary: Option<u64>,
    /// CPU time, ns.
    pub cpu_time_ns: Option<u64>,
}

impl ThreadUsage {
    /// What was used between `before` and `self`. A counter that went backwards gives `None`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        use counters::difference;
        Self {
            page_faults_minor: difference(self.page_faults_minor, before.page_faults_minor),
            page_faults_major: difference(self.page_faults_major, before.page_faults_major),
            switches_voluntary: difference(self.switches_voluntary, before.switches_voluntary),
            switches_involuntary: difference(
                self.switches_involuntary,
                before.switches_involuntary,
            ),
            cpu_time_ns: difference(self.cpu_time_ns, before.cpu_time_ns),
        }
    }
}

/// How much of each period real-time threads may run before the OS takes the CPU from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RtThrottle {
    /// Runtime in each period, microseconds; -1 is unlimited.
    pub runtime_us: i64,
    /// Period, microseconds.
    pub period_us: u64,
}

impl RtThrottle {
    /// Longest spell that a real-time thread can spin before it is thrown off its CPU, ns; `None`
    /// without a limit. (sched(7): `sched_rt_runtime_us` of each `sched_rt_period_us`.)
    #[must_use]
    pub fn longest_spin_ns(&self) -> Option<u64> {
        let runtime_us = u64::try_from(self.runtime_us).ok()?;
        (runtime_us < self.period_us).then(|| runtime_us.saturating_mul(1000))
    }
}

/// The operating system that this program runs on.
#[must_use]
pub fn native() -> &'static dyn Platform {
    static NATIVE: LazyLock<Native> = LazyLock::new(Native::new);
    &*NATIVE
}
