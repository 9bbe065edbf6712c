//! The keys that a reply can have.

use crate::nearest::nearest;

/// Keys of the top level of a reply.
const TOP: [&str; 16] = [
    "continue",
    "suppressOutput",
    "stopReason",
    "decision",
    "reason",
    "systemMessage",
    "hookSpecificOutput",
    "async",
    "asyncTimeout",
    "allowed",
    "updated_input",
    "modified_args",
    "inject",
    "abort",
    "modify",
    "hookEventName",
];

/// Keys of `hookSpecificOutput`; accepted at the top level too.
const SPECIFIC: [&str; 9] = [
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
    "updatedMCPToolOutput",
    "updatedToolOutput",
    "decision",
    "custom_instructions",
];

/// Every key that a reply can have at its top level.
pub const REPLY_KEYS: [&str; 23] = {
    let mut all = [""; 23];
    let mut at = 0;
    while at < TOP.len() {
        all[at] = TOP[at];
        at += 1;
    }
    // `hookEventName` and `decision` are in both lists.
    let mut from = 0;
    while from < SPECIFIC.len() {
        if from != 0 && from != 7 {
            all[at] = SPECIFIC[from];
            at += 1;
        }
        from += 1;
    }
    all
};

/// What to do with an unknown key.
pub(super) enum UnknownKey {
    /// It is probably a misspelling of this key: an error.
    NearMiss(&'static str),
    /// It is not similar to any key: listed in the report and ignored.
    Foreign,
}

/// Classifies a key that is not valid where it was found.
pub(super) fn classify_unknown(key: &str) -> UnknownKey {
    match nearest(key, REPLY_KEYS) {
        Some(near) => UnknownKey::NearMiss(near),
        None => UnknownKey::Foreign,
    }
}
