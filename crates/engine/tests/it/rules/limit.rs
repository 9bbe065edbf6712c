//! What cannot be registered, and what the error tells the host to do.

use std::time::Duration;

use crosier::payload::{PreToolUse, Stop, UserPromptSubmit};
use crosier::{Engine, Hook, RegisterError, Scope};

use super::kit::{engine, quiet};

fn many(count: usize) -> impl Iterator<Item = Hook> {
    (0..count).map(|n| quiet(&format!("h{n}")))
}

fn matching(matcher: &str) -> Hook {
    Hook::on(PreToolUse).named("m").matching(matcher).callback(|_: &PreToolUse| ())
}

#[test]
fn the_51st_hook_of_an_event_is_refused() {
    let full = engine(many(50));
    let error = full.register(quiet("one more")).unwrap_err();
    assert_eq!(error, RegisterError::TooManyHooks { event: "PreToolUse", limit: 50 });
    assert!(error.to_string().contains("raise max_hooks_per_point"), "{error}");
    assert_eq!(full.entries().len(), 50);
    assert!(matches!(Engine::builder().hooks(many(51)).build(), Err(RegisterError::TooManyHooks { .. })));
}

#[test]
fn the_limit_is_per_event_and_per_scope() {
    let full = engine(many(50));
    full.register(Hook::on(Stop).callback(|_: &Stop| ())).unwrap();
    full.register_scoped("a", many(50)).unwrap();
    full.register_scoped("b", many(50)).unwrap();
    assert!(matches!(full.register_scoped("a", [quiet("x")]), Err(RegisterError::TooManyHooks { .. })));
    assert!(full.unregister("h0"));
    full.register(quiet("in its place")).unwrap();
    assert!(full.register(quiet("one more")).is_err());
    full.disable("h1").unwrap();
    assert!(full.register(quiet("one more")).is_err(), "a disabled hook is still registered");
}

#[test]
fn the_limit_can_be_chosen() {
    let build = |limit, count| Engine::builder().max_hooks_per_point(limit).hooks(many(count)).build();
    assert!(build(3, 3).is_ok() && build(1000, 1000).is_ok());
    assert_eq!(build(3, 4).unwrap_err(), RegisterError::TooManyHooks { event: "PreToolUse", limit: 3 });
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let engine = engine([quiet("h")]);
    let error = engine.register(Hook::on(Stop).named("h").callback(|_: &Stop| ())).unwrap_err();
    assert_eq!(error, RegisterError::DuplicateName { name: "h".into() });
    assert!(error.to_string().contains("choose another one"));
    engine.register_scoped("a", [quiet("h")]).unwrap();
    let error = engine.enter(Scope::new("a").hook(quiet("h"))).unwrap_err();
    assert_eq!(error, RegisterError::DuplicateName { name: "a/h".into() });
    engine.unregister("h");
    engine.register(quiet("h")).unwrap();
}

#[test]
fn a_bad_matcher_is_refused_with_what_to_write() {
    let engine = engine([]);
    for (matcher, part) in [
        ("[abc", "never closed"),
        ("Bash|[!", "never closed"),
        ("[z-a]", "reversed"),
        ("a||b", "empty part"),
        ("|", "empty part"),
        ("a|", "empty part"),
        (" | a", "empty part"),
        ("re:(", "bad regular expression"),
        ("re:a)(b", "bad regular expression"),
        ("re:(?<n>x){1000000}", "bad regular expression"),
    ] {
        match engine.register(matching(matcher)) {
            Err(RegisterError::Matcher { detail }) => assert!(detail.contains(part), "{matcher}: {detail}"),
            other => panic!("{matcher}: {other:?}"),
        }
    }
    assert!(engine.entries().is_empty());
    for matcher in ["", "*", " * ", "Bash", "a | b", "re:.*", "[]]", "[!]]", "{a,b}", "a\\*"] {
        engine.register(matching(matcher)).unwrap();
        engine.unregister("m");
    }
}

#[test]
fn a_matcher_on_an_event_without_a_field_is_refused_unless_it_matches_all() {
    let engine = engine([]);
    let hook =
        |matcher: &str| Hook::on(UserPromptSubmit).matching(matcher).callback(|_: &UserPromptSubmit| ());
    for matcher in ["", "*", " * "] {
        engine.register(hook(matcher)).unwrap();
    }
    for matcher in ["hello", "**", "re:.*", "*|*"] {
        let error = engine.register(hook(matcher)).unwrap_err();
        let wanted = RegisterError::NoMatcherField { event: "UserPromptSubmit", matcher: matcher.to_owned() };
        assert_eq!(error, wanted);
        assert!(error.to_string().contains("leave the matcher"), "{error}");
    }
}

#[test]
fn a_hook_without_any_time_is_refused() {
    let hook =
        |timeout| Hook::on(PreToolUse).named("h").timeout(timeout).blocking_callback(|_: &PreToolUse| ());
    let error = engine([]).register(hook(Duration::ZERO)).unwrap_err();
    assert_eq!(error, RegisterError::ZeroTimeout { name: "h".into() });
    let error = Engine::builder().timeout(Duration::ZERO).hook(quiet("h")).build().unwrap_err();
    assert_eq!(error, RegisterError::ZeroTimeout { name: "h".into() });
    engine([]).register(hook(Duration::from_nanos(1))).unwrap();
}

#[test]
fn a_timeout_that_cannot_be_kept_is_refused() {
    let hook = Hook::on(PreToolUse).named("h").timeout(Duration::from_secs(1)).callback(|_: &PreToolUse| ());
    let error = Engine::builder().hook(hook).build().unwrap_err();
    assert_eq!(error, RegisterError::InlineTimeout { name: "h".into() });
    assert!(error.to_string().contains("use `blocking_callback` or `async_callback`"));
}

#[test]
fn a_system_hook_in_a_scope_is_refused() {
    let hook = Hook::on(PreToolUse).named("h").system().callback(|_: &PreToolUse| ());
    let error = engine([]).register_scoped("a", [hook]).unwrap_err();
    assert_eq!(error, RegisterError::SystemInScope { name: "a/h".into(), scope: "a".into() });
    assert!(error.to_string().contains("only base hooks can"));
}
