//! Variables that programs run, or that put code into them: `PAGER`, `BASH_ENV`, `NODE_OPTIONS`, `GIT_CONFIG_VALUE_0`.

use super::MAX_LEVELS;
use crate::shell::model::{Assignment, Command};
use crate::shell::parser::Parser;
use crate::shell::word::{Piece, Word, assignment};

/// Variables whose value programs run.
const CODE_VARIABLES: [&str; 20] = [
    "BROWSER",
    "EDITOR",
    "FCEDIT",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "VISUAL",
];

/// Variables that put code into programs or switch checks off: the lists of commands judge their values. In the order
/// of their letters.
const LISTED_VARIABLES: [&str; 102] = [
    "ALL_PROXY",
    "ANSIBLE_HOST_KEY_CHECKING",
    "ANTHROPIC_BASE_URL",
    "AWS_ENDPOINT_URL",
    "BUNDLE_GEMFILE",
    "BUNDLE_SSL_VERIFY_MODE",
    "CARGO_HTTP_CHECK_REVOKE",
    "CC",
    "CLASSPATH",
    "COMPOSER_HOME",
    "CONDA_SSL_VERIFY",
    "CONTAINER_HOST",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "CXX",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DYLD_INSERT_LIBRARIES",
    "GCC_EXEC_PREFIX",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_NO_VERIFY",
    "GIT_TEMPLATE_DIR",
    "GOFLAGS",
    "GOINSECURE",
    "GONOSUMCHECK",
    "GONOSUMDB",
    "GOPROXY",
    "GRADLE_OPTS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "HUSKY",
    "HUSKY_SKIP_HOOKS",
    "INPUTRC",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "KUBE_EDITOR",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LEFTHOOK",
    "LUA_CPATH",
    "LUA_PATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAVEN_OPTS",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_STRICT_SSL",
    "OPENAI_BASE_URL",
    "OVERCOMMIT_DISABLE",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERL_LWP_SSL_VERIFY_HOSTNAME",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PRE_COMMIT_ALLOW_NO_CONFIG",
    "PSQLRC",
    "PYTHONHOME",
    "PYTHONHTTPSVERIFY",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "REQUESTS_CA_BUNDLE",
    "RIPGREP_CONFIG_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WRAPPER",
    "R_PROFILE",
    "SKIP",
    "SKIP_HOOKS",
    "SKIP_SIMPLE_GIT_HOOKS",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SYSTEMD_EDITOR",
    "TERMINFO",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INSECURE_HOST",
    "WGETRC",
    "YARN_ENABLE_STRICT_SSL",
    "YARN_STRICT_SSL",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "npm_config_registry",
    "npm_config_script_shell",
    "npm_config_strict_ssl",
];

impl Parser {
    /// Inspects variables whose value is code, and values that become code when they are expanded again.
    pub(super) fn inspect_values(&mut self, at: usize) {
        let command = &self.script.commands[at];
        if command.level > MAX_LEVELS {
            return;
        }
        let mut values = command.assignments.clone();
        if matches!(command.name(), Some("export" | "declare" | "typeset" | "readonly" | "local")) {
            values.extend(command.arguments().iter().filter_map(|word| {
                let length = assignment(word.head())?;
                let name = word.head()[..length].trim_end_matches(['=', '+']).to_owned();
                Some(Assignment { name, value: word.after(length) })
            }));
        }
        for Assignment { name, value } in values {
            if !self.spend(value.show().len()) {
                return;
            }
            if value.pieces().iter().any(hides_code) {
                self.unknown("a text with a substitution in it could be run");
            }
            match name.as_str() {
                // Expanded before every prompt, or before every command that is traced.
                "PS0" | "PS1" | "PS2" | "PS4" => self.latent(value.show().into_owned()),
                "BASH_ENV" | "ENV" => {
                    self.file_code(at, &value);
                    if name == "BASH_ENV" {
                        self.listed_variable(at, &name, &value);
                    }
                }
                "PATH" => {
                    self.changes_path = true;
                    if starts_anywhere(value.head()) {
                        self.listed_variable(at, &name, &value);
                    }
                }
                name if name.starts_with("BASH_FUNC_") => self.exported_function(at, &value),
                name if name.starts_with("GIT_CONFIG_VALUE_") => self.git_setting_of(at, name, &value),
                "GIT_CONFIG_PARAMETERS" => {
                    let text = value.show().replace('\'', "");
                    self.listed_setting(at, &text);
                    self.setting(at, &Word::literal(text));
                }
                name if LISTED_VARIABLES.binary_search(&name).is_ok() || name.starts_with("TF_CLI_ARGS") => {
                    self.listed_variable(at, name, &value)
                }
                name if CODE_VARIABLES.contains(&name) => {
                    self.perhaps_code(at, &value);
                    if starts_anywhere(value.head()) {
                        self.listed_variable(at, name, &value);
                    }
                }
                _ => {}
            }
        }
    }

