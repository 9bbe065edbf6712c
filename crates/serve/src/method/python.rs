//! `python.call`: calls one function in a warm worker. Which hooks run, whether their files are trusted, and how their
//! replies are combined is decided by the caller.

use std::ffi::OsString;
use std::io::PipeReader;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{
    Cwd, Json, Layer, NotCompleted, Pass, PythonCall, PythonResponse, PythonResult, PythonSources,
    PythonSpec, PythonWorkers, WarmCall,
};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::connection::{Connection, MethodResult, Request};
use crate::error::{ErrorKind, RpcError, object};
use crate::message::Id;
use crate::params::Params;

const KNOWN: [&str; 19] = [
    "handler",
    "config",
    "layer",
    "python",
    "python_path",
    "paths",
    "dir",
    "cwd",
    "isolate",
    "files",
    "folders",
    "units",
    "env",
    "event",
    "deadline_ms",
    "hook",
    "phase",
    "pass",
    "timeout_ms",
];
/// How long a thread that serves connections waits for the answer of a warm worker before it hands the call over.
const ON_THIS_THREAD: Duration = Duration::from_micros(300);
const ALIVE_EVERY: Duration = Duration::from_millis(500);

/// A `python.call` with everything that it needs, so that it can move to a thread.
struct PythonCallJob {
    spec: Arc<PythonSpec>,
    hook: Arc<str>,
    layer: Layer,
    record: Option<PythonSources>,
    event: Json,
    env: Vec<(OsString, OsString)>,
    second: bool,
    pass: Pass,
    left: Duration,
    timeout: Duration,
}

pub(super) async fn begin(connection: &Arc<Connection>, request: Request) -> bool {
    let call = match refused(connection).map_or_else(|| read(&request), Err) {
        Ok(call) => call,
        Err(error) => return connection.answer(request, Err(error)).await,
    };
    let under_way = connection.server.begin_fire();
    let workers = connection.server.workers();
    let deadline = request.received.checked_add(call.left);
    let begun = match call.begin_warm(connection, &workers, deadline) {
        WarmCall::Answered(called) => {
            drop(under_way);
            return connection.answer(request, result_of(called, ErrorKind::Internal)).await;
        }
        WarmCall::Begun(begun) => Some(begun),
        _ => None,
    };
    // The cancel signal: dropping `held`, the reading end, makes `watched`, the writing end, ready in `poll`.
    let Ok((held, watched)) = std::io::pipe() else {
        let error = RpcError::new(ErrorKind::Internal, "no descriptors are left")
            .with("begun", Json::from(json!(begun.is_some())));
        return connection.answer(request, Err(error)).await;
    };
    let cancelled = connection.cancellable(&request.id);
    let pending =
        Arc::new(Pending { connection: Arc::clone(connection), id: request.id, state: Mutex::default() });
    let (ended, is_ended) = oneshot::channel();
    tokio::spawn(Arc::clone(&pending).watch(is_ended, cancelled, held));
    run(connection, move || {
        let called = catch_unwind(AssertUnwindSafe(|| {
            let python = call.python(deadline).stopped_by(watched.as_fd());
            match begun {
                Some(begun) => begun.finish(&python),
                None => workers.call_worker(&python),
            }
        }));
        pending.answer(request.permit, called.unwrap_or_else(|_| Err(server_failed())));
        drop((ended, under_way));
    });
    true
}

/// Why calls of this client are not run here: hooks would find less than in its own workers.
fn refused(connection: &Connection) -> Option<RpcError> {
    let how = connection.confinement.server_is_confined?;
    let why = format!("this server is more confined than the client: {how}");
    Some(RpcError::new(ErrorKind::Confined, why).with("begun", Json::from(json!(false))))
}

impl PythonCallJob {
    fn python(&self, deadline: Option<Instant>) -> PythonCall<'_> {
        let mut python = PythonCall::new(&self.spec, &self.hook, self.event.text(), self.timeout);
        (python.layer, python.record, python.environment) = (self.layer, self.record.clone(), &self.env);
        (python.second, python.pass) = (self.second, self.pass);
        python.deadline = deadline.unwrap_or(python.deadline);
        python.keeping_output()
    }

    /// Calls a worker that is ready, on this thread: the caller waits for every switch between threads, and most hooks
    /// answer in less time than one takes.
    fn begin_warm(
        &self,
        connection: &Connection,
        workers: &PythonWorkers,
        deadline: Option<Instant>,
    ) -> WarmCall {
        let Some(_permit) = connection.server.python_calls_in_place() else { return WarmCall::NoWorker };
        let called = catch_unwind(AssertUnwindSafe(|| {
            workers.try_call_warm_worker(&self.python(deadline), ON_THIS_THREAD)
        }));
        called.unwrap_or_else(|_| WarmCall::Answered(Err(server_failed())))
    }
}

