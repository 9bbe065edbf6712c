//! `crosier doctor`: what hooks will find on this machine, and what is wrong with it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use crosier::payload::PreToolUse;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Hook, PythonSpec};
use crosier_install::plan::config_of_codex;
use crosier_policy::Request;

use super::serve::Daemon;
use super::{Run, check, doctor_codex, doctor_entry, status};
use crate::args::ConfigArgs;
use crate::exit::{Exit, Result};
use crate::homes::Homes;
use crate::install_context::InstallContext;
use crate::paint::{Paint, Tone};
use crate::setup::{DEFAULT_CONFIG, count};
use crate::text::wrap;
use crate::{environment, print, setup};

/// The columns in front of a finding's text.
const LABEL: usize = 13;
/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(
    after_help = "For each agent that calls Crosier, a test event is sent through the installed entry and
must be denied; nothing is run. Codex itself is asked which entries it trusts, if
`codex` is on PATH and was started before.

Exit status: 0 when all is well, 1 when there is a problem.

Example:
  crosier doctor -c hooks.yaml"
)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result of one check.
#[derive(Debug)]
struct Finding {
    what: &'static str,
    text: String,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Fine,
    /// Not everybody needs it.
    Missing,
    Odd,
}

impl Finding {
    fn new(what: &'static str, level: Level, text: impl Into<String>) -> Self {
        Self { what, text: text.into(), level }
    }
}

impl Run for DoctorArgs {
    fn run(&self) -> Result {
        let findings = examine(&self.config.request());
        if self.json {
            let rows: Vec<Value> = findings.iter().map(as_json).collect();
            print::json(&format!("{:#}", Value::from(rows)))?;
        } else {
            print::data(&findings.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        }
        let is_odd = findings.iter().any(|finding| finding.level == Level::Odd);
        Ok(if is_odd { Exit::Failed } else { Exit::Done })
    }
}

fn as_json(finding: &Finding) -> Value {
    json!({"what": finding.what, "says": finding.text, "judged": word(finding.level)})
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Fine => "ok",
        Level::Missing => "--",
        Level::Odd => "bad",
    }
}

fn line(finding: &Finding) -> String {
    let tone = match finding.level {
        Level::Fine => Tone::Good,
        Level::Missing => Tone::Warning,
        Level::Odd => Tone::Bad,
    };
    let mark = Paint::stdout().tone(tone, &format!("{:<4}", word(finding.level)));
    let room = environment::columns().map_or(usize::MAX, |columns| columns.saturating_sub(LABEL));
    let mut lines = wrap(&print::one_line(&finding.text), room).into_iter();
    let mut text = format!("{mark}{:<8} {}", finding.what, lines.next().unwrap_or_default());
    lines.for_each(|line| text += &format!("\n{}{line}", " ".repeat(LABEL)));
    text
}

fn examine(request: &Request) -> Vec<Finding> {
    let mut findings = vec![
        Finding::new("crosier", Level::Fine, env!("CARGO_PKG_VERSION")),
        platform(),
        Finding::new(
            "hooks",
            Level::Fine,
            format!("the end of a hook's process is noticed with {}", crosier::mechanism()),
        ),
        shell(),
        program("python3", "Python hooks cannot run"),
        worker(),
        daemon(&request.homes),
        program("git", "only hooks that call it need it"),
    ];
    match check::check(request, true) {
        Ok(found) => {
            findings.extend(configuration(&found));
            findings.extend(found.files.iter().filter_map(|file| watched("config", file)));
            findings.push(switched_off(request, &found.files));
        }
        Err(_) => {
            let text = format!("there is no {DEFAULT_CONFIG} in this folder; name a file with -c FILE");
            findings.push(Finding::new("config", Level::Missing, text));
        }
    }
    if let Ok(install_context) = InstallContext::find(request.homes.clone()) {
        findings.extend(
            status::examine(&install_context).iter().map(|agent| agent_finding(agent, &install_context)),
        );
    }
    findings
}

