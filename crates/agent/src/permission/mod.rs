//! Whether a tool may run: layers of permissions, from the strongest to the weakest.
//!
//! | # | layer | says |
//! |---|---|---|
//! | 1 | `plan` mode | deny whatever changes something |
//! | 2 | disabled tools | deny |
//! | 3 | deny rules | deny; where one may apply but that cannot be known (`$X -rf /`), a person must decide: on to 9 |
//! | 4 | a hook's `ask` | a person must decide: on to 9 |
//! | 5 | `bypassPermissions` mode, a hook's `allow`, allowed tools, allow rules | allow |
//! | 6 | ask rules | a person must decide: on to 9 |
//! | 7 | the mode's default by risk | allow what it allows |
//! | 8 | the host's own callback | allow or deny |
//! | 9 | PermissionRequest hooks, then a person; without a person, or with `dontAsk` | the answer; deny |
//!
//! Input: a tool call and the decision of its hooks. Output: a [`Ruling`]. A hook's allow skips the question to a
//! person, never a deny rule. Rules are those of [`crosier_builtins::rules`]: `Bash(git *)` applies to every command
//! in a shell command line, wherever it is.

mod update;

use std::path::Path;
use std::sync::Arc;

use crosier::{Decision, Json, Matcher};
use crosier_builtins::rules::Rules;

use crate::tool::Risk;

/// How the host asks for permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PermissionMode {
    /// Reading is allowed; everything else is asked.
    #[default]
    Default,
    /// Reading and editing are allowed.
    AcceptEdits,
    /// Nothing may be changed.
    Plan,
    /// What would be asked is denied.
    DontAsk,
    /// Everything is allowed unless something forbids it.
    BypassPermissions,
}

impl PermissionMode {
    /// Every mode with its word in events.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("default", Self::Default),
        ("acceptEdits", Self::AcceptEdits),
        ("plan", Self::Plan),
        ("dontAsk", Self::DontAsk),
        ("bypassPermissions", Self::BypassPermissions),
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, mode)| *mode == self).map_or("default", |(word, _)| word)
    }

    fn allows(self, risk: Risk) -> bool {
        match self {
            Self::BypassPermissions => true,
            Self::AcceptEdits => risk <= Risk::Edit,
            Self::Default | Self::Plan | Self::DontAsk => risk == Risk::Read,
        }
    }
}

/// The host's own decision, before a person is asked.
pub type Callback = dyn Fn(&str, &Json) -> Option<bool> + Send + Sync;

/// Everything that permissions depend on.
#[derive(Clone, Default)]
pub struct Permissions {
    /// The mode.
    pub mode: PermissionMode,
    /// Tools that never run.
    pub disabled: Vec<Matcher>,
    /// Tools that always run.
    pub allowed: Vec<Matcher>,
    /// The rules; an empty set decides nothing.
    pub rules: Rules,
    /// The host's own decision.
    pub callback: Option<Arc<Callback>>,
}

impl std::fmt::Debug for Permissions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permissions").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// What a call's hooks decided about permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// It may run without asking.
    Allow,
    /// A person must decide.
    Ask(Option<String>),
    /// No opinion.
    Nothing,
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It runs.
    Allow,
    /// It does not run, for this reason.
    Deny(String),
    /// A person must decide, for this reason.
    Ask(String),
}

impl Permissions {
    /// Layers 1 to 8 for a call in this folder. Layer 9 is in the loop, because it fires an event and asks a person.
    #[must_use]
    pub fn ruling(&self, tool: &str, risk: Risk, input: &Json, folder: &Path, hook: &HookDecision) -> Ruling {
        if self.mode == PermissionMode::Plan && risk > Risk::Read {
            return Ruling::Deny(format!("{tool} changes something, and this is plan mode"));
        }
        if self.disabled.iter().any(|matcher| matcher.matches(tool)) {
            return Ruling::Deny(format!("the tool {tool} is disabled"));
        }
        let rules = self.rules.decide(tool, input, folder);
        if rules.is_denied() {
            return Ruling::Deny(rules.reason);
        }
        if rules.perhaps_denied {
            return Ruling::Ask(rules.reason);
        }
        if let HookDecision::Ask(why) = hook {
            return Ruling::Ask(why.clone().unwrap_or_else(|| "a hook wants a person to decide".to_owned()));
        }
        let listed = self.allowed.iter().any(|matcher| matcher.matches(tool));
        if self.mode == PermissionMode::BypassPermissions || *hook == HookDecision::Allow || listed {
            return Ruling::Allow;
        }
        match rules.decision {
            Some(Decision::Allow) => Ruling::Allow,
            Some(Decision::Ask | Decision::Deny) => Ruling::Ask(rules.reason),
            None if self.mode.allows(risk) => Ruling::Allow,
            None => match self.callback.as_ref().and_then(|say| say(tool, input)) {
                Some(true) => Ruling::Allow,
                Some(false) => Ruling::Deny(format!("the host does not allow {tool}")),
                None => Ruling::Ask("no rule allows it".to_owned()),
            },
        }
    }
}
