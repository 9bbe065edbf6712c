//! What is installed: which files call Crosier, whether they are up to date, and what they run.

use std::path::PathBuf;

use serde_json::Value;

use crate::json::Document;
use crate::line;
use crate::places::Places;
use crate::plan::{Refused, Request, Scope, content, is_ours_whole, text};
use crate::table::{Form, Row};
use crate::toml;

/// One file that calls Crosier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The file, or the folder of programs.
    pub path: PathBuf,
    /// Whether it is the user's or a project's.
    pub scope: Scope,
    /// What it runs, per event of the agent; the event is empty if the command serves all events.
    pub commands: Vec<InstalledCommand>,
    /// How it differs from what would be installed now, if it does.
    pub outdated: Option<String>,
    /// Why the agent would not call it.
    pub obstacles: Vec<String>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledCommand {
    /// The event, as the agent calls it.
    pub event: String,
    /// What the agent runs: a program and its arguments.
    pub argv: Vec<String>,
    /// The word among them that is Crosier's program.
    pub program: String,
}

/// What is installed for an agent.
///
/// # Errors
/// When a file of the agent cannot be read; the others may be fine.
pub fn find_installed(row: &Row, request: &Request<'_>) -> Result<Vec<Installed>, Refused> {
    let mut all = Vec::new();
    for scope in [Scope::User, Scope::Project] {
        let Ok(path) = row.path(request.places, scope) else { continue };
        let commands = commands(row, request.places, scope)?;
        if commands.is_empty() {
            continue;
        }
        let asked = Request { scope, trust: false, ..*request };
        let outdated = outdated(row, &asked, &commands);
        let obstacles = row.obstacles(request.places, scope);
        all.push(Installed { path, scope, commands, outdated, obstacles });
    }
    Ok(all)
}

/// How the commands differ from those that would be installed now.
fn outdated(row: &Row, request: &Request<'_>, commands: &[InstalledCommand]) -> Option<String> {
    match row.install_plan(request) {
        Err(refused) => Some(refused.to_string()),
        Ok(plan) if plan.is_empty() => None,
        Ok(_) => {
            let program = request.program.program.display().to_string();
            let other = commands.iter().find(|command| command.program != program);
            let events = row.events(request.scope == Scope::User, request.in_force);
            let missing: Vec<&str> = events
                .iter()
                .map(|event| event.name)
                .filter(|name| {
                    !commands.iter().any(|command| command.event.is_empty() || command.event == *name)
                })
                .collect();
            Some(match (other, missing.as_slice()) {
                (Some(command), _) => format!("it calls {}, not {program}", command.program),
                (None, []) => "its entry differs from what this version writes".to_owned(),
                (None, missing) => format!("it has no entry for {}", missing.join(", ")),
            })
        }
    }
}

/// The commands in the file of a scope.
fn commands(row: &Row, places: &Places, scope: Scope) -> Result<Vec<InstalledCommand>, Refused> {
    let path = row.path(places, scope)?;
    let read = || content(&path).and_then(|there| text(&path, there.as_ref()));
    let by_shell = |event: &str, command: &str| {
        let program = shlex::split(command).and_then(|words| words.into_iter().next()).unwrap_or_default();
        let argv = ["/bin/sh", "-c", command].map(str::to_owned).to_vec();
        InstalledCommand { event: event.to_owned(), argv, program }
    };
    Ok(match row.form {
        Form::Json { nesting, .. } => {
            let text = read()?;
            let refused = |why| Refused { path: path.clone(), why };
            let found = Document::parse(&text, nesting, row.agent).map_err(refused)?.found();
            let one = |found: crate::json::FoundEntry| {
                let word = |name: &str| found.value.get(name).and_then(Value::as_str);
                let command = word("command").or_else(|| word("bash")).unwrap_or_default();
                match found.value.get("args").and_then(Value::as_array) {
                    None => by_shell(&found.event, command),
                    Some(args) => {
                        let args = args.iter().filter_map(|word| word.as_str().map(str::to_owned));
                        let argv = std::iter::once(command.to_owned()).chain(args).collect();
                        InstalledCommand { event: found.event, argv, program: command.to_owned() }
                    }
                }
            };
            found.into_iter().map(one).collect()
        }
        Form::Toml => {
            let document = toml::parse(&read()?).map_err(|why| Refused { path: path.clone(), why })?;
            toml::found(&document, row.agent)
                .iter()
                .map(|hook| by_shell(&hook.event, &hook.command))
                .collect()
        }
        Form::Programs => {
            let mut commands = Vec::new();
            for event in row.dialect().map(|agent| agent.events).unwrap_or_default() {
                let program = path.join(event.name());
                let Some(there) = content(&program)?.filter(|there| is_ours_whole(&there.bytes, row.agent))
                else {
                    continue;
                };
                let text = String::from_utf8_lossy(&there.bytes).into_owned();
                let command =
                    text.lines().nth(1).and_then(|command| command.strip_prefix("exec ")).unwrap_or_default();
                let called = by_shell(event.name(), command).program;
                let argv = vec![program.display().to_string()];
                commands.push(InstalledCommand { event: event.name().to_owned(), argv, program: called });
            }
            commands
        }
        Form::Plugin => {
            let text = read()?;
            if !is_ours_whole(text.as_bytes(), row.agent) {
                return Ok(Vec::new());
            }
            let command = text.lines().find_map(|command| command.strip_prefix("const COMMAND = "));
            let argv: Vec<String> =
                command.and_then(|words| serde_json::from_str(words).ok()).unwrap_or_default();
            let program = argv.first().cloned().unwrap_or_default();
            if line::is_ours(&argv, row.agent) {
                vec![InstalledCommand { event: String::new(), argv, program }]
            } else {
                Vec::new()
            }
        }
    })
}