fn server_failed() -> NotCompleted {
    NotCompleted { why: "the server failed".to_owned(), may_have_begun: true }
}

/// Runs a call in place on a runtime thread, without handing it to the blocking pool: the caller waits for every
/// switch between threads. Only a few calls may do so, so that a thread is always left to read requests; the others run
/// in the blocking pool.
fn run(connection: &Arc<Connection>, work: impl FnOnce() + Send + 'static) {
    let is_in_place = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    match connection.server.python_calls_in_place().filter(|_| is_in_place) {
        Some(permit) => drop(tokio::spawn(async move {
            tokio::task::block_in_place(work);
            drop(permit);
        })),
        None => drop(tokio::task::spawn_blocking(work)),
    }
}

/// A call that is not answered yet.
struct Pending {
    connection: Arc<Connection>,
    id: Id,
    state: Mutex<State>,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    Cancelled,
    Answered,
}

impl Pending {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until the call has ended: says that it is alive, and ends it when it is cancelled.
    async fn watch(
        self: Arc<Self>,
        mut is_ended: oneshot::Receiver<()>,
        mut cancelled: oneshot::Receiver<()>,
        held: PipeReader,
    ) {
        let mut held = Some(held);
        let alive = format!(r#"{{"jsonrpc":"2.0","method":"alive","params":{{"id":{}}}}}"#, self.id);
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + ALIVE_EVERY, ALIVE_EVERY);
        loop {
            tokio::select! {
                biased;
                _ = &mut is_ended => return,
                _ = &mut cancelled, if held.is_some() => {
                    let mut state = self.state();
                    if *state == State::Running {
                        *state = State::Cancelled;
                    }
                    held = None;
                }
                _ = ticks.tick() => {
                    // The lock is held while sending, so that no `alive` can follow the answer.
                    let state = self.state();
                    if *state != State::Answered {
                        self.connection.outbox.send(alive.clone());
                    }
                }
            }
        }
    }

    fn answer(&self, permit: Option<OwnedSemaphorePermit>, called: Result<PythonResult, NotCompleted>) {
        let before = std::mem::replace(&mut *self.state(), State::Answered);
        let kind = if before == State::Cancelled { ErrorKind::Cancelled } else { ErrorKind::Internal };
        self.connection.finish_request(&self.id);
        self.connection.respond(&self.id, permit, result_of(called, kind));
    }
}

fn result_of(called: Result<PythonResult, NotCompleted>, kind: ErrorKind) -> MethodResult {
    called.map(answer).map_err(|NotCompleted { why, may_have_begun }| {
        RpcError::new(kind, why).with("begun", Json::from(json!(may_have_begun)))
    })
}

