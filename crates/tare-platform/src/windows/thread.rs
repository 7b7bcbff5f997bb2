//! Calls about the calling thread: affinity, priority, CPU time.

use super::cpus;
use crate::Answer;
use std::io::Error;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentProcessorNumberEx, GetCurrentThread, GetPriorityClass,
    GetThreadPriority, GetThreadTimes, NORMAL_PRIORITY_CLASS, REALTIME_PRIORITY_CLASS,
    SetPriorityClass, SetThreadGroupAffinity, SetThreadPriority, THREAD_PRIORITY_NORMAL,
    THREAD_PRIORITY_TIME_CRITICAL,
};

/// Bind this thread to `cpu` and look where it runs then.
pub(super) fn pin(cpu: u32) -> Answer {
    let Some((group, within)) = cpus::place_in_group(cpu) else {
        return Answer::Refused(format!("there is no CPU {cpu}"));
    };
    let wanted = GROUP_AFFINITY { Mask: 1 << within, Group: group, Reserved: [0; 3] };
    // SAFETY: `wanted` is valid for the call; the old affinity is not asked for.
    let set = unsafe {
        SetThreadGroupAffinity(GetCurrentThread(), &raw const wanted, std::ptr::null_mut())
    };
    if set == 0 {
        let error = Error::last_os_error();
        return Answer::Refused(format!("CPU {cpu}: SetThreadGroupAffinity failed: {error}"));
    }
    match current_cpu() {
        Some(now) if now == cpu => Answer::Granted(format!("CPU {cpu}, seen to run there")),
        Some(now) => {
            Answer::Refused(format!("Windows said yes to CPU {cpu}, but runs it on CPU {now}"))
        }
        None => Answer::Granted(format!("CPU {cpu}; Windows does not tell where it runs")),
    }
}

/// The CPU that this thread runs on.
pub(super) fn current_cpu() -> Option<u32> {
    let mut number = PROCESSOR_NUMBER { Group: 0, Number: 0, Reserved: 0 };
    // SAFETY: `number` is valid to write to; the call cannot fail.
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    Some(cpus::number(number.Group, u32::from(number.Number)))
}

/// The first CPU of the group that this thread runs in.
pub(super) fn current_group_start() -> Option<u32> {
    let (group, _) = cpus::place_in_group(current_cpu()?)?;
    Some(cpus::number(group, 0))
}

/// Time-critical in the real-time class of the process, or in the class that Windows grants instead:
/// without the right to raise priorities it says yes and gives the high class.
pub(super) fn set_time_critical() -> Answer {
    // SAFETY: the handles are constants for this process and thread; no memory is passed.
    let (set, class, priority) = unsafe {
        SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS);
        let set = SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
        let class = GetPriorityClass(GetCurrentProcess());
        (set, class, GetThreadPriority(GetCurrentThread()))
    };
    if set == 0 || priority != THREAD_PRIORITY_TIME_CRITICAL {
        let error = Error::last_os_error();
        return Answer::Refused(format!("time-critical priority, class {class:#x}: {error}"));
    }
    if class == REALTIME_PRIORITY_CLASS {
        return Answer::Granted("time-critical in the real-time class (priority 31)".into());
    }
    Answer::Granted(format!(
        "time-critical (priority 15), in class {class:#x}; the real-time class needs the right to \
         increase scheduling priority (run as administrator)"
    ))
}

/// Normal priority, in the normal class, which all threads of this process share.
pub(super) fn set_normal() -> Answer {
    // SAFETY: the handles are constants for this process and thread; no memory is passed.
    let set = unsafe {
        SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL) != 0
            && SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS) != 0
    };
    if set {
        return Answer::Granted("normal priority in the normal class".into());
    }
    Answer::Refused(format!("normal priority: {}", Error::last_os_error()))
}

/// CPU time of this thread, kernel and user, ns. Windows counts it by clock ticks of about 16 ms.
pub(super) fn cpu_time_ns() -> Option<u64> {
    let zero = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let (mut created, mut exited, mut kernel, mut user) = (zero, zero, zero, zero);
    // SAFETY: all four are valid to write to; the call keeps no pointer.
    let told = unsafe {
        let thread = GetCurrentThread();
        let (created, exited) = (&raw mut created, &raw mut exited);
        GetThreadTimes(thread, created, exited, &raw mut kernel, &raw mut user)
    };
    let units =
        |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    (told != 0).then(|| (units(kernel) + units(user)).saturating_mul(super::snapshot::UNIT_NS))
}
