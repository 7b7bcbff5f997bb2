//! Traces into the tables of a recording, in the order in which they are measured.

use super::plan::Group;
use super::request::Request;
use crate::failure::Failure;
use crate::words;
use std::path::PathBuf;
use std::sync::Arc;
use tare_noise::loops::selfish::Detour;
use tare_noise::{Records, Trace};
use tare_record::arrow::{
    ArrayRef, Float64Array, Int64Array, StringArray, UInt32Array, UInt64Array,
};
use tare_record::tables::{self, Table};
use tare_record::{Losses, Manifest, ROW_GROUP_ROWS, RecordError, RecordingWriter, batch};

/// Least space that the smallest recording takes, bytes.
const LEAST_DISK_BYTES: u64 = 64 << 10;

/// A recording of noise that is being written.
pub struct Recorder {
    writer: RecordingWriter,
    next_trace: u32,
    next_group: u32,
    losses: Losses,
}

impl Recorder {
    /// Begin, after a look at the space on the disk.
    ///
    /// # Errors
    /// Exit code 2 if the folder exists, 3 if it cannot be written or the disk is full.
    pub fn create(request: &Request) -> Result<Self, Failure> {
        let writer = RecordingWriter::create(&request.target)?;
        // Not told: then writing will show.
        let free = fs4::available_space(request.parent()).ok();
        if let Some(free) = free.filter(|&free| free < LEAST_DISK_BYTES) {
            let place = request.parent().display();
            return Err(Failure::unable(
                format!("the disk of {place} is full: {} left", words::size(free)),
                "make space, or name a folder on another disk with -o",
            ));
        }
        Ok(Self { writer, next_trace: 0, next_group: 0, losses: Losses::default() })
    }

    /// Add the traces of one group.
    ///
    /// # Errors
    /// If the disk does not take them.
    pub fn add(&mut self, group: &Group, traces: &[Trace]) -> Result<(), RecordError> {
        let first = self.next_trace;
        let ids = first..first + traces.len() as u32;
        let rows = trace_rows(group, self.next_group, ids.clone(), traces);
        self.writer.append(&tables::TRACES, &batch(&tables::TRACES, rows)?)?;
        for (id, trace) in ids.zip(traces) {
            self.add_records(id, &trace.records)?;
            self.losses.records += trace.lost_records;
            self.losses.wrapped_deltas += trace.wrapped_deltas;
        }
        self.next_trace += traces.len() as u32;
        self.next_group += 1;
        Ok(())
    }

    /// The writer, for tables that are not of traces.
    pub fn writer(&mut self) -> &mut RecordingWriter {
        &mut self.writer
    }

    /// Traces so far.
    pub fn traces(&self) -> u64 {
        self.next_trace.into()
    }

    /// What is missing.
    pub fn losses(&self) -> Losses {
        self.losses.clone()
    }

    /// End it. Returns where it is.
    ///
    /// # Errors
    /// If the disk does not take the rest.
    pub fn finish(self, manifest: Manifest) -> Result<PathBuf, RecordError> {
        self.writer.finish(manifest)
    }

    fn add_records(&mut self, id: u32, records: &Records) -> Result<(), RecordError> {
        match records {
            Records::Deltas(deltas) => self.chunks(&tables::DELTAS, id, deltas, |deltas, _| {
                vec![Arc::new(UInt32Array::from(deltas.to_vec())) as ArrayRef]
            }),
            Records::Detours(detours) => {
                self.chunks(&tables::DETOURS, id, detours, |detours, _| {
                    vec![u64s(detours, |d: &Detour| d.start_ticks), u64s(detours, |d| d.gap_ticks)]
                })
            }
            Records::Readings(readings) => {
                let starts = &readings[..readings.len().saturating_sub(1)];
                self.chunks(&tables::QUANTA, id, starts, |starts, from| {
                    let ends = &readings[from + 1..];
                    let durations =
                        starts.iter().zip(ends).map(|(start, end)| end.wrapping_sub(*start));
                    let durations = UInt64Array::from_iter_values(durations);
                    vec![u64s(starts, |&start| start), Arc::new(durations)]
                })
            }
            Records::Slots(work) => self.chunks(&tables::SLOTS, id, work, |work, from| {
                let numbers = (from as u64..).take(work.len());
                vec![Arc::new(UInt64Array::from_iter_values(numbers)), u64s(work, |&units| units)]
            }),
        }
    }

    /// Append in pieces of a row group; `columns` makes all but the first from a piece and the
    /// place where it begins. An empty trace leaves an empty table, so that it is there.
    fn chunks<T>(
        &mut self,
        table: &'static Table,
        id: u32,
        records: &[T],
        columns: impl Fn(&[T], usize) -> Vec<ArrayRef>,
    ) -> Result<(), RecordError> {
        let empty: &[T] = &[];
        let pieces = records.chunks(ROW_GROUP_ROWS).chain(records.is_empty().then_some(empty));
        for (number, piece) in pieces.enumerate() {
            let mut all: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(vec![id; piece.len()]))];
            all.extend(columns(piece, number * ROW_GROUP_ROWS));
            self.writer.append(table, &batch(table, all)?)?;
        }
        Ok(())
    }
}

fn u64s<T>(values: &[T], of: impl Fn(&T) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values.iter().map(of)))
}

/// Columns of `traces`, in the order of its declaration.
fn trace_rows(
    group: &Group,
    group_id: u32,
    ids: std::ops::Range<u32>,
    traces: &[Trace],
) -> Vec<ArrayRef> {
    let n = traces.len();
    let text = |value: Option<&str>| Arc::new(StringArray::from(vec![value; n])) as ArrayRef;
    let same = |value: u32| Arc::new(UInt32Array::from(vec![value; n])) as ArrayRef;
    let state = group.memory_state.map(|state| state.name);
    let usage = |of: fn(&tare_platform::ThreadUsage) -> Option<u64>| {
        optional(traces, move |trace| of(&trace.usage))
    };
    let quantum_ns = group.piece.quantum_ns;
    let floors: Float64Array = traces.iter().map(|trace| trace.floor_ticks).collect();
    let skews: Int64Array = traces.iter().map(|trace| trace.start_skew_ticks).collect();
    let after: UInt32Array = traces.iter().map(|trace| trace.cpu_after).collect();
    vec![
        Arc::new(UInt32Array::from_iter_values(ids)),
        text(Some(group.piece.what.name())),
        Arc::new(UInt32Array::from_iter_values(traces.iter().map(|trace| trace.cpu))),
        Arc::new(after),
        same(group_id),
        same(group.repetition),
        same(group.window),
        text(state),
        u64s(traces, |trace| trace.start_ticks),
        u64s(traces, |trace| trace.end_ticks),
        Arc::new(skews),
        u64s(traces, |trace| trace.samples),
        Arc::new(floors),
        optional(traces, |trace| trace.threshold_ticks),
        optional(traces, |_| quantum_ns),
        optional(traces, |trace| trace.work_per_quantum),
        usage(|usage| usage.page_faults_minor),
        usage(|usage| usage.page_faults_major),
        usage(|usage| usage.switches_voluntary),
        usage(|usage| usage.switches_involuntary),
        usage(|usage| usage.cpu_time_ns),
        u64s(traces, |trace| trace.lost_records),
        u64s(traces, |trace| trace.lost_ticks),
        u64s(traces, |trace| trace.wrapped_deltas),
    ]
}

fn optional(traces: &[Trace], of: impl Fn(&Trace) -> Option<u64>) -> ArrayRef {
    Arc::new(traces.iter().map(of).collect::<UInt64Array>())
}
