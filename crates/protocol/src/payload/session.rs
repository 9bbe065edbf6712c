//! Payloads around a session's life.

use serde::{Deserialize, Serialize};

use super::Base;

/// The host prepares a session, or maintains itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// `init` or `maintenance`.
    pub trigger: String,
}

/// A session begins, goes on, was cleared or was compacted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// `startup`, `resume`, `clear` or `compact`.
    pub source: String,
    /// What kind of agent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The session is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// Why it ended.
    pub reason: String,
}

/// The conversation is about to be shortened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreCompact {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// `manual` or `auto`.
    pub trigger: String,
    /// What to keep, in words.
    pub custom_instructions: Option<String>,
}

/// The model wants to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// True when a hook has resumed the loop already.
    #[serde(default)]
    pub stop_hook_active: bool,
}

/// The session is about to change its phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreSessionPhase {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The phase that is left.
    pub from: String,
    /// The phase that is entered.
    pub to: String,
}

/// The session has changed its phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostSessionPhase {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The phase that was left.
    pub from: String,
    /// The phase that was entered.
    pub to: String,
}
