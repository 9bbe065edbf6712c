//! The input from which a host's code makes one hook: its event, its folder and its values.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::EventKind;

use super::hook::Keys;
use super::tree::{Node, Problems, Source, Span};
use super::value::{Reader, TimeUnit};
use crate::registry::Mode;

/// The configuration of one hook to make. Keys are those of `options:` for a built-in hook, and those of the
/// hook itself for a hook type of the host.
pub struct HookRequest<'a> {
    pub(super) kind: &'a EventKind,
    pub(super) mode: Mode,
    pub(super) folder: &'a Path,
    pub(super) values: Values<'a>,
    /// The position of problems that belong to no key.
    pub(super) span: Span,
    pub(super) source: &'a Arc<Source>,
    pub(super) problems: &'a mut Problems,
    pub(super) lints: bool,
}

/// Where the values of a request are.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    Options(Option<&'a Node>),
    Keys(&'a Keys<'a>),
}

impl<'a> Values<'a> {
    fn get(self, key: &str) -> Option<&'a Node> {
        match self {
            Self::Options(options) => options?.get(key),
            Self::Keys(keys) => keys.get(key),
        }
    }
}

impl std::fmt::Debug for HookRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookRequest").field("event", &self.kind.name).finish_non_exhaustive()
    }
}

impl HookRequest<'_> {
    /// The event of the hook.
    #[must_use]
    pub fn event(&self) -> &EventKind {
        self.kind
    }

    /// When the hook runs, relative to the event.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The folder that relative paths begin at.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// The file that configures the hook. For a configuration that is not a file: the name it was given, in
    /// its folder.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        let name = Path::new(&self.source.name);
        self.folder.join(name.file_name().unwrap_or(name.as_os_str()))
    }

    /// The value of a key as it was written; `None` if it is missing or null.
    #[must_use]
    pub fn node(&self, key: &str) -> Option<&Node> {
        self.values.get(key).filter(|node| !node.is_null())
    }

    /// A text that is not empty.
    pub fn text(&mut self, key: &str) -> Option<String> {
        self.read(key, |reader, node| reader.filled_text(key, node))
    }

    /// A list of texts, or one text; `None` if it is missing.
    pub fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.read(key, |reader, node| Some(reader.texts(key, node)))
    }

    /// True or false.
    pub fn boolean(&mut self, key: &str) -> Option<bool> {
        self.read(key, |reader, node| reader.boolean(key, node))
    }

    /// A whole number.
    pub fn integer(&mut self, key: &str) -> Option<i32> {
        self.read(key, |reader, node| reader.integer(key, node))
    }

    /// A time: `"2s"`, `"1500ms"`, or a number of seconds.
    pub fn duration(&mut self, key: &str) -> Option<Duration> {
        self.read(key, |reader, node| reader.duration(key, node, TimeUnit::Seconds))
    }

    /// One of these words. The error suggests the most similar one, or lists them.
    pub fn word<T: Copy>(&mut self, key: &str, words: &[(&'static str, T)]) -> Option<T> {
        self.read(key, |reader, node| reader.word(key, node, words))
    }

    /// Reports what is wrong with the value of a key, or with the whole hook if it has no such key.
    pub fn error(&mut self, key: &str, message: impl Into<String>, help: impl Into<String>) {
        let span = self.span_of(key);
        self.reader().error_with_help(span, message, help);
    }

    /// Reports what is wrong with a value inside the value of a key.
    pub fn error_at(&mut self, node: &Node, message: impl Into<String>, help: impl Into<String>) {
        self.reader().error_with_help(node.span, message, help);
    }

    /// Reports what is allowed but probably not intended. Has no effect unless the loader lints.
    pub fn warn(&mut self, key: &str, message: impl Into<String>, help: impl Into<String>) {
        let span = self.span_of(key);
        self.reader().warn(span, message, help);
    }

    fn span_of(&self, key: &str) -> Span {
        self.values.get(key).map_or(self.span, |node| node.span)
    }

    fn read<T>(&mut self, key: &str, read: impl FnOnce(&mut Reader<'_>, &Node) -> Option<T>) -> Option<T> {
        let node = self.values.get(key)?;
        read(&mut self.reader(), node)
    }

    fn reader(&mut self) -> Reader<'_> {
        Reader { source: self.source, problems: self.problems, lints: self.lints }
    }
}
