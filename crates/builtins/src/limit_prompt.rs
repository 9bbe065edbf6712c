//! `limit-prompt`: a prompt that is too large does not go to the model; the reason gives its size and the limit.
//!
//! # Options
//! - `max_chars`: characters (default 100,000 when no other limit is given).
//! - `max_bytes`: bytes of UTF-8.
//! - `max_lines`: lines.
//!
//! On `UserPromptSubmit` and `PreMessage`, and on events of a host that have a `prompt` and can be denied.

use std::sync::Arc;

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Capability, Reply};

use crate::guard;
use crate::option::{self, grouped};

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct LimitPrompt;

const DEFAULT_CHARS: u64 = 100_000;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("max_chars", "maximum number of characters"),
    BuiltinOption::new("max_bytes", "maximum number of bytes"),
    BuiltinOption::new("max_lines", "maximum number of lines"),
];

#[derive(Debug, Clone, Copy)]
enum Unit {
    Chars,
    Bytes,
    Lines,
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Self::Chars => "characters",
            Self::Bytes => "bytes",
            Self::Lines => "lines",
        }
    }

    fn measure(self, text: &str) -> u64 {
        let size = match self {
            Self::Chars => text.chars().count(),
            Self::Bytes => text.len(),
            Self::Lines => text.lines().count(),
        };
        u64::try_from(size).unwrap_or(u64::MAX)
    }
}

impl Builtin for LimitPrompt {
    fn name(&self) -> &'static str {
        "limit-prompt"
    }

    fn about(&self) -> &'static str {
        "denies a prompt that is too large, and says by how much"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = guard::check_mode(request, self.name());
        if request.event().field("prompt").is_none() || !request.event().capabilities.has(Capability::Deny) {
            let message = format!("{} has no prompt to limit", request.event().name);
            request.error("", message, "put it under UserPromptSubmit or PreMessage");
            fine = None;
        }
        let mut limits = Vec::new();
        for (key, unit) in
            [("max_chars", Unit::Chars), ("max_bytes", Unit::Bytes), ("max_lines", Unit::Lines)]
        {
            match option::size(request, key) {
                Ok(limit) => limits.extend(limit.map(|limit| (unit, limit))),
                Err(()) => fine = None,
            }
        }
        if limits.is_empty() {
            limits.push((Unit::Chars, DEFAULT_CHARS));
        }
        fine?;
        Some(Callback::Inline(Arc::new(move |call: Call<'_>| judge(&limits, call))))
    }
}

fn judge(limits: &[(Unit, u64)], call: Call<'_>) -> Answer {
    let prompt = call.event.get("prompt").unwrap_or_default();
    let prompt = prompt.plain();
    for (unit, limit) in limits {
        let size = unit.measure(&prompt);
        if size > *limit {
            let reason = format!(
                "the prompt has {} {word}, and the limit is {} ({} too many)",
                grouped(size),
                grouped(*limit),
                grouped(size - limit),
                word = unit.word()
            );
            return Reply::deny(reason).into();
        }
    }
    Reply::none().into()
}
