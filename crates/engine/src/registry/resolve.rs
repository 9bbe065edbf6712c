//! Turns a [`Hook`] into an [`Entry`]: names it, fills in defaults, and rejects invalid combinations.

use std::sync::Arc;

use super::error::RegisterError;
use super::handler::{Callback, Handler};
use super::hook::{Enforcement, Entry, Hook, Mode};
use super::hook_set::next_number;
use super::layer::Layer;
use super::limits::Limits;

/// The hook as registered in this scope. An unnamed one is named by its number among the unnamed ones of its event.
pub(super) fn resolve(
    hook: Hook,
    scope: Option<Arc<str>>,
    unnamed: &mut usize,
    limits: &Limits,
) -> Result<Entry, RegisterError> {
    let own_name = match hook.name {
        Some(name) => name,
        None => {
            *unnamed += 1;
            format!("{}[{unnamed}]", hook.kind.name).into()
        }
    };
    let name: Arc<str> = match &scope {
        Some(scope) => format!("{scope}/{own_name}").into(),
        None => own_name,
    };
    let matcher = hook.matcher.map_err(|detail| RegisterError::Matcher { detail })?;
    if hook.kind.matcher.is_none() && !matcher.is_all() {
        let matcher = matcher.text().to_owned();
        return Err(RegisterError::NoMatcherField { event: hook.kind.name, matcher });
    }
    if let (true, Some(scope)) = (hook.system, &scope) {
        return Err(RegisterError::SystemInScope { name: name.to_string(), scope: scope.to_string() });
    }
    let timeout = hook.timeout.unwrap_or(limits.timeout);
    if timeout.is_zero() {
        return Err(RegisterError::ZeroTimeout { name: name.to_string() });
    }
    let can_judge = matches!(hook.mode, Mode::Sequential | Mode::Parallel);
    let is_managed = hook.layer == Layer::Managed;
    if is_managed && hook.guard == Some(false) {
        return Err(RegisterError::ManagedNotGuard { name: name.to_string() });
    }
    if let (Some(true), false, Some(mode)) = (hook.guard, can_judge, hook.mode.word()) {
        return Err(RegisterError::ModeCannotGuard { name: name.to_string(), mode });
    }
    // A file's timeout is a default for all its hooks, including built-ins, which are inline callbacks.
    let is_inline = matches!(hook.handler, Handler::Callback(Callback::Inline(_)));
    if is_inline && hook.timeout.is_some() && hook.origin.is_none() {
        return Err(RegisterError::InlineTimeout { name: name.to_string() });
    }
    Ok(Entry {
        name,
        kind: hook.kind,
        layer: hook.layer,
        scope,
        matcher,
        priority: hook.priority,
        timeout,
        on_error: hook.on_error.unwrap_or(limits.on_error),
        mode: hook.mode,
        enforcement: hook.enforcement,
        guard: hook.guard.unwrap_or((hook.system || is_managed) && can_judge),
        system: hook.system,
        enabled: (hook.enabled && hook.enforcement != Enforcement::Off) || hook.system,
        description: hook.description,
        origin: hook.origin,
        sources: hook.sources,
        handler: hook.handler,
        sequence: next_number(),
        shared_name: None,
    })
}
