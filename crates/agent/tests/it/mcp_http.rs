//! MCP tools over streamable HTTP, with a real server process and with servers that misbehave.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crosier::Json;
use crosier_agent::mcp::{Handshake, McpServerConfig, McpTransport};
use crosier_agent::tool::ToolContext;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::mcp::{ECHO, Place, call, text, tool};
use crate::tools_bash::soon;

/// The server as a process, killed at the end.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    fn start(port: &str, more: &[&str]) -> Self {
        let mut child =
            Command::new(&*ECHO).args(["--http", port]).args(more).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn port(&self) -> String {
        self.url.rsplit_once(':').unwrap().1.trim_end_matches("/mcp").to_owned()
    }

    fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn tools_are_listed_and_called_over_http() {
    let server = Listening::start("0", &[]);
    let place = Place::new();
    // By name, too: a static program must be able to look names up.
    let by_name = server.url.replace("127.0.0.1", "localhost");
    let servers = place
        .start(&[McpServerConfig::http("web", &server.url), McpServerConfig::http("name", by_name)])
        .await;
    assert_eq!(servers.failures(), []);
    assert_eq!(servers.tools().count(), 22);
    assert_eq!(text(&tool(&servers, "mcp__web__echo"), json!({"text": "hi"})).await, "hi");
    assert_eq!(text(&tool(&servers, "mcp__name__echo"), json!({"text": "hi"})).await, "hi");
    let error = call(&tool(&servers, "mcp__web__fail"), json!({})).await.unwrap_err();
    assert_eq!(error.message, "it did not work");
    let error = call(&tool(&servers, "mcp__web__refuse"), json!({})).await.unwrap_err();
    assert_eq!(error.message, "MCP server `web`, tool `refuse`: it refused: refused: refuse");
    let flood = text(&tool(&servers, "mcp__web__flood"), json!({})).await;
    assert!(flood.contains("bytes left out]"));
    servers.close().await;
}

#[tokio::test]
async fn both_handshakes_work_over_http() {
    let place = Place::new();
    for (args, handshake) in [(vec![], Handshake::Discover), (vec!["--modern"], Handshake::Auto)] {
        let server = Listening::start("0", &args);
        let config = McpServerConfig { handshake, ..McpServerConfig::http("web", &server.url) };
        let servers = place.start(&[config]).await;
        assert_eq!(servers.failures(), [], "{args:?}");
        assert_eq!(text(&tool(&servers, "mcp__web__echo"), json!({"text": "hi"})).await, "hi");
        servers.close().await;
    }
}

#[tokio::test]
async fn a_server_that_was_restarted_is_found_again() {
    let mut server = Listening::start("0", &[]);
    let place = Place::new();
    let servers = place.start(&[McpServerConfig::http("web", &server.url)]).await;
    let echo = tool(&servers, "mcp__web__echo");
    assert_eq!(text(&echo, json!({"text": "1"})).await, "1");
    server.stop();
    let error = call(&echo, json!({"text": "2"})).await.unwrap_err();
    assert!(error.message.starts_with("MCP server `web`, tool `echo`: it "), "{error}");
    let again = Listening::start(&server.port(), &[]);
    assert_eq!(again.url, server.url);
    assert_eq!(text(&echo, json!({"text": "3"})).await, "3");
    servers.close().await;
}

#[tokio::test]
async fn a_late_call_over_http_is_cancelled_at_the_server() {
    let server = Listening::start("0", &[]);
    let place = Place::new();
    let servers = place.start(&[McpServerConfig::http("web", &server.url)]).await;
    let file = place.folder.path().join("cancelled");
    let input = Json::from(json!({"seconds": 60, "cancelled": file}));
    let context = ToolContext::new("/", Duration::from_millis(500));
    let error = tool(&servers, "mcp__web__wait").run(&input, &context).await.unwrap_err();
    assert!(error.message.ends_with("it did not answer within 500ms"), "{error}");
    assert!(soon(|| file.exists()).await);
    servers.close().await;
}

/// Answers every connection with the same bytes, and gives back what it was sent first.
async fn canned(answer: &'static str) -> (String, tokio::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let count = stream.read(&mut request).await.unwrap_or(0);
            let _ = sender.try_send(String::from_utf8_lossy(&request[..count]).into_owned());
            let _ = stream.write_all(answer.as_bytes()).await;
            if answer.is_empty() {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
        }
    });
    (url, receiver)
}

async fn failure(config: McpServerConfig) -> String {
    let place = Place::new();
    let servers = place.start(&[config]).await;
    assert_eq!(servers.tools().count(), 0);
    servers.failures()[0].to_string()
}

#[tokio::test]
async fn headers_are_sent_and_redirects_are_not_followed() {
    let (elsewhere, mut stolen) = canned("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let redirect =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
    let (url, mut requests) = canned(redirect.leak()).await;
    let headers =
        vec![("Authorization".to_owned(), "Bearer s3cret".to_owned()), ("X-Team".to_owned(), "a".to_owned())];
    let why = failure(McpServerConfig::new("web", McpTransport::Http { url, headers })).await;
    assert!(why.contains("it could not be reached") && !why.contains("s3cret"), "{why}");
    let request = requests.recv().await.unwrap().to_lowercase();
    assert!(request.contains("authorization: bearer s3cret") && request.contains("x-team: a"), "{request}");
    assert!(stolen.try_recv().is_err(), "nothing goes to another server");
}

#[tokio::test]
async fn http_servers_that_misbehave_are_left_out() {
    let (url, _requests) =
        canned("HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\n\r\n").await;
    let why = failure(McpServerConfig::http("web", url)).await;
    assert!(why.starts_with("MCP server `web`: it could not be reached"), "{why}");
    let (url, _requests) =
        canned("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\n<hi>").await;
    let why = failure(McpServerConfig::http("web", url)).await;
    assert!(why.contains("it could not be reached"), "{why}");
    let (url, _requests) = canned("not http at all").await;
    let why = failure(McpServerConfig::http("web", url)).await;
    assert!(why.contains("it could not be reached"), "{why}");
    let (url, _requests) = canned("").await;
    let silent =
        McpServerConfig { start_timeout: Duration::from_millis(500), ..McpServerConfig::http("web", url) };
    assert_eq!(failure(silent).await, "MCP server `web`: it did not answer within 500ms");
    let why = failure(McpServerConfig::http("web", "http://127.0.0.1:1/mcp")).await;
    assert!(why.contains("it could not be reached"), "{why}");
}

#[tokio::test]
async fn addresses_and_headers_that_are_none_are_refused() {
    assert!(failure(McpServerConfig::http("web", "nonsense")).await.contains("its address is not valid"));
    assert!(
        failure(McpServerConfig::http("web", "file:///etc/passwd")).await.contains("begins with `file:`")
    );
    let bad = |name: &str, value: &str| {
        let headers = vec![(name.to_owned(), value.to_owned())];
        McpServerConfig::new("web", McpTransport::Http { url: "http://x/".to_owned(), headers })
    };
    assert!(failure(bad("a b", "x")).await.contains("has a name that cannot be sent"));
    assert!(failure(bad("a", "x\r\ny: z")).await.contains("has a value that cannot be sent"));
}
