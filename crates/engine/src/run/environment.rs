//! The environment of commands and workers: inherited variables, and those that describe the event.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use crosier_protocol::{Failure, FailureKind};

use super::inherited::is_secret_or_loader;
#[cfg(feature = "python")]
use crate::registry::PythonSpec;
use crate::registry::{Call, CommandSpec, Pass};

/// How deep hooks may fire hooks. Without a limit, hooks that fire events would start processes forever.
const MAX_DEPTH: u32 = 4;
/// A longer value is left out; the event on stdin contains it.
const MAX_VALUE_BYTES: usize = 32 * 1024;
/// Set if the hook may already have begun in a borrowed worker that did not finish the call.
pub(super) const ATTEMPT: &str = "CROSIER_ATTEMPT";
/// Set on the second run of a hook that answered `async`.
const ASYNC_PHASE: &str = "CROSIER_ASYNC_PHASE";
/// Set when a guard is asked again about the final event.
const PASS: &str = "CROSIER_PASS";
const DEPTH: &str = "CROSIER_DEPTH";
const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// The environment that hooks inherit from the host.
#[derive(Debug)]
pub(crate) struct Environment {
    all: Vec<(OsString, OsString)>,
    /// The indexes of the variables that every hook gets, computed when the first process is started.
    passed: OnceLock<Vec<usize>>,
    /// The project's folder; `None`: the folder of each hook's configuration.
    project: Option<PathBuf>,
    /// How many levels of hooks the host itself is nested in.
    depth: u32,
}

impl Environment {
    /// Takes the environment that the host passes; without one, a hook gets only a default `PATH`.
    pub(super) fn new(inherited: Option<Vec<(OsString, OsString)>>, project: Option<PathBuf>) -> Self {
        let all = inherited.unwrap_or_else(|| vec![("PATH".into(), "/usr/bin:/bin".into())]);
        let all: Vec<_> = all.into_iter().filter(|(name, value)| is_valid_variable(name, value)).collect();
        let depth = all.iter().rfind(|(name, _)| name == DEPTH).map_or(0, |(_, value)| parse_depth(value));
        Self { all, passed: OnceLock::new(), project, depth }
    }

    /// Fails if hooks fire hooks too many levels deep. The failure denies, because the hook would not see the
    /// event.
    pub(super) fn check_depth(&self) -> Result<(), Failure> {
        if self.depth < MAX_DEPTH {
            return Ok(());
        }
        let detail = format!(
            "hooks fire hooks more than {MAX_DEPTH} levels deep (`{DEPTH}`); a hook must not fire the events that it \
             is on"
        );
        Err(Failure::new(FailureKind::Delivery, detail))
    }

    /// The variables that a hook inherits: all except credentials and loader variables, plus those that it
    /// asks for.
    fn inherited(&self, env_pass: &[String]) -> Vec<(OsString, OsString)> {
        let asked = |name: &OsString| env_pass.iter().any(|wanted| name == wanted.as_str());
        let free = || {
            (0..self.all.len()).filter(|&at| !is_secret_or_loader(&self.all[at].0, &self.all[at].1)).collect()
        };
        let passed: &Vec<usize> = self.passed.get_or_init(free);
        let all = self.all.iter().enumerate();
        let mine = all.filter(|(at, (name, _))| passed.binary_search(at).is_ok() || asked(name));
        mine.map(|(_, variable)| variable.clone()).collect()
    }

    /// All variables of a worker. Nothing about the event, because a worker runs many.
    #[cfg(feature = "python")]
    pub(super) fn of_worker(&self, spec: &PythonSpec) -> Vec<(OsString, OsString)> {
        let mut env = self.inherited(&spec.env_pass);
        env.retain(|(name, _)| !is_of_one_call(name));
        let (folder, project) = (clean(&spec.project_dir), self.project(&spec.project_dir));
        let depth = self.next_depth();
        let ours = [("CROSIER_PROJECT_DIR", project.as_os_str()), ("CROSIER_CONFIG_DIR", folder.as_os_str())];
        let own = spec.env.iter().map(|(name, value)| (name.as_str(), OsStr::new(value)));
        set_if_absent(&mut env, CLAUDE_PROJECT_DIR, project.as_os_str());
        for (name, value) in ours.into_iter().chain(own).chain([(DEPTH, depth.as_ref())]) {
            env.retain(|(other, _)| other != name);
            env.push((name.into(), value.into()));
        }
        env
    }

    /// The project's folder, for a hook whose configuration is in `folder`.
    fn project<'a>(&'a self, folder: &'a Path) -> Cow<'a, Path> {
        clean(self.project.as_deref().unwrap_or(folder))
    }

    fn next_depth(&self) -> String {
        self.depth.saturating_add(1).to_string()
    }

