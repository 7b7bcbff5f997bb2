//! The medcouple: how skewed is a sample, between -1 and 1, whatever its outliers?
//!
//! Source: Brys, Hubert & Struyf (2004), "A robust measure of skewness", Journal of Computational
//! and Graphical Statistics 13(4), 996-1017, doi:10.1198/106186004X12632. For a sample with median
//! m it is the median over all pairs x_i >= m >= x_j of
//!
//! ```text
//! h(x_i, x_j) = ((x_i - m) - (m - x_j)) / (x_i - x_j)                                       (2.2)
//! ```
//!
//! and for the k values tied with the median, numbered 1..k, of -1, 0 or +1 as i + j - 1 is
//! smaller than, equal to or larger than k (2.3).
//!
//! How, exactly and in O(n log n):
//! - With a = x_i - m > 0 and b = m - x_j > 0 is h = (a - b) / (a + b) = (r - 1) / (r + 1), r = a/b.
//!   Selecting by r instead of h is safe to the last bit, because correctly rounded division is
//!   monotone in both arguments, which the formula above is not.
//! - Pairs with a value tied at the median take -1, 0 or +1 and are only counted. What is left is
//!   one selection in the matrix a_i / b_j ([`crate::implicit_matrix`]).
//! - Clock-quantised data is almost all ties: equal values become one value with a count.
//!
//! NaN and infinities are refused, not dropped: a caller that wants them dropped has to say so.

use crate::implicit_matrix::{Counted, Matrix, Plain, Side};
use std::fmt;

/// Why there is no medcouple.
#[derive(Debug, Clone, PartialEq)]
pub enum MedcoupleError {
    /// No values, or all counts are 0.
    Empty,
    /// A value is NaN or infinite.
    NotFinite {
        /// Its place, from 0.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// `values` and `counts` differ in length.
    LengthsDiffer {
        /// Length of `values`.
        values: usize,
        /// Length of `counts`.
        counts: usize,
    },
    /// A tally's value is not larger than the one before.
    NotAscending {
        /// Its place, from 0.
        index: usize,
    },
    /// The counts add up to 2^64 or more.
    TooMany,
}

impl fmt::Display for MedcoupleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no values: the medcouple of an empty sample is undefined"),
            Self::NotFinite { index, value } => {
                write!(f, "value {index} is {value}; hint: drop NaN and infinite values first")
            }
            Self::LengthsDiffer { values, counts } => {
                write!(
                    f,
                    "{values} values but {counts} counts; hint: pass one count for each value"
                )
            }
            Self::NotAscending { index } => write!(
                f,
                "value {index} of the tally is not larger than the one before; \
                 hint: sort the values and merge equal ones"
            ),
            Self::TooMany => write!(f, "the counts add up to 2^64 or more"),
        }
    }
}

impl std::error::Error for MedcoupleError {}

/// Exact medcouple of `values`, in any order and any unit.
///
/// Takes O(n log n) time and one copy of the values.
///
/// # Errors
/// [`MedcoupleError::Empty`] without values; [`MedcoupleError::NotFinite`] with NaN or infinity:
/// drop them first.
pub fn medcouple(values: &[f64]) -> Result<f64, MedcoupleError> {
    let sorted = sorted_copy(values)?;
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Counts cost 8 bytes for each distinct value: worth it only where there are many ties.
    if distinct <= sorted.len() / 4 {
        let (values, before) = collapse(sorted, distinct);
        return Ok(of_tally(values, &before));
    }
    Ok(of_sorted(sorted))
}

