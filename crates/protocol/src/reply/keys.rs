//! The keys of the reply grammar, spelled once.

use crate::nearest::nearest;

/// Keys of the top level that have a meaning of their own there.
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

/// What an unknown key is.
pub(super) enum Unknown {
    /// Somebody meant this key.
    NearMiss(&'static str),
    /// Nobody's key: listed and left alone.
    Foreign,
}

/// Judges a key that is not known where it stands.
pub(super) fn judge(key: &str) -> Unknown {
    match nearest(key, REPLY_KEYS) {
        Some(near) => Unknown::NearMiss(near),
        None => Unknown::Foreign,
    }
}
