//! Hooks come and go at run time; a fire that is under way keeps the plan that it began with.

use std::sync::{Arc, Mutex};

use crosier::payload::{PreToolUse, Stop};
use crosier::{Engine, Hook, RegisterError, Reply, Scope, ScopeHandle, Status};

use super::kit::{Diary, engine, quiet, ran, says, tool, tool_of, with_status};

#[test]
fn a_hook_runs_from_its_registration_to_its_removal() {
    let engine = engine([]);
    assert!(engine.fire_blocking(tool("Bash")).reports.is_empty());
    assert_eq!(&*engine.register(quiet("one")).unwrap(), "one");
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["one"]);
    engine.register(quiet("two")).unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["one", "two"]);
    assert!(engine.unregister("one"));
    assert!(!engine.unregister("one"));
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["two"]);
    engine.register(quiet("one")).unwrap();
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["two", "one"], "it is declared anew");
}

#[test]
fn the_first_hook_on_an_event_is_heard_wherever_it_comes_in() {
    let deny = |name: &str| Hook::on(PreToolUse).named(name).callback(|_: &PreToolUse| Reply::deny("no"));
    let ways: [fn(&Engine, Hook) -> Option<ScopeHandle>; 3] = [
        |engine, hook| engine.register(hook).map(|_| None).unwrap(),
        |engine, hook| engine.register_scoped("a", [hook]).map(|()| None).unwrap(),
        |engine, hook| engine.enter(Scope::new("a").hook(hook)).map(Some).unwrap(),
    ];
    for way in ways {
        let engine = engine([]);
        // Nothing that a fire without hooks leaves behind may hide the guard.
        for _ in 0..3 {
            assert!(!engine.is_wanted(&tool("Bash").into()));
            assert!(!engine.fire_blocking(tool("Bash")).is_denied());
        }
        let handle = way(&engine, deny("first"));
        assert!(engine.is_wanted(&tool("Bash").into()));
        assert!(engine.fire_blocking(tool("Bash")).is_denied());
        assert!(!engine.is_wanted(&Stop::default().into()));
        drop(handle);
        engine.unregister_scoped("a");
        engine.unregister("first");
        assert!(!engine.fire_blocking(tool("Bash")).is_denied());
        engine.register(deny("again")).unwrap();
        assert!(engine.fire_blocking(tool("Bash")).is_denied());
    }
}

#[test]
fn a_cached_plan_does_not_outlive_a_change() {
    let engine = engine([Hook::on(PreToolUse).named("bash").matching("Bash").callback(|_: &PreToolUse| ())]);
    for name in ["Bash", "Read"] {
        engine.fire_blocking(tool(name));
    }
    engine
        .register(
            Hook::on(PreToolUse).named("read").matching("Re*").callback(|_: &PreToolUse| Reply::deny("x")),
        )
        .unwrap();
    assert!(engine.fire_blocking(tool("Read")).is_denied());
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["bash"]);
    engine.disable("read").unwrap();
    assert!(!engine.fire_blocking(tool("Read")).is_denied());
    engine.enable("read").unwrap();
    assert!(engine.fire_blocking(tool("Read")).is_denied());
    engine.unregister("read");
    assert!(!engine.fire_blocking(tool("Read")).is_denied());
}

/// An engine whose first hook does something to the engine itself.
fn meddling(meddle: impl Fn(&Engine) + Send + Sync + 'static) -> Engine {
    let place: Arc<Mutex<Option<Engine>>> = Arc::default();
    let inside = Arc::clone(&place);
    let engine = engine([
        Hook::on(PreToolUse).named("meddler").priority(1).callback(move |_: &PreToolUse| {
            let engine = inside.lock().unwrap().take();
            if let Some(engine) = engine {
                meddle(&engine);
            }
        }),
        quiet("bystander"),
    ]);
    *place.lock().unwrap() = Some(engine.clone());
    engine
}

#[test]
fn a_hook_that_registers_a_hook_sees_it_run_at_the_next_fire() {
    let engine = meddling(|engine| {
        engine.register(quiet("new")).unwrap();
        engine.register_scoped("a", [quiet("scoped")]).unwrap();
    });
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["meddler", "bystander"]);
    assert_eq!(ran(&engine.fire_blocking(tool_of("a", "Bash"))), ["meddler", "bystander", "new", "a/scoped"]);
}

#[test]
fn a_hook_that_removes_or_disables_others_does_not_stop_the_walk_that_it_is_in() {
    for meddle in [(|engine: &Engine| engine.disable("bystander").unwrap()) as fn(&Engine), |engine| {
        assert!(engine.unregister("bystander"))
    }] {
        let engine = meddling(meddle);
        assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["meddler", "bystander"]);
        assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["meddler"]);
    }
}

