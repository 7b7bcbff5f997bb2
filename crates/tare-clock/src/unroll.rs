//! Repeating a block of code in the source, so that no loop stands between two readings.

/// Readings in one unrolled block of the timestamps loop and of the cost of a raw reading.
///
/// 1000 readings with their stores are 8 kB of code on x86_64 (2 bytes `rdtsc`, 6 bytes `mov`), a
/// quarter of the smallest first-level instruction cache in use (32 kB). 10 000 in one piece would
/// be 80 kB: every reading would then wait for code from the second level, which is a disturbance
/// of our own making. The loop around the block (one addition, one compare, one jump) runs in the
/// shadow of the counter read; `tare-probe clock` shows the edges beside the inner readings.
pub const BLOCK: usize = 1000;

/// The block ten times.
#[macro_export]
#[doc(hidden)]
macro_rules! times_10 {
    ($body:block) => {
        $body;
        $body;
        $body;
        $body;
        $body;
        $body;
        $body;
        $body;
        $body;
        $body;
    };
}

/// The block [`BLOCK`] times.
#[macro_export]
#[doc(hidden)]
macro_rules! times_1000 {
    ($body:block) => {
        $crate::times_10!({
            $crate::times_10!({
                $crate::times_10!($body);
            });
        });
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_macro_repeats_as_often_as_the_constant_says() {
        let mut count = 0_usize;
        crate::times_1000!({
            count += 1;
        });
        assert_eq!(count, super::BLOCK);
    }
}
