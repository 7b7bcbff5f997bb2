//! What was seen, in a few lines: for a bare target, where there is no Python to infer more.
//!
//! Repetitions and windows of one loop on one CPU are taken together.

use super::plan::Group;
use super::tally::Tally;
use crate::words;
use serde::Serialize;
use tare_clock::Rate;
use tare_noise::{Records, Trace};
use tare_record::{Clock, Rung, RungState, Status};

/// The answer of `tare-probe noise`.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Folder of the recording.
    pub recording: String,
    pub status: Status,
    /// Traces kept.
    pub traces: u64,
    /// Traces that were planned.
    pub traces_planned: u64,
    pub clock: Clock,
    pub rungs: Vec<Rung>,
    pub measurements: Vec<Measurement>,
    /// What makes the result doubtful, in words.
    pub doubts: Vec<String>,
}

/// One loop on one CPU: all its windows and repetitions together.
#[derive(Debug, Serialize)]
pub struct Measurement {
    #[serde(rename = "loop")]
    pub what: &'static str,
    pub cpu: u32,
    pub memory_state: Option<&'static str>,
    /// FWQ: length of a quantum aimed at; FTQ: length of a slot.
    pub quantum_ns: Option<u64>,
    pub traces: u64,
    /// Time within the windows.
    pub measured_ns: f64,
    /// Deltas, quanta or slots.
    pub samples: u64,
    pub floor_ns: Option<f64>,
    pub threshold_ns: Option<f64>,
    /// Gaps at or above the threshold.
    pub detours: Option<u64>,
    /// Share of the time that was taken: by detours, or over the fastest quantum, or under the
    /// fullest slot.
    pub noise_share: Option<f64>,
    /// Of `values`: median, the one in a hundred, the worst.
    pub typical: Option<f64>,
    pub one_in_100: Option<f64>,
    pub worst: Option<f64>,
    /// What these three are: `delta_ns`, `detour_ns`, `duration_ns`, `work_units`.
    pub values: &'static str,
    pub lost_records: u64,
    pub page_faults: Option<u64>,
}

/// Sums over the traces of one measurement.
#[derive(Debug)]
pub struct Sums {
    what: &'static str,
    cpu: u32,
    memory_state: Option<&'static str>,
    quantum_ns: Option<u64>,
    traces: u64,
    measured_ticks: u64,
    samples: u64,
    floor_ticks: Option<f64>,
    threshold_ticks: Option<u64>,
    detours: u64,
    taken_ticks: f64,
    total: f64,
    lost_records: u64,
    page_faults: Option<u64>,
    tally: Tally,
}

/// All measurements, in the order in which they first came.
#[derive(Debug, Default)]
pub struct Totals {
    all: Vec<Sums>,
}

impl Totals {
    /// Add a trace. `threshold_ticks`: the calibrated one, for loops that keep everything.
    pub fn add(&mut self, group: &Group, trace: &Trace, threshold_ticks: Option<u64>) {
        let what = group.piece.what.name();
        let state = group.memory_state.map(|state| state.name);
        let key = (what, trace.cpu, state, group.piece.quantum_ns);
        let known = |sums: &Sums| (sums.what, sums.cpu, sums.memory_state, sums.quantum_ns) == key;
        let at = self.all.iter().position(known).unwrap_or_else(|| {
            self.all.push(Sums::new(key));
            self.all.len() - 1
        });
        self.all[at].add(trace, trace.threshold_ticks.or(threshold_ticks));
    }

    /// In units.
    pub fn finish(self, rate: &Rate) -> Vec<Measurement> {
        self.all.into_iter().map(|sums| sums.finish(rate)).collect()
    }
}

impl Sums {
    fn new(
        (what, cpu, memory_state, quantum_ns): (
            &'static str,
            u32,
            Option<&'static str>,
            Option<u64>,
        ),
    ) -> Self {
        Self {
            what,
            cpu,
            memory_state,
            quantum_ns,
            traces: 0,
            measured_ticks: 0,
            samples: 0,
            floor_ticks: None,
            threshold_ticks: None,
            detours: 0,
            taken_ticks: 0.0,
            total: 0.0,
            lost_records: 0,
            page_faults: Some(0),
            tally: Tally::default(),
        }
    }

