//! The four loops. Each is one function over a counter and buffers that were touched before; it
//! reads, compares and stores, and nothing else.
//!
//! `stop` is looked at where a loop has time for it (end of a block, of a quantum, of a slot): a
//! load that hits the first-level cache until somebody sets it.

pub mod ftq;
pub mod fwq;
pub mod selfish;
pub mod timestamps;
pub mod work;
