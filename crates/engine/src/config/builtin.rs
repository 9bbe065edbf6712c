//! Ready-made hooks that configuration can name: `type: builtin`, `handler: NAME`, `options: {…}`.
//!
//! A host registers them with [`Loader::builtin`](super::Loader::builtin). Their options are checked when the
//! configuration is loaded: an unknown one is an error that suggests the most similar one.

use std::path::Path;
use std::sync::Arc;

use crosier_protocol::EventKind;
use crosier_protocol::nearest::nearest;

use super::hook::Keys;
use super::request::{HookRequest, Values};
use super::tree::{Node, Value};
use super::value::Reader;
use crate::registry::{Callback, Handler, Mode};

/// A ready-made hook.
pub trait Builtin: Send + Sync {
    /// Its name, the value of `handler:`.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// The options that it has.
    fn options(&self) -> &'static [BuiltinOption];

    /// Whether its hooks are guards unless they set `guard: false`. A guard decides about the final input.
    fn is_guard(&self) -> bool {
        false
    }

    /// Makes the code of one hook. If an option is invalid, reports that to the request and returns `None`.
    fn make(&self, request: &mut HookRequest<'_>) -> Option<Callback>;
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

/// The built-in hooks that a host registered.
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

    /// Whether hooks of this built-in are guards by default.
    pub(super) fn is_guard(&self, name: &str) -> bool {
        self.0.iter().any(|builtin| builtin.name() == name && builtin.is_guard())
    }

    /// Makes the hook that a configuration names.
    pub(super) fn make(
        &self,
        reader: &mut Reader<'_>,
        keys: &Keys<'_>,
        kind: &EventKind,
        mode: Mode,
        folder: &Path,
    ) -> Option<Handler> {
        let Some(node) = keys.get("handler") else {
            reader.error_with_help(
                keys.start(),
                "a hook of type builtin needs a handler",
                "add `handler: NAME`",
            );
            return None;
        };
        let name = reader.filled_text("handler", node)?;
        let Some(builtin) = self.0.iter().find(|builtin| builtin.name() == name) else {
            let names: Vec<&str> = self.0.iter().map(|builtin| builtin.name()).collect();
            let help = match nearest(&name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "this program has no built-in hooks".to_owned(),
                None => format!("there are {}", names.join(", ")),
            };
            reader.error_with_help(node.span, format!("there is no built-in hook `{name}`"), help);
            return None;
        };
        let options = keys.get("options");
        check(reader, builtin.as_ref(), options)?;
        let mut request = HookRequest {
            kind,
            mode,
            folder,
            values: Values::Options(options),
            span: node.span,
            source: reader.source,
            problems: reader.problems,
            lints: reader.lints,
        };
        builtin.make(&mut request).map(Handler::Callback)
    }
}

/// Reports options that the built-in does not have.
fn check(reader: &mut Reader<'_>, builtin: &dyn Builtin, options: Option<&Node>) -> Option<()> {
    let Some(options) = options else { return Some(()) };
    let Value::Map(entries) = &options.value else {
        reader.expected("options", "a mapping", options);
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
        reader.error_with_help(entry.key_span, message, help);
        fine = None;
    }
    fine
}
