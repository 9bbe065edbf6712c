//! `crosier completions`: a completion script for a shell.

use clap::Args;
use clap_complete::Shell;

use super::Run;
use crate::exit::{Exit, Result};
use crate::{args, print};

#[derive(Debug, Args)]
#[command(after_help = "Example:
  crosier completions bash > ~/.local/share/bash-completion/completions/crosier")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl Run for CompletionsArgs {
    fn run(&self) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut args::public(), "crosier", &mut script);
        print::data(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
