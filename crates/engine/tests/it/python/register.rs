//! Hooks that come and go while their worker stays.

use crosier::payload::PreToolUse;
use crosier::{Hook, Scope};

use super::lab::{Way, each_way, one_way, tool};

#[test]
fn another_hook_under_the_same_name_is_another_function() {
    each_way(|lab| {
        let desk = lab.desk("def strict(event): return deny('strict')\ndef lax(event): return deny('lax')");
        desk.pid();
        for function in ["strict", "lax", "strict"] {
            desk.engine.unregister("guard");
            desk.engine.register(desk.hook("guard", function)).unwrap();
            desk.fire("Bash").denied(function);
        }
    });
}

#[test]
fn agents_with_hooks_of_the_same_name_have_their_own_functions() {
    each_way(|lab| {
        let desk = lab.desk("def strict(event): return deny('strict')\ndef lax(event): return deny('lax')");
        desk.engine.unregister("guard");
        for function in ["strict", "lax"] {
            // The same agent comes back with another function.
            let scope = desk.engine.enter(Scope::new("agent1").hook(desk.hook("guard", function))).unwrap();
            let event = crosier::Event::from(tool("Bash")).in_agent("agent1");
            desk.fire_event(event).denied(function);
            drop(scope);
        }
    });
}

#[test]
fn hooks_on_one_module_share_it_and_its_worker() {
    each_way(|lab| {
        let desk = lab.desk(
            "count = 0
def counts(event):
    global count
    count += 1
    return {'systemMessage': f'{count} {os.getpid()}'}",
        );
        desk.engine.unregister("guard");
        for name in ["a", "b", "c"] {
            desk.engine.register(desk.hook(name, "counts")).unwrap();
        }
        let outcome = lab.fire(&desk.engine, tool("Bash"));
        let said: Vec<(&str, &str)> =
            outcome.context.iter().map(|line| line.split_once(' ').unwrap()).collect();
        assert_eq!(said.iter().map(|(count, _)| *count).collect::<Vec<_>>(), ["1", "2", "3"]);
        assert!(said.iter().all(|(_, pid)| *pid == said[0].1), "{said:?}");
    });
}

#[test]
fn thousands_of_agents_that_come_and_go_wear_nothing_out() {
    one_way(Way::Blocking, |lab| {
        let desk = lab.desk("def answers(event): return deny(str(os.getpid()))");
        desk.engine.unregister("guard");
        let mut workers = std::collections::BTreeSet::new();
        for n in 0..2500 {
            let agent = format!("agent-{n}");
            let scope =
                desk.engine.enter(Scope::new(agent.as_str()).hook(desk.hook("guard", "answers"))).unwrap();
            let trial = desk.fire_event(crosier::Event::from(tool("Bash")).in_agent(&agent));
            workers.insert(trial.outcome.reason.unwrap());
            drop(scope);
        }
        // A worker forgets no hook, so it is replaced now and then.
        assert_eq!(workers.len(), 3);
    });
}

#[test]
fn a_handler_on_pythons_own_path_is_found() {
    each_way(|lab| {
        // No file of ours: a function of the standard library, which returns a dict.
        let hook = Hook::on(PreToolUse).named("guard").python(lab.spec("copy.copy"));
        let outcome = lab.fire(&lab.engine([hook]), tool("Bash"));
        // A copy of the event is an event, and that is no reply.
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert_eq!(failure.kind, crosier::FailureKind::BadOutput, "{outcome:?}");
        assert!(failure.detail.contains("HookEvent"), "{outcome:?}");
    });
}
