//! Shows the result of a trial, as text and as JSON.

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Decision, Event, Json, Outcome, Report};

use super::Trial;
use crate::describe;
use crate::paint::{Paint, Tone};
use crate::print::one_line;
use crate::setup::{Hooks, count};
use crate::table;
use crate::text::wrap;

/// The text in a reason that precedes the safer alternative.
const INSTEAD: &str = "Instead: ";

/// The decision with its hook and reason, then the safer alternative, what was rewritten, and the agent's reply.
pub(super) fn text(trial: &Trial) -> String {
    let paint = Paint::stdout();
    let mut text = String::new();
    let mut add = |label: &str, tone: Tone, rest: &str| {
        let width = crate::environment::columns().map_or(usize::MAX, |columns| columns.saturating_sub(9));
        for (number, line) in wrap(rest, width).iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            text.push_str(&format!("{} {line}\n", paint.tone(tone, &format!("{label:<8}"))));
        }
    };
    match (&trial.closed, strictest(&trial.outcomes)) {
        (Some(why), _) => add("deny", Tone::Bad, &format!("closed: {why}")),
        (None, None) => {
            add("-", Tone::Faint, "no opinion: no configuration is in force here; `crosier init` writes one")
        }
        (None, Some(outcome)) => {
            let (word, tone) = match outcome.decision {
                Some(Decision::Deny) => ("deny", Tone::Bad),
                Some(Decision::Ask) => ("ask", Tone::Warning),
                Some(Decision::Allow) => ("allow", Tone::Good),
                _ => ("-", Tone::Faint),
            };
            let (reason, instead) = split(outcome.reason.as_deref().unwrap_or_default());
            let by = outcome.by.as_deref().map(one_line).unwrap_or_default();
            add(
                word,
                tone,
                &match (outcome.decision, reason) {
                    (None, _) => no_opinion(&trial.outcomes),
                    (Some(_), "") => format!("by {by}, without a reason"),
                    (Some(_), reason) => format!("by {by}: {}", one_line(reason)),
                },
            );
            if let Some(instead) = instead {
                add("instead", Tone::Good, &one_line(instead));
            }
        }
    }
    for (event, outcome) in trial.events.iter().zip(&trial.outcomes) {
        more(event, outcome, &mut add);
    }
    if let Some((agent, sent, answer)) = &trial.agent {
        add("sends", Tone::Faint, &one_line(sent));
        let said = [&answer.stdout, &answer.stderr];
        let said: Vec<String> =
            said.iter().filter(|text| !text.is_empty()).map(|text| one_line(text.trim_end())).collect();
        let said = if said.is_empty() { "nothing".to_owned() } else { said.join(" ") };
        add("is told", Tone::Faint, &format!("{said} (exit {}), {}", answer.status, agent.title));
        answer.log.iter().for_each(|line| add("note", Tone::Warning, &one_line(line)));
    }
    text
}

/// The outcome that decides.
fn strictest(outcomes: &[Outcome]) -> Option<&Outcome> {
    // The first of several that are equally strict.
    outcomes.iter().rev().max_by_key(|outcome| outcome.decision)
}

/// The reason, and the safer alternative at its end.
fn split(reason: &str) -> (&str, Option<&str>) {
    match reason.split_once(INSTEAD) {
        Some((reason, instead)) => (reason.trim_end(), Some(instead.trim_end())),
        None => (reason, None),
    }
}

