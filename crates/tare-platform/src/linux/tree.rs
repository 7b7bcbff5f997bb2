//! Reading small files below a root. A file that is missing, unreadable or empty is `None`: on some
//! kernels, in some containers, each of them is.

use std::path::PathBuf;
use std::str::FromStr;

/// The files below one directory.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(super) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The whole file; bytes that are no UTF-8 are replaced. `path` is relative to the root.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.trim().is_empty())
    }

    /// The whole file, as bytes.
    pub(super) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.root.join(path)).ok()
    }

    /// The file's text without the white space around it.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        Some(self.text(path)?.trim().to_owned())
    }

    /// The file's only number.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    /// Names in a directory, sorted; none if there is no such directory.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.join(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Is there such a file or directory?
    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// What the link at `path` points to.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(self.root.join(path)).ok()?.into_os_string().into_string().ok()
    }
}
