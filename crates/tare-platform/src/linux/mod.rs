//! Linux: sched and mlock system calls for what is asked, /proc and /sys for what is told.
//!
//! All reading goes through a [`Tree`], so that tests read a tree of fixtures; all parsers
//! ([`stat`], [`interrupts`], [`cpuinfo`], ...) are pure functions on text.

mod cgroup;
mod cpuinfo;
mod cpus;
#[cfg(test)]
mod fixture;
mod host;
mod interrupts;
mod kernel;
mod snapshot;
mod stat;
#[cfg(test)]
mod tests;
mod thread;
mod tree;

use crate::{Answer, Platform, PlatformError, RtThrottle, Snapshot, ThreadUsage, cpuid, unix};
use std::path::PathBuf;
use tare_record::Host;
use tree::Tree;

/// This OS.
pub type Native = Linux;

/// Linux, seen through the files below one root.
#[derive(Debug, Clone)]
pub struct Linux {
    tree: Tree,
}

impl Linux {
    /// The running system.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/")
    }

    /// The files below `root`; system calls still go to the running kernel.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { tree: Tree::at(root) }
    }
}

impl Default for Linux {
    fn default() -> Self {
        Self::new()
    }
}

impl Platform for Linux {
    fn host(&self) -> Host {
        let told = host::Told { timer_hz: thread::timer_hz(), hypervisor: cpuid::hypervisor() };
        host::read(&self.tree, &told, &self.online_cpus().unwrap_or_default())
    }

    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError> {
        cpus::online(&self.tree).or_else(|| self.allowed_cpus()).ok_or_else(|| {
            PlatformError::Untold {
                what: "which CPUs are online".into(),
                why:
                    "/sys/devices/system/cpu/online holds no list, and sched_getaffinity(2) failed"
                        .into(),
            }
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
        let meminfo = self.tree.text("proc/meminfo").unwrap_or_default();
        let machine = stat::field(&meminfo, "MemAvailable").map(|kib| kib.saturating_mul(1024));
        let group = cgroup::memory_left_bytes(&self.tree);
        machine.into_iter().chain(group).min()
    }

    fn monotonic_ns(&self) -> u64 {
        let now = unix::clock_ns(libc::CLOCK_MONOTONIC);
        now.and_then(|ns| u64::try_from(ns).ok()).expect("every Linux has CLOCK_MONOTONIC")
    }

    fn unix_ns(&self) -> i64 {
        unix::clock_ns(libc::CLOCK_REALTIME).expect("every Linux has CLOCK_REALTIME")
    }

    fn snapshot(&self) -> Snapshot {
        snapshot::read(&self.tree, self.monotonic_ns(), thread::clock_ticks_hz())
    }

    fn rt_throttle(&self) -> Option<RtThrottle> {
        Some(RtThrottle {
            runtime_us: self.tree.number("proc/sys/kernel/sched_rt_runtime_us")?,
            period_us: self.tree.number("proc/sys/kernel/sched_rt_period_us")?,
        })
    }
}
