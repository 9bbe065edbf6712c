//! The address for agents that post their events.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use super::Home;
use crate::lab::{is_written, wait_until};

struct Web {
    home: Home,
    address: String,
    token: String,
}

impl Web {
    fn new() -> Self {
        let mut home = Home::new();
        let mut child: Child = home.command(&["serve", "--http", "127.0.0.1:0"]).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        home.daemon = Some(child);
        let address = url.trim().strip_prefix("http://").unwrap().to_owned();
        let token = home.lab.read("state/crosier/http.token").trim().to_owned();
        assert_eq!(home.lab.mode("state/crosier/http.token"), 0o600);
        Self { home, address, token }
    }

    /// Posts, with these headers instead of the usual ones; the status and the body.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut all = vec![
            ("Host", self.address.clone()),
            ("Authorization", format!("Bearer {}", self.token)),
            ("Content-Type", "application/json".to_owned()),
            ("Content-Length", body.len().to_string()),
        ];
        for (name, value) in headers {
            all.retain(|(other, _)| other != name);
            if !value.is_empty() {
                all.push((name, (*value).to_owned()));
            }
        }
        let head: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.raw(format!("{method} {path} HTTP/1.1\r\n{head}\r\n{body}").as_bytes())
    }

    fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(bytes);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(!answer.to_ascii_lowercase().contains("access-control"), "{answer}");
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.send("POST", path, &[], body);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }
}

#[test]
fn every_fault_has_its_status_and_on_a_hook_it_is_a_refusal() {
    let web = Web::new();
    let rpc = |headers: &[(&str, &str)]| web.send("POST", "/v1/rpc", headers, "{}").0;
    assert_eq!(rpc(&[("Authorization", "")]), 401);
    assert_eq!(rpc(&[("Authorization", "Bearer wrong")]), 401);
    assert_eq!(rpc(&[("Host", "example.org")]), 421);
    assert_eq!(rpc(&[("Origin", "http://example.org")]), 403);
    assert_eq!(rpc(&[("Origin", "null")]), 403);
    assert_eq!(rpc(&[("Content-Type", "text/plain")]), 415);
    assert_eq!(rpc(&[("Origin", &format!("http://{}", web.address))]), 200);
    assert_eq!(web.send("GET", "/v1/rpc", &[], "").0, 405);
    assert_eq!(web.send("POST", "/elsewhere", &[], "{}").0, 404);
    assert_eq!(rpc(&[("Content-Length", "99999999")]), 413);
    assert_eq!(web.send("POST", "/v1/hook/claude", &[("Authorization", "")], "{}").0, 401);
    let hook = "/v1/hook/claude/PreToolUse";
    for (headers, body) in [
        (&[("Content-Type", "text/plain")][..], "{}"),
        (&[("Content-Length", "99999999")], "{}"),
        (&[], "{no json"),
        (&[("Host", "example.org")], "{}"),
        (&[("Origin", "http://example.org")], "{}"),
        (&[("X-Crosier-Project", "/nowhere")], "{}"),
    ] {
        assert_refused(&web.send("POST", hook, headers, body), &format!("{headers:?}"));
    }
    assert_refused(&web.send("GET", hook, &[], ""), "GET");
    assert_refused(&web.send("POST", &format!("{hook}/more"), &[], "{}"), "a longer path");
    // Schemes and host names are the same in capitals.
    let port = web.address.rsplit_once(':').unwrap().1;
    assert_eq!(rpc(&[("Authorization", &format!("bearer {}", web.token))]), 200);
    assert_eq!(rpc(&[("Host", &format!("LocalHost:{port}"))]), 200);
}

#[track_caller]
fn assert_refused((status, body): &(u16, String), what: &str) {
    let said: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{what}: {status} {body}"));
    let decision = &said["hookSpecificOutput"]["permissionDecision"];
    assert_eq!((*status, decision), (200, &"deny".into()), "{what}");
}

#[test]
fn an_agent_posts_and_a_program_asks() {
    let web = Web::new();
    web.home.lab.write(
        "config/crosier/crosier.yaml",
        "hooks: {PreToolUse: [{name: no, matcher: Bash, run: '/deny \"not here\"'}]}",
    );
    let project = web.home.lab.path("project");
    let project = project.to_str().unwrap();
    let event = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": project,
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let (status, said) = web.post("/v1/hook/claude", &event.to_string());
    assert_eq!((status, &said["hookSpecificOutput"]["permissionDecision"]), (200, &"deny".into()), "{said}");
    let fire = serde_json::json!({"jsonrpc": "2.0", "id": 7, "method": "fire", "params": {"event": "PreToolUse",
        "project": project, "input": {"tool_name": "Bash", "tool_input": {}}}});
    let (status, said) = web.post("/v1/rpc", &fire.to_string());
    assert_eq!(
        (status, &said["id"], &said["result"]["outcome"]["by"]),
        (200, &7.into(), &"no".into()),
        "{said}"
    );
    for (method, params, code) in [
        ("hook.register", serde_json::json!({}), -32601),
        ("fire", serde_json::json!({"event": "Stop", "input": {}, "project": project, "env": {}}), -32602),
        ("fire", serde_json::json!({"event": "Stop", "input": {}}), -32602),
        ("fire", serde_json::json!({"event": "Stop", "input": {"cwd": "here"}}), -32602),
    ] {
        let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        assert_eq!(web.post("/v1/rpc", &request.to_string()).1["error"]["code"], code, "{method}");
    }
    // Without a project the event's own folder is it.
    let fire = serde_json::json!({"jsonrpc": "2.0", "id": 8, "method": "fire", "params": {"event": "PreToolUse",
        "input": {"tool_name": "Bash", "tool_input": {}, "cwd": project}}});
    assert_eq!(web.post("/v1/rpc", &fire.to_string()).1["result"]["outcome"]["by"], "no");
    let status = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "status"});
    assert_eq!(
        web.post("/v1/rpc", &status.to_string()).1["result"]["http"],
        format!("http://{}", web.address)
    );
}

