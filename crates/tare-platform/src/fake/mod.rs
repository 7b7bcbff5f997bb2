//! A platform whose answers the test sets, for the tests of everything that asks an OS.
//!
//! Nothing happens to the real machine: pinning only remembers the CPU. The clock is a number that
//! the test moves with [`FakePlatform::advance`].

use crate::{Answer, Platform, PlatformError, RtThrottle, Snapshot, ThreadUsage};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tare_record::Host;

/// Every answer is a public field; change what the test is about.
#[derive(Debug)]
pub struct FakePlatform {
    /// Answer of `host`.
    pub host: Host,
    /// Answer of `online_cpus`.
    pub online_cpus: Result<Vec<u32>, PlatformError>,
    /// Answer of `allowed_cpus`; pinning elsewhere is refused.
    pub allowed_cpus: Option<Vec<u32>>,
    /// Answer of `set_fifo`.
    pub fifo: Answer,
    /// Answer of `set_other`.
    pub other: Answer,
    /// Answer of `lock_memory`.
    pub lock_memory: Answer,
    /// Answer of `memory_available_bytes`.
    pub memory_available_bytes: Option<u64>,
    /// Answer of `rt_throttle`.
    pub rt_throttle: Option<RtThrottle>,
    /// Answers of `thread_usage`, the first first; the last one stays.
    pub thread_usages: Mutex<Vec<ThreadUsage>>,
    /// Answers of `snapshot`, the first first; the last one stays. The clock is filled in.
    pub snapshots: Mutex<Vec<Snapshot>>,
    pinned_to: Mutex<Option<u32>>,
    monotonic_ns: AtomicU64,
    unix_ns: AtomicI64,
}

impl FakePlatform {
    /// A machine with this many CPUs that grants everything, and tells little about itself.
    #[must_use]
    pub fn with_cpus(count: u32) -> Self {
        let cpus: Vec<u32> = (0..count).collect();
        let host = Host {
            os: "fake".into(),
            architecture: "fake".into(),
            cpus_online: Some(crate::cpulist::format(&cpus)),
            ..Host::default()
        };
        Self {
            host,
            online_cpus: Ok(cpus.clone()),
            allowed_cpus: Some(cpus),
            fifo: Answer::Granted("fake FIFO".into()),
            other: Answer::Granted("fake ordinary class".into()),
            lock_memory: Answer::Granted("fake lock".into()),
            memory_available_bytes: Some(1 << 30),
            rt_throttle: None,
            thread_usages: Mutex::new(Vec::new()),
            snapshots: Mutex::new(Vec::new()),
            pinned_to: Mutex::new(None),
            monotonic_ns: AtomicU64::new(1_000_000_000),
            unix_ns: AtomicI64::new(1_700_000_000_000_000_000),
        }
    }

    /// Let both clocks go on by `ns`.
    pub fn advance(&self, ns: u32) {
        self.monotonic_ns.fetch_add(u64::from(ns), Ordering::SeqCst);
        self.unix_ns.fetch_add(i64::from(ns), Ordering::SeqCst);
    }
}

/// The next prepared answer; the last one again and again.
fn next<T: Clone + Default>(prepared: &Mutex<Vec<T>>) -> T {
    let mut prepared = prepared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if prepared.len() > 1 {
        prepared.remove(0)
    } else {
        prepared.first().cloned().unwrap_or_default()
    }
}

impl Platform for FakePlatform {
    fn host(&self) -> Host {
        self.host.clone()
    }

    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError> {
        self.online_cpus.clone()
    }

    fn allowed_cpus(&self) -> Option<Vec<u32>> {
        self.allowed_cpus.clone()
    }

    fn pin_thread(&self, cpu: u32) -> Answer {
        if self.allowed_cpus.as_ref().is_some_and(|allowed| !allowed.contains(&cpu)) {
            return Answer::Refused(format!("CPU {cpu} is not among those allowed"));
        }
        *self.pinned_to.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(cpu);
        Answer::Granted(format!("CPU {cpu}"))
    }

    fn set_fifo(&self, _priority: u8) -> Answer {
        self.fifo.clone()
    }

    fn set_other(&self) -> Answer {
        self.other.clone()
    }

    fn lock_memory(&self) -> Answer {
        self.lock_memory.clone()
    }

    fn current_cpu(&self) -> Option<u32> {
        *self.pinned_to.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn thread_usage(&self) -> ThreadUsage {
        next(&self.thread_usages)
    }

    fn memory_available_bytes(&self) -> Option<u64> {
        self.memory_available_bytes
    }

    fn monotonic_ns(&self) -> u64 {
        self.monotonic_ns.load(Ordering::SeqCst)
    }

    fn unix_ns(&self) -> i64 {
        self.unix_ns.load(Ordering::SeqCst)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { monotonic_ns: self.monotonic_ns(), ..next(&self.snapshots) }
    }

    fn rt_throttle(&self) -> Option<RtThrottle> {
        self.rt_throttle
    }
}
