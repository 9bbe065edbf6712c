//! What the hooks of one fire did, as text.

use crosier::{Capability, Decision, Outcome, Strategy};
use crosier_agent::view::View;

use crate::print;

/// One thing that hooks did to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The effect's word in the event table; `halt`, which every event allows; or what a hook that only warns would do.
    pub(crate) word: &'static str,
    /// The details, on one line.
    pub(crate) text: String,
}

/// The effects of a fire, the most important for a person first.
pub(crate) fn effects(outcome: &Outcome) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut add = |word: &'static str, text: String| {
        effects.push(Effect { word, text: print::flat(&text) });
    };
    let because = |reason: &str, by: &str| match (reason, by) {
        ("", by) => format!("by {by}"),
        (reason, "") => reason.to_owned(),
        (reason, by) => format!("{reason} ({by})"),
    };
    let said =
        || because(outcome.reason.as_deref().unwrap_or_default(), outcome.by.as_deref().unwrap_or_default());
    match outcome.decision {
        Some(Decision::Deny) => add(Capability::Deny.word(), said()),
        Some(Decision::Ask) => add(Capability::Ask.word(), said()),
        Some(Decision::Allow) => add(Capability::Allow.word(), said()),
        _ => {}
    }
    for report in &outcome.reports {
        let word = match report.would {
            Some(Decision::Deny) => "would deny",
            Some(Decision::Ask) => "would ask",
            _ => continue,
        };
        add(word, format!("by {}, which only warns (mode: warn)", report.hook));
    }
    if let Some(halt) = &outcome.halt {
        let interrupts = outcome.event.capabilities.has(Capability::Interrupt);
        let word = if interrupts { Capability::Interrupt.word() } else { "halt" };
        add(word, because(&halt.reason, &halt.by));
    }
    if let Some(resume) = &outcome.resume {
        add(Capability::Resume.word(), because(&resume.reason, &resume.by));
    }
    if let Some(new) = outcome.updated_input.as_ref().or(outcome.updated_output.as_ref()) {
        let field = outcome.event.rewrites.map_or("", |(_, field)| field);
        // For a view, only the last line: the others were already shown.
        let text = match View::from_json(new).filter(|_| field == "view") {
            Some(view) => view.lines.last().cloned().unwrap_or(view.title),
            None => new.plain().into_owned(),
        };
        add(Capability::Rewrite.word(), format!("{field}: {text}"));
    }
    if outcome.suppress_output {
        add(Capability::Suppress.word(), "the model gets a note instead".to_owned());
    }
    for injected in &outcome.inject {
        let place = match injected.strategy {
            Strategy::ToolResult => "into the result",
            Strategy::UserMessage => "as a message",
        };
        add(Capability::Inject.word(), format!("{place}: {}", injected.content));
    }
    for line in &outcome.context {
        add(Capability::Context.word(), line.trim_end().to_owned());
    }
    if let Some(permissions) = &outcome.updated_permissions {
        add(Capability::Permissions.word(), permissions.text().to_owned());
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosier::payload::{PermissionRequest, PreToolUse};
    use crosier::{Engine, Hook, Reply};
    use serde_json::json;

    fn words(outcome: &Outcome) -> Vec<(&'static str, String)> {
        effects(outcome).into_iter().map(|effect| (effect.word, effect.text)).collect()
    }

    #[test]
    fn each_effect_has_its_word_and_says_who() {
        let allow = Hook::on(PreToolUse).named("fine").callback(|_: &PreToolUse| {
            Reply::allow("go").rewrite_input(json!({"command": "ls\n-l"})).context("one\ntwo")
        });
        let engine = Engine::builder().hook(allow).build().unwrap();
        let outcome = engine.fire_blocking(PreToolUse::new("Bash", json!({"command": "ls"})));
        assert_eq!(
            words(&outcome),
            [
                ("allow", "go (fine)".to_owned()),
                ("rewrite", r#"tool_input: {"command":"ls\n-l"}"#.to_owned()),
                ("context", "one two".to_owned())
            ]
        );
    }

    #[test]
    fn a_halt_at_a_permission_request_is_an_interrupt() {
        let halt =
            Hook::on(PermissionRequest).named("stop").callback(|_: &PermissionRequest| Reply::halt("no"));
        let engine = Engine::builder().hook(halt).build().unwrap();
        let event = PermissionRequest::new("Bash", "");
        assert_eq!(words(&engine.fire_blocking(event)), [("interrupt", "no (stop)".to_owned())]);
    }
}