/// Exact medcouple of a tally: `counts[i]` samples of `values[i]`, without expanding it.
///
/// `values` ascend and are distinct; a count may be 0.
///
/// # Errors
/// [`MedcoupleError`] when a value is not finite, the values do not ascend, the lengths differ,
/// all counts are 0 or their sum exceeds 64 bits.
pub fn medcouple_tally(values: &[f64], counts: &[u64]) -> Result<f64, MedcoupleError> {
    if values.len() != counts.len() {
        return Err(MedcoupleError::LengthsDiffer { values: values.len(), counts: counts.len() });
    }
    check_finite(values)?;
    if let Some(at) = values.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(MedcoupleError::NotAscending { index: at + 1 });
    }
    let mut kept = Vec::with_capacity(values.len());
    let mut before = Vec::with_capacity(values.len() + 1);
    let mut total = 0_u64;
    for (&value, &count) in values.iter().zip(counts) {
        if count > 0 {
            kept.push(value);
            before.push(total);
            total = total.checked_add(count).ok_or(MedcoupleError::TooMany)?;
        }
    }
    if total == 0 {
        return Err(MedcoupleError::Empty);
    }
    before.push(total);
    Ok(of_tally(kept, &before))
}

fn check_finite(values: &[f64]) -> Result<(), MedcoupleError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(MedcoupleError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// Sorts through integer keys that order like the values: about twice as fast as comparing floats.
fn sorted_copy(values: &[f64]) -> Result<Vec<f64>, MedcoupleError> {
    const SIGN: u64 = 1 << 63;
    if values.is_empty() {
        return Err(MedcoupleError::Empty);
    }
    check_finite(values)?;
    let mut keys: Vec<u64> = values
        .iter()
        .map(|value| {
            let bits = value.to_bits(); // -0.0 sorts before 0.0: equal values stay together
            if bits & SIGN == 0 { bits | SIGN } else { !bits }
        })
        .collect();
    keys.sort_unstable();
    // The standard library reuses the allocation here, so that one copy stays one copy.
    Ok(keys
        .into_iter()
        .map(|key| f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN }))
        .collect())
}

/// Distinct values, and before each (and after the last) how many samples are smaller.
fn collapse(mut sorted: Vec<f64>, distinct: usize) -> (Vec<f64>, Vec<u64>) {
    let mut before = Vec::with_capacity(distinct + 1);
    let mut kept = 0;
    for i in 0..sorted.len() {
        if i == 0 || sorted[i] != sorted[i - 1] {
            before.push(i as u64);
            // `kept <= i`, and only places before `i - 1` or equal values are overwritten.
            sorted[kept] = sorted[i];
            kept += 1;
        }
    }
    before.push(sorted.len() as u64);
    sorted.truncate(distinct);
    (sorted, before)
}

/// The two middle values of a sample (one and the same for odd n or tied middles).
#[derive(Clone, Copy)]
struct Middle {
    low: f64,
    high: f64,
    scale: f64,
}

impl Middle {
    fn new(low: f64, high: f64, smallest: f64, largest: f64) -> Self {
        // 2 (x - m) reaches 4 times the largest magnitude: h does not depend on the scale, so very
        // large values are scaled down by a power of two, exactly.
        let huge = smallest.abs().max(largest.abs()) > f64::MAX / 8.0;
        Self { low, high, scale: if huge { 0.125 } else { 1.0 } }
    }

    /// Twice the distance of `x` from the median (low + high)/2. Both differences have the same
    /// sign, so nothing cancels; the median itself, which may not be a floating-point number, is
    /// never formed. The lower bound only acts where scaling has swallowed a difference.
    fn distance(self, x: f64) -> f64 {
        let x = x * self.scale;
        let twice = (x - self.low * self.scale) + (x - self.high * self.scale);
        twice.abs().max(f64::from_bits(1))
    }
}

fn of_sorted(mut sorted: Vec<f64>) -> f64 {
    let n = sorted.len();
    let (low, high) = (sorted[(n - 1) / 2], sorted[n / 2]);
    let middle = Middle::new(low, high, sorted[0], sorted[n - 1]);
    let first_tied = if low == high { sorted.partition_point(|&x| x < low) } else { n / 2 };
    let first_above = sorted.partition_point(|&x| x <= low);
    for x in &mut sorted {
        *x = middle.distance(*x);
    }
    let (below, rest) = sorted.split_at_mut(first_tied);
    below.reverse();
    let tied = (first_above - first_tied) as u64;
    let above = &rest[first_above - first_tied..];
    median_of_pairs(&Matrix::new(Plain(above), Plain(below)), tied)
}

