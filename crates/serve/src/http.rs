//! HTTP on loopback, for agents that post their events. One request a connection.
//!
//! On `/v1/hook/…`, once the token is right, every fault is a 200 with that agent's refusal: an agent lets the tool run
//! on any other status.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
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
use crate::error::{ErrorKind, RpcError};
use crate::host::{HookRequest, Place, Where};
use crate::message::{self, Incoming};
use crate::method::{self, FireParams};
use crate::params::Params;
use crate::server::Server;
use crate::view::{Site, View};

/// How long a whole request may take to arrive.
const REQUEST_WITHIN: Duration = Duration::from_secs(10);
/// The most requests at once; as many again are heard, and told that there are too many.
const MAX_CONNECTIONS: usize = 64;
/// The longest head of a request.
const MAX_HEAD: usize = 32 * 1024;

/// A loopback address and its port; 0 is any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpAddress(SocketAddr);

impl FromStr for HttpAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "an address is 127.0.0.1:PORT or [::1]:PORT; port 0 is any";
        let address: SocketAddr = text.parse().map_err(|_| wanted.to_owned())?;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => Ok(Self(address)),
            IpAddr::V6(ip) if ip.is_loopback() => Ok(Self(address)),
            _ => Err(format!("{} can be reached from elsewhere; {wanted}", address.ip())),
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
    let (served, heard) =
        (Arc::new(Semaphore::new(MAX_CONNECTIONS)), Arc::new(Semaphore::new(2 * MAX_CONNECTIONS)));
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
        match tokio::time::timeout_at(until, whole_head(&stream)).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => {
                let late = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
                let _ = stream.write_all(late).await;
                // What was sent and not read would take the answer away with it.
                let _ = stream.try_read(&mut vec![0; MAX_HEAD]);
                let _ = stream.shutdown().await;
                return;
            }
        }
        let answer = hyper::service::service_fn(move |request| {
            let service = Arc::clone(&self);
            async move { Ok::<_, std::convert::Infallible>(service.answer(request, too_many, until).await) }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.keep_alive(false).max_buf_size(MAX_HEAD * 2);
        let _ = http.serve_connection(TokioIo::new(stream), answer).await;
    }

    async fn answer(&self, request: Request<Body>, too_many: bool, until: Instant) -> Reply {
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
            // Whoever has the token is an agent that waits for a decision.
            (Some((agent, event)), body) if may => {
                let body = body.map_err(|Fault(_, why)| why);
                let server = Arc::clone(&self.server);
                let request = HookRequest { agent, event, project, body };
                let answered = tokio::task::spawn_blocking(move || server.host().hook(&request)).await;
                reply(StatusCode::OK, answered.map(|answer| answer.body).unwrap_or_default())
            }
            (_, Err(Fault(status, why))) => {
                reply(status, format!("{{\"error\":{}}}", Json::from(why).text()))
            }
            (_, Ok(body)) => reply(StatusCode::OK, self.rpc(&body, project).await),
        }
    }

    /// The first thing that is wrong with the head of a request.
    fn fault(&self, request: &Request<Body>, path: &str, may: bool, too_many: bool) -> Option<Fault> {
        let headers = request.headers();
        let text =
            |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
        let is_mine = |host: &str| self.names().iter().any(|name| name == host);
        let fault = |status, why: &str| Some(Fault(status, why.to_owned()));
        if !text(HOST).is_some_and(is_mine) {
            return fault(StatusCode::MISDIRECTED_REQUEST, "this is not the address of this server");
        }
        let origin =
            headers.get(ORIGIN).map(|_| text(ORIGIN).and_then(|origin| origin.strip_prefix("http://")));
        if origin.is_some_and(|origin| !origin.is_some_and(is_mine)) {
            return fault(StatusCode::FORBIDDEN, "web pages are not served");
        }
        if hook_path(path).is_none() && path != "/v1/rpc" {
            return fault(StatusCode::NOT_FOUND, "there is /v1/hook/AGENT[/EVENT] and /v1/rpc");
        }
        if request.method() != Method::POST {
            return fault(StatusCode::METHOD_NOT_ALLOWED, "the method is POST");
        }
        if !may {
            return fault(StatusCode::UNAUTHORIZED, "the token is missing or wrong: Authorization: Bearer …");
        }
        if too_many {
            return fault(StatusCode::SERVICE_UNAVAILABLE, "there are too many requests at once");
        }
        let kind = text(CONTENT_TYPE).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            return fault(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type is application/json");
        }
        None
    }

    fn names(&self) -> [String; 3] {
        ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port))
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
        let given = given.strip_prefix(b"Bearer ").unwrap_or_default();
        let token = self.token.as_bytes();
        // Compare in constant time.
        let differs = token.iter().zip(given).fold(0, |differs, (one, other)| differs | (one ^ other));
        token.len() == given.len() && differs == 0
    }

    /// One request of the protocol, alone.
    async fn rpc(&self, body: &[u8], project: Option<PathBuf>) -> String {
        let (id, result) = match message::read(body) {
            Ok(Incoming::Request { id, method, params }) => {
                (Some(id), self.method(&method, params.as_ref(), project).await)
            }
            Ok(_) => (
                None,
                Err(RpcError::new(ErrorKind::Request, "send one request, with a `method` and an `id`")),
            ),
            Err((id, error)) => (id, Err(error)),
        };
        let id = id.map_or_else(|| "null".to_owned(), |id| id.to_string());
        match result {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.to_json()),
        }
    }

    async fn method(&self, method: &str, params: Option<&Json>, project: Option<PathBuf>) -> MethodResult {
        let server = &self.server;
        match method {
            "status" => method::status(server, params),
            "events" => {
                Params::read(params, &[])?;
                Ok(server.host().events().text().to_owned())
            }
            "fire" | "recheck" => {
                let mut params = Params::read(params, &["event", "input", "project", "cwd", "deadline_ms"])?;
                let fire = FireParams::read(&mut params)?;
                let site = site(&mut params, project)?;
                let place = site.place.clone();
                let began = std::time::Instant::now();
                let ready = View::default().engine(&site, server, &std::sync::Weak::new(), false)?;
                let event = fire.event(&ready.engine)?;
                let until = fire.deadline.and_then(|limit| began.checked_add(limit));
                let under_way = server.begin_fire();
                let judged = method::judge(ready.engine, event.clone(), method == "recheck", until).await;
                let (Ok(outcome) | Err(outcome)) = &judged;
                server.host().fired(&place, &event, outcome, began.elapsed());
                drop(under_way);
                method::answer_of(&judged)
            }
            "explain" => {
                let mut params = Params::read(params, &["event", "tool", "agent_id", "project"])?;
                let site = site(&mut params, project)?;
                let ready = View::default().engine(&site, server, &std::sync::Weak::new(), false)?;
                method::explain(server.host(), &ready.engine, &mut params)
            }
            other => Err(method::unknown(other)),
        }
    }
}

