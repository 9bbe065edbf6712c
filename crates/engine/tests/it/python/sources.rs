//! Hooks whose files are compared with a record: right before they run, right after, and when python loads them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crosier::payload::{PostToolUse, PreToolUse};
use crosier::{
    CommandSpec, Decision, Enforcement, Engine, Entry, FailureKind, Handler, Hook, Layer, OnError, Program,
    PythonSources, Sources,
};

use super::lab::{Lab, each_way, tool};

const PROJECT: Layer = Layer::Project(0);

/// What tells whether a file was touched.
type Stamp = (u64, u64, i64, i64);

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec()))
}

/// A record of the files of a laboratory, as they are when it is made.
#[derive(Debug)]
struct Recorded {
    files: Vec<(PathBuf, Option<Stamp>)>,
    python: PythonSources,
    checks: AtomicUsize,
}

impl Recorded {
    fn of(lab: &Lab, files: &[&str]) -> Arc<Self> {
        let files: Vec<_> = files.iter().map(|name| lab.path(name)).collect();
        let mut python = PythonSources::new([lab.folder().to_owned()]);
        for path in &files {
            python = python.file(path, sha256(path));
        }
        let files = files.into_iter().map(|path| (stamp(&path), path)).map(|(stamp, path)| (path, stamp));
        Arc::new(Self { files: files.collect(), python, checks: AtomicUsize::new(0) })
    }
}

impl Sources for Recorded {
    fn check(&self, hook: &Entry) -> Result<(), String> {
        assert!(matches!(hook.handler, Handler::Command(_) | Handler::Python(_)));
        self.checks.fetch_add(1, Ordering::Relaxed);
        match self.files.iter().find(|(path, known)| stamp(path) != *known) {
            Some((path, _)) => Err(format!("{} changed since you trusted it", path.display())),
            None => Ok(()),
        }
    }

    fn python(&self) -> PythonSources {
        self.python.clone()
    }
}

/// By the program that every machine has: the engine itself has no use for a digest.
fn sha256(path: &Path) -> [u8; 32] {
    let code = "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())";
    let output =
        std::process::Command::new(super::lab::python()).args(["-c", code]).arg(path).output().unwrap();
    let hex = String::from_utf8(output.stdout).unwrap();
    std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
}

fn command(lab: &Lab, script: &str) -> CommandSpec {
    CommandSpec { program: Program::Argv(vec![script.to_owned()]), ..CommandSpec::shell("", lab.folder()) }
}

fn expect_closed(lab: &Lab, engine: &Engine, file: &str) {
    let outcome = lab.fire(engine, tool("Bash"));
    assert_eq!((outcome.decision, outcome.by_failure), (Some(Decision::Deny), true), "{outcome:?}");
    let reason = outcome.reason.as_deref().unwrap_or_default();
    assert!(reason.contains(&format!("{file} changed since you trusted it")), "{reason}");
    let failure = outcome.reports[0].failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Changed);
}

#[test]
fn a_command_whose_file_changed_is_not_run() {
    each_way(|lab| {
        let script = lab.script("guard.sh", "#!/bin/sh\ntouch ran\n");
        let record = Recorded::of(lab, &["guard.sh"]);
        let hook = Hook::on(PreToolUse).named("guard").on_error(OnError::Skip).command(command(lab, &script));
        let engine = lab.engine([hook.in_layer(PROJECT).with_sources(record.clone())]);
        assert_eq!(lab.fire(&engine, tool("Bash")).decision, None);
        assert_eq!(record.checks.load(Ordering::Relaxed), 2, "once before, once after");
        lab.wait_for("ran");
        fs::remove_file(lab.path("ran")).unwrap();
        lab.script("guard.sh", "#!/bin/sh\ntouch ran; echo '{\"decision\":\"allow\"}'\n");
        expect_closed(lab, &engine, "guard.sh");
        assert!(!lab.path("ran").exists());
    });
}

#[test]
fn a_file_that_changes_while_the_hook_runs_denies_whatever_the_hook_says() {
    each_way(|lab| {
        let script =
            lab.script("guard.sh", "#!/bin/sh\necho '#' >> guard.sh\necho '{\"decision\":\"allow\"}'\n");
        let hook = Hook::on(PreToolUse).named("guard").on_error(OnError::Skip).command(command(lab, &script));
        let engine = lab.engine([hook.with_sources(Recorded::of(lab, &["guard.sh"]))]);
        expect_closed(lab, &engine, "guard.sh");
        // So does one that is changed and changed back: its ctime is another.
        let text = "#!/bin/sh\ncp guard.sh copy; echo '#' >> guard.sh; cat copy > guard.sh\n";
        let script = lab.script("guard.sh", text);
        let hook = Hook::on(PreToolUse).named("guard").command(command(lab, &script));
        let engine = lab.engine([hook.with_sources(Recorded::of(lab, &["guard.sh"]))]);
        expect_closed(lab, &engine, "guard.sh");
        assert_eq!(lab.read("guard.sh"), text);
    });
}

