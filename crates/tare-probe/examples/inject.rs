//! A disturbance of known period and length, to see whether a measurement finds it: a thread that
//! is busy for 1 ms every 50 ms on one CPU, with a higher real-time priority than the loops.
//!
//!     inject --cpu 1 --period 50ms --busy 1ms --duration 10s
//!
//! It wakes on an absolute grid and spins by the counter. stdout has two lines of JSON: what it will
//! do, as soon as it does it; and at the end (or after Ctrl-C or SIGTERM) what it truly took, by the
//! counter and by the CPU time that the OS accounts to it. Exit 3 if the OS gives no real-time
//! priority: an ordinary thread would not disturb a real-time loop at all.

use clap::Parser;
use jiff::SignedDuration;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tare_clock::{Counter, RateFit, Visitor};
use tare_platform::{Platform, native};

/// Disturb one CPU regularly.
#[derive(Debug, Clone, Parser)]
struct Flags {
    /// CPU to disturb
    #[arg(long)]
    cpu: u32,
    /// From one spell to the next
    #[arg(long, value_parser = time, default_value = "50ms")]
    period: Duration,
    /// Length of a spell
    #[arg(long, value_parser = time, default_value = "1ms")]
    busy: Duration,
    /// How long to go on
    #[arg(long, value_parser = time, default_value = "5s")]
    duration: Duration,
    /// FIFO priority; the loops have 1
    #[arg(long, default_value_t = 10)]
    priority: u8,
}

fn time(text: &str) -> Result<Duration, String> {
    let why = || "give a number and a unit, for example 1ms".to_owned();
    let time: SignedDuration = text.parse().map_err(|_| why())?;
    Duration::try_from(time).map_err(|_| why())
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let platform = native();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    // First: its thread must not inherit the CPU and the priority that follow.
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).expect("one handler");
    for (what, answer) in [
        ("pinning", platform.pin_thread(flags.cpu)),
        ("real-time priority", platform.set_fifo(flags.priority)),
    ] {
        if !answer.is_granted() {
            eprintln!("error: no {what}: {}\nhint: run as root", answer.detail());
            return ExitCode::from(3);
        }
    }
    let choice = tare_clock::choose(platform.host().clock_source.map(|source| source == "tsc"));
    let report = tare_clock::visit(choice.source, Inject { flags, platform, stop });
    println!("{report}");
    ExitCode::SUCCESS
}

struct Inject {
    flags: Flags,
    platform: &'static dyn Platform,
    stop: Arc<AtomicBool>,
}

impl Visitor for Inject {
    type Output = serde_json::Value;

    fn visit<C: Counter>(self, counter: C) -> Self::Output {
        let Flags { period, busy, duration, .. } = self.flags;
        let mut fit = RateFit::default();
        fit.observe(&counter, || self.platform.monotonic_ns());
        std::thread::sleep(Duration::from_millis(50));
        fit.observe(&counter, || self.platform.monotonic_ns());
        let rate = fit.fit().expect("a clock that goes forward");
        let busy_ticks = rate.ticks(busy.as_nanos() as u64);
        let Flags { cpu, priority, .. } = self.flags;
        println!("{}", json!({ "disturbing_cpu": cpu, "priority": priority }));

        let before = self.platform.thread_usage();
        let begin = Instant::now();
        let mut spells = Vec::new();
        while period * (spells.len() as u32) < duration && !self.stop.load(Ordering::Relaxed) {
            let due = begin + period * (spells.len() as u32);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let start = counter.read();
            while counter.read().wrapping_sub(start) < busy_ticks {}
            spells.push((start, counter.read().wrapping_sub(start)));
        }
        let used = self.platform.thread_usage().since(&before);
        let taken: u64 = spells.iter().map(|spell| spell.1).sum();
        let apart = spells.windows(2).map(|pair| pair[1].0 - pair[0].0).sum::<u64>();
        json!({
            "cpu": cpu,
            "spells": spells.len(),
            "period_asked_ns": period.as_nanos() as u64,
            "period_mean_ns": rate.ns(apart as f64) / spells.len().saturating_sub(1).max(1) as f64,
            "busy_asked_ns": busy.as_nanos() as u64,
            "busy_by_counter_ns": rate.ns(taken as f64),
            "busy_by_cpu_time_ns": used.cpu_time_ns,
            "duration_ns": begin.elapsed().as_nanos() as u64,
            "share_by_counter": rate.ns(taken as f64) / begin.elapsed().as_nanos() as f64,
        })
    }
}
