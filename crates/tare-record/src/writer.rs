//! Writes a recording whole or not at all.
//!
//! Everything goes into a hidden folder beside the target (`.NAME.partial-PID`), is brought to the
//! disk, and only then gets its name by one rename. Whoever sees `NAME` sees all of it. An error, a
//! drop or a panic removes the hidden folder; only a killed process or a lost machine leaves it, and
//! it can be deleted at any time.
//!
//! Memory: a table holds at most one row group ([`ROW_GROUP_ROWS`] rows), encoded.

use crate::schema::declared;
use crate::tables::Table;
use crate::{FORMAT, Manifest, RecordError, SCHEMA_VERSION, TableEntry};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Rows of a row group: large enough that its headers weigh nothing, small enough that one of each
/// table fits into a few MiB.
pub const ROW_GROUP_ROWS: usize = 1 << 20;

/// Largest dictionary of a column chunk, bytes. A row group of distinct counts of ticks seldom has
/// more than 2^16 values of 4 bytes; beyond that plain values are no larger than their index.
const DICTIONARY_BYTES: usize = 1 << 18;

/// Columns that only rise within a trace: their differences are small, a dictionary of them is not.
const RISING: [&str; 2] = ["start_ticks", "slot"];

/// Name of the manifest inside a recording's folder.
pub const MANIFEST_FILE: &str = "recording.json";

/// A recording that is being written.
#[derive(Debug)]
pub struct RecordingWriter {
    // Dropped in this order: files must be closed before Windows lets their folder go.
    tables: Vec<OpenTable>,
    partial: PartialFolder,
    target: PathBuf,
    failed: bool,
}

#[derive(Debug)]
struct OpenTable {
    name: &'static str,
    path: PathBuf,
    writer: ArrowWriter<File>,
    rows: u64,
}

impl RecordingWriter {
    /// Begin a recording that will be the folder `target`; missing folders above it are made.
    ///
    /// # Errors
    /// [`RecordError::Exists`] if anything has that name: choose another.
    /// [`RecordError::Unwritable`] or [`RecordError::Full`] if nothing can be made there.
    pub fn create(target: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let target = target.into();
        refuse_existing(&target)?;
        let partial = PartialFolder::create(&target)?;
        Ok(Self { tables: Vec::new(), partial, target, failed: false })
    }

    /// The folder that the recording will be.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Add rows to the end of a table. Any number of rows at a time, any number of times; with none
    /// the table is there, and empty.
    ///
    /// # Errors
    /// [`RecordError::Batch`] if the rows are not as declared; the writer can go on.
    /// [`RecordError::Full`] or [`RecordError::Unwritable`] if the disk does not take them; the
    /// writer is [`RecordError::Broken`] from then on, drop it.
    pub fn append(&mut self, table: &'static Table, rows: &RecordBatch) -> Result<(), RecordError> {
        self.refuse_broken()?;
        let rows = declared(table, rows)?;
        let written = self.table(table).and_then(|open| open.append(&rows));
        self.failed = written.is_err();
        written
    }

    /// Bring everything to the disk and give the recording its name. Fills in the manifest's
    /// `format`, `schema_version` and `tables`. Returns the recording's folder.
    ///
    /// # Errors
    /// As [`Self::append`]; [`RecordError::Exists`] if the target came to be meanwhile;
    /// [`RecordError::Manifest`] if a required number is NaN or infinite. Nothing is left then.
    pub fn finish(mut self, mut manifest: Manifest) -> Result<PathBuf, RecordError> {
        self.refuse_broken()?;
        let tables = std::mem::take(&mut self.tables);
        FORMAT.clone_into(&mut manifest.format);
        manifest.schema_version = SCHEMA_VERSION;
        manifest.tables = tables.into_iter().map(OpenTable::close).collect::<Result<_, _>>()?;
        let path = self.partial.path.join(MANIFEST_FILE);
        write_durably(&path, &to_json(&manifest)?)?;
        sync_folder(&self.partial.path)?;
        self.partial.rename(&self.target)?;
        Ok(self.target)
    }

    fn refuse_broken(&self) -> Result<(), RecordError> {
        if self.failed {
            return Err(RecordError::Broken { target: self.target.clone() });
        }
        Ok(())
    }

    fn table(&mut self, table: &'static Table) -> Result<&mut OpenTable, RecordError> {
        let known = self.tables.iter().position(|open| open.name == table.name);
        let at = match known {
            Some(at) => at,
            None => {
                self.tables.push(OpenTable::create(&self.partial.path, table)?);
                self.tables.len() - 1
            }
        };
        Ok(&mut self.tables[at])
    }
}

impl OpenTable {
    fn create(folder: &Path, table: &'static Table) -> Result<Self, RecordError> {
        let path = folder.join(file_name(table));
        let file = File::create_new(&path).map_err(|error| RecordError::writing(&path, error))?;
        let writer = ArrowWriter::try_new(file, table.schema(), Some(properties(table)))
            .map_err(|error| RecordError::writing_table(&path, error))?;
        Ok(Self { name: table.name, path, writer, rows: 0 })
    }

    fn append(&mut self, rows: &RecordBatch) -> Result<(), RecordError> {
        self.writer.write(rows).map_err(|error| RecordError::writing_table(&self.path, error))?;
        self.rows += rows.num_rows() as u64;
        Ok(())
    }

