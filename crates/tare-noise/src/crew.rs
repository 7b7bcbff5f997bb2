//! One thread for each CPU, which lives as long as the session and does there what it is told.

use crate::error::SessionError;
use crate::seat::Seat;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use tare_clock::Counter;

type Job<C> = Box<dyn FnOnce(&mut Seat<C>) + Send>;

/// The threads, in the order of the CPUs.
pub(crate) struct Crew<C: Counter> {
    workers: Vec<Worker<C>>,
}

struct Worker<C: Counter> {
    cpu: u32,
    /// `None` only while dropping.
    jobs: Option<Sender<Job<C>>>,
    thread: Option<JoinHandle<()>>,
}

impl<C: Counter> Crew<C> {
    pub(crate) fn hire(seats: Vec<Seat<C>>) -> Result<Self, SessionError> {
        let workers = seats.into_iter().map(Worker::hire).collect::<Result<_, _>>()?;
        Ok(Self { workers })
    }

    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Let all do the same at the same time; their results in the order of the CPUs.
    pub(crate) fn all<T: Send + 'static>(
        &self,
        job: impl Fn(&mut Seat<C>) -> T + Clone + Send + 'static,
    ) -> Result<Vec<T>, SessionError> {
        let asked: Vec<_> =
            self.workers.iter().map(|worker| (worker.cpu, worker.ask(job.clone()))).collect();
        let answer = |(cpu, asked): (u32, Option<Receiver<T>>)| {
            asked.and_then(|answer| answer.recv().ok()).ok_or(SessionError::Worker { cpu })
        };
        asked.into_iter().map(answer).collect()
    }

    /// Let the first CPU's thread do something, and wait for its result.
    pub(crate) fn first<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Seat<C>) -> T + Send + 'static,
    ) -> Result<T, SessionError> {
        let worker = self.workers.first().ok_or(SessionError::NoCpu)?;
        let answer = worker.ask(job).and_then(|answer| answer.recv().ok());
        answer.ok_or(SessionError::Worker { cpu: worker.cpu })
    }

    /// Let the thread of one CPU do something, without waiting for it.
    pub(crate) fn tell(&self, cpu: u32, job: impl FnOnce(&mut Seat<C>) + Send + 'static) {
        let worker = self.workers.iter().find(|worker| worker.cpu == cpu);
        if let Some(jobs) = worker.and_then(|worker| worker.jobs.as_ref()) {
            // A thread that is gone takes no jobs; the next `all` reports it.
            let _ = jobs.send(Box::new(job));
        }
    }
}

impl<C: Counter> Worker<C> {
    fn hire(mut seat: Seat<C>) -> Result<Self, SessionError> {
        let cpu = seat.cpu;
        let (jobs, to_do) = channel::<Job<C>>();
        let work = move || to_do.into_iter().for_each(|job| job(&mut seat));
        let thread = Builder::new()
            .name(format!("tare-cpu-{cpu}"))
            .spawn(work)
            .map_err(|source| SessionError::Thread { cpu, source })?;
        Ok(Self { cpu, jobs: Some(jobs), thread: Some(thread) })
    }

    fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Seat<C>) -> T + Send + 'static,
    ) -> Option<Receiver<T>> {
        let (sender, answer) = channel();
        let job = move |seat: &mut Seat<C>| {
            // Nobody waits for the answer any more: nothing to do about it here.
            let _ = sender.send(job(seat));
        };
        self.jobs.as_ref()?.send(Box::new(job)).ok()?;
        Some(answer)
    }
}

impl<C: Counter> Drop for Worker<C> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so on stderr, and `all` has reported it.
            let _ = thread.join();
        }
    }
}
