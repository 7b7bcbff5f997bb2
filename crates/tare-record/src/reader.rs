//! Reads a recording back, distrusting it: it may be foreign, newer, cut off or hurt on its way.

use crate::tables::Table;
use crate::writer::MANIFEST_FILE;
use crate::{FORMAT, Manifest, RecordError, SCHEMA_VERSION, TableEntry};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A whole recording.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    manifest: Manifest,
}

impl Recording {
    /// Open the recording in `folder`.
    ///
    /// # Errors
    /// [`RecordError::NotARecording`], [`RecordError::NewerSchema`] (update tare),
    /// [`RecordError::Unreadable`], or [`RecordError::Damaged`] if a table is missing or has not the
    /// size that the manifest says.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let folder = folder.into();
        let manifest = read_manifest(&folder)?;
        for entry in &manifest.tables {
            check_size(&folder, entry)?;
        }
        Ok(Self { folder, manifest })
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Rows of a table in their order, in batches; no batch if the recording has no such table.
    ///
    /// # Errors
    /// [`RecordError::Damaged`] if the file is no Parquet file or not as declared; an item is an
    /// error if a part of it cannot be decoded.
    pub fn batches(
        &self,
        table: &Table,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, RecordError>> + use<>, RecordError> {
        let entry = self.manifest.tables.iter().find(|entry| entry.name == table.name);
        let path = self.folder.join(entry.map_or("", |entry| &entry.file));
        let reader = match entry {
            Some(entry) => Some(open_table(&path, table, entry)?),
            None => None,
        };
        let batches = reader.into_iter().flatten();
        Ok(batches.map(move |batch| batch.map_err(|error| RecordError::damaged(&path, error))))
    }
}

fn read_manifest(folder: &Path) -> Result<Manifest, RecordError> {
    let path = folder.join(MANIFEST_FILE);
    let not = |why: String| RecordError::NotARecording { path: folder.to_owned(), why };
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(_) if folder.exists() && !path.exists() => {
            return Err(not(format!("there is no `{MANIFEST_FILE}` in it")));
        }
        Err(source) => return Err(RecordError::Unreadable { path, source }),
    };
    // Format and version first: the rest of a newer manifest may not be readable at all.
    let json: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| RecordError::damaged(&path, error))?;
    if json["format"] != FORMAT {
        return Err(not(format!("its `format` is not `{FORMAT}`")));
    }
    match json["schema_version"].as_u64().and_then(|version| u32::try_from(version).ok()) {
        Some(SCHEMA_VERSION) => {}
        Some(found) if found > SCHEMA_VERSION => {
            return Err(RecordError::NewerSchema { path, found, known: SCHEMA_VERSION });
        }
        _ => return Err(not("it has no schema version that ever was".into())),
    }
    serde_json::from_value(json).map_err(|error| RecordError::damaged(&path, error))
}

fn check_size(folder: &Path, entry: &TableEntry) -> Result<(), RecordError> {
    let path = folder.join(&entry.file);
    if Path::new(&entry.file).file_name().is_none_or(|name| name != entry.file.as_str()) {
        return Err(RecordError::damaged(&folder.join(MANIFEST_FILE), "a table lies outside"));
    }
    let found = match fs::metadata(&path) {
        Ok(file) => file.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(RecordError::damaged(&path, "the manifest names it, but it is not there"));
        }
        Err(source) => return Err(RecordError::Unreadable { path, source }),
    };
    if found != entry.size_bytes {
        let why = format!("{found} bytes instead of {}", entry.size_bytes);
        return Err(RecordError::damaged(&path, why));
    }
    Ok(())
}

type Reader = parquet::arrow::arrow_reader::ParquetRecordBatchReader;

fn open_table(path: &Path, table: &Table, entry: &TableEntry) -> Result<Reader, RecordError> {
    let file = File::open(path)
        .map_err(|source| RecordError::Unreadable { path: path.to_owned(), source })?;
    let damaged = |why: String| RecordError::damaged(path, why);
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| damaged(error.to_string()))?;
    let rows = builder.metadata().file_metadata().num_rows();
    if u64::try_from(rows) != Ok(entry.rows) {
        return Err(damaged(format!("{rows} rows instead of {}", entry.rows)));
    }
    check_columns(builder.schema(), table).map_err(damaged)?;
    builder.build().map_err(|error| damaged(error.to_string()))
}

/// Every declared column must be there with its type; one that may be null may be missing, because
/// a new one does not raise the schema version.
fn check_columns(schema: &Schema, table: &Table) -> Result<(), String> {
    for column in table.columns {
        match schema.field_with_name(column.name) {
            Ok(field) if *field.data_type() == column.kind.data_type() => {}
            Ok(field) => return Err(format!("`{}` holds {}", column.name, field.data_type())),
            Err(_) if column.null.is_some() => {}
            Err(_) => return Err(format!("there is no column `{}`", column.name)),
        }
    }
    Ok(())
}
