//! A recording is there whole or not at all, whatever happens on the way.

mod common;

use common::{deltas, manifest, names_in, small_recording};
use std::fs;
use tare_record::*;

#[test]
fn what_was_written_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("recordings/today/one");
    let mut writer = RecordingWriter::create(&target).expect("created");
    writer.append(&tables::DELTAS, &deltas(0, vec![26, 52])).expect("appended");
    writer.append(&tables::DELTAS, &deltas(1, vec![u32::MAX])).expect("appended");
    assert!(!target.exists(), "no name before it is whole");
    assert_eq!(writer.finish(manifest()).expect("finished"), target);
    assert_eq!(names_in(target.parent().expect("a parent")), ["one"], "nothing hidden is left");
    assert_eq!(names_in(&target), ["deltas.parquet", "recording.json"]);

    let recording = Recording::open(&target).expect("opened");
    let table = &recording.manifest().tables[0];
    assert_eq!((table.rows, table.file.as_str()), (3, "deltas.parquet"));
    let size = fs::metadata(target.join("deltas.parquet")).expect("there").len();
    assert_eq!(table.size_bytes, size);
    let expected = Manifest {
        format: FORMAT.into(),
        schema_version: SCHEMA_VERSION,
        tables: recording.manifest().tables.clone(),
        ..manifest()
    };
    assert_eq!(*recording.manifest(), expected);
    let batches: Vec<_> =
        recording.batches(&tables::DELTAS).expect("a table").map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    assert_eq!(
        batches[0].columns()[1].as_ref(),
        deltas(0, vec![26, 52, u32::MAX]).columns()[1].as_ref()
    );
    assert_eq!(recording.batches(&tables::SLOTS).expect("no such table").count(), 0);
}

#[test]
fn a_drop_leaves_nothing_not_even_the_folders_above() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = RecordingWriter::create(folder.path().join("a/b/c")).expect("created");
    writer.append(&tables::DELTAS, &deltas(0, vec![1; 1000])).expect("appended");
    assert_eq!(names_in(&folder.path().join("a/b")).len(), 1, "hidden beside the target");
    drop(writer);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_panic_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("one");
    let ended = std::thread::spawn(move || {
        let mut writer = RecordingWriter::create(target).expect("created");
        writer.append(&tables::DELTAS, &deltas(0, vec![1])).expect("appended");
        panic!("on purpose");
    });
    assert!(ended.join().is_err());
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn an_existing_target_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "mine").expect("written");
    fs::create_dir(folder.path().join("empty")).expect("made");
    for name in ["file", "empty"] {
        let error = RecordingWriter::create(folder.path().join(name)).expect_err("refused");
        assert!(matches!(error, RecordError::Exists { .. }), "{error}");
        assert!(error.hint().is_some());
    }
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");
    assert_eq!(names_in(folder.path()), ["empty", "file"]);
}

#[test]
fn a_target_that_comes_to_be_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("one");
    let writer = RecordingWriter::create(&target).expect("created");
    fs::create_dir(&target).expect("made");
    fs::write(target.join("theirs"), "x").expect("written");
    let error = writer.finish(manifest()).expect_err("refused");
    assert!(matches!(error, RecordError::Exists { .. }), "{error}");
    assert_eq!(names_in(folder.path()), ["one"]);
    assert_eq!(names_in(&target), ["theirs"]);
}

#[test]
fn a_file_in_the_way_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "").expect("written");
    let error = RecordingWriter::create(folder.path().join("file/one")).expect_err("refused");
    assert!(matches!(error, RecordError::Unwritable { .. }), "{error}");
    assert!(error.to_string().contains("file"), "{error}");
    assert_eq!(names_in(folder.path()), ["file"]);
}

#[test]
fn a_name_that_a_killed_process_left_is_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = folder.path().join(format!(".one.partial-{}", std::process::id()));
    fs::create_dir(&left).expect("made");
    let writer = RecordingWriter::create(folder.path().join("one")).expect("created");
    writer.finish(manifest()).expect("finished");
    assert!(left.exists() && folder.path().join("one/recording.json").exists());
}

#[test]
fn rows_that_are_not_as_declared_are_refused_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = RecordingWriter::create(folder.path().join("one")).expect("created");
    let error = writer.append(&tables::SLOTS, &deltas(0, vec![1])).expect_err("refused");
    assert!(error.to_string().contains("slots"), "{error}");
    writer.append(&tables::DELTAS, &deltas(0, vec![1])).expect("appended");
    let target = writer.finish(manifest()).expect("finished");
    assert_eq!(names_in(&target), ["deltas.parquet", "recording.json"]);
}

#[test]
fn a_manifest_with_a_nan_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = RecordingWriter::create(folder.path().join("one")).expect("created");
    let mut manifest = manifest();
    manifest.clock.ticks_per_second = f64::NAN;
    let error = writer.finish(manifest).expect_err("refused");
    assert!(matches!(error, RecordError::Manifest { .. }), "{error}");
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_hurt_recording_is_told_from_a_foreign_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let damage = |hurt: &dyn Fn(&std::path::Path)| {
        let target = small_recording(folder.path());
        hurt(&target);
        let opened = Recording::open(&target);
        let error =
            opened.and_then(|it| it.batches(&tables::DELTAS)?.try_for_each(|b| b.map(drop)));
        fs::remove_dir_all(&target).expect("removed");
        error.expect_err("refused")
    };
    let cut = damage(&|target| {
        let path = target.join("deltas.parquet");
        let bytes = fs::read(&path).expect("read");
        fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
    });
    assert!(matches!(cut, RecordError::Damaged { .. }), "{cut}");
    let garbled = damage(&|target| {
        let path = target.join("deltas.parquet");
        let bytes = vec![0x55; fs::read(&path).expect("read").len()];
        fs::write(path, bytes).expect("written");
    });
    assert!(matches!(garbled, RecordError::Damaged { .. }), "{garbled}");
    let gone = damage(&|target| fs::remove_file(target.join("deltas.parquet")).expect("removed"));
    assert!(matches!(gone, RecordError::Damaged { .. }), "{gone}");
    let half = damage(&|target| fs::write(target.join(MANIFEST_FILE), "{\"for").expect("written"));
    assert!(matches!(half, RecordError::Damaged { .. }), "{half}");
    let foreign = damage(&|target| fs::write(target.join(MANIFEST_FILE), "{}").expect("written"));
    assert!(matches!(foreign, RecordError::NotARecording { .. }), "{foreign}");
    let bare = damage(&|target| fs::remove_file(target.join(MANIFEST_FILE)).expect("removed"));
    assert!(matches!(bare, RecordError::NotARecording { .. }), "{bare}");
    let newer = damage(&|target| {
        let path = target.join(MANIFEST_FILE);
        let json = fs::read_to_string(&path).expect("read");
        let newer = json.replace("\"schema_version\": 1", "\"schema_version\": 2");
        fs::write(path, newer).expect("written");
    });
    assert!(matches!(newer, RecordError::NewerSchema { found: 2, .. }), "{newer}");
    let outside = damage(&|target| {
        let path = target.join(MANIFEST_FILE);
        let json = fs::read_to_string(&path).expect("read");
        fs::write(path, json.replace("deltas.parquet", "../deltas.parquet")).expect("written");
    });
    assert!(matches!(outside, RecordError::Damaged { .. }), "{outside}");
}

#[test]
fn a_missing_folder_is_unreadable_and_named() {
    let error = Recording::open("no/such/recording").expect_err("refused");
    assert!(matches!(error, RecordError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("recording.json"), "{error}");
}