    /// A variable as a command, so that the lists see it, with the beginning of the command that it is for.
    fn listed_variable(&mut self, at: usize, name: &str, value: &Word) {
        let mut words = vec![Word::literal("env"), Word::literal(format!("{name}={}", value.show()))];
        let command = &self.script.commands[at];
        if !command.assignments.is_empty() {
            words.extend(command.words.iter().take(2).cloned());
        }
        let level = self.script.commands[at].level + 1;
        self.script.commands.push(Command { words, wrapper: Some(at), level, ..Command::default() });
    }

    /// `BASH_FUNC_ls%%=() { …; }`: bash reads it as a function.
    fn exported_function(&mut self, at: usize, value: &Word) {
        let text = value.show();
        let body = text.trim_start().strip_prefix("()").unwrap_or(&text).to_owned();
        self.perhaps_code(at, &Word::literal(body));
    }

    /// `GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm x' git x`
    fn git_setting_of(&mut self, at: usize, name: &str, value: &Word) {
        const MAX_BEFORE: usize = 64;
        let number = name.trim_start_matches("GIT_CONFIG_VALUE_");
        let wanted = format!("GIT_CONFIG_KEY_{number}");
        let near = || self.script.commands[..=at].iter().rev().take(MAX_BEFORE);
        let assigned = near().flat_map(|command| command.assignments.iter().take(MAX_BEFORE));
        let key = assigned.filter(|other| other.name == wanted).map(|other| other.value.show().into_owned());
        let words = near().flat_map(|command| command.arguments().iter().take(MAX_BEFORE));
        let exported = words.filter_map(|word| {
            word.known()?.strip_prefix(wanted.as_str())?.strip_prefix('=').map(str::to_owned)
        });
        let Some(key) = key.chain(exported).next() else { return };
        let text = format!("{key}={}", value.show());
        self.listed_setting(at, &text);
        self.setting(at, &Word::literal(text));
    }

    /// A setting as a command, `git -c key=value commit`, so that the lists see it.
    fn listed_setting(&mut self, at: usize, text: &str) {
        let mut words = vec![Word::literal("git"), Word::literal("-c"), Word::literal(text)];
        let command = &self.script.commands[at];
        if command.name() == Some("git") {
            words.extend(command.arguments().iter().take(2).cloned());
        }
        let level = command.level + 1;
        self.script.commands.push(Command { words, wrapper: Some(at), level, ..Command::default() });
    }
}

/// Whether a `PATH` begins with a folder that everybody can write to.
fn starts_anywhere(path: &str) -> bool {
    ["/tmp", "/var/tmp", "/dev/shm", ".:"].iter().any(|folder| path.starts_with(folder))
}

/// Whether a part of a word is text that would be a substitution if it were expanded again.
fn hides_code(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(text) if text.contains("$(") || text.contains('`'))
}
