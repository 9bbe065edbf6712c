//! Secrets on their way to another machine.

use std::sync::LazyLock;

use super::code::placeholder_folder;
use super::environment::{PASSES_ON, prints_all};
use super::fit::CommandContext;
use super::target::names_one;
use crate::shell::{Command, Effect, FileUse, Input, Origin, Word};
use crate::token::{WildcardSet, Wildcards};

/// Files with secrets in them.
const SECRETS: [&str; 37] = [
    "~",
    "~/",
    "~/.config",
    ".env",
    "*/.env",
    ".env.*",
    "*/.env.*",
    "*.pem",
    "*.key",
    "*id_rsa*",
    "*id_ed25519*",
    "*id_ecdsa*",
    "~/.ssh",
    "~/.ssh/*",
    "~/.aws",
    "~/.aws/*",
    "~/.kube*",
    "~/.gnupg*",
    "~/.netrc",
    "~/.npmrc",
    "~/.pypirc",
    "~/.docker/config.json",
    "~/.config/gcloud*",
    "~/.azure*",
    "~/.git-credentials",
    "~/.claude*",
    "~/.codex*",
    "~/.bash_history",
    "~/.zsh_history",
    "*credentials*",
    "*secrets.*",
    "/etc/passwd",
    "/etc/shadow",
    "/proc/*/environ",
    "*.keystore",
    "*wallet*",
    "~/.password-store*",
];

static SECRET_NAMES: LazyLock<WildcardSet> =
    LazyLock::new(|| SECRETS.iter().map(|name| Wildcards::new(name)).collect::<Vec<_>>().into());

/// Endings of sample files, which contain no real secrets.
const SAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];

