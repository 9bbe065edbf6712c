//! The outcomes of all parts of a call, combined.

use crosier_protocol::{Decision, Event, Json, NoticeKind, Outcome, Phase};

use crate::json;
use crate::read::Call;

/// What hooks want for a call, all its parts combined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The strictest decision.
    pub decision: Option<Decision>,
    /// The reason.
    pub reason: String,
    /// The hook that decided.
    pub by: String,
    /// Set when the agent must stop, with the reason.
    pub halt: Option<String>,
    /// Set when the agent must go on, with the reason.
    pub resume: Option<String>,
    /// The new input of each part; `None` where it is unchanged.
    pub inputs: Vec<Option<Json>>,
    /// The new output.
    pub output: Option<Json>,
    /// Whether the output is hidden.
    pub hide: bool,
    /// Text for the model.
    pub context: Vec<String>,
    /// Permission updates.
    pub permissions: Option<Json>,
    /// Text for the person.
    pub told: Vec<PersonMessage>,
}

/// A message for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonMessage {
    /// The hook that it is about.
    pub hook: String,
    /// Whether the hook failed; a failure is reported once per session.
    pub failed: bool,
    /// The message.
    pub text: String,
}

impl Call {
    /// Folds the outcomes of the call's events, in order, into one verdict: the strictest counts.
    #[must_use]
    pub fn verdict(&self, outcomes: &[Outcome]) -> Verdict {
        let mut all = Verdict::default();
        let mut outputs: Vec<Option<Json>> = Vec::new();
        for (event, outcome) in self.events.iter().zip(outcomes) {
            all.add(outcome);
            all.inputs.push(changed(event, Phase::Pre, outcome.updated_input.as_ref()));
            outputs.push(changed(event, Phase::Post, outcome.updated_output.as_ref()));
        }
        all.output = self.output(outputs);
        all
    }

    /// The new output of the whole call. Parts of a list have their own responses; other parts share one, and their
    /// versions of it are joined, one per line.
    fn output(&self, mut outputs: Vec<Option<Json>>) -> Option<Json> {
        if outputs.len() < 2 || outputs.iter().all(Option::is_none) {
            return outputs.pop().flatten();
        }
        let own = |event: &Event| event.get("tool_response").unwrap_or_default();
        let is_list = self.sent_responses().is_some_and(|responses| responses.len() == outputs.len());
        if is_list {
            let all = self.events.iter().zip(outputs).map(|(event, new)| new.unwrap_or_else(|| own(event)));
            return Some(json::list(&all.collect::<Vec<_>>()));
        }
        let mut texts: Vec<String> = Vec::new();
        for new in outputs.iter().flatten() {
            let text = json::readable(new, self.agent.text_paths);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Some(Json::from(texts.join("\n")))
    }

    fn sent_responses(&self) -> Option<Vec<Json>> {
        let moves = self.entry.fields.iter().chain(self.agent.fields);
        let path = moves.filter(|field| field.to == "tool_response").map(|field| field.from).next();
        json::elements(&self.sent(path.unwrap_or("tool_response"))?)
    }
}

impl Verdict {
    fn add(&mut self, outcome: &Outcome) {
        if outcome.decision > self.decision {
            self.decision = outcome.decision;
            self.reason = outcome.reason.as_deref().unwrap_or_default().to_owned();
            self.by = outcome.by.as_deref().unwrap_or_default().to_owned();
        }
        let reason = |directive: &crosier_protocol::Directive| directive.reason.clone();
        self.halt = self.halt.take().or_else(|| outcome.halt.as_ref().map(reason));
        self.resume = self.resume.take().or_else(|| outcome.resume.as_ref().map(reason));
        self.hide |= outcome.suppress_output;
        self.permissions = self.permissions.take().or_else(|| outcome.updated_permissions.clone());
        let injected = outcome.inject.iter().map(|injected| &injected.content);
        for text in outcome.context.iter().chain(injected) {
            if !self.context.contains(text) {
                self.context.push(text.clone());
            }
        }
        self.tell(outcome);
    }

    fn tell(&mut self, outcome: &Outcome) {
        let told = outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Notify);
        let notices = told.map(|notice| PersonMessage {
            hook: notice.hook.to_string(),
            failed: false,
            text: notice.text.clone(),
        });
        let has_denied = |hook: &str| outcome.by_failure && outcome.by.as_deref() == Some(hook);
        let failures =
            outcome.failures().filter(|(hook, _)| !has_denied(hook)).map(|(hook, failure)| PersonMessage {
                hook: hook.to_owned(),
                failed: true,
                text: format!("crosier: hook {hook} failed and was ignored: {failure}"),
            });
        let would = outcome.reports.iter().filter_map(|report| {
            let would = report.would.filter(|would| *would != Decision::Allow)?;
            let text = format!("crosier: hook {} only warns, and would {} here", report.hook, would.word());
            Some(PersonMessage { hook: report.hook.to_string(), failed: false, text })
        });
        for told in notices.chain(failures).chain(would) {
            if !self.told.contains(&told) {
                self.told.push(told);
            }
        }
    }
}

/// A rewritten field, unless its value is unchanged.
fn changed(event: &Event, phase: Phase, new: Option<&Json>) -> Option<Json> {
    let new = new?;
    let field = event.kind().rewritable(phase)?;
    let is_same = event.get(field.name).is_some_and(|old| old == *new);
    (!is_same).then(|| new.clone())
}
