//! Every verb and flag, once. Help, man page, completions and docs/reference/probe.md are generated
//! from here; `tare noise` uses the same names.

use crate::parse::{self, Span, Threshold};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Measure operating system noise on a bare target and write a recording.
#[derive(Debug, Parser)]
#[command(
    name = "tare-probe",
    version,
    after_help = "Exit codes: 0 done; 2 wrong use or bad input, nothing written; 3 could not \
                  measure, or not wholly (rights, OS, disk, Ctrl-C): what was measured is kept and \
                  named.\nThe answer goes to stdout, progress and log to stderr. Times take a unit: \
                  250us, 5s, 2min."
)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure how much time is taken from a program, and in which pattern
    Noise(Box<NoiseFlags>),
    /// What reading the time costs here, how fine it is and how steady
    Clock(ClockFlags),
    /// What this machine is, as it stands in every recording
    Host(HostFlags),
    /// Print a page of the reference
    Reference(ReferenceFlags),
    /// Print completions for a shell
    Completions(CompletionsFlags),
    /// Print a man page
    Man(ManFlags),
}

/// The four loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Loop {
    /// Read the counter back to back and keep every delta
    Timestamps,
    /// Read the counter back to back and keep only gaps above a threshold
    Selfish,
    /// Do a fixed amount of work again and again and keep the time it takes
    Fwq,
    /// Count the work done in each slot of a fixed time grid
    Ftq,
}

impl Loop {
    /// As in a recording.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timestamps => "timestamps",
            Self::Selfish => "selfish",
            Self::Fwq => "fwq",
            Self::Ftq => "ftq",
        }
    }
}

/// With which priority to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Priority {
    /// Before every ordinary thread (SCHED_FIFO 1 or what comes closest); goes on without if refused
    Fifo,
    /// As an ordinary thread: what other threads take is measured too
    Other,
}

/// How progress is shown on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressStyle {
    /// A bar with the time left
    Bar,
    /// One object a line: {"done_ns":..,"total_ns":..,"what":".."}
    Json,
    /// Nothing
    None,
}

#[derive(Debug, Args)]
pub struct NoiseFlags {
    /// Loop to run; can be given again, the loops run one after the other
    #[arg(long = "loop", value_name = "NAME", value_enum, default_values_t = [Loop::Selfish])]
    pub loops: Vec<Loop>,

    /// CPUs to measure at the same time: `0,2-3`, `all` that this process may use [default: the
    /// last of these, because the first serves most interrupts]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,

    /// How long each of selfish, fwq and ftq measures, rests not counted
    #[arg(long, value_name = "TIME", value_parser = parse::duration, allow_hyphen_values = true, default_value = "5s")]
    pub duration: Span,

    /// timestamps: deltas to keep
    #[arg(long, value_name = "N", value_parser = parse::samples, allow_negative_numbers = true, default_value = "10000")]
    pub samples: u64,

    /// How often to do the whole
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), allow_negative_numbers = true, default_value_t = 1)]
    pub repeat: u32,

    /// How memory is allocated before each trace: aligned16-small, aligned16-large,
    /// aligned4096-small, aligned4096-large, prime-small, prime-large, `all` of them or `none`; can
    /// be given again
    #[arg(long = "memory-state", value_name = "NAME", default_values_t = ["none".to_owned()])]
    pub memory_states: Vec<String>,

    /// fwq: length of a quantum aimed at, 10us to 10ms
    #[arg(long, value_name = "TIME", value_parser = parse::quantum, allow_hyphen_values = true, default_value = "1ms")]
    pub quantum: Span,

    /// ftq: length of a slot, 50us to 500ms; can be given again, each length makes a trace of its own.
    /// The two defaults are unrelated: what aliases with one does not with the other
    #[arg(long = "slot", value_name = "TIME", value_parser = parse::slot, allow_hyphen_values = true, default_values = ["1ms", "370us"])]
    pub slots: Vec<Span>,

    /// selfish: smallest gap to keep, or `auto`: from the distribution of undisturbed iterations
    #[arg(long, value_name = "TIME", value_parser = parse::threshold, allow_hyphen_values = true, default_value = "auto")]
    pub threshold: Threshold,

    /// Priority of the measuring threads
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Priority::Fifo)]
    pub priority: Priority,

    /// Wall time of the first trace, for several machines: RFC 3339 or seconds since 1970 UTC
    #[arg(long, value_name = "TIME", value_parser = parse::instant, allow_hyphen_values = true)]
    pub start_at: Option<i64>,

    /// Folder to write; must not exist [default: recordings/noise-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Answer with one JSON object
    #[arg(long)]
    pub json: bool,

    /// Progress on stderr [default: bar on a terminal, else none]
    #[arg(long, value_name = "STYLE", value_enum)]
    pub progress: Option<ProgressStyle>,

    /// Say nothing on stderr but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say more on stderr
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct ClockFlags {
    /// CPUs to compare: `0,2-3`, `all` that this process may use; costs are measured on the first
    /// [default: all]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,

    /// How long to compare the counter with the OS clock
    #[arg(long, value_name = "TIME", value_parser = parse::duration, allow_hyphen_values = true, default_value = "1s")]
    pub duration: Span,

    /// Answer with one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct HostFlags {
    /// Answer with one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Pages of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// The flags of this program (docs/reference/probe.md)
    Probe,
    /// The recording: manifest and tables (docs/reference/recording.md)
    Recording,
    /// JSON schema of the manifest (docs/reference/recording.schema.json)
    Schema,
}

#[derive(Debug, Args)]
pub struct ReferenceFlags {
    /// Which
    #[arg(value_enum, default_value_t = Page::Probe)]
    pub page: Page,
}

#[derive(Debug, Args)]
pub struct CompletionsFlags {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManFlags {
    /// Verb whose page to print; without one, the page of the program
    pub verb: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_reference() {
        let Verb::Noise(flags) = Cli::parse_from(["tare-probe", "noise"]).verb else { panic!() };
        assert_eq!(flags.loops, [Loop::Selfish]);
        assert_eq!(flags.duration.ns, 5_000_000_000);
        assert_eq!(
            flags.slots.iter().map(|slot| slot.ns).collect::<Vec<_>>(),
            [1_000_000, 370_000]
        );
        assert_eq!((flags.samples, flags.threshold), (10_000, Threshold::Auto));
    }
}
