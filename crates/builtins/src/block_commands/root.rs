//! What runs as root, and what is fetched without a check of who sends it.

use super::fit::CommandContext;
use crate::shell::{Command, Input, Word};

/// Programs that run a command as another user.
const USER_SWITCHERS: [&str; 6] = ["sudo", "doas", "run0", "pkexec", "gosu", "su-exec"];

/// Longer chains than this (`sudo env nice …`) are not followed.
const MAX_STEPS: usize = 8;

impl CommandContext<'_> {
    /// Whether the command runs as root, on this machine.
    pub(super) fn is_root(&self) -> bool {
        let mut wrapper = self.command.wrapper;
        for _ in 0..MAX_STEPS {
            let Some(command) = wrapper.and_then(|at| self.script.commands.get(at)) else { return false };
            match command.name() {
                Some(name) if USER_SWITCHERS.contains(&name) => return gives_root(command),
                Some("docker" | "podman" | "nerdctl" | "kubectl" | "ssh" | "lxc" | "incus" | "limactl") => {
                    return false;
                }
                _ => wrapper = command.wrapper,
            }
        }
        false
    }

    /// Whether the command is a shell, or something like one, that runs as root and waits for commands.
    pub(super) fn is_root_shell(&self) -> bool {
        let words = self.command.arguments();
        words.iter().all(|word| word.head().starts_with('-'))
            && self.command.input == Input::Inherited
            && self.is_root()
    }

    /// Whether the line fetches code, or logs in somewhere.
    pub(super) fn trusts_unchecked(&self) -> bool {
        const MAX: usize = 64;
        self.script.commands.iter().take(MAX).any(fetches_code)
    }
}

/// `sudo -u postgres` is not root; `sudo -u root` and `sudo -u '#-1'` are.
fn gives_root(command: &Command) -> bool {
    let words = command.arguments();
    let options = words.iter().take_while(|word| word.head().starts_with('-') || word.head().is_empty());
    let user = options.enumerate().find_map(|(at, word)| {
        let head = word.head();
        let name = head.strip_prefix("--user=").or_else(|| head.strip_prefix("-u"));
        match name {
            Some("") => words.get(at + 1).map(Word::show),
            Some(name) => Some(name.to_owned().into()),
            // `-iu postgres`
            None if head == "--user" || (!head.starts_with("--") && head.ends_with('u')) => {
                words.get(at + 1).map(Word::show)
            }
            None => None,
        }
    });
    user.is_none_or(|user| user == "root" || user.starts_with('#'))
}

/// Programs that fetch code, or send credentials.
fn fetches_code(command: &Command) -> bool {
    let first = command.arguments().iter().map(Word::head).find(|head| !head.starts_with('-'));
    let first = first.unwrap_or_default();
    let installs = matches!(
        first,
        "install"
            | "i"
            | "ci"
            | "add"
            | "update"
            | "upgrade"
            | "publish"
            | "login"
            | "sync"
            | "create"
            | "dlx"
    );
    match command.name() {
        Some("npm" | "pnpm" | "bun" | "pip" | "pip3" | "uv" | "poetry" | "pipenv" | "conda" | "gem") => {
            installs
        }
        Some("bundle" | "composer" | "cargo" | "go" | "brew" | "helm" | "twine" | "docker") => installs,
        Some("yarn") => installs || first.is_empty(),
        Some("npx" | "bunx" | "pnpx" | "uvx" | "pipx") => true,
        Some("git") => matches!(first, "clone" | "pull" | "fetch" | "push" | "submodule"),
        Some("python" | "python3") => {
            let words = command.arguments();
            words.iter().any(|word| matches!(word.known(), Some("pip" | "easy_install")))
        }
        Some("curl" | "wget") => command.arguments().iter().any(|word| {
            let lower = word.show().to_lowercase();
            ["authorization", "bearer", "token", "password", "api-key"]
                .iter()
                .any(|part| lower.contains(part))
        }),
        _ => false,
    }
}
