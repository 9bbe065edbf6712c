//! Turns outcomes into the answer in the agent's own format: stdout, stderr, exit status.

mod closed;
mod shape;
mod verdict;
mod write;

use crosier_protocol::{Decision, Json};

use crate::json::readable;
use crate::read::Call;
use crate::table::{Agent, AgentEvent, AnswerPart, AnswerValue, Delivery, Effect};

pub use closed::{DENIED_WHEN_CLOSED, TOLD_WHEN_CLOSED, closed, is_denied_when_closed};
pub use verdict::{PersonMessage, Verdict};
use write::Writer;

/// What the agent gets, and what could not be delivered to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
    /// The exit status.
    pub status: u8,
    /// Context that this event cannot carry: it waits for an event that can.
    pub waits: Vec<String>,
    /// Whether the messages for the person were delivered.
    pub told: bool,
    /// Whether the agent was told to continue.
    pub resumed: bool,
    /// What could not be delivered, for the log.
    pub log: Vec<String>,
}

impl Call {
    /// The answer for this verdict.
    #[must_use]
    pub fn answer(&self, verdict: &Verdict) -> Answer {
        let mut builder = AnswerBuilder::new(self.agent, Some(self.entry), Some(self));
        builder.decide(verdict);
        if verdict.hide {
            builder.add_effect(Effect::Hide, "[the output was hidden by a hook]");
        } else if let Some(output) = &verdict.output {
            builder.output = Some(output.clone());
            builder.add_effect(Effect::Replace, "");
        }
        if let Some(resume) = &verdict.resume {
            builder.answer.resumed =
                builder.add_effect(Effect::Resume, &or(resume, "a hook wants you to go on"));
        }
        if !verdict.context.is_empty() {
            builder.add_context(&verdict.context);
        }
        let told: Vec<&str> = verdict.told.iter().map(|told| told.text.as_str()).collect();
        builder.answer.told = !told.is_empty() && builder.add_effect(Effect::Tell, &told.join("\n"));
        builder.end()
    }

    /// The rewritten input in the agent's form; `None` when no hook changed it.
    fn input(&self, verdict: &Verdict) -> Option<Result<Json, String>> {
        if verdict.inputs.iter().all(Option::is_none) {
            return None;
        }
        let first = || verdict.inputs.iter().flatten().next().cloned().unwrap_or_default();
        Some(match (&self.tool, self.entry.restore) {
            (Some(tool), _) => tool.restore(&verdict.inputs),
            (None, Some(restore)) => restore(self, &first()),
            (None, None) => Ok(first()),
        })
    }
}

