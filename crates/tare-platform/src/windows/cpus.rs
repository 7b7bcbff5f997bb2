//! CPUs: their groups, and how they lie.

use crate::cpulist;
use tare_record::CpuPlace;
use windows_sys::Win32::System::SystemInformation::{
    CACHE_RELATIONSHIP, CacheInstruction, GROUP_AFFINITY, GetLogicalProcessorInformationEx,
    NUMA_NODE_RELATIONSHIP, PROCESSOR_RELATIONSHIP, RelationAll, RelationCache, RelationNumaNode,
    RelationProcessorCore, RelationProcessorPackage,
};
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcess,
    GetProcessAffinityMask, GetProcessGroupAffinity,
};

/// CPUs in all groups.
pub(super) fn count() -> u32 {
    group_sizes().iter().sum()
}

fn group_sizes() -> Vec<u32> {
    // SAFETY: takes numbers and touches no memory of ours.
    unsafe { (0..GetActiveProcessorGroupCount()).map(|it| GetActiveProcessorCount(it)).collect() }
}

/// Group of a CPU and its number within it.
pub(super) fn place_in_group(cpu: u32) -> Option<(u16, u32)> {
    let mut rest = cpu;
    for (group, size) in (0..).zip(group_sizes()) {
        if rest < size {
            return Some((group, rest));
        }
        rest -= size;
    }
    None
}

/// The CPU with this number within this group.
pub(super) fn number(group: u16, within: u32) -> u32 {
    group_sizes().iter().take(usize::from(group)).sum::<u32>() + within
}

/// CPUs that this process may run on; not told for one that spans several groups.
pub(super) fn allowed() -> Option<Vec<u32>> {
    let (mut mask, mut of_system) = (0_usize, 0_usize);
    // SAFETY: both masks are valid to write to; the handle is a constant for this process.
    let told = unsafe {
        GetProcessAffinityMask(GetCurrentProcess(), &raw mut mask, &raw mut of_system) != 0
    };
    if !told || mask == 0 {
        return None;
    }
    let group = only_group()?;
    Some(cpus_of(&GROUP_AFFINITY { Mask: mask, Group: group, Reserved: [0; 3] }))
}

/// The group that this process is confined to.
fn only_group() -> Option<u16> {
    if group_sizes().len() == 1 {
        return Some(0); // Wine cannot be asked further.
    }
    let mut groups = [0_u16; 1];
    let mut room = 1_u16;
    // SAFETY: `groups` has room for `room` numbers; with more groups the call fails.
    let told =
        unsafe { GetProcessGroupAffinity(GetCurrentProcess(), &raw mut room, groups.as_mut_ptr()) };
    (told != 0).then_some(groups[0])
}

fn cpus_of(affinity: &GROUP_AFFINITY) -> Vec<u32> {
    let bits = (0..usize::BITS).filter(|bit| affinity.Mask >> bit & 1 == 1);
    bits.map(|bit| number(affinity.Group, bit)).collect()
}

/// Where each CPU sits. Windows names no cores and packages; they are numbered in its order.
pub(super) fn topology() -> Vec<CpuPlace> {
    let unknown = |cpu| CpuPlace {
        cpu,
        core: None,
        package: None,
        node: None,
        siblings: None,
        llc_shared: None,
    };
    let mut places: Vec<CpuPlace> = (0..count()).map(unknown).collect();
    let (mut cores, mut packages) = (0, 0);
    let mut highest_level = 0;
    for relation in relations() {
        let at = |cpu: &u32| *cpu as usize;
        let cpus: Vec<u32> = relation.cpus.into_iter().filter(|c| at(c) < places.len()).collect();
        let list = cpulist::format(&cpus);
        match relation.kind {
            Kind::Core => {
                cpus.iter().for_each(|cpu| places[at(cpu)].core = Some(cores));
                cpus.iter().for_each(|cpu| places[at(cpu)].siblings = Some(list.clone()));
                cores += 1;
            }
            Kind::Package => {
                cpus.iter().for_each(|cpu| places[at(cpu)].package = Some(packages));
                packages += 1;
            }
            Kind::Node(node) => cpus.iter().for_each(|cpu| places[at(cpu)].node = Some(node)),
            Kind::Cache(level) if level >= highest_level => {
                highest_level = level;
                cpus.iter().for_each(|cpu| places[at(cpu)].llc_shared = Some(list.clone()));
            }
            Kind::Cache(_) => {}
        }
    }
    places
}

/// What a set of CPUs has in common.
enum Kind {
    Core,
    Package,
    Node(u32),
    /// A cache of this level that holds data.
    Cache(u8),
}

struct Relation {
    kind: Kind,
    cpus: Vec<u32>,
}

