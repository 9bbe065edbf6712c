//! Payloads around files and the screen.

use serde::{Deserialize, Serialize};

use super::Base;
use crate::json::Json;

/// A file is about to be written to the shadow repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreGitWrite {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The file, relative to the workspace.
    pub path: String,
    /// What will be written.
    pub content: String,
}

/// A file was written to the shadow repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostGitWrite {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The file, relative to the workspace.
    pub path: String,
    /// The commit that holds it.
    pub commit: String,
}

/// The screen is about to be drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreViewRender {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The screen as data.
    pub view: Json,
}
