//! `protect-paths`: files that no tool may read, and files that no tool may change.
//!
//! Paths are taken from the fields of file tools (`Read`, `Write`, `Edit`, `NotebookEdit`, the like of MCP
//! servers, and any field with the name of a path), from patches, and from the words and redirections of shell
//! commands. `.` and `..` are taken out and symlinks followed; a path counts as it is written and as it is.
//! Letters are compared in any case: a file system may take `.ENV` for `.env`.
//!
//! # Options
//! - `no_read`: patterns of files that may be neither read nor written (default: `.env*`, keys, credentials).
//! - `no_write`: patterns of files that may be read but not written (default: `.git`, the hook configuration
//!   itself with its scripts and its state).
//! - `also_no_read`, `also_no_write`: more patterns beside the default ones.
//! - `except`: patterns of files that are free (default: `.env.example` and the like, `*.pub`). Never the
//!   configuration itself.
//!
//! A pattern without `/` is a name at any depth, and so is one that begins with `**/`; one that begins with `./` is
//! relative to the configuration; `~/` is the home folder; `**` is any number of folders. A pattern that fits a folder holds for all in it.
//!
//! On `PreToolUse`, `PermissionRequest` and `PreGitWrite`. What a command reads without naming it (`grep -r x .`,
//! a program of its own) is not seen: this is a guard-rail, not a sandbox.

mod shell;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Capability, Reply};

use crate::guard::{self, Ruling, ToolCall};
use crate::path::{Case, Names, PathGlob, Places, Resolved};
use crate::tool::{self, Access, Subject};

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProtectPaths;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("no_read", "patterns of files that may be neither read nor written"),
    BuiltinOption::new("no_write", "patterns of files that may be read but not written"),
    BuiltinOption::new("also_no_read", "more patterns for no_read, beside the default ones"),
    BuiltinOption::new("also_no_write", "more patterns for no_write, beside the default ones"),
    BuiltinOption::new("except", "patterns of files that are free"),
];

/// What nobody should read: what opens doors.
const NO_READ: &[&str] = &[
    ".env",
    ".env.*",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_*_sk",
    ".ssh",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".vault-token",
    "**/.aws/credentials",
    "**/.aws/config",
    "**/.azure",
    "**/.config/gcloud",
    "**/.config/gh/hosts.yml",
    "**/.docker/config.json",
    "**/.kube/config",
    "**/.cargo/credentials*",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/proc/*/environ",
    "credentials.json",
    "service-account*.json",
    "secrets.yaml",
    "secrets.yml",
];

/// What nobody should change behind a person's back.
const NO_WRITE: &[&str] =
    &[".git", ".hg", ".svn", "crosier.yaml", "crosier.yml", "crosier.yaml.state.json", "*.arma", ".crosier"];

const EXCEPT: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    "*.pub",
    "**/.ssh/known_hosts",
];

/// Which files are protected how.
#[derive(Debug)]
pub(crate) struct Protected {
    base: Names,
    no_read: Vec<(String, PathGlob)>,
    no_write: Vec<(String, PathGlob)>,
    except: Vec<PathGlob>,
    /// The configuration and what belongs to it; no exception holds for them.
    own: Vec<PathBuf>,
}

