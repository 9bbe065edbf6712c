//! Applies what a reply asks for to the outcome, as far as the event allows it.

use std::sync::Arc;

use crosier_protocol::{
    Capability, Decision, Directive, Effects, Ignored, Injected, Json, Notice, NoticeKind, Opinion, Phase,
    Report, Rewrite, Target,
};

use super::role::Role;
use super::settle::Fold;
use crate::registry::{Entry, Pass};

/// Applies what the event allows and lists the rest in the report. `index` is the hook's index in the plan.
pub(super) fn apply(fold: &mut Fold, hook: &Entry, index: usize, effects: Effects, report: &mut Report) {
    let mut request = Request { hook, index, role: Role::of(hook), report };
    let denies = matches!(&effects.opinion, Some(opinion) if opinion.decision == Decision::Deny);
    let resumes = hook.kind.capabilities.has(Capability::Resume);
    let own_reason = effects.opinion.as_ref().and_then(|opinion| opinion.reason.clone());
    if let Some(opinion) = effects.opinion {
        if denies && resumes {
            resume(fold, &mut request, opinion.reason);
        } else {
            decide(fold, &mut request, opinion);
        }
    }
    for rewrite in effects.rewrites {
        self::rewrite(fold, &mut request, rewrite);
    }
    if !effects.context.is_empty() && request.allows(Capability::Context) && request.is_first_context(fold) {
        request.report.context.extend(effects.context.iter().cloned());
        fold.outcome().context.extend(effects.context);
    }
    if !effects.inject.is_empty() && request.allows(Capability::Inject) && request.is_first_injection(fold) {
        fold.outcome().inject.extend(
            effects.inject.into_iter().map(|injection| {
                Injected::new(injection.strategy, injection.content, Arc::clone(&hook.name))
            }),
        );
    }
    if effects.suppress && request.allows(Capability::Suppress) {
        fold.outcome().suppress_output = true;
    }
    if let Some(permissions) = effects.permissions
        && request.allows(Capability::Permissions)
    {
        let report = fold.next_report();
        fold.applied().permit(report, permissions);
    }
    for notice in effects.notices {
        let notice = notice.of_hook(Arc::clone(&hook.name));
        let is_repeated = fold.pass == Pass::Second && fold.outcome().notices.contains(&notice);
        if !is_repeated {
            fold.outcome().notices.push(notice);
        }
    }
    let interrupt = effects.interrupt && request.allows(Capability::Interrupt);
    if interrupt && !denies {
        request.ignore(Capability::Interrupt.word(), "only a denial can interrupt");
    }
    match (effects.proceed, request.role.why_no_effect()) {
        (Some(false), Some(why)) => request.ignore("halt", why),
        (Some(false), None) => halt(fold, hook, effects.stop_reason),
        // At an event without resume, `continue: true` has no effect.
        (Some(true), _) if resumes && !denies => resume(fold, &mut request, effects.stop_reason),
        _ => {}
    }
    for key in effects.unknown {
        let why = "this key is not known";
        request.ignore(&format!("key:{key}"), why);
    }
    if interrupt && denies {
        // Another hook of the stage may have denied first; its reason is not the reason of this interrupt.
        let is_the_first = fold.outcome().by.as_ref() == Some(&hook.name);
        let reason =
            if is_the_first { fold.outcome().reason.as_deref().map(str::to_owned) } else { own_reason };
        halt(fold, hook, reason);
    }
}

/// Records what a hook that only warns would have decided: in its report, in the outcome, and in a notice for
/// a person.
pub(super) fn warn(fold: &mut Fold, hook: &Entry, decision: Decision, reason: &str, report: &mut Report) {
    report.would = report.would.max(Some(decision));
    let outcome = fold.outcome();
    outcome.would = outcome.would.max(Some(decision));
    let text = match reason {
        "" => format!("would {}", decision.word()),
        reason => format!("would {}: {reason}", decision.word()),
    };
    let (kind, level) = (NoticeKind::Notify, "warn");
    let notice = Notice::new(kind, level, text).of_hook(Arc::clone(&hook.name));
    if !outcome.notices.contains(&notice) {
        outcome.notices.push(notice);
    }
}

/// What one hook asks for, with the report that lists what was not applied.
struct Request<'a> {
    hook: &'a Entry,
    index: usize,
    role: Role,
    report: &'a mut Report,
}

