//! `crosier explain`: which hooks would run for an event, in which order and why, and which would not.

use clap::Args;
use crosier::protocol::json;
use crosier::protocol::nearest::nearest;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Entry, Event, EventKind, Explanation, FieldKind, Json};

use super::{Run, fire, list};
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::setup::{self, Hooks};
use crate::{describe, print, table};

const HEAD: [&str; 9] =
    ["ORDER", "STAGE", "HOOK", "WHY", "PRIORITY", "SCOPE", "TIMEOUT", "ON_ERROR", "DEFINED AT"];

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is run. Hooks with the same number under STAGE run at the same time. `after` under STAGE
means that a hook only observes, after the decision (`observe: true`).

Example:
  crosier explain PreToolUse --tool Bash -c hooks.yaml"
)]
pub(crate) struct ExplainArgs {
    /// The event, by its name, or by an alias such as pre:tool
    event: String,
    /// The value that matchers are compared with: a tool's name; for other events a trigger, a path, …
    #[arg(long = "tool", visible_alias = "match", value_name = "NAME")]
    value: Option<String>,
    /// The event's agent_id, which selects the hooks of one agent (not the name of a coding agent)
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for ExplainArgs {
    fn run(&self) -> Result {
        let kind = fire::find(&self.event)?;
        let event = self.event(&kind)?;
        let hooks = setup::hooks(&self.config.request(), |builder| builder)?;
        self.note_unknown_agent(&hooks);
        let explained = hooks.engine.explain(&event);
        if self.json {
            print::json(&format!("{:#}", self.as_json(&event, &explained, &hooks)))?;
        } else {
            print::data(&self.text(&event, &explained, &hooks))?;
        }
        Ok(Exit::Done)
    }
}

impl ExplainArgs {
    /// An event with the given value, and placeholders in its other fields.
    fn event(&self, kind: &EventKind) -> std::result::Result<Event, Failed> {
        if self.value.is_some() && kind.matcher.is_none() {
            let message = format!("{} has no field for a matcher; leave --match out", kind.name);
            return Err(Failed::new(Exit::Usage, message));
        }
        let field = |field: &crosier::Field| {
            let value = match (&self.value, field.kind) {
                (Some(value), _) if kind.matcher == Some(field.name) => json!(value),
                (_, FieldKind::Text) => json!(""),
                (_, FieldKind::TextOrNull) => Value::Null,
                (_, FieldKind::Bool) => json!(false),
                (_, _) => json!({}),
            };
            (field.name.to_owned(), Json::from(value))
        };
        let required = kind.fields.iter().filter(|field| field.required || kind.matcher == Some(field.name));
        let event = Event::from_fields(kind.clone(), required.map(field).collect());
        let event = event.map_err(|error| Failed::new(Exit::Usage, error.to_string()))?;
        Ok(match &self.agent {
            Some(agent) => event.in_agent(agent),
            None => event,
        })
    }

    fn note_unknown_agent(&self, hooks: &Hooks) {
        let Some(agent) = self.agent.as_deref() else { return };
        let entries = hooks.engine.entries();
        let known: Vec<&str> = entries.iter().filter_map(|entry| entry.scope.as_deref()).collect();
        if !known.is_empty() && !known.contains(&agent) {
            let near = nearest(agent, known).map(|near| format!(", did you mean `{near}`?"));
            let text = format!("crosier: no hook belongs to agent `{agent}`{}", near.unwrap_or_default());
            print::note(&print::plain(&text));
        }
    }

