//! The laboratory: a process and a folder per test, a hook that is fired both ways, and what is asserted of it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crosier::payload::PreToolUse;
use crosier::protocol::reply::Output;
use crosier::{
    CommandSpec, Cwd, Decision, Engine, Event, Failure, FailureKind, Hook, OnError, Outcome, Report, Status,
};
use serde_json::json;

pub(super) use crate::lab::{Lab, Way, ms, runtime};
use crate::lab::{name_of, run_alone, start_alone};
use crate::vitals::{self, until};

/// Set in the process that a test starts for itself.
const ALONE: &str = "CROSIER_TORTURE_ALONE";
/// What a hook may take beyond its timeout and its grace.
const SLACK: Duration = Duration::from_secs(1);
/// How long before the deadline a hook must have been ready for its test to mean anything.
const MARGIN: Duration = Duration::from_millis(50);

/// Runs a test in a process of its own: this very binary, asked for this one test.
pub(super) fn alone<T: FnOnce() + 'static>(test: T) {
    alone_with(&[], test);
}

/// The same, in a process that these words start, with the binary and its arguments behind them.
pub(super) fn alone_with<T: FnOnce() + 'static>(prefix: &[&str], test: T) {
    in_own_process(name_of::<T>(), prefix, test);
}

/// Runs a test twice in a process of its own, once for each way to fire.
pub(super) fn each_way<T: Fn(&Lab) + 'static>(test: T) {
    in_own_process(name_of::<T>(), &[], || {
        for way in Way::BOTH {
            in_lab(way, &test);
        }
    });
}

/// Runs a test once in a process of its own.
pub(super) fn one_way<T: Fn(&Lab) + 'static>(way: Way, test: T) {
    in_own_process(name_of::<T>(), &[], || in_lab(way, &test));
}

#[expect(clippy::disallowed_methods, reason = "a test tells by a variable that it is in its own process")]
fn in_own_process(name: &str, prefix: &[&str], test: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return run_alone(test);
    }
    let own = std::env::current_exe().unwrap();
    let mut command = match prefix.split_first() {
        Some((program, words)) => {
            let mut command = Command::new(program);
            command.args(words).arg(own);
            command
        }
        None => Command::new(own),
    };
    command.env(ALONE, "1");
    start_alone(name, command);
}

fn in_lab(way: Way, test: impl Fn(&Lab)) {
    Lab::with("crosier-torture-", way, |lab| {
        lab.write("deny", r#"{"decision":"deny","reason":"no"}"#);
        lab.write("allow", r#"{"decision":"allow","reason":"yes"}"#);
        test(lab);
    });
}

/// An event that every guard here is asked about.
pub(super) fn event() -> PreToolUse {
    PreToolUse::new("Bash", json!({"command": "ls"}))
}

impl Lab {
    /// A pipe with a name: whoever opens it waits for the other side.
    pub(super) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(Command::new("mkfifo").args(["-m", "600"]).arg(&path).status().unwrap().success());
        path
    }

    /// Fires, and drops the fire once these files are there: nothing that it started may stay.
    pub(super) fn drop_when_ready(&self, engine: &Engine, files: &[&str]) {
        runtime().block_on(async {
            let ready = async {
                while !files.iter().all(|file| self.path(file).exists()) {
                    tokio::time::sleep(ms(2)).await;
                }
            };
            tokio::select! {
                outcome = engine.fire(event()) => panic!("it ended by itself: {outcome:?}"),
                () = ready => {}
            }
        });
        self.expect_no_survivor();
    }

    /// Asserts that so many processes of hooks live on, and ends them.
    pub(super) fn end_survivors(&self, count: usize) {
        let mut alive = Vec::new();
        // Those that were counted are ended: a process that is just becoming another program is not seen for a moment.
        let as_many = until(|| {
            alive = vitals::survivors(self.folder());
            alive.len() == count
        });
        assert!(as_many, "{count} processes should live on, not {alive:?}");
        alive.into_iter().for_each(vitals::kill);
        self.expect_no_survivor();
    }

    /// A guard that runs a line in the shell, in the laboratory's folder.
    pub(super) fn shell(&self, line: impl Into<String>) -> Guard<'_> {
        Guard::new(self, CommandSpec::shell(line, self.folder()))
    }

    /// A guard that runs a program without a shell.
    pub(super) fn argv<W: Into<String>>(&self, words: impl IntoIterator<Item = W>) -> Guard<'_> {
        Guard::new(self, CommandSpec::argv(words, self.folder()))
    }

    /// A guard that runs a perl program.
    pub(super) fn perl(&self, program: &str) -> Guard<'_> {
        self.argv(["perl", "-e", program])
    }
}

