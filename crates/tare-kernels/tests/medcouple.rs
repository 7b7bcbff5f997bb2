//! The medcouple against its definition, pair by pair, and against its own symmetries.

use proptest::prelude::*;
use tare_kernels::{MedcoupleError, medcouple, medcouple_tally};

/// Formulas 2.2 and 2.3 of Brys, Hubert & Struyf (2004), all pairs listed. The values of the
/// tests keep the median and its distances exact.
fn by_definition(values: &[f64]) -> f64 {
    let mut x = values.to_vec();
    x.sort_by(f64::total_cmp);
    let median = (x[(x.len() - 1) / 2] + x[x.len() / 2]) / 2.0;
    let tied = x.iter().filter(|&&v| v == median).count();
    let upper: Vec<f64> = x.iter().copied().filter(|&v| v >= median).collect();
    let lower: Vec<f64> = x.iter().copied().filter(|&v| v <= median).collect();
    let mut h = Vec::new();
    for (i, &above) in upper.iter().enumerate() {
        for (j, &below) in lower.iter().rev().enumerate() {
            h.push(if above == below {
                // i and j count the tied values from 0, so that i + j - 1 < k turns into ...
                ((i + j + 1) as f64 - tied as f64).clamp(-1.0, 1.0)
            } else {
                ((above - median) - (median - below)) / (above - below)
            });
        }
    }
    h.sort_by(f64::total_cmp);
    (h[(h.len() - 1) / 2] + h[h.len() / 2]) / 2.0
}

fn close(found: f64, expected: f64) -> Result<(), TestCaseError> {
    prop_assert!((found - expected).abs() <= 1e-12, "found {found}, by definition {expected}");
    Ok(())
}

fn ties(most: usize) -> impl Strategy<Value = Vec<f64>> {
    (1_i32..40).prop_flat_map(move |spread| {
        prop::collection::vec((-spread..=spread).prop_map(f64::from), 1..most)
    })
}

fn spread_out(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-1_i32 << 24..1 << 24).prop_map(|v| f64::from(v) / 1024.0), 1..most)
}

proptest! {
    #[test]
    fn is_the_definition_with_ties(values in ties(60)) {
        close(medcouple(&values).unwrap(), by_definition(&values))?;
    }

    #[test]
    fn is_the_definition_without_ties(values in spread_out(60)) {
        close(medcouple(&values).unwrap(), by_definition(&values))?;
    }

    #[test]
    fn does_not_depend_on_scale_or_sign(values in ties(80), power in -900_i32..900) {
        let found = medcouple(&values).unwrap();
        let scaled: Vec<f64> = values.iter().map(|v| -v * 2_f64.powi(power)).collect();
        close(medcouple(&scaled).unwrap(), -found)?;
    }

    #[test]
    fn tally_is_the_expanded_sample(counts in prop::collection::vec(0_u64..9, 1..40), step in 1_i32..50) {
        let values: Vec<f64> = (0..counts.len()).map(|i| (i * i) as f64 * f64::from(step)).collect();
        let expanded: Vec<f64> = values
            .iter()
            .zip(&counts)
            .flat_map(|(&value, &count)| std::iter::repeat_n(value, count as usize))
            .collect();
        if expanded.is_empty() {
            prop_assert_eq!(medcouple_tally(&values, &counts), Err(MedcoupleError::Empty));
        } else {
            close(medcouple_tally(&values, &counts).unwrap(), by_definition(&expanded))?;
        }
    }
}

proptest! {
    // Long enough that the matrix is narrowed before it is listed.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn is_the_definition_on_long_samples(values in spread_out(900)) {
        close(medcouple(&values).unwrap(), by_definition(&values))?;
    }

    #[test]
    fn is_the_definition_on_long_skewed_samples(values in spread_out(900)) {
        let skewed: Vec<f64> = values.iter().map(|v| (v.abs() * 2.0).floor().powi(2)).collect();
        close(medcouple(&skewed).unwrap(), by_definition(&skewed))?;
    }

    #[test]
    fn is_the_definition_on_long_lattices(spread in 2_i32..400, values in spread_out(900)) {
        let lattice: Vec<f64> = values.iter().map(|v| v.rem_euclid(f64::from(spread)).floor()).collect();
        close(medcouple(&lattice).unwrap(), by_definition(&lattice))?;
    }
}

/// Values that spread over nine decades without repeating, from a multiplicative generator.
fn many(n: u64) -> Vec<f64> {
    (1..=n)
        .map(|i| {
            let mixed = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66;
            let uniform = ((mixed >> 11) as f64 + 1.0) / 9_007_199_254_740_994.0;
            uniform.powi(-3)
        })
        .collect()
}

