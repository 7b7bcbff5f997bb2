//! The virtual counter of aarch64.

use super::{Counter, Source};
use core::arch::asm;

/// `CNTVCT_EL0`, readable by programs on Linux, macOS, Windows and FreeBSD.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cntvct;

impl Counter for Cntvct {
    const SOURCE: Source = Source::Cntvct;

    #[inline(always)]
    fn read(&self) -> u64 {
        let ticks: u64;
        // SAFETY: reads a system register, touches nothing else. Not `pure`: every reading counts.
        unsafe {
            asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
        }
        ticks
    }

    #[inline(always)]
    fn read_ordered(&self) -> u64 {
        let ticks: u64;
        // SAFETY: as in `read`; isb completes everything before it (Arm ARM, D12.2.1). Without
        // `nomem` the compiler keeps memory accesses on their side too.
        unsafe {
            asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack, preserves_flags));
        }
        ticks
    }
}
