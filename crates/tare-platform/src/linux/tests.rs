//! Whole machines, read from the trees in `fixtures/`, and the running one.

use super::fixture::{GVISOR, LAPTOP, VM, unpack};
use super::*;
use crate::cpuid::Hypervisor;

fn host_of(machine: &str, hypervisor: Option<Hypervisor>) -> Host {
    let (_root, linux) = unpack(machine);
    let told = host::Told { timer_hz: Some(250), hypervisor };
    host::read(&linux.tree, &told, &linux.online_cpus().expect("told"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn the_fingerprint_of_a_virtual_machine() {
    let host = host_of(VM, Some(Hypervisor::Present("KVMKVMKVM".into())));
    assert_eq!(host.os_release, some("Debian GNU/Linux 12 (bookworm)"));
    assert_eq!(host.kernel, some("6.18.44"));
    assert_eq!(host.kernel_version, some("#1 SMP PREEMPT_DYNAMIC"));
    assert_eq!(host.preemption, None, "PREEMPT_DYNAMIC alone does not say");
    assert_eq!(host.virtualisation, some("kvm"));
    assert_eq!(host.container, some("none"));
    assert_eq!(host.cpus_isolated, some(""), "known to be none");
    assert_eq!(host.cpus_nohz_full, None, "not built into this kernel");
    assert_eq!((host.governor, host.turbo, host.frequency_driver), (None, None, None));
    assert_eq!((host.swap_bytes, host.aslr, host.smt), (Some(0), Some(2), Some(false)));
    assert_eq!(host.memory_bytes, Some(24_684_084 * 1024));
    assert_eq!(host.thp, some("madvise"));
    assert_eq!(host.mitigations["meltdown"], "Not affected");
    assert_eq!(host.topology.len(), 2);
    let place = &host.topology[1];
    assert_eq!((place.core, place.package, place.node), (Some(1), Some(0), Some(0)));
    assert_eq!((&place.siblings, &place.llc_shared), (&some("1"), &some("0-1")));
}

#[test]
fn the_fingerprint_of_a_laptop_in_docker() {
    let host = host_of(LAPTOP, Some(Hypervisor::Absent));
    assert_eq!(host.kernel, some("6.1.0-13-amd64"), "out of /proc/version");
    assert_eq!(host.preemption, some("voluntary"), "as built");
    assert_eq!(host.virtualisation, some("none"));
    assert_eq!(host.container, some("docker"));
    assert_eq!(host.governor, some("performance,powersave"));
    assert_eq!((host.turbo, host.smt, host.nmi_watchdog), (Some(true), Some(true), Some(true)));
    assert_eq!(host.cpus_online, some("0-2,4-7"));
    assert_eq!((host.cpus_isolated, host.cpus_nohz_full), (some("7"), some("7")));
    assert_eq!((host.rt_runtime_us, host.rt_period_us), (Some(-1), Some(1_000_000)));
    let cpus: Vec<u32> = host.topology.iter().map(|place| place.cpu).collect();
    assert_eq!(cpus, [0, 1, 2, 4, 5, 6, 7]);
    assert_eq!(host.topology[3].siblings, some("0,4"));
    assert_eq!(host.topology[3].llc_shared, some("0-2,4-7"), "not the instruction cache");
}

#[test]
fn the_namespaces_of_boot_are_no_container() {
    let (root, linux) = unpack(LAPTOP);
    let folder = root.path().join("proc/self/ns");
    std::fs::create_dir(&folder).expect("made");
    for (kind, name) in [("pid", "pid:[4026531836]"), ("uts", "uts:[4026531838]")] {
        std::os::unix::fs::symlink(name, folder.join(kind)).expect("linked");
    }
    assert_eq!(host::read(&linux.tree, &host::Told::default(), &[]).container, some("none"));
}

#[test]
fn what_gvisor_does_not_tell_is_null() {
    let host = host_of(GVISOR, None);
    assert_eq!(host.container, some("gvisor"));
    assert_eq!(host.kernel, some("4.4.0"));
    assert_eq!((host.cpu_model, host.microcode, host.preemption), (None, None, None));
    assert_eq!((host.rt_runtime_us, host.thp, host.smt), (None, None, None));
    assert_eq!((host.virtualisation, host.clock_source), (None, None));
    assert!(host.mitigations.is_empty());

    let (_root, linux) = unpack(GVISOR);
    let conditions = linux.snapshot().since(&linux.snapshot()).conditions;
    let expected =
        tare_record::Conditions { window_ns: conditions.window_ns, ..Default::default() };
    assert_eq!(conditions, expected);
    assert_eq!(linux.rt_throttle(), None);
}

#[test]
fn the_conditions_of_a_laptop() {
    let (_root, linux) = unpack(LAPTOP);
    let snapshot = linux.snapshot();
    assert_eq!((snapshot.load_1min, snapshot.runnable), (Some(1.25), Some(1)));
    assert_eq!(snapshot.frequency_range_khz, Some([800_000, 1_500_000]));
    assert_eq!(snapshot.thermal_throttles, Some(16));
    assert_eq!(snapshot.cgroup_throttled_ns, Some(4_500_000));
    assert_eq!((snapshot.page_faults, snapshot.page_faults_major), (Some(123_456), Some(78)));
    assert_eq!(snapshot.steal_ns, Some(0), "counted, and none");
    let window = snapshot.since(&snapshot);
    assert_eq!(window.conditions.context_switches, Some(0));
    assert!(window.interrupts.is_empty() && window.softirqs.is_empty());
    assert_eq!(window.cpu_times.len(), 7);
    // 4 GiB limit less 1 GiB in use, of which 73,741,824 bytes are cache.
    assert_eq!(linux.memory_available_bytes(), Some((3 << 30) + 73_741_824));
}

#[test]
fn an_empty_root_tells_nothing_and_breaks_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let linux = Linux::at(folder.path());
    let host = host::read(&linux.tree, &host::Told::default(), &[]);
    let expected =
        Host { os: "linux".into(), architecture: host.architecture.clone(), ..Default::default() };
    assert_eq!(host, expected);
    let snapshot = linux.snapshot();
    assert_eq!(snapshot, Snapshot { monotonic_ns: snapshot.monotonic_ns, ..Default::default() });
    assert_eq!(linux.memory_available_bytes(), None);
}

/// On a thread of its own, which takes its affinity with it.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().expect("no panic"))
}

#[test]
fn this_thread_can_be_pinned_to_each_allowed_cpu_and_runs_there() {
    let linux = Linux::new();
    let allowed = linux.allowed_cpus().expect("told");
    assert!(!allowed.is_empty());
    apart(|| {
        for cpu in allowed {
            let answer = linux.pin_thread(cpu);
            assert!(answer.is_granted(), "{answer:?}");
            assert_eq!(linux.current_cpu(), Some(cpu));
            assert_eq!(linux.allowed_cpus(), Some(vec![cpu]));
        }
    });
}

#[test]
fn an_absent_cpu_is_refused_and_named() {
    let linux = Linux::new();
    apart(|| {
        for cpu in [crate::cpulist::MAX_CPU, u32::MAX] {
            let answer = linux.pin_thread(cpu);
            assert!(
                matches!(&answer, Answer::Refused(why) if why.contains(&cpu.to_string())),
                "{answer:?}"
            );
        }
    });
}

#[test]
fn fifo_is_granted_or_says_what_it_needs() {
    let linux = Linux::new();
    apart(|| match linux.set_fifo(1) {
        Answer::Granted(detail) => {
            assert_eq!(detail, "SCHED_FIFO 1");
            assert!(linux.set_other().is_granted());
        }
        Answer::Refused(why) => assert!(why.contains("CAP_SYS_NICE"), "{why}"),
        Answer::Unsupported(why) => panic!("Linux has SCHED_FIFO: {why}"),
    });
    assert!(matches!(linux.set_fifo(0), Answer::Refused(_)));
    assert!(matches!(linux.set_fifo(100), Answer::Refused(_)));
}

#[test]
fn clocks_do_not_go_backwards_and_usage_only_grows() {
    let linux = Linux::new();
    let (clock, before) = (linux.monotonic_ns(), linux.thread_usage());
    let touched = vec![1_u8; 8 << 20];
    assert_eq!(touched.iter().map(|byte| usize::from(*byte)).sum::<usize>(), 8 << 20);
    let used = linux.thread_usage().since(&before);
    assert!(linux.monotonic_ns() > clock);
    assert!(linux.unix_ns() > 1_700_000_000_000_000_000);
    assert!(used.cpu_time_ns.is_some_and(|ns| ns > 0));
    assert!(used.page_faults_minor.is_some() && used.switches_involuntary.is_some());
}

#[test]
fn the_running_machine_answers() {
    let platform = crate::native();
    let host = platform.host();
    assert!(host.kernel.is_some() && host.container.is_some());
    let online = platform.online_cpus().expect("told");
    assert_eq!(host.topology.len(), online.len());
    assert!(platform.memory_available_bytes().is_some_and(|bytes| bytes > 0));
    let before = platform.snapshot();
    let window = platform.snapshot().since(&before);
    assert!(window.conditions.window_ns > 0);
}
