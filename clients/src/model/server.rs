//! The server: one per run of an agent, on a free loopback port, with a limit on the number of requests.

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

/// A model on loopback; it stops when this is dropped.
pub(crate) struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

struct State {
    script: Script,
    requests: Vec<Request>,
    /// The maximum number of requests that are answered.
    limit: usize,
    /// Requests that are not part of a conversation: `METHOD path`.
    others: Vec<String>,
}

impl Server {
    /// Starts a server that answers by a script, at most `limit` times.
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

    /// Whether there were more requests than allowed.
    pub(crate) fn is_over_limit(&self) -> bool {
        let state = locked(&self.state);
        state.requests.len() > state.limit
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        locked(&self.state).requests.clone()
    }

    /// Requests that are not part of a conversation.
    pub(crate) fn others(&self) -> Vec<String> {
        locked(&self.state).others.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic in it was already printed.
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
            // An agent may close the connection in the middle.
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

/// Answers to requests that are not conversations.
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;
    use crate::model::{Call, Turn};

    /// What the server answers to a body, headers and all.
    fn post(server: &Server, path: &str, body: &Value) -> String {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}", body.len());
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn script() -> Script {
        let mut script = Script::default();
        let call = Call::new("one", "Bash", json!({"command": "ls"}));
        script.add("main", [Turn::call(call), Turn::text("WORDS")]);
        script
    }

    /// A path, a request in that format that tells a result, and where a call and words are in the answer.
    fn formats() -> Vec<(&'static str, Value)> {
        let tool = json!({"name": "Bash"});
        vec![
            (
                "/v1/messages",
                json!({"stream": true, "tools": [tool], "system": "S-TEXT", "messages": [
                    {"role": "user", "content": "U-TEXT"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "call_x", "name": "Bash", "input": {}}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "call_x", "content": [{"type": "text", "text": "R-TEXT"}]},
                    ]},
                ]}),
            ),
            (
                "/v1/responses",
                json!({"stream": true, "tools": [tool], "instructions": "S-TEXT", "input": [
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "U-TEXT"}]},
                    {"type": "function_call", "call_id": "call_x", "name": "Bash", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "call_x", "output": "R-TEXT"},
                ]}),
            ),
            (
                "/v1/chat/completions",
                json!({"stream": true, "tools": [{"type": "function", "function": tool}], "messages": [
                    {"role": "system", "content": "S-TEXT"},
                    {"role": "user", "content": "U-TEXT"},
                    {"role": "assistant", "content": null, "tool_calls": []},
                    {"role": "tool", "tool_call_id": "call_x", "content": "R-TEXT"},
                ]}),
            ),
            (
                "/v1beta/models/m:streamGenerateContent",
                json!({"tools": [{"functionDeclarations": [tool]}],
                "systemInstruction": {"parts": [{"text": "S-TEXT"}]},
                "contents": [
                    {"role": "user", "parts": [{"text": "U-TEXT"}]},
                    {"role": "model", "parts": [{"functionCall": {"id": "call_x", "name": "Bash", "args": {}}}]},
                    {"role": "user", "parts": [{"functionResponse": {
                        "id": "call_x", "name": "Bash", "response": {"output": "R-TEXT"},
                    }}]},
                ]}),
            ),
        ]
    }

    #[test]
    fn every_format_is_read_and_answered_by_the_script() {
        for (path, body) in formats() {
            let server = Server::start(script(), 5).expect("a free port");
            let call = post(&server, path, &body);
            assert!(
                call.contains("text/event-stream") && call.contains("call_one") && call.contains("ls"),
                "{call}"
            );
            let words = post(&server, path, &body);
            assert!(words.contains("WORDS") && !words.contains("call_one"), "{words}");
            let requests = server.requests();
            let told: Vec<&str> = requests[0].items.iter().filter_map(super::super::Item::told).collect();
            for text in ["S-TEXT", "U-TEXT", "R-TEXT"] {
                assert!(told.iter().any(|told| told.contains(text)), "{path} has no {text}: {told:?}");
            }
            assert_eq!(requests[0].conversation, "main", "{path}");
            assert_eq!(requests[0].tools, ["Bash"], "{path}");
        }
    }

    #[test]
    fn without_a_stream_the_answer_is_one_object() {
        for (path, mut body) in formats() {
            body["stream"] = json!(false);
            let path = path.replace(":streamGenerateContent", ":generateContent");
            let server = Server::start(script(), 5).expect("a free port");
            let answer = post(&server, &path, &body);
            let json = answer.split("\r\n\r\n").nth(1).map(serde_json::from_str::<Value>);
            assert!(
                matches!(json, Some(Ok(Value::Object(_)))) && answer.contains("call_one"),
                "{path}: {answer}"
            );
        }
    }

    #[test]
    fn more_requests_than_allowed_are_an_error() {
        let server = Server::start(script(), 1).expect("a free port");
        let (path, body) = formats().remove(0);
        assert!(post(&server, path, &body).starts_with("HTTP/1.1 200"));
        assert!(!server.is_over_limit());
        assert!(post(&server, path, &body).starts_with("HTTP/1.1 400"));
        assert!(server.is_over_limit());
    }

    #[test]
    fn what_is_no_conversation_is_noted() {
        let server = Server::start(script(), 1).expect("a free port");
        assert!(post(&server, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
        assert!(post(&server, "/telemetry", &json!({})).starts_with("HTTP/1.1 404"));
        assert_eq!(server.others(), ["POST /v1/messages/count_tokens", "POST /telemetry"]);
        assert!(server.requests().is_empty());
    }
}
