//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Runs Crosier inside real agents, headless, against a scripted model on loopback, and checks what the agent did and
/// what the model was told.
#[derive(Debug, Parser)]
#[command(name = "clients")]
pub(crate) struct Args {
    /// Agents by name, or `all`
    #[arg(required_unless_present = "quick")]
    pub(crate) agents: Vec<String>,
    /// Only the few runs of Claude Code, Codex and Gemini CLI that every change must pass
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only scenarios whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Where agents are installed [default: crosier-clients in the cache folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// The crosier to test [default: built by cargo from this workspace]
    #[arg(long, value_name = "FILE")]
    pub(crate) crosier: Option<PathBuf>,
    /// Record what the agents send to their hooks, one file per event, instead of checking
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Keep the home and the project of every run here, with all requests to the model
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}
