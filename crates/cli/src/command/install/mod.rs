//! `crosier install` and `crosier uninstall`: the entries that call Crosier, in the configuration of agents.

mod report;

use clap::Args;
use crosier_install::project::Mode;
use crosier_install::{Lock, Plan, Refused, Row, Scope};

use super::Run;
use crate::command::init;
use crate::exit::{Exit, Failed, Result};
use crate::homes::HomeArgs;
use crate::install_context::{self, InstallContext};
use crate::person;

pub(crate) use report::{Done, did, print_all};

#[derive(Debug, Args)]
#[command(
    after_help = "Without names, every agent that is found is installed: its program is on PATH, or its folder
exists. Other content of the files is not changed; `crosier uninstall` restores them.

Exit status: 0 done, 1 when a file could not be edited or when run inside an agent.

Example:
  crosier install claude codex --dry-run"
)]
pub(crate) struct InstallArgs {
    /// Agents: claude, codex, gemini, … (default: all that are found)
    agents: Vec<String>,
    /// In your own settings, for every project (default)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// In the settings of this project (the uncommitted ones, if the agent has such a file)
    #[arg(long)]
    project: bool,
    /// Show what would change, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Also set in your own crosier.yaml whether denials are enforced or only reported
    #[arg(long, value_name = "enforce|warn", value_parser = mode)]
    mode: Option<Mode>,
    /// Tell Codex that you trust these entries; Codex runs only trusted ones
    #[arg(long)]
    trust: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    homes: HomeArgs,
}

/// Reads a mode.
pub(crate) fn mode(text: &str) -> std::result::Result<Mode, String> {
    match text {
        "enforce" => Ok(Mode::Enforce),
        "warn" => Ok(Mode::Warn),
        _ => Err("it must be `enforce` or `warn`".to_owned()),
    }
}

impl Run for InstallArgs {
    fn run(&self) -> Result {
        if !self.dry_run {
            person::require("install")?;
        }
        let install_context = InstallContext::find(self.homes.find())?;
        let rows = chosen(&self.agents, &install_context)?;
        if let Some(mode) = self.mode.filter(|_| !self.dry_run) {
            init::set_mode(&install_context, mode)?;
        }
        let scope = if self.project { Scope::Project } else { Scope::User };
        let done: Vec<Done> = rows
            .into_iter()
            .map(|row| install(row, &install_context, scope, (self.trust, self.dry_run)))
            .collect();
        print_all(&done, &install_context, self.json)?;
        Ok(if done.iter().any(|done| done.refused.is_some()) { Exit::Failed } else { Exit::Done })
    }
}

/// The agents that were named, or else those that are found.
fn chosen(
    names: &[String],
    install_context: &InstallContext,
) -> std::result::Result<Vec<&'static Row>, Failed> {
    if !names.is_empty() {
        return install_context::rows(names);
    }
    let found = found(install_context);
    match found.as_slice() {
        [] => Err(Failed::new(
            Exit::Failed,
            "no agent was found on this machine; name one: `crosier install claude`",
        )),
        _ => Ok(found),
    }
}

/// The agents on this machine.
pub(crate) fn found(install_context: &InstallContext) -> Vec<&'static Row> {
    let all = crosier_install::table::ALL.iter();
    all.filter(|row| row.detect(&install_context.places).is_some()).collect()
}

/// Installs for one agent; `flags` are whether Codex should trust it, and whether it is a dry run.
pub(crate) fn install(
    row: &'static Row,
    install_context: &InstallContext,
    scope: Scope,
    (trust, dry_run): (bool, bool),
) -> Done {
    let written = locked(install_context, dry_run).and_then(|_lock| {
        let plan = row.install_plan(&install_context.request(scope, trust))?;
        if !dry_run && !plan.is_empty() {
            let _hold = install_context::hold_signals();
            install_context.store.install(row.agent, &plan)?;
            install_context.did("install", &did(row, &plan));
        }
        Ok(plan)
    });
    let mut done = Done::new(row, written, if dry_run { "would change" } else { "installed" });
    if done.refused.is_none() {
        done.next = next(row, install_context, scope, dry_run);
        if !row.follow_up.is_empty() && !done.plan.is_empty() {
            done.next.push(row.follow_up.to_owned());
        }
    }
    done
}

/// Locks out other installers from the plan until it is applied; a dry run does not wait.
fn locked(install_context: &InstallContext, dry_run: bool) -> std::result::Result<Option<Lock>, Refused> {
    if dry_run { Ok(None) } else { install_context.store.lock().map(Some) }
}

/// What the person has to do or should know.
fn next(row: &Row, install_context: &InstallContext, scope: Scope, dry_run: bool) -> Vec<String> {
    let mut next = if dry_run { Vec::new() } else { row.obstacles(&install_context.places, scope) };
    if scope == Scope::Project && !row.project_is_local {
        next.push(format!(
            "{} has no uncommitted settings for a project: this file contains paths of your machine",
            row.title()
        ));
    }
    if !row.is_verified() {
        next.push(format!(
            "written from the documentation of {} and not tested with it: check that it works",
            row.title()
        ));
    }
    next
}

#[derive(Debug, Args)]
#[command(
    after_help = "A file that was not edited after the installation gets its previous content back. From an edited
file, only Crosier's entries are removed.

Example:
  crosier uninstall claude"
)]
pub(crate) struct UninstallArgs {
    /// Agents (default: all that were installed)
    agents: Vec<String>,
    /// Show what would change, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    homes: HomeArgs,
}

impl Run for UninstallArgs {
    fn run(&self) -> Result {
        if !self.dry_run {
            person::require("uninstall")?;
        }
        let install_context = InstallContext::find(self.homes.find())?;
        let all = self.agents.is_empty();
        let rows = if all {
            crosier_install::table::ALL.iter().collect()
        } else {
            install_context::rows(&self.agents)?
        };
        let mut done: Vec<Done> =
            rows.into_iter().map(|row| uninstall(row, &install_context, self.dry_run)).collect();
        if all {
            done.retain(|done| done.refused.is_some() || !done.plan.is_empty());
        }
        if done.is_empty() && !self.json {
            crate::print::data("nothing was installed")?;
            return Ok(Exit::Done);
        }
        print_all(&done, &install_context, self.json)?;
        Ok(if done.iter().any(|done| done.refused.is_some()) { Exit::Failed } else { Exit::Done })
    }
}

fn uninstall(row: &'static Row, install_context: &InstallContext, dry_run: bool) -> Done {
    let known = install_context.store.has_record_of(row.agent);
    let written = locked(install_context, dry_run).and_then(|_lock| {
        let plan: Plan = install_context.store.uninstall_plan(row, &install_context.places)?;
        if !dry_run && (known || !plan.is_empty()) {
            let _hold = install_context::hold_signals();
            install_context.store.uninstall(row.agent, &plan)?;
            install_context.did("uninstall", &did(row, &plan));
        }
        Ok(plan)
    });
    Done::new(row, written, if dry_run { "would change" } else { "uninstalled" })
}
