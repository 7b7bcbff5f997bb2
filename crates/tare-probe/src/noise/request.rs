//! Flags that make sense on this machine, or the reason why not.

use crate::cli::{Loop, NoiseFlags, Priority};
use crate::failure::Failure;
use crate::parse::{self, Threshold};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tare_noise::{MEMORY_STATES, MemoryState};
use tare_platform::{Platform, cpulist};
use tare_record::Host;

/// Longest wait for `--start-at`: a day. More is taken for a slip of the pen.
const LONGEST_WAIT_NS: i64 = 24 * 3600 * 1_000_000_000;

/// What to measure, on what, and where to write it.
#[derive(Debug)]
pub struct Request {
    pub cpus: Vec<u32>,
    pub loops: Vec<Part>,
    pub memory_states: Vec<Option<MemoryState>>,
    pub repeat: u32,
    pub real_time: bool,
    pub start_at_unix_ns: Option<i64>,
    pub target: PathBuf,
    pub asked: BTreeMap<String, Value>,
}

/// One loop with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Timestamps { samples: u64 },
    Selfish { duration_ns: u64, threshold_ns: Option<u64> },
    Fwq { duration_ns: u64, quantum_ns: u64 },
    Ftq { duration_ns: u64, slot_ns: u64 },
}

impl Request {
    /// # Errors
    /// Exit code 2 with what is there instead.
    pub fn new(flags: &NoiseFlags, platform: &dyn Platform) -> Result<Self, Failure> {
        let cpus = choose_cpus(flags.cpus.as_deref(), platform, Preferred::Last)?;
        let now_ns = platform.unix_ns();
        let target = flags.output.clone().unwrap_or_else(|| default_target(now_ns));
        let request = Self {
            loops: parts(flags)?,
            memory_states: memory_states(&flags.memory_states)?,
            repeat: flags.repeat,
            real_time: flags.priority == Priority::Fifo,
            start_at_unix_ns: flags.start_at.map(|at| in_the_future(at, now_ns)).transpose()?,
            asked: asked(flags, &cpus, &target),
            cpus,
            target,
        };
        if request.target.symlink_metadata().is_ok() {
            return Err(Failure::wrong_use(
                format!("{} exists already", request.target.display()),
                "a recording never replaces anything: name another folder with -o",
            ));
        }
        Ok(request)
    }

    /// The folder in which the recording will be.
    pub fn parent(&self) -> &Path {
        let parent = self.target.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }
}

/// Which CPUs to take where the user names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferred {
    /// The last one: the first serves most interrupts on most machines.
    Last,
    /// All.
    All,
}

/// The CPUs of `--cpus`.
///
/// # Errors
/// Exit code 2 for a list that is none, or names CPUs that are not there or not allowed.
pub fn choose_cpus(
    list: Option<&str>,
    platform: &dyn Platform,
    preferred: Preferred,
) -> Result<Vec<u32>, Failure> {
    let online = platform.online_cpus()?;
    let usable: Vec<u32> = match platform.allowed_cpus() {
        Some(allowed) => online.iter().copied().filter(|cpu| allowed.contains(cpu)).collect(),
        None => online.clone(),
    };
    let usable_list = cpulist::format(&usable);
    let hint = || format!("CPUs that can be used here: {usable_list}");
    let Some(&last) = usable.last() else {
        return Err(Failure::unable("no CPU may be used by this process", "see its cpuset"));
    };
    let cpus = match (list, preferred) {
        (Some("all"), _) | (None, Preferred::All) => usable.clone(),
        (None, Preferred::Last) => vec![last],
        (Some(list), _) => {
            cpulist::parse(list).filter(|cpus| !cpus.is_empty()).ok_or_else(|| {
                Failure::wrong_use(
                    format!("'{list}' is no list of CPUs such as 0,2-3 or all"),
                    hint(),
                )
            })?
        }
    };
    for cpu in &cpus {
        if !online.contains(cpu) {
            let message = format!("CPU {cpu} does not exist or is offline");
            return Err(Failure::wrong_use(message, hint()));
        }
        if !usable.contains(cpu) {
            let message = format!("CPU {cpu} may not be used by this process (affinity or cpuset)");
            return Err(Failure::wrong_use(message, hint()));
        }
    }
    Ok(cpus)
}

