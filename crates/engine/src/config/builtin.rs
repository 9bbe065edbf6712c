//! Ready-made hooks that configuration can name: `type: builtin`, `handler: NAME`, `options: {…}`.
//!
//! A host registers them with [`Loader::builtin`](super::Loader::builtin). Their options are checked when the
//! configuration is loaded: an unknown one is an error with the nearest right word.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::Kind;
use crosier_protocol::nearest::nearest;

use super::hook::Keys;
use super::tree::{Node, Span, Value};
use super::value::{Sheet, Unit};
use crate::registry::{Callback, Handler, Mode};

/// A ready-made hook.
pub trait Builtin: Send + Sync {
    /// What `handler:` calls it.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// The options that it knows.
    fn options(&self) -> &'static [BuiltinOption];

    /// Makes the code of one hook. What is wrong with its options is told to the request; then there is none.
    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback>;
}

/// One option of a built-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltinOption {
    /// Its key.
    pub name: &'static str,
    /// What it means, in one line.
    pub about: &'static str,
}

impl BuiltinOption {
    /// An option with its meaning.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about }
    }
}

/// One hook that is to be made, and its options.
pub struct BuiltinRequest<'a> {
    kind: &'a Kind,
    mode: Mode,
    folder: &'a Path,
    options: Option<&'a Node>,
    span: Span,
    sheet: &'a mut dyn Complain,
}

/// The part of a sheet that requests use, without its lifetimes.
trait Complain {
    fn text(&mut self, key: &str, node: &Node) -> Option<String>;
    fn texts(&mut self, key: &str, node: &Node) -> Vec<String>;
    fn boolean(&mut self, key: &str, node: &Node) -> Option<bool>;
    fn integer(&mut self, key: &str, node: &Node) -> Option<i32>;
    fn duration(&mut self, key: &str, node: &Node) -> Option<Duration>;
    fn complain(&mut self, span: Span, message: String, help: String);
    fn source_name(&self) -> &str;
}

impl Complain for Sheet<'_> {
    fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        self.filled_text(key, node)
    }
    fn texts(&mut self, key: &str, node: &Node) -> Vec<String> {
        Sheet::texts(self, key, node)
    }
    fn boolean(&mut self, key: &str, node: &Node) -> Option<bool> {
        Sheet::boolean(self, key, node)
    }
    fn integer(&mut self, key: &str, node: &Node) -> Option<i32> {
        Sheet::integer(self, key, node)
    }
    fn duration(&mut self, key: &str, node: &Node) -> Option<Duration> {
        Sheet::duration(self, key, node, Unit::Seconds)
    }
    fn complain(&mut self, span: Span, message: String, help: String) {
        self.error_with_help(span, message, help);
    }
    fn source_name(&self) -> &str {
        &self.source.name
    }
}

impl std::fmt::Debug for BuiltinRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltinRequest").field("event", &self.kind.name).finish_non_exhaustive()
    }
}

impl BuiltinRequest<'_> {
    /// The event of the hook.
    #[must_use]
    pub fn event(&self) -> &Kind {
        self.kind
    }

    /// When the hook runs, seen from the event.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The folder that relative paths mean.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// The file that the hook stands in; a configuration that is none gives the name it goes by.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        let name = Path::new(self.sheet.source_name());
        self.folder.join(name.file_name().unwrap_or(name.as_os_str()))
    }

    /// The value of an option as it was written.
    #[must_use]
    pub fn node(&self, key: &str) -> Option<&Node> {
        self.options?.get(key).filter(|node| !node.is_null())
    }

    /// A text that is not empty.
    pub fn text(&mut self, key: &str) -> Option<String> {
        let node = self.options?.get(key)?;
        self.sheet.text(key, node)
    }

    /// A list of texts, or one text; none when it is not there.
    pub fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let node = self.options?.get(key)?;
        Some(self.sheet.texts(key, node))
    }

    /// True or false.
    pub fn boolean(&mut self, key: &str) -> Option<bool> {
        let node = self.options?.get(key)?;
        self.sheet.boolean(key, node)
    }

    /// A whole number.
    pub fn integer(&mut self, key: &str) -> Option<i32> {
        let node = self.options?.get(key)?;
        self.sheet.integer(key, node)
    }

    /// A time: `"2s"`, `"1500ms"`, or a number of seconds.
    pub fn duration(&mut self, key: &str) -> Option<Duration> {
        let node = self.options?.get(key)?;
        self.sheet.duration(key, node)
    }

    /// Tells what is wrong with an option, or with the hook as a whole when it has no such option.
    pub fn complain(&mut self, key: &str, message: impl Into<String>, help: impl Into<String>) {
        let span = self.options.and_then(|options| options.get(key)).map_or(self.span, |node| node.span);
        self.sheet.complain(span, message.into(), help.into());
    }

    /// Tells what is wrong with a value inside an option.
    pub fn complain_at(&mut self, node: &Node, message: impl Into<String>, help: impl Into<String>) {
        self.sheet.complain(node.span, message.into(), help.into());
    }
}

/// All that a host registered.
#[derive(Default)]
pub(super) struct Builtins(Vec<Arc<dyn Builtin>>);

impl std::fmt::Debug for Builtins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.iter().map(|builtin| builtin.name())).finish()
    }
}

impl Builtins {
    pub(super) fn add(&mut self, builtin: impl Builtin + 'static) {
        self.0.push(Arc::new(builtin));
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Builtin> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Makes the hook that a configuration names.
    pub(super) fn make(
        &self,
        sheet: &mut Sheet<'_>,
        keys: &Keys<'_>,
        kind: &Kind,
        mode: Mode,
        folder: &Path,
    ) -> Option<Handler> {
        let Some(node) = keys.get("handler") else {
            sheet.error_with_help(
                keys.start(),
                "this hook of type builtin names none",
                "add `handler: NAME`",
            );
            return None;
        };
        let name = sheet.filled_text("handler", node)?;
        let Some(builtin) = self.0.iter().find(|builtin| builtin.name() == name) else {
            let names: Vec<&str> = self.0.iter().map(|builtin| builtin.name()).collect();
            let help = match nearest(&name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "this program has no built-in hooks".to_owned(),
                None => format!("there are {}", names.join(", ")),
            };
            sheet.error_with_help(node.span, format!("there is no built-in hook `{name}`"), help);
            return None;
        };
        let options = keys.get("options");
        check(sheet, builtin.as_ref(), options)?;
        let span = node.span;
        let mut request = BuiltinRequest { kind, mode, folder, options, span, sheet };
        builtin.make(&mut request).map(Handler::Callback)
    }
}

/// Every option must be one that the built-in knows.
fn check(sheet: &mut Sheet<'_>, builtin: &dyn Builtin, options: Option<&Node>) -> Option<()> {
    let Some(options) = options else { return Some(()) };
    let Value::Map(entries) = &options.value else {
        sheet.expected("options", "a mapping", options);
        return None;
    };
    let known: Vec<&str> = builtin.options().iter().map(|option| option.name).collect();
    let mut fine = Some(());
    for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
        let help = match nearest(&entry.key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => format!("`{}` has no options", builtin.name()),
            None => format!("its options are {}", known.join(", ")),
        };
        let message = format!("`{}` has no option `{}`", builtin.name(), entry.key);
        sheet.error_with_help(entry.key_span, message, help);
        fine = None;
    }
    fine
}
