//! Selection in the matrix of all ratios a_i / b_j without forming it.
//!
//! Answers: which ratio has rank k? Does not know what the ratios mean ([`crate::medcouple`](mod@crate::medcouple)).
//!
//! With a and b ascending, every row grows to the left and every column downwards, so that the
//! ratios below any pivot end at a staircase that one walk of rows + columns steps finds: Johnson &
//! Mizoguchi (1978), "Selecting the Kth element in X + Y and X_1 + X_2 + ... + X_m", SIAM Journal
//! on Computing 7(2), 147-153, doi:10.1137/0207013. They take the weighted median of the row medians
//! as pivot, which halves the matrix some forty times. Here two pivots are taken, close on either
//! side of the wanted rank, as in Floyd & Rivest (1975), "Expected time bounds for selection",
//! Communications of the ACM 18(3), 165-172, doi:10.1145/360680.360691: first from a coarser matrix,
//! every ninth row and column of this one, then from a random sample of the ratios still in
//! question. Where pivots come from decides how long it takes, never what comes out.

/// Sorted values of one side, each with a weight.
pub(crate) trait Side: Copy {
    /// Is every weight 1?
    const UNIT: bool;
    /// Number of distinct places.
    fn len(&self) -> usize;
    /// Value at a place: positive, ascending.
    fn value(&self, at: usize) -> f64;
    /// Summed weight of all places before this one; `at` may be `len`.
    fn before(&self, at: usize) -> u64;
    /// Summed weight.
    fn total(&self) -> u64 {
        self.before(self.len())
    }
}

/// Every value once.
#[derive(Clone, Copy)]
pub(crate) struct Plain<'a>(pub(crate) &'a [f64]);

impl Side for Plain<'_> {
    const UNIT: bool = true;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn value(&self, at: usize) -> f64 {
        self.0[at]
    }
    fn before(&self, at: usize) -> u64 {
        at as u64
    }
}

/// Every value as often as its count says.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'a> {
    pub(crate) values: &'a [f64],
    /// One longer than `values`: how many samples come before each, and all.
    pub(crate) before: &'a [u64],
}

impl Side for Counted<'_> {
    const UNIT: bool = false;
    fn len(&self) -> usize {
        self.values.len()
    }
    fn value(&self, at: usize) -> f64 {
        self.values[at]
    }
    fn before(&self, at: usize) -> u64 {
        self.before[at]
    }
}

/// All ratios `row / column`.
pub(crate) struct Matrix<R, C> {
    rows: R,
    columns: C,
}

/// How many ratios satisfy a condition that small ratios satisfy.
#[derive(Clone, Copy, Default)]
struct Extent {
    weight: u128,
    cells: u64,
}

/// The ratios strictly between `low` and `high`: those still in question.
#[derive(Clone, Copy)]
struct Band {
    low: f64,
    high: f64,
    /// Ratios up to `low`.
    below: Extent,
    /// Ratios below `high`.
    up_to: Extent,
}

impl Band {
    fn weight(&self) -> u128 {
        self.up_to.weight - self.below.weight
    }

    fn cells(&self) -> u64 {
        self.up_to.cells - self.below.cells
    }
}

/// Large ratios that overflow are as good as infinite; keeping them finite keeps the order total.
fn ratio(a: f64, b: f64) -> f64 {
    (a / b).min(f64::MAX)
}

impl<R: Side, C: Side> Matrix<R, C> {
    /// Most ratios that are listed: 16 MiB without weights, 8 MiB with them.
    const MOST_LISTED: u64 = if R::UNIT && C::UNIT { 1 << 21 } else { 1 << 18 };

    /// Both sides ascend.
    pub(crate) fn new(rows: R, columns: C) -> Self {
        Self { rows, columns }
    }

    pub(crate) fn rows(&self) -> &R {
        &self.rows
    }

    pub(crate) fn columns(&self) -> &C {
        &self.columns
    }

    /// Weight of the ratios smaller than `pivot`.
    pub(crate) fn count_below(&self, pivot: f64) -> u128 {
        self.extents([|r: f64| r < pivot])[0].weight
    }

    /// The ratio of this rank, from 0 and below the summed weight.
    pub(crate) fn select(&self, rank: u128) -> f64 {
        let size = (self.rows.len() + self.columns.len()) as u64;
        self.select_by_listing(rank, (4 * size).clamp(1 << 10, Self::MOST_LISTED))
    }