#[test]
fn a_hook_that_only_warns_is_closed_too() {
    each_way(|lab| {
        let script = lab.script("guard.sh", "#!/bin/sh\n");
        let record = Recorded::of(lab, &["guard.sh"]);
        let hook = Hook::on(PreToolUse).named("guard").enforcement(Enforcement::Warn);
        let engine = lab.engine([hook.command(command(lab, &script)).with_sources(record)]);
        lab.script("guard.sh", "#!/bin/sh\n# other\n");
        expect_closed(lab, &engine, "guard.sh");
    });
}

#[test]
fn an_event_without_a_deny_follows_the_policy_of_the_hook() {
    each_way(|lab| {
        let script = lab.script("after.sh", "#!/bin/sh\n");
        let record = Recorded::of(lab, &["after.sh"]);
        let hook = |name: &str, on_error| {
            let hook = Hook::on(PostToolUse).named(name.to_owned()).on_error(on_error);
            hook.command(command(lab, &script)).with_sources(record.clone())
        };
        let engine = lab.engine([hook("logs", OnError::Log), hook("aborts", OnError::Abort)]);
        lab.script("after.sh", "#!/bin/sh\n# other\n");
        let outcome = lab.fire(&engine, PostToolUse::new("Bash", "", ""));
        let kinds: Vec<_> =
            outcome.reports.iter().map(|report| report.failure.as_ref().unwrap().kind).collect();
        assert_eq!(kinds, [FailureKind::Changed; 2]);
        assert!(outcome.by_failure && (outcome.suppress_output || outcome.halt.is_some()), "{outcome:?}");
    });
}

#[test]
fn a_python_hook_runs_from_recorded_sources_only() {
    each_way(|lab| {
        lab.write(
            "guard.py",
            "import rules\ndef check(event): return {'decision': 'deny', 'reason': rules.why}",
        );
        lab.write("rules.py", "why = 'recorded'");
        let engine = |files: &[&str]| {
            let hook = lab.guard(lab.spec("guard.check"));
            lab.engine([hook.in_layer(PROJECT).with_sources(Recorded::of(lab, files))])
        };
        let whole = engine(&["guard.py", "rules.py"]);
        assert_eq!(lab.fire(&whole, tool("Bash")).reason.as_deref(), Some("recorded"));
        assert!(whole.warm()[0].1.is_ok());
        let outcome = lab.fire(&engine(&["guard.py"]), tool("Bash"));
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Import, "{outcome:?}");
        assert!(outcome.reason.as_deref().unwrap().contains("rules.py is not in the record"), "{outcome:?}");
        // A warm worker that has loaded what was recorded is closed by a change as well.
        lab.write("rules.py", "why = 'changed'");
        expect_closed(lab, &whole, "rules.py");
        assert_eq!(whole.warm()[0].1.as_ref().unwrap_err().kind, FailureKind::Changed);
    });
}

#[test]
fn a_python_hook_that_changes_its_own_file_denies() {
    each_way(|lab| {
        lab.write(
            "guard.py",
            "def check(event):\n    open(__file__, 'a').write('#')\n    return {'decision': 'allow'}",
        );
        let hook = lab.guard(lab.spec("guard.check"));
        let engine = lab.engine([hook.with_sources(Recorded::of(lab, &["guard.py"]))]);
        expect_closed(lab, &engine, "guard.py");
    });
}

#[test]
fn layers_do_not_share_workers() {
    each_way(|lab| {
        // The first hook of each worker patches what the second one would use.
        let text = "import json\n\
                    def patch(event): json.dumps = lambda _: 'patched'\n\
                    def check(event): return {'decision': 'deny', 'reason': json.dumps(1)}";
        lab.write("guard.py", text);
        let (patch, check) = (Arc::new(lab.spec("guard.patch")), Arc::new(lab.spec("guard.check")));
        let hook = |name: &str, spec: &Arc<_>, layer| {
            let hook = Hook::on(PreToolUse).named(name.to_owned()).with(Handler::Python(Arc::clone(spec)));
            hook.in_layer(layer)
        };
        let fire = |engine: &Engine| lab.fire(engine, tool("Bash")).reason.map(|reason| reason.to_string());
        let apart = lab.engine([hook("patch", &patch, Layer::User), hook("check", &check, PROJECT)]);
        assert_eq!(fire(&apart).as_deref(), Some("1"));
        let together = lab.engine([hook("patch", &patch, PROJECT), hook("check", &check, PROJECT)]);
        assert_eq!(fire(&together).as_deref(), Some("patched"));
        // Nor do two records of one layer.
        let recorded = |name, spec| hook(name, spec, PROJECT).with_sources(Recorded::of(lab, &["guard.py"]));
        let records = lab.engine([recorded("patch", &patch), recorded("check", &check)]);
        assert_eq!(fire(&records).as_deref(), Some("1"));
    });
}