/// Does the OS keep time by the TSC? Linux does so only while it finds it steady.
pub fn os_trusts_tsc(host: &Host) -> Option<bool> {
    host.clock_source.as_ref().map(|source| source == "tsc")
}

fn parts(flags: &NoiseFlags) -> Result<Vec<Part>, Failure> {
    let duration_ns = flags.duration.ns;
    let mut parts = Vec::new();
    for what in &flags.loops {
        match what {
            Loop::Timestamps => parts.push(Part::Timestamps { samples: flags.samples }),
            Loop::Selfish => {
                let threshold_ns = match flags.threshold {
                    Threshold::Auto => None,
                    Threshold::Is(span) => Some(span.ns),
                };
                parts.push(Part::Selfish { duration_ns, threshold_ns });
            }
            Loop::Fwq => parts.push(Part::Fwq { duration_ns, quantum_ns: flags.quantum.ns }),
            Loop::Ftq => {
                let slots = flags.slots.iter().map(|slot| slot.ns);
                parts.extend(slots.map(|slot_ns| Part::Ftq { duration_ns, slot_ns }));
            }
        }
    }
    for (i, part) in parts.iter().enumerate() {
        if parts[..i].contains(part) {
            return Err(Failure::wrong_use(
                "the same loop is asked for twice with the same parameters",
                "use --repeat to measure the same again",
            ));
        }
        if let Part::Fwq { quantum_ns: length, .. } | Part::Ftq { slot_ns: length, .. } = *part
            && length > duration_ns
        {
            return Err(Failure::wrong_use(
                "the duration is shorter than one quantum or slot",
                "make --duration longer, or --quantum or --slot shorter",
            ));
        }
    }
    Ok(parts)
}

fn memory_states(names: &[String]) -> Result<Vec<Option<MemoryState>>, Failure> {
    let mut states = Vec::new();
    for name in names {
        match name.as_str() {
            "none" => states.push(None),
            "all" => states.extend(MEMORY_STATES.map(Some)),
            name => states.push(Some(MemoryState::named(name).ok_or_else(|| {
                let known: Vec<&str> = MEMORY_STATES.iter().map(|state| state.name).collect();
                let hint = format!("there are: all, none, {}", known.join(", "));
                Failure::wrong_use(format!("there is no memory state '{name}'"), hint)
            })?)),
        }
    }
    let mut once = Vec::new();
    for state in states {
        if !once.contains(&state) {
            once.push(state);
        }
    }
    Ok(once)
}

fn in_the_future(at_ns: i64, now_ns: i64) -> Result<i64, Failure> {
    let now = || format!("it is {} here now", parse::rfc3339(now_ns));
    if at_ns <= now_ns {
        let message = format!("--start-at {} is in the past", parse::rfc3339(at_ns));
        return Err(Failure::wrong_use(message, now()));
    }
    if at_ns.saturating_sub(now_ns) > LONGEST_WAIT_NS {
        let message = format!("--start-at {} is more than a day away", parse::rfc3339(at_ns));
        return Err(Failure::wrong_use(message, now()));
    }
    Ok(at_ns)
}

/// `recordings/noise-20261120-101500`: sorts by time, needs no quoting.
fn default_target(now_ns: i64) -> PathBuf {
    let digits: String = parse::rfc3339(now_ns).chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    Path::new("recordings").join(format!("noise-{day}-{}", time.get(..6).unwrap_or(time)))
}

