//! Payloads around what is said: prompts, answers, notifications.

use serde::{Deserialize, Serialize};

use super::Base;

/// A person sent a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPromptSubmit {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// What the person wrote.
    pub prompt: String,
}

/// A prompt is about to go to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreMessage {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// What the model will get.
    pub prompt: String,
    /// The model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The model has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostMessage {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// What the model wrote.
    pub output: String,
    /// The model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A person is being told something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// What they are told.
    pub message: String,
    /// A heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is about.
    pub notification_type: String,
}
