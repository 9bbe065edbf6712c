//! What tests of hooks that are processes need: a process of its own for each test, a folder, both ways to fire, and
//! that nothing is left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crosier::{Engine, Event, Hook, OnError, Outcome};
use tempfile::TempDir;

use crate::vitals::{self, Vitals, until};

/// When a test that hangs gives up.
const TOO_LONG: Duration = Duration::from_secs(300);

pub(crate) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The name of a test, from its closure: `it::torture::deadline::a_hook_that_…::{{closure}}`.
pub(crate) fn name_of<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    name.split("::{{closure}}").next().unwrap_or(name)
}

/// Runs a test in the process that [`start_alone`] has started for it.
pub(crate) fn run_alone(test: impl FnOnce()) {
    // A test that hangs must not hang the suite.
    thread::spawn(|| {
        thread::sleep(TOO_LONG);
        std::process::abort();
    });
    test();
}

/// Starts a process for one test: this very binary, or a program that executes it with the words behind it.
pub(crate) fn start_alone(name: &str, mut command: Command) {
    command.args(["--exact", name, "--include-ignored", "--nocapture", "--test-threads=1"]);
    let output = command.output().expect("this binary can be started");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = output.status.success() && stdout.contains("test result: ok. 1 passed");
    assert!(passed, "{name} in a process of its own: {}\n{stdout}\n{stderr}", output.status);
}

/// How events are fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Blocking,
    Async,
}

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::Blocking, Self::Async];

    pub(crate) fn fire(self, engine: &Engine, event: impl Into<Event>) -> Outcome {
        let (engine, event) = (engine.clone(), event.into());
        match self {
            Self::Blocking => engine.fire_blocking(event),
            Self::Async => {
                let runtime = runtime();
                runtime.block_on(runtime.spawn(async move { engine.fire(event).await })).unwrap()
            }
        }
    }

    /// The same on this very thread: for many fires in a row, for which a runtime each would take longer than the
    /// hooks.
    pub(crate) fn fire_here(self, engine: &Engine, event: impl Into<Event>) -> Outcome {
        match self {
            Self::Blocking => engine.fire_blocking(event),
            Self::Async => {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(engine.fire(event))
            }
        }
    }

    /// The policy that hooks have when they are fired this way, so that both are seen.
    pub(crate) fn on_error(self) -> OnError {
        match self {
            Self::Blocking => OnError::Abort,
            Self::Async => OnError::Log,
        }
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A folder for hooks that are fired one way, and the state of the process before they ran. The tests of each
/// kind of hook add methods of their own.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) way: Way,
    folder: TempDir,
    before: Vitals,
}

impl Lab {
    /// Runs a test in a folder of its own, after which nothing may be left.
    pub(crate) fn with(prefix: &str, way: Way, test: impl FnOnce(&Self)) {
        let before = Vitals::now();
        let folder = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
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

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A file that can be run.
    pub(crate) fn script(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.write(name, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What a hook wrote to a file; empty when there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn wait_for(&self, file: &str) {
        assert!(until(|| self.path(file).exists()), "no hook wrote `{file}`");
    }

    pub(crate) fn engine(&self, hooks: impl IntoIterator<Item = Hook>) -> Engine {
        Engine::builder().folder(self.folder()).session_id("s-1").hooks(hooks).build().unwrap()
    }

    pub(crate) fn fire(&self, engine: &Engine, event: impl Into<Event>) -> Outcome {
        self.way.fire(engine, event)
    }

    /// Fires on a thread of its own, to do something meanwhile.
    pub(crate) fn start(&self, engine: &Engine, event: impl Into<Event>) -> thread::JoinHandle<Outcome> {
        let (way, engine, event) = (self.way, engine.clone(), event.into());
        thread::spawn(move || way.fire(&engine, event))
    }

    pub(crate) fn expect_no_survivor(&self) {
        let alive = || vitals::survivors(self.folder());
        assert!(until(|| alive().is_empty()), "processes survived: {:?}", alive());
    }
}

impl Drop for Lab {
    /// What a failed test leaves behind is not left to the machine.
    fn drop(&mut self) {
        if thread::panicking() {
            vitals::survivors(self.folder()).into_iter().for_each(vitals::kill);
        }
    }
}
