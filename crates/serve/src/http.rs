//! HTTP on loopback, for agents that post their events. One request per connection.
//!
//! On `/v1/hook/…`, once the token is right, every fault is a 200 with that agent's refusal: on any other status, an
//! agent lets the tool run.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crosier::Json;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming as Body};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::MAX_LINE;
use crate::connection::MethodResult;
use crate::engines::{ConnectionEngines, FireContext};
use crate::error::{ErrorKind, RpcError};
use crate::host::{AgentPost, ConfigLocation, ConfigSource};
use crate::http_head::{DelayedOutput, Head, MAX_HEAD, drain};
use crate::message::{self, Incoming};
use crate::method::{self, FireParams};
use crate::params::Params;
use crate::server::{PendingFire, Server};

/// How long a whole request may take to arrive.
const REQUEST_WITHIN: Duration = Duration::from_secs(10);
/// The maximum number of requests at once.
const MAX_CONNECTIONS: usize = 64;
/// The maximum number of connections at once, including those that are only told that there are too many.
const MAX_HEARD: usize = 1024;

/// A loopback address and its port; port 0 means any free port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpAddress(SocketAddr);

impl FromStr for HttpAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "an address is 127.0.0.1:PORT or [::1]:PORT; port 0 picks a free port";
        let address: SocketAddr = text.parse().map_err(|_| wanted.to_owned())?;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => Ok(Self(address)),
            IpAddr::V6(ip) if ip.is_loopback() => Ok(Self(address)),
            _ => Err(format!("{} can be reached from other machines; {wanted}", address.ip())),
        }
    }
}

#[derive(Debug)]
struct Service {
    server: Arc<Server>,
    token: String,
    port: u16,
}

pub(crate) async fn listen(
    server: Arc<Server>,
    address: &HttpAddress,
    token: String,
) -> std::io::Result<String> {
    let listener = TcpListener::bind(address.0).await?;
    let bound = listener.local_addr()?;
    let service = Arc::new(Service { server: Arc::clone(&server), token, port: bound.port() });
    tokio::spawn(async move {
        tokio::select! {
            () = accept_all(listener, service) => {}
            () = server.ended() => {}
        }
    });
    Ok(format!("http://{bound}"))
}

async fn accept_all(listener: TcpListener, service: Arc<Service>) {
    let (served, heard) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), Arc::new(Semaphore::new(MAX_HEARD)));
    loop {
        let Ok(hearing) = Arc::clone(&heard).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (service, serving) = (Arc::clone(&service), Arc::clone(&served).try_acquire_owned().ok());
        tokio::spawn(async move {
            service.serve(stream, serving.is_none()).await;
            drop((hearing, serving));
        });
    }
}

type Reply = Response<Full<Bytes>>;

/// What is wrong with a request.
struct Fault(StatusCode, String);

