//! What the server needs from this program: the policy in force, the tables, the agents.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crosier::config::{Config, Problems};
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Event, Json, Outcome};
use crosier_layers::{Layers, Places};
use crosier_log::Record;
use crosier_policy::{Notices, Policy, Request, Switches, trust};
use crosier_serve::{AgentPost, Closed, ConfigLocation, ConfigSource, Fault, HookAnswer, Host, Loaded};

use super::log_writer::LogWriter;
use crate::command::{check, events, explain, hook};
use crate::homes::Homes;
use crate::setup;

/// The maximum number of locations that are remembered as not logged.
const MAX_UNLOGGED: usize = 1024;

/// The host of a server: what `crosier_serve` asks of this program.
#[derive(Debug)]
pub(super) struct ServeHost {
    homes: Homes,
    /// The locations whose configuration says `log: off`.
    unlogged: Mutex<Vec<ConfigLocation>>,
    log: LogWriter,
}

impl ServeHost {
    pub(super) fn new(homes: Homes, log: LogWriter) -> Self {
        Self { homes, unlogged: Mutex::default(), log }
    }

    fn homes_of(&self, location: &ConfigLocation) -> Homes {
        let mut homes = self.homes.clone();
        homes.config = location.config_home.clone().or(homes.config);
        homes.state = location.state_home.clone().or(homes.state);
        homes
    }

