//! Take all traces of a plan and write them: the course of one measurement.

use super::holes::{self, Hole};
use super::manifest::{self, ClockFacts};
use super::plan::{Group, Plan};
use super::recorder::Recorder;
use super::request::{Part, Request};
use super::summary::{Summary, Totals};
use crate::cli::NoiseFlags;
use crate::clock;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{output, parse};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tare_clock::{Anchor, Choice, Counter, Rate, RateFit, Visitor, read_cost};
use tare_noise::calibrate::Floor;
use tare_noise::{Calibrating, Session, Settled, Spec, Trace};
use tare_platform::Platform;
use tare_record::{Host, Manifest, Rung, RungState, Status};

/// Shortest gap that can be a detour: less than any way into a kernel and back takes, ns.
pub const LEAST_DETOUR_NS: u64 = 100;

/// The main thread wakes that long before the time of `--start-at`, so that the measuring threads
/// have time to touch their buffers.
const WAKE_BEFORE_START_NS: i64 = 2_000_000_000;

/// Blocks of raw readings for a first idea of what a reading costs.
const ROUGH_BLOCKS: usize = 11;

/// Everything that is known before the counter is.
pub struct Measuring<'a> {
    pub flags: &'a NoiseFlags,
    pub request: Request,
    pub platform: &'static dyn Platform,
    pub host: Host,
    pub choice: Choice,
    pub stop: Arc<AtomicBool>,
}

/// Everything that is ready when the first trace begins.
struct Ready<C: Counter> {
    counter: C,
    session: Session<C>,
    floors: Vec<Floor>,
    plan: Plan,
    fit: RateFit,
    rungs: Vec<Rung>,
    recorder: Recorder,
    facts: ClockFacts,
}

/// What the traces left behind, besides the recording.
#[derive(Default)]
struct Taken {
    totals: Totals,
    first: Option<Trace>,
    holes: Vec<Hole>,
    interrupted: bool,
}

impl Visitor for Measuring<'_> {
    type Output = Result<Summary, Failure>;

    fn visit<C: Counter>(self, counter: C) -> Self::Output {
        let mut ready = self.prepare(counter)?;
        let before = self.platform.snapshot();
        let started_at = parse::rfc3339(self.platform.unix_ns());
        let taken = self.take_all(&mut ready)?;
        let finished_at = parse::rfc3339(self.platform.unix_ns());
        let window = self.platform.snapshot().since(&before);
        ready.facts.rate = observe(&mut ready.fit, &ready.counter, self.platform)?;
        if ready.recorder.traces() == 0 {
            return Err(Failure::unable(
                "stopped before the first trace had ended; nothing was written",
                "a shorter --duration ends sooner",
            ));
        }
        window.append_to(ready.recorder.writer())?;
        if let (Some(at), Some(first)) = (self.request.start_at_unix_ns, &taken.first) {
            ready.rungs.push(manifest::start_rung(at, first, &ready.facts));
        }
        manifest::name_holes(&mut ready.rungs, &taken.holes);
        let status = if taken.interrupted { Status::Interrupted } else { Status::Complete };
        let traces = ready.recorder.traces();
        let planned = ready.plan.traces();
        let reason =
            || format!("interrupted (Ctrl-C or SIGTERM) after {traces} of {planned} traces");
        let manifest = Manifest {
            format: tare_record::FORMAT.to_owned(),
            schema_version: tare_record::SCHEMA_VERSION,
            kind: "noise".to_owned(),
            tool: manifest::tool(),
            started_at,
            finished_at,
            status,
            status_reason: taken.interrupted.then(reason),
            asked: self.request.asked.clone(),
            host: self.host.clone(),
            clock: ready.facts.clock(),
            rungs: ready.rungs.clone(),
            conditions: window.conditions.clone(),
            losses: ready.recorder.losses(),
            tables: Vec::new(),
        };
        let recording = ready.recorder.finish(manifest)?;
        let Taken { totals, holes, .. } = taken;
        let measurements = totals.finish(&ready.facts.rate);
        Ok(Summary {
            recording: recording.to_string_lossy().into_owned(),
            status,
            traces,
            traces_planned: planned,
            clock: ready.facts.clock(),
            rungs: ready.rungs,
            doubts: manifest::doubts(&self.host, &window.conditions, &measurements, &holes),
            measurements,
        })
    }
}

