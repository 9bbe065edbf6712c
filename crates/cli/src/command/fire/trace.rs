//! Shows a person what happens to an event, step by step.

use crosier::{
    ActionGate, Capability, Decision, Entry, Event, Gates, Json, Outcome, OutputGate, PermissionGate, Phase,
    Report, Status, StopGate, ToolGate,
};

use crate::describe;
use crate::print::{note, one_line, plain};
use crate::setup::Hooks;
use crate::table;

/// Shows the input and the plan.
pub(super) fn before(hooks: &Hooks, event: &Event) {
    let explained = hooks.engine.explain(event);
    let wire = event.wire().map_or_else(ToString::to_string, ToString::to_string);
    note(&format!("{:<8}{} {}", "ingest", event.name(), plain(&wire)));
    let mut rows = table::rows();
    for (number, stage) in explained.plan.stages().enumerate() {
        for hook in stage {
            rows.add_row(planned(&format!("stage {}", number + 1), hook, event));
        }
    }
    for hook in explained.plan.observers() {
        rows.add_row(planned("after", hook, event));
    }
    for (hook, inclusion) in &explained.excluded {
        let by_person = hooks.is_disabled_by_person(&hook.name);
        let why = describe::why_out(hook, *inclusion, event.matcher_value(), by_person);
        rows.add_row(["out".to_owned(), describe::name(hook), why]);
    }
    module("plan", &rows, "no hook for this event");
}

fn planned(stage: &str, hook: &Entry, event: &Event) -> [String; 6] {
    [
        stage.to_owned(),
        describe::name(hook),
        describe::why_in(hook, event.matcher_value()),
        format!("priority {}, at most {}", hook.priority, describe::time(hook.timeout)),
        hook.mode.word().unwrap_or_default().to_owned(),
        describe::place(hook),
    ]
}

/// Shows the run, the fold and the gate.
pub(super) fn after(outcome: &Outcome) {
    let mut rows = table::rows();
    for report in &outcome.reports {
        let took = report.duration.map(describe::time).unwrap_or_default();
        rows.add_row([
            if report.pass > 1 {
                format!("{} (pass {})", one_line(&report.hook), report.pass)
            } else {
                one_line(&report.hook)
            },
            status(report.status).to_owned(),
            took,
            one_line(&said(report)),
        ]);
    }
    module("run", &rows, "nothing ran");
    note(&format!("{:<8}{}", "fold", one_line(&folded(outcome))));
    note(&format!("{:<8}{}", "gate", gate(outcome)));
}

/// Prints the rows of one module, in columns.
fn module(name: &str, rows: &comfy_table::Table, nothing: &str) {
    let text = if rows.is_empty() { nothing.to_owned() } else { table::text_beside(rows, 8) };
    for line in text.lines() {
        note(&format!("{name:<8}{line}"));
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
        Status::Background => "left running",
        _ => "unknown",
    }
}

fn said(report: &Report) -> String {
    let decision = report.decision.map(|decision| decision.word().to_owned());
    let would = report.would.map(|would| format!("would {}", would.word()));
    let rewrote = report.rewrote.then(|| "rewrote it".to_owned());
    let context = (!report.context.is_empty()).then(|| format!("context: {:?}", report.context));
    let failure = report.failure.as_ref().map(ToString::to_string);
    let ignored = report.ignored.iter().map(|ignored| format!("ignored {}: {}", ignored.effect, ignored.why));
    let effects = decision.into_iter().chain(would).chain(rewrote).chain(context);
    effects.chain(failure).chain(ignored).collect::<Vec<_>>().join("; ")
}

fn folded(outcome: &Outcome) -> String {
    let by = |by: &str| if by.is_empty() { String::new() } else { format!(" by {by}") };
    let mut parts = vec![match outcome.decision {
        None => "no opinion".to_owned(),
        Some(decision) => {
            let failed = if outcome.by_failure { ", because it failed" } else { "" };
            let reason = outcome.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{}{}{failed}{reason}", decision.word(), by(outcome.by.as_deref().unwrap_or_default()))
        }
    }];
    parts.extend(outcome.would.map(|would| format!("would {} if every hook were enforced", would.word())));
    for (what, value) in [("input", &outcome.updated_input), ("output", &outcome.updated_output)] {
        parts.extend(value.as_ref().map(|value: &Json| format!("{what} is now {value}")));
    }
    parts.extend((!outcome.context.is_empty()).then(|| format!("context: {:?}", outcome.context)));
    parts.extend(
        outcome.inject.iter().map(|text| format!("inject {}: {}", text.strategy.word(), text.content)),
    );
    parts.extend(outcome.notices.iter().map(|notice| format!("notice: {}", notice.text)));
    parts.extend(outcome.suppress_output.then(|| "the output is hidden".to_owned()));
    parts
        .extend(outcome.resume.as_ref().map(|resume| format!("resume{}: {}", by(&resume.by), resume.reason)));
    parts.extend(outcome.halt.as_ref().map(|halt| format!("halt{}: {}", by(&halt.by), halt.reason)));
    parts.join("; ")
}

/// What the host does with the outcome. Derived from what the event allows, so that new events need no code here.
fn gate(outcome: &Outcome) -> String {
    let may = |capability| outcome.event.capabilities.has(capability);
    let is_after = may(Capability::Suppress)
        || may(Capability::Inject)
        || outcome.event.rewrites.is_some_and(|(phase, _)| phase == Phase::Post);
    let words = if may(Capability::Resume) {
        match outcome.stop_gate() {
            StopGate::Halt(_) => "halt: it stops, and is not resumed",
            StopGate::Resume(_) => "resume: the loop goes on",
            StopGate::Stop => "stop",
        }
    } else if may(Capability::Permissions) {
        match outcome.permission_gate() {
            PermissionGate::Interrupt(_) => "interrupt: the tool does not run, and the loop stops",
            PermissionGate::Deny(_) => "deny: the tool does not run",
            PermissionGate::Allow { .. } => "allow: the tool runs without asking",
            PermissionGate::Ask(_) => "ask: the person decides",
        }
    } else if may(Capability::Ask) {
        match outcome.tool_gate() {
            ToolGate::Halt(_) => "halt: the tool does not run, and the loop stops",
            ToolGate::Deny(_) => "deny: the tool does not run",
            ToolGate::Ask { .. } => "ask: a person decides",
            ToolGate::Allow(_) => "allow: the tool runs without asking",
            ToolGate::Proceed(_) => "proceed: the host's own permissions decide",
        }
    } else if is_after {
        let gate = outcome.result_gate();
        return match (&gate.halt, gate.output) {
            (Some(_), _) => "halt: the loop stops",
            (None, OutputGate::Keep) => "keep: the output stays as it is",
            (None, OutputGate::Replace(_)) => "replace: another output takes its place",
            (None, OutputGate::Suppress) => "suppress: the output is hidden",
        }
        .to_owned();
    } else {
        match outcome.action_gate() {
            ActionGate::Halt(_) => "halt: the loop stops",
            ActionGate::Deny(_) => "deny: it does not happen",
            ActionGate::Go(_) => "go on",
        }
    };
    let rewritten = outcome.updated_input.is_some() && outcome.decision != Some(Decision::Deny);
    if rewritten { format!("{words}, with the new input") } else { words.to_owned() }
}
