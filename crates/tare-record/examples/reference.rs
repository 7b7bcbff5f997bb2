//! Writes docs/reference/recording.md and recording.schema.json from the declarations.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("recording.md"), tare_record::reference_page())?;
    let mut schema = serde_json::to_string_pretty(&tare_record::json_schema())?;
    schema.push('\n');
    std::fs::write(folder.join("recording.schema.json"), schema)?;
    Ok(())
}
