//! `crosier panic`: panics on purpose, in debug builds only, so that tests can check how a bug is handled.

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
    #[expect(clippy::panic, reason = "it panics on purpose")]
    fn run(&self) -> Result {
        panic!("asked for, with exit_code {}", self.exit_code)
    }
}
