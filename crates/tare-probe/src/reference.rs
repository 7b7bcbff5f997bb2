//! Pages made from the definitions themselves: flags, recording, man pages, completions.

use crate::cli::{Cli, Page};
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory;
use clap_markdown::MarkdownOptions;

/// Print a page of docs/reference.
///
/// # Errors
/// If stdout cannot be written.
pub fn page(page: Page) -> Result<(), Failure> {
    match page {
        Page::Probe => output::answer(&flags_page()),
        Page::Recording => output::answer(&tare_record::reference_page()),
        Page::Schema => output::answer_json(&tare_record::json_schema()),
    }
}

fn flags_page() -> String {
    let options = MarkdownOptions::new()
        .title("tare-probe: verbs and flags".to_owned())
        .show_footer(false)
        .show_table_of_contents(false);
    let text = clap_markdown::help_markdown_custom::<Cli>(&options);
    let made = "<!-- made by `tare-probe reference probe`; do not edit -->\n\n";
    format!("{made}{}\n", text.trim_end())
}

/// Print completions for a shell.
///
/// # Errors
/// If stdout cannot be written.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tare-probe", &mut text);
    output::answer(&String::from_utf8_lossy(&text))
}

/// Print the man page of a verb, or of the program.
///
/// # Errors
/// Exit code 2 if there is no such verb.
pub fn man(verb: Option<&str>) -> Result<(), Failure> {
    let mut program = Cli::command();
    program.build();
    let command = match verb {
        None => program,
        Some(verb) => named(&program, verb)?,
    };
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(command).render(&mut text);
    made.map_err(|error| Failure::unable(format!("no man page: {error}"), "report this"))?;
    output::answer(&String::from_utf8_lossy(&text))
}

fn named(program: &clap::Command, verb: &str) -> Result<clap::Command, Failure> {
    let verbs: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    let found = program.find_subcommand(verb).cloned();
    let hint = || format!("there are: {}", verbs.join(", "));
    found.ok_or_else(|| Failure::wrong_use(format!("there is no verb '{verb}'"), hint()))
}
