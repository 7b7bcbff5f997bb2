//! Linux: sched and mlock system calls for what is asked, /proc and /sys for what is told.
//!
//! All reading goes through a [`Tree`], so that tests read a tree of fixtures; all parsers
//! ([`stat`], [`interrupts`], [`cpuinfo`], ...) are pure functions on text.

mod thread;
mod tree;

use crate::{Answer, Platform, PlatformError, RtThrottle, Snapshot, ThreadUsage, cpulist};
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
        Host {
            os: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            ..Host::default()
        }
    }

    fn online_cpus(&self) -> Result<Vec<u32>, PlatformError> {
        let path = "sys/devices/system/cpu/online";
        let listed = self.tree.line(path).and_then(|line| cpulist::parse(&line));
        listed.filter(|cpus| !cpus.is_empty()).or_else(|| self.allowed_cpus()).ok_or_else(|| {
            PlatformError::Untold {
                what: "which CPUs are online".into(),
                why: format!("/{path} holds no list, and sched_getaffinity(2) failed"),
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
        thread::lock_memory()
    }

    fn current_cpu(&self) -> Option<u32> {
        thread::current_cpu()
    }

    fn thread_usage(&self) -> ThreadUsage {
        thread::usage()
    }

    fn memory_available_bytes(&self) -> Option<u64> {
        None
    }

    fn monotonic_ns(&self) -> u64 {
        thread::clock_ns(libc::CLOCK_MONOTONIC).map_or(0, |ns| ns.unsigned_abs())
    }

    fn unix_ns(&self) -> i64 {
        thread::clock_ns(libc::CLOCK_REALTIME).unwrap_or(0)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { monotonic_ns: self.monotonic_ns(), ..Snapshot::default() }
    }

    fn rt_throttle(&self) -> Option<RtThrottle> {
        Some(RtThrottle {
            runtime_us: self.tree.number("proc/sys/kernel/sched_rt_runtime_us")?,
            period_us: self.tree.number("proc/sys/kernel/sched_rt_period_us")?,
        })
    }
}
