//! Effects → outcome: what a reply asks for, measured against what the event allows.

use std::sync::Arc;

use crosier_protocol::{
    Capability, Decision, Directive, Effects, Ignored, Injected, Opinion, Phase, Report, Rewrite, Target,
};

use super::settle::{Fold, Part};
use crate::registry::Entry;

/// Applies what the event allows and lists the rest in the report.
pub(super) fn apply(fold: &mut Fold, hook: &Entry, part: Part, effects: Effects, report: &mut Report) {
    let mut judge = Judge { hook, part, ignored: &mut report.ignored };
    let denies = matches!(&effects.opinion, Some(opinion) if opinion.decision == Decision::Deny);
    let resumes = judge.hook.kind.capabilities.has(Capability::Resume);
    let own_reason = effects.opinion.as_ref().and_then(|opinion| opinion.reason.clone());
    if let Some(opinion) = effects.opinion {
        report.decision = if denies && resumes {
            resume(fold, &mut judge, opinion.reason);
            None
        } else {
            decide(fold, &mut judge, opinion)
        };
    }
    for rewrite in effects.rewrites {
        self::rewrite(fold, &mut judge, rewrite);
    }
    let outcome = fold.outcome();
    if !effects.context.is_empty() && judge.allows(Capability::Context) {
        outcome.context.extend(effects.context);
    }
    if !effects.inject.is_empty() && judge.allows(Capability::Inject) {
        outcome.inject.extend(effects.inject.into_iter().map(|injection| Injected {
            strategy: injection.strategy,
            content: injection.content,
            hook: Arc::clone(&hook.name),
        }));
    }
    if effects.suppress && judge.allows(Capability::Suppress) {
        outcome.suppress_output = true;
    }
    if let Some(permissions) = effects.permissions
        && judge.allows(Capability::Permissions)
    {
        outcome.updated_permissions = Some(permissions);
    }
    outcome.notices.extend(effects.notices.into_iter().map(|mut notice| {
        notice.hook = Arc::clone(&hook.name);
        notice
    }));
    let interrupt = effects.interrupt && judge.allows(Capability::Interrupt);
    match effects.proceed {
        Some(false) if part == Part::Observer => judge.ignore("halt", OBSERVER),
        Some(false) => halt(fold, hook, effects.stop_reason),
        // Everywhere else `continue: true` says what is so anyway.
        Some(true) if resumes && !denies => resume(fold, &mut judge, effects.stop_reason),
        _ => {}
    }
    for key in effects.unknown {
        let why = "no family of replies has this key";
        judge.ignore(&format!("key:{key}"), why);
    }
    if interrupt {
        // Another hook of the stage may have denied first, with a reason of its own.
        let is_the_first = fold.outcome().by.as_ref() == Some(&hook.name);
        let reason =
            if is_the_first { fold.outcome().reason.as_deref().map(str::to_owned) } else { own_reason };
        halt(fold, hook, reason);
    }
}

const OBSERVER: &str = "a hook that observes has no effect";

/// What one hook may do in its part, with the list of what it asked for in vain.
struct Judge<'a> {
    hook: &'a Entry,
    part: Part,
    ignored: &'a mut Vec<Ignored>,
}

impl Judge<'_> {
    fn ignore(&mut self, effect: &str, why: impl Into<String>) {
        self.ignored.push(Ignored { effect: effect.to_owned(), why: why.into() });
    }

    fn allows(&mut self, capability: Capability) -> bool {
        let word = capability.word();
        if self.part == Part::Observer {
            self.ignore(word, OBSERVER);
            return false;
        }
        if !self.hook.kind.capabilities.has(capability) {
            self.ignore(word, format!("{} has no {word}", self.hook.kind.name));
            return false;
        }
        true
    }
}

/// Raises the decision, if the event has it. The first hook with the winning decision keeps its reason.
fn decide(fold: &mut Fold, judge: &mut Judge<'_>, opinion: Opinion) -> Option<Decision> {
    let capability = match opinion.decision {
        Decision::Deny => Capability::Deny,
        Decision::Ask => Capability::Ask,
        Decision::Allow => Capability::Allow,
    };
    let could = judge.hook.kind.capabilities.has(capability) && judge.part != Part::Observer;
    // Allow where nothing can be allowed is no opinion: it is what happens anyway.
    if opinion.decision == Decision::Allow && !could {
        return None;
    }
    if !judge.allows(capability) {
        // The reason is worth reading, although nothing is stopped.
        let takes_context =
            judge.hook.kind.capabilities.has(Capability::Context) && judge.part != Part::Observer;
        if opinion.decision == Decision::Deny && takes_context {
            fold.outcome().context.extend(opinion.reason);
        }
        return None;
    }
    let outcome = fold.outcome();
    if outcome.decision < Some(opinion.decision) {
        let name = &judge.hook.name;
        let reason = match (opinion.reason, opinion.decision) {
            (Some(reason), _) if !reason.is_empty() => Some(reason.into()),
            (_, Decision::Deny) => Some(format!("denied by hook {name}").into()),
            _ => None,
        };
        outcome.decision = Some(opinion.decision);
        outcome.reason = reason;
        outcome.by = Some(Arc::clone(name));
    }
    Some(opinion.decision)
}

/// Replaces the row's rewritable field, if this is it.
fn rewrite(fold: &mut Fold, judge: &mut Judge<'_>, rewrite: Rewrite) {
    let row = &judge.hook.kind;
    let field = match (row.rewrites, &rewrite.target) {
        (Some((Phase::Pre, field)), Target::Input) | (Some((Phase::Post, field)), Target::Output) => {
            Some(field)
        }
        (Some((_, field)), Target::Field(name)) if name == field => Some(field),
        _ => None,
    };
    let Some(field) = field else {
        let why = match &rewrite.target {
            Target::Input => format!("{} has no input to rewrite", row.name),
            Target::Output => format!("{} has no output to rewrite", row.name),
            Target::Field(name) => format!("`{name}` cannot be rewritten at {}", row.name),
        };
        return judge.ignore(Capability::Rewrite.word(), why);
    };
    if let Some(known) = row.field(field)
        && !known.kind.fits(rewrite.value.text())
    {
        let why = format!("`{field}` must be {}", known.kind.wanted());
        return judge.ignore(Capability::Rewrite.word(), why);
    }
    if judge.part == Part::Together {
        let why = "hooks that run in parallel may not rewrite";
        return judge.ignore(Capability::Rewrite.word(), why);
    }
    if judge.allows(Capability::Rewrite) {
        fold.event = fold.event.rewritten(field, rewrite.value.clone());
        fold.rewritten = Some(rewrite.value);
    }
}

/// The first resume counts; it does not end the walk.
fn resume(fold: &mut Fold, judge: &mut Judge<'_>, reason: Option<String>) {
    if judge.allows(Capability::Resume) && fold.outcome().resume.is_none() {
        let by = Arc::clone(&judge.hook.name);
        fold.outcome().resume = Some(Directive { reason: reason.unwrap_or_default(), by });
    }
}

/// Stops the host's loop; the first halt keeps its reason.
fn halt(fold: &mut Fold, hook: &Entry, reason: Option<String>) {
    if fold.outcome().halt.is_none() {
        let reason = reason.unwrap_or_default();
        fold.outcome().halt = Some(Directive { reason, by: Arc::clone(&hook.name) });
    }
}