/// Where a full list would not fit into memory: the value found must have the middle rank.
fn has_middle_rank(values: &[f64]) {
    let found = medcouple(values).unwrap();
    let mut x = values.to_vec();
    x.sort_by(f64::total_cmp);
    let median = (x[(x.len() - 1) / 2] + x[x.len() / 2]) / 2.0;
    assert!(x.windows(2).all(|pair| pair[0] < pair[1]), "the check assumes distinct values");
    let (mut below, mut up_to, mut total) = (0_u64, 0_u64, 0_u64);
    let first_upper = x.partition_point(|&v| v < median);
    let end_lower = x.partition_point(|&v| v <= median);
    for above in &x[first_upper..] {
        for under in &x[..end_lower] {
            let h = if above == under {
                0.0
            } else {
                ((above - median) - (median - under)) / (above - under)
            };
            below += u64::from(h < found - 1e-12);
            up_to += u64::from(h <= found + 1e-12);
            total += 1;
        }
    }
    assert!(below <= (total - 1) / 2 && total / 2 < up_to, "{below} {up_to} of {total}");
}

#[test]
fn has_the_middle_rank_when_pivots_come_from_the_coarse_matrix() {
    has_middle_rank(&many(17_001));
    has_middle_rank(&many(17_002));
}

#[test]
fn large_tallies_are_narrowed_right() {
    // 60 000 distinct values with counts, against the same sample expanded (the other code path).
    let mut values = many(60_000);
    values.sort_by(f64::total_cmp);
    let counts: Vec<u64> = (0..60_000).map(|i| i % 4).collect();
    let expanded: Vec<f64> = values
        .iter()
        .zip(&counts)
        .flat_map(|(&value, &count)| std::iter::repeat_n(value, count as usize))
        .collect();
    let (tally, plain) = (medcouple_tally(&values, &counts), medcouple(&expanded));
    assert!((tally.unwrap() - plain.unwrap()).abs() <= 1e-12);
}

#[test]
fn known_values() {
    assert_eq!(medcouple(&[0.0, 1.0, 2.0, 2.0, 3.0]), Ok(-1.0 / 6.0));
    assert_eq!(medcouple(&[7.5; 1000]), Ok(0.0));
    assert_eq!(medcouple(&[-0.0, 0.0]), Ok(0.0));
    assert_eq!(medcouple(&[4.0]), Ok(0.0));
    assert_eq!(medcouple(&[1.0, 5.0]), Ok(0.0));
    // A floor that holds more than half of the sample: every upper value is infinitely far.
    assert_eq!(
        medcouple(&[1.0, 1.0, 1.0, 1.0, 9.0, 10.0]),
        Ok(by_definition(&[1.0, 1.0, 1.0, 1.0, 9.0, 10.0]))
    );
}

#[test]
fn neighbouring_and_extreme_numbers_lose_nothing() {
    let next = 1.0_f64.next_up();
    assert_eq!(medcouple(&[1.0, next]), Ok(0.0));
    // The median 1.5 ulp above 1 is no floating-point number; the sample is symmetric about it.
    assert_eq!(medcouple(&[1.0, next, next.next_up(), next.next_up().next_up()]), Ok(0.0));
    assert_eq!(medcouple(&[-f64::MAX, -f64::MAX / 2.0, f64::MAX / 2.0, f64::MAX]), Ok(0.0));
    assert_eq!(medcouple(&[-5e-324, 0.0, 5e-324]), Ok(0.0));
    assert_eq!(medcouple(&[-f64::MAX, 0.0, f64::MAX]), Ok(0.0));
    // The one ratio, 2e307 / 5e-324, overflows; it is the second middle one beside the tied 0.
    assert_eq!(medcouple(&[-5e-324, 0.0, 1e307]), Ok(0.5));
    assert_eq!(medcouple(&[-f64::MAX, 0.0, 5e-324, 1e-323, f64::MAX]), Ok(0.0));
}

#[test]
fn tallies_of_more_than_64_bits_of_pairs() {
    let huge = 1_u64 << 60;
    assert_eq!(medcouple_tally(&[1.0, 2.0, 4.0], &[huge, 1, huge]), Ok(1.0 / 3.0));
    assert_eq!(medcouple_tally(&[1.0, 2.0], &[1 << 63, 1 << 63]), Err(MedcoupleError::TooMany));
}

#[test]
fn refuses_what_has_no_medcouple() {
    assert_eq!(medcouple(&[]), Err(MedcoupleError::Empty));
    assert!(matches!(
        medcouple(&[1.0, f64::NAN]),
        Err(MedcoupleError::NotFinite { index: 1, value }) if value.is_nan()
    ));
    assert_eq!(
        medcouple(&[f64::INFINITY]),
        Err(MedcoupleError::NotFinite { index: 0, value: f64::INFINITY })
    );
    assert_eq!(medcouple_tally(&[1.0], &[0]), Err(MedcoupleError::Empty));
    assert_eq!(
        medcouple_tally(&[1.0, 2.0], &[1]),
        Err(MedcoupleError::LengthsDiffer { values: 2, counts: 1 })
    );
    assert_eq!(
        medcouple_tally(&[1.0, 2.0, 2.0], &[1, 1, 1]),
        Err(MedcoupleError::NotAscending { index: 2 })
    );
}
