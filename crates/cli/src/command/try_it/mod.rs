//! `crosier try`: what the hooks in force here would decide, without an agent.

mod show;

use std::path::PathBuf;

use clap::Args;
use crosier::{Engine, Event, EventKind, Json, Outcome};
use crosier_dialect::table::Agent;
use crosier_dialect::{Answer, Call};
use crosier_policy::{Policy, SelfGuard};

use super::{Run, fire};
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::setup::Hooks;
use crate::signals::Signals;
use crate::{environment, install_context, print, setup};

/// The environment variable that tells hooks that this is only a trial.
const VARIABLE: &str = "CROSIER_TRY";
/// The session id of trials.
const SESSION: &str = "crosier-try";

#[derive(Debug, Args)]
#[command(
    after_help = "Hooks run as they do for an agent, with CROSIER_TRY=1 in their environment; nothing is written
to the log. The exit status is 0 whatever they decide.

Example:
  crosier try 'git push --force'
  crosier try --tool Write --path .env --explain
  crosier try --agent codex 'rm -rf ~'"
)]
pub(crate) struct TryArgs {
    /// A command line, for the tool Bash
    #[arg(value_name = "LINE", conflicts_with_all = ["input", "path"])]
    line: Option<String>,
    /// The tool (default: Bash for a command line or an input, Write for a path)
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The file that the tool is used on
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// The input of the tool, in addition to --path; with an --event that is not about tools, its payload
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// The event, by its name, or by an alias such as pre:tool
    #[arg(long, value_name = "EVENT", default_value = "PreToolUse")]
    event: String,
    /// Send it as this agent would, and show the agent's reply: claude, codex, gemini, …
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Show the plan too: which hooks ran, in which order, and why the others did not
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result of a trial.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) kind: EventKind,
    /// The events that were fired: one, or one per part of a call.
    pub(super) events: Vec<Event>,
    pub(super) outcomes: Vec<Outcome>,
    /// Why no decision could be made.
    pub(super) closed: Option<String>,
    pub(super) files: Vec<PathBuf>,
    /// The agent, what it would send, and its reply.
    pub(super) agent: Option<(&'static Agent, String, Answer)>,
}

impl Run for TryArgs {
    fn run(&self) -> Result {
        let kind = fire::find(&self.event)?;
        let fields = self.fields(&kind)?;
        let asked = match &self.agent {
            None => None,
            Some(name) => Some(compose(name, &kind, &fields)?),
        };
        let events = match &asked {
            Some((_, _, call)) => call.events.clone(),
            None => vec![event(&kind, &fields)?],
        };
        let mut trial =
            Trial { kind, events, outcomes: Vec::new(), closed: None, files: Vec::new(), agent: None };
        let hooks = self.hooks(&mut trial)?;
        if let Some(hooks) = &hooks {
            trial.files.clone_from(&hooks.files);
            trial.outcomes = judge(&hooks.engine, &trial.events)?;
        }
        if let Some((agent, sent, call)) = asked {
            let answer = match &trial.closed {
                Some(why) => crosier_dialect::closed(agent, Some(call.entry), Some(&call), why),
                None => call.answer(&call.verdict(&trial.outcomes)),
            };
            trial.agent = Some((agent, sent, answer));
        }
        if self.json {
            print::json(&show::json(&trial))?;
        } else {
            print::data(&show::text(&trial))?;
            if let Some(hooks) = hooks.as_ref().filter(|_| self.explain) {
                print::data(&show::plan(hooks, &trial.events))?;
            }
        }
        if let Some(hooks) = hooks {
            hooks.engine.shut_down();
        }
        Ok(Exit::Done)
    }
}