    /// Narrows until `enough` ratios are left, then lists these.
    fn select_by_listing(&self, rank: u128, enough: u64) -> f64 {
        let mut random = SplitMix64(0x7461_7265);
        let mut band = self.whole();
        let mut pivots = self.coarse_pivots(rank);
        while band.cells() > enough {
            let [left, right] =
                pivots.take().unwrap_or_else(|| self.sampled_pivots(&band, rank, &mut random));
            band = self.narrow(&band, left, right, rank);
            if band.low.next_up() == band.high.next_down() {
                return band.low.next_up();
            }
        }
        if R::UNIT && C::UNIT {
            self.select_plain(&band, rank)
        } else {
            self.select_weighted(&band, rank)
        }
    }

    /// The ratio of rank `rank`, given that `found` has the rank before it.
    pub(crate) fn at_or_after(&self, found: f64, rank: u128) -> f64 {
        let mut up_to = 0_u128;
        let mut next = f64::INFINITY;
        let mut j = 0;
        for i in 0..self.rows.len() {
            let a = self.rows.value(i);
            while j < self.columns.len() && ratio(a, self.columns.value(j)) > found {
                j += 1;
            }
            up_to += u128::from(self.rows.before(i + 1) - self.rows.before(i))
                * u128::from(self.columns.total() - self.columns.before(j));
            if j > 0 {
                next = next.min(ratio(a, self.columns.value(j - 1)));
            }
        }
        if rank < up_to { found } else { next }
    }

    fn whole(&self) -> Band {
        let up_to = Extent {
            weight: u128::from(self.rows.total()) * u128::from(self.columns.total()),
            cells: self.rows.len() as u64 * self.columns.len() as u64,
        };
        Band { low: -1.0, high: f64::INFINITY, below: Extent::default(), up_to }
    }

    /// One walk along the staircase of each condition. Walking them together hides the latency of
    /// one division behind the others.
    fn extents<const N: usize, F: Fn(f64) -> bool>(&self, conditions: [F; N]) -> [Extent; N] {
        let mut extents = [Extent::default(); N];
        let mut places = [0; N];
        let (columns, all) = (self.columns.len(), self.columns.total());
        for i in 0..self.rows.len() {
            let a = self.rows.value(i);
            let weight = u128::from(self.rows.before(i + 1) - self.rows.before(i));
            for ((condition, j), extent) in conditions.iter().zip(&mut places).zip(&mut extents) {
                while *j < columns && !condition(ratio(a, self.columns.value(*j))) {
                    *j += 1;
                }
                extent.weight += weight * u128::from(all - self.columns.before(*j));
                extent.cells += (columns - *j) as u64;
            }
        }
        extents
    }

    /// Calls `visit(row, first column, end column)` for each row of the band.
    fn walk(&self, band: &Band, mut visit: impl FnMut(usize, usize, usize)) {
        let columns = self.columns.len();
        let (mut first, mut end) = (0, 0);
        for i in 0..self.rows.len() {
            let a = self.rows.value(i);
            while first < columns && ratio(a, self.columns.value(first)) >= band.high {
                first += 1;
            }
            while end < columns && ratio(a, self.columns.value(end)) > band.low {
                end += 1;
            }
            if first < end {
                visit(i, first, end);
            }
        }
    }

    /// Pivots from the matrix of every ninth row and column, if this one is large. Rounding a row to
    /// whole columns errs by at most half a column either way; over K rows these errors mostly
    /// cancel, to the order of sqrt(K) cells. 16 of these either side nearly always suffice.
    fn coarse_pivots(&self, rank: u128) -> Option<[f64; 2]> {
        if self.rows.len() + self.columns.len() < 1 << 14 {
            return None;
        }
        let (rows, columns) = (every_ninth(self.rows), every_ninth(self.columns));
        let coarse = Matrix::new(Plain(&rows), Plain(&columns));
        let cells = rows.len() as f64 * columns.len() as f64;
        let centre = rank as f64 / self.whole().weight() as f64 * cells;
        let margin = 16.0 * (rows.len().max(columns.len()) as f64).sqrt();
        let pick = |at: f64| coarse.select(at.clamp(0.0, cells - 1.0) as u128);
        Some([pick(centre - margin), pick(centre + margin)])
    }

    /// Pivots from a sample of the band.
    fn sampled_pivots(&self, band: &Band, rank: u128, random: &mut SplitMix64) -> [f64; 2] {
        let size = (self.rows.len() + self.columns.len()) as u64;
        let mut sample = self.sample(band, size.clamp(1 << 8, 1 << 16), random);
        sample.sort_unstable_by(f64::total_cmp);
        let size = sample.len() as f64;
        let share = (rank - band.below.weight) as f64 / band.weight() as f64;
        // Three standard deviations of a binomial count either side.
        let margin = 3.0 * (size * share * (1.0 - share)).sqrt() + 1.0;
        let pick = |at: f64| sample[(at.max(0.0) as usize).min(sample.len() - 1)];
        [pick(size * share - margin), pick(size * share + margin)]
    }

