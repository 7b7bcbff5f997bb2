//! The recording: the only thing that passes between measuring and everything else.
//!
//! A recording is a folder: `recording.json` (the [`Manifest`]) and one Parquet table per kind of
//! record, each declared in [`tables`] with its unit, its nulls and its meaning. It is written under
//! a temporary name and renamed when whole ([`RecordingWriter`]); after that it never changes.
//!
//! Not here: measuring (tare-noise), asking the OS (tare-platform), statistics (Python).

mod error;
mod manifest;
mod reader;
mod reference;
mod schema;
pub mod tables;
mod writer;

/// The Arrow arrays that [`batch`] takes.
pub use arrow_array as arrow;
pub use error::RecordError;
pub use manifest::*;
pub use reader::Recording;
pub use reference::{json_schema, reference_page};
pub use schema::batch;
pub use writer::{MANIFEST_FILE, ROW_GROUP_ROWS, RecordingWriter};

/// The `format` field of every manifest: tells a recording from any other JSON file.
pub const FORMAT: &str = "tare-recording";

/// Version of the manifest and of all tables. Raised when a field or column changes its meaning,
/// its unit or its type, or goes away; a new nullable field or a new table does not raise it.
/// Every change is written down in docs/reference/schema-changes.md.
pub const SCHEMA_VERSION: u32 = 1;
