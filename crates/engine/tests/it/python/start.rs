//! Interpreters that cannot be started, do not answer, or are shims: without a worker no guard sees the
//! event, so that denies.

use std::time::{Duration, Instant};

use crosier::payload::PreToolUse;
use crosier::{Engine, FailureKind, Hook, PythonSpec};

use super::desk::Desk;
use super::lab::{Lab, Way, each_way, ms, one_way, python, tool};
use super::vitals::until;

fn desk<'a>(lab: &'a Lab, interpreter: &str) -> Desk<'a> {
    lab.desk_with("", |spec| PythonSpec { interpreter: interpreter.to_owned(), ..spec })
}

#[test]
fn a_missing_interpreter_denies_and_says_which() {
    each_way(|lab| {
        let missing = lab.path("venv/bin/python").display().to_string();
        desk(lab, &missing).fire("Bash").failed(FailureKind::Import, &["does not exist", &missing]);
        desk(lab, "python9")
            .fire("Bash")
            .failed(FailureKind::Import, &["`python9` is in no folder of its PATH"]);
    });
}

#[test]
fn an_interpreter_that_appears_later_is_used() {
    each_way(|lab| {
        let interpreter = lab.path("python").display().to_string();
        let desk = desk(lab, &interpreter);
        desk.fire("pid").failed(FailureKind::Import, &["does not exist"]);
        std::os::unix::fs::symlink(python(), &interpreter).unwrap();
        assert!(desk.pid() > 0);
    });
}

#[test]
fn an_interpreter_that_is_no_program_denies() {
    each_way(|lab| {
        let file = lab.write("python", "").display().to_string();
        desk(lab, &file).fire("Bash").failed(FailureKind::Import, &["not executable"]);
        let folder = lab.folder().display().to_string();
        desk(lab, &format!("{folder}/")).fire("Bash").failed(FailureKind::Import, &["is a folder"]);
        let odd = lab.script("odd", "#!/no/such/interpreter\n");
        desk(lab, &odd).fire("Bash").failed(FailureKind::Import, &["/no/such/interpreter"]);
    });
}

#[test]
fn an_interpreter_that_exits_at_once_denies_and_is_quoted() {
    each_way(|lab| {
        let said = lab.script("python", "#!/bin/sh\necho first >&2\necho 'Unknown option: -I' >&2\nexit 2\n");
        let desk = desk(lab, &said);
        for _ in 0..2 {
            desk.fire("Bash")
                .failed(FailureKind::Import, &["python", "ended before it was ready", "Unknown option: -I"]);
        }
    });
}

#[test]
fn an_interpreter_that_ends_without_a_word_denies() {
    each_way(|lab| {
        for line in ["exit 0", "exit 1", "kill -KILL $$"] {
            let quiet = lab.script("python", format!("#!/bin/sh\n{line}\n"));
            desk(lab, &quiet).fire("Bash").failed(FailureKind::Import, &["ended before it was ready"]);
        }
    });
}

#[test]
fn an_interpreter_that_speaks_something_else_denies() {
    each_way(|lab| {
        let echo = lab.script("python", "#!/bin/sh\necho hello, this is no worker at all\nsleep 60\n");
        desk(lab, &echo).fire("Bash").failed(FailureKind::Import, &["other than an answer"]);
        let cat = lab.script("cat", "#!/bin/sh\nexec cat\n");
        desk(lab, &cat).fire("Bash").failed(FailureKind::Import, &["the status 0, which is not known"]);
    });
}

/// Never answers, and takes a child with it.
const HANGS: &str = "#!/bin/sh\ntrap '' TERM\nsleep 60 &\n: > ready\nwhile :; do sleep 60; done\n";

fn hanging(lab: &Lab, timeout: Duration) -> Engine {
    let interpreter = lab.script("python", HANGS);
    let spec = PythonSpec { interpreter, ..lab.spec("guard.check") };
    let hook = Hook::on(PreToolUse).named("guard").timeout(timeout).on_error(lab.way.on_error());
    lab.engine([hook.python(spec)])
}

#[test]
fn an_interpreter_that_hangs_is_late() {
    each_way(|lab| {
        let engine = hanging(lab, ms(1000));
        let begun = Instant::now();
        let outcome = lab.fire(&engine, tool("Bash"));
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert!(begun.elapsed() < ms(1000 + 100 + 1000), "{:?}", begun.elapsed());
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
        assert!(failure.detail.contains("not ready"), "{failure:?}");
        lab.expect_no_survivor();
        // The place is free again, for as many as there are.
        std::fs::write(lab.path("python"), "#!/bin/sh\nexit 1\n").unwrap();
        for _ in 0..10 {
            let outcome = lab.fire(&engine, tool("Bash"));
            assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Import, "{outcome:?}");
        }
    });
}

