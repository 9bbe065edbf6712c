//! The three questions of `init`: arrow keys, and a good answer is chosen already.

use std::io::IsTerminal;

use crosier_install::Row;
use crosier_install::project::Mode;
use inquire::error::InquireError;
use inquire::list_option::ListOption;
use inquire::{MultiSelect, Select};

use crate::exit::{Exit, Failed};
use crate::setup;

/// Refuses to ask where nobody can answer.
pub(super) fn terminal() -> Result<(), Failed> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failed::new(Exit::Usage, "there is no terminal to ask in: use `crosier init --yes`"))
}

fn stopped(error: InquireError) -> Failed {
    match error {
        InquireError::OperationInterrupted => Failed::new(Exit::Signal(2), ""),
        InquireError::OperationCanceled => Failed::new(Exit::Failed, "nothing was changed"),
        other => Failed::new(Exit::Failed, format!("the question could not be asked: {other}")),
    }
}

/// What to guard.
pub(super) fn pack(usual: &str) -> Result<String, Failed> {
    let loader = setup::loader();
    let packs = loader.packs();
    let lines: Vec<String> = packs.iter().map(|pack| format!("{}: {}", pack.name, pack.about)).collect();
    let start = packs.iter().position(|pack| pack.name == usual).unwrap_or_default();
    let chosen = Select::new("What should be guarded?", lines).with_starting_cursor(start).raw_prompt();
    let at = chosen.map_err(stopped)?.index;
    Ok(packs.get(at).map_or_else(|| usual.to_owned(), |pack| pack.name.to_owned()))
}

/// In which agents.
pub(super) fn agents(found: &[&'static Row]) -> Result<Vec<&'static Row>, Failed> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let titles: Vec<&str> = found.iter().map(|row| row.title()).collect();
    let all: Vec<usize> = (0..found.len()).collect();
    let chosen = MultiSelect::new("In which agents?", titles).with_default(&all).raw_prompt();
    let chosen: Vec<ListOption<&str>> = chosen.map_err(stopped)?;
    Ok(chosen.iter().filter_map(|one| found.get(one.index).copied()).collect())
}

/// Whether denials are carried out.
pub(super) fn mode() -> Result<Mode, Failed> {
    let lines =
        vec!["enforce: it does not run", "warn: it runs, and you are told that it would have been denied"];
    let chosen =
        Select::new("What should happen to a denied action?", lines).raw_prompt().map_err(stopped)?;
    Ok(if chosen.index == 0 { Mode::Enforce } else { Mode::Warn })
}
