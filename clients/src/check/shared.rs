//! Scenarios that every agent must pass, in its own words for tools.

use super::Scenario;
use super::expect::{all, ended, made, not_made, result_has, told};
use crate::agent::Agent;
use crate::model::Turn;

/// The policy of which a word in a tool's input says what it answers.
pub(super) const BY_WORD: &str = "\
hooks:
  PreToolUse:
    - {name: word, command: python3 policy.py}
  PostToolUse:
    - {name: word, command: python3 policy.py}
  PostToolUseFailure:
    - {name: word, command: python3 policy.py}
";

pub(super) const BY_WORD_SCRIPT: &str = include_str!("../../policy/policy.py");

pub(super) fn by_word(name: &'static str) -> Scenario {
    Scenario::new(name).policy(BY_WORD).policy_file("policy.py", BY_WORD_SCRIPT)
}

pub(super) fn decisions(agent: &dyn Agent) -> Scenario {
    by_word("decisions")
        .quick()
        .turns([
            Turn::call(agent.shell("free", "touch free")),
            Turn::call(agent.shell("deny", "touch denied # case:deny")),
            Turn::call(agent.shell("ask", "touch asked # case:ask")),
            Turn::call(agent.shell("allow", "touch allowed # case:allow")),
            Turn::text("Finished."),
        ])
        .check("a call nobody minds runs", made("free"))
        .check("deny: the tool does not run", not_made("denied"))
        .check("deny: the reason reaches the model", result_has("deny", "REASON-DENY"))
        .check("ask: without a person the tool does not run", not_made("asked"))
        .check("allow: the tool runs", made("allowed"))
        .check("the agent goes on after a denial and ends", all([ended(), told("REASON-DENY")]))
}
