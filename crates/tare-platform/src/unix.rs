//! Calls that POSIX systems share.

/// Reading of one of the kernel's clocks, ns.
pub(crate) fn clock_ns(clock: libc::clockid_t) -> Option<i64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to; the call keeps no pointer.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds_ns = time.tv_sec.checked_mul(1_000_000_000)?;
    if status == 0 { seconds_ns.checked_add(time.tv_nsec) } else { None }
}

/// CPU time of this thread, ns.
pub(crate) fn thread_cpu_time_ns() -> Option<u64> {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).and_then(|ns| u64::try_from(ns).ok())
}

/// Faults, switches and CPU time of this thread (getrusage(2) with RUSAGE_THREAD).
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) fn thread_usage() -> crate::ThreadUsage {
    // SAFETY: an rusage is plain integers, for which all zeros is a value.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `used` is a valid rusage to write to; the call keeps no pointer.
    let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut used) };
    let told = |count: libc::c_long| u64::try_from(count).ok().filter(|_| status == 0);
    crate::ThreadUsage {
        page_faults_minor: told(used.ru_minflt),
        page_faults_major: told(used.ru_majflt),
        switches_voluntary: told(used.ru_nvcsw),
        switches_involuntary: told(used.ru_nivcsw),
        cpu_time_ns: thread_cpu_time_ns(),
    }
}

/// All pages that this process has now, with mlockall(2). Not those to come: with a finite limit
/// on locked memory, a later allocation would fail instead of being refused here.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) fn lock_memory() -> crate::Answer {
    use crate::Answer;
    // SAFETY: takes flags only.
    if unsafe { libc::mlockall(libc::MCL_CURRENT) } == 0 {
        return Answer::Granted("all pages at hand (mlockall)".into());
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOMEM | libc::EAGAIN) => Answer::Refused(format!(
            "needs root, the right to lock memory or `ulimit -l unlimited` (now {}): {error}",
            match soft_limit(libc::RLIMIT_MEMLOCK) {
                Some(libc::RLIM_INFINITY) => "unlimited".into(),
                Some(bytes) => format!("{} KiB", bytes / 1024),
                None => "unknown".into(),
            }
        )),
        _ => Answer::Refused(format!("mlockall(2) failed: {error}")),
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
type LimitKind = libc::__rlimit_resource_t;
#[cfg(any(target_os = "freebsd", all(target_os = "linux", not(target_env = "gnu"))))]
type LimitKind = libc::c_int;

/// The soft limit of one resource of this process; `RLIM_INFINITY` is none.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) fn soft_limit(kind: LimitKind) -> Option<libc::rlim_t> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid rlimit to write to; the call keeps no pointer.
    let status = unsafe { libc::getrlimit(kind, &raw mut limit) };
    (status == 0).then_some(limit.rlim_cur)
}

/// Load average over one minute.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(crate) fn load_1min() -> Option<f64> {
    let mut loads = [0.0_f64];
    // SAFETY: `loads` has room for the one value asked for.
    let filled = unsafe { libc::getloadavg(loads.as_mut_ptr(), 1) };
    (filled == 1).then_some(loads[0])
}