    /// Remembers whether events at a location are logged.
    fn remember(&self, location: &ConfigLocation, is_logged: bool) {
        let mut unlogged = self.lock();
        unlogged.retain(|other| other != location);
        if !is_logged {
            // The oldest entry is dropped first; it is added again the next time its location is loaded.
            let excess = (unlogged.len() + 1).saturating_sub(MAX_UNLOGGED);
            unlogged.drain(..excess);
            unlogged.push(location.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ConfigLocation>> {
        self.unlogged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, location: &ConfigLocation, project: &Path, named: &[PathBuf]) -> Request {
        let mut request = Request::new(project);
        request.named = named.to_vec();
        request.homes = self.homes_of(location);
        request
    }

    /// On the socket, a client may name only files that are in force anyway: because of their layer, or because a
    /// person trusted them.
    fn may_be_named(&self, location: &ConfigLocation, file: &Path) -> bool {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let real = std::fs::canonicalize(file).ok();
        match crosier_policy::in_force(&self.request(location, folder, &[])) {
            Policy::Loaded(loaded) => {
                real.is_some() && loaded.files.iter().any(|other| std::fs::canonicalize(other).ok() == real)
            }
            _ => false,
        }
    }

    /// The managed layer alone, which always applies, whatever a client names.
    fn managed_only(&self, location: &ConfigLocation) -> Result<Loaded, Closed> {
        let request = self.request(location, Path::new("/"), &[]);
        let layers = Layers::managed(&Places::new("/", request.person));
        if let Some(file) = layers.refused.first() {
            let why = format!("the managed configuration is refused: {}", file.why);
            return Err(Closed::new(why, Fault::UnsafeFile));
        }
        let files: Vec<PathBuf> = layers.files.iter().map(|file| file.path.clone()).collect();
        let builder = Engine::builder().events(setup::catalog());
        let homes = &request.homes;
        let loaded = layers
            .add_to(builder, || crosier_policy::loader(homes))
            .map_err(|problems| configuration_errors("the managed configuration has errors", &problems))?;
        Ok(Loaded::new(loaded, files))
    }
}

impl Host for ServeHost {
    fn version(&self) -> &str {
        super::VERSION
    }

    fn has_nothing(&self, location: &ConfigLocation) -> bool {
        matches!(&location.source, ConfigSource::Files(files) if files.is_empty())
            && Layers::managed(&Places::new("/", self.request(location, Path::new("/"), &[]).person))
                .is_empty()
    }

    fn load(&self, location: &ConfigLocation) -> Result<Loaded, Closed> {
        let (project, named): (PathBuf, &[PathBuf]) = match &location.source {
            ConfigSource::Files(files) if files.is_empty() => return self.managed_only(location),
            ConfigSource::Files(files) => {
                if let Some(file) =
                    files.iter().find(|file| !location.any_file && !self.may_be_named(location, file))
                {
                    let why = format!("{} is neither in force nor trusted by a person", file.display());
                    return Err(Closed::new(why, Fault::Trust));
                }
                let folder = files.first().and_then(|file| file.parent()).unwrap_or(Path::new("/"));
                (folder.to_owned(), files)
            }
            ConfigSource::Project(project) => (project.clone(), &[]),
            _ => return Err(Closed::new("this kind of location is not supported", Fault::Configuration)),
        };
        let request = self.request(location, &project, named);
        let mut loaded = match crosier_policy::in_force(&request) {
            Policy::Loaded(mut loaded) => {
                self.remember(location, loaded.settings.log != Some(false));
                let (notices, off) =
                    (std::mem::take(&mut loaded.notices), std::mem::take(&mut loaded.disabled_by_person));
                let files = std::mem::take(&mut loaded.files);
                let declared = loaded.layers.iter().flat_map(|(_, config)| &config.declared);
                let mut written: Vec<PathBuf> =
                    declared.map(|hook| PathBuf::from(&hook.source.name)).collect();
                written.retain(|file| file.is_absolute());
                written.dedup();
                let mut made = Loaded::new(loaded.builder(), files);
                (made.disabled_by_person, made.problems) = (off, problems(&notices));
                made.watched.extend(written);
                made
            }
            Policy::None(notices) => {
                let mut made = Loaded::new(Engine::builder().events(setup::catalog()), Vec::new());
                made.problems = problems(&notices);
                // As with `crosier fire`, which then ends with 78.
                made.not_trusted_notice = notices.first().map(|_| setup::nothing(&notices).message);
                made
            }
            Policy::Closed(crosier_policy::Closed {
                why,
                fault: crosier_policy::Fault::Configuration(problems),
                ..
            }) => return Err(configuration_errors(why, &problems)),
            // For every other fault, an engine that denies.
            Policy::Closed(mut closed) => {
                let why = [json!({"severity": "error", "message": closed.why.as_str()})];
                let (mut files, mut off) = (Vec::new(), Vec::new());
                if let Some(still) = &mut closed.remaining {
                    self.remember(location, still.settings.log != Some(false));
                    (files, off) =
                        (std::mem::take(&mut still.files), std::mem::take(&mut still.disabled_by_person));
                }
                let mut made = Loaded::new(closed.builder(), files);
                (made.disabled_by_person, made.problems) = (off, list(why));
                made
            }
            _ => return Err(Closed::new("this kind of policy is not supported", Fault::Configuration)),
        };
        loaded.watched.extend(watched(&request));
        if named.is_empty() {
            loaded.watched.extend(trust::recorded(&request));
        }
        Ok(loaded)
    }

    fn explain(
        &self,
        engine: &Engine,
        event: &str,
        tool: Option<&str>,
        agent: Option<&str>,
    ) -> Result<Json, String> {
        explain::explained(engine, event, tool, agent).map(Json::from)
    }

    fn events(&self) -> Json {
        Json::from(events::all_json())
    }

    fn section(&self, agent: &str, hooks: &Json, folder: &Path) -> Result<Config, Json> {
        let agent = crosier::protocol::ordered::Value::from(agent);
        let text = format!(r#"{{"agents":[{{"id":{agent},"hooks":{}}}]}}"#, hooks.text());
        let loader = crosier_policy::loader(&self.homes).text("scope.enter", &text, folder);
        loader.load().map_err(|problems| Json::from(check::problems_json(&problems)))
    }

    fn hook(&self, post: &AgentPost) -> HookAnswer {
        let event = post.event.as_deref();
        let body = match &post.body {
            Ok(body) => body,
            Err(why) => {
                return HookAnswer {
                    body: hook::refusal(&post.agent, event, &[], why, self.homes.state.as_deref()),
                };
            }
        };
        let body = self.run_hook(post, body).unwrap_or_else(|error| {
            let why = format!("`crosier hook` cannot be run: {error}");
            hook::refusal(&post.agent, event, body, &why, self.homes.state.as_deref())
        });
        HookAnswer { body }
    }

    fn fired(&self, location: &ConfigLocation, event: &Event, outcome: &Outcome, took: Duration) {
        let Some(state) = self.homes_of(location).state.filter(|_| !self.lock().contains(location)) else {
            return;
        };
        let mut record = Record::new("serve");
        record.set_event(event);
        record.add_outcome(outcome);
        record.set_duration(took);
        if let ConfigSource::Project(project) = &location.source {
            record.project = Some(project.to_string_lossy().into_owned());
        }
        self.log.append(state, record);
    }
}

impl ServeHost {
    /// Runs `crosier hook` in a separate process: it gives the same answer as for agents that start it themselves, and
    /// cannot block the server.
    fn run_hook(&self, post: &AgentPost, body: &[u8]) -> std::io::Result<String> {
        let myself = Path::new("/proc/self/exe");
        let myself = if myself.exists() { myself.to_owned() } else { std::env::current_exe()? };
        let mut command = Command::new(myself);
        command.arg0("crosier").args(["hook", post.agent.as_str()]);
        command.args(&post.event);
        let folders = [("--config-home", &self.homes.config), ("--state-home", &self.homes.state)];
        for (option, folder) in folders {
            if let Some(folder) = folder {
                command.arg(option).arg(folder);
            }
        }
        if let Some(project) = &post.project {
            command
                .current_dir(project)
                .env("CLAUDE_PROJECT_DIR", project)
                .env("GEMINI_PROJECT_DIR", project);
        } else if let Some(cwd) = cwd_of(body) {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // The process may decide without reading everything.
            let _ = stdin.write_all(body);
        }
        let ran = child.wait_with_output()?;
        let (said, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        match ran.status.code() {
            Some(0) => Ok(if said.trim().is_empty() { "{}".to_owned() } else { said.trim().to_owned() }),
            Some(2) if said.trim().is_empty() => {
                Ok(json!({"decision": "block", "reason": stderr.trim()}).to_string())
            }
            Some(2) => Ok(said.trim().to_owned()),
            _ => Err(std::io::Error::other(format!("it ended with {}", ran.status))),
        }
    }
}

fn cwd_of(body: &[u8]) -> Option<PathBuf> {
    let json = Json::parse(std::str::from_utf8(body).ok()?.trim()).ok()?;
    let cwd = PathBuf::from(json.get("cwd")?.as_str()?.into_owned());
    (cwd.is_absolute() && cwd.is_dir()).then_some(cwd)
}

fn problems(notices: &Notices) -> Json {
    list(notices.iter().map(|notice| json!({"severity": "warning", "message": notice.text.as_str()})))
}

fn list(items: impl IntoIterator<Item = Value>) -> Json {
    Json::from(Value::from(items.into_iter().collect::<Vec<_>>()))
}

fn configuration_errors(why: impl Into<String>, problems: &Problems) -> Closed {
    let mut closed = Closed::new(why, Fault::Configuration);
    closed.problems = Json::from(check::problems_json(problems));
    closed
}

/// What determines a policy besides the files in force: possible places of files, trust, and switches.
fn watched(request: &Request) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let named = !request.named.is_empty();
    for folder in request.project.ancestors().filter(|_| !named) {
        all.extend(["crosier.yaml", "crosier.local.yaml", ".git"].map(|name| folder.join(name)));
    }
    let places = Places::new(&request.project, request.person);
    all.extend([places.managed.join("crosier.yaml"), places.managed.join("conf.d")]);
    all.extend(request.homes.config.iter().map(|config| config.join("crosier.yaml")));
    if let Some(state) = &request.homes.state {
        all.extend([Switches::file(state), state.join("trust"), state.clone()]);
    }
    all
}
