//! `tare-probe host`: what this machine is, as it stands in every recording.

use crate::cli::HostFlags;
use crate::failure::Failure;
use crate::output;
use serde_json::Value;
use tare_platform::Platform;

/// Print the host fingerprint.
///
/// # Errors
/// If stdout cannot be written.
pub fn run(flags: &HostFlags, platform: &dyn Platform) -> Result<(), Failure> {
    let host = platform.host();
    if flags.json {
        return output::answer_json(&host);
    }
    // A struct of plain fields: always an object.
    let fields = serde_json::to_value(&host).unwrap_or_default();
    let mut text = String::new();
    for (name, value) in fields.as_object().into_iter().flatten() {
        text += &format!("{name:<18} {}\n", shown(value));
    }
    output::answer(&text)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "unknown".into(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("{} in all, see --json", items.len()),
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(name, value)| format!("{name}: {}", shown(value)));
            pairs.collect::<Vec<_>>().join("; ")
        }
        plain => plain.to_string(),
    }
}
