//! A request cut into windows that can be measured: how long each, with how much memory.

use super::request::{Part, Request};
use crate::cli::Loop;
use crate::failure::Failure;
use crate::words;
use tare_clock::Rate;
use tare_noise::loops::ftq::Grid;
use tare_noise::{Budget, MemoryState, Sizes, Task};
use tare_platform::Platform;

/// Detours to make room for: that many a second (a tick of 1000 Hz and its softirqs are 2 000) and
/// that many besides; at most MOST_DETOURS (64 MiB) for each CPU.
const DETOURS_PER_SECOND: f64 = 20_000.0;
const LEAST_DETOURS: f64 = 65_536.0;
const MOST_DETOURS: f64 = 4_194_304.0;

/// Quanta to make room for, over those of the length aimed at: the CPU may speed up.
const SPARE_QUANTA: f64 = 1.25;

/// FTQ: units of work per slot aimed at, and the longest and shortest unit. A reading costs some
/// 20 ns, so a unit is no shorter than 50.
const UNITS_PER_SLOT: f64 = 1000.0;
const UNIT_NS: [f64; 2] = [50.0, 250.0];

/// Memory that everything but the buffers may take: threads, tables being written.
const OVERHEAD_BYTES: u64 = 64 << 20;

/// One loop, in equal windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    pub what: Loop,
    pub task: Task,
    pub sizes: Sizes,
    pub windows: u32,
    /// Length of one window, ns; estimated for timestamps.
    pub window_ns: u64,
    /// FWQ: the quantum aimed at; FTQ: the slot.
    pub quantum_ns: Option<u64>,
    pub real_time: bool,
}

/// One group of traces: the same window on every CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    pub piece: Piece,
    pub memory_state: Option<MemoryState>,
    pub repetition: u32,
    pub window: u32,
}

impl Group {
    /// For the progress line.
    pub fn describe(&self) -> String {
        let mut text = self.piece.what.name().to_owned();
        if let Some(state) = self.memory_state {
            text += &format!(", {}", state.name);
        }
        if self.piece.windows > 1 {
            text += &format!(", window {} of {}", self.window + 1, self.piece.windows);
        }
        text
    }
}

/// All groups, in order.
#[derive(Debug)]
pub struct Plan {
    pieces: Vec<Piece>,
    memory_states: Vec<Option<MemoryState>>,
    repeat: u32,
    cpus: u64,
}

