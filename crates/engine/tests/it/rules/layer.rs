//! Layers: earlier ones decide first, and later ones can only add to them.

use crosier::payload::PreToolUse;
use crosier::{Decision, Engine, Hook, Inclusion, Layer, Mode, RegisterError, Reply, Scope, SwitchError};

use super::kit::{engine, json, quiet, ran, says, tool, tool_of};

const PROJECT: Layer = Layer::Project(0);

fn on(name: &str) -> crosier::HookBuilder<crosier::Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name)
}

#[test]
fn the_order_is_layer_then_priority() {
    let with_priority = |name: &str, priority| on(name).priority(priority).callback(|_: &PreToolUse| ());
    let engine = engine([
        with_priority("local", 1).in_layer(Layer::Local),
        with_priority("inner", 1).in_layer(Layer::Project(1)),
        with_priority("outer", 900).in_layer(PROJECT),
        with_priority("user late", 50).in_layer(Layer::User),
        with_priority("user early", 2).in_layer(Layer::User),
        with_priority("host", 1),
        with_priority("managed", 999).in_layer(Layer::Managed),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(ran(&outcome), ["managed", "host", "user early", "user late", "outer", "inner", "local"]);
}

#[test]
fn a_scope_of_an_earlier_layer_goes_before_the_base_of_a_later_one() {
    let engine = engine([quiet("late").in_layer(PROJECT), quiet("early").in_layer(Layer::User)]);
    let scoped = [quiet("scoped").in_layer(Layer::User)];
    engine.register_scoped("a", scoped).unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool_of("a", "Bash"))), ["early", "a/scoped", "late"]);
}

#[test]
fn a_later_layer_cannot_undo_a_decision_of_an_earlier_one() {
    let hooks = [
        says("denies", Reply::deny("no")).in_layer(Layer::Managed),
        on("allows").priority(0).callback(|_: &PreToolUse| Reply::allow("yes")).in_layer(PROJECT),
    ];
    let outcome = engine(hooks).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.by.as_deref()), (Some(Decision::Deny), Some("denies")));
    // What a later layer makes of the input is judged by the managed guard.
    let guard =
        on("guard").callback(|e: &PreToolUse| e.tool_input.text().contains("rm").then(|| Reply::deny("rm")));
    let later = says("later", Reply::allow("").rewrite_input(json(r#"{"command":"rm"}"#)));
    let engine = engine([guard.in_layer(Layer::Managed), later.in_layer(PROJECT)]);
    assert!(engine.entry("guard").unwrap().guard, "managed hooks are guards");
    assert!(engine.fire_blocking(tool("Bash")).is_denied());
}

#[test]
fn parallel_stages_do_not_cross_layers() {
    let parallel = |name: &str| on(name).mode(Mode::Parallel).callback(|_: &PreToolUse| ());
    let engine = engine([
        parallel("a").in_layer(Layer::User),
        parallel("b").in_layer(Layer::User),
        parallel("c").in_layer(PROJECT),
    ]);
    let plan = engine.explain(&tool("Bash").into()).plan;
    let stages: Vec<usize> = plan.stages().map(<[_]>::len).collect();
    assert_eq!(stages, [2, 1]);
}

#[test]
fn an_override_leaves_hooks_of_earlier_layers_in() {
    let config = |text: &str| crosier::config::Loader::default().text("f.yaml", text, "/").load().unwrap();
    let base = "hooks: {PreToolUse: [{name: NAME, argv: ['true']}]}";
    let named = |name: &str| config(&base.replace("NAME", name));
    let project = "hooks: {PreToolUse: [{name: project, argv: ['true']}]}\n\
                   agents: {a: {hooks: {PreToolUse: {override: true, hooks: [{name: own, argv: ['true']}]}}}}";
    let engine = Engine::builder()
        .layer(PROJECT, config(project))
        .layer(Layer::Managed, named("managed"))
        .layer(Layer::User, named("user"))
        .layer(Layer::Local, named("local"))
        .build()
        .unwrap();
    let explained = engine.explain(&tool_of("a", "Bash").into());
    let planned: Vec<&str> = explained.plan.hooks().iter().map(|entry| &*entry.name).collect();
    assert_eq!(planned, ["managed", "user", "a/own"]);
    assert!(explained.excluded.iter().all(|(_, why)| *why == Inclusion::Overridden));
    assert_eq!(explained.excluded.len(), 2);
}

#[test]
fn hooks_of_the_same_name_are_shown_with_their_layer() {
    let engine = engine([
        quiet("guard").in_layer(PROJECT),
        quiet("guard").in_layer(Layer::Managed),
        quiet("guard").in_layer(Layer::Project(1)),
        quiet("other").in_layer(Layer::User),
    ]);
    let names = ["managed:guard", "other", "project:guard", "project2:guard"];
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), names);
    assert!(engine.entry("guard").is_none(), "it would be unclear which one is meant");
    assert!(names.iter().all(|name| engine.entry(name).is_some()));
    engine.disable("project:guard").unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["managed:guard", "other", "project2:guard"]);
    let twice = engine.register(quiet("guard").in_layer(PROJECT)).unwrap_err();
    assert_eq!(twice, RegisterError::DuplicateName { name: "project:guard".into() });
    engine.register(quiet("guard")).unwrap();
    assert!(engine.entry("host:guard").is_some());

    engine.register_scoped("a", [quiet("g").in_layer(Layer::User), quiet("g").in_layer(PROJECT)]).unwrap();
    assert!(engine.is_enabled("user:a/g") && engine.is_enabled("project:a/g"));
}