fn of_tally(mut values: Vec<f64>, before: &[u64]) -> f64 {
    let k = values.len();
    let n = before[k];
    // The place of the sample with this rank.
    let place = |rank: u64| before.partition_point(|&smaller| smaller <= rank) - 1;
    let (at_low, at_high) = (place((n - 1) / 2), place(n / 2));
    let middle = Middle::new(values[at_low], values[at_high], values[0], values[k - 1]);
    for x in &mut values {
        *x = middle.distance(*x);
    }
    let (end_below, start_above) =
        if at_low == at_high { (at_low, at_low + 1) } else { (at_high, at_high) };
    let tied = before[start_above] - before[end_below];
    let (below, rest) = values.split_at_mut(end_below);
    below.reverse();
    let above = &rest[start_above - end_below..];
    let before_above: Vec<u64> =
        before[start_above..].iter().map(|at| at - before[start_above]).collect();
    let before_below: Vec<u64> =
        before[..=end_below].iter().rev().map(|at| before[end_below] - at).collect();
    let rows = Counted { values: above, before: &before_above };
    let columns = Counted { values: below, before: &before_below };
    median_of_pairs(&Matrix::new(rows, columns), tied)
}

/// The median over all pairs: `matrix` holds those without a value tied at the median, `tied`
/// values sit at the median itself.
fn median_of_pairs<R: Side, C: Side>(matrix: &Matrix<R, C>, tied: u64) -> f64 {
    let pairs = Pairs { matrix, tied: u128::from(tied) };
    let total = (pairs.above() + pairs.tied) * (pairs.below() + pairs.tied);
    let rank = (total - 1) / 2;
    if total % 2 == 1 { pairs.at(rank) } else { pairs.mean_of(rank) }
}

/// All pairs in the order of h: the -1 of the tied, the matrix with the 0 of the tied merged into
/// it where h = 0 belongs, the +1 of the tied.
struct Pairs<'a, R, C> {
    matrix: &'a Matrix<R, C>,
    tied: u128,
}

/// Where a rank among all pairs leads to.
enum Place {
    Known(f64),
    InMatrix(u128),
}

impl<R: Side, C: Side> Pairs<'_, R, C> {
    fn above(&self) -> u128 {
        u128::from(self.matrix.rows().total())
    }

    fn below(&self) -> u128 {
        u128::from(self.matrix.columns().total())
    }

    fn place(&self, rank: u128) -> Place {
        // A tied value paired with a smaller one is -1; among the tied, k (k - 1) / 2 pairs are -1,
        // as many are +1, and k are 0.
        let minus_ones = self.tied * self.below() + self.tied * self.tied.saturating_sub(1) / 2;
        let in_matrix = self.above() * self.below();
        if rank < minus_ones {
            return Place::Known(-1.0);
        }
        let rank = rank - minus_ones;
        if rank >= in_matrix + self.tied {
            return Place::Known(1.0);
        }
        if self.tied == 0 {
            return Place::InMatrix(rank);
        }
        let negative = self.matrix.count_below(1.0);
        if rank < negative {
            Place::InMatrix(rank)
        } else if rank < negative + self.tied {
            Place::Known(0.0)
        } else {
            Place::InMatrix(rank - self.tied)
        }
    }

    fn at(&self, rank: u128) -> f64 {
        match self.place(rank) {
            Place::Known(h) => h,
            Place::InMatrix(rank) => h_of(self.matrix.select(rank)),
        }
    }

    fn mean_of(&self, rank: u128) -> f64 {
        match (self.place(rank), self.place(rank + 1)) {
            (Place::InMatrix(first), Place::InMatrix(second)) if second == first + 1 => {
                let low = self.matrix.select(first);
                let high = self.matrix.at_or_after(low, second);
                (h_of(low) + h_of(high)) / 2.0
            }
            _ => (self.at(rank) + self.at(rank + 1)) / 2.0,
        }
    }
}

/// h = (a - b) / (a + b) from r = a / b; its error stays below 2^-53, as dh/dr = 2 / (r + 1)^2.
fn h_of(ratio: f64) -> f64 {
    (ratio - 1.0) / (ratio + 1.0)
}