impl Plan {
    /// `budget`: how long a real-time loop may spin, if it is to have real-time priority at all and
    /// the OS sets a limit. `ns_per_reading`: roughly.
    ///
    /// # Errors
    /// Exit code 2 if it fits into no memory.
    pub fn new(
        request: &Request,
        rate: &Rate,
        real_time: bool,
        budget: Option<Budget>,
        ns_per_reading: f64,
    ) -> Result<Self, Failure> {
        let budget = budget.filter(|_| real_time);
        let piece = |part: &Part| piece(*part, rate, real_time, budget.as_ref(), ns_per_reading);
        Ok(Self {
            pieces: request.loops.iter().map(piece).collect::<Result<_, _>>()?,
            memory_states: request.memory_states.clone(),
            repeat: request.repeat,
            cpus: request.cpus.len() as u64,
        })
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Buffers that are enough for every group.
    pub fn sizes(&self) -> Sizes {
        self.pieces.iter().map(|piece| piece.sizes).fold(Sizes::default(), Sizes::max)
    }

    /// Groups in the order in which they are measured.
    pub fn groups(&self) -> impl Iterator<Item = Group> {
        let windows = move |repetition, memory_state, piece: Piece| {
            (0..piece.windows).map(move |window| Group { piece, memory_state, repetition, window })
        };
        let pieces = move |repetition, state| {
            self.pieces.iter().flat_map(move |&piece| windows(repetition, state, piece))
        };
        (0..self.repeat).flat_map(move |repetition| {
            self.memory_states.iter().flat_map(move |&state| pieces(repetition, state))
        })
    }

    /// Traces in all.
    pub fn traces(&self) -> u64 {
        let windows: u64 = self.pieces.iter().map(|piece| u64::from(piece.windows)).sum();
        windows * self.rounds() * self.cpus
    }

    /// Time to be measured, rests not counted.
    pub fn total_ns(&self) -> u64 {
        let of = |piece: &Piece| piece.window_ns.saturating_mul(u64::from(piece.windows));
        let once = self.pieces.iter().map(of).fold(0_u64, u64::saturating_add);
        once.saturating_mul(self.rounds())
    }

    fn rounds(&self) -> u64 {
        u64::from(self.repeat) * self.memory_states.len() as u64
    }

    /// Refuse what this machine's memory cannot hold.
    ///
    /// # Errors
    /// Exit code 2, saying how much fits.
    pub fn check_memory(&self, platform: &dyn Platform) -> Result<(), Failure> {
        let Some(available) = platform.memory_available_bytes() else { return Ok(()) };
        let wanted = self.sizes().bytes().saturating_mul(self.cpus);
        let usable = available.saturating_sub(OVERHEAD_BYTES);
        if wanted <= usable {
            return Ok(());
        }
        let message = format!(
            "the buffers take {}, and {} of memory can be had",
            words::size(wanted),
            words::size(usable)
        );
        let timestamps = self.pieces.iter().any(|piece| piece.what == Loop::Timestamps);
        // 4 bytes a delta and 8 more for each block of 1000.
        let fits = usable / self.cpus / 4008 * 1000;
        Err(Failure::wrong_use(
            message,
            if timestamps && fits > 0 {
                format!("--samples {fits} fit with {}", words::count(self.cpus, "CPU"))
            } else {
                "ask for a shorter --duration or fewer CPUs".to_owned()
            },
        ))
    }
}

fn piece(
    part: Part,
    rate: &Rate,
    real_time: bool,
    budget: Option<&Budget>,
    ns_per_reading: f64,
) -> Result<Piece, Failure> {
    let cut = |duration_ns: u64| {
        let windows = budget.map_or(1, |budget| budget.windows(duration_ns));
        // A duration is at most 30 days, a window at least some ms.
        (u32::try_from(windows).unwrap_or(u32::MAX), duration_ns / windows)
    };
    let made = |what, task, detours, quanta, quantum_ns, (windows, window_ns)| Piece {
        what,
        task,
        sizes: Sizes::for_task(&task, detours, quanta),
        windows,
        window_ns,
        quantum_ns,
        real_time,
    };
    Ok(match part {
        Part::Timestamps { samples } => {
            let samples = usize::try_from(samples).unwrap_or(usize::MAX);
            let window_ns = (samples as f64 * ns_per_reading) as u64;
            // One chain of deltas cannot be cut: if it is too long, it runs as an ordinary thread.
            let real_time =
                real_time && budget.is_none_or(|budget| window_ns <= budget.window_ns());
            let task = Task::Timestamps { samples };
            Piece { real_time, ..made(Loop::Timestamps, task, 0, 0, None, (1, window_ns)) }
        }
        Part::Selfish { duration_ns, threshold_ns } => {
            let cut = cut(duration_ns);
            let threshold_ticks = threshold_ns.map(|ns| rate.ticks(ns).max(1));
            let task = Task::Selfish { duration_ticks: rate.ticks(cut.1), threshold_ticks };
            let detours = cut.1 as f64 / 1e9 * DETOURS_PER_SECOND + LEAST_DETOURS;
            made(Loop::Selfish, task, detours.min(MOST_DETOURS) as usize, 0, None, cut)
        }
        Part::Fwq { duration_ns, quantum_ns } => {
            let cut = cut(duration_ns);
            let task = Task::Fwq { duration_ticks: rate.ticks(cut.1) };
            let quanta = (cut.1 as f64 / quantum_ns as f64 * SPARE_QUANTA) as usize + 16;
            made(Loop::Fwq, task, 0, quanta, Some(quantum_ns), cut)
        }
        Part::Ftq { duration_ns, slot_ns } => {
            // A slot cannot be cut either.
            let fits = budget.is_none_or(|budget| slot_ns <= budget.window_ns());
            let cut = if fits { cut(duration_ns) } else { (1, duration_ns) };
            let task = slots(slot_ns, cut.1, rate)?;
            Piece {
                real_time: real_time && fits,
                ..made(Loop::Ftq, task, 0, 0, Some(slot_ns), cut)
            }
        }
    })
}

/// FTQ: the grid, the slots that fit into a window, the unit of work.
fn slots(slot_ns: u64, window_ns: u64, rate: &Rate) -> Result<Task, Failure> {
    let ticks = |ns: f64| ns * rate.ticks_per_second / 1e9;
    let grid = Grid::new(ticks(slot_ns as f64)).ok_or_else(|| {
        Failure::unable("the counter is too coarse for this slot", "use a longer --slot")
    })?;
    let slots = usize::try_from((window_ns / slot_ns).max(1)).unwrap_or(usize::MAX);
    let unit_ns = (slot_ns as f64 / UNITS_PER_SLOT).clamp(UNIT_NS[0], UNIT_NS[1]);
    Ok(Task::Ftq { grid, slots, unit_ticks: ticks(unit_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_platform::RtThrottle;
    use tare_platform::fake::FakePlatform;

    const RATE: Rate = Rate { ticks_per_second: 2.6e9, residual_ns: 1.0, pairs: 2, span_ns: 1 };

    fn request(loops: Vec<Part>, repeat: u32) -> Request {
        Request {
            cpus: vec![0, 1],
            loops,
            memory_states: vec![None],
            repeat,
            real_time: true,
            start_at_unix_ns: None,
            target: "nowhere".into(),
            asked: Default::default(),
        }
    }

    fn plan(loops: Vec<Part>, real_time: bool) -> Plan {
        let mut platform = FakePlatform::with_cpus(2);
        platform.rt_throttle = Some(RtThrottle { runtime_us: 950_000, period_us: 1_000_000 });
        let budget = Budget::of(&platform);
        Plan::new(&request(loops, 3), &RATE, real_time, budget, 10.0).expect("a plan")
    }

    const LONG: Part = Part::Selfish { duration_ns: 5_000_000_000, threshold_ns: None };

    #[test]
    fn real_time_beyond_the_budget_is_cut_into_windows() {
        let plan = plan(vec![LONG], true);
        let piece = plan.pieces()[0];
        assert_eq!((piece.windows, piece.window_ns, piece.real_time), (6, 833_333_333, true));
        assert_eq!(plan.traces(), 6 * 3 * 2);
        let order: Vec<_> = plan.groups().map(|group| (group.repetition, group.window)).collect();
        assert_eq!((order.len(), order[0], order[6], order[17]), (18, (0, 0), (1, 0), (2, 5)));
    }

    #[test]
    fn an_ordinary_thread_measures_in_one_window() {
        let piece = plan(vec![LONG], false).pieces()[0];
        assert_eq!((piece.windows, piece.window_ns, piece.real_time), (1, 5_000_000_000, false));
    }

    #[test]
    fn a_chain_of_deltas_is_not_cut_but_runs_as_an_ordinary_thread() {
        for (samples, real_time) in [(10_000, true), (100_000_000, false)] {
            let piece = plan(vec![Part::Timestamps { samples }], true).pieces()[0];
            assert_eq!((piece.windows, piece.real_time), (1, real_time));
        }
    }

    #[test]
    fn slots_and_quanta_fill_the_window() {
        let duration_ns = 2_000_000_000;
        let parts = vec![
            Part::Ftq { duration_ns, slot_ns: 370_000 },
            Part::Fwq { duration_ns, quantum_ns: 1_000_000 },
        ];
        let plan = plan(parts, true);
        let Task::Ftq { slots, unit_ticks, .. } = plan.pieces()[0].task else { panic!() };
        // Three windows of 666.67 ms; units of 250 ns.
        assert_eq!((slots, unit_ticks), (1801, 650.0));
        assert_eq!(plan.pieces()[1].sizes.words, 833 + 16 + 1);
    }

    #[test]
    fn what_memory_cannot_hold_is_refused_with_what_fits() {
        let mut platform = FakePlatform::with_cpus(2);
        platform.memory_available_bytes = Some(1 << 30);
        let plan = plan(vec![Part::Timestamps { samples: 1 << 40 }], true);
        let shown = format!("{:?}", plan.check_memory(&platform).unwrap_err());
        assert!(shown.contains("--samples 125577000 fit with 2 CPUs"), "{shown}");
        platform.memory_available_bytes = None;
        assert_eq!(plan.check_memory(&platform), Ok(()));
    }
}
