//! How far a measurement is, on stderr. Drawn when a trace has ended and at no other time: a bar
//! that redraws itself would be the noise that is measured.

use crate::cli::ProgressStyle;
use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use serde::Serialize;
use std::io::IsTerminal;

/// Shows progress in one of three ways.
pub struct Progress {
    way: Way,
    total_ns: u64,
    done_ns: u64,
}

enum Way {
    Bar(ProgressBar),
    Json,
    Nothing,
}

#[derive(Serialize)]
struct Line<'a> {
    done_ns: u64,
    total_ns: u64,
    what: &'a str,
}

impl Progress {
    /// Begin. `total_ns` is the time that will be measured.
    pub fn new(style: Option<ProgressStyle>, quiet: bool, total_ns: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let way = match style {
            Some(ProgressStyle::Json) => Way::Json,
            Some(ProgressStyle::Bar) if !quiet => Way::bar(total_ns),
            None if !quiet && terminal => Way::bar(total_ns),
            _ => Way::Nothing,
        };
        Self { way, total_ns, done_ns: 0 }
    }

    /// `what` begins.
    pub fn begin(&self, what: &str) {
        match &self.way {
            Way::Bar(bar) => {
                bar.set_message(what.to_owned());
                bar.tick();
            }
            Way::Json => self.line(what),
            Way::Nothing => {}
        }
    }

    /// `what` is done, and took `ns` of the total.
    pub fn done(&mut self, what: &str, ns: u64) {
        self.done_ns = self.done_ns.saturating_add(ns).min(self.total_ns);
        match &self.way {
            Way::Bar(bar) => bar.set_position(self.done_ns / 1_000_000),
            Way::Json => self.line(what),
            Way::Nothing => {}
        }
    }

    fn line(&self, what: &str) {
        let line = Line { done_ns: self.done_ns, total_ns: self.total_ns, what };
        // Numbers and a text: always JSON.
        output::tell(&serde_json::to_string(&line).unwrap_or_default());
    }
}

impl Way {
    fn bar(total_ns: u64) -> Self {
        let bar =
            ProgressBar::with_draw_target(Some(total_ns / 1_000_000), ProgressDrawTarget::stderr());
        let style = BarStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {msg}");
        Self::Bar(bar.with_style(style.unwrap_or_else(|_| BarStyle::default_bar())))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Way::Bar(bar) = &self.way {
            bar.finish_and_clear();
        }
    }
}
