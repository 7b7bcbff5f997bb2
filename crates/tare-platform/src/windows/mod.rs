//! Windows: thread and process calls for what is asked; the registry, the native API and the
//! processor topology for what is told. Runs under Wine too, which `host().container` names.
//!
//! Windows numbers CPUs within groups of up to 64; here they are numbered through, group by group.
//! It counts neither faults nor switches per thread, nor load: `None`.

mod cpus;
mod host;
mod registry;
mod snapshot;
mod thread;

use crate::{Answer, Platform, PlatformError, RtThrottle, Snapshot, ThreadUsage};
use std::time::{SystemTime, UNIX_EPOCH};
use tare_record::Host;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

/// This OS.
pub type Native = Windows;

/// Windows.
#[derive(Debug, Clone, Copy)]
pub struct Windows {
    /// Units of the performance counter, a second; fixed at boot.
    counter_hz: u64,
}

impl Windows {
    /// The running system.
    #[must_use]
    pub fn new() -> Self {
        let mut hertz = 0;
        // SAFETY: `hertz` is valid to write to; the call cannot fail since Windows XP.
        unsafe { QueryPerformanceFrequency(&raw mut hertz) };
        Self { counter_hz: u64::try_from(hertz).unwrap_or(1).max(1) }
    }
}

impl Default for Windows {
    fn default() -> Self {
        Self::new()
    }
}

impl Platform for Windows {
    fn host(&self) -> Host {
        host::read()
    }

    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError> {
        let cpus: Vec<u32> = (0..cpus::count()).collect();
        if cpus.is_empty() {
            let why = "GetActiveProcessorCount says 0".into();
            return Err(PlatformError::Untold { what: "which CPUs are online".into(), why });
        }
        Ok(cpus)
    }

    fn allowed_cpus(&self) -> Option<Vec<u32>> {
        cpus::allowed()
    }

    fn pin_thread(&self, cpu: u32) -> Answer {
        thread::pin(cpu)
    }

    fn set_fifo(&self, _priority: u8) -> Answer {
        thread::set_time_critical()
    }

    fn set_other(&self) -> Answer {
        thread::set_normal()
    }

    fn lock_memory(&self) -> Answer {
        Answer::Unsupported(
            "Windows locks ranges (VirtualLock) within a quota, not a process with all that it \
             will have"
                .into(),
        )
    }

    fn current_cpu(&self) -> Option<u32> {
        thread::current_cpu()
    }

    fn thread_usage(&self) -> ThreadUsage {
        ThreadUsage { cpu_time_ns: thread::cpu_time_ns(), ..ThreadUsage::default() }
    }

    fn memory_available_bytes(&self) -> Option<u64> {
        host::memory().map(|memory| memory.ullAvailPhys)
    }

    fn monotonic_ns(&self) -> u64 {
        let mut count = 0;
        // SAFETY: `count` is valid to write to; the call cannot fail since Windows XP.
        unsafe { QueryPerformanceCounter(&raw mut count) };
        let ns = u128::from(count.unsigned_abs()) * 1_000_000_000 / u128::from(self.counter_hz);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    fn unix_ns(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let ns = since.map_or_else(
            |before| -i128::from(u64::try_from(before.duration().as_nanos()).unwrap_or(u64::MAX)),
            |after| i128::from(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)),
        );
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            monotonic_ns: self.monotonic_ns(),
            cpu_times: snapshot::cpu_times(),
            ..Snapshot::default()
        }
    }

    /// Windows has no such limit.
    fn rt_throttle(&self) -> Option<RtThrottle> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, which takes its affinity and priority with it.
    fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().expect("no panic"))
    }

    #[test]
    fn the_running_machine_answers() {
        let windows = Windows::new();
        let online = windows.online_cpus().expect("told");
        let host = windows.host();
        assert_eq!(host.topology.len(), online.len());
        assert!(host.topology.iter().all(|place| place.core.is_some()), "{host:#?}");
        assert!(host.cpu_model.is_some() && host.kernel.is_some() && host.container.is_some());
        assert!(windows.memory_available_bytes().is_some_and(|bytes| bytes > 0));
        let allowed = windows.allowed_cpus().expect("told");
        assert!(allowed.iter().all(|cpu| online.contains(cpu)), "{allowed:?} {online:?}");
        let clock = windows.monotonic_ns();
        assert!(windows.unix_ns() > 1_700_000_000_000_000_000);
        assert!(windows.monotonic_ns() >= clock);
    }

    #[test]
    fn a_thread_is_pinned_to_each_allowed_cpu_and_an_absent_one_is_refused() {
        let windows = Windows::new();
        apart(|| {
            for cpu in windows.allowed_cpus().expect("told") {
                let answer = windows.pin_thread(cpu);
                assert!(answer.is_granted(), "{answer:?}");
                assert_eq!(windows.current_cpu(), Some(cpu));
            }
            let answer = windows.pin_thread(cpus::count());
            assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
        });
    }

    #[test]
    fn priorities_are_granted_with_their_names() {
        let windows = Windows::new();
        apart(|| {
            let answer = windows.set_fifo(1);
            assert!(answer.detail().contains("class"), "{answer:?}");
            assert!(windows.set_other().is_granted());
        });
    }
}