fn site(params: &mut Params, header: Option<PathBuf>) -> Result<Site, RpcError> {
    let project = params.folder("project")?.or(header).filter(|project| project.is_absolute());
    let project =
        project.ok_or_else(|| RpcError::params("project", "name the `project`, by its absolute path"))?;
    let cwd = params.folder("cwd")?.unwrap_or_else(|| project.clone());
    let env = Arc::new(vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    Ok(Site { place: Place::new(Where::Project(project), false), env, cwd })
}

/// The agent and the event of an address.
fn hook_path(path: &str) -> Option<(String, Option<String>)> {
    let mut words = path.strip_prefix("/v1/hook/")?.split('/');
    let agent = words.next().filter(|agent| !agent.is_empty())?.to_owned();
    let event = words.next().filter(|event| !event.is_empty()).map(str::to_owned);
    words.next().is_none().then_some((agent, event))
}

/// Waits until the head of a request is there. False when the client is gone, or the head is too long.
async fn whole_head(stream: &TcpStream) -> bool {
    let mut head = vec![0; MAX_HEAD];
    loop {
        match stream.peek(&mut head).await {
            Ok(0) | Err(_) => return false,
            Ok(count)
                if head.get(..count).is_some_and(|head| head.windows(4).any(|four| four == b"\r\n\r\n")) =>
            {
                return true;
            }
            // hyper says what is wrong with it.
            Ok(count) if count == head.len() => return true,
            Ok(_) => tokio::time::sleep(Duration::from_millis(2)).await,
        }
    }
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
