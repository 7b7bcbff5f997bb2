//! The built binary: every wrong input, closed pipes, and a short measurement read back. Nothing
//! here needs rights, and nothing judges how long anything took.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use tare_record::arrow::cast::as_primitive_array;
use tare_record::arrow::types::{UInt32Type, UInt64Type};
use tare_record::{Recording, Status, tables};

fn probe(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tare-probe")).args(words).output().expect("the probe starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `tare-probe noise WORDS -o FOLDER/noise`.
fn noise(folder: &Path, words: &[&str]) -> Output {
    let target = folder.join("noise");
    let target = target.to_str().expect("a plain path");
    probe(&[&["noise"], words, &["-o", target]].concat())
}

/// Exit code, that the message says this, a hint, no panic, an empty folder.
fn assert_refused(code: i32, words: &[&str], said: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = noise(folder.path(), words);
    let stderr = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(code), "{words:?}\n{stderr}");
    assert!(stderr.starts_with("error: ") && stderr.contains("\nhint: "), "{stderr}");
    assert!(stderr.contains(said), "{words:?} should say '{said}'\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(ended.stdout.is_empty(), "{}", text(&ended.stdout));
    assert_eq!(folder.path().read_dir().expect("readable").count(), 0, "{words:?}");
}

#[test]
fn wrong_input_is_refused_with_a_hint_and_nothing_is_written() {
    for (words, said) in [
        (&["--cpus", "4000"][..], "CPU 4000 does not exist"),
        (&["--cpus", "one"], "no list of CPUs"),
        (&["--cpus", ""], "no list of CPUs"),
        (&["--duration", "0s"], "longer than zero"),
        (&["--duration", "-1s"], "cannot be negative"),
        (&["--duration", "1000000000h"], "30 days"),
        (&["--duration", "5"], "number and a unit"),
        (&["--samples", "0"], "at least 1"),
        (&["--samples", "-5"], "whole number"),
        (&["--loop", "timestamps", "--samples", "1000000000000000"], "no machine"),
        (&["--repeat", "0"], "0 is not in 1..=100000"),
        (&["--slot", "0ms"], "must be within"),
        (&["--quantum", "nonsense"], "number and a unit"),
        (&["--quantum", "20ms"], "10us and 10ms"),
        (&["--threshold", "0ns"], "must be within"),
        (&["--memory-state", "huge"], "no memory state 'huge'"),
        (&["--loop", "nope"], "invalid value 'nope'"),
        (&["--priority", "highest"], "invalid value 'highest'"),
        (&["--start-at", "2020-01-01T00:00:00Z"], "in the past"),
        (&["--start-at", "tomorrow"], "RFC 3339"),
        (&["--loop", "fwq", "--loop", "fwq"], "twice"),
        (&["--loop", "fwq", "--duration", "1ms", "--quantum", "2ms"], "shorter than one quantum"),
        (&["--bogus"], "unexpected argument '--bogus'"),
    ] {
        assert_refused(2, words, said);
    }
}

#[test]
fn more_samples_than_memory_says_how_many_fit() {
    // 2^39 deltas: 2 TiB.
    assert_refused(
        2,
        &["--loop", "timestamps", "--samples", "549755813888"],
        "of memory can be had",
    );
}

#[test]
fn a_recording_is_never_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let mine = folder.path().join("noise");
    std::fs::create_dir(&mine).expect("made");
    let ended = noise(folder.path(), &["--duration", "10ms"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(text(&ended.stderr).contains("exists already"));
    assert_eq!(mine.read_dir().expect("readable").count(), 0);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let target = file.path().join("noise");
    let ended = probe(&["noise", "--duration", "10ms", "-o", target.to_str().expect("plain")]);
    let stderr = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(file.path().to_str().expect("plain")) && stderr.contains("hint: "));
}

#[test]
fn what_a_killed_run_left_is_removed_if_it_is_ours() {
    let folder = tempfile::tempdir().expect("a folder");
    // PIDs end at 2^22 on Linux; elsewhere nobody can be asked, and the folder stays, named.
    let left = folder.path().join(".noise.partial-4194305");
    std::fs::create_dir(&left).expect("made");
    std::fs::write(left.join("traces.parquet"), "half").expect("written");
    let ended = noise(folder.path(), &["--duration", "10ms"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("partial-4194305"), "{}", text(&ended.stderr));
    assert_eq!(left.exists(), !cfg!(target_os = "linux"));
}

#[test]
fn every_loop_is_recorded_as_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "--loop timestamps --loop selfish --loop fwq --loop ftq --duration 20ms \
                 --samples 2500 --quantum 100us --slot 200us --slot 370us --repeat 2 \
                 --memory-state prime-small --memory-state none --json --progress json";
    let ended = noise(folder.path(), &words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));

    let answer: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("one object");
    let opened = Recording::open(folder.path().join("noise")).expect("whole");
    assert_eq!(answer["recording"], folder.path().join("noise").to_str().expect("plain"));
    let manifest = opened.manifest();
    assert_eq!((manifest.status, manifest.kind.as_str()), (Status::Complete, "noise"));
    assert_eq!(manifest.asked["samples"], 2500);
    let rows = |name: &str| manifest.tables.iter().find(|table| table.name == name).map(|t| t.rows);
    // Five loops (ftq twice), two repetitions, two memory states, one window each.
    assert_eq!(rows("traces"), Some(5 * 2 * 2));
    assert_eq!(rows("deltas"), Some(4 * 2500));
    assert_eq!(rows("slots"), Some(4 * (100 + 54)));
    assert!(rows("quanta") > Some(0) && rows("detours").is_some());
    assert!(manifest.clock.ticks_per_second > 1e6 && manifest.clock.rate_n > 2);
    assert!(manifest.clock.cpu_offset_ns.is_none(), "one CPU has nobody to disagree with");
    let names: Vec<&str> = manifest.rungs.iter().map(|rung| rung.name.as_str()).collect();
    for name in ["pin", "fifo", "lock_memory", "prefault", "rt_throttling"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }

    let lines = text(&ended.stderr);
    let last = lines.lines().rfind(|line| line.starts_with('{')).expect("progress");
    let last: serde_json::Value = serde_json::from_str(last).expect("an object a line");
    assert_eq!(last["done_ns"], last["total_ns"]);
}