    /// About `wanted` ratios, one at random from each of as many equal shares of the band's weight:
    /// never none, as the band weighs at least one whole share.
    fn sample(&self, band: &Band, wanted: u64, random: &mut SplitMix64) -> Vec<f64> {
        let share = (band.weight() / u128::from(wanted)).max(1);
        let mut sample = Vec::with_capacity(wanted as usize + 1);
        let mut start_of_share = 0_u128;
        let mut next = random.below(share);
        let mut passed = 0_u128;
        self.walk(band, |i, first, end| {
            let weight = u128::from(self.rows.before(i + 1) - self.rows.before(i));
            let in_row = weight * u128::from(self.columns.before(end) - self.columns.before(first));
            while next < passed + in_row {
                let column_weight = self.columns.before(first) + ((next - passed) / weight) as u64;
                sample.push(ratio(self.rows.value(i), self.column_at(column_weight, first, end)));
                start_of_share += share;
                next = start_of_share + random.below(share);
            }
            passed += in_row;
        });
        sample
    }

    /// The column between places `first` and `end` in which this cumulative weight falls.
    fn column_at(&self, weight: u64, first: usize, end: usize) -> f64 {
        let (mut low, mut high) = (first, end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.columns.before(middle) <= weight { low = middle } else { high = middle }
        }
        self.columns.value(low)
    }

    /// The part of the band, cut at two pivots, that holds the rank.
    ///
    /// Mostly that is `left..=right`. Where it is not, or where ties keep it from being small, each
    /// part leaves out all ratios equal to a pivot, or consists of them alone: as sampled pivots are
    /// ratios of the band, narrowing always ends.
    fn narrow(&self, band: &Band, left: f64, right: f64, rank: u128) -> Band {
        let [below_left, to_right] = self.extents(
            [(left, false), (right, true)]
                .map(|(pivot, inclusive)| move |r: f64| r < pivot || (inclusive && r == pivot)),
        );
        let (under_left, over_right) = (left.next_down(), right.next_up());
        if rank < below_left.weight {
            return Band { high: left, up_to: below_left, ..*band };
        }
        if rank >= to_right.weight {
            return Band { low: right, below: to_right, ..*band };
        }
        let between =
            Band { low: under_left, high: over_right, below: below_left, up_to: to_right };
        if left == right || between.cells() <= band.cells() / 2 {
            return between;
        }
        let [to_left, below_right] = self.extents(
            [(left, true), (right, false)]
                .map(|(pivot, inclusive)| move |r: f64| r < pivot || (inclusive && r == pivot)),
        );
        if rank < to_left.weight {
            Band { high: left.next_up(), up_to: to_left, ..between }
        } else if rank < below_right.weight {
            Band { low: left, high: right, below: to_left, up_to: below_right }
        } else {
            Band { low: right.next_down(), below: below_right, ..between }
        }
    }

    /// Lists what is left of ratios that weigh 1 each.
    fn select_plain(&self, band: &Band, rank: u128) -> f64 {
        let mut listed = Vec::with_capacity(band.cells() as usize);
        self.walk(band, |i, first, end| {
            let a = self.rows.value(i);
            listed.extend((first..end).map(|j| ratio(a, self.columns.value(j))));
        });
        let at = (rank - band.below.weight) as usize;
        *listed.select_nth_unstable_by(at, f64::total_cmp).1
    }

    /// Lists what is left with weights, and counts through it.
    fn select_weighted(&self, band: &Band, rank: u128) -> f64 {
        let mut listed = Vec::with_capacity(band.cells() as usize);
        self.walk(band, |i, first, end| {
            let weight = u128::from(self.rows.before(i + 1) - self.rows.before(i));
            for j in first..end {
                let cell = weight * u128::from(self.columns.before(j + 1) - self.columns.before(j));
                listed.push((ratio(self.rows.value(i), self.columns.value(j)), cell));
            }
        });
        listed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut passed = band.below.weight;
        for (ratio, weight) in listed {
            passed += weight;
            if rank < passed {
                return ratio;
            }
        }
        unreachable!("the band holds the wanted rank")
    }
}

/// A ninth as many places, each at the middle of an equal share of the weight. Nine, because the
/// middle of an odd number of places is a place.
fn every_ninth(side: impl Side) -> Vec<f64> {
    let places = side.len().div_ceil(9);
    let share = side.total() as f64 / places as f64;
    let mut at = 0;
    (0..places)
        .map(|place| {
            let weight = ((place as f64 + 0.5) * share) as u64;
            while at + 1 < side.len() && side.before(at + 1) <= weight {
                at += 1;
            }
            side.value(at)
        })
        .collect()
}

/// Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators",
/// doi:10.1145/2660193.2660195.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`; the slight bias of the remainder does not matter for pivots.
    fn below(&mut self, end: u128) -> u128 {
        let wide = (u128::from(self.next()) << 64) | u128::from(self.next());
        wide % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Few different values, so that most ratios are tied, some of them with a pivot.
    fn side() -> impl Strategy<Value = Vec<(f64, u64)>> {
        let place = (1_u32..12, 1_u64..4).prop_map(|(value, count)| (f64::from(value), count));
        prop::collection::vec(place, 1..9).prop_map(|mut places| {
            places.sort_by(|a, b| a.0.total_cmp(&b.0));
            places
        })
    }

    fn columns_of(places: &[(f64, u64)]) -> (Vec<f64>, Vec<u64>) {
        let values = places.iter().map(|place| place.0).collect();
        let sums = places.iter().scan(0, |sum, place| {
            *sum += place.1;
            Some(*sum)
        });
        (values, std::iter::once(0).chain(sums).collect())
    }

    fn listed(rows: &[(f64, u64)], columns: &[(f64, u64)]) -> Vec<f64> {
        let mut all: Vec<f64> = rows
            .iter()
            .flat_map(|a| columns.iter().map(move |b| (a.0 / b.0, a.1 * b.1)))
            .flat_map(|(ratio, weight)| std::iter::repeat_n(ratio, weight as usize))
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// With `enough` this small, every way through `narrow` is taken.
        #[test]
        fn selects_every_rank_of_a_weighted_matrix(rows in side(), columns in side(), enough in 0_u64..20) {
            let ((a, before_a), (b, before_b)) = (columns_of(&rows), columns_of(&columns));
            let matrix = Matrix::new(
                Counted { values: &a, before: &before_a },
                Counted { values: &b, before: &before_b },
            );
            for (rank, &expected) in listed(&rows, &columns).iter().enumerate() {
                let rank = rank as u128;
                prop_assert_eq!(matrix.select_by_listing(rank, enough), expected);
                if rank > 0 {
                    let before = matrix.select_by_listing(rank - 1, enough);
                    prop_assert_eq!(matrix.at_or_after(before, rank), expected);
                }
            }
        }

        #[test]
        fn selects_every_rank_of_a_plain_matrix(rows in side(), columns in side(), enough in 0_u64..20) {
            let once = |places: Vec<(f64, u64)>| -> Vec<(f64, u64)> {
                places.into_iter().map(|place| (place.0, 1)).collect()
            };
            let (rows, columns) = (once(rows), once(columns));
            let (a, b) = (columns_of(&rows).0, columns_of(&columns).0);
            let matrix = Matrix::new(Plain(&a), Plain(&b));
            for (rank, &expected) in listed(&rows, &columns).iter().enumerate() {
                prop_assert_eq!(matrix.select_by_listing(rank as u128, enough), expected);
            }
        }

    }

    proptest! {
        /// Any two ratios as pivots, any band that earlier pivots may have left.
        #[test]
        fn narrowing_keeps_the_rank_and_counts_right(
            rows in side(), columns in side(), at in prop::collection::vec(0.0..1.0_f64, 5),
        ) {
            let all = listed(&rows, &columns);
            let ((a, before_a), (b, before_b)) = (columns_of(&rows), columns_of(&columns));
            let matrix = Matrix::new(
                Counted { values: &a, before: &before_a },
                Counted { values: &b, before: &before_b },
            );
            let pick = |share: f64| (share * all.len() as f64) as usize;
            let rank = pick(at[0]);
            let mut band = matrix.whole();
            for pair in at[1..].chunks(2) {
                let inside: Vec<f64> =
                    all.iter().copied().filter(|&r| band.low < r && r < band.high).collect();
                let pivot = |share: f64| inside[(share * inside.len() as f64) as usize];
                let (left, right) = (pivot(pair[0]).min(pivot(pair[1])), pivot(pair[0]).max(pivot(pair[1])));
                let narrowed = matrix.narrow(&band, left, right, rank as u128);
                let kept = |r: &&f64| narrowed.low < **r && **r < narrowed.high;
                prop_assert!(kept(&&all[rank]));
                prop_assert!(narrowed.low >= band.low && narrowed.high <= band.high);
                prop_assert_eq!(narrowed.weight(), all.iter().filter(kept).count() as u128);
                let below = all.iter().filter(|&&r| r <= narrowed.low).count();
                prop_assert_eq!(narrowed.below.weight, below as u128);
                let cells = rows.iter().flat_map(|a| columns.iter().map(move |b| a.0 / b.0));
                prop_assert_eq!(narrowed.cells(), cells.filter(|r| kept(&r)).count() as u64);
                let single = inside.iter().all(|&r| r == inside[0]);
                prop_assert!(single || narrowed.weight() < inside.len() as u128);
                band = narrowed;
            }
        }
    }
}