/// A command hook named `guard`, to be fired.
#[derive(Debug, Clone)]
pub(super) struct Guard<'a> {
    lab: &'a Lab,
    pub(super) spec: CommandSpec,
    timeout: Duration,
}

impl<'a> Guard<'a> {
    fn new(lab: &'a Lab, spec: CommandSpec) -> Self {
        // A hook that ends by itself must never be late, however busy the machine is.
        Self { lab, spec, timeout: Duration::from_secs(30) }
    }

    pub(super) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) fn grace(mut self, grace: Duration) -> Self {
        self.spec.grace = grace;
        self
    }

    /// Takes its stdout as context.
    pub(super) fn text(mut self) -> Self {
        self.spec.output = Output::Text;
        self
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.spec.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn cwd(mut self, cwd: Cwd) -> Self {
        self.spec.cwd = cwd;
        self
    }

    pub(super) fn hook(self) -> Hook {
        Hook::on(PreToolUse)
            .named("guard")
            .timeout(self.timeout)
            .on_error(self.lab.way.on_error())
            .command(self.spec)
    }

    /// Fires an event at it. It takes no longer than its timeout, its grace and a second.
    pub(super) fn fire_at(self, event: impl Into<Event>) -> Trial<'a> {
        let (lab, timeout, grace) = (self.lab, self.timeout, self.spec.grace);
        let engine = lab.engine([self.hook()]);
        let begun = Instant::now();
        let outcome = lab.fire(&engine, event);
        let trial = Trial { lab, outcome, took: begun.elapsed(), timeout };
        trial.took_at_most(timeout.saturating_add(grace).saturating_add(SLACK));
        trial
    }

    pub(super) fn fire(self) -> Trial<'a> {
        self.fire_at(event())
    }

    /// Fires at a hook that makes the file `ready` and then does not end by itself. Where the machine was too
    /// busy for it to be ready well before its deadline, it gets twice the time and is fired again.
    pub(super) fn fire_until_ready(mut self, event: impl Into<Event>) -> Trial<'a> {
        let (ready, event) = (self.lab.path("ready"), event.into());
        loop {
            let _ = fs::remove_file(&ready);
            let late = SystemTime::now() + self.timeout;
            let trial = self.clone().fire_at(event.clone());
            let made = fs::metadata(&ready).and_then(|meta| meta.modified());
            if made.is_ok_and(|at| at + MARGIN <= late) {
                return trial;
            }
            self.timeout *= 2;
            assert!(self.timeout < ms(20_000), "the hook never got ready");
        }
    }

    /// Fires at a hook that makes the file `ready` and then hangs.
    pub(super) fn hang(self) -> Trial<'a> {
        self.timeout(ms(150)).fire_until_ready(event())
    }
}

/// What came of firing at one guard.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    lab: &'a Lab,
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    pub(super) timeout: Duration,
}

