//! Where a hook's configuration comes from.

use std::fmt;

/// The source of a hook's configuration, in order of precedence.
///
/// Hooks of an earlier layer run first. A later layer can only add to the earlier ones: it cannot disable, override or
/// run before their hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Layer {
    /// The administrator of the machine. Its hooks are guards and cannot be disabled.
    Managed,
    /// The host: its code, and files that were given to it by name.
    #[default]
    Host,
    /// The user, for all projects.
    User,
    /// The project. 0 is the outermost folder that has a configuration file.
    Project(u16),
    /// The user, for this project only.
    Local,
}

impl Layer {
    /// Its name, without a project's number.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Host => "host",
            Self::User => "user",
            Self::Project(_) => "project",
            Self::Local => "local",
        }
    }
}

/// `managed`, `project`; the second project folder is `project2`.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Project(number) if *number > 0 => write!(f, "{}", u32::from(*number) + 1),
            _ => Ok(()),
        }
    }
}
