//! The time stamp counter of x86_64.

use super::{Counter, Source};
use core::arch::asm;
use core::arch::x86_64::__cpuid;

/// The time stamp counter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tsc;

impl Counter for Tsc {
    const SOURCE: Source = Source::Tsc;

    #[inline(always)]
    fn read(&self) -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: rdtsc writes EDX:EAX and nothing else. Not `pure`: every reading counts, so the
        // compiler may neither drop nor merge nor reorder two of them.
        unsafe {
            asm!("rdtsc", out("rax") low, out("rdx") high, options(nomem, nostack, preserves_flags));
        }
        high << 32 | low
    }

    #[inline(always)]
    fn read_low(&self) -> u32 {
        let low: u32;
        // SAFETY: as in `read`; the high half is thrown away.
        unsafe {
            asm!("rdtsc", out("eax") low, out("edx") _, options(nomem, nostack, preserves_flags));
        }
        low
    }

    #[inline(always)]
    fn read_ordered(&self) -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: as in `read`; lfence waits for all earlier instructions and holds later ones back
        // (Intel SDM vol. 2, RDTSC; AMD APM vol. 3, LFENCE). Without `nomem` the compiler keeps
        // memory accesses on their side too.
        unsafe {
            asm!("lfence", "rdtsc", "lfence", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        }
        high << 32 | low
    }
}

/// CPUID function 0x8000_0007, EDX bit 8: the TSC runs at one rate in all P-, C- and T-states
/// (AMD APM vol. 3, E.4.6; Intel SDM vol. 3, 18.17.1).
#[allow(unused_unsafe, reason = "safe to call since Rust 1.93, unsafe in the oldest supported")]
pub(super) fn cpu_says_invariant() -> bool {
    const HIGHEST_EXTENDED: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    // SAFETY: every x86_64 CPU has CPUID.
    let cpuid = |leaf| unsafe { __cpuid(leaf) };
    cpuid(HIGHEST_EXTENDED).eax >= POWER && cpuid(POWER).edx >> 8 & 1 == 1
}
