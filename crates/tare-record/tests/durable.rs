//! System test: everything is on the disk before the recording gets its name. Watches the system
//! calls of another test with strace; says so when it is skipped.
#![cfg(target_os = "linux")]

mod common;

use common::small_recording;
use std::process::Command;

/// Set for the process that is watched.
const WATCHED: &str = "TARE_WRITE_SMALL_RECORDING_TO";

#[test]
fn files_are_synced_before_the_rename_and_the_folder_above_after_it() {
    if let Some(folder) = std::env::var_os(WATCHED) {
        small_recording(folder.as_ref());
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("calls");
    let watched = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", "files_are_synced_before_the_rename_and_the_folder_above_after_it"])
        .env(WATCHED, folder.path())
        .output();
    match watched {
        Ok(done) if done.status.success() => {}
        Ok(done) => {
            let why = String::from_utf8_lossy(&done.stderr);
            return eprintln!("skipped: strace cannot watch here: {}", why.trim());
        }
        Err(error) => return eprintln!("skipped: no strace: {error}"),
    }
    let log = std::fs::read_to_string(log).expect("strace's log");
    let calls: Vec<&str> = log.lines().filter(|line| line.contains("small")).collect();
    let (before, after) = calls.split_at(
        calls.iter().position(|call| call.contains(" rename")).expect("renamed at the end"),
    );
    let synced = |name: &str| before.iter().any(|c| c.contains("fsync") && c.contains(name));
    for name in ["deltas.parquet>", "recording.json>", &format!(".partial-{}>", pid_of(before[0]))]
    {
        assert!(synced(name), "{name} in {log}");
    }
    assert_eq!(after.len(), 1, "{log}");
    let last = log.lines().rfind(|line| line.contains("fsync")).expect("a call");
    let above = format!("<{}>", folder.path().display());
    assert!(last.contains(&above), "{last} is no sync of {above}");
    assert!(log.find(" rename") < log.find(last), "{log}");
}

/// The process in `PARTIAL-PID`: strace prefixes its lines with a thread, not with the process.
fn pid_of(call: &str) -> &str {
    let rest = call.split(".partial-").nth(1).expect("a hidden folder");
    rest.split(|c: char| !c.is_ascii_digit()).next().expect("its number")
}
