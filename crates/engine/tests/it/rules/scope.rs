//! Scopes: the hooks of one agent, for as long as it lives.

use crosier::payload::{PreToolUse, Stop};
use crosier::{Engine, Hook, Inclusion, Reply, Scope};

use super::kit::{engine, quiet, ran, says, tool, tool_of};

fn ran_for(engine: &Engine, agent: Option<&str>) -> Vec<String> {
    let event = agent.map_or_else(|| tool("Bash"), |agent| tool_of(agent, "Bash"));
    ran(&engine.fire_blocking(event)).into_iter().map(str::to_owned).collect()
}

#[test]
fn an_agents_event_runs_base_hooks_and_its_own_only() {
    let engine = engine([quiet("base")]);
    let _one = engine.enter(Scope::new("one").hook(quiet("h"))).unwrap();
    let _two = engine.enter(Scope::new("two").hook(quiet("h"))).unwrap();
    assert_eq!(ran_for(&engine, Some("one")), ["base", "one/h"]);
    assert_eq!(ran_for(&engine, Some("two")), ["base", "two/h"]);
    assert_eq!(ran_for(&engine, Some("three")), ["base"]);
}

#[test]
fn an_event_without_an_agent_runs_all_scopes_in_the_order_they_came() {
    let engine = engine([quiet("base")]);
    let _z = engine.enter(Scope::new("z").hook(quiet("h"))).unwrap();
    let _a = engine.enter(Scope::new("a").hook(quiet("h"))).unwrap();
    assert_eq!(ran_for(&engine, None), ["base", "z/h", "a/h"]);
}

#[test]
fn a_dropped_handle_takes_its_own_hooks_and_no_others() {
    let engine = engine([]);
    let first = engine.enter(Scope::new("a").hook(quiet("one"))).unwrap();
    let second = engine.enter(Scope::new("a").hook(quiet("two"))).unwrap();
    engine.register_scoped("a", [quiet("three")]).unwrap();
    assert_eq!(first.agent_id(), "a");
    drop(first);
    assert_eq!(ran_for(&engine, Some("a")), ["a/two", "a/three"]);
    drop(second);
    assert_eq!(ran_for(&engine, Some("a")), ["a/three"]);
    engine.unregister_scoped("a");
    assert_eq!(ran_for(&engine, Some("a")), Vec::<String>::new());
    assert!(engine.entries().is_empty());
}

#[test]
fn a_handle_that_was_overtaken_takes_nothing_of_its_successors() {
    let engine = engine([quiet("base")]);
    let stale = engine.enter(Scope::new("a").hook(quiet("h")).overriding(PreToolUse.kind())).unwrap();
    engine.unregister_scoped("a");
    let fresh = engine.enter(Scope::new("a").hook(quiet("h")).overriding(PreToolUse.kind())).unwrap();
    drop(stale);
    assert_eq!(ran_for(&engine, Some("a")), ["a/h"]);
    drop(fresh);
    assert_eq!(ran_for(&engine, Some("a")), ["base"]);

    let stale = engine.enter(Scope::new("a").hook(quiet("h"))).unwrap();
    assert!(engine.unregister("a/h"));
    engine.register_scoped("a", [quiet("h")]).unwrap();
    drop(stale);
    assert_eq!(ran_for(&engine, Some("a")), ["base", "a/h"]);
}

#[test]
fn a_hook_that_was_switched_off_and_on_still_belongs_to_its_handle() {
    let engine = engine([]);
    let handle = engine.enter(Scope::new("a").hook(quiet("h"))).unwrap();
    engine.disable("a/h").unwrap();
    engine.enable("a/h").unwrap();
    drop(handle);
    assert!(engine.entries().is_empty());
}

#[test]
fn an_override_leaves_out_the_base_also_with_no_hooks_at_all() {
    let engine = engine([quiet("base"), Hook::on(Stop).named("stop").callback(|_: &Stop| ())]);
    let handle = engine.enter(Scope::new("a").overriding(PreToolUse.kind())).unwrap();
    assert_eq!(ran_for(&engine, Some("a")), Vec::<String>::new());
    assert_eq!(ran_for(&engine, Some("b")), ["base"], "it concerns that agent only");
    assert_eq!(ran_for(&engine, None), ["base"], "and events of agents only");
    let mut stop = Stop::default();
    stop.base.agent_id = Some("a".into());
    assert_eq!(ran(&engine.fire_blocking(stop)), ["stop"], "and that event only");
    drop(handle);
    assert_eq!(ran_for(&engine, Some("a")), ["base"]);
}

#[test]
fn an_override_lasts_until_the_last_handle_with_it_is_gone() {
    let engine = engine([quiet("base")]);
    let over = || Scope::new("a").overriding(PreToolUse.kind());
    let first = engine.enter(over().hook(quiet("one"))).unwrap();
    let second = engine.enter(over()).unwrap();
    drop(first);
    assert_eq!(ran_for(&engine, Some("a")), Vec::<String>::new());
    drop(second);
    assert_eq!(ran_for(&engine, Some("a")), ["base"]);
}