fn no_opinion(outcomes: &[Outcome]) -> String {
    let reports = || outcomes.iter().flat_map(|outcome| &outcome.reports);
    let names = |wanted: fn(&Report) -> bool| {
        let mut names: Vec<String> = Vec::new();
        for report in reports().filter(|report| wanted(report)) {
            let name = one_line(&report.hook);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let (asked, rewrote) = (names(|_| true), names(|report| report.rewrote));
    match (asked.len(), &rewrote[..]) {
        (0, _) => "no opinion: no hook matches".to_owned(),
        (_, [_, ..]) => format!("no opinion, but the input was rewritten by {}", rewrote.join(", ")),
        (hooks, []) => {
            format!("no opinion: {} ran, without a decision ({})", count(hooks, "hook"), asked.join(", "))
        }
    }
}

/// The other effects of hooks.
fn more(event: &Event, outcome: &Outcome, add: &mut dyn FnMut(&str, Tone, &str)) {
    if let Some(would) = outcome.would.filter(|would| *would != Decision::Allow) {
        let warned = outcome.reports.iter().find(|report| report.would == Some(would));
        let by = warned.map(|report| one_line(&report.hook)).unwrap_or_default();
        add("would", Tone::Warning, &format!("{} by {by}, which only warns", would.word()));
    }
    let field = outcome.event.rewrites.map_or("", |(_, field)| field);
    if let Some(new) = outcome.updated_input.as_ref().or(outcome.updated_output.as_ref()) {
        for (mark, tone, line) in diff(&event.get(field).unwrap_or_default(), new) {
            add(mark, tone, &line);
        }
    }
    for (hook, failure) in outcome.failures() {
        let is_reason = outcome.by_failure && outcome.by.as_deref() == Some(hook);
        if !is_reason {
            add("failed", Tone::Warning, &one_line(&format!("{hook}: {failure}")));
        }
    }
    outcome.context.iter().for_each(|text| add("context", Tone::Faint, &one_line(text)));
    outcome.notices.iter().for_each(|notice| add(&notice.level, Tone::Faint, &one_line(&notice.text)));
    if let Some(halt) = &outcome.halt {
        add("halt", Tone::Bad, &one_line(&format!("by {}: {}", halt.by, halt.reason)));
    }
    if let Some(resume) = &outcome.resume {
        add("resume", Tone::Warning, &one_line(&format!("by {}: {}", resume.by, resume.reason)));
    }
}

/// What was rewritten, field by field.
fn diff(old: &Json, new: &Json) -> Vec<(&'static str, Tone, String)> {
    let (Some(before), Some(after)) = (old.entries(), new.entries()) else {
        return vec![("-", Tone::Bad, one_line(&old.plain())), ("+", Tone::Good, one_line(&new.plain()))];
    };
    let find = |fields: &[(String, Json)], name: &str| {
        fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    };
    let mut lines = Vec::new();
    let added = after.iter().filter(|(name, _)| find(&before, name).is_none());
    for (name, _) in before.iter().chain(added) {
        let (old, new) = (find(&before, name), find(&after, name));
        if old == new {
            continue;
        }
        let line = |value: Json| one_line(&format!("{name}: {}", value.plain()));
        lines.extend(old.map(|value| ("-", Tone::Bad, line(value))));
        lines.extend(new.map(|value| ("+", Tone::Good, line(value))));
    }
    lines
}

/// Which hooks run for it, in order, and why the others do not.
pub(super) fn plan(hooks: &Hooks, events: &[Event]) -> String {
    let mut drawn = table::table(["HOOK", "WHY", "SCOPE", "DEFINED AT"]);
    for event in events {
        let explained = hooks.engine.explain(event);
        let value = event.matcher_value();
        for hook in explained.plan.hooks().iter().chain(explained.plan.observers()) {
            let why = describe::why_in(hook, value);
            drawn.add_row([describe::name(hook), why, describe::scope(hook), describe::place(hook)]);
        }
        for (hook, inclusion) in &explained.excluded {
            let why = describe::why_out(hook, *inclusion, value, hooks.is_disabled_by_person(&hook.name));
            drawn.add_row([
                describe::name(hook),
                format!("out: {why}"),
                describe::scope(hook),
                describe::place(hook),
            ]);
        }
    }
    format!("\n{}", table::text(&drawn))
}

pub(super) fn json(trial: &Trial) -> String {
    let outcome = strictest(&trial.outcomes);
    let reason = outcome.and_then(|outcome| outcome.reason.as_deref());
    let decision = outcome.and_then(|outcome| outcome.decision).map(Decision::word);
    let files: Vec<String> = trial.files.iter().map(|file| file.display().to_string()).collect();
    let answer = trial.agent.as_ref().map(|(agent, sent, answer)| {
        let sent: Value = Json::parse(sent).ok().and_then(|sent| sent.to_ordered()).unwrap_or_default();
        json!({
            "agent": agent.name,
            "sends": sent,
            "stdout": answer.stdout,
            "stderr": answer.stderr,
            "exit_status": answer.status,
            "notes": answer.log,
        })
    });
    let outcomes: Vec<Value> =
        trial.outcomes.iter().map(|outcome| outcome.to_json().to_ordered().unwrap_or_default()).collect();
    let whole = json!({
        "event": trial.kind.name,
        "decision": if trial.closed.is_some() { Some("deny") } else { decision },
        "by": outcome.and_then(|outcome| outcome.by.as_deref()),
        "reason": trial.closed.as_deref().or(reason),
        "instead": reason.and_then(|reason| split(reason).1),
        "would": outcome.and_then(|outcome| outcome.would).map(Decision::word),
        "closed": trial.closed.is_some(),
        "files": files,
        "answer": answer,
        "outcomes": outcomes,
    });
    format!("{whole:#}")
}
