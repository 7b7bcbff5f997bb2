//! The host fingerprint: every field of [`Host`] that FreeBSD tells.

use crate::{cpulist, sysctl};
use std::collections::BTreeMap;
use tare_record::{CpuPlace, Host};

/// Mitigations and their sysctl names.
const MITIGATIONS: [(&str, &str); 6] = [
    ("meltdown (page table isolation)", "vm.pmap.pti"),
    ("spectre_v2 (IBRS active)", "machdep.mitigations.ibrs.active"),
    ("spec_store_bypass (SSBD active)", "machdep.mitigations.ssb.active"),
    ("mds", "machdep.mitigations.mds.state"),
    ("tsx_async_abort", "machdep.mitigations.taa.state"),
    ("retbleed and others (IBRS at entry)", "hw.ibrs_active"),
];

/// Read it all.
pub(super) fn read(online: &[u32]) -> Host {
    let kernel = sysctl::text("kern.osrelease");
    Host {
        hostname: sysctl::text("kern.hostname"),
        os: "freebsd".into(),
        os_release: kernel.as_ref().map(|release| format!("FreeBSD {release}")),
        kernel,
        kernel_version: sysctl::text("kern.version"),
        timer_hz: sysctl::number("kern.hz").and_then(|hertz| u32::try_from(hertz).ok()),
        architecture: std::env::consts::ARCH.into(),
        cpu_model: sysctl::text("hw.model"),
        cpus_online: (!online.is_empty()).then(|| cpulist::format(online)),
        topology: online.iter().map(|cpu| place(*cpu)).collect(),
        memory_bytes: sysctl::count("hw.physmem"),
        clock_source: sysctl::text("kern.timecounter.hardware"),
        virtualisation: virtualisation(),
        container: container(),
        frequency_driver: sysctl::text("dev.cpufreq.0.freq_driver"),
        smt: sysctl::number("kern.smp.threads_per_core").map(|threads| threads > 1),
        idle_driver: sysctl::text("machdep.idle"),
        aslr: sysctl::number("kern.elf64.aslr.enable").and_then(|it| u32::try_from(it).ok()),
        swap_bytes: sysctl::count("vm.swap_total"),
        mitigations: mitigations(),
        ..Host::default()
    }
}

/// Where a CPU lies stands only in an XML text for people (kern.sched.topology_spec).
fn place(cpu: u32) -> CpuPlace {
    let node = sysctl::number(&format!("dev.cpu.{cpu}.%domain"));
    let node = node.and_then(|node| u32::try_from(node).ok());
    CpuPlace { cpu, core: None, package: None, node, siblings: None, llc_shared: None }
}

/// `hv` is FreeBSD's word for Hyper-V.
fn virtualisation() -> Option<String> {
    let guest = sysctl::text("kern.vm_guest")?;
    Some(if guest == "hv" { "hyperv".into() } else { guest })
}

fn container() -> Option<String> {
    let jailed = sysctl::number("security.jail.jailed")? != 0;
    Some(if jailed { "jail" } else { "none" }.into())
}

/// Texts as they are; switches as numbers.
fn mitigations() -> BTreeMap<String, String> {
    let state = |name: &str| {
        let is_text = name.ends_with(".state");
        if is_text { sysctl::text(name) } else { sysctl::number(name).map(|it| it.to_string()) }
    };
    let known =
        MITIGATIONS.iter().filter_map(|(label, name)| Some(((*label).into(), state(name)?)));
    known.collect()
}
