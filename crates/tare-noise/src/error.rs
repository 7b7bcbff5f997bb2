//! Why a session could not measure, and the next step for whoever meets it.

/// Why no trace could be taken.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The OS gave no thread.
    #[error("no thread for CPU {cpu}: {source}")]
    Thread {
        /// The CPU.
        cpu: u32,
        /// What the OS said.
        source: std::io::Error,
    },
    /// The thread of a CPU ended before its time.
    #[error("the measuring thread of CPU {cpu} is gone")]
    Worker {
        /// The CPU.
        cpu: u32,
    },
    /// No memory for the buffers.
    #[error("no memory for the buffers of CPU {cpu}: {size_bytes} bytes")]
    Memory {
        /// The CPU.
        cpu: u32,
        /// What was asked for.
        size_bytes: u64,
    },
    /// No memory for a memory state.
    #[error("no memory for the memory state {name} on CPU {cpu}")]
    MemoryState {
        /// The CPU.
        cpu: u32,
        /// The state.
        name: &'static str,
    },
    /// A session of no CPUs.
    #[error("no CPU to measure on")]
    NoCpu,
    /// Another CPU of the group could not take part.
    #[error("another CPU of the group could not take part")]
    CalledOff,
    /// [`Session::calibrate`] was not called before [`Session::take`].
    #[error("nothing was calibrated before the first trace")]
    NotCalibrated,
}

impl SessionError {
    /// The next step for whoever meets this.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Memory { .. } | Self::MemoryState { .. } => {
                "ask for fewer samples, a shorter time or fewer CPUs"
            }
            Self::Thread { .. } => "see `ulimit -u` and the pids limit of the cgroup",
            Self::NoCpu => "name a CPU, for example `--cpus 0`",
            Self::Worker { .. } | Self::CalledOff | Self::NotCalibrated => {
                "run again with -v; if it happens again, it is a fault in tare: please report it"
            }
        }
    }
}
