//! Numeric kernels of the analysis: what NumPy would do too slowly or in too much memory.
//!
//! Answers: how skewed is a sample, exactly ([`medcouple`](fn@medcouple), [`medcouple_tally`]);
//! what does a trace of 10^8 deltas hold, in one pass and bounded memory ([`TraceScan`]).
//! Does not answer: what counts as noise (that is inference, `python/tare/noise`).
//! Place on the way of the data: measure -> recording -> **infer** -> show. Nothing here measures,
//! reads files or prints; `tare-python` hands these functions to Python as `tare._native`.
#![forbid(unsafe_code)]

mod implicit_matrix;
mod medcouple;
mod trace_scan;

pub use medcouple::{MedcoupleError, medcouple, medcouple_tally};
pub use trace_scan::{
    Detour, LENGTH_BINS, LongestInBin, ScanError, ScanPlan, TraceScan, length_bin, length_edges,
};
