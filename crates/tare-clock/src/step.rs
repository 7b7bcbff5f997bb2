//! The smallest change that a counter shows.
//!
//! Many counters do not move one tick at a time: a TSC of 2.6 GHz that the CPU derives from a
//! 100 MHz clock moves 26 ticks at once, and two readings within one step differ by 1 tick only to
//! keep the promise of never being equal. The step is therefore not the smallest difference, but
//! the largest number that most differences are multiples of.

use crate::Counter;
use std::collections::BTreeMap;

/// Share of the differences that must be multiples of the step. Well below 1, because readings
/// within one step spoil two differences each; well above 1/2, because half of all multiples of a
/// step are multiples of twice the step.
const SHARE: f64 = 0.75;

/// Distinct differences, most frequent first, whose common divisors are tried as the step.
const CANDIDATES: usize = 48;

/// Pairs of readings taken by [`measure_step`].
const PAIRS: usize = 4096;

/// The largest step that at least 3/4 of the differences are multiples of; `None` if the counter
/// never moved. Zeros count for nothing.
#[must_use]
pub fn step_of(differences: &[u64]) -> Option<u32> {
    let mut counts = BTreeMap::new();
    for &ticks in differences.iter().filter(|&&ticks| ticks > 0) {
        *counts.entry(ticks).or_insert(0_usize) += 1;
    }
    let total: usize = counts.values().sum();
    let mut frequent: Vec<(u64, usize)> = counts.iter().map(|(&t, &n)| (t, n)).collect();
    frequent.sort_by_key(|&(ticks, count)| (std::cmp::Reverse(count), ticks));
    frequent.truncate(CANDIDATES);

    let divisors = frequent
        .iter()
        .flat_map(|&(a, _)| frequent.iter().map(move |&(b, _)| greatest_common_divisor(a, b)));
    let enough = |step: u64| {
        let multiples: usize =
            counts.iter().filter(|&(ticks, _)| ticks % step == 0).map(|(_, count)| count).sum();
        multiples as f64 >= SHARE * total as f64
    };
    let mut steps: Vec<u64> = divisors.chain((total > 0).then_some(1)).collect();
    steps.sort_unstable();
    steps.dedup();
    let step = steps.into_iter().rev().find(|&step| enough(step))?;
    u32::try_from(step).ok()
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Measure the step: pairs of readings with work of varied length between them, so that many
/// different multiples of the step come up.
#[must_use]
pub fn measure_step<C: Counter>(counter: &C) -> Option<u32> {
    let mut differences = Vec::with_capacity(PAIRS);
    let mut state = 1_u64;
    for pair in 0..PAIRS {
        let before = counter.read_ordered();
        // Two chains of unlike latency: multiplications (3 to 5 cycles) and rotations (1 cycle),
        // their counts coprime, so that no multiple of one loop's length passes for the step.
        for _ in 0..pair % 31 {
            state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005));
        }
        for _ in 0..pair % 37 {
            state = std::hint::black_box(state.rotate_left(7));
        }
        differences.push(counter.read_ordered().wrapping_sub(before));
    }
    step_of(&differences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_stepped_counter_with_readings_within_a_step() {
        // As seen on an AMD EPYC at 2.6 GHz: 26 ticks a step, and 1 + 25 where two readings fall
        // within one step.
        let mut seen = vec![26; 890];
        seen.extend([1; 54].iter().chain(&[25; 54]).chain(&[52; 40]).chain(&[78; 30]));
        assert_eq!(step_of(&seen), Some(26));
    }

    #[test]
    fn a_fine_counter_has_step_one() {
        let seen: Vec<u64> = (20..400).collect();
        assert_eq!(step_of(&seen), Some(1));
    }

    #[test]
    fn a_counter_that_stands_still_has_no_step() {
        assert_eq!(step_of(&[0, 0, 0]), None);
        assert_eq!(step_of(&[]), None);
    }

    #[test]
    fn the_real_counter_has_one() {
        assert!(measure_step(&crate::OsClock::new()).is_some_and(|step| step >= 1));
    }

    proptest! {
        #[test]
        fn finds_the_step_whatever_it_is(
            step in 1_u64..2000,
            multiples in prop::collection::vec(1_u64..40, 200..400),
            odd in prop::collection::vec(1_u64..100, 0..20),
        ) {
            // Enough variety that no larger step can have 3/4 of them.
            prop_assume!((2..40).all(|k| multiples.iter().filter(|&&m| m % k == 0).count() * 10 < multiples.len() * 7));
            let seen: Vec<u64> = multiples.iter().map(|m| m * step).chain(odd).collect();
            prop_assert_eq!(step_of(&seen), u32::try_from(step).ok());
        }
    }
}
