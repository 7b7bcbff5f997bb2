//! What deltas cost on disk. Their shape is that of a real trace: nearly all are the floor or a step
//! or two more, a few in a thousand are detours of any length.

mod common;

use common::{deltas, manifest};
use tare_record::*;

const SAMPLES: usize = 1_000_000;

/// Marsaglia, Xorshift RNGs, J. Stat. Softw. 8 (2003), doi:10.18637/jss.v008.i14: the same numbers
/// on every machine.
struct XorShift(u64);

impl XorShift {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A counter that moves by `step` ticks; `spread` steps of ordinary variation; 0.3 % detours.
fn trace(step: u64, spread: u64) -> Vec<u32> {
    let mut random = XorShift(0x9E37_79B9_7F4A_7C15);
    let delta = |_| {
        let detour = if random.below(1000) < 3 { 1 << random.below(20) } else { 0 };
        let steps = 24 / step + random.below(spread) + random.below(detour + 1);
        u32::try_from(steps * step).expect("below 2^32")
    };
    (0..SAMPLES).map(delta).collect()
}

fn bytes_per_sample(delta_ticks: Vec<u32>) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = RecordingWriter::create(folder.path().join("one")).expect("created");
    for part in delta_ticks.chunks(100_000) {
        writer.append(&tables::DELTAS, &deltas(7, part.to_vec())).expect("appended");
    }
    let target = writer.finish(manifest()).expect("finished");
    let recording = Recording::open(target).expect("opened");
    let rows: usize = recording
        .batches(&tables::DELTAS)
        .expect("a table")
        .map(|batch| batch.expect("decoded").num_rows())
        .sum();
    assert_eq!(rows, SAMPLES);
    recording.manifest().tables[0].size_bytes as f64 / SAMPLES as f64
}

#[test]
fn deltas_of_a_stepped_counter_cost_less_than_two_bytes() {
    let cost = bytes_per_sample(trace(26, 3));
    assert!(cost < 2.0, "{cost} bytes a sample");
}

#[test]
fn deltas_of_a_counter_that_moves_by_two_and_varies_much_cost_less_than_two_bytes() {
    let cost = bytes_per_sample(trace(2, 60));
    assert!(cost < 2.0, "{cost} bytes a sample");
}
