//! Exit codes and signals × stdout, with real processes.

use crosier::payload::{PostToolUse, SessionStart, Stop};
use crosier::{Decision, EventKind, Failure, FailureKind, Hook, Outcome};

use super::lab::{Lab, each_way};

fn exited(code: i32) -> String {
    format!("it exited with code {code}")
}

#[test]
fn exit_0_with_nothing_is_no_opinion() {
    each_way(|lab| lab.shell("exit 0").fire().no_opinion());
}

#[test]
fn exit_0_with_white_space_or_null_is_no_opinion() {
    each_way(|lab| {
        lab.shell("echo; echo ' '").fire().no_opinion();
        lab.shell("echo null").fire().no_opinion();
        lab.shell("echo '{}'").fire().no_opinion();
    });
}

#[test]
fn exit_0_leaves_the_decision_to_stdout() {
    each_way(|lab| {
        lab.shell("cat deny").fire().denied("no");
        lab.shell("cat allow").fire().decided(Decision::Allow, "yes");
    });
}

#[test]
fn exit_2_denies_with_stderr_as_the_reason() {
    each_way(|lab| lab.shell("echo ' not here ' >&2; exit 2").fire().denied("not here"));
}

#[test]
fn exit_2_without_stderr_denies_and_names_the_hook() {
    each_way(|lab| lab.shell("exit 2").fire().denied("denied by hook guard"));
}

#[test]
fn exit_2_with_an_allow_on_stdout_denies() {
    each_way(|lab| lab.shell("cat allow; echo no >&2; exit 2").fire().denied("no"));
}

#[test]
fn exit_2_with_broken_json_denies_with_stderr() {
    each_way(|lab| lab.shell("echo '{'; echo no >&2; exit 2").fire().denied("no"));
}

#[test]
fn exit_2_with_bytes_on_stderr_that_are_no_text_denies() {
    each_way(|lab| lab.shell(r"printf 'a\377b' >&2; exit 2").fire().denied("a\u{fffd}b"));
}

#[test]
fn a_syntax_error_of_the_shell_denies_as_a_failure() {
    each_way(|lab| {
        lab.write("broken.sh", "if true; then\necho 'deny'\n");
        for line in ["if true; then fi", "echo 'open", "sh ./broken.sh", "bash broken.sh"] {
            let outcome = lab.shell(line).fire().outcome;
            let failure = outcome.reports[0].failure.as_ref().unwrap();
            assert_eq!(failure.kind, FailureKind::Import, "{line}: {failure}");
            assert!(failure.detail.contains("the hook is broken"), "{line}: {failure}");
            assert!(outcome.is_denied() && outcome.by_failure, "{line}: {outcome:?}");
        }
    });
}

#[test]
fn exit_1_with_a_deny_on_stdout_denies() {
    each_way(|lab| lab.shell("cat deny; exit 1").fire().denied("no"));
}

#[test]
fn exit_1_with_an_allow_on_stdout_allows() {
    each_way(|lab| lab.shell("cat allow; exit 1").fire().decided(Decision::Allow, "yes"));
}

#[test]
fn exit_1_with_nothing_fails() {
    each_way(|lab| lab.shell("exit 1").fire().failed(FailureKind::Exit, exited(1)));
}

#[test]
fn a_failure_says_the_cause_and_not_the_last_line() {
    each_way(|lab| {
        lab.write("guard.py", "import no_such_module\n");
        let trial = lab.shell("python3 guard.py").fire();
        let detail = &trial.outcome.reports[0].failure.as_ref().unwrap().detail;
        assert!(detail.contains("ModuleNotFoundError: No module named 'no_such_module'"), "{detail}");
        lab.write(
            "node",
            "Error: Cannot find module '/x.js'\n    at y (z:1)\n  code: 'X'\n}\n\nNode.js v20.1\n",
        );
        let trial = lab.shell("cat node >&2; exit 1").fire();
        trial.failed(FailureKind::Exit, exited(1) + ": Error: Cannot find module '/x.js'");
    });
}

#[test]
fn exit_1_with_text_fails_and_says_the_last_lines_of_stderr() {
    each_way(|lab| {
        let line = "echo hello; echo first >&2; printf 'last \\033[31mred\\n\\n' >&2; exit 1";
        lab.shell(line).fire().failed(FailureKind::Exit, exited(1) + ": first | last [31mred");
    });
}

#[test]
fn exit_1_with_json_that_is_no_reply_fails() {
    each_way(|lab| {
        for json in ["[1]", "\"deny\"", "{", "{\"decision\":\"maybe\"}", "{} {}", "null"] {
            lab.write("reply", json);
            lab.shell("cat reply; exit 1").fire().failed(FailureKind::Exit, exited(1));
        }
    });
}

#[test]
fn exit_126_127_137_and_255_fail() {
    each_way(|lab| {
        for code in [126, 127, 137, 255] {
            lab.shell(format!("exit {code}")).fire().failed(FailureKind::Exit, exited(code));
        }
    });
}

