//! Counters of the machine.

use super::cpus;
use crate::CpuTimes;
use std::collections::BTreeMap;
use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SystemProcessorPerformanceInformation,
};
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION;

/// Units of all times of Windows, ns.
pub(super) const UNIT_NS: u64 = 100;

/// What each CPU of this thread's group did since boot; Windows tells no other group. Time in
/// interrupts is not documented, so it is not told; steal is not kept.
pub(super) fn cpu_times() -> BTreeMap<u32, CpuTimes> {
    const GROUP: usize = 64;
    let empty = SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION::default();
    let mut records = vec![empty; GROUP];
    let mut written = 0;
    let size = u32::try_from(size_of_val(records.as_slice())).unwrap_or(0);
    // SAFETY: the records are as long as said; the call writes no more and says how much.
    let status = unsafe {
        let class = SystemProcessorPerformanceInformation;
        NtQuerySystemInformation(class, records.as_mut_ptr().cast(), size, &raw mut written)
    };
    if status < 0 {
        return BTreeMap::new();
    }
    records.truncate(written as usize / size_of::<SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION>());
    let first = super::thread::current_group_start().unwrap_or(0);
    let inside = |cpu: &u32| *cpu < cpus::count();
    (first..).take_while(inside).zip(records.iter().map(times_of)).collect()
}

/// Kernel time has the idle time in it. A CPU that has done nothing since boot is one that nobody
/// counts for.
fn times_of(record: &SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION) -> CpuTimes {
    let units = |time: i64| u64::try_from(time).ok();
    let (idle, kernel, user) =
        (units(record.IdleTime), units(record.KernelTime), units(record.UserTime));
    if [idle, kernel, user].iter().all(|time| matches!(time, None | Some(0))) {
        return CpuTimes::default();
    }
    let ns = |units: Option<u64>| units?.checked_mul(UNIT_NS);
    CpuTimes {
        user_ns: ns(user),
        system_ns: ns(kernel.zip(idle).and_then(|(kernel, idle)| kernel.checked_sub(idle))),
        idle_ns: ns(idle),
        ..CpuTimes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_time_is_told_without_idle_time() {
        let record = SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION {
            IdleTime: 70,
            KernelTime: 100,
            UserTime: 5,
            ..Default::default()
        };
        let times = times_of(&record);
        assert_eq!(
            (times.system_ns, times.user_ns, times.idle_ns),
            (Some(3000), Some(500), Some(7000))
        );
        assert_eq!(times.irq_ns, None);
        assert_eq!(times_of(&Default::default()), CpuTimes::default());
    }
}
