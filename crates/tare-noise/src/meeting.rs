//! Where the threads of a group meet before they start together.
//!
//! Two waits. The first gives the CPU away while others still prepare. The second spins on one
//! shared cache line, so that all leave within the time that the line needs to reach them; a thread
//! that may share its CPU with another of the group gives it away even then, or none would arrive.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A meeting of a fixed number of threads, once.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Meeting {
    size: usize,
    gathered: AtomicUsize,
    ready: AtomicUsize,
    called_off: AtomicBool,
}

/// One thread's place. Dropped before the start, it calls the meeting off for all: a thread that
/// failed leaves nobody spinning.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    meeting: &'a Meeting,
    started: bool,
}

/// Another thread of the group could not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CalledOff;

impl Meeting {
    pub(crate) fn of(size: usize) -> Self {
        let (gathered, ready) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { size, gathered, ready, called_off: AtomicBool::new(false) }
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { meeting: self, started: false }
    }

    #[inline]
    fn wait(&self, counter: &AtomicUsize, idle: impl Fn()) -> Result<(), CalledOff> {
        counter.fetch_add(1, Ordering::AcqRel);
        while counter.load(Ordering::Acquire) < self.size {
            if self.called_off.load(Ordering::Relaxed) {
                return Err(CalledOff);
            }
            idle();
        }
        Ok(())
    }
}

impl Place<'_> {
    /// Wait until all are here, leaving the CPU to those that are not.
    pub(crate) fn gather(&self) -> Result<(), CalledOff> {
        self.meeting.wait(&self.meeting.gathered, std::thread::yield_now)
    }

    /// Spin until all are ready, then go. `alone`: no other thread of the group can be on this CPU.
    #[inline]
    pub(crate) fn start(mut self, alone: bool) -> Result<(), CalledOff> {
        let idle = || if alone { std::hint::spin_loop() } else { std::thread::yield_now() };
        let result = self.meeting.wait(&self.meeting.ready, idle);
        self.started = result.is_ok();
        result
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.started {
            self.meeting.called_off.store(true, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_starts_before_all_are_ready() {
        let meeting = Meeting::of(4);
        let before = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let place = meeting.place();
                    place.gather().unwrap();
                    before.fetch_add(1, Ordering::SeqCst);
                    place.start(false).unwrap();
                    assert_eq!(before.load(Ordering::SeqCst), 4);
                });
            }
        });
    }

    #[test]
    fn one_that_fails_lets_the_others_go() {
        let meeting = Meeting::of(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| meeting.place().gather());
            drop(meeting.place());
            assert_eq!(waiting.join().unwrap(), Err(CalledOff));
        });
    }
}
