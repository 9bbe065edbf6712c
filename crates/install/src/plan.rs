//! What would change in which file, as a value.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::codex;
use crate::file::{self, Content};
use crate::json::{Document, Member, Nesting, WantedEntry};
use crate::line::{self, Program};
use crate::places::{Folder, Places};
use crate::table::{Entry, Event, Form, Row};
use crate::toml;

/// Whose configuration is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's: it applies to every project.
    User,
    /// That of one project.
    Project,
}

/// What to install.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Where.
    pub places: &'a Places,
    /// For the user or one project.
    pub scope: Scope,
    /// The program that the entries call.
    pub program: &'a Program,
    /// Events of hooks in force.
    pub in_force: &'a [String],
    /// Whether to tell Codex that the person trusts the entries.
    pub trust: bool,
}

impl<'a> Request<'a> {
    /// Installs for the user, for the events that every policy needs.
    #[must_use]
    pub fn new(places: &'a Places, program: &'a Program) -> Self {
        Self { places, scope: Scope::User, program, in_force: &[], trust: false }
    }
}

/// One file that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its current content; `None` when it does not exist.
    pub before: Option<Vec<u8>>,
    /// Its new content; `None` when it is removed.
    pub after: Option<Vec<u8>>,
    /// Its mode, if it is new.
    pub mode: u32,
    /// Its content without Crosier's entries, if the current content has some.
    pub original: Option<Vec<u8>>,
}

/// The changes for one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The files, in the order in which they are written.
    pub changes: Vec<Change>,
}

/// Why a file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {why}", path.display())]
pub struct Refused {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

pub(crate) fn refused(path: &Path) -> impl Fn(String) -> Refused + '_ {
    move |why| Refused { path: path.to_owned(), why }
}

/// Reads a file; the error is a refusal.
pub(crate) fn content(path: &Path) -> Result<Option<Content>, Refused> {
    file::read(path).map_err(|error| refused(path)(format!("it cannot be read: {error}")))
}

/// Its text; empty when the file does not exist.
pub(crate) fn text(path: &Path, content: Option<&Content>) -> Result<String, Refused> {
    let bytes = content.map(|content| content.bytes.clone()).unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| refused(path)("it is not text".to_owned()))
}

impl Row {
    /// The file, or folder of programs, of a scope.
    ///
    /// # Errors
    /// When this agent has none.
    pub fn path(&self, places: &Places, scope: Scope) -> Result<PathBuf, Refused> {
        match scope {
            Scope::User => Ok(self.user_path(places)),
            Scope::Project => self.project_path(places).ok_or_else(|| {
                let why = format!("{} has no hooks per project; leave --project out", self.title());
                refused(&places.project)(why)
            }),
        }
    }

    /// What would change so that this agent calls Crosier. Nothing changes if it already does.
    ///
    /// # Errors
    /// When a file of the agent cannot be edited.
    pub fn install_plan(&self, request: &Request<'_>) -> Result<Plan, Refused> {
        let path = self.path(request.places, request.scope)?;
        let events = self.events(request.scope == Scope::User, request.in_force);
        let mut plan = Plan::default();
        match self.form {
            Form::Json { nesting, handler, first } => {
                let wanted = self.wanted(request, &events, handler).map_err(refused(&path))?;
                let after = plan.json(&path, (nesting, self.agent), &wanted, &first())?;
                if self.agent == "codex" && request.trust {
                    plan.codex_trust(&path, &config_of_codex(request.places), &after)?;
                }
            }
            Form::Toml => {
                plan.toml(&path, self.agent, &self.hooks(request, &events).map_err(refused(&path))?)?
            }
            Form::Programs => {
                for event in &events {
                    let words = self.words(request, event).map_err(refused(&path))?;
                    let text = format!("#!/bin/sh\nexec {}\n", line::shell(&words));
                    plan.whole(&path.join(event.name), self.agent, text, 0o755)?;
                }
            }
            Form::Plugin => {
                let event = Event { name: "", is_before_action: false, is_end: false };
                let words = self.words(request, &event).map_err(refused(&path))?;
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let text = crosier_dialect::agent::opencode_plugin(&words);
                plan.whole(&path, self.agent, text, 0o644)?;
            }
        }
        Ok(plan)
    }

    fn words(&self, request: &Request<'_>, event: &Event) -> Result<Vec<String>, String> {
        let name = (self.names_event && !event.name.is_empty()).then_some(event.name);
        request.program.words(self.agent, name, self.timeout(event).0)
    }

