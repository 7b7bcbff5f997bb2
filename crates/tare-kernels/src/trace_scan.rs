//! One pass over the deltas of a timestamps trace: 10^8 and more, in bounded memory.
//!
//! Answers: how often was each delta seen; which was the longest in each interval of time, and when;
//! how are lengths spread over time (heat map); where are the gaps at or above a threshold.
//! Does not answer which of them are noise, nor what a tick is worth: all lengths are in ticks.
//! Place on the way of the data: recording (table `deltas`) -> **this** -> infer.
//!
//! Time is rebuilt by adding the deltas to the first reading. A gap lies at the reading before it,
//! as in the table `detours`. `delta_ticks` is modulo 2^32, so each wrapped delta leaves the
//! rebuilt clock 2^32 ticks behind; [`TraceScan::unaccounted_ticks`] shows by how much in the end.

use std::collections::HashMap;
use std::fmt;

/// Deltas below this are tallied in an array (512 KiB), larger ones in a map. At most one delta in
/// 2^16 ticks of trace goes to the map: 40 000 for each second of a 2.6 GHz counter.
const DENSE: usize = 1 << 16;

/// Heat-map rows: exact lengths 0 to 3, then four to each doubling up to 2^32 ticks.
pub const LENGTH_BINS: usize = 124;

/// The heat-map row of a length: integer arithmetic only, so edges are exact.
#[must_use]
pub const fn length_bin(length_ticks: u32) -> usize {
    if length_ticks < 4 {
        return length_ticks as usize;
    }
    let octave = length_ticks.ilog2();
    let quarter = (length_ticks >> (octave - 2)) & 3;
    4 * (octave as usize - 1) + quarter as usize
}

/// Lower edges of the heat-map rows in ticks, and as the last the end of the last (2^32).
#[must_use]
pub fn length_edges() -> Vec<u64> {
    let edge = |bin: u64| match bin {
        0..4 => bin,
        _ => (4 + bin % 4) << (bin / 4 - 1),
    };
    (0..=LENGTH_BINS as u64).map(edge).collect()
}

/// What a scan shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPlan {
    /// Counter at the first reading of the trace, ticks.
    pub start_ticks: u64,
    /// Counter at its last reading, ticks.
    pub end_ticks: u64,
    /// Intervals of equal length from start to end, 1 to 2^20.
    pub time_bins: usize,
    /// Smallest delta that is listed as a detour; `None` lists none.
    pub threshold_ticks: Option<u64>,
    /// Most detours that are listed; more are counted.
    pub detour_capacity: usize,
}

/// Why a scan cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanError {
    /// The trace ends before it starts.
    EndBeforeStart {
        /// First reading.
        start_ticks: u64,
        /// Last reading.
        end_ticks: u64,
    },
    /// `time_bins` is not in 1 to 2^20.
    TimeBins(usize),
    /// The deltas add up to more than the trace lasted.
    PastEnd {
        /// The delta, from 0, with which they do.
        index: u64,
        /// Last reading of the trace.
        end_ticks: u64,
    },
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndBeforeStart { start_ticks, end_ticks } => write!(
                f,
                "the trace ends at {end_ticks} ticks, before its start at {start_ticks}; \
                 hint: check start_ticks and end_ticks of the table `traces`"
            ),
            Self::TimeBins(bins) => {
                write!(f, "{bins} time bins; hint: choose between 1 and {MAX_TIME_BINS}")
            }
            Self::PastEnd { index, end_ticks } => write!(
                f,
                "with delta {index} the deltas add up to more than the trace lasted (end_ticks = \
                 {end_ticks}); hint: pass the deltas of one trace only, each once and in order"
            ),
        }
    }
}

impl std::error::Error for ScanError {}

const MAX_TIME_BINS: usize = 1 << 20;

/// One delta at or above the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detour {
    /// Counter reading before it, ticks.
    pub start_ticks: u64,
    /// Its length, ticks; the floor is not taken off.
    pub gap_ticks: u32,
}

/// The longest delta of one interval of time; the first of equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestInBin {
    /// The interval, from 0. Intervals in which no delta started have no entry.
    pub bin: usize,
    /// Its number in the trace, from 0.
    pub index: u64,
    /// Counter reading before it, ticks.
    pub start_ticks: u64,
    /// Its length, ticks.
    pub gap_ticks: u32,
}

/// A scan in progress; see the module.
#[derive(Debug, Clone)]
pub struct TraceScan {
    plan: ScanPlan,
    /// Counter reading before the next delta.
    now_ticks: u64,
    samples: u64,
    bin: usize,
    /// First reading that belongs to the next time bin; `u64::MAX` in the last.
    bin_end_ticks: u64,
    dense: Vec<u64>,
    large: HashMap<u32, u64>,
    heat: Vec<u64>,
    longest: Vec<LongestInBin>,
    detours: Vec<Detour>,
    detours_lost: u64,
    detours_lost_ticks: u64,
}

