//! Mach calls: scheduling policies of this thread, counters of the machine.

use crate::{Answer, CpuTimes};
use libc::{HOST_VM_INFO64, HOST_VM_INFO64_COUNT, KERN_SUCCESS, vm_statistics64};
use mach2::mach_init::{mach_host_self, mach_thread_self};
use mach2::mach_port::mach_port_deallocate;
use mach2::mach_time::{mach_timebase_info, mach_timebase_info_data_t};
use mach2::traps::mach_task_self;
use std::collections::BTreeMap;

/// Computation and constraint of the time-constraint policy, ns: the longest computation that XNU
/// takes (`max_rt_quantum`, 50 ms).
const COMPUTATION_NS: u64 = 50_000_000;

/// Units of the CPU loads, a second: XNU hands them out in ticks of 10 ms.
const LOAD_HZ: u64 = 100;

/// Threads with the same tag share a cache if they can. That is no pinning, and Apple silicon knows
/// no tags at all.
pub(super) fn set_affinity_tag(cpu: u32) -> Answer {
    let tag = i32::try_from(cpu).unwrap_or(i32::MAX).saturating_add(1); // 0 means no tag.
    let mut policy = [tag];
    let hint = match set_policy(libc::THREAD_AFFINITY_POLICY, &mut policy) {
        KERN_SUCCESS => format!("affinity tag {tag} was taken as a hint"),
        code => format!("the hint of an affinity tag was refused (Mach error {code})"),
    };
    Answer::Unsupported(format!("macOS binds no thread to a CPU; {hint}"))
}

/// The real-time class of macOS. A thread that computes much longer than it said is demoted.
pub(super) fn set_time_constraint() -> Answer {
    let Some(length) = absolute_units(COMPUTATION_NS) else {
        return Answer::Refused("mach_timebase_info tells no unit of time".into());
    };
    // period (none), computation, constraint, preemptible: the fields of the policy in their order.
    let mut policy = [0, length, length, 1];
    match set_policy(libc::THREAD_TIME_CONSTRAINT_POLICY, &mut policy) {
        KERN_SUCCESS => Answer::Granted(
            "time-constraint policy, 50 ms of each 50 ms; macOS demotes a thread that spins longer"
                .into(),
        ),
        code => Answer::Refused(format!("time-constraint policy: Mach error {code}")),
    }
}

/// The ordinary class.
pub(super) fn set_standard() -> Answer {
    match set_policy(libc::THREAD_STANDARD_POLICY, &mut []) {
        KERN_SUCCESS => Answer::Granted("standard policy".into()),
        code => Answer::Refused(format!("standard policy: Mach error {code}")),
    }
}

fn set_policy(flavour: libc::c_int, policy: &mut [i32]) -> libc::kern_return_t {
    let count = u32::try_from(policy.len()).unwrap_or(0);
    // SAFETY: the policy is as long as said; the port is ours and given back.
    unsafe {
        let thread = mach_thread_self();
        let flavour = flavour.unsigned_abs();
        let code = libc::thread_policy_set(thread, flavour, policy.as_mut_ptr(), count);
        mach_port_deallocate(mach_task_self(), thread);
        code
    }
}

/// Nanoseconds in units of mach_absolute_time.
fn absolute_units(ns: u64) -> Option<i32> {
    let mut base = mach_timebase_info_data_t { numer: 0, denom: 0 };
    // SAFETY: `base` is valid to write to; the call keeps no pointer.
    if unsafe { mach_timebase_info(&raw mut base) } != KERN_SUCCESS || base.numer == 0 {
        return None;
    }
    i32::try_from(ns.checked_mul(u64::from(base.denom))? / u64::from(base.numer)).ok()
}

/// Pages of the machine, and faults since boot.
pub(super) fn memory() -> Option<vm_statistics64> {
    // SAFETY: plain integers, for which all zeros is a value.
    let mut pages: vm_statistics64 = unsafe { std::mem::zeroed() };
    let mut count = HOST_VM_INFO64_COUNT;
    // SAFETY: the structure has `count` words, and an older kernel fills fewer; the port is ours and
    // given back.
    let code = unsafe {
        let host = mach_host_self();
        let out = (&raw mut pages).cast();
        let code = libc::host_statistics64(host, HOST_VM_INFO64, out, &raw mut count);
        mach_port_deallocate(mach_task_self(), host);
        code
    };
    (code == KERN_SUCCESS).then_some(pages)
}

/// What each CPU did since boot. The counters have 32 bits; one that wraps within the window gives
/// an unknown, as all do that go backwards.
pub(super) fn cpu_times() -> BTreeMap<u32, CpuTimes> {
    let mut cpus = 0;
    let mut words = std::ptr::null_mut();
    let mut word_count = 0;
    // SAFETY: all three are valid to write to; the port is ours and given back.
    let code = unsafe {
        let host = mach_host_self();
        let flavour = libc::PROCESSOR_CPU_LOAD_INFO;
        let code = libc::host_processor_info(
            host,
            flavour,
            &raw mut cpus,
            &raw mut words,
            &raw mut word_count,
        );
        mach_port_deallocate(mach_task_self(), host);
        code
    };
    if code != KERN_SUCCESS || words.is_null() {
        return BTreeMap::new();
    }
    // SAFETY: the kernel allocated `word_count` words for us there; they are given back below.
    let loads = unsafe { std::slice::from_raw_parts(words, word_count as usize) };
    let per_cpu = loads.chunks_exact(libc::CPU_STATE_MAX.unsigned_abs() as usize);
    let times = (0..cpus).zip(per_cpu.map(times_of)).collect();
    // SAFETY: exactly the memory that the kernel allocated above, not used any more.
    unsafe {
        libc::vm_deallocate(mach_task_self(), words as libc::vm_address_t, size_of_val(loads));
    }
    times
}

/// `load` has one count per state, CPU_STATE_MAX of them; user and nice are one here.
fn times_of(load: &[i32]) -> CpuTimes {
    let ticks = |state: libc::c_int| u64::from(load[state.unsigned_abs() as usize].cast_unsigned());
    let ns = |ticks: u64| Some(ticks.saturating_mul(1_000_000_000 / LOAD_HZ));
    CpuTimes {
        user_ns: ns(ticks(libc::CPU_STATE_USER) + ticks(libc::CPU_STATE_NICE)),
        system_ns: ns(ticks(libc::CPU_STATE_SYSTEM)),
        idle_ns: ns(ticks(libc::CPU_STATE_IDLE)),
        ..CpuTimes::default()
    }
}
