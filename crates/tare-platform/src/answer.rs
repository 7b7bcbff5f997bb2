//! What the OS said when asked for something, in words that can be shown and recorded.

use tare_record::{Rung, RungState};

/// The OS's answer to one request. An answer is never an error: measuring goes on without, and the
/// recording says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Given. The text says what exactly.
    Granted(String),
    /// Not given. The text says why, and what a higher rung needs.
    Refused(String),
    /// This OS has no such thing. The text says what it has instead, if anything.
    Unsupported(String),
}

impl Answer {
    /// Was it given?
    #[must_use]
    pub fn is_granted(&self) -> bool {
        matches!(self, Self::Granted(_))
    }

    /// The text of the answer.
    #[must_use]
    pub fn detail(&self) -> &str {
        match self {
            Self::Granted(text) | Self::Refused(text) | Self::Unsupported(text) => text,
        }
    }

    /// The answer as it stands in a recording; `cpu` is `None` for the whole process.
    #[must_use]
    pub fn into_rung(self, name: &str, cpu: Option<u32>) -> Rung {
        let (state, detail) = match self {
            Self::Granted(text) => (RungState::Granted, text),
            Self::Refused(text) => (RungState::Refused, text),
            Self::Unsupported(text) => (RungState::Unsupported, text),
        };
        let detail = (!detail.is_empty()).then_some(detail);
        Rung { name: name.to_owned(), cpu, state, detail }
    }
}

/// Something that a measurement cannot do without, and the OS did not give.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlatformError {
    /// The OS does not tell a fact that was asked for.
    #[error("the OS does not tell {what}: {why}")]
    Untold {
        /// The fact.
        what: String,
        /// What was tried, and how it failed.
        why: String,
    },
}

impl PlatformError {
    /// The next step for whoever meets this.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Untold { .. } => Some("name the CPUs by hand, for example `--cpus 0`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_state_and_text_as_a_rung() {
        let rung = Answer::Refused("needs CAP_SYS_NICE".into()).into_rung("fifo", Some(3));
        assert_eq!(rung.state, RungState::Refused);
        assert_eq!(rung.cpu, Some(3));
        assert_eq!(rung.detail.as_deref(), Some("needs CAP_SYS_NICE"));
    }

    #[test]
    fn an_empty_text_is_null_in_the_recording() {
        assert_eq!(Answer::Granted(String::new()).into_rung("pin", None).detail, None);
    }
}
