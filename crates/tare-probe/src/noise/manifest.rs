//! What the recording says about itself: conditions, rungs, clock, and what makes it doubtful.

use super::holes::Hole;
use super::plan::Plan;
use super::summary::Measurement;
use tare_clock::{Anchor, Choice, Rate, ReadCost};
use tare_noise::{Budget, Settled, StoreCost, Trace};
use tare_platform::Answer;
use tare_record::{Clock, Conditions, Host, Rung, RungState, Tool};

/// Name of the OS clock behind [`tare_platform::Platform::monotonic_ns`].
pub const REFERENCE: &str = if cfg!(windows) {
    "QueryPerformanceCounter"
} else if cfg!(target_vendor = "apple") {
    "CLOCK_UPTIME_RAW"
} else {
    "CLOCK_MONOTONIC"
};

/// Name of the rung.
const NAME_OF_THROTTLING: &str = "rt_throttling";

/// What was found out about the clock.
pub struct ClockFacts {
    pub choice: Choice,
    pub rate: Rate,
    pub step_ticks: u32,
    pub read: ReadCost,
    pub store: StoreCost,
    pub anchor: Anchor,
    /// Largest disagreement between two CPUs that cannot be ruled out, ticks.
    pub offset_ticks: Option<u64>,
}

impl ClockFacts {
    /// As in the manifest.
    pub fn clock(&self) -> Clock {
        let ns = |ticks: f64| self.rate.ns(ticks);
        Clock {
            source: self.choice.source.name().to_owned(),
            invariant: self.choice.invariant,
            reference: REFERENCE.to_owned(),
            ticks_per_second: self.rate.ticks_per_second,
            rate_residual_ns: self.rate.residual_ns,
            rate_n: self.rate.pairs,
            rate_span_ns: self.rate.span_ns,
            read_cost_ns: ns(self.read.median_ticks),
            read_cost_range_ns: [ns(self.read.lowest_ticks), ns(self.read.highest_ticks)],
            step_ticks: self.step_ticks,
            store_cost_ratio: self.store.ratio.is_finite().then_some(self.store.ratio),
            anchor_ticks: self.anchor.ticks,
            anchor_monotonic_ns: self.anchor.monotonic_ns,
            anchor_unix_ns: self.anchor.unix_ns,
            cpu_offset_ns: self.offset_ticks.map(|ticks| ns(ticks as f64)),
        }
    }
}

/// This program.
pub fn tool() -> Tool {
    Tool {
        name: "tare-probe".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        target: env!("TARE_TARGET").into(),
    }
}

/// What was asked of the OS before the first trace, and its answers.
pub fn rungs(
    settled: Vec<Settled>,
    lock: Answer,
    plan: &Plan,
    budget: Option<Budget>,
) -> Vec<Rung> {
    let mut rungs = Vec::new();
    for Settled { cpu, pin, fifo } in settled {
        rungs.push(pin.into_rung("pin", Some(cpu)));
        rungs.push(match fifo {
            Some(answer) => answer.into_rung("fifo", Some(cpu)),
            None => not_asked("fifo", Some(cpu), "--priority other"),
        });
    }
    rungs.push(lock.into_rung("lock_memory", None));
    let touched = "every page of every buffer written before each trace";
    rungs.push(Answer::Granted(touched.into()).into_rung("prefault", None));
    let fifo = rungs.iter().any(|rung| rung.name == "fifo" && rung.state == RungState::Granted);
    rungs.push(throttling(plan, fifo, budget));
    rungs
}

/// How RT throttling was kept out of the windows.
fn throttling(plan: &Plan, fifo: bool, budget: Option<Budget>) -> Rung {
    const NAME: &str = NAME_OF_THROTTLING;
    if !fifo {
        return not_asked(NAME, None, "ordinary threads are not throttled");
    }
    let Some(budget) = budget else {
        let why = "this OS tells of no limit for real-time threads";
        return Answer::Unsupported(why.into()).into_rung(NAME, None);
    };
    let mut said = budget.describe();
    let mut without: Vec<&str> = Vec::new();
    for piece in plan.pieces().iter().filter(|piece| !piece.real_time) {
        without.push(piece.what.name());
    }
    if !without.is_empty() {
        without.dedup();
        said += &format!(
            "; too long for one and not to be cut, so with ordinary priority: {}",
            without.join(", ")
        );
    }
    Answer::Granted(said).into_rung(NAME, None)
}