    fn add(&mut self, trace: &Trace, threshold_ticks: Option<u64>) {
        self.traces += 1;
        self.measured_ticks += trace.end_ticks.wrapping_sub(trace.start_ticks);
        self.samples += trace.samples;
        self.lost_records += trace.lost_records;
        self.floor_ticks = trace.floor_ticks;
        let usage = trace.usage;
        let faults = usage.page_faults_minor.zip(usage.page_faults_major).map(|(a, b)| a + b);
        self.page_faults = self.page_faults.zip(faults).map(|(a, b)| a + b);
        match &trace.records {
            Records::Deltas(deltas) => {
                self.threshold_ticks = threshold_ticks;
                deltas.iter().for_each(|&delta| self.gap(delta.into(), true));
            }
            Records::Detours(detours) => {
                self.threshold_ticks = threshold_ticks;
                detours.iter().for_each(|detour| self.gap(detour.gap_ticks, false));
                self.detours += trace.lost_records;
                let floors = self.floor_ticks.unwrap_or(0.0) * trace.lost_records as f64;
                self.taken_ticks += trace.lost_ticks as f64 - floors;
            }
            Records::Readings(readings) => {
                let durations = readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
                durations.for_each(|duration| self.value(duration));
            }
            Records::Slots(work) => work.iter().for_each(|&units| self.value(units)),
        }
    }

    fn gap(&mut self, ticks: u64, keep_all: bool) {
        if keep_all {
            self.tally.add(ticks);
        }
        if self.threshold_ticks.is_some_and(|threshold| ticks >= threshold) {
            self.detours += 1;
            self.taken_ticks += ticks as f64 - self.floor_ticks.unwrap_or(0.0);
            if !keep_all {
                self.tally.add(ticks);
            }
        }
    }

    fn value(&mut self, value: u64) {
        self.total += value as f64;
        self.tally.add(value);
    }

    /// Share of the time that was taken, each loop by its own means.
    fn share(&mut self) -> Option<f64> {
        let n = self.samples.saturating_sub(self.lost_records) as f64;
        match self.what {
            "fwq" => {
                let [fastest] = self.tally.quantiles([0.0])?;
                (self.total > 0.0).then(|| 1.0 - n * fastest / self.total)
            }
            "ftq" => {
                let [fullest] = self.tally.quantiles([1.0])?;
                (fullest > 0.0).then(|| 1.0 - self.total / (n * fullest))
            }
            _ => (self.measured_ticks > 0).then(|| self.taken_ticks / self.measured_ticks as f64),
        }
    }

    fn finish(mut self, rate: &Rate) -> Measurement {
        let noise_share = self.share();
        let ns = |ticks: f64| rate.ns(ticks);
        let floor = self.floor_ticks.unwrap_or(0.0);
        let quantiles = self.tally.quantiles([0.0, 0.01, 0.5, 0.99, 1.0]);
        let values = quantiles.map(|[least, low, median, high, most]| match self.what {
            "ftq" => [median, low, least],
            "selfish" => [median, high, most].map(|gap| ns(gap - floor)),
            _ => [median, high, most].map(ns),
        });
        let reads_back_to_back = self.threshold_ticks.is_some();
        Measurement {
            what: self.what,
            cpu: self.cpu,
            memory_state: self.memory_state,
            quantum_ns: self.quantum_ns,
            traces: self.traces,
            measured_ns: ns(self.measured_ticks as f64),
            samples: self.samples,
            floor_ns: self.floor_ticks.map(ns),
            threshold_ns: self.threshold_ticks.map(|ticks| ns(ticks as f64)),
            detours: reads_back_to_back.then_some(self.detours),
            noise_share,
            typical: values.map(|values| values[0]),
            one_in_100: values.map(|values| values[1]),
            worst: values.map(|values| values[2]),
            values: match self.what {
                "timestamps" => "delta_ns",
                "selfish" => "detour_ns",
                "fwq" => "duration_ns",
                _ => "work_units",
            },
            lost_records: self.lost_records,
            page_faults: self.page_faults,
        }
    }
}