#[test]
fn a_fire_that_is_dropped_while_its_worker_starts_takes_it_along() {
    one_way(Way::Async, |lab| {
        let engine = hanging(lab, Duration::from_secs(60));
        lab.fire_until(&engine, tool("Bash"), "ready");
        lab.expect_no_survivor();
    });
}

#[test]
fn an_engine_that_is_shut_down_while_a_worker_starts_takes_it_along() {
    each_way(|lab| {
        let engine = hanging(lab, Duration::from_secs(60));
        let fire = lab.start(&engine, tool("Bash"));
        lab.wait_for("ready");
        let begun = Instant::now();
        engine.shut_down();
        let outcome = fire.join().unwrap();
        assert!(begun.elapsed() < ms(100 + 1000), "{:?}", begun.elapsed());
        assert!(outcome.reports[0].failure.as_ref().unwrap().detail.contains("cancelled"), "{outcome:?}");
        lab.expect_no_survivor();
    });
}

#[test]
fn a_flood_on_stderr_while_it_starts_is_read() {
    each_way(|lab| {
        let loud = lab.script(
            "python",
            format!("#!/bin/sh\nhead -c 1000000 /dev/zero >&2\nexec {} \"$@\"\n", python()),
        );
        assert!(desk(lab, &loud).pid() > 0);
    });
}

#[test]
fn a_folder_that_is_gone_denies() {
    each_way(|lab| {
        let spec = PythonSpec { project_dir: lab.path("gone"), ..lab.spec("guard.check") };
        let engine = lab.engine([lab.guard(spec)]);
        let outcome = lab.fire(&engine, tool("Bash"));
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::Import, "{outcome:?}");
        assert!(failure.detail.contains("gone") && outcome.is_denied(), "{outcome:?}");
    });
}

#[test]
fn hooks_inside_hooks_end_somewhere() {
    each_way(|lab| {
        lab.module("guard.py", "");
        let variables = [("CROSIER_DEPTH".into(), "4".into())];
        let builder = Engine::builder().environment(variables).hook(lab.guard(lab.spec("guard.check")));
        let outcome = lab.fire(&builder.build().unwrap(), tool("pid"));
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Delivery, "{outcome:?}");
        assert!(outcome.is_denied(), "{outcome:?}");
    });
}

#[test]
fn no_interpreter_is_left_when_many_fail_to_start_at_once() {
    one_way(Way::Blocking, |lab| {
        let engine = hanging(lab, ms(1500));
        let fires: Vec<_> = (0..20).map(|_| lab.start(&engine, tool("Bash"))).collect();
        for fire in fires {
            let outcome = fire.join().unwrap();
            assert_eq!(
                outcome.reports[0].failure.as_ref().unwrap().kind,
                FailureKind::Timeout,
                "{outcome:?}"
            );
        }
        assert!(until(|| super::vitals::survivors(lab.folder()).is_empty()));
    });
}

#[test]
fn a_host_without_descriptors_denies_and_goes_on_when_it_has_some() {
    one_way(Way::Blocking, |lab| {
        let (resource, limit) = (rustix::process::Resource::Nofile, 40);
        let before = rustix::process::getrlimit(resource);
        let few = rustix::process::Rlimit { current: Some(limit), ..before };
        let desk = lab.desk("");
        for free in 0..12 {
            rustix::process::setrlimit(resource, few).unwrap();
            let mut held: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
            held.truncate(held.len().saturating_sub(free));
            let trial = desk.fire("pid");
            drop(held);
            rustix::process::setrlimit(resource, before).unwrap();
            assert!(trial.outcome.is_denied(), "{trial:?}");
            if let Some(failure) = &trial.report().failure {
                assert_eq!(failure.kind, FailureKind::Import, "{failure:?}");
            }
        }
        assert!(desk.pid() > 0);
    });
}

#[test]
fn a_host_that_ignores_sigchld_gets_an_outcome() {
    // The operating system reaps such a host's children itself, and their exit codes are lost.
    let ignore = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)";
    super::lab::each_way_after(ignore, |lab| {
        let desk =
            lab.desk("def dies(event): os._exit(1)\ndef sleeps(event):\n    ready()\n    time.sleep(60)");
        let before = desk.pid();
        desk.fire("dies").failed(FailureKind::WorkerLost, &["ended in the middle of the call"]);
        assert_ne!(desk.pid(), before);
        desk.hang("sleeps");
        lab.expect_no_survivor();
        assert!(desk.pid() > 0);
    });
}
