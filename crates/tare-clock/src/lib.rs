//! Reading time: the counter, its rate, its cost, its step, and how far two CPUs disagree.
//!
//! Answers: which counter can be trusted here, how many of its ticks are a second (with the
//! residual of the fit), what one reading costs, in what steps it moves. Does not answer: what the
//! time is used for (tare-noise), which CPU a thread may run on (tare-platform).
//!
//! Place on the way of the data: the first step of *measure*. Every `_ticks` column of a recording
//! is a reading of one [`Counter`], or a difference of two.

mod cost;
mod counter;
mod fit;
mod offset;
mod step;

#[doc(hidden)]
pub mod unroll;

pub use cost::{ReadCost, raw_block_ticks_per_read, read_cost};
#[cfg(target_arch = "aarch64")]
pub use counter::Cntvct;
#[cfg(target_arch = "x86_64")]
pub use counter::Tsc;
pub use counter::{Choice, Counter, OsClock, Source, Visitor, choose, visit};
pub use fit::{Anchor, Rate, RateFit};
pub use offset::{OffsetBounds, offset_between};
pub use step::{measure_step, step_of};
