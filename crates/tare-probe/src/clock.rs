//! `tare-probe clock`: what reading the time costs here, how fine it is and how steady; and the
//! first look at the clock that every measurement takes.

use crate::cli::ClockFlags;
use crate::failure::Failure;
use crate::noise::request::{Preferred, choose_cpus, os_trusts_tsc};
use crate::{output, words};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tare_clock::{Choice, Counter, Rate, RateFit, ReadCost, Visitor, measure_step, offset_between};
use tare_noise::calibrate::Floor;
use tare_noise::{Calibrating, Session, StoreCost};
use tare_platform::Platform;

/// The first look takes that long: a bracket of 25 ns over it is 0.25 parts in a million, and the
/// fit goes on through the measurement.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// Pause between two pairs of readings of counter and OS clock.
const PAUSE: Duration = Duration::from_millis(10);

/// Other CPUs that are compared with the first; each takes some ms, the more so when busy.
const MOST_COMPARED: usize = 63;

/// What `--json` answers; also the base of the plain text.
#[derive(Debug, Serialize)]
struct Report {
    source: &'static str,
    invariant: Option<bool>,
    why: String,
    reference: &'static str,
    ticks_per_second: f64,
    rate_residual_ns: f64,
    rate_n: u32,
    rate_span_ns: u64,
    step_ticks: u32,
    step_ns: f64,
    /// CPU that the costs were measured on, and whether with real-time priority.
    cpu: u32,
    real_time: bool,
    read_cost_ns: f64,
    read_cost_range_ns: [f64; 2],
    /// One stored reading over one raw reading, median of 1000 pairs of blocks.
    store_cost_ratio: f64,
    /// Mean delta across the edge of two unrolled blocks, and within them, below the threshold.
    block_edge_ns: f64,
    block_inner_ns: f64,
    /// Share of deltas at or above the threshold, across edges and within blocks.
    block_edge_above: f64,
    block_inner_above: f64,
    floor_timestamps_ns: f64,
    floor_selfish_ns: f64,
    threshold_ns: f64,
    threshold_ticks: u64,
    cpu_offset_ns: Option<f64>,
}

/// Measure the clock and print what was found.
///
/// # Errors
/// Exit code 2 for CPUs that are not there, 3 if it could not be measured.
pub fn run(flags: &ClockFlags, platform: &'static dyn Platform) -> Result<(), Failure> {
    let cpus = choose_cpus(flags.cpus.as_deref(), platform, Preferred::All)?;
    let choice = tare_clock::choose(os_trusts_tsc(&platform.host()));
    let length = Duration::from_nanos(flags.duration.ns);
    let source = choice.source;
    let report = tare_clock::visit(source, Judging { cpus, platform, choice, length })?;
    if flags.json { output::answer_json(&report) } else { output::answer(&report.text()) }
}

struct Judging {
    cpus: Vec<u32>,
    platform: &'static dyn Platform,
    choice: Choice,
    length: Duration,
}

/// What was measured on the first CPU.
struct Judged {
    floor: Floor,
    read: ReadCost,
    store: StoreCost,
    real_time: bool,
}

impl Visitor for Judging {
    type Output = Result<Report, Failure>;

    fn visit<C: Counter>(self, counter: C) -> Self::Output {
        let began = Instant::now();
        let (mut fit, rate, step_ticks) = first_look(&counter, self.platform)?;
        let judged = self.judge(&counter, &rate, step_ticks)?;
        let offset = largest_offset(&counter, &self.cpus, self.platform);
        let rate = watch(&mut fit, &counter, self.platform, began + self.length)?;
        Ok(self.report(&rate, step_ticks, &judged, offset))
    }
}

impl Judging {
    fn judge<C: Counter>(
        &self,
        counter: &C,
        rate: &Rate,
        step_ticks: u32,
    ) -> Result<Judged, Failure> {
        let cpus = &self.cpus[..1];
        let (mut session, settled) =
            Session::open(counter, self.platform, cpus, true, &Arc::default())?;
        let fifo = settled.into_iter().next().and_then(|settled| settled.fifo);
        let real_time = fifo.is_some_and(|answer| answer.is_granted());
        let least_ticks = rate.ticks(crate::noise::LEAST_DETOUR_NS);
        let how = Calibrating { step_ticks, least_ticks, quantum_ticks: None, real_time };
        let floors = session.calibrate(how)?;
        let (read, store) = session.judge(real_time)?;
        // One CPU was asked for, so there is one floor.
        Ok(Judged { floor: floors[0], read, store, real_time })
    }