fn read(request: &Request) -> Result<PythonCallJob, RpcError> {
    let mut params = Params::read(request.params.as_ref(), &KNOWN)?;
    let folder =
        params.folder("dir")?.ok_or_else(|| RpcError::params("dir", "the parameter `dir` is missing"))?;
    let handler = params.word("handler")?;
    let Some(mut spec) = PythonSpec::new(&handler, &folder) else {
        return Err(RpcError::params("handler", "`handler` must be module.function"));
    };
    if let Some(python) = params.text("python")? {
        spec.interpreter = python;
    }
    if let Some(paths) = params.texts("python_path")? {
        spec.paths.extend(paths.iter().map(|path| folder.join(path)));
    }
    // The whole search path, as the caller determined it.
    if let Some(paths) = params.paths("paths")? {
        spec.paths = paths;
    }
    spec.cwd = match params.text("cwd")? {
        None => spec.cwd,
        Some(event) if event == "event" => Cwd::Event,
        Some(folder) => Cwd::Folder(PathBuf::from(folder)),
    };
    spec.fork = params.flag("isolate")?.unwrap_or(false);
    let _ = params.text("config")?;
    let record = record(&mut params, &spec)?;
    let env = params.variables("env")?;
    let env = env.ok_or_else(|| RpcError::params("env", "the parameter `env` is missing"))?;
    let left = params.millis("deadline_ms")?;
    let left =
        left.ok_or_else(|| RpcError::params("deadline_ms", "the parameter `deadline_ms` is missing"))?;
    let event = params.required("event")?;
    let mut is_second = |name: &str| match params.integer(name)? {
        None | Some(1) => Ok(false),
        Some(2) => Ok(true),
        Some(_) => Err(RpcError::params(name, format!("`{name}` must be 1 or 2"))),
    };
    let (phase, pass) = (is_second("phase")?, is_second("pass")?);
    Ok(PythonCallJob {
        spec: Arc::new(spec),
        hook: params.word("hook")?.into(),
        layer: layer(&params.word("layer")?)?,
        record,
        event,
        env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        second: phase,
        pass: if pass { Pass::Second } else { Pass::First },
        left,
        timeout: params.millis("timeout_ms")?.unwrap_or(left),
    })
}

/// The digests that the caller sent: the worker loads nothing else from its folders.
fn record(params: &mut Params, spec: &PythonSpec) -> Result<Option<PythonSources>, RpcError> {
    let files = params.variables("files")?;
    let (folders, units) = (params.paths("folders")?, params.paths("units")?.unwrap_or_default());
    // An empty list of files is a record too: one in which nothing may be loaded.
    if folders.is_none() && files.is_none() {
        return Ok(None);
    }
    let folders = folders.unwrap_or_else(|| spec.paths.clone());
    let mut record = units.into_iter().fold(PythonSources::new(folders), PythonSources::unit);
    for (path, digest) in files.unwrap_or_default() {
        let digest = digest.strip_prefix("sha256:").and_then(from_hex);
        let digest = digest
            .ok_or_else(|| RpcError::params("files", "a digest is `sha256:` and 64 hexadecimal digits"))?;
        record = record.file(spec.project_dir.join(path), digest);
    }
    Ok(Some(record))
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let digits = text.as_bytes().as_chunks::<2>();
    if !digits.1.is_empty() || digits.0.len() != bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.0) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// `managed`, `user`, `project2`, …
fn layer(word: &str) -> Result<Layer, RpcError> {
    let number = |rest: &str| match rest {
        "" => Some(0),
        rest => rest.parse::<u16>().ok().filter(|&number| number > 1).map(|number| number - 1),
    };
    match word {
        "managed" => Ok(Layer::Managed),
        "host" => Ok(Layer::Host),
        "user" => Ok(Layer::User),
        "local" => Ok(Layer::Local),
        other => other.strip_prefix("project").and_then(number).map(Layer::Project).ok_or_else(|| {
            RpcError::params("layer", "`layer` must be managed, host, user, project or local")
        }),
    }
}

fn answer(result: PythonResult) -> String {
    let printed = String::from_utf8_lossy(&result.printed).into_owned();
    let stdout = match printed.as_str() {
        "" => String::new(),
        printed => format!(r#","stdout":{}"#, Value::from(printed)),
    };
    match result.response {
        // Bytes that are not JSON must not break the line: they are sent as a string, which is not a valid reply
        // either.
        PythonResponse::Reply(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            match Json::parse(text.trim()) {
                Ok(reply) if !reply.text().contains('\n') => {
                    format!(r#"{{"reply":{}{stdout}}}"#, reply.text())
                }
                Ok(reply) => format!(r#"{{"reply":{}{stdout}}}"#, reply.text().replace('\n', " ")),
                Err(_) => object([("reply", Value::from(&*text)), ("stdout", Value::from(printed))]),
            }
        }
        PythonResponse::Nothing => format!(r#"{{"reply":null{stdout}}}"#),
        PythonResponse::Failed { kind, detail, deny } => object([
            ("failure", json!({"kind": kind.to_string(), "detail": detail})),
            ("deny", deny.into()),
            ("stdout", Value::from(printed)),
            ("stderr", "".into()),
        ]),
        _ => object([(
            "failure",
            json!({"kind": "error", "detail": "an answer that this version does not support"}),
        )]),
    }
}
