//! Hooks that nobody waits for: they end with the engine, and their context comes later.

use std::fs;
use std::time::{Duration, Instant};

use crosier::payload::{PostMessage, PreToolUse, SessionStart};
use crosier::{Base, Engine, FailureKind, Hook, Mode, Outcome, Status};

use super::lab::{Lab, each_way, event, ms};
use super::vitals::until;

fn in_background(lab: &Lab, line: &str) -> Hook {
    Hook::on(SessionStart).named("later").mode(Mode::Background).command(lab.shell(line).spec)
}

fn session_start() -> SessionStart {
    SessionStart::new("startup")
}

fn event_of(session: &str, agent: Option<&str>) -> PreToolUse {
    let base = Base::default().session_id(session.to_owned()).agent_id(agent.map(str::to_owned));
    event().with_base(base)
}

/// Fires events until one has context.
fn until_context(lab: &Lab, engine: &Engine, event: &PreToolUse) -> Outcome {
    let begun = Instant::now();
    loop {
        let outcome = lab.fire(engine, event.clone());
        if !outcome.context.is_empty() {
            return outcome;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "the context never came");
    }
}

#[test]
fn the_event_does_not_wait_and_the_context_comes_with_a_later_outcome() {
    each_way(|lab| {
        let answer = lab.fifo("answer");
        let line = r#"cat > event; read line < answer; echo '{"systemMessage":"indexed","continue":false}'"#;
        let engine = lab.engine([in_background(lab, line)]);
        let outcome = lab.fire(&engine, session_start());
        assert_eq!(outcome.reports[0].status, Status::Background);
        assert!(outcome.context.is_empty());
        // It hangs until somebody answers, so this outcome cannot have anything of it.
        assert!(lab.fire(&engine, event()).context.is_empty());
        fs::write(answer, "now\n").unwrap();
        let outcome = until_context(lab, &engine, &event());
        assert_eq!(outcome.context, ["indexed"]);
        assert_eq!(outcome.halt, None, "only context is taken");
        assert!(lab.fire(&engine, event()).context.is_empty(), "it comes once");
        assert!(lab.read("event").contains("SessionStart"));
    });
}

#[test]
fn context_of_the_background_comes_only_to_its_own_session_and_agent_and_where_it_is_taken() {
    each_way(|lab| {
        let base = event_of("s-7", Some("a")).base;
        let engine = lab.engine([in_background(lab, r#"echo '{"systemMessage":"hello"}'; : > done"#)]);
        lab.fire(&engine, session_start().with_base(base.clone()));
        lab.wait_for("done");
        let of_others = [("s-7", None), ("s-7", Some("b")), ("s-8", Some("a"))];
        // PostMessage takes no context, so it waits.
        let post = PostMessage::default().with_base(base);
        let begun = Instant::now();
        while begun.elapsed() < ms(50) {
            for (session, agent) in of_others {
                assert!(lab.fire(&engine, event_of(session, agent)).context.is_empty());
            }
            assert!(lab.fire(&engine, post.clone()).context.is_empty());
        }
        let outcome = until_context(lab, &engine, &event_of("s-7", Some("a")));
        assert_eq!(outcome.context, ["hello"]);
    });
}

#[test]
fn a_hook_in_the_background_ends_with_its_engine() {
    each_way(|lab| {
        let engine = lab.engine([in_background(lab, "trap '' TERM; : > ready; sleep 60 & sleep 60")]);
        lab.fire(&engine, session_start());
        lab.wait_for("ready");
        drop(engine);
        lab.expect_no_survivor();
    });
}

#[test]
fn a_hook_in_the_background_of_an_engine_that_goes_at_once_does_not_run() {
    each_way(|lab| {
        for _ in 0..20 {
            let engine = lab.engine([in_background(lab, "sleep 60")]);
            lab.fire(&engine, session_start());
            drop(engine);
        }
        lab.expect_no_survivor();
    });
}

#[test]
fn a_hook_in_the_background_has_its_deadline() {
    each_way(|lab| {
        let hook = Hook::on(SessionStart).named("later").mode(Mode::Background).timeout(ms(250));
        let engine = lab.engine([hook.command(lab.shell("sleep 60 & sleep 60").spec)]);
        let listener = engine.subscribe(16);
        lab.fire(&engine, session_start());
        let begun = Instant::now();
        let mut ended = None;
        while ended.is_none() {
            match listener.next_within(Duration::from_secs(20)) {
                Some(crosier::Received::Message(message)) => match message.kind {
                    crosier::MessageKind::Response { outcome, .. } => ended = Some(outcome),
                    _ => continue,
                },
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(ended, Some(crosier::HookEnd::Cancelled));
        assert!(begun.elapsed() < ms(250 + 100 + 1000), "{:?}", begun.elapsed());
        lab.expect_no_survivor();
    });
}

#[test]
fn too_many_hooks_in_the_background_are_refused_and_say_so() {
    each_way(|lab| {
        let engine = lab.engine([in_background(lab, "echo >> started; exec sleep 60")]);
        for _ in 0..32 {
            assert_eq!(lab.fire(&engine, session_start()).reports[0].status, Status::Background);
        }
        let outcome = lab.fire(&engine, session_start());
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::Error);
        assert_eq!(failure.detail, "32 hooks run in the background already");
        assert!(until(|| lab.read("started").len() == 32), "{}", lab.read("started").len());
        drop(engine);
        lab.expect_no_survivor();
    });
}
