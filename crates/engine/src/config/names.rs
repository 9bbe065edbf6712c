//! The declared hooks of all files, and their names.

use std::collections::HashMap;
use std::sync::Arc;

use super::tree::{Problem, Problems, Source, Span};

/// A hook and its position in a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeclaredHook {
    /// The agent; `None` for base hooks.
    pub agent: Option<Arc<str>>,
    /// The event.
    pub event: &'static str,
    /// Whether no agent can leave it out.
    pub system: bool,
    /// The name, if it was given one.
    pub name: Option<Arc<str>>,
    /// The file.
    pub source: Arc<Source>,
    /// The position in it.
    pub span: Span,
}

#[derive(Debug, Default)]
pub(super) struct Names {
    hooks: Vec<DeclaredHook>,
    taken: HashMap<(Option<Arc<str>>, Arc<str>), usize>,
}

impl Names {
    /// Adds a hook. A name that is taken is a problem that shows both positions.
    pub(super) fn add(&mut self, hook: DeclaredHook, problems: &mut Problems) {
        if let Some(name) = &hook.name {
            let key = (hook.agent.clone(), Arc::clone(name));
            if let Some(&first) = self.taken.get(&key) {
                let first = &self.hooks[first];
                let problem = Problem::error(
                    &hook.source,
                    hook.span,
                    format!("there is already a hook named `{name}`"),
                );
                let problem = problem.with_help("names are unique: choose another one");
                problems.push(problem.with_related(&first.source, first.span, "the first one is here"));
            } else {
                self.taken.insert(key, self.hooks.len());
            }
        }
        self.hooks.push(hook);
    }

    /// Reports events with more hooks than the limit.
    pub(super) fn check_limit(&self, limit: usize, problems: &mut Problems) {
        let mut counts: HashMap<(Option<&Arc<str>>, &str), usize> = HashMap::new();
        for hook in &self.hooks {
            let count = counts.entry((hook.agent.as_ref(), hook.event)).or_default();
            *count += 1;
            if *count == limit + 1 {
                let message =
                    format!("this is hook {count} of {}, but at most {limit} are allowed", hook.event);
                let help = "raise `max_hooks_per_point`, or let one hook do the work of several";
                problems.push(Problem::error(&hook.source, hook.span, message).with_help(help));
            }
        }
    }

    pub(super) fn of(&self, agent: Option<&str>, event: &str) -> impl Iterator<Item = &DeclaredHook> {
        let wanted = move |hook: &&DeclaredHook| hook.agent.as_deref() == agent && hook.event == event;
        self.hooks.iter().filter(wanted)
    }

    pub(super) fn into_hooks(self) -> Vec<DeclaredHook> {
        self.hooks
    }
}
