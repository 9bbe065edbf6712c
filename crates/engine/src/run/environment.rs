//! The environment of commands: what they inherit, and what they are told about the event.

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use crate::registry::{Call, CommandSpec, PythonSpec};

/// How deep hooks may start hooks: an agent that a hook starts has hooks of its own.
const MAX_DEPTH: u32 = 8;
/// What one variable can carry; more is left out, the event on stdin has it.
const MAX_VALUE_BYTES: usize = 32 * 1024;
const DEPTH: &str = "CROSIER_DEPTH";

/// What the host's environment gives to hooks.
#[derive(Debug)]
pub(crate) struct Environment {
    all: Vec<(OsString, OsString)>,
    /// Indexes of the variables that every hook gets, found when the first process is started.
    passed: OnceLock<Vec<usize>>,
    depth: u32,
}

impl Environment {
    /// Takes the environment that the host hands in; without one, a hook has a plain `PATH`.
    pub(super) fn new(inherited: Option<Vec<(OsString, OsString)>>) -> Self {
        let all = inherited.unwrap_or_else(|| vec![("PATH".into(), "/usr/bin:/bin".into())]);
        let all: Vec<_> = all.into_iter().filter(|(name, value)| is_carried(name, value)).collect();
        let depth = all.iter().find(|(name, _)| name == DEPTH);
        let depth = depth.and_then(|(_, value)| value.to_str()?.parse().ok()).unwrap_or(0);
        Self { all, passed: OnceLock::new(), depth }
    }

    /// Whether hooks started hooks too many times over.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth >= MAX_DEPTH
    }

    /// What a hook inherits: everything but what is held back, and what it asks for.
    fn inherited(&self, env_pass: &[String]) -> Vec<(OsString, OsString)> {
        let asked = |name: &OsString| env_pass.iter().any(|wanted| name == wanted.as_str());
        let free = || (0..self.all.len()).filter(|&at| !is_held_back(&self.all[at].0)).collect();
        let passed: &Vec<usize> = self.passed.get_or_init(free);
        let all = self.all.iter().enumerate();
        let mine = all.filter(|(at, (name, _))| passed.binary_search(at).is_ok() || asked(name));
        mine.map(|(_, variable)| variable.clone()).collect()
    }

    /// Every variable of a worker, which outlives many events.
    pub(super) fn of_worker(&self, spec: &PythonSpec) -> Vec<(OsString, OsString)> {
        let mut env = self.inherited(&spec.env_pass);
        let folder = spec.project_dir.as_os_str();
        let depth = (self.depth + 1).to_string();
        let ours = [("CROSIER_PROJECT_DIR", folder), ("CLAUDE_PROJECT_DIR", folder), (DEPTH, depth.as_ref())];
        let own = spec.env.iter().map(|(name, value)| (name.as_str(), OsStr::new(value)));
        for (name, value) in ours.into_iter().chain(own) {
            env.retain(|(other, _)| other != name);
            env.push((name.into(), value.into()));
        }
        env
    }

    /// Every variable of one run.
    pub(super) fn of_run(&self, spec: &CommandSpec, call: Call<'_>) -> Vec<(OsString, OsString)> {
        let mut env = self.inherited(&spec.env_pass);
        // A hook inside a hook must not find the outer hook's variables.
        env.retain(|(name, _)| name != "CROSIER_ASYNC_PHASE");
        let mut tell = |name: &str, value: &OsStr| {
            env.retain(|(other, _)| other != name);
            if value.len() <= MAX_VALUE_BYTES && is_carried(OsStr::new(name), value) {
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
        tell("CROSIER_PROJECT_DIR", spec.project_dir.as_os_str());
        tell("CLAUDE_PROJECT_DIR", spec.project_dir.as_os_str());
        tell(DEPTH, (self.depth + 1).to_string().as_ref());
        if call.second {
            tell("CROSIER_ASYNC_PHASE", "2".as_ref());
        }
        for (name, value) in &spec.env {
            tell(name, value.as_ref());
        }
        env
    }
}

/// Whether an environment can carry a variable at all.
fn is_carried(name: &OsStr, value: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.as_encoded_bytes().contains(&0)
}

/// Whether a variable looks like a credential, or changes what programs load. No hook inherits such a one unless
/// its configuration names it; hosts may want the same for what they start themselves.
#[must_use]
pub fn is_held_back(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let credential = ["_KEY", "_TOKEN", "_SECRET"].iter().any(|end| name.ends_with(end))
        || ["PASSWORD", "CREDENTIAL"].iter().any(|part| name.contains(part));
    let loader = ["LD_", "DYLD_", "GIT_"].iter().any(|start| name.starts_with(start))
        || ["BASH_ENV", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS"]
            .contains(&name.as_str());
    credential || loader
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_loaders_are_held_back() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GH_TOKEN",
            "AWS_SECRET",
            "db_password",
            "PGPASSWORDFILE",
            "MY_CREDENTIALS",
            "LD_PRELOAD",
            "DYLD_X",
            "BASH_ENV",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "GIT_DIR",
        ] {
            assert!(is_held_back(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HOME", "KEYBOARD", "TOKENIZER", "LDAP", "GITHUB_REF", "PYTHONUNBUFFERED"] {
            assert!(!is_held_back(OsStr::new(name)), "{name}");
        }
    }
}
