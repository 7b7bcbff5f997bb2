//! System calls about the calling thread: cpuset(2), rtprio_thread(2).

use crate::Answer;
use std::io::Error;

/// The thread that calls, for cpuset(2): id -1.
const THIS: libc::id_t = -1;

/// First-in-first-out real time: PRI_FIFO of sys/priority.h, which libc does not have.
const RTP_PRIO_FIFO: libc::c_ushort = 10;

/// Lowest of the 32 real-time priorities; 0 is the highest (rtprio(2)).
const RTP_LOWEST: u16 = 31;

/// CPUs of the machine, or of the jail.
pub(super) fn root_cpus() -> Option<Vec<u32>> {
    cpus(libc::CPU_LEVEL_ROOT, libc::CPU_WHICH_PID)
}

/// CPUs that this process may run on.
pub(super) fn allowed_cpus() -> Option<Vec<u32>> {
    cpus(libc::CPU_LEVEL_WHICH, libc::CPU_WHICH_TID)
}

fn cpus(level: libc::cpulevel_t, which: libc::cpuwhich_t) -> Option<Vec<u32>> {
    // SAFETY: a cpuset_t is plain integers, for which all zeros is a value.
    let mut set: libc::cpuset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as long as said; the call keeps no pointer.
    let status = unsafe {
        libc::cpuset_getaffinity(level, which, THIS, size_of::<libc::cpuset_t>(), &raw mut set)
    };
    if status != 0 {
        return None;
    }
    // SAFETY: CPU_ISSET reads the set only, within its bounds.
    let has = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    Some((0..set_bits()).filter(has).collect())
}

fn set_bits() -> u32 {
    u32::try_from(size_of::<libc::cpuset_t>() * 8).unwrap_or(u32::MAX)
}

/// Bind this thread to `cpu` and look where it runs then.
pub(super) fn pin(cpu: u32) -> Answer {
    if cpu >= set_bits() {
        return Answer::Refused(format!("there is no CPU {cpu}"));
    }
    // SAFETY: a cpuset_t is plain integers; CPU_SET writes within it, `cpu` was checked; the set is
    // as long as said, and the call keeps no pointer.
    let status = unsafe {
        let mut set: libc::cpuset_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        let size = size_of::<libc::cpuset_t>();
        let (level, which) = (libc::CPU_LEVEL_WHICH, libc::CPU_WHICH_TID);
        libc::cpuset_setaffinity(level, which, THIS, size, &raw const set)
    };
    if status != 0 {
        let error = Error::last_os_error();
        let why = match error.raw_os_error() {
            Some(libc::EDEADLK | libc::EINVAL) => "the CPU is absent or outside this process' set",
            _ => "cpuset_setaffinity(2) failed",
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

/// FIFO at a priority from 1 to 99, spread over the 32 that there are.
pub(super) fn set_fifo(priority: u8) -> Answer {
    if !(1..=99).contains(&priority) {
        return Answer::Refused(format!("FIFO priority {priority} is not within 1 to 99"));
    }
    let level = RTP_LOWEST - u16::from(priority - 1) * RTP_LOWEST / 98;
    match set_class(RTP_PRIO_FIFO, level) {
        Ok(()) => Answer::Granted(format!("RTP_PRIO_FIFO {level} (0 is the highest of 32)")),
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Answer::Refused(
            "needs root, or the mac_priority(4) policy and its group `realtime`".into(),
        ),
        Err(error) => Answer::Refused(format!("rtprio_thread(2) failed: {error}")),
    }
}

/// The time-sharing class.
pub(super) fn set_other() -> Answer {
    match set_class(libc::RTP_PRIO_NORMAL, 0) {
        Ok(()) => Answer::Granted("RTP_PRIO_NORMAL".into()),
        Err(error) => Answer::Refused(format!("rtprio_thread(2) failed: {error}")),
    }
}

fn set_class(class: libc::c_ushort, level: u16) -> Result<(), Error> {
    let mut wanted = libc::rtprio { type_: class, prio: level };
    // SAFETY: `wanted` is valid for the call; 0 means the calling thread.
    match unsafe { libc::rtprio_thread(libc::RTP_SET, 0, &raw mut wanted) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
