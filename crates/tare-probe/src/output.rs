//! stdout carries the answer, stderr everything else. A reader that goes away is no failure.

use crate::failure::Failure;
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Write the answer to stdout.
///
/// # Errors
/// If stdout cannot be written, other than because nobody reads it any more.
pub fn answer(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::unable(format!("stdout cannot be written: {error}"), "see where it goes"))
        }
        _ => Ok(()),
    }
}

/// Write the answer to stdout as one JSON object.
///
/// # Errors
/// As [`answer`].
pub fn answer_json(value: &impl Serialize) -> Result<(), Failure> {
    let report = "please report this with the command that you gave";
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::unable(format!("the answer is no JSON: {error}"), report))?;
    answer(&(text + "\n"))
}

/// Write one line to stderr. There is nowhere left to say that stderr cannot be written.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Flags that clap did not understand; also `--help` and `--version`, which are no failure.
pub fn wrong_use(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // As in `answer`: nobody reading is no failure.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let mut parts = text.split("\n\n").map(str::trim);
    tell(parts.next().unwrap_or("error: these flags are not understood"));
    for tip in parts.filter_map(|part| part.strip_prefix("tip: ")) {
        tell(&format!("hint: {}", tip.trim()));
    }
    tell("hint: --help lists every flag, with its unit and its default");
    ExitCode::from(2)
}
