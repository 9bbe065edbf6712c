//! The only place that reads the environment of this process.

use std::ffi::OsString;
use std::path::PathBuf;

#[expect(clippy::disallowed_methods, reason = "the only place of this program that reads variables")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The default folder in which agents are installed.
pub(crate) fn cache() -> Option<PathBuf> {
    let base = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(base.join("crosier-clients"))
}

/// The search path for programs.
pub(crate) fn path() -> OsString {
    variable("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"))
}

/// The cargo that started this program.
pub(crate) fn cargo() -> OsString {
    variable("CARGO").unwrap_or_else(|| OsString::from("cargo"))
}
