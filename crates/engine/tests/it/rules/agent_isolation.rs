//! Agent A never gets agent B's plan: random comings and goings against a naive model.

use crosier::payload::PreToolUse;
use crosier::{Engine, Hook, Scope, ScopeHandle};
use proptest::prelude::*;

use super::kit::{engine, ran, tool, tool_of};

const AGENTS: [&str; 3] = ["ann", "bob", "cid"];
const TOOLS: [&str; 3] = ["Bash", "Read", "mcp__x"];
const MATCHERS: [&str; 5] = ["", "Bash", "Read|Bash", "mcp__*", "re:[BR].*"];

#[derive(Debug, Clone)]
enum Act {
    Fire { agent: Option<usize>, tool: usize },
    Register { matcher: usize },
    Unregister { which: prop::sample::Index },
    Enter { agent: usize, matchers: Vec<usize>, overrides: bool },
    Leave { which: prop::sample::Index },
    UnregisterScoped { agent: usize },
    Switch { which: prop::sample::Index, on: bool },
}

fn act() -> impl Strategy<Value = Act> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        8 => (proptest::option::of(0..3_usize), 0..3_usize).prop_map(|(agent, tool)| Act::Fire { agent, tool }),
        2 => (0..5_usize).prop_map(|matcher| Act::Register { matcher }),
        1 => index().prop_map(|which| Act::Unregister { which }),
        3 => (0..3_usize, proptest::collection::vec(0..5_usize, 0..3), prop::bool::weighted(0.3))
            .prop_map(|(agent, matchers, overrides)| Act::Enter { agent, matchers, overrides }),
        2 => index().prop_map(|which| Act::Leave { which }),
        1 => (0..3_usize).prop_map(|agent| Act::UnregisterScoped { agent }),
        2 => (index(), any::<bool>()).prop_map(|(which, on)| Act::Switch { which, on }),
    ]
}

/// One hook as the model knows it: a plain list in the order of declaration.
#[derive(Debug, Clone)]
struct Known {
    name: String,
    agent: Option<usize>,
    matcher: usize,
    on: bool,
    /// The entry that it came with.
    visit: usize,
}

#[derive(Debug, Default)]
struct Model {
    hooks: Vec<Known>,
    /// Scopes in the order they came; one goes when nothing of it is left.
    scopes: Vec<usize>,
    overrides: Vec<(usize, usize)>,
    next: usize,
}

fn wants(matcher: usize, tool: usize) -> bool {
    match MATCHERS[matcher] {
        "" => true,
        "Bash" => tool == 0,
        "Read|Bash" | "re:[BR].*" => tool < 2,
        _ => tool == 2,
    }
}

impl Model {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("h{}", self.next)
    }

    fn tidy(&mut self) {
        let (hooks, overrides) = (&self.hooks, &self.overrides);
        self.scopes.retain(|scope| {
            hooks.iter().any(|hook| hook.agent == Some(*scope))
                || overrides.iter().any(|(agent, _)| agent == scope)
        });
    }

    fn expected(&self, agent: Option<usize>, tool: usize) -> Vec<String> {
        let overridden = agent.is_some_and(|agent| self.overrides.iter().any(|(of, _)| *of == agent));
        let layer = |wanted: Option<usize>| {
            let of_layer = move |hook: &&Known| hook.agent == wanted && hook.on && wants(hook.matcher, tool);
            self.hooks.iter().filter(of_layer).map(|hook| hook.name.clone())
        };
        let base = (!overridden).then(|| layer(None)).into_iter().flatten();
        match agent {
            Some(agent) => base.chain(layer(Some(agent))).collect(),
            None => base.chain(self.scopes.iter().flat_map(|scope| layer(Some(*scope)))).collect(),
        }
    }
}

fn hook(name: &str, matcher: usize) -> Hook {
    Hook::on(PreToolUse).named(name).matching(MATCHERS[matcher]).callback(|_: &PreToolUse| ())
}

struct World {
    engine: Engine,
    model: Model,
    handles: Vec<(usize, ScopeHandle)>,
    visits: usize,
}

