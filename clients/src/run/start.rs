//! Runs an agent through a scenario.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::home::write;
use super::processes::{self, MARK};
use super::{Ended, Home, Hook, Installed, Seen};
use crate::agent::Agent;
use crate::check::{Scenario, Verdict};
use crate::model::Server;

/// The number of runs of this process so far.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// What is run, and with what.
pub(crate) struct Case<'a> {
    pub(crate) agent: &'a dyn Agent,
    pub(crate) scenario: &'a Scenario,
    pub(crate) installed: &'a Installed,
    pub(crate) hook: Hook,
    /// Where to keep the folders of the run.
    pub(crate) keep: Option<&'a Path>,
}

/// Runs an agent through a scenario and applies its checks; the second value is how long it took.
pub(crate) fn start(case: Case<'_>) -> anyhow::Result<(Vec<Verdict>, f64)> {
    let Case { agent, scenario, installed, hook, keep } = case;
    let keep = keep.map(|dir| dir.join(agent.name()).join(scenario.name.replace([' ', '/', ':'], "-")));
    let mut home = Home::new(agent.name(), keep, hook, installed.clone())?;
    let script = scenario.script.clone().located(|text| home.place(text));
    let server = Server::start(script, scenario.most_requests).context("cannot start the model")?;
    home.url = server.url();
    let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    let run = Run { agent, scenario, home: &home, server: &server, mark: &mark };
    let seen = run.whole();
    processes::end_marked(&mark);
    let seen = seen?;
    Ok((scenario.judge(&seen), seen.seconds))
}

struct Run<'a> {
    agent: &'a dyn Agent,
    scenario: &'a Scenario,
    home: &'a Home,
    server: &'a Server,
    mark: &'a str,
}

