//! Why the probe could not do what it was asked, and the exit code for it.

use std::fmt::Display;
use std::process::ExitCode;
use tare_noise::SessionError;
use tare_platform::PlatformError;
use tare_record::RecordError;

/// What went wrong, in words, with the next step.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Wrong use or bad input; nothing was written.
    Use,
    /// It could not be measured, or not wholly; what was measured is kept and named.
    Unable,
}

impl Failure {
    /// Wrong use or bad input: exit code 2.
    pub fn wrong_use(message: impl Display, hint: impl Display) -> Self {
        Self { kind: Kind::Use, message: message.to_string(), hint: Some(hint.to_string()) }
    }

    /// Could not measure, or not wholly: exit code 3.
    pub fn unable(message: impl Display, hint: impl Display) -> Self {
        Self { kind: Kind::Unable, message: message.to_string(), hint: Some(hint.to_string()) }
    }

    /// Say it on stderr.
    pub fn report(self) -> ExitCode {
        crate::output::tell(&format!("error: {}", self.message));
        if let Some(hint) = &self.hint {
            crate::output::tell(&format!("hint: {hint}"));
        }
        ExitCode::from(match self.kind {
            Kind::Use => 2,
            Kind::Unable => 3,
        })
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        let kind = match error {
            RecordError::Exists { .. } => Kind::Use,
            _ => Kind::Unable,
        };
        let hint = error.hint().map(str::to_owned);
        Self { kind, message: error.to_string(), hint }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::unable(&error, error.hint())
    }
}

impl From<PlatformError> for Failure {
    fn from(error: PlatformError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { kind: Kind::Unable, message: error.to_string(), hint }
    }
}
