//! The measured window: which loop runs over which buffers, and what becomes of them afterwards.

use crate::calibrate::Floor;
use crate::loops::ftq::{self, Counted, Grid};
use crate::loops::fwq::{self, Timed};
use crate::loops::selfish::{self, Detour, Kept};
use crate::loops::timestamps::{self, BLOCK, Filled};
use crate::memory::PAGE;
use crate::trace::{Records, Trace};
use std::collections::TryReserveError;
use std::sync::atomic::AtomicBool;
use tare_clock::Counter;

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Task {
    /// That many deltas.
    Timestamps {
        /// Deltas.
        samples: usize,
    },
    /// Gaps for a time.
    Selfish {
        /// Length of the window, ticks.
        duration_ticks: u64,
        /// Smallest gap to keep, ticks; `None` takes the calibrated one.
        threshold_ticks: Option<u64>,
    },
    /// Work quanta for a time.
    Fwq {
        /// Length of the window, ticks.
        duration_ticks: u64,
    },
    /// Time slots.
    Ftq {
        /// The slots.
        grid: Grid,
        /// How many.
        slots: usize,
        /// Length of a unit of work aimed at, ticks.
        unit_ticks: f64,
    },
}

/// Places in the buffers of each CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Low halves of readings (timestamps): whole blocks, 4 bytes each.
    pub low: usize,
    /// Block ends, readings (FWQ) or slots (FTQ), 8 bytes each.
    pub words: usize,
    /// Detours (selfish), 16 bytes each.
    pub detours: usize,
}

impl Sizes {
    /// What a task needs, given how many detours to make room for and how many quanta to expect.
    #[must_use]
    pub fn for_task(task: &Task, detours: usize, quanta: usize) -> Self {
        match *task {
            Task::Timestamps { samples } => {
                let blocks = samples.div_ceil(BLOCK);
                Self { low: blocks.saturating_mul(BLOCK), words: blocks, detours: 0 }
            }
            Task::Selfish { .. } => Self { detours, ..Self::default() },
            Task::Fwq { .. } => Self { words: quanta.saturating_add(1), ..Self::default() },
            Task::Ftq { slots, .. } => Self { words: slots, ..Self::default() },
        }
    }

    /// Enough for both.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            words: self.words.max(other.words),
            detours: self.detours.max(other.detours),
        }
    }

    /// Size in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let of = |places: usize, size: usize| (places as u64).saturating_mul(size as u64);
        of(self.low, size_of::<u32>())
            .saturating_add(of(self.words, size_of::<u64>()))
            .saturating_add(of(self.detours, size_of::<Detour>()))
    }
}

/// Buffers of one CPU.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    low: Vec<u32>,
    words: Vec<u64>,
    detours: Vec<Detour>,
}

impl Buffers {
    /// Make them at least that long and write every new place, so that its page is there.
    pub(crate) fn reserve(&mut self, sizes: Sizes) -> Result<(), TryReserveError> {
        grow(&mut self.low, sizes.low)?;
        grow(&mut self.words, sizes.words)?;
        grow(&mut self.detours, sizes.detours)
    }

    /// Write into every page again: a page that could not be locked may be gone.
    pub(crate) fn touch(&mut self) {
        touch(&mut self.low);
        touch(&mut self.words);
        touch(&mut self.detours);
    }

    /// Take the vector of a trace back.
    pub(crate) fn put_back(&mut self, records: Records) {
        match records {
            Records::Deltas(low) => self.low = low,
            Records::Detours(detours) => self.detours = detours,
            Records::Readings(words) | Records::Slots(words) => self.words = words,
        }
    }
}

fn grow<T: Copy + Default>(buffer: &mut Vec<T>, places: usize) -> Result<(), TryReserveError> {
    if buffer.len() < places {
        buffer.try_reserve_exact(places - buffer.len())?;
        buffer.resize(places, T::default());
    }
    Ok(())
}

fn touch<T: Copy + Default>(buffer: &mut [T]) {
    for place in buffer.iter_mut().step_by(PAGE / size_of::<T>()) {
        // SAFETY: `place` is a valid, unique reference. Volatile, so that it happens.
        unsafe { std::ptr::from_mut(place).write_volatile(T::default()) };
    }
}

/// What was found out before the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    pub(crate) floor: Floor,
    pub(crate) ticks_per_unit: f64,
    /// Only where FWQ is to be run.
    pub(crate) units_per_quantum: Option<u64>,
}

/// What the loop itself says about the window, and what it ran with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Filled { filled: Filled, samples: usize },
    Kept { kept: Kept, threshold_ticks: u64 },
    Timed { timed: Timed, units: u64 },
    Counted { counted: Counted, slots: usize },
}

/// Where a loop runs: one CPU's counter, calibration and buffers.
pub(crate) struct Bench<'a, C> {
    pub(crate) counter: &'a C,
    pub(crate) calibration: &'a Calibration,
    pub(crate) buffers: &'a mut Buffers,
    pub(crate) stop: &'a AtomicBool,
}