/// All relations that GetLogicalProcessorInformationEx tells. Its records are of unequal length; each
/// is copied out piece by piece, and nothing is read beyond the length that it states.
fn relations() -> Vec<Relation> {
    let bytes = relation_bytes();
    let mut relations = Vec::new();
    let mut rest = bytes.as_slice();
    while let (Some(kind), Some(size)) = (read::<i32>(rest, 0), read::<u32>(rest, 4)) {
        let size = size as usize;
        if size < 8 || size > rest.len() {
            break;
        }
        relations.extend(relation(kind, &rest[8..size]));
        rest = &rest[size..];
    }
    relations
}

/// The first call says how long the answer is.
fn relation_bytes() -> Vec<u8> {
    let mut length = 0;
    // SAFETY: without a buffer the call only writes the length.
    unsafe { GetLogicalProcessorInformationEx(RelationAll, std::ptr::null_mut(), &raw mut length) };
    let mut bytes = vec![0_u8; length as usize];
    // SAFETY: the buffer is as long as said; the records in it are read unaligned.
    let told = unsafe {
        GetLogicalProcessorInformationEx(RelationAll, bytes.as_mut_ptr().cast(), &raw mut length)
    };
    bytes.truncate(if told == 0 { 0 } else { length as usize });
    bytes
}

/// A plain value at an offset, if all of it is there.
fn read<T: Plain>(bytes: &[u8], at: usize) -> Option<T> {
    let source = bytes.get(at..at.checked_add(size_of::<T>())?)?;
    // SAFETY: `source` has the bytes of a T, any bytes are a T ([`Plain`]), alignment is not needed.
    Some(unsafe { source.as_ptr().cast::<T>().read_unaligned() })
}

/// Types for which all bytes are a value.
///
/// # Safety
/// Only for integers and structures of integers.
unsafe trait Plain: Copy {}
// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: integers.
unsafe impl Plain for u16 {}
// SAFETY: integers.
unsafe impl Plain for i32 {}
// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: a structure of integers.
unsafe impl Plain for GROUP_AFFINITY {}

fn relation(kind: i32, body: &[u8]) -> Option<Relation> {
    use std::mem::offset_of;
    let masks = |count_at: usize, masks_at: usize| {
        // Windows before 20H2 writes no count for nodes and caches: one mask.
        let count = usize::from(read::<u16>(body, count_at).unwrap_or(1).max(1));
        let mask =
            |i: usize| read::<GROUP_AFFINITY>(body, masks_at + i * size_of::<GROUP_AFFINITY>());
        let mut cpus: Vec<u32> = (0..count).filter_map(mask).flat_map(|it| cpus_of(&it)).collect();
        cpus.sort_unstable();
        cpus
    };
    let of_processors = || {
        let count_at = offset_of!(PROCESSOR_RELATIONSHIP, GroupCount);
        masks(count_at, offset_of!(PROCESSOR_RELATIONSHIP, GroupMask))
    };
    let relation = match kind {
        _ if kind == RelationProcessorCore => Relation { kind: Kind::Core, cpus: of_processors() },
        _ if kind == RelationProcessorPackage => {
            Relation { kind: Kind::Package, cpus: of_processors() }
        }
        _ if kind == RelationNumaNode => Relation {
            kind: Kind::Node(read(body, offset_of!(NUMA_NODE_RELATIONSHIP, NodeNumber))?),
            cpus: masks(
                offset_of!(NUMA_NODE_RELATIONSHIP, GroupCount),
                offset_of!(NUMA_NODE_RELATIONSHIP, Anonymous),
            ),
        },
        _ if kind == RelationCache => {
            let holds = read::<i32>(body, offset_of!(CACHE_RELATIONSHIP, Type))?;
            let level = read::<u8>(body, offset_of!(CACHE_RELATIONSHIP, Level))?;
            let count_at = offset_of!(CACHE_RELATIONSHIP, GroupCount);
            let cpus = masks(count_at, offset_of!(CACHE_RELATIONSHIP, Anonymous));
            (holds != CacheInstruction).then_some(Relation { kind: Kind::Cache(level), cpus })?
        }
        _ => return None,
    };
    Some(relation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_groups_are_inverse() {
        for cpu in 0..count() {
            let (group, within) = place_in_group(cpu).expect("there");
            assert_eq!(number(group, within), cpu);
        }
        assert_eq!(place_in_group(count()), None);
    }

    #[test]
    fn records_cut_short_are_left_out() {
        assert!(relation(RelationCache, &[3, 8]).is_none());
        assert!(read::<u32>(&[1, 2, 3], 0).is_none());
        assert_eq!(read::<u16>(&[1, 2, 3], 1), Some(u16::from_ne_bytes([2, 3])));
    }
}