impl CommandContext<'_> {
    /// Whether the command sends a file with secrets, or the environment, somewhere.
    pub(super) fn sends_secrets(&self) -> bool {
        let here = self.places.cwd;
        if !goes_out(self.command) {
            return false;
        }
        let is_secret = |word: &Word| {
            !SAMPLES.iter().any(|end| word.show().ends_with(end)) && names_one(word, &SECRET_NAMES, here)
        };
        // A key that the program itself logs in with is not being sent.
        let sends = |word: &Word| is_secret(word) && !is_identity(self.command, word);
        if self.files().iter().any(|file| file.effect >= Effect::Read && sends(&file.path)) {
            return true;
        }
        // `sftp host <<< "put .env"`
        let is_session = matches!(self.command.name(), Some("sftp" | "ftp" | "lftp" | "tftp"));
        let typed = self.command.stdin_text.as_deref().filter(|_| is_session).unwrap_or_default();
        let names = typed.split_whitespace().take(64).map(|word| Word::literal(word.replace("${HOME}", "~")));
        if names.into_iter().any(|word| is_secret(&word)) {
            return true;
        }
        // A title or a text may name anything.
        let is_name = |word: &&Word| !word.show().contains(char::is_whitespace);
        if self.command.name() == Some("gh") && self.command.arguments().iter().filter(is_name).any(sends) {
            return true;
        }
        if self
            .files()
            .iter()
            .any(|file| file.effect >= Effect::Read && self.is_packed_here(&file.path, &is_secret))
        {
            return true;
        }
        // `find … -exec curl -F f=@{} …`: whatever is found is sent.
        let is_unknown = |file: &FileUse<'_>| file.effect >= Effect::Read && file.path.known().is_none();
        if self.files().iter().any(is_unknown) && self.is_sent_as_found() {
            return true;
        }
        let mut inputs = vec![self.command.input.clone()];
        for unknown in self.command.arguments().iter().flat_map(Word::unknowns) {
            if let Origin::Output(range) | Origin::Process(range) = &unknown.from {
                inputs.push(Input::Pipe(range.clone()));
            }
        }
        inputs.into_iter().any(|input| self.holds_secrets(input, &is_secret, 0))
    }

    /// Whether a variable with a well-known key is printed, or is sent to a host other than its issuer.
    pub(super) fn shows_key(&self) -> bool {
        let words = self.command.arguments();
        match self.command.name() {
            Some("printenv") => {
                words.iter().filter_map(Word::known).any(|name| key_owner(name).is_some()) && self.is_shown()
            }
            Some("echo" | "printf") => words.iter().flat_map(keys_in).next().is_some() && self.is_shown(),
            // A name that is looked up reaches whoever answers for it.
            Some("dig" | "host" | "nslookup" | "drill" | "ping" | "whois") => {
                words.iter().flat_map(keys_in).next().is_some()
            }
            _ => {
                let addresses: Vec<String> = words
                    .iter()
                    .filter(|word| !is_local(word))
                    .map(|word| word.show().to_lowercase())
                    .collect();
                let is_theirs = |owners: &[&str]| {
                    let host = |address: &String| {
                        let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
                        let host = rest.split(['/', '?']).next().unwrap_or_default();
                        host.contains('$') || owners.iter().any(|owner| host.contains(owner))
                    };
                    addresses.is_empty() || addresses.iter().any(host)
                };
                words.iter().flat_map(keys_in).any(|owners| !is_theirs(owners))
            }
        }
    }

    /// Whether what the command prints is seen, as it is or in another form, and not used or written to a file.
    fn is_shown(&self) -> bool {
        self.is_printed(self.at, 0)
    }

    fn is_printed(&self, at: usize, depth: usize) -> bool {
        const MOST_STEPS: usize = 6;
        if !self.script.commands[at].redirections.is_empty() || self.is_captured(at) || depth > MOST_STEPS {
            return false;
        }
        let reads = |other: &Command| matches!(&other.input, Input::Pipe(range) if range.contains(&at));
        let all = self.script.commands.iter().enumerate();
        let mut readers = all.filter(|(_, other)| reads(other)).peekable();
        if readers.peek().is_none() {
            return true;
        }
        readers.any(|(place, reader)| {
            let passes_on =
                |name: &str| PASSES_ON.contains(&name) || matches!(name, "tr" | "fold" | "strings");
            reader.name().is_some_and(passes_on) && place > at && self.is_printed(place, depth + 1)
        })
    }

    /// Whether the line itself packed this file out of secrets.
    fn is_packed_here(&self, path: &Word, is_secret: &dyn Fn(&Word) -> bool) -> bool {
        const MAX_BEFORE: usize = 16;
        let Some(path) = path.known() else { return false };
        let packs = |command: &Command| {
            let packer = matches!(
                command.name(),
                Some(
                    "tar" | "gtar" | "bsdtar" | "zip" | "7z" | "gpg" | "ditto" | "cp" | "openssl" | "base64"
                )
            );
            packer && command.arguments().iter().any(is_secret)
        };
        let names = |command: &Command| {
            let is_it = |word: &Word| {
                word.known().is_some_and(|text| text == path || text.ends_with(&format!("={path}")))
            };
            command.arguments().iter().any(is_it)
                || command.redirections.iter().any(|redirection| redirection.target.known() == Some(path))
        };
        let start = self.at.saturating_sub(MAX_BEFORE);
        self.script.commands[start..self.at].iter().any(|command| packs(command) && names(command))
    }

    /// Whether a command prints a well-known key, and this one sends it to a host other than its issuer.
    fn prints_foreign_key(&self, command: &Command) -> bool {
        let address = || self.command.arguments().iter().map(|word| word.show().to_lowercase());
        let is_theirs =
            |owners: &[&str]| address().any(|text| owners.iter().any(|owner| text.contains(owner)));
        matches!(command.name(), Some("echo" | "printf"))
            && command.arguments().iter().flat_map(keys_in).any(|owners| !is_theirs(owners))
    }

    /// Whether a search runs the command for everything that it finds.
    fn is_sent_as_found(&self) -> bool {
        let mut wrapper = self.command.wrapper;
        for _ in 0..4 {
            let Some(command) = wrapper.and_then(|at| self.script.commands.get(at)) else { return false };
            if matches!(command.name(), Some("find" | "fd" | "fdfind" | "xargs" | "parallel" | "locate")) {
                return true;
            }
            // `find … -exec sh -c 'curl -d @"$1" …' _ {} +`
            wrapper = command.wrapper;
        }
        false
    }

    fn holds_secrets(&self, input: Input, is_secret: &dyn Fn(&Word) -> bool, depth: usize) -> bool {
        let Input::Pipe(range) = input else { return false };
        let commands = self.script.commands.get(range).unwrap_or_default();
        depth < 8
            && commands.iter().any(|command| {
                prints_all(command)
                    || self.prints_foreign_key(command)
                    || command.files().iter().any(|file| file.effect >= Effect::Read && is_secret(&file.path))
                    || self.holds_secrets(command.input.clone(), is_secret, depth + 1)
            })
    }
}

/// Names that variables with keys begin with, and the hosts that those keys are for.
const OWNERS: [(&str, &[&str]); 20] = [
    ("AWS_", &["amazonaws", "aws."]),
    ("GITHUB_", &["github"]),
    ("GH_", &["github"]),
    ("GITLAB_", &["gitlab"]),
    ("OPENAI_", &["openai"]),
    ("ANTHROPIC_", &["anthropic"]),
    ("GEMINI_", &["google"]),
    ("GOOGLE_", &["google"]),
    ("NPM_", &["npm"]),
    ("NODE_AUTH_", &["npm", "github"]),
    ("STRIPE_", &["stripe"]),
    ("SLACK_", &["slack"]),
    ("HF_", &["huggingface"]),
    ("HUGGINGFACE_", &["huggingface"]),
    ("CLOUDFLARE_", &["cloudflare"]),
    ("DIGITALOCEAN_", &["digitalocean"]),
    ("AZURE_", &["azure", "microsoft"]),
    ("PYPI_", &["pypi"]),
    ("CARGO_REGISTRY_", &["crates.io"]),
    ("TWILIO_", &["twilio"]),
];

