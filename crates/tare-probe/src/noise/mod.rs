//! `tare-probe noise`: from flags to a recording.
//!
//! [`request`] judges the flags, [`plan`] cuts them into windows, [`measuring`] takes the traces,
//! [`recorder`] writes them, [`manifest`] says under which conditions, [`summary`] what was seen.

mod holes;
mod manifest;
mod measuring;
mod plan;
mod recorder;
pub mod request;
mod summary;
mod tally;

use crate::cli::NoiseFlags;
use crate::failure::Failure;
use crate::{leftovers, output, stop, words};
pub use manifest::REFERENCE;
pub use measuring::LEAST_DETOUR_NS;
use measuring::Measuring;
use request::Request;
use tare_platform::Platform;
use tare_record::Status;

/// Measure, write the recording, print the summary.
///
/// # Errors
/// Exit code 2 for flags that make no sense here; 3 if it could not be measured or written, or was
/// interrupted.
pub fn run(flags: &NoiseFlags, platform: &'static dyn Platform) -> Result<(), Failure> {
    let request = Request::new(flags, platform)?;
    leftovers::clean(request.parent(), flags.quiet);
    let stop = stop::on_signal();
    let host = platform.host();
    let choice = tare_clock::choose(request::os_trusts_tsc(&host));
    let source = choice.source;
    let measuring = Measuring { flags, request, platform, host, choice, stop };
    let summary = tare_clock::visit(source, measuring)?;
    if flags.json {
        output::answer_json(&summary)?;
    } else {
        output::answer(&summary.text())?;
    }
    match summary.status {
        Status::Complete => Ok(()),
        Status::Interrupted => Err(Failure::unable(
            format!(
                "interrupted; {} of {} kept in {}",
                words::count(summary.traces, "trace"),
                summary.traces_planned,
                summary.recording
            ),
            "the recording is whole as far as it goes; its status says interrupted",
        )),
    }
}