impl World {
    fn act(&mut self, act: Act) -> Result<(), TestCaseError> {
        match act {
            Act::Fire { agent, tool: which } => {
                let name = TOOLS[which];
                let event = agent.map_or_else(|| tool(name), |agent| tool_of(AGENTS[agent], name));
                let outcome = self.engine.fire_blocking(event);
                prop_assert_eq!(ran(&outcome), self.model.expected(agent, which));
            }
            Act::Register { matcher } => {
                let name = self.model.name();
                if self.engine.register(hook(&name, matcher)).is_ok() {
                    self.model.hooks.push(Known { name, agent: None, matcher, on: true, visit: 0 });
                }
            }
            Act::Unregister { which } if !self.model.hooks.is_empty() => {
                let gone = self.model.hooks.remove(which.index(self.model.hooks.len()));
                prop_assert!(self.engine.unregister(&gone.name));
            }
            Act::Enter { agent, matchers, overrides } => {
                self.visits += 1;
                let visit = self.visits;
                let mut scope = Scope::new(AGENTS[agent]);
                if overrides {
                    scope = scope.overriding(PreToolUse.kind());
                    self.model.overrides.push((agent, visit));
                }
                let is_empty = matchers.is_empty() && !overrides;
                for matcher in matchers {
                    let name = self.model.name();
                    scope = scope.hook(hook(&name, matcher));
                    let name = format!("{}/{name}", AGENTS[agent]);
                    self.model.hooks.push(Known { name, agent: Some(agent), matcher, on: true, visit });
                }
                if !is_empty && !self.model.scopes.contains(&agent) {
                    self.model.scopes.push(agent);
                }
                self.handles.push((visit, self.engine.enter(scope).unwrap()));
            }
            Act::Leave { which } if !self.handles.is_empty() => {
                let (visit, handle) = self.handles.remove(which.index(self.handles.len()));
                drop(handle);
                self.model.hooks.retain(|hook| hook.visit != visit);
                self.model.overrides.retain(|(_, of)| *of != visit);
            }
            Act::UnregisterScoped { agent } => {
                self.engine.unregister_scoped(AGENTS[agent]);
                self.model.hooks.retain(|hook| hook.agent != Some(agent));
                self.model.overrides.retain(|(of, _)| *of != agent);
            }
            Act::Switch { which, on } if !self.model.hooks.is_empty() => {
                let at = which.index(self.model.hooks.len());
                let known = &mut self.model.hooks[at];
                known.on = on;
                let name = &known.name;
                let switched = if on { self.engine.enable(name) } else { self.engine.disable(name) };
                prop_assert!(switched.is_ok());
            }
            Act::Unregister { .. } | Act::Leave { .. } | Act::Switch { .. } => {}
        }
        self.model.tidy();
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_agent_gets_its_own_plan_at_every_moment(acts in proptest::collection::vec(act(), 1..60)) {
        let mut world =
            World { engine: engine([]), model: Model::default(), handles: Vec::new(), visits: 0 };
        for act in acts {
            world.act(act)?;
        }
        for agent in [None, Some(0), Some(1), Some(2)] {
            for which in 0..3 {
                world.act(Act::Fire { agent, tool: which })?;
            }
        }
        world.handles.clear();
        let left = world.engine.entries();
        prop_assert!(left.iter().all(|entry| entry.scope.is_none()), "a scope outlived its handle: {:?}", left);
    }
}

#[test]
fn a_plan_that_one_agent_warmed_up_is_not_the_others() {
    let engine = engine([]);
    let _ann = engine.enter(Scope::new("ann").hook(hook("a", 0))).unwrap();
    let _bob = engine.enter(Scope::new("bob").hook(hook("b", 0))).unwrap();
    for _ in 0..3 {
        assert_eq!(ran(&engine.fire_blocking(tool_of("ann", "Bash"))), ["ann/a"]);
        assert_eq!(ran(&engine.fire_blocking(tool_of("bob", "Bash"))), ["bob/b"]);
        assert!(engine.fire_blocking(tool_of("cid", "Bash")).reports.is_empty());
        assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["ann/a", "bob/b"]);
    }
}
