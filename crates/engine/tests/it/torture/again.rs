//! Hooks that ask to be run once more (`async: true`).

use std::time::Duration;

use crosier::{Decision, FailureKind};

use super::lab::{each_way, event, late, ms};

/// What the first and the second run do.
fn phases(first: &str, second: &str) -> String {
    format!(r#"if [ -z "${{CROSIER_ASYNC_PHASE+set}}" ]; then {first}; else {second}; fi"#)
}

#[test]
fn the_second_run_is_told_so_gets_the_event_and_decides() {
    each_way(|lab| {
        let line = phases(
            r#"cat > first; echo '{"async":true}'"#,
            r#"cat > second; echo "$CROSIER_ASYNC_PHASE" > phase; cat deny"#,
        );
        lab.shell(line).fire().denied("no");
        assert_eq!(lab.read("phase"), "2\n");
        assert!(lab.read("first").contains("PreToolUse"));
        assert_eq!(lab.read("first"), lab.read("second"));
    });
}

#[test]
fn the_second_run_has_a_deadline_of_its_own_that_may_be_longer() {
    each_way(|lab| {
        // A busy machine may be too slow for the first run; then both get more time.
        for timeout in [250, 1000, 4000].map(ms) {
            let second = format!("sleep {}; cat deny", 2.0 * timeout.as_secs_f64());
            let line = phases(r#"echo '{"async":true,"asyncTimeout":60}'"#, &second);
            let outcome = lab.fire(&lab.engine([lab.shell(line).timeout(timeout).hook()]), event());
            if outcome.reports[0].failure.is_none() {
                assert!(outcome.is_denied() && outcome.reports[0].duration.unwrap() > timeout, "{outcome:?}");
                return;
            }
        }
        panic!("the second run had the deadline of the first, or the first was late three times");
    });
}

#[test]
fn the_second_run_is_killed_at_its_own_deadline() {
    each_way(|lab| {
        let line = phases(r#"echo '{"async":true,"asyncTimeout":0.25}'"#, "sleep 60 & sleep 60");
        let trial = lab.shell(line).fire();
        trial.failed(FailureKind::Timeout, late(ms(250)));
        trial.took_at_most(ms(20_000));
        lab.expect_no_survivor();
    });
}

#[test]
fn a_deny_of_the_second_run_before_its_deadline_is_honoured() {
    each_way(|lab| {
        for seconds in [0.3, 1.0, 5.0] {
            let first = format!(r#"echo '{{"async":true,"asyncTimeout":{seconds}}}'"#);
            let trial = lab.shell(phases(&first, "cat deny; sleep 60")).fire();
            assert_eq!(trial.report().failure.as_ref().unwrap().kind, FailureKind::Timeout);
            if trial.report().decision.is_some() {
                trial.decided_anyway(Decision::Deny, "no");
                return;
            }
        }
        panic!("the deny of the second run was lost three times");
    });
}

#[test]
fn a_second_run_that_asks_for_a_third_is_bad_output() {
    each_way(|lab| {
        let trial = lab.shell(r#"echo run >> runs; echo '{"async":true}'"#).fire();
        let detail = "its second reply asks for another run (`async: true` again)";
        trial.failed(FailureKind::BadOutput, detail);
        assert_eq!(lab.read("runs"), "run\nrun\n");
    });
}

#[test]
fn a_timeout_of_the_second_run_in_milliseconds_is_bad_output_and_names_the_unit() {
    each_way(|lab| {
        for timeout in ["5000", "600.1", "0", "-1"] {
            let _ = std::fs::remove_file(lab.path("runs"));
            let trial = lab
                .shell(format!(r#"echo >> runs; echo '{{"async":true,"asyncTimeout":{timeout}}}'"#))
                .fire();
            trial.failed_somehow(FailureKind::BadOutput);
            assert!(trial.report().failure.as_ref().unwrap().detail.contains("a number of seconds"));
            assert_eq!(lab.read("runs"), "\n");
        }
    });
}

#[test]
fn a_first_run_that_asks_again_and_exits_2_denies_and_is_not_run_again() {
    each_way(|lab| {
        let trial = lab.shell(r#"echo >> runs; echo '{"async":true}'; echo no >&2; exit 2"#).fire();
        trial.denied("no");
        assert_eq!(lab.read("runs"), "\n");
    });
}

#[test]
fn a_first_run_that_denies_is_not_run_again() {
    each_way(|lab| {
        let trial =
            lab.shell(r#"echo >> runs; echo '{"async":true,"decision":"deny","reason":"no"}'"#).fire();
        trial.denied("no");
        assert_eq!(lab.read("runs"), "\n");
    });
}

#[test]
fn a_second_run_that_fails_is_a_failure() {
    each_way(|lab| {
        let trial = lab.shell(phases(r#"echo '{"async":true}'"#, "cat allow; kill -SEGV $$")).fire();
        trial.failed(FailureKind::Signal, "it was killed by signal 11 (SIGSEGV)");
        trial.took_at_most(Duration::from_secs(20));
    });
}

#[test]
fn the_phase_of_an_outer_hook_is_not_inherited() {
    each_way(|lab| {
        let guard = lab.shell(r#"test -z "${CROSIER_ASYNC_PHASE+set}" && exit 2"#);
        let outer = [("CROSIER_ASYNC_PHASE".into(), "2".into())];
        let engine = crosier::Engine::builder().environment(outer).hook(guard.hook()).build().unwrap();
        assert!(lab.fire(&engine, event()).reports[0].decision == Some(Decision::Deny));
    });
}
