//! Whether a tool may run: layers, in one table, from the strongest to the weakest.
//!
//! | # | layer | says |
//! |---|---|---|
//! | 1 | `plan` mode | deny whatever changes something |
//! | 2 | disabled tools | deny |
//! | 3 | deny rules | deny |
//! | 4 | a hook's `ask` | a person must decide: on to 9 |
//! | 5 | `bypassPermissions` mode, a hook's `allow`, allowed tools, allow rules | allow |
//! | 6 | ask rules | a person must decide: on to 9 |
//! | 7 | the mode's default by risk | allow what it allows |
//! | 8 | the host's own callback | allow or deny |
//! | 9 | PermissionRequest hooks, then a person; nobody there, or `dontAsk` | the answer; deny |
//!
//! In come a tool call and what its hooks said; out goes a [`Ruling`]. A hook's allow skips the question to a
//! person, never a deny rule.

use std::sync::Arc;

use crosier::{Json, Matcher};

use crate::tool::Risk;

/// How the host asks for permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PermissionMode {
    /// Reading is free; everything else is asked for.
    #[default]
    Default,
    /// Reading and editing are free.
    AcceptEdits,
    /// Nothing may be changed.
    Plan,
    /// What would be asked for is denied.
    DontAsk,
    /// Everything is allowed that nothing forbids.
    BypassPermissions,
}

impl PermissionMode {
    /// Every mode with its word, as events carry it.
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

/// What a rule says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleSays {
    /// Deny, because.
    Deny(String),
    /// Ask a person, because.
    Ask(String),
    /// Allow.
    Allow,
    /// Nothing.
    Nothing,
}

/// Rules like `Bash(git *)`, however they are written down.
pub trait RuleBook: Send + Sync {
    /// What the rules say about this call.
    fn consult(&self, tool: &str, input: &Json) -> RuleSays;
}

/// The host's own say, before anybody is asked.
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
    /// The rules.
    pub rules: Option<Arc<dyn RuleBook>>,
    /// The host's own say.
    pub callback: Option<Arc<Callback>>,
}

impl std::fmt::Debug for Permissions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permissions").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// What a call's hooks said about permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookSays {
    /// Run it without asking.
    Allow,
    /// Have a person decide.
    Ask(Option<String>),
    /// Nothing.
    Nothing,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It runs.
    Allow,
    /// It does not, because.
    Deny(String),
    /// A person must decide, because.
    Ask(String),
}

impl Permissions {
    /// Layers 1 to 8; 9 is the loop's, because it fires an event and asks a person.
    #[must_use]
    pub fn rule(&self, tool: &str, risk: Risk, input: &Json, hook: &HookSays) -> Ruling {
        if self.mode == PermissionMode::Plan && risk > Risk::Read {
            return Ruling::Deny(format!("{tool} changes something, and this is plan mode"));
        }
        if self.disabled.iter().any(|matcher| matcher.matches(tool)) {
            return Ruling::Deny(format!("the tool {tool} is disabled"));
        }
        let rules = self.rules.as_ref().map_or(RuleSays::Nothing, |rules| rules.consult(tool, input));
        if let RuleSays::Deny(why) = rules {
            return Ruling::Deny(why);
        }
        if let HookSays::Ask(why) = hook {
            return Ruling::Ask(why.clone().unwrap_or_else(|| "a hook wants a person to decide".to_owned()));
        }
        let listed = self.allowed.iter().any(|matcher| matcher.matches(tool));
        let allowed = self.mode == PermissionMode::BypassPermissions || *hook == HookSays::Allow || listed;
        match rules {
            _ if allowed => Ruling::Allow,
            RuleSays::Allow => Ruling::Allow,
            RuleSays::Ask(why) => Ruling::Ask(why),
            RuleSays::Deny(_) | RuleSays::Nothing if self.mode.allows(risk) => Ruling::Allow,
            RuleSays::Deny(_) | RuleSays::Nothing => {
                match self.callback.as_ref().and_then(|say| say(tool, input)) {
                    Some(true) => Ruling::Allow,
                    Some(false) => Ruling::Deny(format!("the host does not allow {tool}")),
                    None => Ruling::Ask(format!("{tool} needs permission")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Deny;
    impl RuleBook for Deny {
        fn consult(&self, tool: &str, _: &Json) -> RuleSays {
            if tool == "Bash" { RuleSays::Deny("rule Bash(rm *)".into()) } else { RuleSays::Nothing }
        }
    }

    fn rule(permissions: &Permissions, tool: &str, risk: Risk, hook: HookSays) -> Ruling {
        permissions.rule(tool, risk, &Json::null(), &hook)
    }

    #[test]
    fn a_hooks_allow_skips_the_question_but_never_a_deny_rule() {
        let permissions = Permissions { rules: Some(Arc::new(Deny)), ..Permissions::default() };
        assert_eq!(rule(&permissions, "Write", Risk::Edit, HookSays::Allow), Ruling::Allow);
        assert!(matches!(rule(&permissions, "Bash", Risk::Execute, HookSays::Allow), Ruling::Deny(_)));
        let bypass = Permissions { mode: PermissionMode::BypassPermissions, ..permissions };
        assert!(matches!(rule(&bypass, "Bash", Risk::Execute, HookSays::Nothing), Ruling::Deny(_)));
    }

    #[test]
    fn modes_allow_by_risk() {
        let of = |mode| Permissions { mode, ..Permissions::default() };
        let table = [
            (PermissionMode::Default, [true, false, false]),
            (PermissionMode::AcceptEdits, [true, true, false]),
            (PermissionMode::BypassPermissions, [true, true, true]),
            (PermissionMode::DontAsk, [true, false, false]),
        ];
        for (mode, allowed) in table {
            for (risk, allowed) in [Risk::Read, Risk::Edit, Risk::Execute].into_iter().zip(allowed) {
                let ruling = rule(&of(mode), "T", risk, HookSays::Nothing);
                assert_eq!(ruling == Ruling::Allow, allowed, "{mode:?} {risk:?}");
            }
        }
        let plan = of(PermissionMode::Plan);
        assert!(matches!(rule(&plan, "T", Risk::Edit, HookSays::Allow), Ruling::Deny(_)));
    }

    #[test]
    fn a_hooks_ask_is_asked_even_where_everything_is_allowed() {
        let bypass = Permissions { mode: PermissionMode::BypassPermissions, ..Permissions::default() };
        assert!(matches!(rule(&bypass, "T", Risk::Read, HookSays::Ask(None)), Ruling::Ask(_)));
    }
}
