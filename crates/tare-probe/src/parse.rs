//! Words of the command line into numbers: times with units, wall times, counts.

use jiff::{SignedDuration, Timestamp};
use std::fmt;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Nanoseconds.
    pub ns: u64,
}

/// In the largest unit that gives a whole number: `5s`, `370us`.
impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        let fits = |&(size, _): &(u64, &str)| self.ns.is_multiple_of(size);
        let (size, unit) = units.into_iter().find(fits).unwrap_or((1, "ns"));
        write!(formatter, "{}{unit}", self.ns / size)
    }
}

/// Threshold of the selfish loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    /// Calibrated.
    Auto,
    /// That long.
    Is(Span),
}

/// Longest measurement, ns: 30 days. Longer ones are taken for a slip of the pen.
const LONGEST_NS: u64 = 30 * 24 * 3600 * 1_000_000_000;

/// Most deltas: 2^40, 4 TiB of them. What fits into memory is checked later.
const MOST_SAMPLES: u64 = 1 << 40;

fn span(text: &str) -> Result<Span, String> {
    let why = "give a number and a unit, for example 250us, 5s or 2min";
    let text = text.trim();
    if text.starts_with('-') {
        return Err("a time cannot be negative".into());
    }
    let duration: SignedDuration = text.parse().map_err(|_| why.to_owned())?;
    let ns = u64::try_from(duration.as_nanos()).map_err(|_| too_long())?;
    Ok(Span { ns })
}

fn too_long() -> String {
    "longer than 30 days; measure several times instead".into()
}

fn within(text: &str, least_ns: u64, most_ns: u64) -> Result<Span, String> {
    let span = span(text)?;
    if (least_ns..=most_ns).contains(&span.ns) {
        return Ok(span);
    }
    let (least, most) = (Span { ns: least_ns }, Span { ns: most_ns });
    Err(format!("must be within {least} and {most}"))
}

/// `--duration`.
pub fn duration(text: &str) -> Result<Span, String> {
    let span = span(text)?;
    match span.ns {
        0 => Err("must be longer than zero, for example 5s".into()),
        ns if ns > LONGEST_NS => Err(too_long()),
        ns if ns < 1_000_000 => Err("too short to see anything; the least is 1ms".into()),
        _ => Ok(span),
    }
}

/// `--quantum`: lengths for which the loop was made (methods: 10 us to 10 ms).
pub fn quantum(text: &str) -> Result<Span, String> {
    within(text, 10_000, 10_000_000)
}

/// `--slot`: at least 200 units of work of 250 ns, at most half a second.
pub fn slot(text: &str) -> Result<Span, String> {
    within(text, 50_000, 500_000_000)
}

/// `--threshold`.
pub fn threshold(text: &str) -> Result<Threshold, String> {
    if text == "auto" {
        return Ok(Threshold::Auto);
    }
    within(text, 1, 1_000_000_000).map(Threshold::Is)
}

/// `--samples`.
pub fn samples(text: &str) -> Result<u64, String> {
    let samples: u64 = text
        .replace('_', "")
        .parse()
        .map_err(|_| "give a whole number above zero, for example 10000".to_owned())?;
    match samples {
        0 => Err("must be at least 1".into()),
        n if n > MOST_SAMPLES => Err("no machine holds so many in memory".into()),
        _ => Ok(samples),
    }
}

/// `--start-at`: ns since 1970-01-01 UTC.
pub fn instant(text: &str) -> Result<i64, String> {
    let why = "give RFC 3339 with a zone (2026-11-20T10:00:00Z) or seconds since 1970 UTC";
    let from_seconds = |seconds: f64| {
        let ns = seconds * 1e9;
        (ns.abs() < 9e18).then_some(ns as i64).ok_or_else(|| why.to_owned())
    };
    if let Ok(seconds) = text.parse::<i64>() {
        return seconds.checked_mul(1_000_000_000).ok_or_else(|| why.to_owned());
    }
    if let Ok(seconds) = text.parse::<f64>() {
        return from_seconds(seconds);
    }
    let instant: Timestamp = text.parse().map_err(|_| why.to_owned())?;
    i64::try_from(instant.as_nanosecond()).map_err(|_| why.to_owned())
}

/// A wall time, ns since 1970-01-01 UTC, as RFC 3339.
pub fn rfc3339(unix_ns: i64) -> String {
    // Every i64 of nanoseconds is within jiff's years -9999 to 9999.
    Timestamp::from_nanosecond(unix_ns.into()).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_take_units() {
        for (text, ns) in [
            ("250us", 250_000),
            ("5s", 5_000_000_000),
            ("1.5ms", 1_500_000),
            ("2min", 120_000_000_000),
            ("1h 30m", 5_400_000_000_000),
            ("17ns", 17),
        ] {
            assert_eq!(span(text), Ok(Span { ns }), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "5", "s", "-1s", "1e3s", "nonsense", "5 apples", "99999999999999999999h"] {
            assert!(span(text).is_err(), "{text}");
        }
        for text in ["0s", "-1s", "1us", "1000000000h", "31d"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["0ms", "1us", "11ms"] {
            assert!(quantum(text).is_err(), "{text}");
        }
    }

    #[test]
    fn wall_times() {
        assert_eq!(instant("1700000000"), Ok(1_700_000_000_000_000_000));
        assert_eq!(instant("1700000000.5"), Ok(1_700_000_000_500_000_000));
        assert_eq!(instant("2023-11-14T22:13:20Z"), Ok(1_700_000_000_000_000_000));
        assert_eq!(instant("2023-11-15T00:13:20+02:00"), Ok(1_700_000_000_000_000_000));
        for text in ["", "noon", "2023-11-14", "NaN", "1e300", "99999999999999"] {
            assert!(instant(text).is_err(), "{text}");
        }
        assert_eq!(rfc3339(1_700_000_000_000_000_000), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn counts() {
        assert_eq!(samples("100_000_000"), Ok(100_000_000));
        for text in ["0", "-1", "1e8", "1000000000000000", "many"] {
            assert!(samples(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_shown_time_reads_back(ns in 0_u64..=LONGEST_NS) {
            prop_assert_eq!(span(&Span { ns }.to_string()), Ok(Span { ns }));
        }

        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = (duration(&text), quantum(&text), slot(&text), threshold(&text));
            let _ = (samples(&text), instant(&text));
        }

        #[test]
        fn wall_times_read_back(unix_ns in 0_i64..4_000_000_000_000_000_000) {
            prop_assert_eq!(instant(&rfc3339(unix_ns)), Ok(unix_ns));
        }
    }
}
