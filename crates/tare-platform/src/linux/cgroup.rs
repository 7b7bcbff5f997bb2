//! Where this process stands in the control groups, versions 1 and 2, and what they withhold from
//! it: CPU time (throttling) and memory (cgroups(7), the kernel's admin-guide/cgroup-v2).

use super::stat::field;
use super::tree::Tree;

/// A limit at or above this is none: version 1 writes the largest multiple of a page for it.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Time that the groups of this process were kept off the CPU by their quota, ns, summed from its
/// own group up to the root; `None` where no group counts it.
pub(super) fn throttled_ns(tree: &Tree) -> Option<u64> {
    let of = |folder: &String| {
        let text = tree.text(&format!("{folder}/cpu.stat"))?;
        let version_2 = field(&text, "throttled_usec").and_then(|us| us.checked_mul(1000));
        version_2.or_else(|| field(&text, "throttled_time"))
    };
    folders(tree, "cpu").iter().filter_map(of).reduce(u64::saturating_add)
}

/// Memory that the tightest of the groups still lets this process take, bytes. Page cache that can
/// be dropped at once (`inactive_file`) counts as free.
pub(super) fn memory_left_bytes(tree: &Tree) -> Option<u64> {
    const FILES: [(&str, &str, &str); 2] = [
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ];
    let of = |folder: &String| {
        FILES.iter().find_map(|(limit, usage, cache)| {
            let number = |file: &str| tree.number::<u64>(&format!("{folder}/{file}"));
            let limit = number(limit).filter(|limit| *limit < NO_LIMIT_BYTES)?;
            let stat = tree.text(&format!("{folder}/memory.stat")).unwrap_or_default();
            let used = number(usage)?.saturating_sub(field(&stat, cache).unwrap_or(0));
            Some(limit.saturating_sub(used))
        })
    };
    folders(tree, "memory").iter().filter_map(of).min()
}

/// Folders of this process' group and of those above it that `controller` may be found in, both
/// hierarchies, relative to the tree's root.
fn folders(tree: &Tree, controller: &str) -> Vec<String> {
    let memberships = tree.text("proc/self/cgroup").unwrap_or_default();
    let mounts = tree.text("proc/self/mountinfo").unwrap_or_default();
    let mut folders = Vec::new();
    for line in memberships.lines() {
        let Some((controllers, path)) = membership(line) else { continue };
        let wanted = controllers.split(',').any(|name| name == controller);
        if !controllers.is_empty() && !wanted {
            continue;
        }
        let here = |mount: &Mount| {
            if controllers.is_empty() { mount.kind == "cgroup2" } else { mount.has(controller) }
        };
        if let Some(mount) = mounts.lines().filter_map(mount).find(here) {
            folders.extend(mount.folders_of(path));
        }
    }
    folders
}

/// `(controllers, path)` of a line of /proc/self/cgroup; version 2 has no controllers.
fn membership(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    Some((parts.next()?, parts.next()?))
}

/// A line of /proc/self/mountinfo.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    root: String,
    point: String,
    kind: &'a str,
    options: &'a str,
}

fn mount(line: &str) -> Option<Mount<'_>> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(3);
    let (root, point) = (unescape(front.next()?), unescape(front.next()?));
    let mut back = back.split(' ');
    Some(Mount { root, point, kind: back.next()?, options: back.nth(1).unwrap_or_default() })
}

impl Mount<'_> {
    /// A version 1 hierarchy names its controllers among its options.
    fn has(&self, controller: &str) -> bool {
        self.kind == "cgroup" && self.options.split(',').any(|option| option == controller)
    }

    /// The group `path` and all above it, as far as this mount shows them.
    fn folders_of(&self, path: &str) -> Vec<String> {
        let inside = match self.root.as_str() {
            "/" => Some(path),
            // Seen from inside the group's own namespace its path is `/` already.
            root => path.strip_prefix(root).or((path == "/").then_some("/")),
        };
        let Some(inside) = inside.filter(|inside| !inside.contains("/..")) else {
            return Vec::new();
        };
        let point = self.point.trim_matches('/');
        let mut folders = vec![point.to_owned()];
        for part in inside.split('/').filter(|part| !part.is_empty()) {
            let above = folders.last().map_or("", String::as_str);
            folders.push(format!("{above}/{part}"));
        }
        folders
    }
}

/// mountinfo writes blanks, tabs, newlines and backslashes as three octal digits.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate";

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let tree = Tree::at(folder.path());
        (folder, tree)
    }

    #[test]
    fn sums_throttling_from_the_group_to_the_root() {
        let (_folder, tree) = tree(&[
            ("proc/self/cgroup", "0::/a.slice/b.scope\n"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 99\n"),
            ("sys/fs/cgroup/a.slice/cpu.stat", "usage_usec 9\nthrottled_usec 30\n"),
            ("sys/fs/cgroup/a.slice/b.scope/cpu.stat", "throttled_usec 12\n"),
        ]);
        assert_eq!(throttled_ns(&tree), Some(42_000));
    }

    #[test]
    fn version_1_counts_nanoseconds_and_writes_huge_for_no_limit() {
        let (_folder, tree) = tree(&[
            ("proc/self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/job\n"),
            (
                "proc/self/mountinfo",
                "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("sys/fs/cgroup/cpu/job/cpu.stat", "nr_throttled 2\nthrottled_time 77\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n"),
            ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "700\n"),
            ("sys/fs/cgroup/memory/job/memory.stat", "cache 5\ntotal_inactive_file 100\n"),
        ]);
        assert_eq!(throttled_ns(&tree), Some(77));
        assert_eq!(memory_left_bytes(&tree), Some(400));
    }

    #[test]
    fn the_tightest_group_counts() {
        let (_folder, tree) = tree(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/a/memory.max", "500\n"),
            ("sys/fs/cgroup/a/memory.current", "450\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "10\n"),
        ]);
        assert_eq!(memory_left_bytes(&tree), Some(50));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let inside = "31 23 0:28 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw";
        let mount = mount(inside).expect("a mount");
        assert_eq!(mount.folders_of("/docker/ab/x"), ["sys/fs/cgroup", "sys/fs/cgroup/x"]);
        assert_eq!(mount.folders_of("/"), ["sys/fs/cgroup"]);
        assert_eq!(mount.folders_of("/elsewhere"), [""; 0]);
        assert_eq!(mount.folders_of("/docker/ab/../cd"), [""; 0]);
    }

    #[test]
    fn nothing_known_is_none() {
        let (_folder, tree) = tree(&[("proc/self/cgroup", "0::/\n")]);
        assert_eq!((throttled_ns(&tree), memory_left_bytes(&tree)), (None, None));
    }

    proptest! {
        #[test]
        fn never_panics(line in "[ a-z0-9:/,.\\\\-]{0,80}") {
            let _ = membership(&line);
            if let Some(mount) = mount(&line) {
                let _ = mount.folders_of(&line);
            }
        }
    }
}