#[test]
fn rows_of_a_trace_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = noise(folder.path(), &["--loop", "timestamps", "--samples", "1234", "-q"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(ended.stderr.is_empty(), "{}", text(&ended.stderr));
    let opened = Recording::open(folder.path().join("noise")).expect("whole");
    let column = |table, name: &str| -> Vec<u64> {
        let mut values = Vec::new();
        for batch in opened.batches(table).expect("there") {
            let batch = batch.expect("readable");
            let column = batch.column_by_name(name).expect("declared");
            let column = as_primitive_array::<UInt64Type>(column);
            values.extend(column.values().iter().copied());
        }
        values
    };
    assert_eq!(column(&tables::TRACES, "samples"), [1234]);
    let length =
        column(&tables::TRACES, "end_ticks")[0] - column(&tables::TRACES, "start_ticks")[0];
    let mut sum = 0;
    for batch in opened.batches(&tables::DELTAS).expect("there") {
        let batch = batch.expect("readable");
        let deltas = batch.column_by_name("delta_ticks").expect("declared");
        let deltas = as_primitive_array::<UInt32Type>(deltas);
        sum += deltas.values().iter().map(|&delta| u64::from(delta)).sum::<u64>();
    }
    assert_eq!(sum, length);
}

#[test]
fn a_threshold_below_every_gap_overflows_the_buffer_and_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = noise(folder.path(), &["--threshold", "1ns", "--duration", "40ms", "--json"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let opened = Recording::open(folder.path().join("noise")).expect("whole");
    let manifest = opened.manifest();
    let kept = manifest.tables.iter().find(|table| table.name == "detours").expect("there").rows;
    let answer: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("one object");
    let detours = answer["measurements"][0]["detours"].as_u64().expect("a count");
    assert_eq!(detours, kept + manifest.losses.records);
    if manifest.losses.records > 0 {
        let doubts = answer["doubts"].to_string();
        assert!(doubts.contains("did not fit"), "{doubts}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for words in [&["host"][..], &["reference", "recording"], &["--help"], &["completions", "bash"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tare-probe"))
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the probe starts");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{words:?}\n{}", text(&ended.stderr));
        assert!(ended.stderr.is_empty(), "{words:?}\n{}", text(&ended.stderr));
    }
}

#[test]
fn pages_are_made_from_the_definitions() {
    let page = text(&probe(&["reference"]).stdout);
    for flag in ["--memory-state", "--start-at", "--threshold", "tare-probe clock"] {
        assert!(page.contains(flag), "{flag}");
    }
    assert!(text(&probe(&["man", "noise"]).stdout).contains("memory"));
    assert!(text(&probe(&["completions", "fish"]).stdout).contains("tare-probe"));
    let ended = probe(&["man", "nothing"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(text(&ended.stderr).contains("hint: there are: noise"));
}

#[test]
fn the_committed_page_is_the_one_that_is_made_now() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/probe.md");
    let committed = std::fs::read_to_string(committed).expect("docs/reference/probe.md");
    let made = text(&probe(&["reference", "probe"]).stdout);
    assert!(committed == made, "run `tare-probe reference probe > docs/reference/probe.md`");
}

#[test]
fn the_clock_is_judged() {
    let ended = probe(&["clock", "--duration", "50ms", "--json"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("one object");
    for field in ["ticks_per_second", "read_cost_ns", "store_cost_ratio", "threshold_ns", "step_ns"]
    {
        assert!(answer[field].as_f64().is_some_and(|value| value > 0.0), "{field}: {answer}");
    }
}
