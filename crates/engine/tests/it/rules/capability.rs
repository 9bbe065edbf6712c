//! Every event × every effect: what the table allows is applied, and nothing else, and nothing in silence.

use crosier::protocol::event::TABLE;
use crosier::{
    Capability, Decision, Event, EventKind, EventRow, FieldKind, Hook, Json, Mode, Outcome, Phase, Reply,
};

use super::kit::{engine, ignored, json};

/// An event of this row with every field given.
pub(super) fn event_of(row: &'static EventRow) -> Event {
    let value = |kind: FieldKind| match kind {
        FieldKind::Text | FieldKind::TextOrNull => Json::from("text"),
        FieldKind::Bool => json("true"),
        _ => json(r#"{"k":1}"#),
    };
    let fields = row.fields.iter().map(|field| (field.name.to_owned(), value(field.kind))).collect();
    Event::from_fields(EventKind::Static(row), fields).unwrap()
}

/// The outcome when one hook, of this mode, says this.
fn said(row: &'static EventRow, mode: Mode, reply: Reply) -> Outcome {
    let hook = Hook::on_event(EventKind::Static(row)).named("hook").mode(mode);
    engine([hook.callback(move |_: &Event| reply.clone())]).fire_blocking(event_of(row))
}

/// A new value for the field that can be rewritten.
fn rewrite(row: &EventRow) -> Reply {
    let (phase, field) = row.rewrites.unwrap_or((Phase::Pre, ""));
    let text = row.field(field).is_some_and(|field| field.kind != FieldKind::Any);
    let value = if text { Json::from("new") } else { json(r#"{"new":1}"#) };
    match phase {
        Phase::Pre => Reply::none().rewrite_input(value),
        Phase::Post => Reply::none().rewrite_output(value),
    }
}

/// A reply that asks for this one effect.
fn asks_for(row: &EventRow, capability: Capability) -> Reply {
    match capability {
        Capability::Deny => Reply::deny("why"),
        Capability::Ask => Reply::ask("why"),
        Capability::Allow => Reply::allow("why"),
        Capability::Rewrite => rewrite(row),
        Capability::Context => Reply::none().context("c"),
        Capability::Inject => Reply::none().inject(crosier::Strategy::ToolResult, "i"),
        Capability::Suppress => Reply::none().suppress(),
        Capability::Resume => Reply::resume("why"),
        Capability::Interrupt => Reply::none().interrupt(),
        Capability::Permissions => Reply::none().with(|effects| effects.permissions = Some(json("[1]"))),
        other => panic!("no case for {other:?}"),
    }
}

/// Whether the effect is there.
fn has(outcome: &Outcome, capability: Capability) -> bool {
    match capability {
        Capability::Deny => outcome.decision == Some(Decision::Deny),
        Capability::Ask => outcome.decision == Some(Decision::Ask),
        Capability::Allow => outcome.decision == Some(Decision::Allow),
        Capability::Rewrite => outcome.updated_input.is_some() || outcome.updated_output.is_some(),
        Capability::Context => !outcome.context.is_empty(),
        Capability::Inject => !outcome.inject.is_empty(),
        Capability::Suppress => outcome.suppress_output,
        Capability::Resume => outcome.resume.is_some(),
        Capability::Interrupt => outcome.halt.is_some(),
        Capability::Permissions => outcome.updated_permissions.is_some(),
        other => panic!("no case for {other:?}"),
    }
}

#[test]
fn an_effect_is_applied_exactly_where_the_table_allows_it() {
    for row in TABLE {
        for capability in Capability::ALL {
            let about = format!("{} at {}", capability.word(), row.name);
            let outcome = said(row, Mode::Sequential, asks_for(row, capability));
            let resumes = capability == Capability::Deny && row.capabilities.has(Capability::Resume);
            // An interrupt is a part of a denial: without one it has no effect anywhere.
            let applies = row.capabilities.has(capability) && capability != Capability::Interrupt;
            assert_eq!(has(&outcome, capability), applies, "{about}");
            let silent = matches!(capability, Capability::Allow | Capability::Resume) || resumes;
            let listed = !applies && !silent;
            let wanted = if listed { vec![capability.word()] } else { Vec::new() };
            assert_eq!(ignored(&outcome, "hook"), wanted, "{about}");
            // Nothing else happened: no effect stands in for another one.
            for other in Capability::ALL.into_iter().filter(|other| *other != capability) {
                let as_resume = resumes && other == Capability::Resume;
                let as_context = listed && capability == Capability::Deny && other == Capability::Context;
                let wanted = as_resume || as_context && row.capabilities.has(Capability::Context);
                assert_eq!(has(&outcome, other), wanted, "{about} gave {}", other.word());
            }
        }
    }
}

#[test]
fn an_ignored_effect_says_which_event_does_not_have_it() {
    for row in TABLE.iter().filter(|row| !row.capabilities.has(Capability::Inject)) {
        let outcome = said(row, Mode::Sequential, asks_for(row, Capability::Inject));
        assert_eq!(outcome.reports[0].ignored[0].why, format!("{} has no inject", row.name));
    }
}

#[test]
fn a_denial_that_an_event_does_not_have_is_context_where_that_is_taken() {
    for row in TABLE
        .iter()
        .filter(|row| !row.capabilities.has(Capability::Deny) && !row.capabilities.has(Capability::Resume))
    {
        let outcome = said(row, Mode::Sequential, Reply::deny("why"));
        let wanted: &[&str] = if row.capabilities.has(Capability::Context) { &["why"] } else { &[] };
        assert_eq!(outcome.context, wanted, "{}", row.name);
        assert_eq!(outcome.reports[0].decision, None);
        assert!(outcome.halt.is_none() && !outcome.suppress_output);
    }
}

#[test]
fn a_halt_is_allowed_everywhere_and_beats_a_resume() {
    for row in TABLE {
        let outcome = said(row, Mode::Sequential, Reply::halt("enough"));
        assert_eq!(outcome.halt.unwrap().reason, "enough", "{}", row.name);
        let on = || Hook::on_event(EventKind::Static(row));
        let both = engine([
            on().callback(|_: &Event| Reply::resume("go on")),
            on().callback(|_: &Event| Reply::halt("enough")),
        ]);
        let outcome = both.fire_blocking(event_of(row));
        assert!(outcome.halt.is_some() && outcome.resume.is_none(), "{}", row.name);
    }
}

#[test]
fn an_observer_has_no_effect_at_any_event() {
    for row in TABLE {
        let quiet = said(row, Mode::Observe, Reply::none());
        for capability in Capability::ALL {
            let outcome = said(row, Mode::Observe, asks_for(row, capability));
            assert!(Capability::ALL.into_iter().all(|other| !has(&outcome, other)), "{}", row.name);
            assert_eq!(outcome.reports[0].status, quiet.reports[0].status);
        }
    }
}

#[test]
fn the_first_resume_counts_and_does_not_end_the_walk() {
    for name in ["Stop", "SubagentStop"] {
        let row = TABLE.iter().find(|row| row.name == name).unwrap();
        let on = |name: &str| Hook::on_event(EventKind::Static(row)).named(name);
        let engine = engine([
            on("a").callback(|_: &Event| Reply::resume("first")),
            on("b").callback(|_: &Event| Reply::deny("second").context("c")),
            on("c").callback(|_: &Event| ()),
        ]);
        let outcome = engine.fire_blocking(event_of(row));
        let resume = outcome.resume.unwrap();
        assert_eq!((&*resume.by, &*resume.reason), ("a", "first"));
        assert_eq!(outcome.reports.len(), 3);
        assert_eq!(outcome.context, ["c"]);
        assert_eq!(outcome.decision, None);
    }
}