impl Service {
    async fn serve(self: Arc<Self>, mut stream: TcpStream, too_many: bool) {
        let until = Instant::now() + REQUEST_WITHIN;
        let head = match tokio::time::timeout_at(until, Head::arrived(&stream)).await {
            Ok(Some(head)) => head,
            Ok(None) => return,
            Err(_) => {
                let head = Head::so_far(&stream);
                let answer = self.refusal(&head, "the request did not arrive in time").await;
                let late = || with_length("408 Request Timeout", "");
                let _ = stream.write_all(answer.unwrap_or_else(late).as_bytes()).await;
                let _ = stream.shutdown().await;
                return;
            }
        };
        // A server that is shutting down waits until the answer is written.
        let under_way = Arc::new(OnceLock::new());
        let kept = Arc::clone(&under_way);
        let (is_served, held_back) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let answer = hyper::service::service_fn({
            let (service, is_served) = (Arc::clone(&self), Arc::clone(&is_served));
            move |request| {
                is_served.store(true, Ordering::SeqCst);
                let (service, under_way) = (Arc::clone(&service), Arc::clone(&under_way));
                async move {
                    let answer = service.answer(request, too_many, until, &under_way).await;
                    Ok::<_, std::convert::Infallible>(answer)
                }
            }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.keep_alive(false).max_buf_size(MAX_HEAD * 2);
        let stream = Arc::new(stream);
        let held = DelayedOutput {
            stream: Arc::clone(&stream),
            is_served: Arc::clone(&is_served),
            held_back: Arc::clone(&held_back),
        };
        let connection = http.serve_connection(TokioIo::new(held), answer);
        // What the library still waits for, such as a request after empty lines, must arrive in time as well.
        let over = async {
            tokio::time::sleep_until(until).await;
            if is_served.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            _ = connection => {}
            () = over => {}
        }
        drop(kept);
        if let Some(mut stream) = Arc::into_inner(stream).filter(|_| !is_served.load(Ordering::SeqCst)) {
            let library = std::mem::take(&mut *held_back.lock().unwrap_or_else(PoisonError::into_inner));
            let answer = match self.refusal(&head, "the request is not valid HTTP").await {
                Some(refusal) => refusal.into_bytes(),
                None if library.is_empty() => with_length("408 Request Timeout", "").into_bytes(),
                None => library,
            };
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
            drain(stream).await;
        }
    }

    /// The answer to a request that HTTP itself is at fault with: an agent that has sent the token still gets a refusal
    /// in its own format.
    async fn refusal(&self, head: &Head, why: &str) -> Option<String> {
        let (agent, event, _) = hook_path(&head.path())?;
        if !self.is_token(head.header("authorization")?) {
            return None;
        }
        let body = Err(why.to_owned());
        let refusal = self.hook(AgentPost { agent, event, project: None, body }).await;
        Some(with_length("200 OK", &refusal))
    }

    /// The answer to the agent; a refusal if the server is stopped meanwhile.
    async fn hook(&self, post: AgentPost) -> String {
        let refused = AgentPost { body: Err("the server is shutting down".to_owned()), ..post.clone() };
        let judge = |post: AgentPost| {
            let server = Arc::clone(&self.server);
            tokio::task::spawn_blocking(move || server.host().hook(&post).body)
        };
        let judged = tokio::select! {
            biased;
            judged = judge(post) => judged.ok(),
            () = self.server.cut_short() => None,
        };
        match judged {
            Some(body) => body,
            None => judge(refused).await.unwrap_or_else(|_| r#"{"decision":"block"}"#.to_owned()),
        }
    }

    async fn answer(
        &self,
        request: Request<Body>,
        too_many: bool,
        until: Instant,
        under_way: &OnceLock<PendingFire>,
    ) -> Reply {
        self.server.touch();
        let path = request.uri().path().to_owned();
        let hook = hook_path(&path);
        let may = self.has_token(request.headers());
        let fault = self.fault(&request, &path, may, too_many);
        let (head, body) = request.into_parts();
        let body = match fault {
            Some(fault) => Err(fault),
            None => read(body, until).await,
        };
        let project =
            head.headers.get("x-crosier-project").and_then(|value| value.to_str().ok()).map(PathBuf::from);
        match (hook, body) {
            // A client with the token is an agent that waits for a decision.
            (Some((agent, event, _)), body) if may => {
                let _ = under_way.set(self.server.begin_fire());
                let body = body.map_err(|Fault(_, why)| why);
                reply(StatusCode::OK, self.hook(AgentPost { agent, event, project, body }).await)
            }
            (_, Err(Fault(status, why))) => {
                reply(status, format!("{{\"error\":{}}}", Json::from(why).text()))
            }
            (_, Ok(body)) => reply(StatusCode::OK, self.rpc(&body, project, under_way).await),
        }
    }

    /// The first thing that is wrong with the head of a request.
    fn fault(&self, request: &Request<Body>, path: &str, may: bool, too_many: bool) -> Option<Fault> {
        let headers = request.headers();
        let text =
            |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
        let is_mine = |host: &str| self.names().iter().any(|name| name.eq_ignore_ascii_case(host));
        let fault = |status, why: &str| Some(Fault(status, why.to_owned()));
        if !text(HOST).is_some_and(is_mine) {
            return fault(StatusCode::MISDIRECTED_REQUEST, "this is not the address of this server");
        }
        let origin =
            headers.get(ORIGIN).map(|_| text(ORIGIN).and_then(|origin| origin.strip_prefix("http://")));
        if origin.is_some_and(|origin| !origin.is_some_and(is_mine)) {
            return fault(StatusCode::FORBIDDEN, "requests from web pages are refused");
        }
        if hook_path(path).is_none_or(|(.., is_whole)| !is_whole) && path != "/v1/rpc" {
            return fault(
                StatusCode::NOT_FOUND,
                "there is no such path; the paths are /v1/hook/AGENT[/EVENT] and /v1/rpc",
            );
        }
        if request.method() != Method::POST {
            return fault(StatusCode::METHOD_NOT_ALLOWED, "the method must be POST");
        }
        if !may {
            return fault(
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong; send it as `Authorization: Bearer TOKEN`",
            );
        }
        if too_many {
            let why = match self.server.is_stopping() {
                true => "the server is shutting down",
                false => "there are too many requests at once",
            };
            return fault(StatusCode::SERVICE_UNAVAILABLE, why);
        }
        let kind = text(CONTENT_TYPE).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            return fault(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
        }
        None
    }

    fn names(&self) -> [String; 3] {
        ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port))
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        self.is_token(headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default())
    }

    fn is_token(&self, given: &[u8]) -> bool {
        let (scheme, given) = given.split_at_checked("Bearer ".len()).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return false;
        }
        let token = self.token.as_bytes();
        // Compare in constant time.
        let differs = token.iter().zip(given).fold(0, |differs, (one, other)| differs | (one ^ other));
        token.len() == given.len() && differs == 0
    }

