//! `protect-paths`: files that no tool may read, and files that no tool may change.
//!
//! Paths are taken from the fields of file tools (`Read`, `Write`, `Edit`, `NotebookEdit`, similar tools of MCP
//! servers, and any field with the name of a path), from the `glob` of searches, from patches, and from the files that
//! shell commands read, write or delete, according to the table of file effects. `.` and `..` are removed and symlinks
//! followed; a path is checked both as written and with links resolved. Case is ignored: a file system may treat `.ENV`
//! as `.env`. Listing files is allowed. When a program that is not in the table gets a file that may be read, a person
//! is asked, and also when code contains a protected name in quotes (`python3 -c "open('.env')"`); for a file that may be
//! read, only when the code can write.
//!
//! # Options
//! - `no_read`: patterns of files that may be neither read nor written (default: `.env*`, keys, credentials of agents,
//!   clouds and tools; of these, writing `.env*` and the like is asked, and so is reading what often has secrets in it:
//!   `*.tfstate`, histories of shells).
//! - `no_write`: patterns of files that may be read but not written (default: `.git`). The files of Crosier and the
//!   files of agents that call it are always among them.
//! - `also_no_read`, `also_no_write`: patterns in addition to the default ones.
//! - `except`: patterns of files that are not protected (default: `.env.example` and similar, `*.pub`). Never the
//!   configuration itself.
//!
//! A pattern without `/` is a name at any depth, and so is one that begins with `**/`; one that begins with `./` is
//! relative to the configuration; `~/` is the home folder; `**` is any number of folders. A pattern that matches a
//! folder covers everything in it.
//!
//! On `PreToolUse`, `PermissionRequest` and `PreGitWrite`. What a command reads without naming it (`grep -r x .`,
//! a program of its own) is not seen: this is a guardrail, not a sandbox.

mod code;
mod created;
mod defaults;
mod embedded;
mod holder;
mod intent;
mod key;
mod literal;
mod mode;
mod own;
mod patterns;
mod protected;
mod selected;
mod shell;
mod variable;
mod wildcards;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Capability, Reply};

use crate::guard::{self, Ruling, ToolCall};
use crate::path::{Case, Names, PathGlob, Places};
use crate::shell::Script;
use crate::tool::{self, Access, Subject};

pub(crate) use defaults::WIRING;
pub(crate) use literal::is_just_text;
pub(crate) use own::{ConfigurationPaths, OwnPaths};
pub(crate) use patterns::Patterns;
pub(crate) use protected::{Objection, Protected};

/// The built-in hook.
#[derive(Debug, Clone, Default)]
pub struct ProtectPaths {
    own: Arc<OwnPaths>,
}

impl ProtectPaths {
    /// The hook, with further files and folders that belong to the configuration and that no tool may change.
    #[must_use]
    pub fn with_own(own: Vec<PathBuf>) -> Self {
        Self::of_host(Arc::new(OwnPaths { files: own.into(), ..OwnPaths::default() }))
    }

