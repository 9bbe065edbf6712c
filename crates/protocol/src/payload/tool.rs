//! Payloads of events about tool calls.

use std::borrow::Cow;

use super::Base;
use crate::json::Json;

payloads! {
    /// A tool is about to run.
    PreToolUse on tool_name {
        /// The tool's name.
        required tool_name: String,
        /// What the tool is called with.
        required tool_input: Json,
        /// The id of this call.
        optional tool_use_id: String,
    }

    /// A person is about to be asked whether a tool may run.
    PermissionRequest on tool_name {
        /// The tool's name.
        required tool_name: String,
        /// What the tool is called with.
        required tool_input: Json,
        /// Rules that the person could add.
        optional permission_suggestions: Json,
    }

    /// A tool has run.
    PostToolUse on tool_name {
        /// The tool's name.
        required tool_name: String,
        /// What the tool was called with.
        required tool_input: Json,
        /// What the tool returned.
        required tool_response: Json,
        /// The id of this call.
        optional tool_use_id: String,
    }

    /// A tool has failed.
    PostToolUseFailure on tool_name {
        /// The tool's name.
        required tool_name: String,
        /// What the tool was called with.
        required tool_input: Json,
        /// The id of this call.
        optional tool_use_id: String,
        /// What went wrong.
        required error: String,
        /// True when a person stopped it.
        optional is_interrupt: bool,
    }
}

impl PreToolUse {
    /// The tool's name, under the name that Armament scripts use.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool_name
    }

    /// The tool's input, under the name that Armament scripts use.
    #[must_use]
    pub fn args(&self) -> &Json {
        &self.tool_input
    }
}

impl PostToolUse {
    /// The response as text: a string as it is, anything else as JSON.
    #[must_use]
    pub fn tool_output(&self) -> Cow<'_, str> {
        self.tool_response.plain()
    }
}
