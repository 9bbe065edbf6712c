//! The laboratory: a process and a folder per test, a python hook that is fired both ways, and what is
//! asserted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Mode, OnError, Outcome, PythonSpec};
use serde_json::json;
use tempfile::TempDir;

use super::vitals::{self, Vitals, until};

/// Set in the process that a test starts for itself: the interpreter that its hooks run in.
const ALONE: &str = "CROSIER_PYTHON_ALONE";
/// When a test that hangs gives up.
const TOO_LONG: Duration = Duration::from_secs(300);

pub(super) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Runs a test twice in a process of its own, once for each way to fire.
pub(super) fn each_way<T: Fn(&Lab) + 'static>(test: T) {
    each_way_after("", test);
}

/// Runs a test once in a process of its own.
pub(super) fn one_way<T: Fn(&Lab) + 'static>(way: Way, test: T) {
    in_own_process(name_of::<T>(), "", || Lab::with(way, &test));
}

/// The same as [`each_way`], in a process for which python code has changed something beforehand.
pub(super) fn each_way_after<T: Fn(&Lab) + 'static>(code: &str, test: T) {
    in_own_process(name_of::<T>(), code, || {
        for way in [Way::Blocking, Way::Async] {
            Lab::with(way, &test);
        }
    });
}

/// The name of a test, from its closure: `it::python::crash::a_worker_that_…::{{closure}}`.
fn name_of<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    name.split("::{{closure}}").next().unwrap_or(name)
}

#[expect(clippy::disallowed_methods, reason = "a test tells by a variable that it is in its own process")]
fn alone_with() -> Option<String> {
    std::env::var(ALONE).ok()
}

fn in_own_process(name: &str, before: &str, test: impl FnOnce()) {
    if alone_with().is_some() {
        // A test that hangs must not hang the suite.
        thread::spawn(|| {
            thread::sleep(TOO_LONG);
            std::process::abort();
        });
        return test();
    }
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(if before.is_empty() { own.as_os_str() } else { python().as_ref() });
    if !before.is_empty() {
        let code = format!("import os, signal, sys\n{before}\nos.execv(sys.argv[1], sys.argv[1:])");
        command.args(["-c", &code]).arg(&own);
    }
    command.args(["--exact", name, "--include-ignored", "--nocapture", "--test-threads=1"]);
    command.env(ALONE, python());
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = output.status.success() && stdout.contains("test result: ok. 1 passed");
    assert!(passed, "{name} in a process of its own: {}\n{stdout}\n{stderr}", output.status);
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

/// How events are fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Blocking,
    Async,
}

impl Way {
    pub(super) fn fire(self, engine: &Engine, event: impl Into<Event>) -> Outcome {
        let (engine, event) = (engine.clone(), event.into());
        match self {
            Self::Blocking => engine.fire_blocking(event),
            Self::Async => {
                let runtime = runtime();
                runtime.block_on(runtime.spawn(async move { engine.fire(event).await })).unwrap()
            }
        }
    }

    /// The policy that hooks have when they are fired this way, so that both are seen.
    pub(super) fn on_error(self) -> OnError {
        match self {
            Self::Blocking => OnError::Abort,
            Self::Async => OnError::Log,
        }
    }
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A call of this tool. The modules of the laboratory have a function per tool.
pub(super) fn tool(name: &str) -> PreToolUse {
    PreToolUse::new(name, json!({"command": "ls"}))
}

/// A folder for hooks, and the state of the process before they ran.
#[derive(Debug)]
pub(super) struct Lab {
    pub(super) way: Way,
    folder: TempDir,
    before: Vitals,
}

impl Lab {
    fn with(way: Way, test: impl Fn(&Self)) {
        let before = Vitals::now();
        let folder = tempfile::Builder::new().prefix("crosier-python-").tempdir().unwrap();
        let lab = Self { way, folder, before };
        test(&lab);
        lab.expect_nothing_left();
    }

    /// No process, no zombie, no descriptor, no thread.
    fn expect_nothing_left(&self) {
        self.expect_no_survivor();
        assert!(until(|| !vitals::has_children()), "a child was not reaped");
        self.before.expect_again();
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A file that can be run.
    pub(super) fn script(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.write(name, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What a hook wrote to a file; empty when there is none.
    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(super) fn wait_for(&self, file: &str) {
        assert!(until(|| self.path(file).exists()), "no hook wrote `{file}`");
    }

    pub(super) fn expect_no_survivor(&self) {
        let alive = || vitals::survivors(self.folder());
        assert!(until(|| alive().is_empty()), "processes survived: {:?}", alive());
    }

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

    pub(super) fn engine(&self, hooks: impl IntoIterator<Item = Hook>) -> Engine {
        Engine::builder().folder(self.folder()).session_id("s-1").hooks(hooks).build().unwrap()
    }

    pub(super) fn fire(&self, engine: &Engine, event: impl Into<Event>) -> Outcome {
        self.way.fire(engine, event)
    }

    /// Fires on a thread of its own, to do something meanwhile.
    pub(super) fn start(&self, engine: &Engine, event: impl Into<Event>) -> thread::JoinHandle<Outcome> {
        let (way, engine, event) = (self.way, engine.clone(), event.into());
        thread::spawn(move || way.fire(&engine, event))
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
