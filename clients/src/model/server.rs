//! The server: one per run of an agent, on a free port of loopback, with an upper bound of requests.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{APIS, Body, Request, Script};

/// The largest body that is read; agents send their whole conversation each time.
const LARGEST: usize = 32 << 20;

/// A model on loopback; it ends when this is dropped.
pub(crate) struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

struct State {
    script: Script,
    requests: Vec<Request>,
    /// The most requests that are answered.
    limit: usize,
    /// Requests for something that is no conversation: `METHOD path`.
    others: Vec<String>,
}

impl Server {
    /// Starts to answer by a script, at most `limit` times.
    pub(crate) fn start(script: Script, limit: usize) -> io::Result<Server> {
        let state = Arc::new(Mutex::new(State { script, requests: Vec::new(), limit, others: Vec::new() }));
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("model".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = serve(listener, shared) => {}
                }
            });
        })?;
        Ok(Server { port, state, stop: Some(stop), thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whether more was asked than was allowed.
    pub(crate) fn is_over_limit(&self) -> bool {
        let state = locked(&self.state);
        state.requests.len() > state.limit
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        locked(&self.state).requests.clone()
    }

    /// Requests for something that is no conversation.
    pub(crate) fn others(&self) -> Vec<String> {
        locked(&self.state).others.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended on its own.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic in it was printed already.
            let _ = thread.join();
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: std::net::TcpListener, state: Arc<Mutex<State>>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(answer(request, &state).await) }
            });
            // An agent that goes away in the middle is not our fault.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(request: hyper::Request<Incoming>, state: &Mutex<State>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let Ok(body) = Limited::new(request.into_body(), LARGEST).collect().await else {
        return reply(StatusCode::PAYLOAD_TOO_LARGE, &error("the body is too large or was cut off"));
    };
    let body: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    let api = APIS.iter().find(|api| method == hyper::Method::POST && (api.serves)(&path));
    let Some(api) = api else {
        locked(state).others.push(format!("{method} {path}"));
        return match aside(&path) {
            Some(answer) => reply(StatusCode::OK, &answer),
            None => reply(StatusCode::NOT_FOUND, &error("this model has nothing at this path")),
        };
    };
    let mut read = (api.read)(&body);
    read.api = api.name;
    read.conversation = read.marked().to_owned();
    let conversation = read.conversation.clone();
    read.raw = body.clone();
    let turn = {
        let mut state = locked(state);
        state.requests.push(read);
        if state.requests.len() > state.limit {
            return reply(StatusCode::BAD_REQUEST, &error("more requests than this run may make"));
        }
        state.script.next(&conversation)
    };
    match (api.write)(&turn, &body, &path) {
        Body::Json(answer) => reply(StatusCode::OK, &answer),
        Body::Events(events) => {
            let text: String = events
                .iter()
                .map(|(name, data)| match name {
                    Some(name) => format!("event: {name}\ndata: {data}\n\n"),
                    None => format!("data: {data}\n\n"),
                })
                .collect();
            respond(StatusCode::OK, "text/event-stream", text)
        }
    }
}

/// Answers to what agents ask beside conversations.
fn aside(path: &str) -> Option<Value> {
    let last = path.rsplit(['/', ':']).next().unwrap_or_default();
    match last {
        "count_tokens" => Some(json!({"input_tokens": 10})),
        "countTokens" => Some(json!({"totalTokens": 10})),
        "models" => Some(json!({"object": "list", "data": [{"id": "fake", "object": "model"}]})),
        "" => Some(json!({})),
        _ => None,
    }
}

fn error(message: &str) -> Value {
    json!({"type": "error", "error": {"type": "invalid_request_error", "code": 400, "message": message}})
}

fn reply(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    respond(status, "application/json", body.to_string())
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}
