//! `recording.json`: what was asked, on what host, by which clock, under which conditions, with
//! which losses. Unknown is `None` (JSON `null`), never 0 and never an empty string.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The whole of `recording.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Always `tare-recording`.
    pub format: String,
    /// Version of the manifest and of all tables; see schema-changes.md.
    pub schema_version: u32,
    /// What was measured: `noise`.
    pub kind: String,
    /// The program that measured.
    pub tool: Tool,
    /// Wall-clock start of the first trace, RFC 3339, UTC.
    pub started_at: String,
    /// Wall-clock end of the last trace, RFC 3339, UTC.
    pub finished_at: String,
    /// Did the measurement run to its planned end?
    pub status: Status,
    /// Why the status is not `complete`, in words.
    pub status_reason: Option<String>,
    /// What the user asked for, flag by flag, after defaults were filled in.
    pub asked: BTreeMap<String, serde_json::Value>,
    /// What the machine is: must agree before results of two recordings may be merged.
    pub host: Host,
    /// The clock that all `_ticks` columns of this recording were read from.
    pub clock: Clock,
    /// What was asked of the OS, and what it granted.
    pub rungs: Vec<Rung>,
    /// What else went on during the measured window.
    pub conditions: Conditions,
    /// What is missing from the tables. All zero means that nothing is.
    pub losses: Losses,
    /// The tables beside this file.
    pub tables: Vec<TableEntry>,
}

/// The program that measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `tare-probe`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The target triple that it was built for.
    pub target: String,
}

/// Did the measurement run to its planned end?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every planned trace is there.
    Complete,
    /// Stopped from outside (Ctrl-C); the traces that had ended are there, whole.
    Interrupted,
}

/// Host fingerprint: what the machine is. Every field that the OS does not tell is `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Name of the machine; not part of the fingerprint.
    pub hostname: Option<String>,
    /// `linux`, `windows`, `macos`, `freebsd`.
    pub os: String,
    /// Name and version of the distribution or OS release.
    pub os_release: Option<String>,
    /// Kernel release, as `uname -r` prints it.
    pub kernel: Option<String>,
    /// Kernel build, as `uname -v` prints it.
    pub kernel_version: Option<String>,
    /// Boot parameters, as in /proc/cmdline.
    pub boot_parameters: Option<String>,
    /// Preemption model: `none`, `voluntary`, `full`, `lazy`, `rt`.
    pub preemption: Option<String>,
    /// Kernel timer frequency, hertz.
    pub timer_hz: Option<u32>,
    /// Instruction set: `x86_64`, `aarch64`.
    pub architecture: String,
    /// CPU model name.
    pub cpu_model: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// CPUs the OS has online, as a list (`0,2-3`).
    pub cpus_online: Option<String>,
    /// CPUs isolated from the scheduler, as a list; empty if there are none.
    pub cpus_isolated: Option<String>,
    /// CPUs without a periodic tick (nohz_full), as a list; empty if there are none.
    pub cpus_nohz_full: Option<String>,
    /// Topology, one entry per online CPU.
    pub topology: Vec<CpuPlace>,
    /// RAM, bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel clock source in use.
    pub clock_source: Option<String>,
    /// Hypervisor (`kvm`, `hyperv`, `vmware`, ...), `none` on bare metal.
    pub virtualisation: Option<String>,
    /// Container runtime or compatibility layer (`docker`, `gvisor`, `wine`), `none` without.
    pub container: Option<String>,
    /// CPU frequency governor, if one and the same on all CPUs; else joined by commas.
    pub governor: Option<String>,
    /// CPU frequency driver.
    pub frequency_driver: Option<String>,
    /// Turbo or boost enabled.
    pub turbo: Option<bool>,
    /// Simultaneous multithreading active.
    pub smt: Option<bool>,
    /// Driver of the idle states (`haltpoll`, `intel_idle`, ...), `none` without.
    pub idle_driver: Option<String>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub thp: Option<String>,
    /// Address space layout randomisation: 0, 1 or 2.
    pub aslr: Option<u32>,
    /// Swappiness.
    pub swappiness: Option<u32>,
    /// Swap space, bytes.
    pub swap_bytes: Option<u64>,
    /// RT throttling: runtime of each period, microseconds; -1 is unlimited.
    pub rt_runtime_us: Option<i64>,
    /// RT throttling: the period, microseconds.
    pub rt_period_us: Option<u64>,
    /// NUMA balancing: 0 is off.
    pub numa_balancing: Option<u32>,
    /// NMI watchdog enabled.
    pub nmi_watchdog: Option<bool>,
    /// Vulnerability -> state, as in /sys/devices/system/cpu/vulnerabilities.
    pub mitigations: BTreeMap<String, String>,
}

