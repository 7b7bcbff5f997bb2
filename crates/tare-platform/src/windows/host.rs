//! The host fingerprint: every field of [`Host`] that Windows tells.

use super::{cpus, registry};
use crate::{cpuid, cpulist};
use tare_record::Host;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::{
    GetSystemTimeAdjustment, GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};

const VERSION_KEY: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const CPU_KEY: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";

/// Read it all.
pub(super) fn read() -> Host {
    let online: Vec<u32> = (0..cpus::count()).collect();
    let topology = cpus::topology();
    let memory = memory();
    Host {
        hostname: std::env::var("COMPUTERNAME").ok().filter(|name| !name.is_empty()),
        os: "windows".into(),
        os_release: release(),
        kernel: kernel(),
        kernel_version: registry::text(VERSION_KEY, "BuildLabEx"),
        boot_parameters: registry::text(r"SYSTEM\CurrentControlSet\Control", "SystemStartOptions"),
        timer_hz: timer_hz(),
        architecture: std::env::consts::ARCH.into(),
        cpu_model: registry::text(CPU_KEY, "ProcessorNameString"),
        microcode: microcode(),
        cpus_online: (!online.is_empty()).then(|| cpulist::format(&online)),
        smt: smt(&topology),
        topology,
        memory_bytes: memory.map(|memory| memory.ullTotalPhys).filter(|bytes| *bytes > 0),
        // What can be committed beyond RAM: the paging files.
        swap_bytes: memory.and_then(|it| it.ullTotalPageFile.checked_sub(it.ullTotalPhys)),
        virtualisation: cpuid::hypervisor().map(|told| told.name()),
        container: Some(if is_wine() { "wine" } else { "none" }.into()),
        ..Host::default()
    }
}

/// Name, release and build, as `winver` shows them.
fn release() -> Option<String> {
    let name = registry::text(VERSION_KEY, "ProductName")?;
    let version = registry::text(VERSION_KEY, "DisplayVersion");
    let build = registry::text(VERSION_KEY, "CurrentBuild").map(|build| {
        let update = registry::number(VERSION_KEY, "UBR");
        update.map_or_else(|| format!("build {build}"), |it| format!("build {build}.{it}"))
    });
    let parts: Vec<String> = [Some(name), version, build].into_iter().flatten().collect();
    Some(parts.join(" "))
}

/// `major.minor.build` of the kernel; GetVersionEx would tell what the program's manifest wants.
fn kernel() -> Option<String> {
    let size = u32::try_from(size_of::<OSVERSIONINFOW>()).ok()?;
    let mut version = OSVERSIONINFOW { dwOSVersionInfoSize: size, ..OSVERSIONINFOW::default() };
    // SAFETY: `version` is valid to write to and states its size.
    let status = unsafe { RtlGetVersion(&raw mut version) };
    let OSVERSIONINFOW { dwMajorVersion, dwMinorVersion, dwBuildNumber, .. } = version;
    (status >= 0).then(|| format!("{dwMajorVersion}.{dwMinorVersion}.{dwBuildNumber}"))
}

/// Frequency of the clock interrupt: the time that each adds to the clock, in 100 ns.
fn timer_hz() -> Option<u32> {
    let (mut adjustment, mut increment, mut disabled) = (0, 0, 0);
    // SAFETY: all three are valid to write to; the call keeps no pointer.
    let told = unsafe {
        GetSystemTimeAdjustment(&raw mut adjustment, &raw mut increment, &raw mut disabled)
    };
    (told != 0 && increment > 0).then(|| (10_000_000 + increment / 2) / increment)
}

/// Eight bytes: the revision is their upper half, as in IA32_BIOS_SIGN_ID (Intel SDM vol. 4), or their
/// lower one, by the maker of the CPU.
fn microcode() -> Option<String> {
    let bytes = registry::binary(CPU_KEY, "Update Revision")?;
    let half = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let revision = half(4).filter(|revision| *revision != 0).or_else(|| half(0))?;
    (revision != 0).then(|| format!("{revision:#x}"))
}

/// Some core has more than one CPU; unknown if no core is known.
fn smt(topology: &[tare_record::CpuPlace]) -> Option<bool> {
    let mut cores: Vec<u32> = topology.iter().map(|place| place.core).collect::<Option<_>>()?;
    let cpus = cores.len();
    cores.sort_unstable();
    cores.dedup();
    (cpus > 0).then_some(cores.len() < cpus)
}

/// RAM and paging files.
pub(super) fn memory() -> Option<MEMORYSTATUSEX> {
    let size = u32::try_from(size_of::<MEMORYSTATUSEX>()).ok()?;
    let mut memory = MEMORYSTATUSEX { dwLength: size, ..MEMORYSTATUSEX::default() };
    // SAFETY: `memory` is valid to write to and states its size.
    let told = unsafe { GlobalMemoryStatusEx(&raw mut memory) };
    (told != 0).then_some(memory)
}

/// Wine's ntdll has a function that Windows' has not.
fn is_wine() -> bool {
    let ntdll = registry::wide("ntdll.dll");
    // SAFETY: both names end with NUL; every process has ntdll loaded, so its handle stays valid. The
    // function is looked for, not called.
    unsafe {
        let module = GetModuleHandleW(ntdll.as_ptr());
        !module.is_null() && GetProcAddress(module, c"wine_get_version".as_ptr().cast()).is_some()
    }
}
