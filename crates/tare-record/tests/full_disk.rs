//! System test: a disk that fills up. Mounts a tmpfs of 256 KiB, so it needs Linux and root; says so
//! when it is skipped.
#![cfg(target_os = "linux")]

mod common;

use common::{deltas, manifest, names_in};
use std::path::Path;
use std::process::Command;
use tare_record::*;

/// A tiny disk that goes away with the test.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path) -> Result<Self, String> {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tare-full-disk"])
            .arg(at)
            .output()
            .map_err(|error| format!("no `mount`: {error}"))?;
        if done.status.success() {
            Ok(Self(at))
        } else {
            Err(String::from_utf8_lossy(&done.stderr).trim().to_owned())
        }
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_is_named_and_left_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = match SmallDisk::mount(folder.path()) {
        Ok(disk) => disk,
        Err(why) => {
            eprintln!("skipped: a tmpfs cannot be mounted here (needs root): {why}");
            return;
        }
    };
    let mut writer = RecordingWriter::create(disk.0.join("one")).expect("created");
    // Distinct values: neither dictionary nor LZ4 makes less than 4 MiB of a row group of them.
    let values: Vec<u32> = (0..1 << 20).map(|i: u32| i.wrapping_mul(0x9E37_79B9)).collect();
    let rows = deltas(0, values);
    let appended = (0..2).find_map(|_| writer.append(&tables::DELTAS, &rows).err());
    let error = appended.expect("4 MiB do not fit into 256 KiB");
    assert!(matches!(error, RecordError::Full { .. }), "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("space")));
    let error = writer.append(&tables::DELTAS, &deltas(0, vec![1])).expect_err("broken");
    assert!(matches!(error, RecordError::Broken { .. }), "{error}");
    let error = writer.finish(manifest()).expect_err("broken");
    assert!(matches!(error, RecordError::Broken { .. }), "{error}");
    assert_eq!(names_in(disk.0), [""; 0]);

    // Found out only at the end: the rows wait in memory until then.
    let mut writer = RecordingWriter::create(disk.0.join("one")).expect("created");
    writer.append(&tables::DELTAS, &rows.slice(0, 1 << 19)).expect("still in memory");
    let error = writer.finish(manifest()).expect_err("does not fit");
    assert!(matches!(error, RecordError::Full { .. }), "{error:?}");
    assert_eq!(names_in(disk.0), [""; 0]);
}