/// Where one CPU sits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuPlace {
    /// CPU number.
    pub cpu: u32,
    /// Core within the package.
    pub core: Option<u32>,
    /// Package (socket).
    pub package: Option<u32>,
    /// NUMA node.
    pub node: Option<u32>,
    /// CPUs that share the core, as a list (`0,4`).
    pub siblings: Option<String>,
    /// CPUs that share the last-level cache.
    pub llc_shared: Option<String>,
}

/// The clock of the recording: every `_ticks` value is a reading of it or a difference of two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// `tsc`, `cntvct` or `os` (the OS's monotonic clock, one tick = 1 ns).
    pub source: String,
    /// Does the counter run at one rate in all power states? `null` where the CPU does not say.
    pub invariant: Option<bool>,
    /// OS clock that the rate was measured against.
    pub reference: String,
    /// Ticks per second, by linear fit against `reference` over the whole recording.
    pub ticks_per_second: f64,
    /// Largest distance of a fitted reading from the line, ns.
    pub rate_residual_ns: f64,
    /// Readings in the fit.
    pub rate_n: u32,
    /// Length of the fit, ns.
    pub rate_span_ns: u64,
    /// Cost of one raw counter read, median of blocks, ns.
    pub read_cost_ns: f64,
    /// Lowest and highest block of `read_cost_ns`, ns.
    pub read_cost_range_ns: [f64; 2],
    /// Smallest change that the counter shows, ticks (the step most changes are a multiple of).
    pub step_ticks: u32,
    /// Cost of one reading that is stored, in the timestamps loop, over a raw read, same run.
    pub store_cost_ratio: Option<f64>,
    /// One instant on three clocks: the counter, ticks.
    pub anchor_ticks: u64,
    /// The same instant on the OS's monotonic clock, ns.
    pub anchor_monotonic_ns: u64,
    /// The same instant in wall time, ns since 1970-01-01 UTC.
    pub anchor_unix_ns: i64,
    /// Largest disagreement of the counter between two CPUs that was seen, ns; `null` for one CPU.
    pub cpu_offset_ns: Option<f64>,
}

/// One thing asked of the OS and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// `pin`, `fifo`, `lock_memory`, `rt_throttling`, `prefault`, ...
    pub name: String,
    /// CPU it was asked for; `null` for the whole process.
    pub cpu: Option<u32>,
    /// The answer.
    pub state: RungState,
    /// What was granted, or why it was not and what a higher rung needs.
    pub detail: Option<String>,
}

/// The OS's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RungState {
    /// Asked for and given.
    Granted,
    /// Asked for and not given.
    Refused,
    /// This OS has no such thing.
    Unsupported,
    /// The user did not want it.
    NotAsked,
}

/// What went on beside the measurement: differences over the window from just before the first
/// trace to just after the last, with everything between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Length of the window, ns.
    pub window_ns: u64,
    /// Load average over one minute, before.
    pub load_1min_before: Option<f64>,
    /// Load average over one minute, after.
    pub load_1min_after: Option<f64>,
    /// Threads that could run, before (this measurement's own not among them).
    pub runnable_before: Option<u32>,
    /// Time that the hypervisor gave to others, all CPUs, ns (kept by the kernel in ticks).
    pub steal_ns: Option<u64>,
    /// Context switches, whole machine.
    pub context_switches: Option<u64>,
    /// Page faults, whole machine, minor and major.
    pub page_faults: Option<u64>,
    /// Major page faults, whole machine.
    pub page_faults_major: Option<u64>,
    /// Interrupts, whole machine.
    pub interrupts: Option<u64>,
    /// Softirqs, whole machine.
    pub softirqs: Option<u64>,
    /// Processes started, whole machine.
    pub forks: Option<u64>,
    /// Thermal throttle events, all cores.
    pub thermal_throttles: Option<u64>,
    /// Time that this process' cgroup was throttled, ns.
    pub cgroup_throttled_ns: Option<u64>,
    /// Lowest and highest CPU frequency seen before and after, kHz.
    pub frequency_range_khz: Option<[u64; 2]>,
}

/// What is missing from the tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Losses {
    /// Detours, quanta or slots that did not fit into the buffer.
    pub records: u64,
    /// Deltas of 2^32 ticks and more: their column wraps, so each hides that much time.
    pub wrapped_deltas: u64,
}

/// One table beside the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableEntry {
    /// Name of the table.
    pub name: String,
    /// File name inside the recording's folder.
    pub file: String,
    /// Rows.
    pub rows: u64,
    /// Size of the file, bytes.
    pub size_bytes: u64,
}
