//! The host fingerprint: every field of [`Host`] that macOS tells.

use crate::{cpuid, cpulist, sysctl};
use tare_record::{CpuPlace, Host};

/// Read it all.
pub(super) fn read(online: &[u32]) -> Host {
    Host {
        hostname: sysctl::text("kern.hostname"),
        os: "macos".into(),
        os_release: sysctl::text("kern.osproductversion").map(|version| format!("macOS {version}")),
        kernel: sysctl::text("kern.osrelease"),
        kernel_version: sysctl::text("kern.version"),
        boot_parameters: sysctl::text("kern.bootargs"),
        architecture: std::env::consts::ARCH.into(),
        cpu_model: sysctl::text("machdep.cpu.brand_string"),
        microcode: sysctl::number("machdep.cpu.microcode_version").map(|it| format!("{it:#x}")),
        cpus_online: (!online.is_empty()).then(|| cpulist::format(online)),
        topology: online.iter().map(|cpu| place(*cpu)).collect(),
        memory_bytes: sysctl::count("hw.memsize"),
        virtualisation: virtualisation(),
        container: container(),
        smt: smt(),
        swap_bytes: swap_bytes(),
        ..Host::default()
    }
}

/// macOS does not tell which CPU lies where.
fn place(cpu: u32) -> CpuPlace {
    CpuPlace { cpu, core: None, package: None, node: None, siblings: None, llc_shared: None }
}

fn virtualisation() -> Option<String> {
    match sysctl::number("kern.hv_vmm_present")? {
        0 => Some("none".into()),
        // Apple silicon does not say which.
        _ => Some(cpuid::hypervisor().map_or_else(|| "unnamed".into(), |named| named.name())),
    }
}

/// Rosetta translates programs for Intel CPUs; the name is unknown where there is no Rosetta.
fn container() -> Option<String> {
    let translated = sysctl::number("sysctl.proc_translated").unwrap_or(0);
    Some(if translated == 1 { "rosetta" } else { "none" }.into())
}

fn smt() -> Option<bool> {
    Some(sysctl::number("hw.logicalcpu")? > sysctl::number("hw.physicalcpu")?)
}

/// `vm.swapusage` is a `struct xsw_usage`, whose first field is the total in bytes.
fn swap_bytes() -> Option<u64> {
    let usage = sysctl::bytes("vm.swapusage")?;
    Some(u64::from_ne_bytes(usage.get(..8)?.try_into().ok()?))
}