/// Length of the short run that warms a loop up, ticks: 100 us at 2.6 GHz.
const WARM_TICKS: u64 = 1 << 18;

impl<C: Counter> Bench<'_, C> {
    /// A short run of the same loop, to have its code and the first pages of the buffers at hand.
    pub(crate) fn warm(&mut self, task: &Task) {
        let short = match *task {
            Task::Timestamps { samples } => Task::Timestamps { samples: samples.min(2 * BLOCK) },
            Task::Selfish { duration_ticks, threshold_ticks } => {
                Task::Selfish { duration_ticks: duration_ticks.min(WARM_TICKS), threshold_ticks }
            }
            Task::Fwq { .. } => Task::Fwq { duration_ticks: 1 },
            Task::Ftq { unit_ticks, .. } => Task::Ftq { grid: Grid::FINEST, slots: 1, unit_ticks },
        };
        self.run(&short);
    }

    /// The window itself.
    #[inline]
    pub(crate) fn run(&mut self, task: &Task) -> Outcome {
        let (counter, stop) = (self.counter, self.stop);
        let Buffers { low, words, detours } = &mut *self.buffers;
        match *task {
            Task::Timestamps { samples } => {
                let blocks = samples.div_ceil(BLOCK);
                let (low, ends) = (&mut low[..blocks * BLOCK], &mut words[..blocks]);
                let filled = timestamps::fill(counter, low, ends, stop);
                Outcome::Filled { filled, samples }
            }
            Task::Selfish { duration_ticks, threshold_ticks } => {
                let threshold_ticks =
                    threshold_ticks.unwrap_or(self.calibration.floor.threshold_ticks);
                let kept =
                    selfish::keep_gaps(counter, threshold_ticks, duration_ticks, detours, stop);
                Outcome::Kept { kept, threshold_ticks }
            }
            Task::Fwq { duration_ticks } => {
                let units = self.calibration.units_per_quantum.unwrap_or(1);
                let timed = fwq::time_work(counter, units, duration_ticks, words, stop);
                Outcome::Timed { timed, units }
            }
            Task::Ftq { grid, slots, unit_ticks } => {
                let unit = (unit_ticks / self.calibration.ticks_per_unit).max(1.0) as u64;
                let counted = ftq::count_work(counter, grid, unit, &mut words[..slots], stop);
                Outcome::Counted { counted, slots }
            }
        }
    }

    /// Make a trace of what the window left in the buffers, taking those along. The caller fills
    /// in who ran it where.
    pub(crate) fn trace(&mut self, outcome: Outcome) -> Trace {
        let floor = self.calibration.floor;
        match outcome {
            Outcome::Filled { filled, samples } => Trace {
                floor_ticks: Some(floor.timestamps_ticks),
                ..deltas(filled, samples, self.buffers)
            },
            Outcome::Kept { kept, threshold_ticks } => Trace {
                floor_ticks: Some(floor.selfish_ticks),
                threshold_ticks: Some(threshold_ticks),
                ..detours(kept, self.buffers)
            },
            Outcome::Timed { timed, units } => {
                Trace { work_per_quantum: Some(units), ..quanta(timed, self.buffers) }
            }
            Outcome::Counted { counted, slots } => self::slots(counted, slots, self.buffers),
        }
    }
}

fn deltas(filled: Filled, samples: usize, buffers: &mut Buffers) -> Trace {
    let mut low = std::mem::take(&mut buffers.low);
    let wrapped_deltas = timestamps::differences(filled, &mut low, &buffers.words);
    let stopped = filled.blocks * BLOCK < samples;
    let samples = samples.min(filled.blocks * BLOCK);
    // The readings beyond what was asked for, to the end of the last block, are cut off.
    let beyond: u64 =
        low[samples..filled.blocks * BLOCK].iter().map(|&delta| u64::from(delta)).sum();
    let last = filled.blocks.checked_sub(1).map_or(filled.start_ticks, |i| buffers.words[i]);
    low.truncate(samples);
    Trace {
        start_ticks: filled.start_ticks,
        end_ticks: last.wrapping_sub(beyond),
        samples: samples as u64,
        wrapped_deltas,
        stopped,
        ..Trace::of(Records::Deltas(low))
    }
}

fn detours(kept: Kept, buffers: &mut Buffers) -> Trace {
    let mut detours = std::mem::take(&mut buffers.detours);
    detours.truncate(kept.records);
    Trace {
        start_ticks: kept.start_ticks,
        end_ticks: kept.end_ticks,
        samples: kept.samples,
        lost_records: kept.lost_records,
        lost_ticks: kept.lost_ticks,
        stopped: kept.stopped,
        ..Trace::of(Records::Detours(detours))
    }
}

fn quanta(timed: Timed, buffers: &mut Buffers) -> Trace {
    let mut readings = std::mem::take(&mut buffers.words);
    readings.truncate(timed.quanta + 1);
    Trace {
        start_ticks: readings.first().copied().unwrap_or(timed.end_ticks),
        end_ticks: timed.end_ticks,
        samples: timed.quanta as u64 + timed.lost_records,
        lost_records: timed.lost_records,
        stopped: timed.stopped,
        ..Trace::of(Records::Readings(readings))
    }
}