    pub(crate) fn of_host(own: Arc<OwnPaths>) -> Self {
        Self { own }
    }
}

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("no_read", "patterns of files that may be neither read nor written"),
    BuiltinOption::new("no_write", "patterns of files that may be read but not written"),
    BuiltinOption::new("also_no_read", "more patterns for no_read, in addition to the default ones"),
    BuiltinOption::new("also_no_write", "more patterns for no_write, in addition to the default ones"),
    BuiltinOption::new("except", "patterns of files that are not protected"),
];

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
        let has_options = OPTIONS.iter().any(|option| request.node(option.name).is_some());
        let asked_for = if has_options { Some(protected(request, &self.own)?) } else { None };
        fine?;
        let (folder, file, own) = (request.folder().to_owned(), request.file(), Arc::clone(&self.own));
        // The default patterns are prepared at the first call: a program that judges one event needs one of its hooks.
        let protected =
            LazyLock::new(move || asked_for.unwrap_or_else(|| default_protected(&folder, &file, &own)));
        if is_git_write {
            return Some(Callback::Inline(Arc::new(move |call: Call<'_>| git_write(&protected, call))));
        }
        Some(guard::callback(request, move |call| protected.judge(call)))
    }
}

fn default_protected(folder: &Path, file: &Path, further: &Arc<OwnPaths>) -> Protected {
    Protected {
        base: Names::new(folder, Case::Folded),
        no_read: Patterns::fixed(&[defaults::NO_READ]),
        no_read_files: Patterns::fixed(&[defaults::NO_READ_FILES]),
        ask_read: Patterns::fixed(&[defaults::ASK_READ]),
        ask_write: Patterns::fixed(&[defaults::ASK_WRITE, defaults::ASK_WRITE_WINDOWS]),
        no_write: Patterns::fixed(&[defaults::NO_WRITE, defaults::WIRING]),
        except: Patterns::fixed(&[defaults::EXCEPT]),
        own: ConfigurationPaths::new(file, Arc::clone(further)),
        guards_wiring: true,
        asks_about_form: true,
    }
}

fn protected(request: &mut BuiltinRequest<'_>, further: &Arc<OwnPaths>) -> Option<Protected> {
    let mut fine = Some(());
    let mut globs = |request: &mut BuiltinRequest<'_>, key: &str, standard: &[&str]| {
        let texts =
            request.texts(key).unwrap_or_else(|| standard.iter().map(|text| (*text).to_owned()).collect());
        let mut found = Vec::with_capacity(texts.len());
        for text in texts {
            match PathGlob::new(&text, Case::Folded) {
                Ok(glob) => found.push((text, glob.anywhere())),
                Err(why) => {
                    request.error(
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
    let has_own_list = request.node("no_read").is_some();
    let has_own_writes = request.node("no_write").is_some();
    let mut no_read = globs(request, "no_read", defaults::NO_READ);
    no_read.extend(globs(request, "also_no_read", &[]));
    let mut no_write = globs(request, "no_write", defaults::NO_WRITE);
    no_write.extend(globs(request, "also_no_write", &[]));
    let except = globs(request, "except", defaults::EXCEPT);
    fine?;
    let standard = default_protected(request.folder(), &request.file(), further);
    let ask_write = if has_own_writes { Patterns::default() } else { standard.ask_write };
    let (no_read_files, ask_read) = if has_own_list {
        (Patterns::default(), Patterns::default())
    } else {
        (standard.no_read_files, standard.ask_read)
    };
    Some(Protected {
        no_read: no_read.into(),
        no_read_files,
        ask_read,
        ask_write,
        no_write: Patterns::new(no_write, &[defaults::WIRING]),
        except: except.into(),
        ..standard
    })
}

/// A file that is about to be committed.
fn git_write(protected: &Protected, call: Call<'_>) -> Answer {
    let path = call.event.get("path").unwrap_or_default();
    let path = path.plain();
    let places = Places { cwd: Path::new(call.event.cwd()), home: None };
    // Others can read what is committed, so a file that must not be read must not be committed.
    let file = places.resolve(&path);
    let objection = protected.objection(&path, Access::Write, &file);
    match objection.or_else(|| protected.objection(&path, Access::Read, &file)) {
        Some(objection) => Reply::deny(guard::bounded(&objection.reason())).into(),
        None => Reply::none().into(),
    }
}

impl Protected {
    fn judge(&self, call: ToolCall<'_>) -> Ruling {
        self.judge_subject(call, tool::any_subject(call.tool, call.input))
    }

    fn judge_scripts(&self, scripts: &[Script], places: Places<'_>) -> Ruling {
        let mut asked = Ruling::Nothing;
        for script in scripts {
            match self.judge_script(script, places) {
                Ruling::Nothing => {}
                Ruling::Ask(reason) => asked = Ruling::Ask(reason),
                ruling => return ruling,
            }
        }
        asked
    }

    /// The ruling about the files of a call with this subject.
    pub(crate) fn judge_subject(&self, call: ToolCall<'_>, subject: Subject) -> Ruling {
        let places = Places { cwd: call.cwd, home: None };
        match subject {
            Subject::Shell(scripts) => self.judge_lines(call, &scripts),
            Subject::Files(access, paths) => {
                let objection = self.objection_to_files(call, access, &paths, places);
                // An unknown tool may also run a command.
                if objection.is_none()
                    && tool::file_access(call.tool).is_none()
                    && let Some(scripts) = tool::scripts(call.tool, call.input)
                {
                    return self.judge_lines(call, &scripts);
                }
                let objection = objection.or_else(|| {
                    let glob = call.input.get("glob").filter(|_| access == Access::Read)?;
                    self.objection_to_search(&glob.as_str()?)
                });
                objection.map_or(Ruling::Nothing, Objection::ruling)
            }
            Subject::Other => Ruling::Nothing,
            Subject::Unreadable(_) if !self.asks_about_form => Ruling::Nothing,
            Subject::Unreadable(why) => {
                Ruling::Ask(format!("protect-paths cannot tell which files it uses: {why}"))
            }
        }
    }

    /// The ruling about lines that begin in the folder which the call names.
    fn judge_lines(&self, call: ToolCall<'_>, scripts: &[Script]) -> Ruling {
        let mut asked = Ruling::Nothing;
        for cwd in tool::folders(call.input, call.cwd) {
            match self.judge_scripts(scripts, Places { cwd: &cwd, home: None }) {
                Ruling::Nothing => {}
                Ruling::Ask(reason) => asked = Ruling::Ask(reason),
                ruling => return ruling,
            }
        }
        asked
    }

    /// Why a tool must not touch one of these files.
    fn objection_to_files(
        &self,
        call: ToolCall<'_>,
        access: Access,
        paths: &[String],
        places: Places<'_>,
    ) -> Option<Objection> {
        // An unknown tool may show the content of a file.
        let is_known = tool::file_access(call.tool).is_some();
        let removes = access == Access::Write && tool::removes(call.tool);
        // Where a tool works is not what it works on.
        let is_place = |path: &str| {
            let named = ["cwd", "workdir"].into_iter().filter_map(|name| call.input.get(name));
            named.into_iter().any(|value| value.as_str().is_some_and(|text| text == path))
        };
        let mut found: Vec<Objection> = Vec::new();
        for path in paths {
            let file = places.resolve(path);
            if !is_known && access == Access::Write {
                found.extend(self.objection(path, Access::Read, &file));
            }
            found.extend(self.objection(path, access, &file));
            if access == Access::Write {
                found.extend(self.question_about_write(path, &file));
            }
            if removes && !is_place(path) {
                found.extend(self.objection_to_removal(path, &file).or_else(|| self.holds_own(path, &file)));
            }
        }
        let place = found.iter().position(|objection| !matches!(objection, Objection::Question(_)));
        (!found.is_empty()).then(|| found.swap_remove(place.unwrap_or(0)))
    }
}

#[cfg(test)]
#[path = "protect_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "attack_tests.rs"]
mod attack_tests;
