//! The host fingerprint: every field of [`Host`] that Linux tells.

use super::kernel::{self, ContainerTraces, PreemptionSources};
use super::tree::Tree;
use super::{cpuinfo, cpus, stat};
use crate::cpuid::Hypervisor;
use std::collections::BTreeMap;
use std::io::Read;
use tare_record::Host;

/// What system calls and the CPU tell, beside the files.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// Timer frequency, hertz.
    pub(super) timer_hz: Option<u32>,
    /// What the CPU says of a hypervisor.
    pub(super) hypervisor: Option<Hypervisor>,
}

/// Read it all.
pub(super) fn read(tree: &Tree, told: &Told, online: &[u32]) -> Host {
    let (kernel, kernel_version) = kernel_and_version(tree);
    let command_line = tree.line("proc/cmdline");
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let meminfo = tree.text("proc/meminfo").unwrap_or_default();
    let kib = |name| stat::field(&meminfo, name).and_then(|kib| kib.checked_mul(1024));
    Host {
        hostname: tree.line("proc/sys/kernel/hostname"),
        os: "linux".into(),
        os_release: distribution(tree),
        preemption: preemption(tree, kernel.as_deref(), kernel_version.as_deref()),
        container: container(tree, kernel.as_deref(), kernel_version.as_deref()),
        kernel,
        kernel_version,
        boot_parameters: command_line,
        timer_hz: told.timer_hz,
        architecture: std::env::consts::ARCH.into(),
        cpu_model: cpuinfo::model(&cpuinfo),
        microcode: cpuinfo::microcode(&cpuinfo),
        cpus_online: cpus::list(tree, "online"),
        cpus_isolated: cpus::list(tree, "isolated"),
        cpus_nohz_full: cpus::list(tree, "nohz_full"),
        topology: cpus::topology(tree, online),
        memory_bytes: kib("MemTotal").filter(|bytes| *bytes > 0),
        clock_source: tree.line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        virtualisation: virtualisation(tree, told.hypervisor.as_ref()),
        governor: cpus::frequency_setting(tree, online, "scaling_governor"),
        frequency_driver: cpus::frequency_setting(tree, online, "scaling_driver"),
        turbo: cpus::turbo(tree),
        smt: cpus::smt(tree),
        idle_driver: tree.line("sys/devices/system/cpu/cpuidle/current_driver"),
        thp: tree
            .text("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| kernel::between(&text, '[', ']')),
        aslr: tree.number("proc/sys/kernel/randomize_va_space"),
        swappiness: tree.number("proc/sys/vm/swappiness"),
        swap_bytes: kib("SwapTotal"),
        rt_runtime_us: tree.number("proc/sys/kernel/sched_rt_runtime_us"),
        rt_period_us: tree.number("proc/sys/kernel/sched_rt_period_us"),
        numa_balancing: tree.number("proc/sys/kernel/numa_balancing"),
        nmi_watchdog: tree.number::<u32>("proc/sys/kernel/nmi_watchdog").map(|on| on != 0),
        mitigations: mitigations(tree),
    }
}

fn kernel_and_version(tree: &Tree) -> (Option<String>, Option<String>) {
    let (release, version) =
        kernel::release_and_version(&tree.text("proc/version").unwrap_or_default());
    let kernel = tree.line("proc/sys/kernel/osrelease").or(release);
    (kernel, tree.line("proc/sys/kernel/version").or(version))
}

fn distribution(tree: &Tree) -> Option<String> {
    let text = tree.text("etc/os-release").or_else(|| tree.text("usr/lib/os-release"))?;
    kernel::distribution(&text)
}

fn preemption(tree: &Tree, kernel: Option<&str>, version: Option<&str>) -> Option<String> {
    let debug = tree.text("sys/kernel/debug/sched/preempt");
    let command_line = tree.text("proc/cmdline");
    let config = build_configuration(tree, kernel);
    PreemptionSources {
        debug: debug.as_deref(),
        command_line: command_line.as_deref(),
        version,
        config: config.as_deref(),
    }
    .model()
}

/// The kernel's .config: built into it, or beside it as distributions do.
fn build_configuration(tree: &Tree, kernel: Option<&str>) -> Option<String> {
    /// Real ones have about 300 KiB; nothing larger is unpacked.
    const LARGEST_BYTES: u64 = 8 << 20;
    let unpacked = tree.bytes("proc/config.gz").and_then(|bytes| {
        let mut text = String::new();
        let unpacker = flate2::read::GzDecoder::new(bytes.as_slice());
        unpacker.take(LARGEST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    });
    unpacked.or_else(|| {
        let kernel = kernel?;
        let beside = [format!("boot/config-{kernel}"), format!("lib/modules/{kernel}/config")];
        beside.iter().find_map(|path| tree.text(path))
    })
}

/// The CPU knows best; elsewhere the hypervisor's own folder and the firmware's tables can prove
/// one, but not that there is none.
fn virtualisation(tree: &Tree, told: Option<&Hypervisor>) -> Option<String> {
    if let Some(told) = told {
        return Some(told.name());
    }
    let line = |path: &str| tree.line(path).unwrap_or_default();
    let vendor = line("sys/class/dmi/id/sys_vendor");
    let product = line("sys/class/dmi/id/product_name");
    tree.line("sys/hypervisor/type")
        .or_else(|| kernel::hypervisor_of_firmware(&vendor, &product).map(str::to_owned))
}

fn container(tree: &Tree, kernel: Option<&str>, version: Option<&str>) -> Option<String> {
    let cgroup = tree.text("proc/self/cgroup");
    let environment = tree.text("proc/1/environ");
    let manager =
        tree.line("run/systemd/container").or_else(|| tree.line("run/host/container-manager"));
    if kernel.is_none() && cgroup.is_none() {
        return None; // Without /proc nothing can be said.
    }
    let traces = ContainerTraces {
        release: kernel.unwrap_or_default(),
        version: version.unwrap_or_default(),
        namespaces_of_boot: namespaces_of_boot(tree),
        docker_file: tree.exists(".dockerenv"),
        podman_file: tree.exists("run/.containerenv"),
        manager: manager.as_deref(),
        environment: environment.as_deref(),
        cgroup: cgroup.as_deref(),
    };
    Some(traces.name())
}

/// Every container has process ids or a host name of its own; those of boot have fixed numbers
/// (PROC_PID_INIT_INO and PROC_UTS_INIT_INO of include/linux/proc_ns.h).
fn namespaces_of_boot(tree: &Tree) -> bool {
    const OF_BOOT: [(&str, &str); 2] = [("pid", "pid:[4026531836]"), ("uts", "uts:[4026531838]")];
    let target = |kind| tree.link(&format!("proc/self/ns/{kind}"));
    OF_BOOT.iter().all(|(kind, name)| target(kind).as_deref() == Some(name))
}

fn mitigations(tree: &Tree) -> BTreeMap<String, String> {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let state = |name: String| {
        let line = tree.line(&format!("{folder}/{name}"))?;
        Some((name, line))
    };
    tree.names(folder).into_iter().filter_map(state).collect()
}