/// Flag by flag, defaults filled in, as it could be given again.
fn asked(flags: &NoiseFlags, cpus: &[u32], target: &Path) -> BTreeMap<String, Value> {
    let threshold = match flags.threshold {
        Threshold::Auto => "auto".to_owned(),
        Threshold::Is(span) => span.to_string(),
    };
    let loops: Vec<&str> = flags.loops.iter().map(|what| what.name()).collect();
    let slots: Vec<String> = flags.slots.iter().map(ToString::to_string).collect();
    let fifo = flags.priority == Priority::Fifo;
    let values = [
        ("loop", json!(loops)),
        ("cpus", json!(cpulist::format(cpus))),
        ("duration", json!(flags.duration.to_string())),
        ("samples", json!(flags.samples)),
        ("repeat", json!(flags.repeat)),
        ("memory_state", json!(flags.memory_states)),
        ("quantum", json!(flags.quantum.to_string())),
        ("slot", json!(slots)),
        ("threshold", json!(threshold)),
        ("priority", json!(if fifo { "fifo" } else { "other" })),
        ("start_at", json!(flags.start_at.map(parse::rfc3339))),
        ("output", json!(target.to_string_lossy())),
    ];
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Verb};
    use clap::Parser;
    use tare_platform::fake::FakePlatform;

    fn request(words: &[&str], platform: &FakePlatform) -> Result<Request, Failure> {
        let all = ["tare-probe", "noise", "-o", "/nowhere/noise"].iter().chain(words);
        let Verb::Noise(flags) = Cli::parse_from(all).verb else { panic!() };
        Request::new(&flags, platform)
    }

    #[test]
    fn the_last_allowed_cpu_is_the_default() {
        let mut platform = FakePlatform::with_cpus(8);
        platform.allowed_cpus = Some(vec![0, 2, 5]);
        assert_eq!(request(&[], &platform).unwrap().cpus, [5]);
        assert_eq!(request(&["--cpus", "all"], &platform).unwrap().cpus, [0, 2, 5]);
        assert_eq!(request(&["--cpus", "0,2-2"], &platform).unwrap().cpus, [0, 2]);
        platform.allowed_cpus = None;
        assert_eq!(request(&[], &platform).unwrap().cpus, [7]);
    }

    #[test]
    fn cpus_that_cannot_be_used_are_named_with_those_that_can() {
        let mut platform = FakePlatform::with_cpus(4);
        platform.allowed_cpus = Some(vec![0, 1]);
        for (list, said) in [("9", "CPU 9"), ("3", "CPU 3"), ("x", "'x'"), ("", "''")] {
            let failure = request(&["--cpus", list], &platform).unwrap_err();
            let shown = format!("{failure:?}");
            assert!(shown.contains(said) && shown.contains("0-1"), "{shown}");
        }
    }

    #[test]
    fn ftq_has_a_part_for_each_slot_length() {
        let platform = FakePlatform::with_cpus(1);
        let parts = request(&["--loop", "ftq", "--duration", "2s"], &platform).unwrap().loops;
        let part = |slot_ns| Part::Ftq { duration_ns: 2_000_000_000, slot_ns };
        assert_eq!(parts, [part(1_000_000), part(370_000)]);
    }

    #[test]
    fn nonsense_is_refused() {
        let platform = FakePlatform::with_cpus(1);
        for words in [
            &["--loop", "selfish", "--loop", "selfish"][..],
            &["--loop", "fwq", "--duration", "1ms", "--quantum", "5ms"],
            &["--memory-state", "huge"],
            &["--start-at", "1000"],
            &["--start-at", "2100-01-01T00:00:00Z"],
        ] {
            assert!(request(words, &platform).is_err(), "{words:?}");
        }
    }

    #[test]
    fn memory_states_by_name_each_once() {
        let platform = FakePlatform::with_cpus(1);
        let states = |words: &[&str]| request(words, &platform).unwrap().memory_states;
        assert_eq!(states(&[]), [None]);
        let all = ["--memory-state", "prime-small", "--memory-state", "all"];
        assert_eq!(states(&all).len(), 6);
        assert_eq!(states(&all)[0], MemoryState::named("prime-small"));
    }

    #[test]
    fn the_default_name_sorts_by_time() {
        let target = default_target(1_700_000_000_123_456_789);
        assert_eq!(target, Path::new("recordings/noise-20231114-221320"));
    }
}
