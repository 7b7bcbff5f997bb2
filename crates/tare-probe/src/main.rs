//! tare-probe: measures on a bare target, writes a recording, says briefly what it saw.
//!
//! Place on the way of the data: this binary *is* measure. It needs nothing but itself; everything
//! else reads what it wrote. The only crate that prints or exits.

mod cli;
mod clock;
mod failure;
mod host;
mod leftovers;
mod noise;
mod output;
mod parse;
mod progress;
mod reference;
mod stop;
mod words;

use clap::Parser;
use cli::{Cli, Verb};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::wrong_use(&error),
    };
    let platform = tare_platform::native();
    let done = match cli.verb {
        Verb::Noise(flags) => noise::run(&flags, platform),
        Verb::Clock(flags) => clock::run(&flags, platform),
        Verb::Host(flags) => host::run(&flags, platform),
        Verb::Reference(flags) => reference::page(flags.page),
        Verb::Completions(flags) => reference::completions(flags.shell),
        Verb::Man(flags) => reference::man(flags.verb.as_deref()),
    };
    done.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}
