//! Code from a repository or an archive that the line itself fetches, and shells on other machines.

use super::fit::CommandContext;
use super::shape::{SHELLS, code_place};
use crate::shell::{Command, Input, Word, base_name, is_interpreter};

/// How many commands before one are searched for the one that fetched it.
const MAX_BEFORE: usize = 32;

/// Programs of a repository that only build it, as `make` and `npm` do.
const BUILDERS: [&str; 10] = [
    "gradlew",
    "gradlew.bat",
    "mvnw",
    "mvnw.cmd",
    "configure",
    "autogen.sh",
    "autogen",
    "sbt",
    "b2",
    "pants",
];

impl CommandContext<'_> {
    /// Whether the command runs a program out of what the line has just cloned or unpacked.
    pub(super) fn runs_cloned(&self) -> bool {
        let earlier = &self.script.commands[self.at.saturating_sub(MAX_BEFORE)..self.at];
        // Building a repository runs its code too: if its host is unknown, ask.
        if builds(self.command) && earlier.iter().any(|other| clones(other) && is_foreign(other)) {
            return true;
        }
        if !runs_own_file(self.command) {
            return false;
        }
        let has_download = earlier.iter().any(downloads);
        earlier.iter().any(|other| clones(other) || (has_download && unpacks(other)))
    }

    /// Whether the command is a shell elsewhere that reads its commands from a file or a pipe of this machine.
    pub(super) fn is_fed_from_here(&self) -> bool {
        let Some(wrapper) = self.wrapper_elsewhere() else { return false };
        let wrapper = &self.script.commands[wrapper];
        let (_, reads) = code_place(self.command.arguments(), true);
        reads && matches!(wrapper.input, Input::Pipe(_) | Input::File)
    }

    /// Whether the command prints the environment of a container or of another machine.
    pub(super) fn shows_environment_elsewhere(&self) -> bool {
        const SECRET: [&str; 7] = ["PASS", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "DATABASE_URL", "DSN"];
        let says_secret = |word: &Word| SECRET.iter().any(|part| word.head().to_uppercase().contains(part));
        let words = self.command.arguments();
        let shows = match self.command.name() {
            Some("printenv") => words.is_empty() || words.iter().any(says_secret),
            Some("env" | "set" | "export") => words.is_empty(),
            _ => false,
        };
        let Some(wrapper) = self.wrapper_elsewhere().filter(|_| shows) else { return false };
        // A filter that looks for something else: `docker exec web env | grep NODE_ENV`.
        let reads = |other: &&Command| matches!(&other.input, Input::Pipe(range) if range.contains(&wrapper));
        let is_filter = |other: &Command| {
            matches!(other.name(), Some("grep" | "egrep" | "rg" | "awk" | "sed" | "cut" | "wc"))
                && !other.arguments().iter().any(says_secret)
        };
        !self.script.commands.iter().filter(reads).any(is_filter)
    }

    /// The place of the command that runs this one in a container or on another machine.
    pub(super) fn wrapper_elsewhere(&self) -> Option<usize> {
        let mut wrapper = self.command.wrapper;
        for _ in 0..4 {
            let place = wrapper?;
            let command = self.script.commands.get(place)?;
            if matches!(
                command.name(),
                Some(
                    "ssh"
                        | "docker"
                        | "podman"
                        | "nerdctl"
                        | "kubectl"
                        | "oc"
                        | "docker-compose"
                        | "fly"
                        | "heroku"
                )
            ) {
                return Some(place);
            }
            wrapper = command.wrapper;
        }
        None
    }
}

/// Whether the command runs a file that is not a program of the system: `./a`, `sh a.sh`, `make install`.
fn runs_own_file(command: &Command) -> bool {
    let Some(program) = command.program() else { return false };
    let is_system =
        |path: &str| ["/bin/", "/usr/", "/opt/", "/sbin/"].iter().any(|start| path.starts_with(start));
    if program.contains('/') {
        return !is_system(program) && !BUILDERS.contains(&base_name(program));
    }
    let words = command.arguments();
    let script = |shell: bool| {
        let (place, _) = code_place(words, shell);
        // With `-c` or `-m` it is not a file.
        let has_code = words.iter().take(place).any(|word| {
            let head = word.head();
            head.starts_with('-') && !head.starts_with("--") && head.contains(['c', 'm', 'e'])
        });
        words.get(place).filter(|_| !has_code).map(Word::head)
    };
    match program {
        "make" | "gmake" | "ninja" => words.iter().any(|word| word.known() == Some("install")),
        "source" | "." => words.first().is_some_and(|word| !word.head().ends_with("activate")),
        shell if SHELLS.contains(&shell) => {
            script(true).is_some_and(|file| !file.is_empty() && !is_system(file))
        }
        other if is_interpreter(other) => {
            const ENDS: [&str; 8] = [".py", ".sh", ".js", ".mjs", ".rb", ".pl", ".php", ".ts"];
            script(false).is_some_and(|file| ENDS.iter().any(|end| file.ends_with(end)))
        }
        _ => false,
    }
}

/// Well-known hosts of repositories.
const FORGES: [&str; 13] = [
    "github",
    "gitlab",
    "bitbucket",
    "codeberg",
    "sr.ht",
    "dev.azure",
    "visualstudio",
    "gitee",
    "gnu.org",
    "kernel.org",
    "huggingface",
    "googlesource",
    "apache.org",
];

/// Whether a repository comes from another host.
fn is_foreign(command: &Command) -> bool {
    let is_address = |text: &&str| text.contains("://") && !text.contains("localhost") && !text.contains('$');
    let address = command.arguments().iter().filter_map(Word::known).find(is_address);
    address.is_some_and(|address| {
        let is_example = address.contains("://example.com") || address.contains("://example.org");
        !is_example && !FORGES.iter().any(|forge| address.contains(forge))
    })
}

/// Programs that run what a repository says.
fn builds(command: &Command) -> bool {
    let first = command.arguments().first().map(Word::head).unwrap_or_default();
    match command.name() {
        Some("npm" | "pnpm" | "yarn" | "bun") => {
            !command.arguments().iter().any(|word| word.known() == Some("--ignore-scripts"))
                && matches!(first, "" | "install" | "i" | "ci" | "run" | "start" | "test" | "exec")
        }
        Some("make" | "gmake" | "pip" | "pip3" | "poetry" | "uv" | "bundle" | "composer") => true,
        Some("cargo") => matches!(first, "run" | "build" | "test" | "install" | "b" | "r" | "t"),
        Some("go") => matches!(first, "run" | "generate" | "test"),
        Some("docker" | "docker-compose") => matches!(first, "compose" | "up" | "build"),
        Some("gradle" | "gradlew" | "mvn" | "mvnw" | "rake" | "just" | "task" | "cmake") => true,
        _ => false,
    }
}

fn clones(command: &Command) -> bool {
    let mut words = command.arguments().iter().filter_map(Word::known).filter(|word| !word.starts_with('-'));
    match command.name() {
        Some("git") => words.any(|word| matches!(word, "clone" | "submodule")),
        Some("gh" | "glab") => words.next() == Some("repo") && words.next() == Some("clone"),
        Some("hg") => words.next() == Some("clone"),
        Some("svn") => matches!(words.next(), Some("checkout" | "co")),
        _ => false,
    }
}

fn downloads(command: &Command) -> bool {
    matches!(command.name(), Some("curl" | "wget" | "aria2c" | "http" | "https" | "xh" | "scp"))
}

fn unpacks(command: &Command) -> bool {
    matches!(command.name(), Some("tar" | "gtar" | "bsdtar" | "unzip" | "7z" | "cpio" | "unxz"))
}
