//! System calls about the calling thread and this process: each answer is read back where the
//! kernel lets it be, because some compatibility layers say yes and do nothing.

use crate::{Answer, cpulist, unix};
use std::io::Error;

/// Bits in one word of a CPU mask.
const WORD_BITS: usize = u64::BITS as usize;

/// Words of a mask that holds every CPU number of [`cpulist::MAX_CPU`]; the kernel asks for one at
/// least as long as its own, up to 8192 CPUs (CONFIG_NR_CPUS), and takes longer ones.
const MASK_WORDS: usize = (cpulist::MAX_CPU as usize + 1) / WORD_BITS;

/// The kernel's timer frequency: its coarse clocks advance once a tick and say so. `None` where
/// their resolution is no tick, as under compatibility layers.
pub(super) fn timer_hz() -> Option<u32> {
    /// Linux can be built with ticks of 1/24 s to 1/1200 s (kernel/Kconfig.hz and the architectures').
    const PLAUSIBLE_HZ: std::ops::RangeInclusive<u32> = 24..=1200;
    let mut step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `step` is a valid timespec to write to; the call keeps no pointer.
    let status = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut step) };
    let step_ns = u32::try_from(step.tv_nsec).ok().filter(|ns| *ns > 0 && status == 0)?;
    let hertz = (1_000_000_000 + step_ns / 2) / step_ns;
    Some(hertz).filter(|hertz| step.tv_sec == 0 && PLAUSIBLE_HZ.contains(hertz))
}

/// Units of the times in /proc, a second.
pub(super) fn clock_ticks_hz() -> Option<u32> {
    // SAFETY: takes a number and touches no memory of ours.
    u32::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|hertz| *hertz > 0)
}

/// CPUs of this process' affinity mask, which the cpuset bounds.
pub(super) fn allowed_cpus() -> Option<Vec<u32>> {
    let mut mask = vec![0_u64; MASK_WORDS];
    // SAFETY: the mask is as long as said and outlives the call.
    let status = unsafe {
        libc::sched_getaffinity(0, size_of_val(mask.as_slice()), mask.as_mut_ptr().cast())
    };
    if status != 0 {
        return None;
    }
    let is_set = |&cpu: &u32| mask[cpu as usize / WORD_BITS] >> (cpu as usize % WORD_BITS) & 1 == 1;
    Some((0..=cpulist::MAX_CPU).filter(is_set).collect())
}

/// Bind this thread to `cpu` and look where it runs then.
pub(super) fn pin(cpu: u32) -> Answer {
    if cpu > cpulist::MAX_CPU {
        return Answer::Refused(format!("there is no CPU {cpu}"));
    }
    let mut mask = vec![0_u64; MASK_WORDS];
    mask[cpu as usize / WORD_BITS] = 1 << (cpu as usize % WORD_BITS);
    // SAFETY: the mask is as long as said and outlives the call; 0 means the calling thread.
    let status =
        unsafe { libc::sched_setaffinity(0, size_of_val(mask.as_slice()), mask.as_ptr().cast()) };
    if status != 0 {
        let error = Error::last_os_error();
        let why = match error.raw_os_error() {
            Some(libc::EINVAL) => "the CPU is absent, offline or outside this process' cpuset",
            Some(libc::EPERM) => "needs CAP_SYS_NICE",
            _ => "sched_setaffinity(2) failed",
        };
        return Answer::Refused(format!("CPU {cpu}: {why} ({error})"));
    }
    match current_cpu() {
        Some(now) if now == cpu => Answer::Granted(format!("CPU {cpu}, seen to run there")),
        Some(now) => {
            Answer::Refused(format!("the kernel said yes to CPU {cpu}, but runs it on CPU {now}"))
        }
        None => Answer::Granted(format!("CPU {cpu}; the kernel does not tell where it runs")),
    }
}

/// The CPU that this thread runs on.
pub(super) fn current_cpu() -> Option<u32> {
    // SAFETY: takes no argument and touches no memory of ours.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// SCHED_FIFO at `priority`. The priorities of sched(7) are 1 to 99.
pub(super) fn set_fifo(priority: u8) -> Answer {
    if !(1..=99).contains(&priority) {
        return Answer::Refused(format!("FIFO priority {priority} is not within 1 to 99"));
    }
    let answer = set_scheduler(libc::SCHED_FIFO, i32::from(priority));
    match answer {
        Ok(()) => Answer::Granted(format!("SCHED_FIFO {priority}")),
        Err(Failure::Call(error)) if error.raw_os_error() == Some(libc::EPERM) => {
            Answer::Refused(format!(
                "needs root, CAP_SYS_NICE or `ulimit -r {priority}` (now {}); a real-time share of 0 in \
                 this thread's cgroup refuses too",
                unix::soft_limit(libc::RLIMIT_RTPRIO)
                    .map_or_else(|| "unknown".into(), |limit| limit.to_string()),
            ))
        }
        Err(failure) => Answer::Refused(format!("SCHED_FIFO {priority}: {failure}")),
    }
}

/// SCHED_OTHER.
pub(super) fn set_other() -> Answer {
    match set_scheduler(libc::SCHED_OTHER, 0) {
        Ok(()) => Answer::Granted("SCHED_OTHER".into()),
        Err(failure) => Answer::Refused(format!("SCHED_OTHER: {failure}")),
    }
}

/// Why a scheduling class was not set.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("sched_setscheduler(2) failed: {0}")]
    Call(Error),
    #[error("the kernel said yes, but keeps policy {0}")]
    Ignored(libc::c_long),
}

/// Set the class and read it back. By system call, because musl's wrapper always fails (POSIX means
/// whole processes by it, Linux threads).
fn set_scheduler(policy: libc::c_int, priority: libc::c_int) -> Result<(), Failure> {
    let parameter = SchedParam { priority };
    // SAFETY: `parameter` is the kernel's struct sched_param (one int) and outlives the call; 0
    // means the calling thread.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) };
    if status != 0 {
        return Err(Failure::Call(Error::last_os_error()));
    }
    // SAFETY: no pointer is passed; 0 means the calling thread.
    let now = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    if now == libc::c_long::from(policy) { Ok(()) } else { Err(Failure::Ignored(now)) }
}

/// The kernel's `struct sched_param`; musl's own has more fields.
#[repr(C)]
struct SchedParam {
    priority: libc::c_int,
}
