//! Payloads of events about the session.

use super::Base;

payloads! {
    /// The host prepares a session, or does maintenance.
    Setup on trigger {
        /// `init` or `maintenance`.
        required trigger: String,
    }

    /// A session begins, is resumed, was cleared or was compacted.
    SessionStart on source {
        /// `startup`, `resume`, `clear` or `compact`.
        required source: String,
        /// What kind of agent it is.
        optional agent_type: String,
        /// The model's name.
        optional model: String,
    }

    /// The session is over.
    SessionEnd on reason {
        /// Why it ended.
        required reason: String,
    }

    /// The conversation is about to be shortened.
    PreCompact on trigger {
        /// `manual` or `auto`.
        required trigger: String,
        /// What to keep, in words.
        required custom_instructions: Option<String>,
    }

    /// The model wants to stop.
    Stop {
        /// True when a hook has resumed the loop already.
        defaulted stop_hook_active: bool,
    }

    /// The session is about to change its phase.
    PreSessionPhase on to {
        /// The phase that is left.
        required from: String,
        /// The phase that is entered.
        required to: String,
    }

    /// The session has changed its phase.
    PostSessionPhase on to {
        /// The phase that was left.
        required from: String,
        /// The phase that was entered.
        required to: String,
    }
}