impl Trial<'_> {
    pub(super) fn report(&self) -> &Report {
        assert_eq!(self.outcome.reports.len(), 1, "{:?}", self.outcome);
        &self.outcome.reports[0]
    }

    #[track_caller]
    pub(super) fn took_at_most(&self, limit: Duration) {
        assert!(self.took <= limit, "it took {:?}, more than {limit:?}: {:?}", self.took, self.outcome);
    }

    /// The hook itself decided so, and did not fail.
    #[track_caller]
    pub(super) fn decided(&self, decision: Decision, reason: &str) {
        let outcome = &self.outcome;
        assert_eq!(outcome.reports[0].failure, None, "{outcome:?}");
        assert_eq!(outcome.reports[0].status, Status::Ok, "{outcome:?}");
        self.decided_anyway(decision, reason);
    }

    #[track_caller]
    pub(super) fn denied(&self, reason: &str) {
        self.decided(Decision::Deny, reason);
    }

    /// The hook itself decided so, whether it failed or not.
    #[track_caller]
    pub(super) fn decided_anyway(&self, decision: Decision, reason: &str) {
        let outcome = &self.outcome;
        assert_eq!(outcome.decision, Some(decision), "{outcome:?}");
        assert_eq!(outcome.reason.as_deref(), Some(reason), "{outcome:?}");
        assert_eq!(outcome.by.as_deref(), Some("guard"), "{outcome:?}");
        assert!(!outcome.by_failure, "{outcome:?}");
        assert_eq!(outcome.reports[0].decision, Some(decision), "{outcome:?}");
    }

    /// The hook did not fail and decided nothing.
    #[track_caller]
    pub(super) fn no_opinion(&self) {
        let outcome = &self.outcome;
        assert_eq!(outcome.reports[0].failure, None, "{outcome:?}");
        assert_eq!((outcome.decision, outcome.by_failure), (None, false), "{outcome:?}");
    }

    /// The hook failed so, and its policy was applied: `abort` denies, `log` goes on.
    #[track_caller]
    pub(super) fn failed(&self, kind: FailureKind, detail: impl Into<String>) {
        let outcome = &self.outcome;
        assert_eq!(outcome.reports[0].failure, Some(Failure::new(kind, detail).into()), "{outcome:?}");
        self.failed_somehow(kind);
    }

    /// The same, for details that differ between systems.
    #[track_caller]
    pub(super) fn failed_somehow(&self, kind: FailureKind) {
        let outcome = &self.outcome;
        assert_eq!(
            outcome.reports[0].failure.as_ref().map(|failure| failure.kind),
            Some(kind),
            "{outcome:?}"
        );
        assert_eq!(outcome.reports[0].status, Status::Failed, "{outcome:?}");
        assert_eq!(outcome.reports[0].decision, None, "{outcome:?}");
        match self.lab.way.on_error() {
            OnError::Abort => {
                let detail = outcome.reports[0].failure.as_ref().map_or("", |failure| &failure.detail);
                let reason =
                    format!("hook guard failed ({kind}), and is set to abort when it fails: {detail}");
                assert_eq!(outcome.decision, Some(Decision::Deny), "{outcome:?}");
                assert_eq!(outcome.reason.as_deref(), Some(reason.as_str()), "{outcome:?}");
                assert_eq!(outcome.by.as_deref(), Some("guard"), "{outcome:?}");
                assert!(outcome.by_failure, "{outcome:?}");
            }
            OnError::Log | OnError::Skip => {
                assert_eq!((outcome.decision, outcome.by_failure), (None, false), "{outcome:?}");
            }
        }
    }

    /// The hook was killed at its deadline, and so was all of its group.
    #[track_caller]
    pub(super) fn timed_out(&self) {
        self.was_late();
        self.lab.expect_no_survivor();
    }

    /// The hook was killed at its deadline.
    #[track_caller]
    pub(super) fn was_late(&self) {
        assert!(self.took >= self.timeout, "it was over before its deadline: {:?}", self.took);
        self.failed(FailureKind::Timeout, late(self.timeout));
    }
}

/// What a report says of a hook that was killed at its deadline.
pub(super) fn late(timeout: Duration) -> String {
    format!("it did not finish within {timeout:?} and was killed")
}