    fn wanted(
        &self,
        request: &Request<'_>,
        events: &[Event],
        handler: fn(&Entry<'_>) -> Vec<Member>,
    ) -> Result<Vec<WantedEntry>, String> {
        let one = |event: &Event| {
            let words = self.words(request, event)?;
            let entry = Entry {
                words: &words,
                timeout: self.timeout(event).1,
                is_before_action: event.is_before_action,
            };
            Ok(WantedEntry { event: event.name.to_owned(), handler: handler(&entry) })
        };
        events.iter().map(one).collect()
    }

    fn hooks(&self, request: &Request<'_>, events: &[Event]) -> Result<Vec<toml::Hook>, String> {
        let one = |event: &Event| {
            let command = line::shell(&self.words(request, event)?);
            let timeout = i64::try_from(self.timeout(event).1).unwrap_or(i64::MAX);
            Ok(toml::Hook { event: event.name.to_owned(), command, timeout })
        };
        events.iter().map(one).collect()
    }
}

/// The file in which Codex stores what it trusts.
#[must_use]
pub fn config_of_codex(places: &Places) -> PathBuf {
    Folder::Home(".codex", Some("CODEX_HOME")).of(places).join("config.toml")
}

impl Plan {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn add(
        &mut self,
        path: &Path,
        before: Option<Vec<u8>>,
        after: &str,
        original: Option<String>,
        mode: u32,
    ) {
        if before.as_deref() != Some(after.as_bytes()) {
            let (after, original) = (Some(after.as_bytes().to_vec()), original.map(String::into_bytes));
            self.changes.push(Change { path: path.to_owned(), before, after, mode, original });
        }
    }

    /// Adds the change of a JSON file; returns its new text.
    fn json(
        &mut self,
        path: &Path,
        (nesting, agent): (Nesting, &str),
        wanted: &[WantedEntry],
        first: &[Member],
    ) -> Result<String, Refused> {
        let before = content(path)?;
        let old = text(path, before.as_ref())?;
        let document = Document::parse(&old, nesting, agent).map_err(refused(path))?;
        let original = (!document.found().is_empty()).then(|| {
            document.remove_entries(None);
            document.text()
        });
        let document = Document::parse(&old, nesting, agent).map_err(refused(path))?;
        document.set_entries(wanted, first).map_err(refused(path))?;
        let after = document.text();
        // Check that the edited text has the intended entries.
        let check = Document::parse(&after, nesting, agent).map_err(refused(path))?;
        if check.found().len() != wanted.len() {
            return Err(refused(path)("its hooks cannot be edited".to_owned()));
        }
        self.add(path, before.map(|content| content.bytes), &after, original, 0o600);
        Ok(after)
    }

    fn codex_trust(&mut self, hooks: &Path, config: &Path, after: &str) -> Result<(), Refused> {
        let document = Document::parse(after, Nesting::Groups, "codex").map_err(refused(hooks))?;
        let all = codex::trusted_hooks(hooks, &document.found());
        let before = content(config)?;
        let old = text(config, before.as_ref())?;
        let mut document = toml::parse(&old).map_err(refused(config))?;
        codex::distrust(&mut document, &all);
        let original = toml::edited(&old, &document);
        let original = (original != old).then_some(original);
        let mut document = toml::parse(&old).map_err(refused(config))?;
        codex::trust(&mut document, &all).map_err(refused(config))?;
        let after = toml::edited(&old, &document);
        self.add(config, before.map(|content| content.bytes), &after, original, 0o600);
        Ok(())
    }

    fn toml(&mut self, path: &Path, agent: &str, wanted: &[toml::Hook]) -> Result<(), Refused> {
        let before = content(path)?;
        let old = text(path, before.as_ref())?;
        let mut document = toml::parse(&old).map_err(refused(path))?;
        let original = (!toml::found(&document, agent).is_empty()).then(|| {
            toml::remove_entries(&mut document, agent);
            toml::edited(&old, &document)
        });
        let mut document = toml::parse(&old).map_err(refused(path))?;
        toml::set_entries(&mut document, agent, wanted).map_err(refused(path))?;
        let after = toml::edited(&old, &document);
        self.add(path, before.map(|content| content.bytes), &after, original, 0o600);
        Ok(())
    }

    /// Adds the change of a file that belongs to Crosier as a whole.
    fn whole(&mut self, path: &Path, agent: &str, wanted: String, mode: u32) -> Result<(), Refused> {
        let before = content(path)?;
        if let Some(there) = &before
            && !is_ours_whole(&there.bytes, agent)
        {
            let why = format!(
                "there is already a hook of your own; let it call `crosier hook {agent}`, or move it away"
            );
            return Err(refused(path)(why));
        }
        self.add(path, before.map(|content| content.bytes), &wanted, None, mode);
        Ok(())
    }
}

/// Whether a whole file was written by an installer.
pub(crate) fn is_ours_whole(bytes: &[u8], agent: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let is_program = || {
        let mut lines = text.lines();
        lines.next() == Some("#!/bin/sh")
            && lines
                .next()
                .and_then(|line| line.strip_prefix("exec "))
                .is_some_and(|line| line::is_our_line(line, agent))
    };
    text.starts_with("// Hands the events of opencode to Crosier") || is_program()
}
