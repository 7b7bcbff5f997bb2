//! Memory states: how memory was allocated before a trace (Rehn et al. 2014, section on processing
//! variations: sizes that are multiples of 16 or 4096, and primes).
//!
//! The paper gives the kinds, not the sizes. Ours: small blocks fill 4 MiB, so there are thousands
//! of them; large ones fill 32 MiB, so there are few, each beyond what an allocator keeps in its
//! bins (128 KiB in glibc) and, together, beyond most second-level caches.

/// One way to allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryState {
    /// As on the command line and in the recording.
    pub name: &'static str,
    /// Block sizes, taken in turn, bytes.
    sizes_bytes: &'static [usize],
    /// Together at least this, bytes.
    total_bytes: usize,
}

const SMALL: usize = 4 << 20;
const LARGE: usize = 32 << 20;

/// All of them. Multiples of 16 are no multiples of 4096 here.
pub const STATES: [MemoryState; 6] = [
    state("aligned16-small", &[16, 48, 112, 240, 496, 1008], SMALL),
    state("aligned16-large", &[131_088, 262_160, 524_304, 1_048_592], LARGE),
    state("aligned4096-small", &[4096, 8192, 12_288, 16_384], SMALL),
    state("aligned4096-large", &[131_072, 262_144, 524_288, 1_048_576], LARGE),
    state("prime-small", &[17, 53, 113, 241, 499, 1009], SMALL),
    state("prime-large", &[131_101, 262_147, 524_309, 1_048_583], LARGE),
];

const fn state(
    name: &'static str,
    sizes_bytes: &'static [usize],
    total_bytes: usize,
) -> MemoryState {
    MemoryState { name, sizes_bytes, total_bytes }
}

/// Blocks that stay allocated until this is dropped.
#[derive(Debug)]
pub(crate) struct Blocks {
    blocks: Vec<Vec<u8>>,
}

impl MemoryState {
    /// The state of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        STATES.into_iter().find(|state| state.name == name)
    }

    /// Allocate and write every block; `None` if memory ran out.
    pub(crate) fn allocate(&self) -> Option<Blocks> {
        let mut blocks = Vec::new();
        let mut total = 0;
        for &size in self.sizes_bytes.iter().cycle() {
            if total >= self.total_bytes {
                break;
            }
            let mut block = Vec::new();
            block.try_reserve_exact(size).ok()?;
            // Written, so that every page is there.
            block.resize(size, 0x5a);
            total += size;
            blocks.try_reserve(1).ok()?;
            blocks.push(block);
        }
        Some(Blocks { blocks })
    }
}

impl Blocks {
    /// Write one byte in every page again, just before the window.
    pub(crate) fn touch(&mut self) {
        for block in &mut self.blocks {
            for byte in block.iter_mut().step_by(PAGE) {
                // SAFETY: `byte` is a valid, unique reference. Volatile, so that it happens.
                unsafe { std::ptr::from_mut(byte).write_volatile(0xa5) };
            }
        }
    }
}

/// Smallest page in use; a larger one is touched more than once, which does no harm. Bytes.
pub(crate) const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_prime(n: usize) -> bool {
        n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
    }

    #[test]
    fn sizes_are_what_the_names_say() {
        for state in STATES {
            let (kind, scale) = state.name.split_once('-').unwrap();
            for &size in state.sizes_bytes {
                match kind {
                    "aligned16" => assert!(size % 16 == 0 && size % 4096 != 0, "{size}"),
                    "aligned4096" => assert_eq!(size % 4096, 0, "{size}"),
                    _ => assert!(is_prime(size), "{size}"),
                }
                assert_eq!(size >= 128 << 10, scale == "large", "{size}");
            }
        }
    }

    #[test]
    fn all_is_allocated_and_kept() {
        for state in STATES {
            let mut blocks = state.allocate().unwrap();
            blocks.touch();
            let total: usize = blocks.blocks.iter().map(Vec::len).sum();
            assert!(total >= state.total_bytes && total < state.total_bytes + (2 << 20));
            assert!(blocks.blocks.iter().all(|block| block[0] == 0xa5));
        }
    }

    #[test]
    fn found_by_name() {
        assert_eq!(MemoryState::named("prime-large").unwrap().name, "prime-large");
        assert_eq!(MemoryState::named("prime"), None);
    }
}
