//! A manifest and rows that the tests share.

#![allow(dead_code, reason = "not every test file needs all of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tare_record::arrow::{RecordBatch, UInt32Array};
use tare_record::*;

pub fn manifest() -> Manifest {
    Manifest {
        format: String::new(),
        schema_version: 0,
        kind: "noise".into(),
        tool: Tool {
            name: "tare-probe".into(),
            version: "0.1.0".into(),
            target: "x86_64-unknown-linux-gnu".into(),
        },
        started_at: "2025-01-01T00:00:00Z".into(),
        finished_at: "2025-01-01T00:00:05Z".into(),
        status: Status::Complete,
        status_reason: None,
        asked: BTreeMap::from([("cpus".to_owned(), serde_json::json!([0, 2]))]),
        host: Host { os: "linux".into(), architecture: "x86_64".into(), ..Host::default() },
        clock: Clock {
            source: "tsc".into(),
            invariant: None,
            reference: "CLOCK_MONOTONIC_RAW".into(),
            ticks_per_second: 2.6e9,
            rate_residual_ns: 31.5,
            rate_n: 100,
            rate_span_ns: 5_000_000_000,
            read_cost_ns: 9.5,
            read_cost_range_ns: [9.4, 9.9],
            step_ticks: 26,
            store_cost_ratio: None,
            anchor_ticks: 1 << 60,
            anchor_monotonic_ns: u64::MAX,
            anchor_unix_ns: 1_735_689_600_000_000_000,
            cpu_offset_ns: None,
        },
        rungs: vec![],
        conditions: Conditions::default(),
        losses: Losses::default(),
        tables: vec![],
    }
}

pub fn deltas(trace_id: u32, delta_ticks: Vec<u32>) -> RecordBatch {
    let ids = UInt32Array::from(vec![trace_id; delta_ticks.len()]);
    let columns = vec![Arc::new(ids) as _, Arc::new(UInt32Array::from(delta_ticks)) as _];
    batch(&tables::DELTAS, columns).expect("as declared")
}

/// Names of everything in a folder, hidden ones too.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A recording of one small table, written into `folder`.
pub fn small_recording(folder: &Path) -> PathBuf {
    let mut writer = RecordingWriter::create(folder.join("small")).expect("created");
    writer.append(&tables::DELTAS, &deltas(0, vec![26, 52, 26])).expect("appended");
    writer.finish(manifest()).expect("finished")
}