impl Measuring<'_> {
    /// Threads, plan, folder, buffers, lock, calibration: in this order, so that what is wrong is
    /// found before anything is written, and memory is locked when all of it is there.
    fn prepare<C: Counter>(&self, counter: C) -> Result<Ready<C>, Failure> {
        self.log(&format!("clock {}: {}", self.choice.source.name(), self.choice.reason));
        let (mut fit, rate, step_ticks) = clock::first_look(&counter, self.platform)?;
        let cpus = &self.request.cpus;
        let (mut session, settled) =
            Session::open(&counter, self.platform, cpus, self.request.real_time, &self.stop)?;
        let real_time = settled.iter().any(granted);
        let rough = rate.ns(read_cost(&counter, ROUGH_BLOCKS).median_ticks);
        let plan = Plan::new(&self.request, &rate, real_time, session.budget(), rough)?;
        plan.check_memory(self.platform)?;
        let recorder = Recorder::create(&self.request)?;

        let offset_ticks = clock::largest_offset(&counter, cpus, self.platform);
        let lock = session.reserve(plan.sizes())?;
        let floors = session.calibrate(self.calibrating(&rate, step_ticks, real_time))?;
        let (read, store) = session.judge(real_time)?;
        let rate = observe(&mut fit, &counter, self.platform).unwrap_or(rate);
        let platform = self.platform;
        let anchor = Anchor::take(&counter, || platform.monotonic_ns(), || platform.unix_ns());
        let rungs = manifest::rungs(settled, lock, &plan, session.budget());
        self.tell_refusals(&rungs);
        let choice = self.choice.clone();
        let facts = ClockFacts { choice, rate, step_ticks, read, store, anchor, offset_ticks };
        Ok(Ready { counter, session, floors, plan, fit, rungs, recorder, facts })
    }

    fn calibrating(&self, rate: &Rate, step_ticks: u32, real_time: bool) -> Calibrating {
        let quantum_ns = self.request.loops.iter().find_map(|part| match part {
            Part::Fwq { quantum_ns, .. } => Some(*quantum_ns),
            _ => None,
        });
        Calibrating {
            step_ticks,
            least_ticks: rate.ticks(LEAST_DETOUR_NS),
            quantum_ticks: quantum_ns.map(|ns| rate.ticks(ns)),
            real_time,
        }
    }

    /// Take one group after the other, until all are there or somebody stops it.
    fn take_all<C: Counter>(&self, ready: &mut Ready<C>) -> Result<Taken, Failure> {
        let Ready { counter, session, floors, plan, fit, recorder, facts, .. } = ready;
        let mut taken = Taken::default();
        let (budget, ns_per_tick) = (session.budget(), facts.rate.ns(1.0));
        let mut progress = Progress::new(self.flags.progress, self.flags.quiet, plan.total_ns());
        let mut start_at_unix_ns = self.request.start_at_unix_ns;
        self.wait(start_at_unix_ns);
        for group in plan.groups() {
            progress.begin(&group.describe());
            let traces = session.take(spec(&group, start_at_unix_ns.take()))?;
            if traces.iter().any(|trace| trace.stopped) {
                taken.interrupted = true;
                break;
            }
            let ids = recorder.traces()..;
            recorder.add(&group, &traces)?;
            fit.observe(counter, || self.platform.monotonic_ns());
            for ((trace, floor), id) in traces.iter().zip(&*floors).zip(ids) {
                taken.holes.extend(holes::find(trace, id, budget, ns_per_tick));
                taken.totals.add(&group, trace, Some(floor.threshold_ticks));
            }
            taken.first.get_or_insert_with(|| without_records(&traces[0]));
            traces.into_iter().for_each(|trace| session.recycle(trace));
            progress.done(&group.describe(), group.piece.window_ns);
            if self.stop.load(Ordering::Relaxed) && recorder.traces() < plan.traces() {
                taken.interrupted = true;
                break;
            }
        }
        Ok(taken)
    }

    /// Sleep until shortly before the agreed time, awake often enough to notice Ctrl-C.
    fn wait(&self, start_at_unix_ns: Option<i64>) {
        let Some(at) = start_at_unix_ns else { return };
        self.log(&format!("waiting for {}", parse::rfc3339(at)));
        while !self.stop.load(Ordering::Relaxed) {
            let left = at - WAKE_BEFORE_START_NS - self.platform.unix_ns();
            let Some(left) = u64::try_from(left).ok().filter(|&left| left > 0) else { return };
            std::thread::sleep(Duration::from_nanos(left).min(Duration::from_millis(200)));
        }
    }

    /// Each right that is missing is said once, not once for each CPU.
    fn tell_refusals(&self, rungs: &[Rung]) {
        let mut said: Vec<&str> = Vec::new();
        for rung in rungs.iter().filter(|rung| rung.state == RungState::Refused) {
            if !said.contains(&rung.name.as_str()) && !self.flags.quiet {
                let why = rung.detail.as_deref().unwrap_or("no reason given");
                output::tell(&format!("note: {} refused, going on without: {why}", rung.name));
            }
            said.push(&rung.name);
        }
    }

    fn log(&self, line: &str) {
        if self.flags.verbose {
            output::tell(line);
        }
    }
}

fn granted(settled: &Settled) -> bool {
    settled.fifo.as_ref().is_some_and(tare_platform::Answer::is_granted)
}

fn spec(group: &Group, start_at_unix_ns: Option<i64>) -> Spec {
    Spec {
        task: group.piece.task,
        sizes: group.piece.sizes,
        memory_state: group.memory_state,
        real_time: group.piece.real_time,
        start_at_unix_ns,
    }
}

/// The trace without its records, which may be large.
fn without_records(trace: &Trace) -> Trace {
    let records = tare_noise::Records::Deltas(Vec::new());
    Trace { records, ..*trace }
}

/// One more pair, and the line through all.
fn observe<C: Counter>(
    fit: &mut RateFit,
    counter: &C,
    platform: &dyn Platform,
) -> Result<Rate, Failure> {
    fit.observe(counter, || platform.monotonic_ns());
    fit.fit().ok_or_else(clock::no_rate)
}
