//! The laboratory: a process and a folder per test, a python hook that is fired both ways, and what is
//! asserted.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Mode, PythonSpec};
use serde_json::json;

pub(super) use crate::lab::{Lab, Way, ms, runtime};
use crate::lab::{name_of, run_alone, start_alone};

/// Set in the process that a test starts for itself: the interpreter that its hooks run in.
const ALONE: &str = "CROSIER_PYTHON_ALONE";
/// Runs a test twice in a process of its own, once for each way to fire.
pub(super) fn each_way<T: Fn(&Lab) + 'static>(test: T) {
    each_way_after("", test);
}

/// Runs a test once in a process of its own.
pub(super) fn one_way<T: Fn(&Lab) + 'static>(way: Way, test: T) {
    in_own_process(name_of::<T>(), "", || in_lab(way, &test));
}

/// The same as [`each_way`], in a process for which python code has changed something beforehand.
pub(super) fn each_way_after<T: Fn(&Lab) + 'static>(code: &str, test: T) {
    in_own_process(name_of::<T>(), code, || {
        for way in Way::BOTH {
            in_lab(way, &test);
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "a test tells by a variable that it is in its own process")]
fn alone_with() -> Option<String> {
    std::env::var(ALONE).ok()
}

fn in_own_process(name: &str, before: &str, test: impl FnOnce()) {
    if alone_with().is_some() {
        return run_alone(test);
    }
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(if before.is_empty() { own.as_os_str() } else { python().as_ref() });
    if !before.is_empty() {
        let code = format!("import os, signal, sys\n{before}\nos.execv(sys.argv[1], sys.argv[1:])");
        command.args(["-c", &code]).arg(&own);
    }
    command.env(ALONE, python());
    start_alone(name, command);
}

fn in_lab(way: Way, test: impl Fn(&Lab)) {
    Lab::with("crosier-python-", way, test);
}

/// The real interpreter behind `python3`: asked once, as a shim takes long to answer.
pub(super) fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        alone_with().unwrap_or_else(|| {
            let asked =
                Command::new("python3").args(["-I", "-c", "import sys; print(sys.executable)"]).output();
            let said = asked.expect("python3 is needed: see CONTRIBUTING.md").stdout;
            let path = String::from_utf8(said).unwrap().trim().to_owned();
            assert!(Path::new(&path).is_absolute(), "python3 does not say where it is, but {path:?}");
            path
        })
    })
}

/// A call of this tool. The modules of the laboratory have a function per tool.
pub(super) fn tool(name: &str) -> PreToolUse {
    PreToolUse::new(name, json!({"command": "ls"}))
}

impl Lab {
    /// A function of a module in the laboratory's folder.
    pub(super) fn spec(&self, handler: &str) -> PythonSpec {
        PythonSpec { interpreter: python().to_owned(), ..PythonSpec::new(handler, self.folder()).unwrap() }
    }

    /// A hook named `guard` with this code.
    pub(super) fn guard(&self, spec: PythonSpec) -> Hook {
        Hook::on(PreToolUse).named("guard").on_error(self.way.on_error()).python(spec)
    }

    pub(super) fn parallel(&self, name: &str, spec: PythonSpec) -> Hook {
        Hook::on(PreToolUse).named(name).mode(Mode::Parallel).python(spec)
    }

    /// Fires, and drops the future when this file is there.
    pub(super) fn fire_until(&self, engine: &Engine, event: impl Into<Event>, file: &str) {
        runtime().block_on(async {
            let there = async {
                let begun = Instant::now();
                while !self.path(file).exists() {
                    assert!(begun.elapsed() < ms(60_000), "no hook wrote `{file}`");
                    tokio::time::sleep(ms(2)).await;
                }
            };
            tokio::select! {
                outcome = engine.fire(event) => panic!("it ended by itself: {outcome:?}"),
                () = there => {}
            }
        });
    }
}