#[test]
fn half_a_request_is_not_waited_for() {
    let web = Web::new();
    let head = |path: &str, token: &str| {
        let host = &web.address;
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n"
        )
    };
    let (hook, rpc) = ("/v1/hook/claude/PreToolUse", "/v1/rpc");
    let sent = [
        "POST /v1/rpc HTTP/1.1\r\nHost: x".to_owned(),
        head(rpc, &web.token),
        format!("{}\r\n{{", head(rpc, &web.token)),
        head(hook, "wrong"),
        head(hook, &web.token),
        format!("{}\r\n{{", head(hook, &web.token)),
    ];
    let answers: Vec<(u16, String)> = std::thread::scope(|scope| {
        let all: Vec<_> = sent.iter().map(|text| scope.spawn(|| web.raw(text.as_bytes()))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (answer, text) in answers.iter().zip(&sent).take(4) {
        assert_eq!(answer.0, 408, "{text}");
    }
    // Whoever has shown the token is an agent that waits for a decision.
    for (answer, text) in answers.iter().zip(&sent).skip(4) {
        assert_refused(answer, text);
    }
}

#[test]
fn what_is_no_http_is_a_refusal_too_once_the_token_is_read() {
    let web = Web::new();
    let event = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s",
        "cwd": web.home.lab.path("project"), "tool_name": "Bash", "tool_input": {}});
    let event = event.to_string();
    let sent = |path: &str, token: &str, broken: &str| {
        let (host, length) = (&web.address, event.len());
        let head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
        let kind = "Content-Type: application/json\r\n";
        let text = match broken {
            "version" => format!("{}{kind}\r\n{event}", head.replace("HTTP/1.1", "HTTP/9.9")),
            "empty lines" => format!("{kind}\r\n\r\n"),
            _ => format!("{head}{kind}{broken}Content-Length: {length}\r\n\r\n{event}"),
        };
        web.raw(text.as_bytes())
    };
    let long = format!("X: {}\r\n", "a".repeat(200_000));
    let many: String = (0..5000).map(|number| format!("X{number}: a\r\n")).collect();
    for broken in [
        &long,
        &many,
        "Content-Length: x\r\n",
        "Content-Length: 1\r\n",
        "nonsense\r\n",
        "X: \0\r\n",
        "version",
    ] {
        assert_refused(&sent("/v1/hook/claude", &web.token, broken), broken);
        for answer in [sent("/v1/hook/claude", "wrong", broken), sent("/v1/rpc", &web.token, broken)] {
            assert!((400..600).contains(&answer.0), "{broken:.20}: {answer:?}");
        }
    }
    // Lines may end without a carriage return.
    let head = format!(
        "POST /v1/hook/claude HTTP/1.1\nHost: {}\nAuthorization: Bearer {}\n",
        web.address, web.token
    );
    let text = format!("{head}Content-Type: application/json\nContent-Length: {}\n\n{event}", event.len());
    assert_eq!(web.raw(text.as_bytes()), (200, "{}".to_owned()));
}

#[test]
fn one_connection_too_many_is_told_so() {
    let web = Web::new();
    let idle = || TcpStream::connect(&web.address).unwrap();
    let mut held: Vec<TcpStream> = (0..64).map(|_| idle()).collect();
    // They were accepted in their order, before this one.
    assert_eq!(web.send("POST", "/v1/rpc", &[], "{}").0, 503);
    assert_refused(&web.send("POST", "/v1/hook/claude/PreToolUse", &[], "{}"), "65");
    held.extend((0..200).map(|_| idle()));
    assert_refused(&web.send("POST", "/v1/hook/claude/PreToolUse", &[], "{}"), "265");
    drop(held);
    wait_until("there is room again", || web.send("POST", "/v1/rpc", &[], "{}").0 == 200);
}

#[test]
fn a_shutdown_waits_for_an_agent_and_refuses_it_when_it_is_now() {
    for now in [false, true] {
        let mut web = Web::new();
        let ready = web.home.lab.path("ready");
        let command = format!("echo x > {}; sleep 2; echo allow-it >&2", ready.display());
        web.home.lab.write(
            "config/crosier/crosier.yaml",
            &format!("hooks: {{PreToolUse: [{{name: slow, command: '{command}', timeout: 20s}}]}}"),
        );
        let event = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": web.home.lab.path("project"), "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let mut client = web.home.connect();
        client.hello();
        let (answer, end) = std::thread::scope(|scope| {
            let posted = scope.spawn(|| web.send("POST", "/v1/hook/claude", &[], &event.to_string()));
            wait_until("the hook runs", || is_written(&ready));
            let end = client.call("shutdown", serde_json::json!({"now": now}));
            (posted.join().unwrap(), end)
        });
        assert_eq!(end["result"], serde_json::json!({}));
        if now {
            assert_refused(&answer, "now");
        } else {
            assert_eq!(answer, (200, "{}".to_owned()));
        }
        assert_eq!(web.home.daemon.take().unwrap().wait().unwrap().code(), Some(0));
    }
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let home = Home::new();
    for address in ["0.0.0.0:0", "192.168.1.1:80", "localhost:0", "127.0.0.1"] {
        let ran = home.command(&["serve", "--http", address]).output().unwrap();
        assert_eq!(ran.status.code(), Some(64), "{address}");
    }
}
