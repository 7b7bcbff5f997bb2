//! Fixed work: a chain of multiplications, each of which needs the result of the one before.

/// Multiplier and increment of a full-period generator modulo 2^64 (Knuth, TAOCP vol. 2, 3.3.4,
/// table 1, line 26). Any odd pair would do: what counts is the dependency.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// Go `units` steps along the chain. About 4 to 5 cycles a step, no memory access.
#[inline(always)]
#[must_use]
pub fn work(mut state: u64, units: u64) -> u64 {
    for _ in 0..units {
        state = opaque(state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT));
    }
    state
}

/// Hide from the compiler where the value comes from: it could fold eight steps of the chain into
/// one multiplication otherwise.
#[inline(always)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn opaque(mut value: u64) -> u64 {
    // SAFETY: not one instruction; the register goes in and comes out as it is.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    value
}

/// As above, by way of memory where there is no inline assembly.
#[inline(always)]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn opaque(value: u64) -> u64 {
    std::hint::black_box(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_in_two_parts_is_the_chain_in_one() {
        assert_eq!(work(work(1, 10), 32), work(1, 42));
        assert_eq!(work(7, 0), 7);
        assert_eq!(work(1, 1), MULTIPLIER.wrapping_add(INCREMENT));
    }
}