    /// Handles one JSON-RPC request.
    async fn rpc(&self, body: &[u8], project: Option<PathBuf>, under_way: &OnceLock<PendingFire>) -> String {
        let (id, result) = match message::read(body) {
            Ok(Incoming::Request { id, method, params }) => {
                (Some(id), self.method(&method, params.as_ref(), project, under_way).await)
            }
            Ok(_) => (
                None,
                Err(RpcError::new(ErrorKind::Request, "send one request, with a `method` and an `id`")),
            ),
            Err(unreadable) => (unreadable.id, Err(unreadable.error)),
        };
        let id = id.map_or_else(|| "null".to_owned(), |id| id.to_string());
        match result {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.to_json()),
        }
    }

    async fn method(
        &self,
        method: &str,
        params: Option<&Json>,
        project: Option<PathBuf>,
        under_way: &OnceLock<PendingFire>,
    ) -> MethodResult {
        let server = &self.server;
        if server.is_stopping() {
            return Err(RpcError::new(ErrorKind::ShuttingDown, "the server is shutting down"));
        }
        match method {
            "status" => method::status(server, params),
            "events" => {
                Params::read(params, &[])?;
                Ok(server.host().events().text().to_owned())
            }
            "fire" | "recheck" => {
                let mut params = Params::read(params, &["event", "input", "project", "cwd", "deadline_ms"])?;
                let fire = FireParams::read(&mut params)?;
                let fire_context = fire_context(&mut params, project, Some(&fire.input))?;
                let location = fire_context.location.clone();
                let began = std::time::Instant::now();
                let ready = ConnectionEngines::default()
                    .engine(&fire_context, server, &std::sync::Weak::new(), false)?
                    .trusted()?;
                let event = fire.event(&ready.engine)?;
                let until = fire.deadline.and_then(|limit| began.checked_add(limit));
                let _ = under_way.set(server.begin_fire());
                let cancelled = {
                    let server = Arc::clone(server);
                    async move { server.cut_short().await }
                };
                let recheck = method == "recheck";
                let judged =
                    method::judge(ready.engine.clone(), event.clone(), recheck, until, cancelled).await;
                if judged.is_err() && until.is_none_or(|until| std::time::Instant::now() < until) {
                    return Err(RpcError::new(ErrorKind::Cancelled, "the server is shutting down"));
                }
                let (Ok(outcome) | Err(outcome)) = &judged;
                server.host().fired(&location, &event, outcome, began.elapsed());
                method::answer_of(&judged, Some(&ready.problems))
            }
            "explain" => {
                let mut params = Params::read(params, &["event", "tool", "agent_id", "project"])?;
                let fire_context = fire_context(&mut params, project, None)?;
                let ready = ConnectionEngines::default().engine(
                    &fire_context,
                    server,
                    &std::sync::Weak::new(),
                    false,
                )?;
                method::explain(server.host(), &ready.engine, &mut params)
            }
            other => Err(method::unknown(other)),
        }
    }
}

/// Where an event happens: in the project that the request names, else in the folder of the event.
fn fire_context(
    params: &mut Params,
    header: Option<PathBuf>,
    input: Option<&Json>,
) -> Result<FireContext, RpcError> {
    let project = params.folder("project")?.or(header);
    let cwd = params.folder("cwd")?;
    let of_event = || Some(PathBuf::from(input?.get("cwd")?.as_str()?.into_owned()));
    let project = project.or_else(|| cwd.clone()).or_else(of_event).filter(|project| project.is_absolute());
    let project =
        project.ok_or_else(|| RpcError::params("project", "name the `project`, by its absolute path"))?;
    let cwd = cwd.unwrap_or_else(|| project.clone());
    let env = Arc::new(vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    Ok(FireContext { location: ConfigLocation::new(ConfigSource::Project(project), false), env, cwd })
}

/// The agent and the event of an address, and whether nothing follows them.
fn hook_path(path: &str) -> Option<(String, Option<String>, bool)> {
    let mut words = path.strip_prefix("/v1/hook/")?.split('/');
    let agent = words.next().filter(|agent| !agent.is_empty())?.to_owned();
    let event = words.next().filter(|event| !event.is_empty()).map(str::to_owned);
    Some((agent, event, words.next().is_none()))
}

/// A whole answer.
fn with_length(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

async fn read(body: Body, until: Instant) -> Result<Vec<u8>, Fault> {
    if body.size_hint().lower() > MAX_LINE as u64 {
        return Err(Fault(StatusCode::PAYLOAD_TOO_LARGE, format!("a body may have {MAX_LINE} bytes")));
    }
    match tokio::time::timeout_at(until, Limited::new(body, MAX_LINE).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Fault(StatusCode::PAYLOAD_TOO_LARGE, format!("a body may have {MAX_LINE} bytes")))
        }
        Ok(Err(error)) => Err(Fault(StatusCode::BAD_REQUEST, error.to_string())),
        Err(_) => Err(Fault(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time".to_owned())),
    }
}

fn reply(status: StatusCode, body: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    *reply.status_mut() = status;
    let json = hyper::header::HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
}