fn not_asked(name: &str, cpu: Option<u32>, why: &str) -> Rung {
    Rung { name: name.into(), cpu, state: RungState::NotAsked, detail: Some(why.into()) }
}

/// Holes that are listed one by one.
const LISTED: usize = 10;

/// Say in the rung of RT throttling what it did all the same.
pub fn name_holes(rungs: &mut [Rung], holes: &[Hole]) {
    let rung = rungs.iter_mut().find(|rung| rung.name == NAME_OF_THROTTLING);
    if let (Some(rung), false) = (rung, holes.is_empty()) {
        let listed: Vec<String> = holes.iter().take(LISTED).map(Hole::describe).collect();
        let kept = rung.detail.take().unwrap_or_default();
        rung.state = RungState::Refused;
        rung.detail = Some(format!(
            "{kept}; yet {} as if the OS gave the CPU to waiting threads, brought about by \
             measuring with real-time priority: {}",
            match holes.len() {
                1 => "1 gap looks".to_owned(),
                n => format!("{n} gaps look"),
            },
            listed.join(", ")
        ));
    }
}

/// How late the first trace began, if a time was agreed. Later than 1 ms is refused: the other
/// machines are not waiting.
pub fn start_rung(asked_unix_ns: i64, first: &Trace, facts: &ClockFacts) -> Rung {
    let since_anchor = first.start_ticks.wrapping_sub(facts.anchor.ticks).cast_signed();
    let began = facts.anchor.unix_ns + facts.rate.ns(since_anchor as f64) as i64;
    let late_ns = began - asked_unix_ns;
    let said = format!("first reading {} us after the time agreed", late_ns / 1000);
    let answer = if late_ns < 1_000_000 { Answer::Granted(said) } else { Answer::Refused(said) };
    answer.into_rung("start_at", None)
}

/// What makes the result doubtful, in words.
pub fn doubts(
    host: &Host,
    conditions: &Conditions,
    measurements: &[Measurement],
    holes: &[Hole],
) -> Vec<String> {
    let mut doubts = Vec::new();
    let known = |text: &Option<String>| text.clone().filter(|text| text != "none");
    if let Some(hypervisor) = known(&host.virtualisation) {
        doubts.push(format!(
            "virtual machine ({hypervisor}): its host takes time that no guest sees named"
        ));
    }
    if let Some(container) = known(&host.container) {
        doubts.push(format!("container or compatibility layer ({container})"));
    }
    let some = |count: Option<u64>| count.filter(|&count| count > 0);
    if let Some(ns) = some(conditions.steal_ns) {
        doubts.push(format!(
            "the hypervisor gave {} of this machine to others",
            crate::words::time(ns as f64)
        ));
    }
    if let Some(ns) = some(conditions.cgroup_throttled_ns) {
        doubts.push(format!("the cgroup was throttled for {}", crate::words::time(ns as f64)));
    }
    if let Some(times) = some(conditions.thermal_throttles) {
        doubts
            .push(format!("the CPU was throttled by heat {}", crate::words::count(times, "time")));
    }
    if let Some(threads) = conditions.runnable_before.filter(|&threads| threads > 0) {
        let threads = crate::words::count(threads.into(), "other thread");
        doubts.push(format!("{threads} wanted to run when it began"));
    }
    let faults: u64 = measurements.iter().filter_map(|one| one.page_faults).sum();
    if faults > 0 {
        doubts
            .push(format!("{} in the measured windows", crate::words::count(faults, "page fault")));
    }
    let lost: u64 = measurements.iter().map(|one| one.lost_records).sum();
    if lost > 0 {
        doubts.push(format!(
            "{} did not fit into the buffers and are only counted",
            crate::words::count(lost, "record")
        ));
    }
    if !holes.is_empty() {
        let shown = crate::words::count(holes.len() as u64, "gap");
        doubts.push(format!(
            "{shown} probably brought about by real-time priority itself, see rung rt_throttling"
        ));
    }
    doubts
}