impl Summary {
    /// As plain text.
    pub fn text(&self) -> String {
        let mut text = format!("recording  {}\n", self.recording);
        text += &format!("clock      {}\n", clock_line(&self.clock));
        for (state, name) in [
            (RungState::Granted, "granted"),
            (RungState::Refused, "refused"),
            (RungState::Unsupported, "not here"),
        ] {
            for line in rung_lines(&self.rungs, state) {
                text += &format!("{name:<9}  {line}\n");
            }
        }
        text += "\n";
        text += &words::table(&self.rows());
        text += "\ntaken: share of the time in detours (timestamps, selfish), over the fastest \
                 quantum (fwq), under the fullest slot (ftq)\n";
        for doubt in &self.doubts {
            text += &format!("doubt: {doubt}\n");
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let head = [
            "loop",
            "CPU",
            "memory",
            "traces",
            "measured",
            "samples",
            "floor",
            "threshold",
            "detours",
            "taken",
            "of",
            "median",
            "1 in 100",
            "worst",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.measurements.iter().map(Measurement::row));
        rows
    }
}

impl Measurement {
    fn row(&self) -> Vec<String> {
        let none = || "-".to_owned();
        let time = |ns: Option<f64>| ns.map_or_else(none, words::time);
        let value = |value: Option<f64>| match (value, self.values) {
            (None, _) => none(),
            (Some(units), "work_units") => format!("{units:.0}"),
            (Some(ns), _) => words::time(ns),
        };
        let of = match self.values {
            "delta_ns" => "delta",
            "detour_ns" => "detour",
            "duration_ns" => "quantum",
            _ => "units",
        };
        let quantum = self.quantum_ns.map(|ns| format!(" {}", words::time(ns as f64)));
        vec![
            format!("{}{}", self.what, quantum.unwrap_or_default()),
            self.cpu.to_string(),
            self.memory_state.map_or_else(none, str::to_owned),
            self.traces.to_string(),
            words::time(self.measured_ns),
            self.samples.to_string(),
            time(self.floor_ns),
            time(self.threshold_ns),
            self.detours.map_or_else(none, |detours| detours.to_string()),
            self.noise_share.map_or_else(none, words::percent),
            of.to_owned(),
            value(self.typical),
            value(self.one_in_100),
            value(self.worst),
        ]
    }
}

fn clock_line(clock: &Clock) -> String {
    let step_ns = f64::from(clock.step_ticks) * 1e9 / clock.ticks_per_second;
    let mut line = format!(
        "{} at {:.6} MHz (residual {}), step {}, raw reading {}",
        clock.source,
        clock.ticks_per_second / 1e6,
        words::time(clock.rate_residual_ns),
        words::time(step_ns),
        words::time(clock.read_cost_ns),
    );
    if let Some(ratio) = clock.store_cost_ratio {
        line += &format!(", stored reading {ratio:.3} x that");
    }
    line
}

/// One line for each name and text; the CPUs that gave the same answer together.
fn rung_lines(rungs: &[Rung], state: RungState) -> Vec<String> {
    let mut lines: Vec<(&str, Option<&str>, Vec<u32>)> = Vec::new();
    for rung in rungs.iter().filter(|rung| rung.state == state) {
        // What was granted differs by CPU only in the CPU's number.
        let detail =
            rung.detail.as_deref().filter(|_| rung.name != "pin" || state != RungState::Granted);
        match lines.iter_mut().find(|line| (line.0, line.1) == (&rung.name, detail)) {
            Some(line) => line.2.extend(rung.cpu),
            None => lines.push((&rung.name, detail, rung.cpu.into_iter().collect())),
        }
    }
    let shown = |(name, detail, cpus): (&str, Option<&str>, Vec<u32>)| {
        let list = tare_platform::cpulist::format(&cpus);
        let on = if cpus.is_empty() { String::new() } else { format!(" on CPU {list}") };
        format!("{name}{on}{}", detail.map(|text| format!(": {text}")).unwrap_or_default())
    };
    lines.into_iter().map(shown).collect()
}