/// One agent: whether its entry is installed and up to date, and whether a test event is denied.
fn agent_finding(agent: &status::AgentStatus, install_context: &InstallContext) -> Finding {
    let name = agent.row.agent;
    let (state, why) = agent.state();
    let installed = agent.installed.as_ref().map(Vec::as_slice).unwrap_or_default();
    let entries =
        installed.iter().filter_map(|one| doctor_entry::entry_before_action(agent.row, &one.commands));
    let tried: Vec<_> = entries
        .map(|entry| doctor_entry::try_installed(agent.row, entry, &install_context.places.project))
        .collect();
    let because = if why.is_empty() { String::new() } else { format!(": {why}") };
    match (state, tried.iter().find_map(|tried| tried.as_ref().err()), tried.first()) {
        ("not installed", ..) => Finding::new(name, Level::Missing, format!("not installed{because}")),
        (_, Some(fault), _) => {
            let text = format!("the installed entry does not work: {fault}; run: crosier install {name}");
            Finding::new(name, Level::Odd, text)
        }
        ("current" | "untrusted", None, Some(Ok(took))) if name == "codex" => {
            codex(state, &because, *took, install_context)
        }
        ("current", None, Some(Ok(took))) => Finding::new(name, Level::Fine, works(*took)),
        (state, ..) => Finding::new(name, Level::Odd, format!("{state}{because}")),
    }
}

fn works(took: Duration) -> String {
    format!("its entry denied the test event in {took:.0?}")
}

/// Asks Codex which entries it runs; if it does not answer, reads its files.
fn codex(state: &str, because: &str, took: Duration, install_context: &InstallContext) -> Finding {
    let by_files = |note: &str| match state {
        "current" => Finding::new("codex", Level::Fine, format!("{}{note}", works(took))),
        state => Finding::new("codex", Level::Odd, format!("{state}{because}")),
    };
    let config = config_of_codex(&install_context.places);
    let is_known = config.parent().is_some_and(doctor_codex::was_started);
    let Some(program) = environment::find("codex").filter(|_| is_known) else { return by_files("") };
    match doctor_codex::ask(&program, &install_context.places.project) {
        Err(why) => by_files(&format!("; trusted by its files (codex app-server: {why})")),
        Ok(hooks) if hooks.entries > 0 && hooks.active == hooks.entries => {
            Finding::new("codex", Level::Fine, format!("{}; Codex trusts it", works(took)))
        }
        Ok(hooks) => {
            let text = format!(
                "untrusted: Codex says that it runs {} of {} entries; start `codex` and trust them, or run `crosier \
                 install codex --trust`",
                hooks.active, hooks.entries
            );
            Finding::new("codex", Level::Odd, text)
        }
    }
}

/// A daemon need not run, but one that cannot be used makes every Python hook slow.
fn daemon(homes: &Homes) -> Finding {
    let found = Daemon::find(homes);
    let level = if matches!(found, Daemon::Unusable(_)) { Level::Odd } else { Level::Fine };
    Finding::new("daemon", level, found.words())
}