    fn close(self) -> Result<TableEntry, RecordError> {
        let Self { name, path, writer, rows } = self;
        let file = writer.into_inner().map_err(|error| RecordError::writing_table(&path, error))?;
        file.sync_all().map_err(|error| RecordError::writing(&path, error))?;
        let size = file.metadata().map_err(|error| RecordError::writing(&path, error))?.len();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(TableEntry { name: name.to_owned(), file, rows, size_bytes: size })
    }
}

/// Name of a table's file inside a recording's folder.
pub(crate) fn file_name(table: &Table) -> String {
    format!("{}.parquet", table.name)
}

/// LZ4 because it is pure Rust (cross builds need no C compiler) and costs next to nothing; the
/// dictionary does most of the work on counts of ticks.
fn properties(table: &Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(format!("tare-record {}", env!("CARGO_PKG_VERSION")));
    for column in table.columns.iter().filter(|column| RISING.contains(&column.name)) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

/// The manifest as JSON that [`crate::Recording::open`] will take: JSON has no NaN, and writes null.
fn to_json(manifest: &Manifest) -> Result<Vec<u8>, RecordError> {
    let wrong = |why: serde_json::Error| RecordError::Manifest { why: why.to_string() };
    let mut json = serde_json::to_vec_pretty(manifest).map_err(wrong)?;
    json.push(b'\n');
    serde_json::from_slice::<Manifest>(&json).map_err(wrong)?;
    Ok(json)
}

fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let write = || {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| RecordError::writing(path, error))
}

/// Bring a folder's entries to the disk. Some file systems have no such call and say so.
#[cfg(unix)]
fn sync_folder(path: &Path) -> Result<(), RecordError> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Err(RecordError::writing(path, error))
        }
        _ => Ok(()),
    }
}

/// Windows has no such call; NTFS keeps renames in its journal.
#[cfg(not(unix))]
fn sync_folder(_path: &Path) -> Result<(), RecordError> {
    Ok(())
}

fn refuse_existing(target: &Path) -> Result<(), RecordError> {
    match target.symlink_metadata() {
        Ok(_) => Err(RecordError::Exists { path: target.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(RecordError::writing(target, error)),
    }
}

/// The hidden folder; removes itself, and the folders made above it, unless it was renamed.
#[derive(Debug)]
struct PartialFolder {
    path: PathBuf,
    /// Folders made on the way to it, the outermost first.
    made: Vec<PathBuf>,
    renamed: bool,
}

impl PartialFolder {
    fn create(target: &Path) -> Result<Self, RecordError> {
        let unnamed = || {
            let why = io::Error::new(io::ErrorKind::InvalidInput, "the path names no folder");
            RecordError::writing(target, why)
        };
        let name = target.file_name().ok_or_else(unnamed)?.to_string_lossy().into_owned();
        let parent = parent_of(target);
        let mut folder = Self { path: PathBuf::new(), made: Vec::new(), renamed: false };
        let missing: Vec<&Path> = parent
            .ancestors()
            .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
            .collect();
        for above in missing.into_iter().rev() {
            fs::create_dir(above).map_err(|error| RecordError::writing(above, error))?;
            folder.made.push(above.to_owned());
        }
        folder.path = create_unused(parent, &format!(".{name}.partial-{}", std::process::id()))?;
        Ok(folder)
    }

    /// Never replaces anything: the target is looked for just before, and rename(2) itself replaces
    /// no folder but an empty one.
    fn rename(&mut self, target: &Path) -> Result<(), RecordError> {
        refuse_existing(target)?;
        fs::rename(&self.path, target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
                RecordError::Exists { path: target.to_owned() }
            }
            _ => RecordError::writing(target, error),
        })?;
        self.renamed = true;
        sync_folder(parent_of(target))
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        if self.renamed {
            return;
        }
        // Nothing more can be done here about a folder that will not go.
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.path);
        }
        for above in self.made.iter().rev() {
            let _ = fs::remove_dir(above);
        }
    }
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new folder; numbered if an earlier process of the same PID was killed and left its own.
fn create_unused(parent: &Path, name: &str) -> Result<PathBuf, RecordError> {
    for number in 0..1000 {
        let path = parent.join(if number == 0 { name.into() } else { format!("{name}-{number}") });
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(RecordError::writing(&path, error)),
        }
    }
    Err(RecordError::Exists { path: parent.join(name) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{batch, tables};
    use arrow_array::UInt32Array;
    use std::sync::Arc;

    /// Grows neither with the number of rows nor with that of appends.
    #[test]
    fn memory_is_bounded_by_a_row_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = RecordingWriter::create(folder.path().join("one")).expect("created");
        let mut largest = 0;
        for round in 0..10_u32 {
            let values = (0..ROW_GROUP_ROWS as u32).map(|i| i.wrapping_mul(0x9E37_79B9) ^ round);
            let values = Arc::new(UInt32Array::from_iter_values(values));
            let ids = Arc::new(UInt32Array::from(vec![0; ROW_GROUP_ROWS]));
            let rows = batch(&tables::DELTAS, vec![ids, values]).expect("as declared");
            for at in [0, ROW_GROUP_ROWS / 2] {
                let part = rows.slice(at, ROW_GROUP_ROWS / 2);
                writer.append(&tables::DELTAS, &part).expect("appended");
                largest = largest.max(writer.tables[0].writer.memory_size());
            }
        }
        assert_eq!(writer.tables[0].rows, 10 * ROW_GROUP_ROWS as u64);
        // Two columns of 4 bytes, and as much again for what is being encoded.
        assert!(largest <= 4 * 4 * ROW_GROUP_ROWS, "{largest} bytes");
    }
}