    /// All variables of one run of a command.
    pub(super) fn of_run(&self, spec: &CommandSpec, call: Call<'_>) -> Vec<(OsString, OsString)> {
        let mut env = self.inherited(&spec.env_pass);
        env.retain(|(name, _)| !is_of_one_call(name));
        let (folder, project) = (clean(&spec.project_dir), self.project(&spec.project_dir));
        set_if_absent(&mut env, CLAUDE_PROJECT_DIR, project.as_os_str());
        let mut tell = |name: &str, value: &OsStr| {
            env.retain(|(other, _)| other != name);
            if value.len() <= MAX_VALUE_BYTES && is_valid_variable(OsStr::new(name), value) {
                env.push((name.into(), value.into()));
            }
        };
        let event = call.event;
        let tool = match event.kind().field("tool_name") {
            Some(_) => event.matcher_value().unwrap_or_default(),
            None => "",
        };
        let agent = event.agent_id().unwrap_or_default();
        let shared = [
            ("TOOL_NAME", tool),
            ("SESSION_ID", event.session_id()),
            ("AGENT_ID", agent),
            ("ORCHESTRATOR_ID", event.orchestrator_id()),
        ];
        for (name, value) in shared {
            tell(&format!("CROSIER_{name}"), value.as_ref());
            tell(&format!("MASSGEN_{name}"), value.as_ref());
        }
        tell("CROSIER_EVENT", event.name().as_ref());
        tell("MASSGEN_HOOK_TYPE", event.name().as_ref());
        tell("CROSIER_HOOK", call.hook.as_ref().as_ref());
        tell("CROSIER_CWD", event.cwd().as_ref());
        tell("CROSIER_PROJECT_DIR", project.as_os_str());
        tell("CROSIER_CONFIG_DIR", folder.as_os_str());
        for (name, value) in of_repeated_call(call.second, call.pass) {
            tell(name.to_str().unwrap_or_default(), &value);
        }
        for (name, value) in &spec.env {
            tell(name, value.as_ref());
        }
        // Set last, so that no configuration can reset it.
        tell(DEPTH, self.next_depth().as_ref());
        env
    }
}

/// Whether a variable is about one call of a hook: a nested hook must not inherit it from the outer hook.
fn is_of_one_call(name: &OsStr) -> bool {
    [ASYNC_PHASE, PASS, ATTEMPT].iter().any(|own| name == *own)
}

/// The variables of a call that is not the hook's first about this event.
pub(super) fn of_repeated_call(second: bool, pass: Pass) -> Vec<(OsString, OsString)> {
    let again = [(ASYNC_PHASE, second), (PASS, pass == Pass::Second)];
    again.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| ((*name).into(), "2".into())).collect()
}

/// An invalid number counts as too deep: only Crosier sets this variable, and anything else may be an attempt
/// to lift the limit.
fn parse_depth(value: &OsStr) -> u32 {
    let text = value.to_string_lossy();
    if text.trim().is_empty() { 0 } else { text.trim().parse().unwrap_or(MAX_DEPTH) }
}

/// Adds a variable unless it is inherited: if an agent sets its project folder, that value is kept.
fn set_if_absent(env: &mut Vec<(OsString, OsString)>, name: &str, value: &OsStr) {
    if !env.iter().any(|(other, _)| other == name) {
        env.push((name.into(), value.into()));
    }
}

/// The folder without `.` and `..`. A `..` after a symbolic link cannot be resolved from the text, so the
/// file system is asked first.
fn clean(folder: &Path) -> Cow<'_, Path> {
    let is_odd = |part: Component<'_>| matches!(part, Component::ParentDir | Component::CurDir);
    let has_odd_text =
        folder.as_os_str().as_encoded_bytes().windows(2).any(|two| two == b"//" || two == b"/.");
    if folder.is_absolute() && !has_odd_text && !folder.components().any(is_odd) {
        return Cow::Borrowed(folder);
    }
    let climbs = !folder.is_absolute() || folder.components().any(|part| part == Component::ParentDir);
    if climbs && let Ok(real) = folder.canonicalize() {
        return Cow::Owned(real);
    }
    let mut cleaned = PathBuf::new();
    for part in folder.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            part => cleaned.push(part),
        }
    }
    Cow::Owned(cleaned)
}

/// Whether the operating system can pass this variable.
fn is_valid_variable(name: &OsStr, value: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.as_encoded_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_that_is_no_number_counts_as_too_deep() {
        let depth = |value: &str| parse_depth(OsStr::new(value));
        assert_eq!((depth(""), depth("0"), depth(" 3 "), depth("4")), (0, 0, 3, 4));
        for value in ["-1", "x", "1e3", "99999999999"] {
            assert!(depth(value) >= MAX_DEPTH, "{value}");
        }
    }

    #[test]
    fn a_folder_is_cleaned_as_the_file_system_reads_it() {
        let clean = |folder: &str| clean(Path::new(folder)).into_owned();
        assert_eq!(clean("/a/b"), Path::new("/a/b"));
        assert_eq!(clean("/a/./b//c/").as_os_str(), "/a/b/c");
        assert_eq!(clean("/no-such/elsewhere/../conf").as_os_str(), "/no-such/conf");
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/inner")).unwrap();
        std::os::unix::fs::symlink(root.join("real/inner"), root.join("link")).unwrap();
        let odd = root.join("link/../");
        assert_eq!(super::clean(&odd), root.join("real"));
    }
}
