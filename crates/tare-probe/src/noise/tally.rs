//! How often each value came: enough for exact quantiles of 10^8 values in little memory.

/// Values below this have a counter each; most deltas are.
const COUNTED: usize = 1 << 16;

/// A multiset of values.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    counts: Vec<u64>,
    larger: Vec<u64>,
    n: u64,
}

impl Tally {
    pub fn add(&mut self, value: u64) {
        self.n += 1;
        match usize::try_from(value) {
            Ok(index) if index < COUNTED => {
                if self.counts.is_empty() {
                    self.counts.resize(COUNTED, 0);
                }
                self.counts[index] += 1;
            }
            _ => self.larger.push(value),
        }
    }

    /// Quantiles at these shares (0 to 1, ascending), type 7 of Hyndman & Fan 1996: linear between
    /// the two values around (n - 1) x share. `None` of nothing.
    pub fn quantiles<const N: usize>(&mut self, shares: [f64; N]) -> Option<[f64; N]> {
        let last = self.n.checked_sub(1)?;
        self.larger.sort_unstable();
        Some(shares.map(|share| {
            let place = last as f64 * share;
            let (low, part) = (place.floor(), place.fract());
            let below = self.nth(low as u64) as f64;
            let above = self.nth((low as u64 + 1).min(last)) as f64;
            below + part * (above - below)
        }))
    }

    /// The value of this rank, from 0; `larger` is sorted, and `rank` below n.
    fn nth(&self, rank: u64) -> u64 {
        let mut before = 0;
        for (value, &count) in self.counts.iter().enumerate() {
            before += count;
            if rank < before {
                return value as u64;
            }
        }
        self.larger[(rank - before) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_nothing_and_of_one() {
        assert_eq!(Tally::default().quantiles([0.5]), None);
        let mut tally = Tally::default();
        tally.add(1 << 40);
        assert_eq!(tally.quantiles([0.0, 0.5, 1.0]), Some([2_f64.powi(40); 3]));
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(
            mut values in prop::collection::vec(prop_oneof![0_u64..100, 60_000_u64..70_000, 0_u64..1 << 50], 1..200),
            share in 0.0..1.0_f64,
        ) {
            let mut tally = Tally::default();
            values.iter().for_each(|&value| tally.add(value));
            values.sort_unstable();
            let place = (values.len() - 1) as f64 * share;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            let expected = low as f64 + place.fract() * (high as f64 - low as f64);
            let [found, least, most] = tally.quantiles([share, 0.0, 1.0]).unwrap();
            prop_assert!((found - expected).abs() <= 1e-9 * expected.max(1.0));
            prop_assert_eq!((least, most), (values[0] as f64, values[values.len() - 1] as f64));
        }
    }
}
