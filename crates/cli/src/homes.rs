//! Where the person's configuration is, and where this program stores its state: `--config-home` and `--state-home`,
//! or the environment.
//!
//! `install` writes both folders into the command that an agent runs, because a repository's settings can set
//! variables.

use std::path::{Path, PathBuf};

use clap::Args;
pub(crate) use crosier_policy::Homes;
use crosier_policy::Request;

use crate::{environment, search_path, user_database};

/// The name of Crosier's folder in the homes of configuration and state.
const OURS: &str = "crosier";

// The folders, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Default, Args)]
pub(crate) struct HomeArgs {
    /// The folder of your own crosier.yaml (default: crosier in $XDG_CONFIG_HOME or ~/.config)
    #[arg(long, value_name = "DIR")]
    pub(crate) config_home: Option<PathBuf>,
    /// Where trust and state are kept (default: crosier in $XDG_STATE_HOME or ~/.local/state)
    #[arg(long, value_name = "DIR")]
    pub(crate) state_home: Option<PathBuf>,
}

impl HomeArgs {
    /// The folders from the command line, or else from the environment.
    pub(crate) fn find(&self) -> Homes {
        let mut homes = of_environment();
        if let Some(folder) = &self.config_home {
            homes.config = Some(own(folder));
        }
        if let Some(folder) = &self.state_home {
            homes.state = Some(own(folder));
        }
        homes
    }
}

/// The folders that the environment names.
pub(crate) fn of_environment() -> Homes {
    let home = environment::folder("HOME");
    let config = environment::folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let config = config.map(|folder| folder.join(OURS));
    Homes::new(home, config, environment::default_state_folder())
}

/// Crosier's own folder: the one that was named, or `crosier` inside it.
fn own(named: &Path) -> PathBuf {
    let named = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    if named.file_name().is_some_and(|name| name == OURS) {
        return named;
    }
    let inside = named.join(OURS);
    if inside.is_dir() { inside } else { named }
}

/// Replaces a home folder inside the project by the person's own, which the system knows: a repository's settings can set
/// `HOME`, and what belongs to the person would be looked for among the repository's files. Everything that makes a
/// request calls this, once its project is known.
///
/// Does nothing if the request names files: files that a person named are used in that person's surroundings, whatever these are.
pub(crate) fn use_home_outside_project(request: &mut Request) {
    if !request.named.is_empty() {
        return;
    }
    let Some(home) = request.homes.home.as_deref().map(crosier_policy::real) else { return };
    let folders = std::iter::once(&request.project).chain(&request.entered_folders);
    let is_inside = |folder: &PathBuf| {
        let folder = crosier_policy::real(folder);
        // The repository is looked for only if it can be one that the home folder is in.
        let is_near = |above: &Path| above.parent().is_some() && home.starts_with(above);
        let may_be = home.starts_with(&folder)
            || folder.ancestors().filter(|above| is_near(above)).any(|above| above.join(".git").exists());
        may_be && folder.parent().is_some() && home.starts_with(search_path::repository(&folder))
    };
    if folders.into_iter().any(is_inside)
        && let Some(own) = user_database::home()
        && crosier_policy::real(&own) != home
    {
        request.homes.home = Some(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_our_folder_or_the_one_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("config");
        assert_eq!(own(&home), home, "not made yet: as it was named");
        std::fs::create_dir_all(home.join("crosier")).unwrap();
        assert_eq!(own(&home), home.join("crosier"));
        assert_eq!(own(&home.join("crosier")), home.join("crosier"));
    }
}