#[test]
fn a_hook_may_remove_itself_and_fire_another_event() {
    let engine = meddling(|engine| {
        assert!(engine.unregister("meddler"));
        engine.register(Hook::on(Stop).named("stop").callback(|_: &Stop| Reply::resume("x"))).unwrap();
        assert!(engine.fire_blocking(Stop::default()).resume.is_some());
        assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["bystander"]);
    });
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["meddler", "bystander"]);
    assert!(engine.entry("meddler").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_may_fire_from_every_kind_of_callback() {
    let inner = engine([says("inner", Reply::deny("inner"))]);
    let (one, two, three) = (inner.clone(), inner.clone(), inner.clone());
    let on = |name: &str| Hook::on(PreToolUse).named(name);
    let outer = engine([
        on("inline").callback(move |e: &PreToolUse| assert!(one.fire_blocking(e.clone()).is_denied())),
        on("async").async_callback(move |e: Arc<PreToolUse>| {
            let engine = two.clone();
            async move { assert!(engine.fire((*e).clone()).await.is_denied()) }
        }),
        on("blocking").blocking_callback(move |e: &PreToolUse| {
            assert!(three.fire_blocking(e.clone()).is_denied());
        }),
    ]);
    assert_eq!(ran(&outer.fire(tool("Bash")).await), ["inline", "async", "blocking"]);
}

/// Something that a hook holds and that talks to the engine when the hook is gone.
struct Farewell(Engine);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.register(quiet("farewell"));
    }
}

#[test]
fn a_hook_whose_end_changes_the_engine_can_be_removed() {
    let (owner, other) = (engine([]), engine([]));
    // The same engine would be kept alive by its own hook; a handle holds it weakly.
    let handle: ScopeHandle = owner.enter(Scope::new("a").hook(quiet("scoped"))).unwrap();
    let held = Mutex::new(Some(handle));
    owner
        .register(Hook::on(PreToolUse).named("holds").callback(move |_: &PreToolUse| {
            assert!(held.lock().unwrap().is_some());
        }))
        .unwrap();
    assert_eq!(ran(&owner.fire_blocking(tool_of("a", "Bash"))), ["holds", "a/scoped"]);
    assert!(owner.unregister("holds"));
    assert!(owner.fire_blocking(tool_of("a", "Bash")).reports.is_empty(), "the scope went with its handle");

    let hold = |engine: &Engine| {
        let handle = engine.enter(Scope::new("a").hook(quiet("scoped"))).unwrap();
        Hook::on(PreToolUse).named("holds").callback(move |_: &PreToolUse| {
            let _ = &handle;
        })
    };
    owner.register_scoped("b", [hold(&owner)]).unwrap();
    owner.unregister_scoped("b");
    assert!(owner.entries().is_empty(), "the scope in the scope is gone too");
    drop(owner.enter(Scope::new("b").hook(hold(&owner))).unwrap());
    assert!(owner.entries().is_empty());

    let farewell = Farewell(other.clone());
    other
        .register(Hook::on(PreToolUse).named("holds").callback(move |_: &PreToolUse| {
            let _ = &farewell;
        }))
        .unwrap();
    assert!(other.unregister("holds"));
    assert!(other.entry("farewell").is_some());
}

#[test]
fn a_hook_whose_end_changes_the_engine_can_be_refused() {
    let engine = engine([quiet("taken")]);
    let handle = engine.enter(Scope::new("a").hook(quiet("scoped"))).unwrap();
    let held = Mutex::new(Some(handle));
    let hook = Hook::on(PreToolUse).named("taken").callback(move |_: &PreToolUse| {
        assert!(held.lock().unwrap().is_some());
    });
    assert!(matches!(engine.register(hook), Err(RegisterError::DuplicateName { .. })));
    assert_eq!(ran(&engine.fire_blocking(tool_of("a", "Bash"))), ["taken"]);

    let handle = engine.enter(Scope::new("a").hook(quiet("scoped"))).unwrap();
    let held = Mutex::new(Some(handle));
    let hook = Hook::on(PreToolUse).callback(move |_: &PreToolUse| drop(held.lock()));
    let scope = Scope::new("b").hook(hook).hook(quiet("x")).hook(quiet("x"));
    assert!(engine.enter(scope).is_err());
    assert_eq!(ran(&engine.fire_blocking(tool_of("a", "Bash"))), ["taken"]);
}

#[test]
fn a_removed_hook_is_dropped_when_the_last_fire_is_done_with_it() {
    let diary = Diary::default();
    let note = super::kit::DropNote(diary.clone(), "gone");
    let engine = engine([Hook::on(PreToolUse).named("h").callback(move |_: &PreToolUse| {
        let _ = &note;
    })]);
    engine.fire_blocking(tool("Bash"));
    engine.unregister("h");
    engine.fire_blocking(tool("Bash"));
    assert_eq!(diary.lines(), ["gone"], "no cache keeps it");
}

#[test]
fn a_walk_that_is_over_reports_the_rest_as_skipped() {
    let engine = engine([quiet("a"), says("guard", Reply::deny("no")), quiet("b"), quiet("c")]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(ran(&outcome), ["a", "guard"]);
    assert_eq!(with_status(&outcome, Status::Skipped), ["b", "c"]);
    let engine = super::kit::engine([quiet("a"), says("stop", Reply::halt("enough")), quiet("b")]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(with_status(&outcome, Status::Skipped), ["b"]);
    assert_eq!(outcome.halt.unwrap().reason, "enough");
}
