//! The one door to the environment of the process.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::ffi::OsString;
use std::io::IsTerminal;

/// Everything that hooks may inherit.
pub(crate) fn all() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Whether a stream is for a person who likes colour.
pub(crate) fn is_colourful(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
