//! `redact-secrets`: secrets in tool results and in what the model writes are masked, and the text keeps its shape.
//!
//! The rules are one data file, `rules.yaml`; its first lines explain how to write one. All literals are looked for at
//! once (Aho-Corasick); a regular expression is tried only where one is found. In JSON only strings change; a field
//! whose name gives it away (`"password": "…"`) is masked as a whole. [`redact`] does the same for logs.
//!
//! # Options
//! - `rules`: files with further rules (relative to the configuration).
//! - `except`: ids of rules to leave out.
//! - `replace`: `mask` (default: as many `*` as the secret is long) or `label` (`[redacted github-token]`).
//!
//! On every event whose text can be rewritten: `PostToolUse`, `PostMessage`, `PreMessage`, `PreGitWrite`,
//! `PreViewRender`. A notice for the host says how many secrets of which kind were masked.
//!
//! # Figures
//! The corpus `tests/data/secrets.txt` holds secrets and things that look like them; a test counts precision
//! and recall, fails below 97 % and 95 %, and checks that `docs/builtins.md` has the same figures.

mod check;
mod encoded;
mod json;
mod literals;
mod quick;
mod redactor;
mod rule;
mod terminal;
mod wrapped;

use std::collections::BTreeMap;
use std::sync::Arc;

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Failure, FailureKind, Json, Mode, Phase, Reply};

pub use quick::may_hold_secret;
pub use redactor::{Redactor, Secret, Style, redact};

use crate::option;

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct RedactSecrets;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("rules", "files with further rules"),
    BuiltinOption::new("except", "ids of rules to leave out"),
    BuiltinOption::new("replace", "mask or label"),
];

impl Builtin for RedactSecrets {
    fn name(&self) -> &'static str {
        "redact-secrets"
    }

    fn about(&self) -> &'static str {
        "masks secrets in tool results and in what the model writes"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = Some(());
        if request.mode() != Mode::Sequential {
            request.error(
                "",
                "`redact-secrets` must run in order with the other hooks",
                "leave observe, parallel and background out",
            );
            fine = None;
        }
        let Some((phase, field)) = request.event().rewrites else {
            let message = format!("{} has no text that can be rewritten", request.event().name);
            request.error("", message, "put it under PostToolUse or PostMessage");
            return None;
        };
        if request.event().field("tool_input").is_some() && field == "tool_input" {
            request.error(
                "",
                "a masked input would break the tool",
                "put it under PostToolUse or PostMessage",
            );
            fine = None;
        }
        let mut files = Vec::new();
        for name in request.texts("rules").unwrap_or_default() {
            match std::fs::read_to_string(request.folder().join(&name)) {
                Ok(text) => files.push((name, text)),
                Err(error) => {
                    request.error(
                        "rules",
                        format!("the rules `{name}` cannot be read: {error}"),
                        "name a file",
                    );
                    fine = None;
                }
            }
        }
        let except = request.texts("except").unwrap_or_default();
        let style =
            option::word(request, "replace", &[("mask", Style::Mask), ("label", Style::Label)]).ok()?;
        let style = style.unwrap_or_default();
        fine?;
        if files.is_empty() && except.is_empty() && style == Style::Mask {
            return Some(Callback::Inline(Arc::new(move |call: Call<'_>| {
                let Some(value) = call.event.get(field) else { return Reply::none().into() };
                match Redactor::standard_for(&value) {
                    None => Reply::none().into(),
                    Some(Ok(redactor)) => answer(&redactor, phase, field, &value),
                    Some(Err(why)) => {
                        Failure::new(FailureKind::Error, format!("the redaction rules are invalid: {why}"))
                            .into()
                    }
                }
            })));
        }
        let redactor = match Redactor::with_rules(&files, &except, style) {
            Ok(redactor) => redactor,
            Err(why) => {
                let key = if except.is_empty() { "rules" } else { "except" };
                request.error(key, format!("the rules cannot be used: {why}"), "see the head of rules.yaml");
                return None;
            }
        };
        Some(Callback::Inline(Arc::new(move |call: Call<'_>| match call.event.get(field) {
            Some(value) => answer(&redactor, phase, field, &value),
            None => Reply::none().into(),
        })))
    }
}

fn answer(redactor: &Redactor, phase: Phase, field: &str, value: &Json) -> Answer {
    let mut counts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let masked = redactor.json(value, &mut |rule| *counts.entry(Arc::clone(rule)).or_default() += 1);
    let Some(masked) = masked else { return Reply::none().into() };
    let kinds: Vec<String> = counts.iter().map(|(rule, count)| format!("{count} {rule}")).collect();
    let reply = Reply::none().log("info", format!("redact-secrets masked {} in {field}", kinds.join(", ")));
    match phase {
        Phase::Pre => reply.rewrite_input(masked).into(),
        Phase::Post => reply.rewrite_output(masked).into(),
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
