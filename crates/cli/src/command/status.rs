//! `crosier status`: which agents call Crosier, what is in force here, and what was decided today.

use clap::Args;
use crosier::Layer;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier_install::installed::{self, Installed};
use crosier_install::{Row, Scope, table as agents};
use crosier_log::{Filter, Log, Record, RecordKind};
use crosier_policy::Policy;
use crosier_policy::trust::{self, TrustState};

use super::serve::Daemon;
use super::{Run, doctor_entry};
use crate::exit::{Exit, Failed, Result};
use crate::homes::HomeArgs;
use crate::install_context::InstallContext;
use crate::setup::count;
use crate::{print, setup, table};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0; 1 while the policy here cannot be relied on (every action is denied).

Example:
  crosier status --json"
)]
pub(crate) struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    homes: HomeArgs,
}

impl Run for StatusArgs {
    fn run(&self) -> Result {
        let install_context = InstallContext::find(self.homes.find())?;
        let agents = examine(&install_context);
        let project = ProjectStatus::find(&install_context);
        let daemon = Daemon::find(&install_context.homes);
        let log = LogStatus::find(&install_context);
        if self.json {
            let agents: Vec<Value> = agents.iter().map(AgentStatus::as_json).collect();
            let all = json!({
                "agents": agents, "project": project.as_json(), "daemon": daemon.to_json(), "log": log.as_json(),
            });
            print::json(&format!("{all:#}"))?;
        } else {
            show_agents(&agents, &install_context)?;
            let daemon = format!("daemon: {}\n", daemon.words());
            let lines = format!("{}{daemon}{}", project.lines(&install_context), log.lines());
            print::data(&format!("\n{}", table::fit(&lines)))?;
        }
        Ok(if project.closed.is_some() { Exit::Failed } else { Exit::Done })
    }
}

/// One agent that is on the machine or has entries that call Crosier.
#[derive(Debug)]
pub(crate) struct AgentStatus {
    pub(crate) row: &'static Row,
    is_found: bool,
    pub(crate) installed: std::result::Result<Vec<Installed>, String>,
}

/// Every agent that is on the machine or has entries that call Crosier.
pub(crate) fn examine(install_context: &InstallContext) -> Vec<AgentStatus> {
    let all = agents::ALL.iter().map(|row| AgentStatus {
        row,
        is_found: row.detect(&install_context.places).is_some(),
        installed: installed::find_installed(row, &install_context.request(Scope::User, false))
            .map_err(|refused| refused.to_string()),
    });
    all.filter(|agent| agent.is_found || agent.installed.as_ref().is_ok_and(|all| !all.is_empty())).collect()
}

impl AgentStatus {
    /// The state in a word, and why.
    pub(crate) fn state(&self) -> (&'static str, String) {
        let installed = match &self.installed {
            Err(why) => return ("unreadable", why.clone()),
            Ok(installed) => installed,
        };
        let obstacles: Vec<&str> =
            installed.iter().flat_map(|one| &one.obstacles).map(String::as_str).collect();
        let outdated: Vec<&str> = installed.iter().filter_map(|one| one.outdated.as_deref()).collect();
        let untrusted = obstacles.iter().any(|why| why.contains("trusted"));
        match (installed.is_empty(), obstacles.as_slice(), outdated.as_slice()) {
            (true, ..) => ("not installed", format!("run: crosier install {}", self.row.agent)),
            (_, [why, ..], _) if untrusted => ("untrusted", (*why).to_owned()),
            (_, [why, ..], _) => ("disabled", (*why).to_owned()),
            (_, [], [why, ..]) => ("outdated", format!("{why}; run: crosier install {}", self.row.agent)),
            (_, [], []) => ("current", String::new()),
        }
    }

