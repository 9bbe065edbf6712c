//! A guard decides about the final input, whatever the hooks after it do.

use crosier::payload::{PermissionRequest, PostToolUse, PreToolUse, PreViewRender};
use crosier::{
    Call, Decision, Engine, Failure, Gates, Hook, Json, Mode, OnError, Outcome, OutputGate, Pass,
    RegisterError, Reply, ToolGate,
};
use proptest::prelude::*;

use super::kit::{Diary, after, engine, ignored, json, quiet, says, tool};

const GOOD: &str = r#"{"command":"ls"}"#;
const BAD: &str = r#"{"command":"rm -rf /"}"#;

fn rewrites(name: &str, to: &str) -> Hook {
    says(name, Reply::none().rewrite_input(json(to)))
}

fn is_bad(event: &PreToolUse) -> bool {
    event.tool_input.text().contains("rm")
}

/// Denies what is bad.
fn guard(name: &str) -> Hook {
    Hook::on(PreToolUse).named(name).guard(true).callback(|e: &PreToolUse| match is_bad(e) {
        true => Reply::deny("no rm"),
        false => Reply::none(),
    })
}

/// Lets everything through, with a word.
fn says_guard(name: &str) -> Hook {
    Hook::on(PreToolUse).named(name).guard(true).callback(|_: &PreToolUse| Reply::none().context("fine"))
}

/// The reports as `name/pass`, in order.
fn passes(outcome: &Outcome) -> Vec<String> {
    outcome.reports.iter().map(|report| format!("{}/{}", report.hook, report.pass)).collect()
}

#[tokio::test]
async fn a_guard_judges_what_a_later_hook_made_of_the_input() {
    let engine = engine([guard("guard"), rewrites("later", BAD), quiet("last")]);
    for outcome in [engine.fire(tool("Bash")).await, engine.fire_blocking(tool("Bash"))] {
        assert_eq!(outcome.decision, Some(Decision::Deny));
        assert_eq!((outcome.by.as_deref(), outcome.reason.as_deref()), (Some("guard"), Some("no rm")));
        assert_eq!(outcome.updated_input, None);
        assert_eq!(passes(&outcome), ["guard/1", "later/1", "last/1", "guard/2"]);
        assert_eq!(outcome.reports[3].decision, Some(Decision::Deny));
    }
}

#[test]
fn a_hook_that_is_no_guard_is_asked_once() {
    let first =
        Hook::on(PreToolUse).named("first").callback(|e: &PreToolUse| is_bad(e).then(|| Reply::deny("no")));
    let outcome = engine([first, rewrites("later", BAD)]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.reports.len()), (None, 2));
}

