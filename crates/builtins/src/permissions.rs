//! `permissions`: rules that allow, ask or deny tool calls. The syntax is that of [`crate::rules`].
//!
//! # Options
//! - `deny`, `ask`, `allow`: lists of rules. Deny comes first, then ask, then allow.
//! - `default`: `allow`, `ask` or `deny` when no rule says anything; without it there is no decision then.
//!
//! On `PreToolUse` and `PermissionRequest`. Every decision names its rule. Where a person is being asked already
//! (`PermissionRequest`), `ask` is not a decision.
//!
//! ```yaml
//! hooks:
//!   PreToolUse:
//!     - {type: builtin, handler: permissions, options: {allow: ["Bash(git status:*)"], deny: ["Bash(rm *)"]}}
//! ```

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Callback, Decision};

use crate::guard::{self, Ruling};
use crate::option;
use crate::rules::{Rule, Rules};

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct Permissions;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("deny", "rules for what never happens"),
    BuiltinOption::new("ask", "rules for what a person decides"),
    BuiltinOption::new("allow", "rules for what may happen without asking"),
    BuiltinOption::new("default", "allow, ask or deny when no rule says anything"),
];

const EFFECTS: [(&str, Decision); 3] =
    [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];

impl Builtin for Permissions {
    fn name(&self) -> &'static str {
        "permissions"
    }

    fn about(&self) -> &'static str {
        "allows, asks or denies tool calls by rules like Bash(git *)"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn is_guard(&self) -> bool {
        true
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = guard::check(request, self.name());
        let mut rules = Rules::default();
        let mut count = 0;
        for (key, effect) in EFFECTS {
            for text in request.texts(key).unwrap_or_default() {
                count += 1;
                match Rule::parse(&text) {
                    Ok(rule) => rules.add(effect, rule),
                    Err(error) => {
                        request.error(
                            key,
                            format!("the rule `{}` {}", error.rule, error.problem),
                            error.remedy,
                        );
                        fine = None;
                    }
                }
            }
        }
        let default = option::word(request, "default", &EFFECTS).ok()?;
        if count == 0 && default.is_none() {
            request.error("", "`permissions` has no rules", "add `options: {deny: [\"Bash(rm *)\"]}`");
            fine = None;
        }
        fine?;
        Some(guard::callback(request, move |call| {
            let verdict = rules.decide(call.tool, call.input, call.cwd);
            match (verdict.decision, default) {
                (Some(Decision::Deny), _) => Ruling::Deny(verdict.reason),
                (Some(Decision::Ask), _) => Ruling::Ask(verdict.reason),
                (Some(Decision::Allow), _) => Ruling::Allow(verdict.reason),
                (None, Some(Decision::Deny)) => {
                    Ruling::Deny(format!("{}, and the default is deny", verdict.reason))
                }
                (None, Some(Decision::Ask)) => {
                    Ruling::Ask(format!("{}, and the default is ask", verdict.reason))
                }
                (None, Some(Decision::Allow)) => {
                    Ruling::Allow(format!("{}, and the default is allow", verdict.reason))
                }
                (None, None) => Ruling::Nothing,
            }
        }))
    }
}
