//! FreeBSD: cpuset, rtprio and mlock system calls for what is asked, sysctl for what is told.
//! Needs FreeBSD 13.1.

mod host;
mod snapshot;
mod thread;

use crate::{Answer, Platform, PlatformError, RtThrottle, Snapshot, ThreadUsage, sysctl, unix};
use tare_record::Host;

/// This OS.
pub type Native = FreeBsd;

/// FreeBSD.
#[derive(Debug, Clone, Copy, Default)]
pub struct FreeBsd;

impl FreeBsd {
    /// The running system.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Platform for FreeBsd {
    fn host(&self) -> Host {
        host::read(&self.online_cpus().unwrap_or_default())
    }

    /// FreeBSD takes no CPU offline while it runs: those of the root set are all there are.
    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError> {
        thread::root_cpus().ok_or_else(|| PlatformError::Untold {
            what: "which CPUs are online".into(),
            why: format!("cpuset_getaffinity(2) failed: {}", std::io::Error::last_os_error()),
        })
    }

    fn allowed_cpus(&self) -> Option<Vec<u32>> {
        thread::allowed_cpus()
    }

    fn pin_thread(&self, cpu: u32) -> Answer {
        thread::pin(cpu)
    }

    fn set_fifo(&self, priority: u8) -> Answer {
        thread::set_fifo(priority)
    }

    fn set_other(&self) -> Answer {
        thread::set_other()
    }

    fn lock_memory(&self) -> Answer {
        unix::lock_memory()
    }

    fn current_cpu(&self) -> Option<u32> {
        thread::current_cpu()
    }

    fn thread_usage(&self) -> ThreadUsage {
        unix::thread_usage()
    }

    fn memory_available_bytes(&self) -> Option<u64> {
        let pages = |name: &str| sysctl::count(&format!("vm.stats.vm.{name}"));
        let free = pages("v_free_count")? + pages("v_inactive_count")?;
        Some(free.saturating_mul(sysctl::count("hw.pagesize")?))
    }

    fn monotonic_ns(&self) -> u64 {
        let now = unix::clock_ns(libc::CLOCK_MONOTONIC);
        now.and_then(|ns| u64::try_from(ns).ok()).expect("every FreeBSD has CLOCK_MONOTONIC")
    }

    fn unix_ns(&self) -> i64 {
        unix::clock_ns(libc::CLOCK_REALTIME).expect("every FreeBSD has CLOCK_REALTIME")
    }

    fn snapshot(&self) -> Snapshot {
        snapshot::read(self.monotonic_ns())
    }

    /// FreeBSD has no such limit.
    fn rt_throttle(&self) -> Option<RtThrottle> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_machine_answers() {
        let freebsd = FreeBsd::new();
        let online = freebsd.online_cpus().expect("told");
        assert_eq!(freebsd.host().topology.len(), online.len());
        assert!(freebsd.allowed_cpus().is_some_and(|allowed| !allowed.is_empty()));
        assert!(freebsd.memory_available_bytes().is_some_and(|bytes| bytes > 0));
        let before = freebsd.snapshot();
        assert!(freebsd.snapshot().since(&before).conditions.context_switches.is_some());
    }
}