    fn text(&self, event: &Event, explained: &Explanation, hooks: &Hooks) -> String {
        let paint = Paint::stdout();
        let mut text =
            format!("{}\n\n", paint.tone(Tone::Strong, table::paragraph(&self.title(event)).trim_end()));
        if explained.plan.is_empty() {
            text.push_str("Nothing runs.\n");
        } else {
            let mut drawn = table::table(HEAD);
            for (order, (stage, entry)) in planned(explained).enumerate() {
                drawn.add_row([
                    (order + 1).to_string(),
                    stage,
                    describe::name(entry),
                    describe::why_in(entry, self.value.as_deref()),
                    entry.priority.to_string(),
                    describe::scope(entry),
                    describe::time(entry.timeout),
                    entry.on_error.word().to_owned(),
                    describe::place(entry),
                ]);
            }
            text.push_str(&format!("{}\n", table::text(&drawn)));
        }
        if !explained.excluded.is_empty() {
            let mut drawn = table::table(["NOT RUN", "WHY", "SCOPE", "DEFINED AT"]);
            for (entry, inclusion) in &explained.excluded {
                let by_person = hooks.is_disabled_by_person(&entry.name);
                drawn.add_row([
                    describe::name(entry),
                    describe::why_out(entry, *inclusion, self.value.as_deref(), by_person),
                    describe::scope(entry),
                    describe::place(entry),
                ]);
            }
            text.push_str(&format!("\n{}\n", table::text(&drawn)));
        }
        text
    }

    /// The heading: what is explained.
    fn title(&self, event: &Event) -> String {
        let field = event.kind().matcher;
        let value = match (field, &self.value) {
            (None, _) => String::new(),
            (Some(field), Some(value)) => format!(", {field} {}", print::one_line(value)),
            (Some(field), None) => format!(", any {field} (name one with --match)"),
        };
        let agent = match (&self.agent, event.agent_id()) {
            (Some(agent), _) => format!(", in agent {}", print::one_line(agent)),
            (None, Some(_)) => ", in an agent without hooks of its own (name one with --agent)".to_owned(),
            (None, None) => ", outside any agent".to_owned(),
        };
        format!("{}{value}{agent}", event.name())
    }

    fn as_json(&self, event: &Event, explained: &Explanation, hooks: &Hooks) -> Value {
        let plan: Vec<Value> = planned(explained)
            .enumerate()
            .map(|(order, (stage, entry))| {
                let mut object = list::hook_json(entry);
                object["order"] = (order + 1).into();
                object["stage"] = stage.split(' ').next().unwrap_or_default().into();
                object["why"] = describe::why_in(entry, self.value.as_deref()).into();
                object
            })
            .collect();
        let out: Vec<Value> = explained
            .excluded
            .iter()
            .map(|(entry, inclusion)| {
                let by_person = hooks.is_disabled_by_person(&entry.name);
                let mut object = list::hook_json(entry);
                object["reason"] = inclusion.word().into();
                object["why"] = describe::why_out(entry, *inclusion, self.value.as_deref(), by_person).into();
                object
            })
            .collect();
        json!({
            "event": event.name(),
            "matches_on": event.kind().matcher,
            "value": self.value,
            "agent": self.agent,
            "plan": plan,
            "out": out,
        })
    }
}

/// What an engine would run for an event, as JSON.
pub(crate) fn explained(
    engine: &Engine,
    event: &str,
    value: Option<&str>,
    agent: Option<&str>,
) -> std::result::Result<Value, String> {
    let (value, agent) = (value.map(str::to_owned), agent.map(str::to_owned));
    let args =
        ExplainArgs { event: event.to_owned(), value, agent, config: ConfigArgs::default(), json: true };
    let kind = fire::find(event).map_err(|failed| failed.message)?;
    let event = args.event(&kind).map_err(|failed| failed.message)?;
    let hooks = Hooks::with_engine(engine.clone());
    Ok(args.as_json(&event, &engine.explain(&event), &hooks))
}

/// The hooks in order, each with its stage.
fn planned(explained: &Explanation) -> impl Iterator<Item = (String, &Entry)> {
    let stages = explained.plan.stages().enumerate().flat_map(|(number, stage)| {
        stage.iter().map(move |entry| {
            let mode = entry.mode.word().map(|mode| format!(" {mode}")).unwrap_or_default();
            (format!("{}{mode}", number + 1), &**entry)
        })
    });
    let observers = explained.plan.observers().iter().map(|entry| ("after".to_owned(), &**entry));
    stages.chain(observers)
}
