//! A host's own row with a typed payload, and names that are made at run time.

use std::time::Duration;

use crosier::protocol::event::{intern, intern_fields};
use crosier::{
    Base, Capability, CommandSpec, Engine, Event, EventOf, EventRow, Field, FieldKind, Hook, Json, Payload,
    RegisterError, Reply,
};
use serde::{Deserialize, Serialize};

static ROW: EventRow = EventRow::new("PreDeploy", "a release is about to be deployed")
    .fields(&[
        Field::required("target", FieldKind::Text, "where to"),
        Field::required("release", FieldKind::Any, "what"),
    ])
    .matches_on("target")
    .allows(&[Capability::Deny, Capability::Context]);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct PreDeploy {
    #[serde(skip)]
    base: Base,
    target: String,
    release: Json,
    /// What hooks in this process see and JSON does not have.
    #[serde(skip)]
    secret: u8,
    /// Whether the struct leaves the matcher to the JSON.
    #[serde(skip)]
    silent: bool,
}

impl Payload for PreDeploy {
    fn row() -> &'static EventRow {
        &ROW
    }
    fn base(&self) -> &Base {
        &self.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
    fn matcher_value(&self) -> Option<&str> {
        (!self.silent).then_some(&*self.target)
    }
}

const PRE_DEPLOY: EventOf<PreDeploy> = EventOf::new();

fn deploy(target: &str) -> PreDeploy {
    PreDeploy { target: target.into(), release: Json::from("1.0"), secret: 7, ..PreDeploy::default() }
}

fn engine(other: Option<EventRow>) -> Engine {
    let mut builder = Engine::builder();
    // The row's place in the catalog does not matter.
    other.map(|row| builder.event(row).unwrap());
    builder.event(ROW).unwrap();
    let guard = Hook::on(PRE_DEPLOY)
        .matching("prod*")
        .callback(|deploy: &PreDeploy| Reply::deny(format!("{} {}", deploy.target, deploy.secret)));
    builder.hook(guard).build().unwrap()
}

#[test]
fn a_typed_payload_of_a_hosts_row_is_fired_and_hooked_like_a_built_in_one() {
    for other in [None, Some(EventRow::new("Other", ""))] {
        let engine = engine(other);
        let outcome = engine.fire_blocking(deploy("production"));
        assert_eq!((outcome.is_denied(), outcome.reason.as_deref()), (true, Some("production 7")));
        assert_eq!(outcome.event.name, "PreDeploy");
        assert!(!engine.fire_blocking(deploy("staging")).is_denied());
        let silent = PreDeploy { silent: true, ..deploy("production") };
        assert_eq!(engine.fire_blocking(silent).reason.as_deref(), Some("production 7"));
    }
}

#[test]
fn what_would_run_for_a_typed_payload_is_what_runs() {
    for other in [None, Some(EventRow::new("Other", ""))] {
        let engine = engine(other);
        for (target, hooks) in [("production", 1), ("staging", 0)] {
            let event = Event::from(deploy(target));
            assert_eq!(engine.is_wanted(&event), hooks == 1, "{target}");
            let explained = engine.explain(&event);
            assert_eq!(
                (explained.plan.hooks().len(), explained.excluded.len()),
                (hooks, 1 - hooks),
                "{target}"
            );
        }
    }
}

#[test]
fn the_longest_run_of_a_typed_payload_counts_its_commands() {
    let mut builder = Engine::builder();
    builder.event(ROW).unwrap();
    let command =
        Hook::on(PRE_DEPLOY).timeout(Duration::from_secs(3)).command(CommandSpec::argv(["true"], "/"));
    let engine = builder.build().unwrap();
    assert!(!engine.may_have_hooks(&PRE_DEPLOY.kind()));
    engine.register(command).unwrap();
    assert!(engine.may_have_hooks(&PRE_DEPLOY.kind()));
    assert_eq!(engine.longest_run(&deploy("production").into()), Duration::from_secs(6));
}

#[test]
fn json_of_the_row_is_read_into_the_type() {
    let engine = engine(None);
    let event = engine.event("PreDeploy", br#"{"target":"prod","release":{"n":1}}"#).unwrap();
    assert_eq!(event.typed::<PreDeploy>().unwrap().release.text(), r#"{"n":1}"#);
    assert_eq!(engine.fire_blocking(event).reason.as_deref(), Some("prod 0"));
}

#[test]
fn without_its_row_a_typed_payload_is_refused_or_noticed_and_never_panics() {
    let engine = Engine::builder().build().unwrap();
    let refused = engine.register(Hook::on(PRE_DEPLOY).callback(|_: &PreDeploy| Reply::none()));
    assert!(matches!(refused, Err(RegisterError::ForeignEvent { .. })), "{refused:?}");
    let outcome = engine.fire_blocking(deploy("prod"));
    assert!(outcome.notices[0].text.contains("PreDeploy"), "{outcome:?}");
    // Another row of the same name is not this event.
    let mut builder = Engine::builder();
    builder.event(EventRow::new("PreDeploy", "something else")).unwrap();
    let outcome = builder.build().unwrap().fire_blocking(deploy("prod"));
    assert!(outcome.notices[0].text.contains("PreDeploy"), "{outcome:?}");
}

#[test]
fn a_row_can_be_made_of_texts_that_are_read_at_run_time() {
    let (name, field) = (String::from("PostCompact"), String::from("trigger"));
    let row = EventRow::new(intern(&name), intern("after compaction"))
        .fields(intern_fields(vec![Field::required(intern(&field), FieldKind::Text, "")]))
        .matches_on(intern(&field))
        .allows(&[Capability::Context]);
    let mut builder = Engine::builder();
    let kind = builder.event(row).unwrap();
    let hook = Hook::on_event(kind).matching("auto").callback(|_: &Event| Reply::none().context("c"));
    let engine = builder.hook(hook).build().unwrap();
    let fire =
        |json: &str| engine.fire_blocking(engine.event("PostCompact", json.as_bytes()).unwrap()).context;
    assert_eq!(fire(r#"{"trigger":"auto"}"#), ["c"]);
    assert!(fire(r#"{"trigger":"manual"}"#).is_empty());
}

#[test]
fn a_matcher_takes_the_name_of_the_tool_in_its_agent_too() {
    let hook = |matcher: &str| {
        Hook::on(crosier::payload::PreToolUse)
            .named(matcher)
            .matching(matcher)
            .callback(|_: &crosier::payload::PreToolUse| Reply::none().context("ran"))
    };
    let engine = Engine::builder().hook(hook("Bash")).hook(hook("run_shell_command")).build().unwrap();
    let json =
        br#"{"tool_name":"Bash","tool_input":{},"host":{"agent":"gemini","tool_name":"run_shell_command"}}"#;
    let event = engine.event("PreToolUse", json).unwrap();
    assert_eq!(event.get("host").unwrap().get("agent").unwrap().as_str().unwrap(), "gemini");
    assert_eq!(engine.fire_blocking(event).context, ["ran", "ran"]);
    let plain = engine.event("PreToolUse", br#"{"tool_name":"Bash","tool_input":{},"host":7}"#).unwrap();
    assert_eq!(engine.fire_blocking(plain).context, ["ran"]);
}