impl TraceScan {
    /// Memory: 512 KiB, 992 bytes for each time bin, 16 for each detour listed, and the map of the
    /// lengths from 2^16 ticks.
    ///
    /// # Errors
    /// [`ScanError`] when the trace ends before it starts, or with 0 or more than 2^20 time bins.
    pub fn new(plan: ScanPlan) -> Result<Self, ScanError> {
        if plan.end_ticks < plan.start_ticks {
            return Err(ScanError::EndBeforeStart {
                start_ticks: plan.start_ticks,
                end_ticks: plan.end_ticks,
            });
        }
        if plan.time_bins == 0 || plan.time_bins > MAX_TIME_BINS {
            return Err(ScanError::TimeBins(plan.time_bins));
        }
        let mut scan = Self {
            now_ticks: plan.start_ticks,
            samples: 0,
            bin: 0,
            bin_end_ticks: 0,
            dense: vec![0; DENSE],
            large: HashMap::new(),
            heat: vec![0; plan.time_bins * LENGTH_BINS],
            longest: Vec::new(),
            detours: Vec::new(),
            detours_lost: 0,
            detours_lost_ticks: 0,
            plan,
        };
        scan.bin_end_ticks = scan.end_of_bin(0);
        Ok(scan)
    }

    /// Reads on. The deltas of a trace may come in chunks of any size.
    ///
    /// # Errors
    /// [`ScanError::PastEnd`] when the deltas add up to more than the trace lasted: they are not
    /// those of this trace. What was read before that delta stays counted.
    pub fn update(&mut self, deltas_ticks: &[u32]) -> Result<(), ScanError> {
        let threshold = self.plan.threshold_ticks.unwrap_or(u64::MAX);
        for &delta in deltas_ticks {
            let start = self.now_ticks;
            let end = start.saturating_add(u64::from(delta));
            if end > self.plan.end_ticks {
                return Err(ScanError::PastEnd {
                    index: self.samples,
                    end_ticks: self.plan.end_ticks,
                });
            }
            while start >= self.bin_end_ticks {
                self.bin += 1;
                self.bin_end_ticks = self.end_of_bin(self.bin);
            }
            self.tally_one(delta);
            self.heat[self.bin * LENGTH_BINS + length_bin(delta)] += 1;
            self.note_longest(delta);
            if u64::from(delta) >= threshold {
                self.note_detour(delta);
            }
            self.now_ticks = end;
            self.samples += 1;
        }
        Ok(())
    }

    /// Counter readings from here on belong to the next bin. Bin i covers
    /// [start + i x span / bins, start + (i + 1) x span / bins), the last one its end as well.
    fn end_of_bin(&self, bin: usize) -> u64 {
        if bin + 1 == self.plan.time_bins {
            return u64::MAX;
        }
        let span = u128::from(self.plan.end_ticks - self.plan.start_ticks);
        let offset = (span * (bin as u128 + 1)).div_ceil(self.plan.time_bins as u128);
        self.plan.start_ticks + offset as u64
    }

    fn tally_one(&mut self, delta: u32) {
        match self.dense.get_mut(delta as usize) {
            Some(count) => *count += 1,
            None => *self.large.entry(delta).or_insert(0) += 1,
        }
    }

    fn note_longest(&mut self, delta: u32) {
        let this = LongestInBin {
            bin: self.bin,
            index: self.samples,
            start_ticks: self.now_ticks,
            gap_ticks: delta,
        };
        match self.longest.last_mut() {
            Some(last) if last.bin == self.bin => {
                if delta > last.gap_ticks {
                    *last = this;
                }
            }
            _ => self.longest.push(this),
        }
    }

    fn note_detour(&mut self, delta: u32) {
        if self.detours.len() < self.plan.detour_capacity {
            self.detours.push(Detour { start_ticks: self.now_ticks, gap_ticks: delta });
        } else {
            self.detours_lost += 1;
            self.detours_lost_ticks += u64::from(delta);
        }
    }

    /// Distinct deltas, ascending, each with the number of times that it was seen.
    #[must_use]
    pub fn tally(&self) -> Vec<(u32, u64)> {
        let small = self.dense.iter().enumerate().map(|(delta, &count)| (delta as u32, count));
        let mut tally: Vec<(u32, u64)> = small.filter(|&(_, count)| count > 0).collect();
        let dense_len = tally.len();
        tally.extend(self.large.iter().map(|(&delta, &count)| (delta, count)));
        tally[dense_len..].sort_unstable();
        tally
    }

    /// What the scan was asked to do.
    #[must_use]
    pub fn plan(&self) -> &ScanPlan {
        &self.plan
    }

    /// Deltas read so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Time from the last rebuilt reading to the end of the trace, ticks: after the last delta of
    /// the trace it is 0, or 2^32 for each wrapped delta.
    #[must_use]
    pub fn unaccounted_ticks(&self) -> u64 {
        self.plan.end_ticks - self.now_ticks
    }

    /// Edges of the time bins, ticks: one more than bins. A reading belongs to the bin whose edge
    /// is the last not above it.
    #[must_use]
    pub fn time_edges(&self) -> Vec<u64> {
        let inner = (0..self.plan.time_bins - 1).map(|bin| self.end_of_bin(bin));
        std::iter::once(self.plan.start_ticks)
            .chain(inner)
            .chain(std::iter::once(self.plan.end_ticks))
            .collect()
    }

    /// Number of deltas by time bin (rows) and length bin (columns, see [`length_edges`]).
    #[must_use]
    pub fn heat(&self) -> &[u64] {
        &self.heat
    }

    /// The longest delta of each time bin that has any, in order of time.
    #[must_use]
    pub fn longest(&self) -> &[LongestInBin] {
        &self.longest
    }

    /// Deltas at or above the threshold, in order of time.
    #[must_use]
    pub fn detours(&self) -> &[Detour] {
        &self.detours
    }

    /// Deltas at or above the threshold that came after the list was full, and their summed
    /// length in ticks.
    #[must_use]
    pub fn detours_lost(&self) -> (u64, u64) {
        (self.detours_lost, self.detours_lost_ticks)
    }
}
