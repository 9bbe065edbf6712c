//! A folder of one's own, and the program in it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program that was built.
pub(crate) const CROSIER: &str = env!("CARGO_BIN_EXE_crosier");
/// An event that most tests fire.
pub(crate) const BASH: &str = r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}}"#;

/// A folder that is gone when the test is.
#[derive(Debug)]
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    /// Never in the folder: a state folder in a project is refused.
    state: tempfile::TempDir,
    has_state: bool,
}

/// Commands that read a configuration. One in a folder must be trusted before it counts; one that is named need not.
const READERS: [&str; 10] =
    ["fire", "hook", "list", "explain", "check", "enable", "disable", "run", "doctor", "test"];

/// What came of one run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Ran {
    /// The exit status, with everything it said when it is another one.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(
            self.stdout.contains(text),
            "no `{text}` in stdout:\n{}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn complains(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "no `{text}` in stderr:\n{}\nstdout: {}",
            self.stderr,
            self.stdout
        );
        self
    }
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap(), has_state: true }
    }

    /// With this `crosier.yaml`.
    pub(crate) fn with(config: &str) -> Self {
        let lab = Self::new();
        lab.write("crosier.yaml", config);
        lab
    }

    /// Without a state folder.
    pub(crate) fn without_state(mut self) -> Self {
        self.has_state = false;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file in the program's state folder.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.state.path().join("crosier").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        mode(&self.path(name))
    }

    /// The program in this folder, with an environment that is the same everywhere.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let reads = args.first().is_some_and(|command| READERS.contains(command));
        let is_test = args.first() == Some(&"test") && !args.contains(&"--record");
        let is_named = args.iter().any(|word| word.starts_with("-c") || word.starts_with("--config"));
        let mut command = self.bare_command(args);
        if reads && !is_test && !is_named && self.path("crosier.yaml").exists() {
            command.args(["-c", "crosier.yaml"]);
        }
        command
    }

    /// The same, and nobody names a configuration.
    pub(crate) fn bare_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(CROSIER);
        command.args(args).current_dir(self.folder.path()).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        if self.has_state {
            command.env("XDG_STATE_HOME", self.state.path());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.feed(args, "")
    }

    /// Runs it with this on stdin.
    pub(crate) fn feed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let started = Instant::now();
        let mut child = self.command(args).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // It may have ended before it read anything: that is no mistake of the test.
        let _ = stdin.write_all(input.as_ref());
        drop(stdin);
        finish(child, started)
    }
}

/// Who may do what with a file.
pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Waits for its end.
pub(crate) fn finish(child: Child, started: Instant) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        took: started.elapsed(),
    }
}

/// Waits until something is so; a test that waits in vain says for what.
#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A file that a hook has finished writing: it is there and ends with a newline.
pub(crate) fn is_written(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}

/// Whether a process runs: not gone, and not a zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
