//! What can go wrong with a recording: what, where, why, and the next step.

use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// A recording could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Something is at the target already; a recording never replaces anything.
    #[error("{} exists already", path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// No room left; what was written has been removed again.
    #[error("no space left to write {}", path.display())]
    Full {
        /// The file that did not fit.
        path: PathBuf,
        /// What the OS said.
        source: io::Error,
    },
    /// A file or folder cannot be made or written there.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// What the OS said.
        source: io::Error,
    },
    /// Rows that are not as [`crate::tables`] declares them: a mistake in tare.
    #[error("rows for table `{table}` are not as declared: {why}")]
    Batch {
        /// The table.
        table: &'static str,
        /// The difference.
        why: String,
    },
    /// A manifest that JSON cannot hold: a mistake in tare.
    #[error("the manifest cannot be written as JSON: {why}")]
    Manifest {
        /// What does not survive.
        why: String,
    },
    /// An earlier write failed; the recording is beyond repair.
    #[error("writing {} failed before and cannot go on", target.display())]
    Broken {
        /// The target.
        target: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the OS said.
        source: io::Error,
    },
    /// No recording at all.
    #[error("{} is not a recording: {why}", path.display())]
    NotARecording {
        /// The file or folder.
        path: PathBuf,
        /// How it shows.
        why: String,
    },
    /// Written by a later tare.
    #[error("{} has schema version {found}; this tare knows {known}", path.display())]
    NewerSchema {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// [`crate::SCHEMA_VERSION`].
        known: u32,
    },
    /// A recording that lost something after it was written.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How it shows.
        why: String,
    },
}

impl RecordError {
    /// The next step for whoever meets this; `None` where there is none to take.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Exists { .. } => Some("name another folder with `-o`, or move that one away"),
            Self::Full { .. } => Some(
                "free some space, name a folder on another disk with `-o`, or measure for a \
                 shorter time; nothing half-written was left",
            ),
            Self::Unwritable { .. } => Some("name a folder that you may write to with `-o`"),
            Self::Batch { .. } | Self::Manifest { .. } => {
                Some("this is a fault in tare; please report it with this message")
            }
            Self::Broken { .. } => None,
            Self::Unreadable { .. } => Some("check the path and your right to read it"),
            Self::NotARecording { .. } => {
                Some("a recording is a folder with `recording.json` in it")
            }
            Self::NewerSchema { .. } => Some("update tare, or read it where it was measured"),
            Self::Damaged { .. } => Some("copy the recording again from where it was measured"),
        }
    }

    /// A failed write of `path`, sorted by what the user can do about it.
    pub(crate) fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path, source },
            _ => Self::Unwritable { path, source },
        }
    }

    /// The same, out of the Parquet library, which wraps what the OS said.
    pub(crate) fn writing_table(path: &Path, error: ParquetError) -> Self {
        Self::writing(path, into_io(error))
    }

    /// A table that Parquet cannot make sense of: files are written whole, so it was hurt later.
    pub(crate) fn damaged(path: &Path, why: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.to_string() }
    }
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_a_missing_right_even_inside_parquet() {
        let full = ParquetError::External(Box::new(io::Error::from(io::ErrorKind::StorageFull)));
        let error = RecordError::writing_table(Path::new("x"), full);
        assert!(matches!(error, RecordError::Full { .. }));
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = RecordError::writing(Path::new("x"), denied);
        assert!(matches!(error, RecordError::Unwritable { .. }));
        assert!(error.hint().is_some_and(|hint| hint.contains("-o")));
    }
}
