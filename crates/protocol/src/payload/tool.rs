//! Payloads around a tool call.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Base;
use crate::json::Json;

/// A tool is about to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreToolUse {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The tool's name.
    pub tool_name: String,
    /// What the tool is called with.
    pub tool_input: Json,
    /// The id of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

impl PreToolUse {
    /// A call of this tool with this input.
    pub fn new(tool_name: impl Into<String>, tool_input: impl Into<Json>) -> Self {
        Self { tool_name: tool_name.into(), tool_input: tool_input.into(), ..Self::default() }
    }

    /// The tool's name; Armament's word for it.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool_name
    }

    /// The tool's input; Armament's word for it.
    #[must_use]
    pub fn args(&self) -> &Json {
        &self.tool_input
    }
}

/// A person is about to be asked whether a tool may run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The tool's name.
    pub tool_name: String,
    /// What the tool is called with.
    pub tool_input: Json,
    /// Rules that the person could add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_suggestions: Option<Json>,
}

/// A tool has run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostToolUse {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The tool's name.
    pub tool_name: String,
    /// What the tool was called with.
    pub tool_input: Json,
    /// What the tool gave back.
    pub tool_response: Json,
    /// The id of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

impl PostToolUse {
    /// The response as text: a string as it is, anything else as JSON.
    #[must_use]
    pub fn tool_output(&self) -> Cow<'_, str> {
        self.tool_response.plain()
    }
}

/// A tool has failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostToolUseFailure {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The tool's name.
    pub tool_name: String,
    /// What the tool was called with.
    pub tool_input: Json,
    /// The id of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// What went wrong.
    pub error: String,
    /// True when a person stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_interrupt: Option<bool>,
}