fn platform() -> Finding {
    let uname = rustix::system::uname();
    let (system, release) = (uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let machine = std::env::consts::ARCH;
    Finding::new("platform", Level::Fine, format!("{system} {release}, {machine}, {}", count(cores, "core")))
}

fn shell() -> Finding {
    let path = Path::new("/bin/sh");
    match fs::canonicalize(path) {
        Ok(real) if real == path => Finding::new("sh", Level::Fine, "/bin/sh"),
        Ok(real) => Finding::new("sh", Level::Fine, format!("/bin/sh, which is {}", real.display())),
        Err(error) => {
            Finding::new("sh", Level::Odd, format!("/bin/sh: {error}; no `command:` can run, only `argv:`"))
        }
    }
}

fn program(name: &'static str, without: &str) -> Finding {
    let Some(path) = environment::find(name) else {
        return Finding::new(name, Level::Missing, format!("not found in PATH; {without}"));
    };
    match version(&path) {
        Ok(version) => Finding::new(name, Level::Fine, format!("{}, {version}", path.display())),
        Err(why) => Finding::new(name, Level::Odd, format!("{} {why}", path.display())),
    }
}

/// Starts a worker as a Python hook would, with a function that every Python has.
fn worker() -> Finding {
    let name = "worker";
    if environment::find("python3").is_none() {
        return Finding::new(name, Level::Missing, "not started: there is no python3");
    }
    let Some(spec) = PythonSpec::new("json.loads", "/") else {
        return Finding::new(name, Level::Odd, "not started");
    };
    let hook = Hook::on(PreToolUse).timeout(VERSION_TIMEOUT).python(spec);
    let engine = match setup::build(Engine::builder().environment(environment::all()).hook(hook)) {
        Ok(engine) => engine,
        Err(failed) => return Finding::new(name, Level::Odd, failed.message),
    };
    let started = Instant::now();
    match engine.warm().pop() {
        Some((_, Ok(python))) => {
            let text = format!(
                "{}, Python {}, answers after {:.0?}",
                python.executable,
                python.version,
                started.elapsed()
            );
            Finding::new(name, Level::Fine, text)
        }
        Some((_, Err(failure))) => {
            Finding::new(name, Level::Odd, format!("does not answer: {}", failure.detail))
        }
        None => Finding::new(name, Level::Odd, "was not started"),
    }
}

/// The first line that a program prints for `--version`.
fn version(path: &Path) -> std::result::Result<String, String> {
    let mut child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let deadline = Instant::now() + VERSION_TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not print its version within {}s", VERSION_TIMEOUT.as_secs()));
            }
        }
    }
    let output = child.wait_with_output().map_err(|error| format!("its output cannot be read: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().next() {
        Some(line) if output.status.success() => Ok(line.to_owned()),
        _ => Err(format!("--version failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn configuration(found: &check::CheckResult) -> Vec<Finding> {
    let names: Vec<String> = found.files.iter().map(|file| file.display().to_string()).collect();
    let names = names.join(", ");
    let finding = |level, text: String| Finding::new("config", level, format!("{names}: {text}"));
    let (errors, warnings) = (found.problems.errors(), found.problems.warnings());
    let hooks = count(found.hooks.unwrap_or_default(), "hook");
    let mut findings = vec![match (errors, warnings) {
        (0, 0) => finding(Level::Fine, format!("{hooks}, no problems")),
        (0, _) => finding(
            Level::Odd,
            format!("{hooks}, {}; `crosier check` shows them", count(warnings, "warning")),
        ),
        _ => finding(Level::Odd, format!("{}; `crosier check` shows them", count(errors, "error"))),
    }];
    findings.extend(found.pythons.iter().map(|(python, hooks)| {
        let hooks = count(*hooks, "python hook");
        let text = format!("{hooks} imported by {}, {}", python.executable, python.version);
        Finding::new("config", Level::Fine, text)
    }));
    findings
}

/// Who else can change a file that decides what is denied.
fn watched(what: &'static str, file: &Path) -> Option<Finding> {
    let odd = |text: String| Some(Finding::new(what, Level::Odd, text));
    let meta = fs::metadata(file).ok()?;
    let (shown, me) = (file.display(), rustix::process::geteuid().as_raw());
    if meta.mode() & 0o002 != 0 {
        return odd(format!("everybody can change {shown} (mode {:o})", meta.mode() & 0o777));
    }
    if meta.uid() != me && meta.uid() != 0 {
        return odd(format!("{shown} belongs to another user ({})", meta.uid()));
    }
    let folder = std::path::absolute(file).ok()?.parent()?.to_owned();
    let mode = fs::metadata(&folder).ok()?.mode();
    if mode & 0o002 != 0 && mode & 0o1000 == 0 {
        return odd(format!("everybody can replace {shown}, and anything else in {}", folder.display()));
    }
    None
}

fn switched_off(request: &Request, files: &[PathBuf]) -> Finding {
    match crosier_policy::switches(request) {
        Err(why) => Finding::new("state", Level::Odd, why),
        Ok(switches) => {
            let names: Vec<&str> =
                files.iter().flat_map(|file| switches.of(file)).map(String::as_str).collect();
            match names.as_slice() {
                [] => Finding::new("state", Level::Fine, "no hook is switched off"),
                names => Finding::new("state", Level::Fine, format!("switched off: {}", names.join(", "))),
            }
        }
    }
}