    fn as_json(&self) -> Value {
        let (state, why) = self.state();
        let one = |one: &Installed| {
            let events: Vec<Value> =
                one.commands.iter().map(|command| Value::from(command.event.as_str())).collect();
            let obstacles: Vec<Value> = one.obstacles.iter().map(|why| Value::from(why.as_str())).collect();
            json!({
                "scope": if one.scope == Scope::User { "user" } else { "project" },
                "path": one.path.display().to_string(),
                "outdated": one.outdated.clone(),
                "obstacles": obstacles,
                "events": events,
            })
        };
        let installed: Vec<Value> =
            self.installed.as_ref().map(|all| all.iter().map(one).collect()).unwrap_or_default();
        json!({
            "agent": self.row.agent,
            "title": self.row.title(),
            "found": self.is_found,
            "state": state,
            "why": Some(why).filter(|why| !why.is_empty()),
            "installed": installed,
        })
    }
}

fn show_agents(agents: &[AgentStatus], install_context: &InstallContext) -> std::result::Result<(), Failed> {
    if agents.is_empty() {
        return print::data(
            "no agent was found on this machine; `crosier install AGENT` installs for one by its name",
        );
    }
    let mut drawn = table::table(["AGENT", "STATE", "FILE"]);
    let mut notes = String::new();
    for agent in agents {
        let (state, why) = agent.state();
        let paths = agent.installed.iter().flatten().map(|one| install_context.shown(&one.path));
        drawn.add_row([agent.row.title().to_owned(), state.to_owned(), paths.collect::<Vec<_>>().join(", ")]);
        if !why.is_empty() {
            notes += &format!("{}: {}\n", agent.row.title(), print::one_line(&why));
        }
    }
    table::print(&drawn)?;
    if notes.is_empty() { Ok(()) } else { print::data(&format!("\n{}", table::fit(&notes))) }
}

/// What is in force in the current folder.
#[derive(Debug, Default)]
struct ProjectStatus {
    folder: String,
    files: Vec<(String, String)>,
    packs: Vec<String>,
    hooks: usize,
    /// Hooks that `crosier disable` switched off.
    switched_off: Vec<String>,
    notices: Vec<String>,
    closed: Option<String>,
    /// Folders with a configuration, and their trust state.
    trust: Vec<(String, &'static str)>,
}

impl ProjectStatus {
    fn find(install_context: &InstallContext) -> Self {
        let request = setup::request(&[], install_context.homes.clone());
        let mut status =
            Self { folder: install_context.places.project.display().to_string(), ..Self::default() };
        for (folder, trust_state) in trust::trust_states(&request).unwrap_or_default() {
            status.trust.push((folder.display().to_string(), word(&trust_state)));
            // `trust_states` compares virtual environments too; hooks compare them only right before they run.
            if let TrustState::Closed(why) = trust_state {
                status.closed.get_or_insert(why);
            }
        }
        match crosier_policy::in_force(&request) {
            Policy::Closed(closed) => status.closed = Some(closed.why),
            Policy::None(notices) => {
                status.notices = notices.into_iter().map(|notice| notice.text).collect();
            }
            Policy::Loaded(loaded) => {
                status.notices = loaded.notices.iter().map(|notice| notice.text.clone()).collect();
                status.switched_off.clone_from(&loaded.disabled_by_person);
                for (layer, config) in loaded.layers.iter().filter(|(layer, _)| *layer != Layer::Host) {
                    status.hooks += config.declared.len();
                    status.packs.extend(config.packs.iter().map(|pack| pack.to_string()));
                    let mut names: Vec<&str> =
                        config.declared.iter().map(|hook| hook.source.name.as_str()).collect();
                    names.dedup();
                    let files = loaded.files.iter().map(|file| file.display().to_string());
                    let files = files.filter(|file| names.contains(&file.as_str()));
                    status.files.extend(files.map(|file| (layer.to_string(), file)));
                }
                let listed: Vec<String> = status.files.iter().map(|(_, file)| file.clone()).collect();
                let rest = loaded.files.iter().map(|file| file.display().to_string());
                let rest = rest.filter(|file| !listed.contains(file));
                status.files.extend(rest.map(|file| (String::new(), file)));
            }
            _ => {}
        }
        status
    }