#[test]
fn a_guard_is_not_asked_again_about_what_it_let_through() {
    let cases: [(&str, Vec<Hook>, &[&str]); 4] = [
        ("nobody rewrites", vec![guard("guard"), quiet("later")], &["guard/1", "later/1"]),
        (
            "it rewrote itself",
            vec![rewrites("own", r#"{"command":"pwd"}"#), guard("guard")],
            &["own/1", "guard/1"],
        ),
        (
            "it is as it was in the end",
            vec![guard("guard"), rewrites("there", BAD), rewrites("back", GOOD)],
            &["guard/1", "there/1", "back/1"],
        ),
        (
            "only the one that saw another input",
            vec![guard("before"), rewrites("x", r#"{"command":"pwd"}"#), guard("after")],
            &["before/1", "x/1", "after/1", "before/2"],
        ),
    ];
    for (why, hooks, expected) in cases {
        let outcome = engine(hooks).fire_blocking(tool("Bash"));
        assert_eq!(passes(&outcome), expected, "{why}");
        assert_eq!(outcome.decision, None, "{why}");
    }
    let own = Hook::on(PreToolUse)
        .named("own")
        .guard(true)
        .callback(|_: &PreToolUse| Reply::none().rewrite_input(json(r#"{"command":"pwd"}"#)));
    let outcome = engine([own]).fire_blocking(tool("Bash"));
    assert_eq!(passes(&outcome), ["own/1"]);
    assert_eq!(outcome.updated_input, Some(json(r#"{"command":"pwd"}"#)));
}

#[test]
fn the_second_answer_replaces_the_first() {
    let asks = Hook::on(PreToolUse)
        .named("asks")
        .guard(true)
        .callback(|e: &PreToolUse| if is_bad(e) { Reply::ask("rm?") } else { Reply::none() });
    let outcome =
        engine([rewrites("bad", BAD), asks.clone(), rewrites("good", GOOD)]).fire_blocking(tool("Bash"));
    assert_eq!(outcome.decision, None, "what it asked about is not what will run");
    let outcome = engine([asks, rewrites("bad", BAD)]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Some(Decision::Ask), Some("rm?")));
    assert!(matches!(outcome.tool_gate(), ToolGate::Ask { input: Some(input), .. } if input == json(BAD)));
}

#[test]
fn an_allow_before_a_rewrite_is_void_whoever_gave_it() {
    let outcome =
        engine([says("allows", Reply::allow("")), rewrites("later", BAD)]).fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.by.as_deref()), (None, None));
    assert_eq!(ignored(&outcome, "allows"), ["allow"]);
    assert!(matches!(outcome.tool_gate(), ToolGate::Proceed(Some(_))));

    // Not when it is about the final input.
    let both = says("both", Reply::allow("").rewrite_input(json(BAD)));
    let outcome = engine([both.clone()]).fire_blocking(tool("Bash"));
    assert!(matches!(outcome.tool_gate(), ToolGate::Allow(Some(_))));
    let outcome = engine([both, rewrites("later", GOOD)]).fire_blocking(tool("Bash"));
    assert!(matches!(outcome.tool_gate(), ToolGate::Proceed(Some(_))));
    let outcome =
        engine([rewrites("first", BAD), says("allows", Reply::allow(""))]).fire_blocking(tool("Bash"));
    assert!(matches!(outcome.tool_gate(), ToolGate::Allow(Some(_))));

    let asks_first =
        [says("asks", Reply::ask("?")), says("allows", Reply::allow("")), rewrites("later", BAD)];
    let outcome = engine(asks_first).fire_blocking(tool("Bash"));
    assert_eq!(outcome.decision, Some(Decision::Ask), "an ask stands");
}

#[test]
fn permission_updates_for_another_input_are_void_too() {
    let learns = Hook::on(PermissionRequest).named("learns").callback(|_: &PermissionRequest| {
        Reply::allow("").with(|effects| effects.permissions = Some(json("[1]")))
    });
    let later =
        Hook::on(PermissionRequest).callback(|_: &PermissionRequest| Reply::none().rewrite_input(json(BAD)));
    let event = PermissionRequest::new("Bash", json(GOOD));
    let outcome = engine([learns.clone(), later]).fire_blocking(event.clone());
    assert_eq!((outcome.decision, outcome.updated_permissions.clone()), (None, None));
    assert_eq!(ignored(&outcome, "learns"), ["allow", "permissions"]);
    let outcome = engine([learns]).fire_blocking(event);
    assert_eq!((outcome.decision, outcome.updated_permissions), (Some(Decision::Allow), Some(json("[1]"))));
}

#[test]
fn a_guard_that_wants_another_input_in_the_end_denies() {
    let normal = || Hook::on(PreToolUse).named("normal").guard(true);
    let outcome = engine([
        normal().callback(|_: &PreToolUse| Reply::none().rewrite_input(json(r#"{"command":"pwd"}"#))),
        rewrites("later", BAD),
    ])
    .fire_blocking(tool("Bash"));
    assert_eq!((outcome.decision, outcome.by.as_deref()), (Some(Decision::Deny), Some("normal")));
    assert!(outcome.reason.unwrap().contains("rejects the input as later hooks changed it"));
    // The same input in other words is no other input.
    let outcome = engine([
        normal().callback(|_: &PreToolUse| Reply::none().rewrite_input(json(r#"{ "command" : "pwd" }"#))),
        rewrites("later", r#"{"command":"pwd"}"#),
    ])
    .fire_blocking(tool("Bash"));
    assert_eq!(outcome.decision, None);
    assert_eq!(outcome.updated_input.unwrap().text(), r#"{"command":"pwd"}"#);
}

#[test]
fn where_the_event_has_no_deny_a_guard_rewrites_in_the_end_too() {
    let redacts = Hook::on(PostToolUse).named("redacts").guard(true).callback(|e: &PostToolUse| {
        let text = e.tool_response.text();
        text.contains("secret").then(|| Reply::none().rewrite_output(json(&text.replace("secret", "***"))))
    });
    let leaks = Hook::on(PostToolUse)
        .named("leaks")
        .callback(|_: &PostToolUse| Reply::none().rewrite_output(json(r#""a secret""#)));
    let event = after(json(r#""nothing""#));
    let outcome = engine([redacts, leaks.clone()]).fire_blocking(event.clone());
    assert_eq!(outcome.result_gate().output, OutputGate::Replace(json(r#""a ***""#)));
    assert_eq!(passes(&outcome), ["redacts/1", "leaks/1", "redacts/2"]);
    assert_eq!(outcome.reports.iter().map(|report| report.rewrote).collect::<Vec<_>>(), [false, true, true]);

    let hides = Hook::on(PostToolUse).named("hides").guard(true).callback(|e: &PostToolUse| {
        e.tool_response.text().contains("secret").then(|| Reply::none().suppress())
    });
    let outcome = engine([hides, leaks]).fire_blocking(event);
    assert_eq!(outcome.result_gate().output, OutputGate::Suppress);

    let view = Hook::on(PreViewRender)
        .guard(true)
        .callback(|_: &PreViewRender| Reply::none().rewrite_input(json(r#"{"safe":true}"#)));
    let other = Hook::on(PreViewRender).callback(|_: &PreViewRender| Reply::none().rewrite_input(json("{}")));
    let outcome = engine([view, other]).fire_blocking(PreViewRender::new(json(r#"{"x":1}"#)));
    assert_eq!(outcome.updated_input, Some(json(r#"{"safe":true}"#)));
}

#[test]
fn context_is_taken_from_one_pass() {
    let talks = Hook::on(PostToolUse).named("talks").guard(true).callback(|_: &PostToolUse| {
        Reply::none().context("c").inject(crosier::Strategy::UserMessage, "i").notify("n")
    });
    let late =
        Hook::on(PostToolUse).named("late").guard(true).callback_with(|_: &PostToolUse, call: Call<'_>| {
            (call.pass == Pass::Second).then(|| Reply::none().context("second"))
        });
    let other = Hook::on(PostToolUse)
        .named("other")
        .callback(|_: &PostToolUse| Reply::none().rewrite_output(json("2")));
    let event = after(json("1"));
    let outcome = engine([talks, late, other]).fire_blocking(event);
    assert_eq!(outcome.context, ["c", "second"]);
    assert_eq!((outcome.inject.len(), outcome.notices.len()), (1, 1));
    let of = |at: usize| (&*outcome.reports[at].hook, outcome.reports[at].context.as_slice());
    assert_eq!(of(0), ("talks", ["c".to_owned()].as_slice()));
    assert_eq!(of(3), ("talks", [].as_slice()));
    assert_eq!(of(4), ("late", ["second".to_owned()].as_slice()));
}

#[test]
fn parallel_guards_are_asked_again_together() {
    let parallel = |name: &str| Hook::on(PreToolUse).named(name).guard(true).mode(Mode::Parallel);
    let hooks = [
        parallel("a").callback(|_: &PreToolUse| ()),
        parallel("b").callback(|e: &PreToolUse| is_bad(e).then(|| Reply::deny("no"))),
        Hook::on(PreToolUse).named("c").mode(Mode::Parallel).callback(|_: &PreToolUse| ()),
        rewrites("later", BAD),
        quiet("last"),
    ];
    let outcome = engine(hooks).fire_blocking(tool("Bash"));
    assert_eq!(passes(&outcome), ["a/1", "b/1", "c/1", "later/1", "last/1", "a/2", "b/2"]);
    assert_eq!(outcome.by.as_deref(), Some("b"));
}

#[test]
fn a_failure_in_the_second_pass_follows_the_policy_and_drops_no_question() {
    let fails = |on_error| {
        let hook = Hook::on(PreToolUse).named("fails").guard(true).on_error(on_error);
        hook.callback(|e: &PreToolUse| match is_bad(e) {
            true => Err(Failure::error("broken")),
            false => Ok(Reply::ask("sure?")),
        })
    };
    let outcome = engine([fails(OnError::Abort), rewrites("later", BAD)]).fire_blocking(tool("Bash"));
    assert!(outcome.is_denied() && outcome.by_failure);
    let outcome = engine([fails(OnError::Log), rewrites("later", BAD)]).fire_blocking(tool("Bash"));
    assert_eq!(outcome.decision, Some(Decision::Ask));
}

#[test]
fn observers_see_the_outcome_after_the_second_pass() {
    let diary = Diary::default();
    let seen = diary.clone();
    let observer = Hook::on_event(PreToolUse.kind())
        .named("observer")
        .mode(Mode::Observe)
        .callback(move |event: &crosier::Event| seen.note(event.get("outcome").unwrap().text()));
    let outcome = engine([guard("guard"), rewrites("later", BAD), observer]).fire_blocking(tool("Bash"));
    assert!(diary.lines()[0].contains(r#""decision":"deny""#) && diary.lines()[0].contains(r#""pass":2"#));
    assert_eq!(passes(&outcome), ["guard/1", "later/1", "guard/2", "observer/1"]);
}

#[tokio::test]
async fn a_host_that_changes_the_input_asks_the_guards_again() {
    let engine =
        engine([guard("guard"), says("other", Reply::deny("not asked")), says("last", Reply::none())]);
    let edited = PreToolUse::new("Bash", json(BAD));
    for outcome in [engine.recheck(edited.clone()).await, engine.recheck_blocking(edited.clone())] {
        assert_eq!((outcome.by.as_deref(), passes(&outcome)), (Some("guard"), vec!["guard/2".to_owned()]));
    }
    assert_eq!(engine.recheck_blocking(tool("Bash")).decision, None);
    assert!(super::kit::engine([quiet("none")]).recheck_blocking(edited).reports.is_empty());
}

#[test]
fn every_report_of_a_recheck_is_of_the_second_pass() {
    let engine = engine([guard("silent"), says_guard("speaks"), guard("silent too")]);
    let outcome = engine.recheck_blocking(tool("Bash"));
    assert_eq!(passes(&outcome), ["silent/2", "speaks/2", "silent too/2"]);
    let denied = engine.recheck_blocking(PreToolUse::new("Bash", json(BAD)));
    assert_eq!(passes(&denied), ["silent/2", "speaks/2", "silent too/2"], "also of those that are skipped");
}

#[test]
fn a_guard_must_be_able_to_decide() {
    for mode in [Mode::Observe, Mode::Background] {
        let hook = Hook::on(PreToolUse).named("g").guard(true).mode(mode).callback(|_: &PreToolUse| ());
        let error = Engine::builder().hook(hook).build().unwrap_err();
        assert!(matches!(error, RegisterError::ModeCannotGuard { .. }), "{error}");
        assert!(error.to_string().contains(mode.word().unwrap()));
    }
    let system = |mode| Hook::on(PreToolUse).named("s").system().mode(mode).callback(|_: &PreToolUse| ());
    assert!(engine([system(Mode::Sequential)]).entry("s").unwrap().guard, "system hooks are guards");
    assert!(!engine([system(Mode::Observe)]).entry("s").unwrap().guard);
    let no_guard = Hook::on(PreToolUse).named("s").system().guard(false).callback(|_: &PreToolUse| ());
    assert!(!engine([no_guard]).entry("s").unwrap().guard);
}

/// What a hook behind the guard does.
#[derive(Debug, Clone)]
enum Later {
    Quiet,
    Allow,
    Ask,
    Rewrite(bool),
    AllowAndRewrite(bool),
    Fail,
    Panic,
}

fn value(bad: bool) -> Json {
    json(if bad { BAD } else { GOOD })
}

fn later() -> impl Strategy<Value = (Later, bool, i32)> {
    let what = prop_oneof![
        Just(Later::Quiet),
        Just(Later::Allow),
        Just(Later::Ask),
        any::<bool>().prop_map(Later::Rewrite),
        any::<bool>().prop_map(Later::AllowAndRewrite),
        Just(Later::Fail),
        Just(Later::Panic),
    ];
    (what, any::<bool>(), 0..200_i32)
}

fn hook((what, parallel, priority): (Later, bool, i32)) -> Hook {
    let mode = if parallel { Mode::Parallel } else { Mode::Sequential };
    Hook::on(PreToolUse).mode(mode).priority(priority).callback(move |_: &PreToolUse| match &what {
        Later::Quiet => Ok(Reply::none()),
        Later::Allow => Ok(Reply::allow("")),
        Later::Ask => Ok(Reply::ask("?")),
        Later::Rewrite(bad) => Ok(Reply::none().rewrite_input(value(*bad))),
        Later::AllowAndRewrite(bad) => Ok(Reply::allow("").rewrite_input(value(*bad))),
        Later::Fail => Err(Failure::error("broken")),
        Later::Panic => std::panic::resume_unwind(Box::new("broken")),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever stands around a guard, what it denies is not run.
    #[test]
    fn no_outcome_runs_what_a_guard_denies(
        hooks in proptest::collection::vec(later(), 0..8), priority in 0..200_i32, parallel: bool, bad: bool,
    ) {
        let mode = if parallel { Mode::Parallel } else { Mode::Sequential };
        let guard = Hook::on(PreToolUse).guard(true).mode(mode).priority(priority)
            .callback(|e: &PreToolUse| is_bad(e).then(|| Reply::deny("no")));
        let engine = engine(hooks.into_iter().map(hook).chain([guard]));
        let outcome = engine.fire_blocking(PreToolUse::new("Bash", value(bad)));
        let runs = match outcome.tool_gate() {
            ToolGate::Halt(_) | ToolGate::Deny(_) => return Ok(()),
            ToolGate::Ask { input, .. } | ToolGate::Allow(input) | ToolGate::Proceed(input) => input,
        };
        let runs = runs.unwrap_or_else(|| value(bad));
        prop_assert!(!runs.text().contains("rm"), "{outcome:?}");
        // What was allowed is what runs.
        if outcome.decision == Some(Decision::Allow) {
            let by = outcome.by.as_deref().unwrap();
            let report = outcome.reports.iter().find(|report| *report.hook == *by).unwrap();
            prop_assert!(report.ignored.iter().all(|ignored| ignored.effect != "allow"));
        }
    }
}
