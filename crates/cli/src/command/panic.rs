//! `crosier panic`: a bug on purpose, in debug builds only, so that tests meet the real boundary.

use clap::Args;

use super::Run;
use crate::exit::Result;

#[derive(Debug, Args)]
pub(crate) struct PanicArgs {
    /// As in `fire`
    #[arg(long)]
    exit_code: bool,
}

impl Run for PanicArgs {
    #[expect(clippy::panic, reason = "that is what it is for")]
    fn run(&self) -> Result {
        panic!("asked for, with exit_code {}", self.exit_code)
    }
}
