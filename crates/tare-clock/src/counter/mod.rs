//! Counters: one trait, one type for each kind, chosen once and monomorphised everywhere.

#[cfg(target_arch = "aarch64")]
mod cntvct;
mod os;
#[cfg(target_arch = "x86_64")]
mod tsc;

#[cfg(target_arch = "aarch64")]
pub use cntvct::Cntvct;
pub use os::OsClock;
#[cfg(target_arch = "x86_64")]
pub use tsc::Tsc;

/// A clock that can be read in a measured window: no system call where that can be had, no
/// allocation, never backwards on one CPU.
pub trait Counter: Clone + Send + Sync + 'static {
    /// Its name in a recording.
    const SOURCE: Source;

    /// Ticks since an instant that stays the same while the process runs. May be executed a few
    /// instructions early or late by the CPU; see [`Counter::read_ordered`].
    fn read(&self) -> u64;

    /// The low 32 bits of a reading, for differences below 2^32 ticks.
    #[inline(always)]
    fn read_low(&self) -> u32 {
        self.read() as u32
    }

    /// A reading that happens after everything before it in the program and before everything after.
    fn read_ordered(&self) -> u64;
}

/// Kinds of counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// x86_64 time stamp counter.
    Tsc,
    /// aarch64 virtual counter (`CNTVCT_EL0`).
    Cntvct,
    /// The OS's monotonic clock; one tick is one nanosecond.
    Os,
}

impl Source {
    /// As it stands in a recording.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Cntvct => "cntvct",
            Self::Os => "os",
        }
    }
}

/// The counter to measure with, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Which.
    pub source: Source,
    /// Does the CPU's counter run at one rate in all power states? `None` where nobody says.
    pub invariant: Option<bool>,
    /// Why this one, in words for the user.
    pub reason: String,
}

/// Choose a counter. `os_trusts_tsc` is what the OS thinks: Linux uses the TSC as its own clock
/// source only when it is constant, does not stop and agrees between CPUs; `None` if not told.
#[must_use]
pub fn choose(os_trusts_tsc: Option<bool>) -> Choice {
    #[cfg(target_arch = "x86_64")]
    return choose_tsc(tsc::cpu_says_invariant(), os_trusts_tsc);
    #[cfg(target_arch = "aarch64")]
    {
        let _ = os_trusts_tsc;
        Choice {
            source: Source::Cntvct,
            // Arm ARM (DDI 0487), D12.1: the system counter runs at a fixed rate in all states.
            invariant: Some(true),
            reason: "the architecture promises one rate in all power states".into(),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = os_trusts_tsc;
        Choice {
            source: Source::Os,
            invariant: None,
            reason: "no counter of this CPU can be read directly by this program".into(),
        }
    }
}

/// The rule for x86_64, without asking a CPU: the CPU's word counts; where a hypervisor hides it,
/// the OS's does.
#[cfg(any(target_arch = "x86_64", test))]
fn choose_tsc(cpu_says: bool, os_trusts: Option<bool>) -> Choice {
    let tsc =
        |reason: &str| Choice { source: Source::Tsc, invariant: Some(true), reason: reason.into() };
    match (cpu_says, os_trusts) {
        (true, Some(true)) => tsc("the CPU says it is invariant, and the OS keeps time by it"),
        (true, _) => tsc("the CPU says it is invariant"),
        (false, Some(true)) => tsc("the CPU does not say so, but the OS keeps time by it"),
        (false, _) => Choice {
            source: Source::Os,
            invariant: Some(false),
            reason:
                "neither CPU nor OS says that the TSC runs at one rate; the OS clock is slower \
                     to read, but true"
                    .into(),
        },
    }
}

/// Code that works with any counter, to be made into machine code for one.
pub trait Visitor {
    /// What it returns.
    type Output;

    /// Run with this counter.
    fn visit<C: Counter>(self, counter: C) -> Self::Output;
}

/// Run `visitor` with the counter of this kind; the OS clock where this CPU has no such counter.
pub fn visit<V: Visitor>(source: Source, visitor: V) -> V::Output {
    match source {
        #[cfg(target_arch = "x86_64")]
        Source::Tsc => visitor.visit(Tsc),
        #[cfg(target_arch = "aarch64")]
        Source::Cntvct => visitor.visit(Cntvct),
        _ => visitor.visit(OsClock::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_or_the_os_can_vouch_for_the_tsc() {
        for (cpu, os) in
            [(true, None), (true, Some(true)), (true, Some(false)), (false, Some(true))]
        {
            let choice = choose_tsc(cpu, os);
            assert_eq!((choice.source, choice.invariant), (Source::Tsc, Some(true)));
        }
    }

    #[test]
    fn a_tsc_that_nobody_vouches_for_is_not_used() {
        for os in [None, Some(false)] {
            let choice = choose_tsc(false, os);
            assert_eq!((choice.source, choice.invariant), (Source::Os, Some(false)));
        }
    }

    #[test]
    fn the_chosen_counter_goes_forward() {
        struct Forward;
        impl Visitor for Forward {
            type Output = bool;
            fn visit<C: Counter>(self, counter: C) -> bool {
                let readings: Vec<u64> = (0..1000).map(|_| counter.read_ordered()).collect();
                readings.is_sorted() && readings[0] < readings[999]
            }
        }
        assert!(visit(choose(None).source, Forward));
        assert!(visit(Source::Os, Forward));
    }
}