impl Builtin for ProtectPaths {
    fn name(&self) -> &'static str {
        "protect-paths"
    }

    fn about(&self) -> &'static str {
        "denies reading or changing files like .env, keys, .git and the hook configuration"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn is_guard(&self) -> bool {
        true
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let is_git_write =
            request.event().field("path").is_some() && request.event().capabilities.has(Capability::Deny);
        let fine = if is_git_write {
            guard::check_mode(request, self.name())
        } else {
            guard::check(request, self.name())
        };
        let protected = protected(request)?;
        fine?;
        if is_git_write {
            return Some(Callback::Inline(Arc::new(move |call: Call<'_>| git_write(&protected, call))));
        }
        Some(guard::callback(request, move |call| protected.judge(call)))
    }
}

fn protected(request: &mut BuiltinRequest<'_>) -> Option<Protected> {
    let mut fine = Some(());
    let mut globs = |request: &mut BuiltinRequest<'_>, key: &str, standard: &[&str]| {
        let texts =
            request.texts(key).unwrap_or_else(|| standard.iter().map(|text| (*text).to_owned()).collect());
        let mut found = Vec::with_capacity(texts.len());
        for text in texts {
            match PathGlob::new(&text, Case::Folded) {
                Ok(glob) => found.push((text, glob.anywhere())),
                Err(why) => {
                    request.complain(
                        key,
                        format!("`{key}` has a bad pattern: {why}"),
                        "write it like .env* or ./secret/**",
                    );
                    fine = None;
                }
            }
        }
        found
    };
    let mut no_read = globs(request, "no_read", NO_READ);
    no_read.extend(globs(request, "also_no_read", &[]));
    let mut no_write = globs(request, "no_write", NO_WRITE);
    no_write.extend(globs(request, "also_no_write", &[]));
    let except = globs(request, "except", EXCEPT).into_iter().map(|(_, glob)| glob).collect();
    let file = request.file();
    let mut state = file.clone().into_os_string();
    state.push(".state.json");
    let mut own = vec![file, PathBuf::from(state)];
    own.extend(own.clone().iter().filter_map(|path| std::fs::canonicalize(path).ok()));
    fine.map(|()| Protected {
        base: Names::new(request.folder(), Case::Folded),
        no_read,
        no_write,
        except,
        own,
    })
}

/// A file that is about to be committed.
fn git_write(protected: &Protected, call: Call<'_>) -> Answer {
    let path = call.event.get("path").unwrap_or_default();
    let path = path.plain();
    let places = Places { cwd: Path::new(call.event.cwd()), home: None };
    match protected.objection(&path, Access::Write, &places.resolve(&path)) {
        Some(reason) => Reply::deny(guard::bounded(&reason)).into(),
        None => Reply::none().into(),
    }
}

impl Protected {
    fn judge(&self, call: ToolCall<'_>) -> Ruling {
        let places = Places { cwd: call.cwd, home: None };
        match tool::any_subject(call.tool, call.input) {
            Subject::Shell(scripts) => scripts
                .iter()
                .map(|script| self.judge_script(script, places))
                .find(|ruling| *ruling != Ruling::Nothing)
                .unwrap_or(Ruling::Nothing),
            Subject::Files(access, paths) => {
                let objection =
                    paths.iter().find_map(|path| self.objection(path, access, &places.resolve(path)));
                objection.map_or(Ruling::Nothing, Ruling::Deny)
            }
            Subject::Other => Ruling::Nothing,
            Subject::Unreadable(why) => {
                Ruling::Ask(format!("protect-paths cannot see which files it is about: {why}"))
            }
        }
    }

    /// Why this file must be left alone, if it must.
    pub(crate) fn objection(&self, shown: &str, access: Access, file: &Resolved) -> Option<String> {
        let paths = [&file.lexical, &file.real];
        if access == Access::Write && paths.iter().any(|path| self.own.iter().any(|own| same(own, path))) {
            return Some(format!(
                "`{shown}` is the hook configuration itself; nobody changes it but the person"
            ));
        }
        let both: Vec<Names> = paths[..if file.lexical == file.real { 1 } else { 2 }]
            .iter()
            .map(|path| Names::new(path, Case::Folded))
            .collect();
        let matches =
            |glob: &PathGlob| both.iter().any(|path| glob.matches_tree_names(path, &self.base, None));
        // An exception must hold for the file both as it is written and as it is.
        let free = |path: &Names| self.except.iter().any(|glob| glob.matches_names(path, &self.base, None));
        if both.iter().all(free) {
            return None;
        }
        if let Some((pattern, _)) = self.no_read.iter().find(|(_, glob)| matches(glob)) {
            let what = if access == Access::Read { "read" } else { "changed" };
            return Some(format!(
                "`{shown}` is protected ({pattern}) and must not be {what}; ask the person for what you need from it"
            ));
        }
        if access == Access::Read {
            return None;
        }
        let (pattern, _) = self.no_write.iter().find(|(_, glob)| matches(glob))?;
        Some(format!("`{shown}` is protected ({pattern}) and must not be changed; ask the person to do it"))
    }

    /// Whether a name alone is protected, wherever it is.
    fn objects_to_name(&self, name: &str, access: Access) -> Option<&str> {
        if self.except.iter().any(|glob| glob.matches_name(name)) {
            return None;
        }
        let writes = self.no_write.iter().filter(|_| access == Access::Write);
        let mut all = self.no_read.iter().chain(writes);
        all.find(|(_, glob)| glob.matches_name(name)).map(|(pattern, _)| pattern.as_str())
    }
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || a.to_string_lossy().to_lowercase() == b.to_string_lossy().to_lowercase()
}

#[cfg(test)]
#[path = "protect_tests.rs"]
mod tests;
