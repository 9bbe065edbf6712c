//! Types of hooks that a host defines, besides `command`, `python`, `script` and `builtin`.
//!
//! A host registers one with [`Loader::hook_type`](super::Loader::hook_type). Its name becomes a value of `type:`, its
//! keys are checked like all others, and [`HookType::make`] turns them into code when the configuration is loaded.

use std::fmt;
use std::sync::Arc;

use super::hook::Keys;
use super::keys::Key;
use super::loader::LoadContext;
use super::request::{HookRequest, Values};
use super::section::EventKey;
use super::value::Reader;
use crate::registry::{Callback, Handler, Mode};

/// A type of hook: its name for `type:`, its own keys, and how its hooks are made.
///
/// ```
/// use std::sync::Arc;
/// use crosier::config::{HookRequest, HookType, Key, Loader, ValueKind};
/// use crosier::{Callback, Catalog, Reply};
///
/// struct Greeting;
///
/// impl HookType for Greeting {
///     fn name(&self) -> &'static str {
///         "greeting"
///     }
///     fn keys(&self) -> &'static [Key] {
///         const { &[Key::new("greet", ValueKind::Text, "whom to greet")] }
///     }
///     fn make(&self, request: &mut HookRequest<'_>) -> Option<Callback> {
///         let text = format!("hello {}", request.text("greet")?);
///         Some(Callback::Inline(Arc::new(move |_| Reply::none().context(text.clone()).into())))
///     }
/// }
///
/// let config = "hooks: {SessionStart: [{type: greeting, greet: world}, {greet: everybody}]}";
/// let loaded = Loader::new(Catalog::default()).hook_type(Greeting).text("c", config, "/").load();
/// assert_eq!(loaded.unwrap().hooks.len(), 2);
/// ```
pub trait HookType: Send + Sync {
    /// The value of `type:`.
    fn name(&self) -> &'static str;

    /// The keys that only hooks of this type have. When one of them is present, `type:` may be left out.
    fn keys(&self) -> &'static [Key];

    /// Makes the code of one hook, or reports what is wrong with its keys to the request and returns `None`.
    fn make(&self, request: &mut HookRequest<'_>) -> Option<Callback>;
}

/// The types that a host registered.
#[derive(Default)]
pub(super) struct HookTypes(Vec<Arc<dyn HookType>>);

impl fmt::Debug for HookTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|hook_type| hook_type.name())).finish()
    }
}

impl HookTypes {
    pub(super) fn add(&mut self, hook_type: Arc<dyn HookType>) {
        self.0.push(hook_type);
    }

    pub(super) fn all(&self) -> &[Arc<dyn HookType>] {
        &self.0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<dyn HookType>> {
        self.0.iter()
    }

    /// Every key of every registered type.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.0.iter().flat_map(|hook_type| hook_type.keys())
    }

    /// Whether one of the types has this key.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.keys().any(|known| known.name == key)
    }
}

/// Makes a hook of a registered type.
pub(super) fn make(
    hook_type: &dyn HookType,
    reader: &mut Reader<'_>,
    context: &LoadContext<'_>,
    keys: &Keys<'_>,
    event: &EventKey,
    mode: Mode,
) -> Option<Handler> {
    let mut request = HookRequest {
        kind: &event.kind,
        mode,
        folder: context.folder,
        values: Values::Keys(keys),
        span: keys.start(),
        source: reader.source,
        problems: reader.problems,
        lints: reader.lints,
    };
    hook_type.make(&mut request).map(Handler::Callback)
}
