//! `crosier man`: the manual, generated from `--help`.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::{args, print};

/// Joins the words of a command in the name of its page.
const JOIN: &str = "-";

#[derive(Debug, Args)]
#[command(after_help = "Example:
  crosier man test | man -l -
  crosier man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command, like `test` or `audit verify`; without one, the page of crosier itself
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands to this folder, one file each
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl Run for ManArgs {
    fn run(&self) -> Result {
        let mut whole = args::public();
        whole.build();
        if let Some(folder) = &self.out {
            return write_all(&whole, folder);
        }
        let mut found = &whole;
        for word in &self.command {
            found = found.find_subcommand(word).ok_or_else(|| unknown(&self.command))?;
        }
        print::bytes(&page(found)?)?;
        Ok(Exit::Done)
    }
}

fn unknown(words: &[String]) -> Failed {
    let words = print::one_line(&words.join(" "));
    Failed::new(Exit::Usage, format!("there is no command `{words}`; `crosier --help` lists them"))
}

fn write_all(whole: &Command, folder: &Path) -> Result {
    let cannot = |path: &Path, error: std::io::Error| {
        Failed::new(Exit::Failed, format!("{} cannot be written: {error}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    let mut pages = Vec::new();
    collect(whole, &mut pages);
    for command in &pages {
        let path = folder.join(format!("{}.1", name(command)));
        std::fs::write(&path, page(command)?).map_err(|error| cannot(&path, error))?;
    }
    print::data(&format!("{} pages in {}", pages.len(), folder.display()))?;
    Ok(Exit::Done)
}

/// A command and all its subcommands, except `help`.
fn collect<'a>(command: &'a Command, pages: &mut Vec<&'a Command>) {
    pages.push(command);
    let below = command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set());
    below.for_each(|below| collect(below, pages));
}

fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).replace(' ', JOIN)
}

fn page(command: &Command) -> std::result::Result<Vec<u8>, Failed> {
    let mut page = Vec::new();
    let source = concat!("crosier ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(name(command)).source(source).manual("Crosier");
    let made = man.render(&mut page);
    made.map_err(|error| Failed::new(Exit::Failed, format!("the page cannot be made: {error}")))?;
    // The notes and examples keep their line breaks.
    let text = String::from_utf8_lossy(&page).replace(".SH VERSION", ".fi\n.SH VERSION");
    Ok(text.replace(".SH EXTRA\n", ".SH NOTES\n.nf\n").into_bytes())
}
