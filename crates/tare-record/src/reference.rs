//! docs/reference/recording.md and the manifest's JSON Schema, generated from the declarations:
//! what is documented is what is written.

use crate::tables::{ALL, Column, Kind, Table};
use crate::{MANIFEST_FILE, Manifest, SCHEMA_VERSION};
use serde_json::Value;
use std::fmt::Write;

const OPENING: &str = "\
# The recording

<!-- Generated from crates/tare-record by `cargo run -p tare-record --example reference`. -->

A recording is a folder that holds `recording.json` and one Parquet table per kind of record. It is
written whole or not at all, and never changes afterwards. Any tool that reads JSON and Parquet can
read it; inside a table, unit and meaning of a column stand in the metadata of its Arrow field.

- Unknown is `null`, never 0 and never an empty text.
- The ending of a name is its unit: `_ns`, `_us`, `_khz`, `_bytes`, `_ticks`. A *tick* is one step of
  the recording's clock: seconds = ticks / `clock.ticks_per_second`.
- Tables without a row of their own kind may be missing: a recording of the selfish loop has no `deltas`.
";

/// JSON Schema (draft 2020-12) of `recording.json`.
#[must_use]
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Manifest).to_value();
    schema["title"] = Value::from(MANIFEST_FILE);
    schema
}

/// The whole page docs/reference/recording.md.
#[must_use]
pub fn reference_page() -> String {
    let schema = json_schema();
    let mut page = OPENING.to_owned();
    add(
        &mut page,
        &format!("\nSchema version: **{SCHEMA_VERSION}** ([changes](schema-changes.md)). "),
    );
    add(
        &mut page,
        "JSON Schema of the manifest: [recording.schema.json](recording.schema.json).\n",
    );
    add(&mut page, &format!("\n## `{MANIFEST_FILE}`\n"));
    add_object(&mut page, &schema);
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        add(&mut page, &format!("\n### {name}\n"));
        if definition["properties"].is_object() {
            add_object(&mut page, definition);
        } else {
            add_choices(&mut page, definition);
        }
    }
    add(&mut page, "\n## Tables\n");
    for table in ALL {
        add_table(&mut page, table);
    }
    page
}

/// Writing to a text cannot fail.
fn add(page: &mut String, text: &str) {
    page.push_str(text);
}

fn add_row(page: &mut String, cells: &[&str]) {
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

fn add_object(page: &mut String, object: &Value) {
    let _ = write!(page, "\n{}\n\n", words(&object["description"]));
    add_row(page, &["field", "type", "may be null", "meaning"]);
    add_row(page, &["---", "---", "---", "---"]);
    for (name, field) in object["properties"].as_object().into_iter().flatten() {
        let (kind, nullable) = type_of(field);
        let nullable = if nullable { "yes" } else { "" };
        add_row(page, &[&format!("`{name}`"), &kind, nullable, &words(&field["description"])]);
    }
}

fn add_choices(page: &mut String, definition: &Value) {
    let _ = write!(page, "\n{}\n\n", words(&definition["description"]));
    add_row(page, &["value", "meaning"]);
    add_row(page, &["---", "---"]);
    for choice in definition["oneOf"].as_array().into_iter().flatten() {
        let value = choice["const"].as_str().unwrap_or_default();
        add_row(page, &[&format!("`{value}`"), &words(&choice["description"])]);
    }
}

fn add_table(page: &mut String, table: &Table) {
    let _ = write!(page, "\n### `{}.parquet`\n\n{}\n\n", table.name, table.doc);
    add_row(page, &["column", "type", "unit", "null means", "meaning"]);
    add_row(page, &["---", "---", "---", "---", "---"]);
    for Column { name, kind, unit, null, doc } in table.columns {
        let unit = if *unit == "-" { "" } else { unit };
        add_row(page, &[&format!("`{name}`"), type_name(*kind), unit, null.unwrap_or(""), doc]);
    }
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::U32 => "uint32",
        Kind::U64 => "uint64",
        Kind::I64 => "int64",
        Kind::F64 => "float64",
        Kind::Text => "text",
    }
}

/// A doc comment on one line, safe inside a table.
fn words(description: &Value) -> String {
    let text = description.as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Type of a field in words, and whether it may be null.
fn type_of(field: &Value) -> (String, bool) {
    if let Some(reference) = field["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return (format!("[{name}](#{})", name.to_lowercase()), false);
    }
    if let Some(choices) = field["anyOf"].as_array() {
        let (nulls, others): (Vec<_>, Vec<_>) =
            choices.iter().partition(|choice| choice["type"] == "null");
        return (others.first().map_or_else(String::new, |one| type_of(one).0), !nulls.is_empty());
    }
    let names: Vec<&str> = match &field["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return ("any".into(), false),
    };
    let nullable = names.contains(&"null");
    let name = names.into_iter().find(|name| *name != "null").unwrap_or("null");
    (described(name, field), nullable)
}

fn described(name: &str, field: &Value) -> String {
    match name {
        "string" => "text".into(),
        "array" => {
            let count = field["minItems"].as_u64().map_or(String::new(), |n| format!("{n} "));
            format!("list of {count}{}", type_of(&field["items"]).0)
        }
        "object" => format!("map of text to {}", type_of(&field["additionalProperties"]).0),
        "number" => "float64".into(),
        other => field["format"].as_str().unwrap_or(other).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed(name: &str) -> String {
        let path = format!("{}/../../docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    const CURE: &str = "generate it anew: cargo run -p tare-record --example reference";

    #[test]
    fn the_committed_page_is_the_generated_one() {
        assert!(committed("recording.md") == reference_page(), "{CURE}");
        let schema: Value = serde_json::from_str(&committed("recording.schema.json")).expect(CURE);
        assert!(schema == json_schema(), "{CURE}");
    }

    #[test]
    fn every_field_and_column_is_explained() {
        let page = reference_page();
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert!(rows.len() > 100, "{}", rows.len());
        for row in rows {
            assert!(!row.ends_with("|  |"), "no meaning: {row}");
            assert!(!row.contains("| any |") || row.contains("`asked`"), "no type: {row}");
            assert!(!row.contains("[`"), "a link that only rustdoc knows: {row}");
        }
    }

    #[test]
    fn the_version_has_its_entry_in_the_list_of_changes() {
        let heading = format!("## Version {SCHEMA_VERSION}");
        assert!(committed("schema-changes.md").contains(&heading), "{heading}");
    }
}
