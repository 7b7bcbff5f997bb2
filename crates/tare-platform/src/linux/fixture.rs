//! Machines for tests: each file in `fixtures/` holds the files of one, `=== PATH` before each.

use super::Linux;

pub(super) const VM: &str = include_str!("../../fixtures/vm.tree");
pub(super) const LAPTOP: &str = include_str!("../../fixtures/laptop.tree");
pub(super) const GVISOR: &str = include_str!("../../fixtures/gvisor.tree");

/// `(path, text)` of each file.
fn files(machine: &str) -> impl Iterator<Item = (&str, &str)> {
    machine.split("=== ").skip(1).map(|file| file.split_once('\n').expect("a path and a text"))
}

/// The text of one file.
pub(super) fn file<'a>(machine: &'a str, path: &str) -> &'a str {
    files(machine).find(|(name, _)| *name == path).expect("in the fixture").1
}

/// A root with all files in it, as long as the folder is kept.
pub(super) fn unpack(machine: &str) -> (tempfile::TempDir, Linux) {
    let root = tempfile::tempdir().expect("a folder");
    for (path, text) in files(machine) {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let linux = Linux::at(root.path());
    (root, linux)
}