    fn lines(&self, install_context: &InstallContext) -> String {
        let mut text = String::new();
        if let Some(why) = &self.closed {
            text += &format!("closed: actions are denied here: {}\n", print::one_line(why));
        } else if self.files.is_empty() {
            text += match self.trust.is_empty() {
                true => "policy: none is in force here; `crosier init` writes one\n",
                false => "policy: none is in force here\n",
            };
        } else {
            let files: Vec<String> = self
                .files
                .iter()
                .map(|(_, file)| install_context.shown(std::path::Path::new(file)))
                .collect();
            text += &format!("policy: {} from {}\n", count(self.hooks, "hook"), files.join(", "));
            if !self.switched_off.is_empty() {
                let names = print::one_line(&self.switched_off.join(", "));
                text += &format!("switched off with `crosier disable`: {names}\n");
            }
        }
        for (folder, state) in &self.trust {
            let remedy = if *state == NOT_TRUSTED { "; to use its hooks: crosier trust" } else { "" };
            let folder = install_context.shown(std::path::Path::new(folder));
            text += &format!("trust: {folder} is {state}{remedy}\n");
        }
        if !self.packs.is_empty() {
            text += &format!("packs: {}\n", self.packs.join(", "));
        }
        for notice in &self.notices {
            text += &format!("note: {}\n", print::one_line(notice));
        }
        text
    }

    fn as_json(&self) -> Value {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|(layer, path)| json!({"layer": Some(layer.clone()).filter(|layer| !layer.is_empty()), "path": path.clone()}))
            .collect();
        let texts = |texts: &[String]| -> Vec<Value> {
            texts.iter().map(|text| Value::from(text.as_str())).collect()
        };
        let trust: Vec<Value> = self
            .trust
            .iter()
            .map(|(folder, state)| json!({"folder": folder.clone(), "state": *state}))
            .collect();
        let state = match (&self.closed, self.files.is_empty()) {
            (Some(_), _) => "closed",
            (None, true) => "none",
            (None, false) => "in force",
        };
        json!({
            "folder": self.folder.clone(),
            "state": state,
            "why": self.closed.clone(),
            "hooks": self.hooks,
            "switched_off": texts(&self.switched_off),
            "files": files,
            "trust": trust,
            "packs": texts(&self.packs),
            "notices": texts(&self.notices),
        })
    }
}

const NOT_TRUSTED: &str = "not trusted";

fn word(trust_state: &TrustState) -> &'static str {
    match trust_state {
        TrustState::Trusted => "trusted",
        TrustState::Never => NOT_TRUSTED,
        _ => "closed",
    }
}

/// What the log has about today.
#[derive(Debug, Default)]
struct LogStatus {
    last: Option<Record>,
    denied_today: usize,
    events_today: usize,
}

impl LogStatus {
    fn find(install_context: &InstallContext) -> Self {
        let Some(state) = &install_context.homes.state else { return Self::default() };
        let log = Log::in_folder(state);
        let now = jiff::Zoned::now();
        let mut status = Self::default();
        let is_event = |record: &Record| {
            record.kind != RecordKind::Command && record.session.as_deref() != Some(doctor_entry::SESSION)
        };
        let mut today = Filter::default();
        today.since = now.start_of_day().ok().map(|day| day.timestamp());
        let mut denied = today.clone();
        denied.denied = true;
        // What could be read before an error counts.
        let _ = log.each(|record| {
            if is_event(&record) {
                status.events_today += usize::from(today.matches(&record));
                status.denied_today += usize::from(denied.matches(&record));
                status.last = Some(record);
            }
        });
        status
    }

    fn lines(&self) -> String {
        match &self.last {
            None => "log: no event of an agent yet\n".to_owned(),
            Some(last) => {
                let event = match last.event.as_str() {
                    "" => String::new(),
                    event => format!("{}, ", print::one_line(event)),
                };
                format!(
                    "log: last event: {}, {event}{}; today {}, {} denied\n",
                    print::one_line(&last.agent),
                    last.time,
                    count(self.events_today, "event"),
                    self.denied_today
                )
            }
        }
    }

    fn as_json(&self) -> Value {
        let last = self.last.as_ref().map(|last| {
            json!({"time": last.time.to_string(), "agent": last.agent.clone(), "event": last.event.clone()})
        });
        json!({"last": last, "events_today": self.events_today, "denied_today": self.denied_today})
    }
}
