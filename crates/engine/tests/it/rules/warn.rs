//! Hooks that only warn: they run at their place, have no effect, and what they would have done is told.

use crosier::payload::{PostToolUse, PreToolUse};
use crosier::{Decision, Enforcement, Failure, Hook, Mode, NoticeKind, OnError, Reply};

use super::kit::{after, engine, ignored, json, quiet, ran, says, tool};

fn warns(name: &str, reply: Reply) -> Hook {
    let hook = Hook::on(PreToolUse).named(name).enforcement(Enforcement::Warn);
    hook.callback(move |_: &PreToolUse| reply.clone())
}

#[test]
fn a_deny_ends_no_walk_and_is_told() {
    let outcome = engine([warns("shadow", Reply::deny("no")), quiet("next")]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.would), (None, Some(Decision::Deny)));
    assert_eq!(ran(&outcome), ["shadow", "next"]);
    assert_eq!((outcome.reports[0].decision, outcome.reports[0].would), (None, Some(Decision::Deny)));
    assert_eq!(outcome.reports[1].would, None);
    let notice = &outcome.notices[0];
    assert_eq!((notice.kind, &*notice.level, &*notice.hook), (NoticeKind::Notify, "warn", "shadow"));
    assert_eq!(notice.text, "would deny: no");
}

#[test]
fn the_strictest_of_them_stands_in_the_outcome_beside_the_decision() {
    let hooks = [
        warns("asks", Reply::ask("?")),
        warns("denies", Reply::deny("no")),
        warns("allows", Reply::allow("")),
        says("enforces", Reply::ask("sure?")),
    ];
    let outcome = engine(hooks).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.would), (Some(Decision::Ask), Some(Decision::Deny)));
    assert_eq!(outcome.by.as_deref(), Some("enforces"));
}

#[test]
fn its_other_effects_reach_nobody() {
    let reply = Reply::none().rewrite_input(json(r#"{"command":"rm"}"#)).context("c");
    let sees = Hook::on(PreToolUse).named("sees").callback(|e: &PreToolUse| {
        assert_eq!(e.tool_input, json(r#"{"command":"ls"}"#));
    });
    let outcome = engine([warns("shadow", reply), sees]).fire_blocking(tool("Bash"));
    assert!(outcome.failures().next().is_none());
    assert_eq!((outcome.updated_input.is_none(), outcome.context.is_empty()), (true, true));
    assert_eq!(ignored(&outcome, "shadow"), ["rewrite", "context"]);
    assert!(!outcome.reports[0].rewrote);

    let halts = Hook::on(PostToolUse).named("halts").enforcement(Enforcement::Warn);
    let halts = halts.callback(|_: &PostToolUse| Reply::halt("stop").suppress());
    let outcome = engine([halts]).fire_blocking(after(json("1")));
    assert!(outcome.halt.is_none() && !outcome.suppress_output);
    assert_eq!(ignored(&outcome, "halts"), ["suppress", "halt"]);
}

#[test]
fn a_failure_that_would_abort_would_deny() {
    let fails = |on_error| {
        let hook = Hook::on(PreToolUse).named("fails").enforcement(Enforcement::Warn).on_error(on_error);
        hook.callback(|_: &PreToolUse| Err::<Reply, _>(Failure::error("broken")))
    };
    let outcome = engine([fails(OnError::Abort)]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.would, outcome.by_failure), (None, Some(Decision::Deny), false));
    let outcome = engine([fails(OnError::Log)]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.would), (None, None));
}

#[test]
fn a_guard_that_only_warns_stops_nothing_in_its_second_pass() {
    let shadow = Hook::on(PreToolUse).named("shadow").guard(true).enforcement(Enforcement::Warn);
    let shadow =
        shadow.callback(|e: &PreToolUse| e.tool_input.text().contains("rm").then(|| Reply::deny("rm")));
    let later = says("later", Reply::none().rewrite_input(json(r#"{"command":"rm"}"#)));
    let outcome = engine([shadow, later]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.would), (None, Some(Decision::Deny)));
    assert!(outcome.updated_input.is_some());
}

#[test]
fn off_is_switched_off_and_parallel_hooks_warn_too() {
    let off = Hook::on(PreToolUse)
        .named("off")
        .enforcement(Enforcement::Off)
        .callback(|_: &PreToolUse| Reply::deny(""));
    let parallel = Hook::on(PreToolUse).named("p").mode(Mode::Parallel).enforcement(Enforcement::Warn);
    let outcome =
        engine([off, parallel.callback(|_: &PreToolUse| Reply::deny("no"))]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.would, ran(&outcome)), (None, Some(Decision::Deny), vec!["p"]));
}
