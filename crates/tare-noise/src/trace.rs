//! What one loop on one CPU left behind.

use crate::loops::selfish::Detour;
use tare_platform::ThreadUsage;

/// One trace; all `_ticks` are of the session's counter.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// CPU that it was asked to run on.
    pub cpu: u32,
    /// CPU that it ran on at its end, where the OS tells.
    pub cpu_after: Option<u32>,
    /// Did it run with real-time priority?
    pub real_time: bool,
    /// First reading.
    pub start_ticks: u64,
    /// Last reading.
    pub end_ticks: u64,
    /// First reading after the earliest of the group; `None` for a group of one.
    pub start_skew_ticks: Option<i64>,
    /// Readings after the first, quanta or slots.
    pub samples: u64,
    /// Usual length of an undisturbed iteration; `None` for FWQ and FTQ.
    pub floor_ticks: Option<f64>,
    /// Smallest gap kept; `None` where everything is.
    pub threshold_ticks: Option<u64>,
    /// Steps of work in a quantum (FWQ).
    pub work_per_quantum: Option<u64>,
    /// What the thread used, from right before the window to right after.
    pub usage: ThreadUsage,
    /// Records that did not fit.
    pub lost_records: u64,
    /// Their length (selfish).
    pub lost_ticks: u64,
    /// Deltas of 2^32 ticks and more.
    pub wrapped_deltas: u64,
    /// Did somebody stop it before its planned end?
    pub stopped: bool,
    /// The records.
    pub records: Records,
}

/// The records of a trace, in order of time. The vectors may be handed back with
/// [`crate::Session::recycle`].
#[derive(Debug, Clone, PartialEq)]
pub enum Records {
    /// Timestamps: successive differences modulo 2^32, ticks.
    Deltas(Vec<u32>),
    /// Selfish: gaps at and above the threshold.
    Detours(Vec<Detour>),
    /// FWQ: readings; quantum i lasts from reading i to reading i + 1.
    Readings(Vec<u64>),
    /// FTQ: units of work in each slot.
    Slots(Vec<u64>),
}

impl Trace {
    /// A trace of these records, everything else zero or unknown, to be filled in.
    #[must_use]
    pub fn of(records: Records) -> Self {
        Self {
            cpu: 0,
            cpu_after: None,
            real_time: false,
            start_ticks: 0,
            end_ticks: 0,
            start_skew_ticks: None,
            samples: 0,
            floor_ticks: None,
            threshold_ticks: None,
            work_per_quantum: None,
            usage: ThreadUsage::default(),
            lost_records: 0,
            lost_ticks: 0,
            wrapped_deltas: 0,
            stopped: false,
            records,
        }
    }
}
