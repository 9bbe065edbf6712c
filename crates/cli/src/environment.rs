//! The only place that reads the environment of the process.
#![expect(clippy::disallowed_methods, reason = "this module is the only one that may read the environment")]

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// All variables, which hooks may inherit.
pub(crate) fn all() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Whether to write colours to a stream.
pub(crate) fn is_colourful(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The path of a program, found as hooks find it.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(is_program)
}

/// The search path for programs.
pub(crate) fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// The width of lines for a person: that of the terminal, or else a width that is easy to read.
pub(crate) fn width() -> usize {
    columns().map_or(100, |columns| columns.clamp(40, 160))
}

/// The number of columns: those of the terminal, or `COLUMNS`. `None` for a pipe.
pub(crate) fn columns() -> Option<usize> {
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let said = || text("COLUMNS").and_then(|said| said.parse().ok());
    terminal.filter(|&columns| columns > 0).or_else(said).map(|columns: usize| columns.max(20))
}

/// One variable; an empty value counts as unset.
pub(crate) fn text(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}

/// A folder from a variable, if it is absolute.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Where this program keeps persistent data: `crosier` in `$XDG_STATE_HOME`, or in `~/.local/state`.
pub(crate) fn default_state_folder() -> Option<PathBuf> {
    let state = folder("XDG_STATE_HOME");
    let state = state.or_else(|| Some(folder("HOME")?.join(".local/state")));
    state.map(|state| state.join("crosier"))
}

/// Whether a variable is set, even if it is empty.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}