#[test]
fn a_program_that_the_shell_does_not_find_is_an_exit_code() {
    each_way(|lab| {
        let trial = lab.shell("no-such-program-here").fire();
        trial.failed_somehow(FailureKind::Exit);
        let detail = &trial.report().failure.as_ref().unwrap().detail;
        assert!(detail.starts_with(&exited(127)) && detail.contains("no-such-program-here"), "{detail}");
    });
}

#[test]
fn a_hook_that_is_killed_by_sigsegv_fails() {
    each_way(|lab| {
        let trial = lab.shell("kill -SEGV $$").fire();
        trial.failed(FailureKind::Signal, "it was killed by signal 11 (SIGSEGV)");
    });
}

#[test]
fn a_hook_that_is_killed_after_its_allow_fails() {
    each_way(|lab| {
        let trial = lab.shell("cat allow; kill -KILL $$").fire();
        trial.failed(FailureKind::Signal, "it was killed by signal 9 (SIGKILL)");
    });
}

#[test]
fn a_hook_that_is_killed_after_its_deny_denies_and_the_failure_stays() {
    each_way(|lab| {
        let trial = lab.shell("cat deny; kill -SEGV $$").fire();
        trial.decided_anyway(Decision::Deny, "no");
        let failure = Failure::new(FailureKind::Signal, "it was killed by signal 11 (SIGSEGV)");
        assert_eq!(trial.report().failure, Some(failure.into()));
    });
}

fn fire_at(lab: &Lab, kind: EventKind, line: &str, event: impl Into<crosier::Event>) -> Outcome {
    let hook = Hook::on_event(kind).named("guard").command(lab.shell(line).spec);
    lab.fire(&lab.engine([hook]), event)
}

#[test]
fn exit_2_at_stop_resumes() {
    each_way(|lab| {
        let outcome = fire_at(lab, Stop.kind(), "echo 'tests fail' >&2; exit 2", Stop::default());
        let resume = outcome.resume.as_ref().unwrap();
        assert_eq!((resume.reason.as_str(), &*resume.by), ("tests fail", "guard"));
        assert_eq!(outcome.decision, None);
    });
}

#[test]
fn exit_2_where_nothing_can_be_denied_is_listed_and_its_reason_is_context() {
    each_way(|lab| {
        let outcome = fire_at(lab, SessionStart.kind(), "echo no >&2; exit 2", SessionStart::default());
        assert_eq!(outcome.decision, None);
        assert_eq!(outcome.context, ["no"]);
        assert_eq!(outcome.reports[0].ignored[0].why, "SessionStart has no deny");
    });
}

#[test]
fn a_failure_set_to_abort_where_nothing_can_be_denied_suppresses_or_halts() {
    each_way(|lab| {
        let abort = |kind| {
            let hook = Hook::on_event(kind).named("guard").on_error(crosier::OnError::Abort);
            lab.engine([hook.command(lab.shell("exit 1").spec)])
        };
        let outcome = lab.fire(&abort(PostToolUse.kind()), PostToolUse::default());
        assert!(outcome.suppress_output && outcome.by_failure && outcome.decision.is_none(), "{outcome:?}");
        let outcome = lab.fire(&abort(SessionStart.kind()), SessionStart::default());
        assert!(outcome.halt.is_some() && outcome.by_failure && outcome.decision.is_none(), "{outcome:?}");
    });
}

#[test]
fn text_is_context_when_the_hook_says_so() {
    each_way(|lab| {
        let trial = lab.shell("echo 'on branch main'; echo '[1]'").text().fire();
        trial.no_opinion();
        assert_eq!(trial.outcome.context, ["on branch main\n[1]"]);
    });
}

#[test]
fn a_reply_of_a_text_hook_is_text() {
    each_way(|lab| {
        let trial = lab.shell("cat deny").text().fire();
        trial.no_opinion();
        assert_eq!(trial.outcome.context, [r#"{"decision":"deny","reason":"no"}"#]);
    });
}

#[test]
fn a_text_hook_that_says_nothing_adds_nothing() {
    each_way(|lab| {
        let trial = lab.shell("echo").text().fire();
        trial.no_opinion();
        assert!(trial.outcome.context.is_empty());
    });
}

#[test]
fn a_text_hook_denies_with_exit_2_and_fails_with_exit_1() {
    each_way(|lab| {
        lab.shell("echo text; echo no >&2; exit 2").text().fire().denied("no");
        let trial = lab.shell("echo text; exit 1").text().fire();
        trial.failed(FailureKind::Exit, exited(1));
        assert!(trial.outcome.context.is_empty());
    });
}

#[test]
fn text_that_is_not_utf_8_is_bad_output() {
    each_way(|lab| {
        let trial = lab.shell(r"printf 'ab\377'").text().fire();
        trial.failed(FailureKind::BadOutput, "its text is not UTF-8 (byte 2)");
    });
}
