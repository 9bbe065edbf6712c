//! `crosier trust`: a person reviews what a project would run, and allows it.

mod screen;
mod watch;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use crosier_policy::Request;
use crosier_policy::trust::{self, Review, TrustState};
use serde_json::json;

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::homes::HomeArgs;
use crate::{logbook, person, print, setup, table};

#[derive(Debug, Args)]
#[command(
    after_help = "Shows every hook and every file that the project would run, and what changed since the
last time; then asks. What you trust is recorded in the state folder. When a file changes after
that, actions are denied until a person has reviewed it. The command refuses to run inside an
agent, and without a terminal it records nothing unless --yes is given.

Exit status: 0 when it is trusted, 1 when it is not, 78 when there is no crosier.yaml to trust.
With --diff, 1 also when something changed. With --digest, --list and --revoke, 0 when that worked.

Example:
  crosier trust --diff"
)]
pub(crate) struct TrustArgs {
    /// The project folder (default: the current folder)
    path: Option<PathBuf>,
    /// Trust it without asking
    #[arg(long)]
    yes: bool,
    /// Keep older versions trusted too: for people who switch branches
    #[arg(long)]
    also: bool,
    /// Only show what changed since it was trusted
    #[arg(long, conflicts_with_all = ["yes", "also"])]
    diff: bool,
    /// Only print the digest of all files, for `--trust` and CROSIER_TRUST
    #[arg(long, conflicts_with_all = ["yes", "also", "diff"])]
    digest: bool,
    /// Only list every project that is or was trusted
    #[arg(long, conflicts_with_all = ["path", "yes", "also", "diff", "digest"])]
    list: bool,
    /// Forget that it was trusted
    #[arg(long, conflicts_with_all = ["yes", "also", "diff", "digest", "list"])]
    revoke: bool,
    /// Keep running, show each change, and trust it with one key: for people who work on hooks
    #[arg(long, conflicts_with_all = ["yes", "diff", "digest", "list", "revoke"])]
    watch: bool,
    /// Print JSON (only with --list)
    #[arg(long, requires = "list")]
    json: bool,
    #[command(flatten)]
    homes: HomeArgs,
}

impl Run for TrustArgs {
    fn run(&self) -> Result {
        let mut request = setup::request(&[], self.homes.find());
        if let Some(path) = &self.path {
            request.project = std::path::absolute(path)
                .map_err(|error| Failed::new(Exit::Usage, format!("{}: {error}", path.display())))?;
            // The path can also be a configuration file.
            if request.project.is_file() {
                request.project.pop();
            }
        }
        if self.list {
            return self.list(&request);
        }
        if self.digest {
            print::data(&review(&request)?.digest())?;
            return Ok(Exit::Done);
        }
        if self.diff {
            return diff(&request);
        }
        person::require("trust")?;
        if self.revoke {
            return revoke(&request);
        }
        if self.watch {
            return watch::watch(&request, self.also);
        }
        self.trust(&request)
    }
}

impl TrustArgs {
    fn trust(&self, request: &Request) -> Result {
        let review = review(request)?;
        print::data(&screen::all(&review))?;
        if review.is_trusted() {
            print::data("It is already trusted.")?;
            return Ok(Exit::Done);
        }
        if !self.yes {
            if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
                let message = "nothing was recorded: there is no terminal to ask on; look at it, then run \
                               `crosier trust --yes`";
                return Err(Failed::new(Exit::Failed, message));
            }
            if !asked()? {
                print::data("Nothing was recorded.")?;
                return Ok(Exit::Failed);
            }
        }
        record(request, &review, self.also)?;
        Ok(Exit::Done)
    }

    fn list(&self, request: &Request) -> Result {
        let listed = trust::list(request).map_err(|why| Failed::new(Exit::Failed, why))?;
        if self.json {
            let rows: Vec<_> = listed
                .iter()
                .map(|one| {
                    json!({
                        "folder": one.folder.display().to_string(),
                        "trusted_at": one.at,
                        "state": screen::word(&one.trust_state),
                        "why": match &one.trust_state { TrustState::Closed(why) => Some(why), _ => None },
                    })
                })
                .collect();
            print::json(&format!("{:#}", json!(rows)))?;
            return Ok(Exit::Done);
        }
        if listed.is_empty() {
            print::data("no project is trusted; `crosier trust` in a project shows what it would run")?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(["PROJECT", "TRUSTED", "STATE"]);
        for one in &listed {
            let state = match &one.trust_state {
                TrustState::Closed(why) => format!("closed: {}", print::one_line(why)),
                other => screen::word(other).to_owned(),
            };
            let folder = print::one_line(&one.folder.display().to_string());
            drawn.add_row([folder, one.at.map_or_else(|| "-".to_owned(), screen::day), state]);
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
}

fn review(request: &Request) -> std::result::Result<Review, Failed> {
    trust::review(request).map_err(|why| Failed::new(Exit::BadConfig, print::plain(&why)))
}

/// Writes the record, and reports it.
fn record(request: &Request, review: &Review, keep_older: bool) -> std::result::Result<(), Failed> {
    review.trust(keep_older).map_err(|why| Failed::new(Exit::Failed, print::plain(&why)))?;
    let folders = review.folders.iter().map(|one| print::one_line(&one.folder.display().to_string()));
    let folders = folders.collect::<Vec<_>>().join(", ");
    note(request, &format!("trusted {folders}, {}", review.digest()));
    print::data(&format!("Trusted: {folders}"))
}

/// Logs what a person did.
fn note(request: &Request, did: &str) {
    if let Some(state) = &request.homes.state {
        logbook::command(state, "trust", did);
    }
}

fn diff(request: &Request) -> Result {
    let review = match trust::review(request) {
        Ok(review) => review,
        // A file that has become unreadable is also a change.
        Err(why) => {
            let trust_states = trust::trust_states(request).unwrap_or_default();
            let closed = trust_states.iter().filter_map(|(_, trust_state)| match trust_state {
                TrustState::Closed(why) => Some(print::plain(why)),
                _ => None,
            });
            let closed: Vec<String> = closed.collect();
            let text = if closed.is_empty() { print::plain(&why) } else { closed.join("\n") };
            return Err(Failed::new(Exit::Failed, text));
        }
    };
    print::data(&screen::changes_only(&review))?;
    Ok(if review.is_trusted() { Exit::Done } else { Exit::Failed })
}

fn revoke(request: &Request) -> Result {
    let was = trust::revoke(request).map_err(|why| Failed::new(Exit::Failed, print::plain(&why)))?;
    let folder = print::one_line(&request.project.display().to_string());
    if !was {
        return Err(Failed::new(
            Exit::Failed,
            format!("{folder} was never trusted; `crosier trust --list` shows what is"),
        ));
    }
    note(request, &format!("revoked the trust in {folder}"));
    print::data(&format!("{folder} is no longer trusted: its hooks do not run"))?;
    Ok(Exit::Done)
}

/// Whether the person says yes.
fn asked() -> std::result::Result<bool, Failed> {
    let mut answer = String::new();
    let asked = write!(io::stdout(), "Trust this? [y/N] ").and_then(|()| io::stdout().flush());
    asked
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|error| Failed::new(Exit::Failed, format!("the answer could not be read: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
