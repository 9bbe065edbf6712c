//! Rows of a host's own, and rows of another engine.

use std::sync::Arc;

use crosier::{
    Builder, Capability, Decision, Engine, Event, EventError, EventKind, EventRow, Field, FieldKind, Hook,
    Json, Mode, OnError, Phase, RegisterError, Reply, Scope,
};

use super::kit::{engine, ignored, json, quiet, ran, tool};

const TARGET: Field = Field::required("target", FieldKind::Text, "where to");
const PLAN: Field = Field::required("plan", FieldKind::Any, "what to do");
const NOTE: Field = Field::optional("note", FieldKind::Text, "why");

const DEPLOY: EventRow = EventRow::new("PreDeploy", "something is about to be deployed")
    .alias("pre:deploy")
    .fields(&[TARGET, PLAN, NOTE])
    .matches_on("target")
    .allows(&[Capability::Deny, Capability::Rewrite, Capability::Context])
    .rewrites(Phase::Pre, "plan");

fn with_deploy() -> (Builder, EventKind) {
    let mut builder = Engine::builder();
    let kind = builder.event(DEPLOY).unwrap();
    (builder, kind)
}

fn deploy(engine: &Engine, target: &str) -> Event {
    engine.event("PreDeploy", format!(r#"{{"target":"{target}","plan":{{"n":1}}}}"#).as_bytes()).unwrap()
}

#[test]
fn a_row_of_the_host_works_like_a_built_in_one() {
    let (builder, kind) = with_deploy();
    let on = |name: &str| Hook::on_event(kind.clone()).named(name);
    let engine = builder
        .hook(on("all").callback(|e: &Event| {
            Reply::none().rewrite_input(json(r#"{"n":2}"#)).context(e.get("target").unwrap().plain())
        }))
        .hook(on("prod").matching("prod*").callback(|e: &Event| {
            assert_eq!(e.get("plan"), Some(json(r#"{"n":2}"#)));
            Reply::deny("not on a Friday")
        }))
        .hook(on("asks").matching("staging").callback(|_: &Event| Reply::ask("sure?").suppress()))
        .build()
        .unwrap();
    let outcome = engine.fire_blocking(deploy(&engine, "prod-eu"));
    assert_eq!(outcome.decision, Some(Decision::Deny));
    assert!(outcome.to_json().text().starts_with(r#"{"event":"PreDeploy","decision":"deny""#));
    let outcome = engine.fire_blocking(deploy(&engine, "staging"));
    assert_eq!(outcome.updated_input, Some(json(r#"{"n":2}"#)));
    assert_eq!(outcome.context, ["staging"]);
    assert_eq!(ignored(&outcome, "asks"), ["ask", "suppress"], "its row allows neither");
    assert_eq!(ran(&engine.fire_blocking(deploy(&engine, "dev"))), ["all"]);
}

#[test]
fn a_row_of_the_host_is_read_strictly_too() {
    let (builder, _) = with_deploy();
    let engine = builder.build().unwrap();
    assert!(engine.event("pre:deploy", br#"{"target":"x","plan":1}"#).is_ok());
    let missing = engine.event("PreDeploy", b"{}").unwrap_err();
    assert!(matches!(missing, EventError::MissingField { field, .. } if field == "target"));
    let wrong = engine.event("PreDeploy", br#"{"target":1,"plan":1}"#).unwrap_err();
    assert!(matches!(wrong, EventError::WrongType { field, .. } if field == "target"));
    let unknown = engine.event("PreDeplyo", b"{}").unwrap_err();
    assert!(unknown.to_string().contains("did you mean `PreDeploy`?"), "{unknown}");
}

#[test]
fn a_row_whose_name_is_taken_or_whose_fields_are_not_there_is_refused() {
    let mut builder = Engine::builder();
    for row in [
        EventRow::new("PreToolUse", ""),
        EventRow::new("X", "").alias("pre:tool"),
        EventRow::new("X", "").matches_on("gone"),
        EventRow::new("X", "").rewrites(Phase::Pre, "gone"),
    ] {
        assert!(matches!(builder.event(row), Err(RegisterError::InvalidRow { .. })), "{row:?}");
    }
    builder.event(EventRow::new("X", "")).unwrap();
    assert!(builder.event(EventRow::new("X", "")).is_err());
}

/// A row whose matcher field need not be there.
const MAYBE: EventRow =
    EventRow::new("Maybe", "").fields(&[NOTE]).matches_on("note").allows(&[Capability::Deny]);

#[test]
fn an_event_without_the_value_does_not_hide_the_hooks_that_want_one() {
    let mut builder = Engine::builder();
    let kind = builder.event(MAYBE).unwrap();
    let engine = builder
        .hook(Hook::on_event(kind.clone()).named("all").callback(|_: &Event| ()))
        .hook(Hook::on_event(kind).named("guard").matching("rm*").callback(|_: &Event| Reply::deny("no")))
        .build()
        .unwrap();
    let fire = |json: &str| engine.fire_blocking(engine.event("Maybe", json.as_bytes()).unwrap());
    assert_eq!(ran(&fire("{}")), ["all"]);
    assert!(fire(r#"{"note":"rm -rf"}"#).is_denied(), "the plan of an event without a value is not for all");
    assert_eq!(ran(&fire("{}")), ["all"]);
    assert_eq!(ran(&fire(r#"{"note":null}"#)), ["all"]);
    assert_eq!(ran(&fire(r#"{"note":"ls"}"#)), ["all"]);
}

#[test]
fn a_row_of_the_host_has_no_fallback_for_a_failed_guard_but_the_halt() {
    let mut builder = Engine::builder();
    let kind = builder.event(EventRow::new("Mute", "")).unwrap();
    let on = |name: &str| Hook::on_event(kind.clone()).named(name);
    let engine = builder
        .hook(on("watch").mode(Mode::Observe).callback(|_: &Event| ()))
        .hook(on("guard").on_error(OnError::Abort).callback(|_: &Event| crosier::Failure::error("e")))
        .build()
        .unwrap();
    let outcome = engine.fire_blocking(engine.event("Mute", b"{}").unwrap());
    assert_eq!(&*outcome.halt.unwrap().by, "guard");
    assert!(outcome.by_failure);
}

fn other_rows() -> (Engine, Vec<Event>) {
    let mut builder = Engine::builder();
    for name in ["Other0", "Other1", "Other2"] {
        builder.event(EventRow::new(name, "")).unwrap();
    }
    let engine = builder.build().unwrap();
    let events = ["Other0", "Other1", "Other2"].map(|name| engine.event(name, b"{}").unwrap()).into();
    (engine, events)
}

#[tokio::test]
async fn an_event_of_another_engine_runs_no_hooks_and_says_so() {
    let (_theirs, events) = other_rows();
    let (builder, kind) = with_deploy();
    // At the place in the table where the other engine has `Other0`.
    let mine =
        builder.hook(Hook::on_event(kind).named("mine").callback(|_: &Event| Reply::deny("mine"))).build();
    let mine = mine.unwrap();
    for event in events {
        for outcome in [mine.fire(&event).await, mine.fire_blocking(&event)] {
            assert!(outcome.reports.is_empty(), "{outcome:?}");
            assert_eq!(outcome.decision, None);
            assert_eq!(outcome.event.name, event.name());
            assert!(outcome.notices[0].text.contains("another engine"), "{:?}", outcome.notices);
        }
        let explained = mine.explain(&event);
        assert!(explained.plan.is_empty() && explained.excluded.is_empty());
    }
    assert!(mine.fire_blocking(deploy(&mine, "x")).is_denied());
}

#[test]
fn a_hook_on_an_event_of_another_engine_is_refused() {
    let (theirs, events) = other_rows();
    let (builder, mine) = with_deploy();
    let engine = builder.build().unwrap();
    for event in &events {
        let hook = || Hook::on_event(event.kind().clone()).callback(|_: &Event| ());
        let wanted = RegisterError::ForeignEvent { event: event.name().to_owned() };
        let error = engine.register(hook()).unwrap_err();
        assert_eq!(error, wanted);
        assert!(error.to_string().contains("add its row to this one's builder"));
        assert_eq!(engine.register_scoped("a", [hook()]).unwrap_err(), wanted);
        let scope = Scope::new("a").hook(quiet("fine")).overriding(event.kind().clone());
        assert_eq!(engine.enter(scope.clone()).unwrap_err(), wanted);
        assert_eq!(Engine::builder().hook(hook()).build().unwrap_err(), wanted);
        assert_eq!(Engine::builder().scope(scope).build().unwrap_err(), wanted);
        theirs.register(hook()).unwrap();
    }
    assert!(engine.entries().is_empty());
    assert!(theirs.register(Hook::on_event(mine).callback(|_: &Event| ())).is_err());
}

#[test]
fn the_same_row_in_two_engines_is_the_same_event() {
    let (one, kind) = with_deploy();
    let (two, _) = with_deploy();
    let (one, two) = (one.build().unwrap(), two.build().unwrap());
    two.register(Hook::on_event(kind).callback(|_: &Event| Reply::deny("x"))).unwrap();
    assert!(two.fire_blocking(deploy(&one, "x")).is_denied());
}

#[test]
fn a_row_that_only_looks_like_a_built_in_one_is_foreign() {
    let mut forged = crosier::protocol::event::TABLE[6];
    forged.capabilities = crosier::Capabilities::NONE;
    let engine = engine([super::kit::says("guard", Reply::deny("x"))]);
    let kind = EventKind::Shared(Arc::new(forged));
    assert!(engine.register(Hook::on_event(kind.clone()).callback(|_: &Event| ())).is_err());
    let fields = vec![("tool_name".to_owned(), Json::from("Bash")), ("tool_input".to_owned(), json("{}"))];
    let outcome = engine.fire_blocking(Event::from_fields(kind, fields).unwrap());
    assert!(outcome.reports.is_empty() && !outcome.notices.is_empty());
    static LOOSE: EventRow = EventRow::new("Loose", "");
    let outcome = engine.fire_blocking(Event::from_fields(EventKind::Static(&LOOSE), Vec::new()).unwrap());
    assert!(outcome.reports.is_empty() && !outcome.notices.is_empty());
    assert!(engine.fire_blocking(tool("Bash")).is_denied());
}