fn slots(counted: Counted, slots: usize, buffers: &mut Buffers) -> Trace {
    let mut work = std::mem::take(&mut buffers.words);
    work.truncate(slots);
    Trace {
        start_ticks: counted.start_ticks,
        end_ticks: counted.end_ticks,
        samples: slots as u64,
        stopped: counted.stopped,
        ..Trace::of(Records::Slots(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;

    fn trace_of(task: Task, counter: &Scripted, sizes: Sizes) -> Trace {
        trace_until(false, task, counter, sizes)
    }

    fn trace_until(stopped: bool, task: Task, counter: &Scripted, sizes: Sizes) -> Trace {
        let floor = Floor { threshold_ticks: 260, timestamps_ticks: 24.5, selfish_ticks: 25.5 };
        let calibration = Calibration { floor, ticks_per_unit: 4.0, units_per_quantum: Some(2) };
        let mut buffers = Buffers::default();
        buffers.reserve(sizes).unwrap();
        let stop = AtomicBool::new(stopped);
        let mut bench =
            Bench { counter, calibration: &calibration, buffers: &mut buffers, stop: &stop };
        let outcome = bench.run(&task);
        bench.trace(outcome)
    }

    #[test]
    fn timestamps_are_cut_to_the_number_asked_for() {
        let mut gaps = vec![20_u64; 1500];
        gaps[1499] = 600;
        let counter = Scripted::with_gaps(1 << 40, &gaps, 30);
        let task = Task::Timestamps { samples: 1500 };
        let trace = trace_of(task, &counter, Sizes::for_task(&task, 0, 0));
        let Records::Deltas(deltas) = &trace.records else { panic!("{trace:?}") };
        assert_eq!((deltas.len(), deltas[0], deltas[1499]), (1500, 20, 600));
        assert_eq!(trace.start_ticks, 1 << 40);
        assert_eq!(trace.end_ticks, (1 << 40) + gaps.iter().sum::<u64>());
        assert_eq!((trace.samples, trace.stopped), (1500, false));
        assert_eq!((trace.floor_ticks, trace.threshold_ticks), (Some(24.5), None));
    }

    #[test]
    fn selfish_takes_the_calibrated_threshold_or_the_one_asked_for() {
        for (asked, expected) in [(None, (260, 1)), (Some(100), (100, 2))] {
            let counter = Scripted::with_gaps(0, &[26, 150, 400], 26);
            let task = Task::Selfish { duration_ticks: 1_000, threshold_ticks: asked };
            let trace = trace_of(task, &counter, Sizes::for_task(&task, 10, 0));
            let Records::Detours(detours) = &trace.records else { panic!("{trace:?}") };
            assert_eq!((trace.threshold_ticks, detours.len()), (Some(expected.0), expected.1));
            assert_eq!(trace.floor_ticks, Some(25.5));
        }
    }

    #[test]
    fn fwq_that_outgrows_its_buffer_counts_what_is_lost() {
        let counter = Scripted::with_gaps(0, &[], 1_000);
        let task = Task::Fwq { duration_ticks: 10_000 };
        let trace = trace_of(task, &counter, Sizes::for_task(&task, 0, 4));
        assert_eq!((trace.samples, trace.lost_records, trace.end_ticks), (10, 6, 10_000));
        assert_eq!(trace.records, Records::Readings(vec![0, 1_000, 2_000, 3_000, 4_000]));
        assert_eq!((trace.work_per_quantum, trace.floor_ticks), (Some(2), None));
    }

    #[test]
    fn ftq_counts_units_by_slot() {
        let counter = Scripted::with_gaps(0, &[], 40);
        let grid = Grid::new(100.0).unwrap();
        let task = Task::Ftq { grid, slots: 4, unit_ticks: 8.0 };
        let trace = trace_of(task, &counter, Sizes::for_task(&task, 0, 0));
        assert_eq!(trace.records, Records::Slots(vec![2, 2, 3, 2]));
        assert_eq!((trace.samples, trace.work_per_quantum), (4, None));
    }

    #[test]
    fn a_stopped_trace_says_so() {
        let grid = Grid::new(100.0).unwrap();
        for task in [
            Task::Timestamps { samples: 2500 },
            Task::Selfish { duration_ticks: 1 << 40, threshold_ticks: None },
            Task::Fwq { duration_ticks: 1 << 40 },
            Task::Ftq { grid, slots: 50, unit_ticks: 8.0 },
        ] {
            let counter = Scripted::with_gaps(0, &[], 26);
            let trace = trace_until(true, task, &counter, Sizes::for_task(&task, 10, 10));
            assert!(trace.stopped, "{task:?}");
        }
    }

    #[test]
    fn sizes_do_not_overflow() {
        let task = Task::Timestamps { samples: usize::MAX };
        assert_eq!(Sizes::for_task(&task, 0, 0).bytes(), u64::MAX);
        assert_eq!(Sizes { low: 3, words: 2, detours: 1 }.bytes(), 12 + 16 + 16);
    }
}