#[test]
fn a_name_is_shown_without_its_layer_again_when_no_hook_has_it_any_more() {
    let engine = engine([]);
    let twice = || [quiet("g").in_layer(Layer::User), quiet("g").in_layer(PROJECT)];
    let scope = || Scope::new("a").hooks(twice());
    drop(engine.enter(scope()).unwrap());
    let _handle = engine.enter(Scope::new("a").hook(quiet("g"))).unwrap();
    assert!(engine.entry("a/g").is_some(), "{:?}", engine.entries());

    for hook in twice() {
        engine.register(hook).unwrap();
    }
    assert!(engine.unregister("user:g"));
    engine.register(quiet("g").in_layer(Layer::Local)).unwrap();
    assert!(engine.entry("local:g").is_some(), "another layer still has it");
    assert!(engine.unregister("local:g") && engine.unregister("project:g"));
    engine.register(quiet("g").in_layer(PROJECT)).unwrap();
    assert!(engine.entry("g").is_some());
}

#[test]
fn a_hook_that_is_named_like_a_hook_with_its_layer_is_another_hook() {
    let hooks = [quiet("g").in_layer(Layer::User), quiet("g").in_layer(PROJECT), quiet("project:g")];
    let engine = engine(hooks);
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["host:project:g", "user:g", "project:g"]);
    assert!(engine.unregister("host:project:g") && engine.unregister("user:g"));
    assert_eq!(engine.register(quiet("g")).as_deref(), Ok("host:g"));
    assert!(engine.unregister("host:g") && engine.unregister("project:g"));
    assert_eq!(engine.register(quiet("g")).as_deref(), Ok("g"));

    let engine = super::kit::engine([quiet("project:g"), quiet("g").in_layer(PROJECT)]);
    let taken = engine.register(quiet("g")).unwrap_err();
    assert_eq!(taken, RegisterError::DuplicateName { name: "project:g".into() });
}

#[test]
fn a_managed_hook_cannot_be_switched_off_removed_or_made_no_guard() {
    let engine = engine([quiet("m").in_layer(Layer::Managed)]);
    assert_eq!(engine.disable("m").unwrap_err(), SwitchError::Managed { name: "m".into() });
    assert!(!engine.unregister("m"));
    let scope = Scope::new("a").hook(quiet("own")).overriding(PreToolUse.kind());
    let _handle = engine.enter(scope).unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool_of("a", "Bash"))), ["m", "a/own"]);
    let hook = on("g").guard(false).callback(|_: &PreToolUse| ()).in_layer(Layer::Managed);
    assert_eq!(engine.register(hook).unwrap_err(), RegisterError::ManagedNotGuard { name: "g".into() });
}

#[test]
fn limits_count_per_layer() {
    let builder = Engine::builder().max_hooks_per_point(1);
    let builder = builder.hook(quiet("a").in_layer(Layer::User)).hook(quiet("b").in_layer(PROJECT));
    let engine = builder.build().unwrap();
    let error = engine.register(quiet("c").in_layer(PROJECT)).unwrap_err();
    assert!(matches!(error, RegisterError::TooManyHooks { limit: 1, .. }));
    assert!(engine.unregister("b"));
    engine.register(quiet("c").in_layer(PROJECT)).unwrap();
}
