//! Detour loops: what is taken from a program that only wants to run.
//!
//! Answers: when was this CPU taken away, for how long (timestamps, selfish), how much longer did
//! fixed work take (FWQ), how much work fitted into fixed time (FTQ). Does not answer: who took it,
//! what is usual and what is not, what it means; those are inference, in Python.
//!
//! Place on the way of the data: *measure*. Between the first and the last reading of a trace there
//! is no allocation, no I/O, no system call and, on memory that was touched and locked before, no
//! page fault. What was lost is counted; what the OS refused is recorded.
//!
//! From the bottom up: [`loops`] are pure functions over a [`tare_clock::Counter`] and buffers;
//! [`calibrate`] finds thresholds, floors and work; a [`Session`] holds one pinned thread for each
//! CPU and lets all of them start a loop together; [`Budget`] keeps real-time loops within what the
//! OS lets them spin.

mod budget;
pub mod calibrate;
mod crew;
mod error;
pub mod loops;
mod meeting;
mod memory;
mod seat;
mod session;
mod store_cost;
mod trace;
mod window;

#[cfg(test)]
mod scripted;

pub use budget::Budget;
pub use error::SessionError;
pub use memory::{MemoryState, STATES as MEMORY_STATES};
pub use seat::{Calibrating, Spec};
pub use session::{Session, Settled};
pub use store_cost::StoreCost;
pub use trace::{Records, Trace};
pub use window::{Sizes, Task};
