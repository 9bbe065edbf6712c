//! Payloads of events about files and the screen.

use super::Base;
use crate::json::Json;

payloads! {
    /// A file is about to be written to the shadow repository.
    PreGitWrite on path {
        /// The file, relative to the workspace.
        required path: String,
        /// What will be written.
        required content: String,
    }

    /// A file was written to the shadow repository.
    PostGitWrite on path {
        /// The file, relative to the workspace.
        required path: String,
        /// The commit that holds it.
        required commit: String,
    }

    /// The screen is about to be drawn.
    PreViewRender {
        /// The screen as data.
        required view: Json,
    }
}
