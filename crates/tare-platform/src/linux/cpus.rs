//! /sys/devices/system/cpu: which CPUs there are, how they lie, how fast and how hot they run.

use super::tree::Tree;
use crate::cpulist;
use tare_record::CpuPlace;

const FOLDER: &str = "sys/devices/system/cpu";

/// CPUs that are online; `None` if the file is missing or holds no list.
pub(super) fn online(tree: &Tree) -> Option<Vec<u32>> {
    let list = tree.line(&format!("{FOLDER}/online"))?;
    cpulist::parse(&list).filter(|cpus| !cpus.is_empty())
}

/// A list in one of the files, as text: empty if it holds none. Older kernels write `(null)` for a
/// mask that was never made.
pub(super) fn list(tree: &Tree, file: &str) -> Option<String> {
    let text = String::from_utf8(tree.bytes(&format!("{FOLDER}/{file}"))?).ok()?;
    let text = text.trim();
    if text == "(null)" {
        return Some(String::new());
    }
    cpulist::parse(text).map(|cpus| cpulist::format(&cpus))
}

/// Where each of the CPUs sits.
pub(super) fn topology(tree: &Tree, cpus: &[u32]) -> Vec<CpuPlace> {
    cpus.iter().map(|&cpu| place(tree, cpu)).collect()
}

fn place(tree: &Tree, cpu: u32) -> CpuPlace {
    let folder = format!("{FOLDER}/cpu{cpu}");
    let number = |file: &str| tree.number(&format!("{folder}/topology/{file}"));
    let node = tree.names(&folder).iter().find_map(|name| name.strip_prefix("node")?.parse().ok());
    CpuPlace {
        cpu,
        core: number("core_id"),
        package: number("physical_package_id"),
        node,
        siblings: tree.line(&format!("{folder}/topology/thread_siblings_list")),
        llc_shared: last_level_cache(tree, &format!("{folder}/cache")),
    }
}

/// CPUs that share the cache of the highest level that holds data.
fn last_level_cache(tree: &Tree, folder: &str) -> Option<String> {
    let names = tree.names(folder).into_iter().filter(|name| name.starts_with("index"));
    let caches = names.filter_map(|name| {
        let line = |file: &str| tree.line(&format!("{folder}/{name}/{file}"));
        let level: u32 = line("level")?.parse().ok()?;
        let holds_data = line("type").is_none_or(|kind| kind != "Instruction");
        Some((level, line("shared_cpu_list")?)).filter(|_| holds_data)
    });
    caches.max_by_key(|(level, _)| *level).map(|(_, cpus)| cpus)
}

/// Lowest and highest frequency of the CPUs now, kHz; `None` without a frequency driver, as in most
/// virtual machines.
pub(super) fn frequency_range_khz(tree: &Tree, cpus: &[u32]) -> Option<[u64; 2]> {
    let now = |cpu: &u32| tree.number(&format!("{FOLDER}/cpu{cpu}/cpufreq/scaling_cur_freq"));
    let khz: Vec<u64> = cpus.iter().filter_map(now).filter(|khz| *khz > 0).collect();
    Some([*khz.iter().min()?, *khz.iter().max()?])
}

/// Thermal throttle events of all cores since boot.
pub(super) fn thermal_throttles(tree: &Tree, cpus: &[u32]) -> Option<u64> {
    let count = |cpu: &u32| {
        tree.number::<u64>(&format!("{FOLDER}/cpu{cpu}/thermal_throttle/core_throttle_count"))
    };
    cpus.iter().filter_map(count).reduce(u64::saturating_add)
}

/// What all CPUs have in `cpufreq/FILE`, each value once, joined by commas.
pub(super) fn frequency_setting(tree: &Tree, cpus: &[u32], file: &str) -> Option<String> {
    let setting = |cpu: &u32| tree.line(&format!("{FOLDER}/cpu{cpu}/cpufreq/{file}"));
    let mut settings: Vec<String> = cpus.iter().filter_map(setting).collect();
    settings.sort();
    settings.dedup();
    (!settings.is_empty()).then(|| settings.join(","))
}

/// Turbo or boost: intel_pstate has its own switch, the other drivers share one.
pub(super) fn turbo(tree: &Tree) -> Option<bool> {
    let off = tree.number::<u32>(&format!("{FOLDER}/intel_pstate/no_turbo")).map(|off| off == 0);
    off.or_else(|| Some(tree.number::<u32>(&format!("{FOLDER}/cpufreq/boost"))? != 0))
}

/// Simultaneous multithreading in use.
pub(super) fn smt(tree: &Tree) -> Option<bool> {
    Some(tree.number::<u32>(&format!("{FOLDER}/smt/active"))? != 0)
}
