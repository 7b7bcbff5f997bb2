//! The one-pass scan against a plain reading of the whole trace, in chunks of any size.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tare_kernels::{
    Detour, LENGTH_BINS, LongestInBin, ScanError, ScanPlan, TraceScan, length_bin, length_edges,
};

/// Mostly a stepped floor, now and then anything up to 2^32 - 1.
fn trace() -> impl Strategy<Value = Vec<u32>> {
    let delta = prop_oneof![
        8 => prop::sample::select(vec![0_u32, 26, 26, 26, 52]),
        2 => 1_u32..5_000,
        1 => 60_000_u32..70_000,
        1 => any::<u32>(),
    ];
    prop::collection::vec(delta, 0..300)
}

/// Reading before each delta.
fn starts(start: u64, deltas: &[u32]) -> Vec<u64> {
    let sums = deltas.iter().scan(start, |now, &delta| {
        let before = *now;
        *now += u64::from(delta);
        Some(before)
    });
    sums.collect()
}

/// Bin of a reading by the definition of the bins, in exact integers.
fn bin_of(plan: &ScanPlan, at: u64) -> usize {
    let span = u128::from(plan.end_ticks - plan.start_ticks);
    let bins = plan.time_bins as u128;
    if span == 0 {
        return plan.time_bins - 1;
    }
    (u128::from(at - plan.start_ticks) * bins / span).min(bins - 1) as usize
}

fn scanned(plan: ScanPlan, deltas: &[u32], chunk: usize) -> TraceScan {
    let mut scan = TraceScan::new(plan).unwrap();
    for part in deltas.chunks(chunk) {
        scan.update(part).unwrap();
    }
    scan
}

proptest! {
    #[test]
    fn finds_what_a_plain_reading_finds(
        deltas in trace(),
        start_ticks in 0..u64::MAX / 2,
        after_last in prop_oneof![Just(0_u64), 1_u64..1_000_000],
        time_bins in 1_usize..50,
        threshold in prop::option::of(0_u64..6_000),
        detour_capacity in 0_usize..400,
        chunk in 1_usize..100,
    ) {
        let total: u64 = deltas.iter().map(|&delta| u64::from(delta)).sum();
        let plan = ScanPlan {
            start_ticks,
            end_ticks: start_ticks + total + after_last,
            time_bins,
            threshold_ticks: threshold,
            detour_capacity,
        };
        let scan = scanned(plan.clone(), &deltas, chunk);
        let starts = starts(start_ticks, &deltas);

        let mut tally = BTreeMap::new();
        let mut heat = vec![0_u64; time_bins * LENGTH_BINS];
        let mut longest: BTreeMap<usize, LongestInBin> = BTreeMap::new();
        let mut detours = Vec::new();
        for (index, (&gap_ticks, &start_ticks)) in deltas.iter().zip(&starts).enumerate() {
            let bin = bin_of(&plan, start_ticks);
            *tally.entry(gap_ticks).or_insert(0_u64) += 1;
            heat[bin * LENGTH_BINS + length_bin(gap_ticks)] += 1;
            let this = LongestInBin { bin, index: index as u64, start_ticks, gap_ticks };
            let best = longest.entry(bin).or_insert(this);
            if gap_ticks > best.gap_ticks {
                *best = this;
            }
            if threshold.is_some_and(|threshold| u64::from(gap_ticks) >= threshold) {
                detours.push(Detour { start_ticks, gap_ticks });
            }
        }
        let listed = detours.len().min(detour_capacity);
        let lost_ticks: u64 = detours[listed..].iter().map(|lost| u64::from(lost.gap_ticks)).sum();

        prop_assert_eq!(scan.samples(), deltas.len() as u64);
        prop_assert_eq!(scan.unaccounted_ticks(), after_last);
        prop_assert_eq!(scan.tally(), tally.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(scan.heat(), &heat[..]);
        prop_assert_eq!(scan.longest(), &longest.into_values().collect::<Vec<_>>()[..]);
        prop_assert_eq!(scan.detours(), &detours[..listed]);
        prop_assert_eq!(scan.detours_lost(), ((detours.len() - listed) as u64, lost_ticks));
    }

    #[test]
    fn time_edges_are_the_first_readings_of_their_bins(
        start_ticks in 0..u64::MAX / 2,
        span in prop_oneof![1_u64..300, 1_u64..u64::MAX / 2],
        time_bins in 1_usize..50,
    ) {
        let plan = ScanPlan {
            start_ticks, end_ticks: start_ticks + span, time_bins, threshold_ticks: None, detour_capacity: 0,
        };
        let edges = TraceScan::new(plan.clone()).unwrap().time_edges();
        prop_assert_eq!(edges.len(), time_bins + 1);
        prop_assert_eq!((edges[0], edges[time_bins]), (start_ticks, start_ticks + span));
        for (bin, &edge) in edges.iter().enumerate().take(time_bins).skip(1) {
            prop_assert!(bin_of(&plan, edge) >= bin);
            prop_assert!(bin_of(&plan, edge - 1) < bin);
        }
    }

    #[test]
    fn length_edges_enclose_their_lengths(length in any::<u32>()) {
        let edges = length_edges();
        let bin = length_bin(length);
        prop_assert!(edges[bin] <= u64::from(length) && u64::from(length) < edges[bin + 1]);
    }
}

#[test]
fn length_edges_are_four_to_a_doubling() {
    let edges = length_edges();
    assert_eq!(edges.len(), LENGTH_BINS + 1);
    assert_eq!(edges[..14], [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20]);
    assert_eq!(edges[LENGTH_BINS], 1 << 32);
}

fn plan(end_ticks: u64) -> ScanPlan {
    ScanPlan {
        start_ticks: 100,
        end_ticks,
        time_bins: 4,
        threshold_ticks: None,
        detour_capacity: 0,
    }
}

#[test]
fn refuses_deltas_of_another_trace() {
    let mut scan = TraceScan::new(plan(200)).unwrap();
    scan.update(&[60, 40, 0]).unwrap();
    assert_eq!(scan.update(&[0, 1]), Err(ScanError::PastEnd { index: 4, end_ticks: 200 }));
    assert_eq!(scan.samples(), 4);
}

#[test]
fn refuses_a_plan_without_time() {
    let end_ticks = 99;
    assert_eq!(
        TraceScan::new(plan(end_ticks)).unwrap_err(),
        ScanError::EndBeforeStart { start_ticks: 100, end_ticks }
    );
    assert_eq!(
        TraceScan::new(ScanPlan { time_bins: 0, ..plan(200) }).unwrap_err(),
        ScanError::TimeBins(0)
    );
    assert!(TraceScan::new(ScanPlan { time_bins: 1 << 21, ..plan(200) }).is_err());
}

#[test]
fn a_wrapped_delta_shows_as_unaccounted_time() {
    let mut scan = TraceScan::new(plan(100 + (1 << 32) + 7)).unwrap();
    scan.update(&[7]).unwrap();
    assert_eq!(scan.unaccounted_ticks(), 1 << 32);
}