impl TryArgs {
    /// The event's fields, with Crosier's names.
    fn fields(&self, kind: &EventKind) -> std::result::Result<Vec<(String, Json)>, Failed> {
        let usage = |message: String| Failed::new(Exit::Usage, message);
        let is_about_tools = kind.field("tool_input").is_some();
        let given = self.input.as_deref().map(Json::parse).transpose();
        let given = given.map_err(|error| usage(format!("--input is not JSON: {error}")))?;
        if given.as_ref().is_some_and(|given| given.entries().is_none()) {
            return Err(usage("--input is not a JSON object, such as '{\"command\": \"ls\"}'".to_owned()));
        }
        let text = |text: &str| Json::from(text);
        let mut fields = vec![
            ("session_id".to_owned(), text(SESSION)),
            ("cwd".to_owned(), text(&setup::here().display().to_string())),
        ];
        if !is_about_tools {
            if self.line.is_some() || self.tool.is_some() || self.path.is_some() {
                return Err(usage(format!(
                    "{} is not about a tool: give its payload with --input",
                    kind.name
                )));
            }
            fields.extend(given.and_then(|given| given.entries()).unwrap_or_default());
            return Ok(fields);
        }
        let (tool, input) = match (&self.line, &self.path, given) {
            (Some(line), ..) => {
                let tool = self.tool.as_deref().unwrap_or("Bash");
                if tool != "Bash" {
                    let why = format!("{tool} takes no command line: use --path or --input");
                    return Err(usage(print::one_line(&why)));
                }
                (tool, object(&[("command", text(line))]))
            }
            (None, Some(path), given) => {
                let (tool, usual) = of_path(self.tool.as_deref().unwrap_or("Write"), path);
                (tool, given.map_or(usual.clone(), |given| joined(&usual, &given)))
            }
            (None, None, Some(given)) => (self.tool.as_deref().unwrap_or("Bash"), given),
            (None, None, None) => match &self.tool {
                Some(tool) => (tool.as_str(), object(&[])),
                None => {
                    return Err(usage(
                        "say what to try: a command line, or --tool with --path or --input".to_owned(),
                    ));
                }
            },
        };
        fields.push(("tool_name".to_owned(), text(tool)));
        fields.push(("tool_input".to_owned(), input));
        if kind.field("tool_response").is_some() {
            fields.push(("tool_response".to_owned(), text("")));
        }
        Ok(fields)
    }

    /// The hooks in force here; `None` when there are none, or no decision can be made.
    fn hooks(&self, trial: &mut Trial) -> std::result::Result<Option<Hooks>, Failed> {
        let mut request = self.config.request();
        request.self_guard = SelfGuard::On;
        match crosier_policy::in_force(&request) {
            Policy::Loaded(mut loaded) => {
                setup::tell(&std::mem::take(&mut loaded.notices));
                let variables = environment::all().into_iter().chain([(VARIABLE.into(), "1".into())]);
                Hooks::of(*loaded, &request, |builder| builder.environment(variables)).map(Some)
            }
            Policy::Closed(closed) => {
                trial.closed = Some(print::one_line(&closed.why));
                Ok(None)
            }
            Policy::None(notices) => {
                setup::tell(&notices);
                Ok(None)
            }
            _ => Err(Failed::new(Exit::Failed, "this kind of policy is not supported")),
        }
    }
}

/// The tool's default fields, replaced by those that were given.
fn joined(usual: &Json, given: &Json) -> Json {
    let given = given.entries().unwrap_or_default();
    let mut members = usual.entries().unwrap_or_default();
    members.retain(|(name, _)| !given.iter().any(|(other, _)| other == name));
    members.extend(given);
    object(&members.iter().map(|(name, value)| (name.as_str(), value.clone())).collect::<Vec<_>>())
}

fn object(members: &[(&str, Json)]) -> Json {
    let text: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{}", Json::from(*name), value.text())).collect();
    Json::parse(&format!("{{{}}}", text.join(","))).unwrap_or_default()
}

/// The tool and an input for this path, with the tool's required fields.
fn of_path<'a>(tool: &'a str, path: &std::path::Path) -> (&'a str, Json) {
    let path = ("file_path", Json::from(path.display().to_string()));
    let input = match tool {
        "Write" => object(&[path, ("content", Json::from("x\n"))]),
        "Edit" => object(&[path, ("old_string", Json::from("a\n")), ("new_string", Json::from("b\n"))]),
        "Glob" | "Grep" => object(&[("pattern", Json::from("*")), ("path", path.1)]),
        "NotebookEdit" => object(&[("notebook_path", path.1), ("new_source", Json::from("x\n"))]),
        _ => object(&[path]),
    };
    (tool, input)
}

fn event(kind: &EventKind, fields: &[(String, Json)]) -> std::result::Result<Event, Failed> {
    let members: Vec<(&str, Json)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let event = Event::from_json(kind.clone(), object(&members).text().as_bytes());
    event.map_err(|error| Failed::new(Exit::BadInput, error.to_string()))
}

type AgentCall = (&'static Agent, String, Box<Call>);

fn compose(
    name: &str,
    kind: &EventKind,
    fields: &[(String, Json)],
) -> std::result::Result<AgentCall, Failed> {
    let Some(agent) = crosier_dialect::find(name) else {
        return Err(install_context::unknown_agent(name));
    };
    let composed = crosier_dialect::compose(agent, kind.name, fields, &setup::catalog());
    let (sent, call) = composed.map_err(|why| Failed::new(Exit::Usage, why))?;
    Ok((agent, sent, call))
}

fn judge(engine: &Engine, events: &[Event]) -> std::result::Result<Vec<Outcome>, Failed> {
    let signals = Signals::watch()?;
    signals.kill(engine);
    signals.during("running hooks were killed", || {
        events.iter().map(|event| engine.fire_blocking(event)).collect()
    })
}
