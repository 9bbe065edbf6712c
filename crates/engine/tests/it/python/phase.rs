//! Two phases, and hooks that nobody waits for.

use crosier::payload::PreToolUse;
use crosier::{FailureKind, Hook, Mode, Status};

use super::lab::{Way, each_way, ms, one_way, tool};
use super::vitals::until;

#[test]
fn a_hook_that_asks_for_more_time_is_called_again_and_knows_it() {
    each_way(|lab| {
        lab.write(
            "guard.py",
            "from crosier import deny
def check(event, context):
    if context.phase == 1: return {'async': True, 'asyncTimeout': 20}
    return deny(f'phase {context.phase}, {context.remaining > 10}, {context.hook}')",
        );
        let hook = Hook::on(PreToolUse).named("guard").timeout(ms(9000)).python(lab.spec("guard.check"));
        let outcome = lab.fire(&lab.engine([hook]), tool("Bash"));
        assert_eq!(outcome.reason.as_deref(), Some("phase 2, True, guard"), "{outcome:?}");
    });
}

#[test]
fn a_second_phase_has_the_deadline_that_was_asked_for() {
    each_way(|lab| {
        let desk = lab.desk(
            "calls = []
def slow(event):
    calls.append(1)
    if len(calls) == 1: return {'async': True, 'asyncTimeout': 1}
    time.sleep(60)",
        );
        desk.pid();
        let trial = desk.fire("slow");
        trial.failed(FailureKind::Timeout, &["did not finish within 1s"]);
        assert!(trial.took < ms(1000 + 100 + 1500), "{trial:?}");
        assert!(desk.pid() > 0);
    });
}

#[test]
fn a_third_phase_is_bad_output() {
    each_way(|lab| {
        let desk = lab.desk("def again(event): return {'async': True}");
        desk.fire("again").failed(FailureKind::BadOutput, &["async"]);
    });
}

#[test]
fn a_background_hook_delays_nobody_and_its_context_comes_later() {
    each_way(|lab| {
        lab.module(
            "guard.py",
            "def slow(event):
    while not os.path.exists('go'): time.sleep(0.002)
    return {'systemMessage': 'from behind', 'decision': 'deny'}",
        );
        let hook = Hook::on(PreToolUse).named("slow").mode(Mode::Background).python(lab.spec("guard.slow"));
        let engine = lab.engine([hook]);
        let outcome = lab.fire(&engine, tool("Bash"));
        assert_eq!((outcome.decision, outcome.reports[0].status), (None, Status::Background), "{outcome:?}");
        lab.write("go", "");
        engine.disable("slow").unwrap();
        let context = std::cell::RefCell::new(Vec::new());
        assert!(until(|| {
            context.borrow_mut().extend(lab.fire(&engine, tool("Bash")).context);
            !context.borrow().is_empty()
        }));
        assert_eq!(*context.borrow(), ["from behind"]);
    });
}

#[test]
fn a_background_hook_is_killed_with_its_engine() {
    one_way(Way::Async, |lab| {
        lab.module("guard.py", "def slow(event):\n    ready()\n    time.sleep(60)");
        let hook = Hook::on(PreToolUse).mode(Mode::Background).python(lab.spec("guard.slow"));
        let engine = lab.engine([hook]);
        lab.fire(&engine, tool("Bash"));
        lab.wait_for("ready");
        drop(engine);
        lab.expect_no_survivor();
    });
}

#[test]
fn a_late_background_hook_is_killed() {
    one_way(Way::Async, |lab| {
        lab.module("guard.py", "def slow(event):\n    ready()\n    time.sleep(60)");
        let hook =
            Hook::on(PreToolUse).mode(Mode::Background).timeout(ms(1000)).python(lab.spec("guard.slow"));
        let engine = lab.engine([hook]);
        lab.fire(&engine, tool("Bash"));
        lab.wait_for("ready");
        lab.expect_no_survivor();
    });
}

#[test]
fn an_observer_sees_the_outcome_and_changes_nothing() {
    each_way(|lab| {
        let desk = lab.desk(
            "def denies(event): return deny('no')
def looks(event):
    open('seen', 'w').write(f\"{event.outcome['decision']} {event.outcome['reason']}\")
    return allow('never mind')",
        );
        let spec = lab.spec("guard.looks");
        desk.engine.register(Hook::on(PreToolUse).named("audit").mode(Mode::Observe).python(spec)).unwrap();
        let outcome = lab.fire(&desk.engine, tool("denies"));
        assert_eq!(outcome.reason.as_deref(), Some("no"), "{outcome:?}");
        assert_eq!(lab.read("seen"), "deny no");
    });
}