impl Run<'_> {
    fn whole(&self) -> anyhow::Result<Seen> {
        let home = self.home;
        for (name, text) in &self.scenario.files {
            write(&home.project().join(name), &home.place(text))?;
        }
        for (name, text) in &self.scenario.policy {
            let folder = home.policy().parent().map(PathBuf::from).unwrap_or_default();
            write(&folder.join(name), &home.place(text))?;
        }
        self.finish(self.command("git").args(["init", "-q", "."]), Duration::from_secs(20))?;
        self.agent.configure(home, self.scenario)?;
        for mut before in self.agent.before(home) {
            self.prepare(&mut before);
            self.finish(&mut before, Duration::from_secs(60))?;
        }
        let wired = if self.scenario.set_up_by_init { Some(self.set_up_by_init()?) } else { None };
        if self.scenario.trusted {
            self.crosier(&["trust", "--yes"])?;
        }
        let begin = Instant::now();
        let (stdout, stderr) = (home.dir().join("stdout"), home.dir().join("stderr"));
        let files = (fs::File::create(&stdout)?, fs::File::create(&stderr)?);
        let mut ended = self.once(&self.scenario.prompt, &[], &files)?;
        for prompt in &self.scenario.then {
            ended = self.once(prompt, self.agent.continued(), &files)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        if let Some(wired) = wired {
            let (name, all) = (self.agent.name(), wired.iter().map(|(_, took)| took).sum::<f64>() + seconds);
            let typed: Vec<String> =
                wired.iter().map(|(words, took)| format!("crosier {words}: {took:.2} s")).collect();
            eprintln!(
                "{name}: {}; a session in which it is denied: {seconds:.1} s; together {all:.1} s",
                typed.join(", ")
            );
        }
        let requests = self.server.requests();
        let raw: Vec<Value> = requests
            .iter()
            .map(|request| json!({"conversation": request.conversation, "body": request.raw}))
            .collect();
        fs::write(home.dir().join("requests.json"), serde_json::to_string_pretty(&raw)?)?;
        fs::write(home.dir().join("other-requests"), self.server.others().join("\n"))?;
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let seen = Seen {
            project: home.project(),
            policy: home.policy().parent().map(PathBuf::from).unwrap_or_default(),
            requests,
            stdout: text(&stdout),
            stderr: text(&stderr),
            ended,
            over_limit: self.server.is_over_limit(),
            seconds,
        };
        Ok(seen)
    }

    /// Does what a person would type. Everything is uninstalled once, which must restore every file, and installed
    /// again. Returns how long each command took.
    fn set_up_by_init(&self) -> anyhow::Result<Vec<(String, f64)>> {
        let before = files(&self.home.user())?;
        self.wire()?;
        anyhow::ensure!(files(&self.home.user())? != before, "`crosier init` changed nothing");
        self.crosier(&["uninstall"])?;
        anyhow::ensure!(files(&self.home.user())? == before, "`crosier uninstall` left files that differ");
        self.wire()
    }

    fn wire(&self) -> anyhow::Result<Vec<(String, f64)>> {
        let mut typed = vec![vec!["init", "--yes", "--agents", self.agent.name()]];
        if self.agent.name() == "codex" {
            typed.push(vec!["install", "codex", "--trust"]);
        }
        let mut took = Vec::new();
        for words in typed {
            let begin = Instant::now();
            self.crosier(&words)?;
            took.push((words.join(" "), begin.elapsed().as_secs_f64()));
        }
        Ok(took)
    }

    fn crosier(&self, words: &[&str]) -> anyhow::Result<()> {
        let Hook::Crosier { program, .. } = &self.home.hook else { return Ok(()) };
        let mut command = self.command(&program.display().to_string());
        self.agent.arguments(&mut command, self.home, self.scenario, "");
        // The agent's variables that name its folders are needed; its arguments are not.
        let mut own = self.command(&program.display().to_string());
        own.args(words);
        for name in ["CODEX_HOME", "CLAUDE_CONFIG_DIR"] {
            let value = command.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value);
            value.map(|value| own.env(name, value));
        }
        self.finish(&mut own, Duration::from_secs(30))
    }

    /// Starts the agent once.
    fn once(&self, prompt: &str, words: &[&str], files: &(fs::File, fs::File)) -> anyhow::Result<Ended> {
        let mut command = Command::new(&self.home.installed.program);
        self.agent.arguments(&mut command, self.home, self.scenario, prompt);
        command.args(words);
        self.prepare(&mut command);
        command.stdout(files.0.try_clone()?).stderr(files.1.try_clone()?);
        let enough = || self.server.is_over_limit();
        processes::run(&mut command, self.scenario.limit, enough).context("cannot start it")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        self.prepare(&mut command);
        command
    }

    /// Sets a clean environment: only `PATH` is passed on.
    fn prepare(&self, command: &mut Command) {
        let home = self.home;
        let given: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command.env_clear();
        command
            .env("PATH", &home.installed.path)
            .env("HOME", home.user())
            .env("TMPDIR", home.temporary())
            .env("XDG_CONFIG_HOME", home.user().join(".config"))
            .env("XDG_CACHE_HOME", home.user().join(".cache"))
            .env("XDG_DATA_HOME", home.user().join(".local/share"))
            .env("XDG_STATE_HOME", home.state())
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .env("CI", "1")
            .env("USER", "person")
            .env("SHELL", "/bin/sh")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(MARK, self.mark);
        for (name, value) in given {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(home.project()).stdin(Stdio::null());
    }

    /// Runs a command before the agent.
    fn finish(&self, command: &mut Command, limit: Duration) -> anyhow::Result<()> {
        let log = fs::File::create(self.home.dir().join("before"))?;
        command.stdout(log.try_clone()?).stderr(log);
        let program = command.get_program().display().to_string();
        let ended =
            processes::run(command, limit, || false).with_context(|| format!("cannot start {program}"))?;
        anyhow::ensure!(ended == processes::Ended::Exit(0), "{program} ended with {ended:?}");
        Ok(())
    }
}

/// Every file below a folder, with its content; without Crosier's own state.
fn files(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if !entry.path().ends_with(".config/crosier/trusted.json") {
                all.insert(entry.path(), fs::read(entry.path())?);
            }
        }
    }
    Ok(all)
}