/// The hosts that a key is for, when a variable of this name has a well-known one.
pub(super) fn key_owner(name: &str) -> Option<&'static [&'static str]> {
    let is_key = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PAT"].iter().any(|end| name.ends_with(end));
    let owner = OWNERS.iter().find(|(start, _)| name.starts_with(start));
    owner.filter(|_| is_key).map(|(_, hosts)| *hosts)
}

/// The owners of the keys in a word.
fn keys_in(word: &Word) -> impl Iterator<Item = &'static [&'static str]> + '_ {
    word.unknowns().filter_map(|unknown| match &unknown.from {
        Origin::Variable(name) => key_owner(name),
        _ => None,
    })
}

/// Whether the command sends what it reads to another machine.
fn goes_out(command: &Command) -> bool {
    let words = command.arguments();
    let first = words.iter().find_map(|word| word.known().filter(|text| !text.starts_with('-')));
    let second = words.iter().filter_map(Word::known).filter(|text| !text.starts_with('-')).nth(1);
    let has_remote = || {
        words.last().is_some_and(|word| {
            let shown = word.show();
            shown.find(':').is_some_and(|colon| !shown[..colon].contains('/'))
        })
    };
    match command.name() {
        Some("curl" | "wget" | "http" | "https" | "xh") => !words.iter().all(is_local),
        Some(
            "nc" | "ncat" | "netcat" | "socat" | "telnet" | "ftp" | "sftp" | "mail" | "sendmail" | "mutt"
            | "dig" | "nslookup" | "host" | "ping" | "tftp" | "lftp" | "websocat" | "wscat" | "grpcurl"
            | "mosquitto_pub" | "croc" | "wormhole" | "pastebinit" | "sprunge" | "slackcat" | "swaks"
            | "msmtp" | "ssmtp" | "mpack" | "telegram-send" | "ntfy" | "ix" | "0x0" | "transfer" | "cryptcat"
            | "rcat" | "drill" | "whois" | "finger" | "smbclient" | "ipfs" | "gist" | "hastebin" | "logger"
            | "curlie" | "aria2c" | "ncftpput" | "sbd",
        ) => true,
        Some("openssl") => first == Some("s_client"),
        Some("ssh") => true,
        Some("scp" | "rsync") => has_remote(),
        Some("aws") => match first {
            Some("s3") => words.iter().rev().take(3).any(|word| word.head().starts_with("s3://")),
            Some("s3api") => second == Some("put-object"),
            Some("sns" | "sqs" | "lambda" | "ses" | "ssm" | "kinesis") => true,
            _ => false,
        },
        Some("az") => words.iter().any(|word| matches!(word.known(), Some("upload" | "upload-batch"))),
        Some("gcloud") => matches!(first, Some("storage" | "pubsub")),
        Some("gsutil" | "rclone" | "mc" | "s3cmd" | "b2") => {
            matches!(
                first,
                Some("cp" | "copy" | "put" | "rcat" | "copyto" | "sync" | "move" | "upload" | "upload-file")
            )
        }
        Some("gh" | "glab") => {
            let is_kind = matches!(
                first,
                Some("gist" | "issue" | "pr" | "mr" | "release" | "snippet" | "api" | "repo")
            );
            is_kind
                && !matches!(
                    second,
                    Some("view" | "list" | "checkout" | "clone" | "diff" | "status" | "checks")
                )
        }
        _ => false,
    }
}

/// Whether an address is this machine, or not an address.
fn is_local(word: &Word) -> bool {
    let shown = word.show();
    let is_address =
        shown.contains("://") || (shown.contains('.') && !shown.starts_with(['-', '@', '{', '.', '/']));
    !is_address || shown.contains("localhost") || shown.contains("127.0.0.1") || shown.contains("0.0.0.0")
}

/// The key that a program logs in with: `ssh -i key`.
fn is_identity(command: &Command, word: &Word) -> bool {
    let words = command.arguments();
    let place = words.iter().position(|other| other == word);
    let before = place.and_then(|place| place.checked_sub(1)).and_then(|place| words[place].known());
    matches!(
        before,
        Some(
            "-i" | "--cert"
                | "--key"
                | "-E"
                | "--cacert"
                | "--private-key"
                | "--ca-certificate"
                | "--certificate"
                | "-CAfile"
        )
    )
}

/// Whether a text is the name of a file with secrets.
pub(super) fn is_secret(text: &str) -> bool {
    !text.contains(' ') && names_one(&Word::literal(text), &SECRET_NAMES, placeholder_folder())
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn names_of_secrets() {
        for name in [".env", "a/.env", "~/.ssh/id_rsa", "/home/x/.aws/credentials", "k.pem", "/etc/shadow"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["payload.json", "image.png", "src/env.rs", "keys.rs"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