fn or(text: &str, otherwise: &str) -> String {
    if text.trim().is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

/// Builds one answer.
struct AnswerBuilder<'a> {
    agent: &'static Agent,
    entry: Option<&'static AgentEvent>,
    call: Option<&'a Call>,
    writer: Writer,
    answer: Answer,
    input: Option<Json>,
    output: Option<Json>,
    permissions: Option<Json>,
    /// An effect that must be the only one in the answer, with its text; written at the end.
    alone: Option<(&'static [AnswerPart], String)>,
}

impl<'a> AnswerBuilder<'a> {
    fn new(agent: &'static Agent, entry: Option<&'static AgentEvent>, call: Option<&'a Call>) -> Self {
        Self {
            agent,
            entry,
            call,
            writer: Writer::default(),
            answer: Answer::default(),
            input: None,
            output: None,
            permissions: None,
            alone: None,
        }
    }

    /// Adds the decision: deny, ask, rewrite the input, or allow.
    fn decide(&mut self, verdict: &Verdict) {
        let reason = verdict.reason.as_str();
        let mut is_denied = verdict.decision == Some(Decision::Deny);
        if is_denied {
            self.add_effect(Effect::Deny, &or(reason, "denied by a hook, without a reason"));
        }
        if let Some(halt) = &verdict.halt {
            self.add_effect(Effect::Halt, &or(halt, "a hook stopped the agent, without a reason"));
            return;
        }
        if !is_denied && verdict.decision == Some(Decision::Ask) {
            let reason = or(reason, "a hook wants a person to decide");
            is_denied = self.add_effect(Effect::Ask, &reason)
                && !matches!(self.delivery(Effect::Ask), Delivery::Send(_));
        }
        if is_denied {
            return;
        }
        let allows = verdict.decision == Some(Decision::Allow);
        match self.call.and_then(|call| call.input(verdict)) {
            None => {}
            Some(Ok(input)) => {
                let text = format!("use this input instead: {input}");
                self.input = Some(input);
                let undecided = self.entry.and_then(|entry| entry.effects.rewrite_undecided);
                match undecided.filter(|_| !allows) {
                    Some(delivery) => self.add_delivery(Effect::Rewrite, delivery, &text),
                    None => self.add_effect(Effect::Rewrite, &text),
                };
            }
            Some(Err(why)) => {
                self.add_effect(Effect::Deny, &format!("a hook wants another input, but {why}"));
                return;
            }
        }
        if allows {
            self.add_effect(Effect::Allow, reason);
            if let Some(permissions) = &verdict.permissions {
                self.permissions = Some(permissions.clone());
                self.add_effect(Effect::Permissions, "");
            }
        }
    }

    fn add_context(&mut self, context: &[String]) {
        let text = context.join("\n");
        let delivery = self.delivery(Effect::Context);
        if let Some((_, alone)) = &mut self.alone {
            match &mut self.output {
                Some(output) => {
                    *output = Json::from(format!("{}\n\n{text}", readable(output, self.agent.text_paths)));
                }
                None => *alone = format!("{alone}\n\n{text}"),
            }
        } else if matches!(delivery, Delivery::Deferred) {
            self.answer.waits = context.to_vec();
        } else {
            self.add_effect(Effect::Context, &text);
        }
    }

    fn delivery(&self, effect: Effect) -> Delivery {
        self.entry.map_or(Delivery::Inapplicable, |entry| entry.effects.delivery(effect))
    }

    /// Adds an effect, or the one that takes its place. Returns false when it is lost.
    fn add_effect(&mut self, effect: Effect, text: &str) -> bool {
        self.add_delivery(effect, self.delivery(effect), text)
    }

    fn add_delivery(&mut self, effect: Effect, delivery: Delivery, text: &str) -> bool {
        match delivery {
            // An effect that must be the only one leaves no room for a message to the person.
            Delivery::Send(_) if self.alone.is_some() && effect == Effect::Tell => {
                self.note(effect, "another effect must be alone in the answer", text);
                false
            }
            Delivery::Send(parts) => {
                self.add_parts(parts, text);
                true
            }
            Delivery::SendAlone(parts) => {
                self.alone.get_or_insert((parts, text.to_owned()));
                true
            }
            Delivery::Silence(_) => true,
            Delivery::Substitute(other, why) => {
                let text = match effect {
                    Effect::Hide => "a hook wanted to hide the output, but the output was shown",
                    Effect::Replace => "a hook wanted to replace the output, but the output is unchanged",
                    _ => text,
                };
                let text = format!("{text} ({}: {why})", self.agent.title);
                if other == effect { false } else { self.add_effect(other, &text) }
            }
            Delivery::Deferred => {
                self.answer.waits.push(text.to_owned());
                true
            }
            Delivery::Dropped(why) => {
                self.note(effect, why, text);
                false
            }
            Delivery::Inapplicable => {
                self.note(effect, "the event does not support it", text);
                false
            }
        }
    }

    fn note(&mut self, effect: Effect, why: &str, text: &str) {
        let event = self.entry.map_or("an event", AgentEvent::name);
        let title = self.agent.title;
        self.answer.log.push(format!("{title}, {event}: cannot {}: {why}: {text}", effect.word()));
    }

    fn add_parts(&mut self, parts: &[AnswerPart], text: &str) {
        for part in parts {
            match *part {
                AnswerPart::Key(path, value) => {
                    if let Some(value) = self.value(value, text) {
                        self.writer.set(path, value);
                    }
                }
                AnswerPart::Stdout(value) => self.writer.text(&self.plain(value, text)),
                AnswerPart::Stderr(value) => {
                    let line = self.plain(value, text);
                    self.answer.stderr.push_str(&line);
                    self.answer.stderr.push('\n');
                }
                AnswerPart::Status(status) => self.answer.status = status,
            }
        }
    }

    fn value(&self, value: AnswerValue, text: &str) -> Option<Json> {
        match value {
            AnswerValue::Word(word) => Some(Json::from(word)),
            AnswerValue::Is(is) => Some(Json::from(serde_json::Value::from(is))),
            AnswerValue::Event => Some(Json::from(self.entry?.name())),
            AnswerValue::Text => Some(Json::from(text)),
            AnswerValue::Input => self.input.clone(),
            AnswerValue::Output => Some(shape::output(self.agent, self.call, self.output.as_ref(), text)),
            AnswerValue::Permissions => self.permissions.clone(),
            AnswerValue::Made(make) => make(self.call, text),
        }
    }

    fn plain(&self, value: AnswerValue, text: &str) -> String {
        self.value(value, text).map(|value| value.plain().into_owned()).unwrap_or_default()
    }

    fn end(mut self) -> Answer {
        if let Some((parts, text)) = self.alone.take() {
            self.add_parts(parts, &text);
        }
        self.answer.stdout = self.writer.end().unwrap_or_else(|| self.agent.nothing.to_owned());
        self.answer
    }
}
