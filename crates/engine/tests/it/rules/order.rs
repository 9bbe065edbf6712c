//! The order is total and stable, and the same as that of a naive sort.

use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Mode, Scope};
use proptest::prelude::*;

use super::kit::{engine, ran, tool, tool_of};

#[derive(Debug, Clone)]
struct Declared {
    /// 0 is the base.
    layer: usize,
    priority: i32,
    observes: bool,
    enabled: bool,
}

fn declared() -> impl Strategy<Value = Declared> {
    let priority = prop_oneof![Just(100), 1..5_i32, any::<i32>()];
    (0..4_usize, priority, any::<bool>(), prop::bool::weighted(0.9))
        .prop_map(|(layer, priority, observes, enabled)| Declared { layer, priority, observes, enabled })
}

const AGENTS: [&str; 4] = ["", "zoe", "ann", "max"];

fn hook(n: usize, declared: &Declared) -> Hook {
    let mode = if declared.observes { Mode::Observe } else { Mode::Sequential };
    let builder = Hook::on(PreToolUse).named(format!("h{n}")).priority(declared.priority).mode(mode);
    let builder = if declared.enabled { builder } else { builder.disabled() };
    builder.callback(|_: &PreToolUse| ())
}

/// Registers everything one by one, in the order of declaration.
fn build(all: &[Declared]) -> Engine {
    let engine = engine([]);
    for (n, declared) in all.iter().enumerate() {
        match declared.layer {
            0 => drop(engine.register(hook(n, declared)).unwrap()),
            layer => engine.register_scoped(AGENTS[layer], [hook(n, declared)]).unwrap(),
        }
    }
    engine
}

/// The names in order, by a stable sort over a plain list.
fn naive(all: &[Declared], agent: Option<usize>) -> Vec<String> {
    let mut scopes: Vec<usize> = Vec::new();
    for declared in all {
        if declared.layer != 0 && !scopes.contains(&declared.layer) {
            scopes.push(declared.layer);
        }
    }
    let rank = |layer: usize| scopes.iter().position(|scope| *scope == layer).map_or(0, |place| place + 1);
    let counts = |layer: usize| layer == 0 || agent.is_none_or(|agent| agent == layer);
    let mut hooks: Vec<(usize, &Declared)> =
        all.iter().enumerate().filter(|(_, declared)| declared.enabled && counts(declared.layer)).collect();
    hooks.sort_by_key(|(_, declared)| (declared.observes, declared.priority, rank(declared.layer)));
    let shown = |n: usize, layer: usize| match layer {
        0 => format!("h{n}"),
        layer => format!("{}/h{n}", AGENTS[layer]),
    };
    hooks.into_iter().map(|(n, declared)| shown(n, declared.layer)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_order_is_that_of_a_naive_stable_sort(all in proptest::collection::vec(declared(), 0..30)) {
        let engine = build(&all);
        for agent in [None, Some(1), Some(2), Some(3)] {
            let event = agent.map_or_else(|| tool("Bash"), |agent| tool_of(AGENTS[agent], "Bash"));
            let wanted = naive(&all, agent);
            let explained = engine.explain(&Event::from(event.clone()));
            let hooks = explained.plan.hooks().iter().chain(explained.plan.observers());
            let planned: Vec<String> = hooks.map(|entry| entry.name.to_string()).collect();
            prop_assert_eq!(&planned, &wanted);
            let outcome = engine.fire_blocking(event);
            prop_assert_eq!(ran(&outcome), wanted);
        }
    }

    /// The builder and registration at run time make the same order.
    #[test]
    fn it_does_not_matter_when_a_hook_is_registered(all in proptest::collection::vec(declared(), 0..20)) {
        let mut builder = Engine::builder();
        for (n, declared) in all.iter().enumerate() {
            builder = match declared.layer {
                0 => builder.hook(hook(n, declared)),
                layer => builder.scope(Scope::new(AGENTS[layer]).hook(hook(n, declared))),
            };
        }
        let (built, grown) = (builder.build().unwrap(), build(&all));
        for event in [tool("Bash"), tool_of("ann", "Bash"), tool_of("nobody", "Bash")] {
            prop_assert_eq!(built.fire_blocking(event.clone()), grown.fire_blocking(event));
        }
    }
}

#[test]
fn base_comes_before_scope_at_the_same_priority_and_not_otherwise() {
    let at = |name: &str, priority: i32| {
        Hook::on(PreToolUse).named(name).priority(priority).callback(|_: &PreToolUse| ())
    };
    let engine = engine([at("late", 200), at("same", 100)]);
    engine.register_scoped("a", [at("same", 100), at("early", 1)]).unwrap();
    let outcome = engine.fire_blocking(tool_of("a", "Bash"));
    assert_eq!(ran(&outcome), ["a/early", "same", "a/same", "late"]);
}

#[test]
fn the_default_priority_is_100() {
    let at = |name: &str, priority: i32| {
        Hook::on(PreToolUse).named(name).priority(priority).callback(|_: &PreToolUse| ())
    };
    let engine = engine([at("101", 101), super::kit::quiet("default"), at("99", 99), at("-5", -5)]);
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["-5", "99", "default", "101"]);
    assert_eq!(crosier::DEFAULT_PRIORITY, 100);
}