impl Request<'_> {
    fn ignore(&mut self, effect: &str, why: impl Into<String>) {
        self.report.ignored.push(Ignored::new(effect, why));
    }

    fn has(&self, capability: Capability) -> bool {
        self.hook.kind.capabilities.has(capability)
    }

    fn allows(&mut self, capability: Capability) -> bool {
        let word = capability.word();
        let why = match self.role.why_no_effect() {
            Some(why) => why.to_owned(),
            None if self.has(capability) => return true,
            None => format!("{} has no {word}", self.hook.kind.name),
        };
        self.ignore(word, why);
        false
    }

    /// Context is taken from one pass only.
    fn is_first_context(&mut self, fold: &Fold) -> bool {
        let given = fold.first_report(self.index).is_some_and(|report| !report.context.is_empty());
        self.is_first(Capability::Context, fold.pass == Pass::Second && given)
    }

    fn is_first_injection(&mut self, fold: &mut Fold) -> bool {
        let name = &self.hook.name;
        let given = fold.pass == Pass::Second && fold.outcome().inject.iter().any(|text| text.hook == *name);
        self.is_first(Capability::Inject, given)
    }

    fn is_first(&mut self, capability: Capability, given: bool) -> bool {
        if given {
            self.ignore(capability.word(), "it was already taken from the first pass");
        }
        !given
    }
}

/// Adds the hook's decision to the outcome, if the event allows it.
fn decide(fold: &mut Fold, request: &mut Request<'_>, opinion: Opinion) {
    let capability = match opinion.decision {
        Decision::Deny => Capability::Deny,
        Decision::Ask => Capability::Ask,
        Decision::Allow => Capability::Allow,
    };
    let could = request.has(capability) && request.role.why_no_effect().is_none();
    if request.role == Role::Warner && request.has(capability) {
        let reason = opinion.reason.unwrap_or_default();
        return warn(fold, request.hook, opinion.decision, &reason, request.report);
    }
    // An allow at an event without allow has no effect, and is not listed as ignored.
    if opinion.decision == Decision::Allow && !could {
        return;
    }
    if !request.allows(capability) {
        // The denial is not applied, but the model still gets its reason.
        let takes_context = request.has(Capability::Context) && request.role.why_no_effect().is_none();
        if opinion.decision == Decision::Deny && takes_context {
            request.report.context.extend(opinion.reason.clone());
            fold.outcome().context.extend(opinion.reason);
        }
        return;
    }
    let name = &request.hook.name;
    let reason = match (opinion.reason, opinion.decision) {
        (Some(reason), _) if !reason.is_empty() => Some(reason.into()),
        (_, Decision::Deny) => Some(format!("denied by hook {name}").into()),
        _ => None,
    };
    let report = fold.next_report();
    fold.applied().decide(request.index, report, opinion.decision, name, reason);
    request.report.decision = Some(opinion.decision);
}

/// Replaces the row's rewritable field, if the rewrite is for that field.
fn rewrite(fold: &mut Fold, request: &mut Request<'_>, rewrite: Rewrite) {
    let row = &request.hook.kind;
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
        return request.ignore(Capability::Rewrite.word(), why);
    };
    if let Some(known) = row.field(field)
        && !known.kind.fits(rewrite.value.text())
    {
        let why = format!("`{field}` must be {}", known.kind.wanted());
        return request.ignore(Capability::Rewrite.word(), why);
    }
    if request.role == Role::NoRewrite {
        let why = "hooks that run in parallel may not rewrite";
        return request.ignore(Capability::Rewrite.word(), why);
    }
    if !request.allows(Capability::Rewrite) {
        return;
    }
    let before = fold.event.clone();
    let present = || before.get(field).unwrap_or_else(Json::null);
    if fold.pass == Pass::Second && request.has(Capability::Deny) {
        // After the second pass no guard would check a new input, and this guard rejects the current one:
        // deny.
        if rewrite.value != present() {
            let name = &request.hook.name;
            let reason = format!("hook {name} rejects the input as later hooks changed it");
            let opinion = Opinion::new(Decision::Deny, Some(reason));
            decide(fold, request, opinion);
        }
        return;
    }
    request.report.rewrote = true;
    fold.rewritten = true;
    let (event, old) = before.replaced(field, rewrite.value.clone());
    fold.event = event;
    fold.applied().rewrite(request.index, rewrite.value, || old.unwrap_or_else(present));
}

/// Resumes the host's loop; the first resume keeps its reason. Later hooks still run.
fn resume(fold: &mut Fold, request: &mut Request<'_>, reason: Option<String>) {
    if request.allows(Capability::Resume) && fold.outcome().resume.is_none() {
        let by = Arc::clone(&request.hook.name);
        fold.outcome().resume = Some(Directive::new(reason.unwrap_or_default(), by));
    }
}

/// Stops the host's loop; the first halt keeps its reason.
fn halt(fold: &mut Fold, hook: &Entry, reason: Option<String>) {
    if fold.outcome().halt.is_none() {
        let reason = reason.unwrap_or_default();
        fold.outcome().halt = Some(Directive::new(reason, Arc::clone(&hook.name)));
    }
}
