//! Fires from many threads while hooks and scopes come and go: no deadlock, no foreign hook, no lost guard.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crosier::payload::PreToolUse;
use crosier::{Decision, Engine, Hook, Received, Reply, Scope, Status};

use super::kit::{engine, quiet, says, tool, tool_of};

const ROUNDS: usize = 150;

fn guard() -> Hook {
    Hook::on(PreToolUse)
        .named("guard")
        .matching("Bash")
        .priority(10)
        .system()
        .callback(|_: &PreToolUse| Reply::deny("no"))
}

/// Fires until it is told to stop and checks what must hold at every moment.
fn fire_until(engine: &Engine, agent: &str, stop: &AtomicBool) -> usize {
    let mut fired = 0;
    while !stop.load(Ordering::Relaxed) || fired == 0 {
        let outcome = engine.fire_blocking(tool_of(agent, "Bash"));
        assert_eq!(outcome.decision, Some(Decision::Deny), "the guard was lost: {outcome:?}");
        assert_eq!(outcome.by.as_deref(), Some("guard"));
        let others = outcome.reports.iter().filter(|report| report.hook.contains('/'));
        for report in others {
            assert!(report.hook.starts_with(&format!("{agent}/")), "{} ran for {agent}", report.hook);
        }
        let outcome = engine.fire_blocking(tool_of(agent, "Read"));
        assert_eq!(outcome.decision, None);
        assert!(outcome.reports.iter().all(|report| report.status == Status::Ok), "{outcome:?}");
        fired += 1;
    }
    fired
}

#[test]
fn fires_go_on_while_hooks_and_scopes_come_and_go() {
    let engine = engine([guard(), quiet("base")]);
    let stop = AtomicBool::new(false);
    let fired: usize = thread::scope(|threads| {
        let firing: Vec<_> = ["a", "b", "c"]
            .map(|agent| {
                let (engine, stop) = (&engine, &stop);
                threads.spawn(move || fire_until(engine, agent, stop))
            })
            .into();
        let changing: Vec<_> = ["a", "b"]
            .map(|agent| {
                let engine = &engine;
                threads.spawn(move || {
                    for round in 0..ROUNDS {
                        let scope = Scope::new(agent).hook(quiet("one")).hook(quiet("two"));
                        let handle = if round % 2 == 0 { scope } else { scope.overriding(PreToolUse.kind()) };
                        let handle = engine.enter(handle).unwrap();
                        let name = format!("extra-{agent}");
                        engine.register(quiet(&name)).unwrap();
                        engine.disable(&name).unwrap();
                        engine.enable(&name).unwrap();
                        assert!(engine.disable("guard").is_err());
                        drop(handle);
                        assert!(engine.unregister(&name));
                    }
                })
            })
            .into();
        let results: Vec<_> = changing.into_iter().map(thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        for result in results {
            result.unwrap();
        }
        firing.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(fired > 0);
    let left: Vec<String> = engine.entries().iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(left, ["guard", "base"], "everything that came has gone");
}

#[test]
fn of_many_who_remove_a_hook_one_did_it() {
    let engine = engine([]);
    for _ in 0..100 {
        engine.register(quiet("h")).unwrap();
        let removed = AtomicUsize::new(0);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    if engine.unregister("h") {
                        removed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(removed.into_inner(), 1);
    }
}

#[test]
fn of_many_who_register_a_name_one_gets_it() {
    let engine = engine([]);
    for _ in 0..100 {
        let registered = AtomicUsize::new(0);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    if engine.register(quiet("h")).is_ok() {
                        registered.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(registered.into_inner(), 1);
        assert!(engine.unregister("h"));
    }
}

#[test]
fn many_tool_names_from_many_threads_each_get_their_own_plan() {
    let on = |name: &str, matcher: &str| {
        let reply = Reply::none().context(name);
        Hook::on(PreToolUse).named(name).matching(matcher).callback(move |_: &PreToolUse| reply.clone())
    };
    let engine = engine([on("even", "*[02468]"), on("odd", "*[13579]"), on("exact", "tool-77|tool-78")]);
    thread::scope(|threads| {
        for start in [0, 300, 600, 900] {
            let engine = &engine;
            threads.spawn(move || {
                // More names than a cache holds, so that it starts over again and again.
                for n in (start..start + 700).chain(70..80) {
                    let outcome = engine.fire_blocking(tool(&format!("tool-{n}")));
                    let mut wanted = vec![if n % 2 == 0 { "even" } else { "odd" }];
                    if n == 77 || n == 78 {
                        wanted.push("exact");
                    }
                    assert_eq!(outcome.context, wanted, "tool-{n}");
                }
            });
        }
    });
}

#[test]
fn listeners_come_and_go_while_hooks_run() {
    let engine = engine([quiet("a"), says("b", Reply::allow("x"))]);
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    engine.fire_blocking(tool("Bash"));
                }
            });
        }
        for _ in 0..ROUNDS {
            let listener = engine.subscribe(4);
            let mut open = None;
            while let Some(Received::Message(message)) = listener.try_next() {
                open.get_or_insert(message);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