    fn report(&self, rate: &Rate, step_ticks: u32, judged: &Judged, offset: Option<u64>) -> Report {
        let ns = |ticks: f64| rate.ns(ticks);
        let Judged { floor, read, store, real_time } = judged;
        Report {
            source: self.choice.source.name(),
            invariant: self.choice.invariant,
            why: self.choice.reason.clone(),
            reference: crate::noise::REFERENCE,
            ticks_per_second: rate.ticks_per_second,
            rate_residual_ns: rate.residual_ns,
            rate_n: rate.pairs,
            rate_span_ns: rate.span_ns,
            step_ticks,
            step_ns: ns(step_ticks.into()),
            cpu: self.cpus[0],
            real_time: *real_time,
            read_cost_ns: ns(read.median_ticks),
            read_cost_range_ns: [ns(read.lowest_ticks), ns(read.highest_ticks)],
            store_cost_ratio: store.ratio,
            block_edge_ns: ns(store.edge_ticks),
            block_inner_ns: ns(store.inner_ticks),
            block_edge_above: store.edge_above,
            block_inner_above: store.inner_above,
            floor_timestamps_ns: ns(floor.timestamps_ticks),
            floor_selfish_ns: ns(floor.selfish_ticks),
            threshold_ns: ns(floor.threshold_ticks as f64),
            threshold_ticks: floor.threshold_ticks,
            cpu_offset_ns: offset.map(|ticks| ns(ticks as f64)),
        }
    }
}

impl Report {
    fn text(&self) -> String {
        let class = if self.real_time { "real-time priority" } else { "ordinary priority" };
        let rows = [
            ("counter", format!("{}: {}", self.source, self.why)),
            ("rate", format!("{:.6} MHz against {}", self.ticks_per_second / 1e6, self.reference)),
            (
                "residual",
                format!(
                    "{} of {} pairs over {}",
                    words::time(self.rate_residual_ns),
                    self.rate_n,
                    words::time(self.rate_span_ns as f64)
                ),
            ),
            ("step", format!("{} ({} ticks)", words::time(self.step_ns), self.step_ticks)),
            (
                "raw reading",
                format!(
                    "{} ({} to {} by block) on CPU {}, {class}",
                    words::time(self.read_cost_ns),
                    words::time(self.read_cost_range_ns[0]),
                    words::time(self.read_cost_range_ns[1]),
                    self.cpu
                ),
            ),
            ("stored reading", format!("{:.3} x a raw one", self.store_cost_ratio)),
            (
                "block edge",
                format!(
                    "{} across, {} within; at or above the threshold {} across, {} within",
                    words::time(self.block_edge_ns),
                    words::time(self.block_inner_ns),
                    words::percent(self.block_edge_above),
                    words::percent(self.block_inner_above)
                ),
            ),
            (
                "floor",
                format!(
                    "timestamps {}, selfish {}",
                    words::time(self.floor_timestamps_ns),
                    words::time(self.floor_selfish_ns)
                ),
            ),
            (
                "threshold",
                format!("{} ({} ticks)", words::time(self.threshold_ns), self.threshold_ticks),
            ),
            (
                "CPUs disagree",
                self.cpu_offset_ns.map_or_else(
                    || "not measured: one CPU, or the OS pins none".into(),
                    |ns| format!("by at most {}", words::time(ns)),
                ),
            ),
        ];
        rows.map(|(name, value)| format!("{name:<15} {value}\n")).concat()
    }
}

/// Rate and step, roughly, to begin with.
///
/// # Errors
/// Exit code 3 if the counter does not move.
pub fn first_look<C: Counter>(
    counter: &C,
    platform: &dyn Platform,
) -> Result<(RateFit, Rate, u32), Failure> {
    let mut fit = RateFit::default();
    fit.observe(counter, || platform.monotonic_ns());
    let rate = watch(&mut fit, counter, platform, Instant::now() + FIRST_LOOK)?;
    let step_ticks = measure_step(counter).ok_or_else(no_rate)?;
    Ok((fit, rate, step_ticks))
}

/// Take pairs until `end`, at least one.
fn watch<C: Counter>(
    fit: &mut RateFit,
    counter: &C,
    platform: &dyn Platform,
    end: Instant,
) -> Result<Rate, Failure> {
    loop {
        std::thread::sleep(PAUSE);
        fit.observe(counter, || platform.monotonic_ns());
        if Instant::now() >= end {
            return fit.fit().ok_or_else(no_rate);
        }
    }
}

/// A counter that does not go forward.
pub fn no_rate() -> Failure {
    Failure::unable(
        "the counter does not go forward beside the OS clock",
        "nothing can be measured on this machine; please report its model with `tare-probe host`",
    )
}

/// Largest disagreement between the first CPU and each other that cannot be ruled out, ticks;
/// `None` for one CPU, or if no pair could be compared.
pub fn largest_offset<C: Counter>(
    counter: &C,
    cpus: &[u32],
    platform: &'static dyn Platform,
) -> Option<u64> {
    let (&first, others) = cpus.split_first()?;
    let pin = |cpu| platform.pin_thread(cpu).is_granted();
    let compared = others.iter().take(MOST_COMPARED);
    compared
        .filter_map(|&other| offset_between(counter, first, other, pin))
        .map(|bounds| bounds.largest_ticks())
        .max()
}
