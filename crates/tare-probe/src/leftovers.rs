//! Hidden folders that killed runs left beside the new recording (`.NAME.partial-PID`).

use crate::output;
use std::path::{Path, PathBuf};

/// Remove those whose process is gone, name those of which nobody can tell. `folder` is where the
/// new recording will be; nothing of ours is there yet, so our own PID means an earlier process.
pub fn clean(folder: &Path, quiet: bool) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(pid) = pid_of(&path) else { continue };
        let said = match is_alive(pid) {
            Some(true) => continue,
            Some(false) => match remove(&path) {
                Ok(()) => format!("note: removed what a killed run left: {}", path.display()),
                Err(why) => format!("note: a killed run left {} ({why})", path.display()),
            },
            None => format!("note: perhaps left by a killed run: {}", path.display()),
        };
        if !quiet {
            output::tell(&said);
        }
    }
}

/// The PID in `.NAME.partial-PID` or `.NAME.partial-PID-NUMBER`.
fn pid_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix('.')?;
    let (_, process) = name.rsplit_once(".partial-")?;
    let (pid, number) = process.split_once('-').unwrap_or((process, "0"));
    number.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Does the process run? `None` where there is no /proc to look at.
fn is_alive(pid: u32) -> Option<bool> {
    let processes = PathBuf::from("/proc");
    if pid == std::process::id() {
        return Some(false);
    }
    processes.join("self").exists().then(|| processes.join(pid.to_string()).exists())
}

/// Remove the folder if it holds nothing but what a recording is made of.
fn remove(path: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(path).map_err(|error| error.to_string())?;
    for entry in entries {
        let name = entry.map_err(|error| error.to_string())?.file_name();
        let name = name.to_string_lossy();
        if !(name.ends_with(".parquet") || name == tare_record::MANIFEST_FILE) {
            return Err(format!("kept, because {name} in it is none of ours"));
        }
    }
    std::fs::remove_dir_all(path).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_partial_folders() {
        for (name, pid) in [
            (".noise.partial-123", Some(123)),
            (".noise.partial-123-2", Some(123)),
            (".a.partial-9.partial-7", Some(7)),
            ("noise.partial-123", None),
            (".noise.partial-", None),
            (".noise.partial-x", None),
            (".noise.partial-1-x", None),
            (".partial-123", None),
        ] {
            assert_eq!(pid_of(Path::new(name)), pid, "{name}");
        }
    }

    #[test]
    fn only_folders_of_ours_whose_process_is_gone_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |name: &str, file: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).expect("made");
            std::fs::write(path.join(file), "x").expect("written");
            path
        };
        let own = std::process::id();
        let gone = make(&format!(".noise.partial-{own}"), "deltas.parquet");
        let strange = make(&format!(".other.partial-{own}"), "thesis.tex");
        let whole = make("noise", "deltas.parquet");
        clean(folder.path(), true);
        assert_eq!([gone.exists(), strange.exists(), whole.exists()], [false, true, true]);
    }
}
