//! macOS: Mach calls for threads and counters, sysctl for facts.
//!
//! macOS binds no thread to a CPU, locks no process into memory and counts neither faults nor
//! switches per thread; each of these is answered as what it is. Needs macOS 11.

mod host;
mod mach;

use crate::{Answer, Platform, PlatformError, RtThrottle, Snapshot, ThreadUsage, sysctl, unix};
use tare_record::Host;

/// This OS.
pub type Native = MacOs;

/// macOS.
#[derive(Debug, Clone, Copy, Default)]
pub struct MacOs;

impl MacOs {
    /// The running system.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Platform for MacOs {
    fn host(&self) -> Host {
        host::read(&self.online_cpus().unwrap_or_default())
    }

    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError> {
        let count = sysctl::number("hw.activecpu").or_else(|| sysctl::number("hw.logicalcpu"));
        let count = count.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.map(|count| (0..count).collect()).ok_or_else(|| PlatformError::Untold {
            what: "which CPUs are online".into(),
            why: "sysctl knows neither hw.activecpu nor hw.logicalcpu".into(),
        })
    }

    fn allowed_cpus(&self) -> Option<Vec<u32>> {
        None
    }

    fn pin_thread(&self, cpu: u32) -> Answer {
        mach::set_affinity_tag(cpu)
    }

    fn set_fifo(&self, _priority: u8) -> Answer {
        mach::set_time_constraint()
    }

    fn set_other(&self) -> Answer {
        mach::set_standard()
    }

    fn lock_memory(&self) -> Answer {
        Answer::Unsupported(
            "macOS has no mlockall; pages that are not in use may be compressed".into(),
        )
    }

    fn current_cpu(&self) -> Option<u32> {
        let mut cpu: libc::size_t = 0;
        // SAFETY: `cpu` is valid to write to; the call keeps no pointer.
        let status = unsafe { libc::pthread_cpu_number_np(&raw mut cpu) };
        u32::try_from(cpu).ok().filter(|_| status == 0)
    }

    fn thread_usage(&self) -> ThreadUsage {
        ThreadUsage { cpu_time_ns: unix::thread_cpu_time_ns(), ..ThreadUsage::default() }
    }

    fn memory_available_bytes(&self) -> Option<u64> {
        let pages = mach::memory()?;
        let page_bytes = sysctl::count("hw.pagesize")?;
        let free = u64::from(pages.free_count) + u64::from(pages.inactive_count);
        Some((free + u64::from(pages.purgeable_count)).saturating_mul(page_bytes))
    }

    /// CLOCK_UPTIME_RAW is mach_absolute_time() in ns (clock_gettime(3)).
    fn monotonic_ns(&self) -> u64 {
        let now = unix::clock_ns(libc::CLOCK_UPTIME_RAW);
        now.and_then(|ns| u64::try_from(ns).ok()).expect("every macOS has CLOCK_UPTIME_RAW")
    }

    fn unix_ns(&self) -> i64 {
        unix::clock_ns(libc::CLOCK_REALTIME).expect("every macOS has CLOCK_REALTIME")
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            monotonic_ns: self.monotonic_ns(),
            load_1min: unix::load_1min(),
            page_faults: mach::memory().map(|pages| pages.faults),
            cpu_times: mach::cpu_times(),
            ..Snapshot::default()
        }
    }

    /// macOS has no such limit; it demotes single threads instead, and does not tell.
    fn rt_throttle(&self) -> Option<RtThrottle> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_machine_answers() {
        let macos = MacOs::new();
        let online = macos.online_cpus().expect("told");
        assert_eq!(macos.host().topology.len(), online.len());
        assert_eq!(macos.snapshot().cpu_times.len(), online.len());
        assert!(macos.memory_available_bytes().is_some_and(|bytes| bytes > 0));
        assert!(matches!(macos.pin_thread(0), Answer::Unsupported(_)));
    }
}
