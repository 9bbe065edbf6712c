//! The three questions of `init`: answered with arrow keys, with a good default.

use std::io::IsTerminal;

use crosier::config::Pack;
use crosier_install::Row;
use crosier_install::project::Mode;
use inquire::error::InquireError;
use inquire::list_option::ListOption;
use inquire::{MultiSelect, Select};

use crate::exit::{Exit, Failed};
use crate::text::cut;
use crate::{environment, setup};

/// Fails if there is no terminal.
pub(super) fn terminal() -> Result<(), Failed> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failed::new(Exit::Usage, "there is no terminal to ask in: use `crosier init --yes`"))
}

fn stopped(error: InquireError) -> Failed {
    match error {
        InquireError::OperationInterrupted => Failed::new(Exit::Signal(2), "nothing was changed"),
        InquireError::OperationCanceled => Failed::new(Exit::Failed, "nothing was changed"),
        other => Failed::new(Exit::Failed, format!("the question could not be asked: {other}")),
    }
}

/// The help line, the most important keys first.
const HELP: &str = "↑↓ move, Enter accepts, Esc changes nothing";
const HELP_FOR_MANY: &str = "Space on or off, Enter accepts, Esc changes nothing, ↑↓ move";

/// Shortens a text to one row of the terminal: the mark before it and the brackets around it take four columns.
fn on_one_line(text: &str) -> String {
    cut(text, environment::columns().unwrap_or(80).saturating_sub(4))
}

/// Asks what to guard.
pub(super) fn pack(usual: &str) -> Result<String, Failed> {
    let loader = setup::loader();
    let packs = loader.packs();
    let short = |pack: &Pack| pack.name.strip_prefix("crosier:").unwrap_or(pack.name).to_owned();
    let lines: Vec<String> =
        packs.iter().map(|pack| on_one_line(&format!("{}: {}", short(pack), pack.about))).collect();
    let start = packs.iter().position(|pack| pack.name == usual).unwrap_or_default();
    // The answer stays on the screen: the name of the pack is enough.
    let answer = |option: ListOption<&String>| packs.get(option.index).map(short).unwrap_or_default();
    let chosen = Select::new("What should be guarded?", lines)
        .with_starting_cursor(start)
        .with_formatter(&answer)
        .with_help_message(&on_one_line(HELP))
        .raw_prompt();
    let at = chosen.map_err(stopped)?.index;
    Ok(packs.get(at).map_or_else(|| usual.to_owned(), |pack| pack.name.to_owned()))
}

/// Asks in which agents.
pub(super) fn agents(found: &[&'static Row]) -> Result<Vec<&'static Row>, Failed> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let titles: Vec<&str> = found.iter().map(|row| row.title()).collect();
    let all: Vec<usize> = (0..found.len()).collect();
    let chosen = MultiSelect::new("In which agents?", titles)
        .with_default(&all)
        .with_help_message(&on_one_line(HELP_FOR_MANY))
        .raw_prompt();
    let chosen: Vec<ListOption<&str>> = chosen.map_err(stopped)?;
    Ok(chosen.iter().filter_map(|one| found.get(one.index).copied()).collect())
}

/// Asks whether denials are carried out.
pub(super) fn mode() -> Result<Mode, Failed> {
    let lines = ["enforce: it does not run", "warn: it runs, and you are told that it would be denied"];
    let answer = |option: ListOption<&String>| {
        if option.index == 0 { "enforce".to_owned() } else { "warn".to_owned() }
    };
    let chosen = Select::new("What happens to a denied action?", lines.map(on_one_line).to_vec())
        .with_formatter(&answer)
        .with_help_message(&on_one_line(HELP))
        .raw_prompt()
        .map_err(stopped)?;
    Ok(if chosen.index == 0 { Mode::Enforce } else { Mode::Warn })
}