#[test]
fn an_override_of_the_builder_outlives_every_handle() {
    let engine = Engine::builder()
        .hook(quiet("base"))
        .scope(Scope::new("a").hook(quiet("own")).overriding(PreToolUse.kind()))
        .build()
        .unwrap();
    let handle = engine.enter(Scope::new("a").overriding(PreToolUse.kind())).unwrap();
    drop(handle);
    assert_eq!(ran_for(&engine, Some("a")), ["a/own"]);
}

#[test]
fn a_system_hook_is_never_overridden() {
    let system = Hook::on(PreToolUse).named("system").system().callback(|_: &PreToolUse| Reply::deny("no"));
    let engine = engine([quiet("base"), system]);
    let _handle = engine
        .enter(Scope::new("a").hook(says("own", Reply::allow("me"))).overriding(PreToolUse.kind()))
        .unwrap();
    let outcome = engine.fire_blocking(tool_of("a", "Bash"));
    assert!(outcome.is_denied());
    assert_eq!(outcome.by.as_deref(), Some("system"));
}

#[test]
fn explain_says_why_a_hook_is_out() {
    let system = Hook::on(PreToolUse).named("system").system().callback(|_: &PreToolUse| ());
    let read = Hook::on(PreToolUse).named("read").matching("Read").callback(|_: &PreToolUse| ());
    let off = Hook::on(PreToolUse).named("off").disabled().callback(|_: &PreToolUse| ());
    let engine = engine([quiet("base"), system, read, off]);
    let scope = Scope::new("a").hook(quiet("own"));
    let _a = engine.enter(scope.overriding(PreToolUse.kind())).unwrap();
    let _b = engine.enter(Scope::new("b").hook(quiet("own"))).unwrap();
    let explain = |event: PreToolUse| {
        let explained = engine.explain(&event.into());
        let planned: Vec<String> =
            explained.plan.hooks().iter().map(|entry| entry.name.to_string()).collect();
        let out: Vec<(String, Inclusion)> =
            explained.excluded.iter().map(|(entry, standing)| (entry.name.to_string(), *standing)).collect();
        (planned, out)
    };
    let out = |pairs: &[(&str, Inclusion)]| -> Vec<(String, Inclusion)> {
        pairs.iter().map(|(name, standing)| ((*name).to_owned(), *standing)).collect()
    };
    let (planned, left) = explain(tool_of("a", "Bash"));
    assert_eq!(planned, ["system", "a/own"]);
    assert_eq!(
        left,
        out(&[
            ("base", Inclusion::Overridden),
            ("read", Inclusion::Overridden),
            ("off", Inclusion::Disabled),
            ("b/own", Inclusion::OtherAgent)
        ])
    );
    let (planned, left) = explain(tool("Bash"));
    assert_eq!(planned, ["base", "system", "a/own", "b/own"]);
    assert_eq!(left, out(&[("read", Inclusion::Unmatched), ("off", Inclusion::Disabled)]));
}

#[test]
fn a_scope_with_a_mistake_registers_nothing() {
    let engine = engine([]);
    let bad = Scope::new("a").hook(quiet("fine")).hook(quiet("twice")).hook(quiet("twice"));
    assert!(engine.enter(bad.overriding(PreToolUse.kind())).is_err());
    assert!(engine.register_scoped("a", [quiet("fine"), quiet("twice"), quiet("twice")]).is_err());
    assert!(engine.entries().is_empty());
    engine.register(quiet("base")).unwrap();
    assert_eq!(ran_for(&engine, Some("a")), ["base"]);
}

#[test]
fn a_handle_may_outlive_its_engine() {
    let engine = engine([]);
    let handle = engine.enter(Scope::new("a").hook(quiet("h"))).unwrap();
    drop(engine);
    drop(handle);
}

#[test]
fn subagent_events_belong_to_the_agent_that_they_are_about() {
    use crosier::payload::{PostAgentComplete, SubagentStart};
    let hook = Hook::on(SubagentStart).named("start").callback(|_: &SubagentStart| ());
    let end = Hook::on(PostAgentComplete).named("end").callback(|_: &PostAgentComplete| ());
    let engine = engine([]);
    let _handle = engine.enter(Scope::new("child").hook(hook).hook(end)).unwrap();
    let event = |agent: &str| SubagentStart::new(agent, "");
    assert_eq!(ran(&engine.fire_blocking(event("child"))), ["child/start"]);
    assert!(engine.fire_blocking(event("other")).reports.is_empty());
    let done = PostAgentComplete::new("child", "", "");
    assert_eq!(ran(&engine.fire_blocking(done)), ["child/end"]);
}
