//! Sentences of the protocol that are easily broken: who is answered, in which order, and what still counts.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, Home, PATIENCE, stdio};
use crate::lab::{Lab, is_written, wait_until};

fn request(id: u64, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn bash(agent: &str) -> Value {
    json!({"event": "PreToolUse", "input": {"tool_name": "Bash", "tool_input": {}, "agent_id": agent}})
}

#[test]
fn what_was_sent_after_a_hello_that_failed_is_answered_too() {
    let mut home = Home::new();
    home.start();
    let mut client = home.connect();
    let fire = json!({"event": "Stop", "input": {}});
    // One line after the other, without waiting for an answer.
    for line in [
        request(1, "hello", json!({"protocols": [2, 3], "config": []})),
        request(2, "status", json!({})),
        request(3, "fire", fire),
        request(4, "hello", json!({"protocols": [1], "config": []})),
    ] {
        client.send_text(&line);
    }
    let error = client.answer(1)["error"].clone();
    assert_eq!((&error["code"], &error["data"]["protocols"]), (&json!(-32001), &json!([1])));
    for id in 2..=4 {
        assert_eq!(client.answer(id)["error"]["code"], -32002);
    }
    assert!(client.is_hung_up());
}

#[test]
fn a_denial_before_the_deadline_counts() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    let deny = r#"printf '{"decision":"deny","reason":"no"}'"#;
    let beside = json!({"PreToolUse": [
        {"name": "denies", "parallel": true, "command": deny},
        {"name": "hangs", "parallel": true, "command": "sleep 60"},
    ]});
    let written = json!({"PreToolUse": [{"name": "denies", "command": format!("{deny}; sleep 60")}]});
    for (agent, hooks) in [("beside", beside), ("written", written)] {
        client.result("scope.enter", json!({"agent_id": agent, "hooks": hooks}));
        let mut fire = bash(agent);
        fire["deadline_ms"] = json!(1500);
        let error = client.call("fire", fire)["error"].clone();
        assert_eq!(error["code"], -32003, "{agent}");
        let outcome = &error["data"]["outcome"];
        assert_eq!(
            (&outcome["decision"], &outcome["reason"]),
            (&json!("deny"), &json!("no")),
            "{agent}: {error}"
        );
    }
}

#[test]
fn what_was_decided_when_the_deadline_passed_is_no_outcome() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("subscribe", json!({"messages": false, "outcomes": true}));
    let hooks = json!({"PreToolUse": [{"name": "hangs", "command": "sleep 60", "on_error": "abort"}]});
    client.result("scope.enter", json!({"agent_id": "a", "hooks": hooks}));
    let mut fire = bash("a");
    fire["deadline_ms"] = json!(300);
    assert_eq!(client.code("fire", fire), -32003);
    // The next outcome is the first one.
    client.result("fire", bash("b"));
    let told: Vec<_> = client.passed.iter().filter(|line| line["method"] == "outcome").collect();
    assert!(matches!(told[..], [one] if one["params"]["agent_id"] == "b"), "{told:?}");
}

#[test]
fn a_project_whose_hooks_are_not_trusted_is_told() {
    let mut home = Home::new();
    home.lab.write("project/crosier.yaml", "hooks: {PreToolUse: [{name: no, run: '/deny x'}]}");
    home.start();
    let mut client = home.connect();
    let project = home.lab.path("project");
    client.hello();
    let fire =
        json!({"event": "PreToolUse", "input": {"tool_name": "Bash", "tool_input": {}}, "project": project});
    let error = client.call("fire", fire.clone())["error"].clone();
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32006), &json!("untrusted")), "{error}");
    assert!(error["message"].as_str().unwrap().contains("not trusted"), "{error}");
    assert!(error["data"]["problems"][0]["message"].as_str().unwrap().contains("crosier trust"), "{error}");
    // Hooks that are in force decide, and the project is told beside the outcome.
    client.result("hook.register", json!({"name": "own", "event": "Stop"}));
    let result = client.result("fire", fire);
    assert_eq!(result["outcome"]["decision"], Value::Null);
    assert!(result["problems"][0]["message"].as_str().unwrap().contains("crosier trust"), "{result}");
    // A place without any configuration is no problem.
    let here = json!({"event": "Stop", "input": {}, "project": home.lab.path("other")});
    std::fs::create_dir(home.lab.path("other")).unwrap();
    client.result("hook.remove", json!({"hook": "own"}));
    assert!(client.result("fire", here).get("problems").is_none());
}

#[test]
fn an_answer_that_is_none_ends_its_call_and_a_denial_in_it_counts() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("hook.register", json!({"name": "h", "event": "PreToolUse", "on_error": "log"}));
    let deny = r#"{"decision":"deny","reason":"no"}"#;
    for (answer, denies) in [
        (r#"{"jsonrpc":"2.0","id":ID}"#.to_owned(), false),
        (r#"{"jsonrpc":"2.0"}[]"#.to_owned(), false),
        ("[]".to_owned(), false),
        (format!(r#"{{"id":ID,"result":{deny}}}"#), true),
        (format!(r#"{{"jsonrpc":"1.0","id":ID,"result":{deny}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":ID,"result":null,"result":{deny}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{deny},"error":{{"code":1,"message":"m"}}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","id":ID,"method":"m","result":{deny}}}"#), true),
        (format!(r#"{{"jsonrpc":"2.0","result":{deny}}}"#), true),
        (format!(r#"[{{"jsonrpc":"2.0","id":ID,"result":{deny}}}]"#), true),
    ] {
        let fire = client.ask("fire", bash(""));
        let call = loop {
            let line = client.next();
            if line["method"] == "hook.call" {
                break line;
            }
        };
        client.send_text(&answer.replace("ID", &call["id"].to_string()));
        let outcome = client.answer(fire)["result"]["outcome"].clone();
        assert_eq!(outcome["reports"][0]["failure"]["kind"], "bad_output", "{answer}: {outcome}");
        let expected = if denies { json!("deny") } else { Value::Null };
        assert_eq!(outcome["decision"], expected, "{answer}: {outcome}");
    }
    // A denial that is too large counts as well.
    let fire = client.ask("fire", bash(""));
    let call = loop {
        let line = client.next();
        if line["method"] == "hook.call" {
            break line;
        }
    };
    let reply = json!({"decision": "deny", "reason": "x".repeat(2 << 20)});
    client.send(&json!({"jsonrpc": "2.0", "id": call["id"], "result": reply}));
    let outcome = client.answer(fire)["result"]["outcome"].clone();
    assert_eq!(
        (&outcome["decision"], &outcome["reports"][0]["failure"]["kind"]),
        (&json!("deny"), &json!("oversize"))
    );
}

#[test]
fn a_registered_hook_may_have_the_name_of_one_in_a_file_that_the_host_named() {
    let lab = Lab::new();
    let file = lab.write("named.yaml", "hooks: {PreToolUse: [{name: no, run: '/deny \"named\"'}]}");
    let (mut client, _server) = stdio(&lab);
    client.result("hello", json!({"protocols": [1], "config": [file], "cwd": "/"}));
    let register = json!({"name": "no", "event": "PreToolUse"});
    assert_eq!(client.result("hook.register", register.clone()), json!({"hook": "host:no"}));
    assert_eq!(client.code("hook.register", register), -32005);
    assert_eq!(client.result("hook.disable", json!({"hook": "host:no"})), json!({"enabled": false}));
    assert_eq!(client.fire("ls")["reason"], "named");
    // Also when the file gets a hook of this name later, or loses it.
    lab.write("named.yaml", "hooks: {PreToolUse: [{name: other, run: '/deny \"other\"'}]}");
    assert_eq!(client.fire("ls")["reason"], "other");
    lab.write("named.yaml", "hooks: {PreToolUse: [{name: no, run: '/deny \"again\"'}]}");
    assert_eq!(client.fire("ls")["reason"], "again");
    assert_eq!(client.result("hook.remove", json!({"hook": "host:no"})), json!({"removed": true}));
}

#[test]
fn no_news_of_a_cancelled_fire_come_after_its_answer() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("subscribe", json!({"outcomes": true}));
    let ready = lab.path("ready");
    let command = format!("echo said; : > {}; echo x > {}; sleep 60", ready.display(), ready.display());
    client.result("scope.enter", json!({"agent_id": "a", "hooks": {"PreToolUse": [{"command": command}]}}));
    for _ in 0..5 {
        let _ = std::fs::remove_file(&ready);
        let id = client.ask("fire", bash("a"));
        wait_until("the hook runs", || is_written(&ready));
        client.send(&json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": id}}));
        assert_eq!(client.answer(id)["error"]["code"], -32004);
        let said = std::mem::take(&mut client.passed);
        let ended = |line: &Value| line["params"]["message"]["subtype"] == "hook_response";
        assert!(said.iter().any(ended), "{said:?}");
        client.result("status", json!({}));
        assert!(client.passed.is_empty(), "{:?}", client.passed);
    }
}

#[test]
fn only_what_takes_time_can_be_cancelled() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("hook.register", json!({"name": "h", "event": "Stop"}));
    let fires: Vec<u64> =
        (0..70).map(|_| client.ask("fire", json!({"event": "Stop", "input": {}}))).collect();
    let waiting = client.ask("hook.register", json!({"name": "later", "event": "Setup"}));
    for id in [waiting, fires[69]] {
        client.send(&json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": id}}));
    }
    let (mut answered, mut registered) = (0, false);
    while answered < fires.len() || !registered {
        let line = client.next();
        if line["method"] == "hook.call" {
            client.send(&json!({"jsonrpc": "2.0", "id": line["id"], "result": null}));
        } else if line["id"] == waiting {
            assert_eq!(line["result"], json!({"hook": "later"}));
            registered = true;
        } else {
            assert_eq!(line["error"]["code"] == -32004, line["id"] == fires[69], "{line}");
            answered += 1;
        }
    }
}

#[test]
fn a_call_says_how_long_it_is_waited_for() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("hook.register", json!({"name": "h", "event": "Stop", "timeout_ms": 5000}));
    client.result("hook.register", json!({"name": "default", "event": "Setup"}));
    let mut told = |event: &str, deadline: Value| {
        let input = json!({"trigger": "init"});
        let id = client.ask("fire", json!({"event": event, "input": input, "deadline_ms": deadline}));
        let call = client.next();
        client.send(&json!({"jsonrpc": "2.0", "id": call["id"], "result": null}));
        client.answer(id);
        call["params"]["deadline_ms"].as_u64().unwrap()
    };
    assert_eq!(told("Stop", Value::Null), 5000);
    assert_eq!(told("Setup", Value::Null), 30000);
    assert!(told("Stop", json!(2000)) <= 2000);
}

#[test]
fn a_line_that_is_too_long_for_an_answer_is_an_oversize_failure() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("hook.register", json!({"name": "h", "event": "Stop", "on_error": "abort"}));
    let id = client.ask("fire", json!({"event": "Stop", "input": {}}));
    assert_eq!(client.next()["method"], "hook.call");
    client.send_text(&"x".repeat((64 << 20) + 1));
    let outcome = client.answer(id)["result"]["outcome"].clone();
    assert_eq!(outcome["reports"][0]["failure"]["kind"], "oversize", "{outcome}");
}

#[test]
fn a_server_that_shuts_down_still_hears_the_answers_that_fires_wait_for() {
    let mut home = Home::new();
    home.start();
    let (mut host, mut other) = (home.connect(), home.connect());
    host.hello();
    other.hello();
    host.result("hook.register", json!({"name": "h", "event": "PreToolUse", "on_error": "abort"}));
    let fire = host.ask("fire", bash("a"));
    let call = host.next();
    let end = other.ask("shutdown", json!({}));
    // From now on requests are refused, also on the connection that has a fire under way.
    let refused = |client: &mut Client| {
        let error = client.call("status", json!({}))["error"].clone();
        (error["code"].clone(), error["data"]["kind"].clone())
    };
    let over = Instant::now() + PATIENCE;
    while refused(&mut host) != (json!(-32009), json!("shutting_down")) {
        assert!(Instant::now() < over, "it does not shut down");
    }
    let mut late = home.connect();
    let hello = late.ask("hello", json!({"protocols": [1], "config": []}));
    assert_eq!(late.answer(hello)["error"]["code"], -32009);
    assert!(late.is_hung_up());
    host.send(
        &json!({"jsonrpc": "2.0", "id": call["id"], "result": {"decision": "deny", "reason": "in time"}}),
    );
    assert_eq!(host.answer(fire)["result"]["outcome"]["reason"], "in time");
    assert_eq!(other.answer(end)["result"], json!({}));
    assert!(host.is_hung_up());
    assert_eq!(home.daemon.take().unwrap().wait().unwrap().code(), Some(0));
}

#[test]
fn a_client_that_sends_nonsense_and_does_not_read_is_not_read_either() {
    let mut home = Home::new();
    home.start();
    let mut flood = UnixStream::connect(home.socket()).unwrap();
    flood.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let piece = b"x\n".repeat(32 * 1024);
    // 64 MB of it would be answered with gigabytes.
    let stopped = (0..1024).any(|_| flood.write_all(&piece).is_err());
    assert!(stopped, "all of it was taken");
    // When it reads, it is served again.
    flood.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut answers = vec![0; 1 << 20];
    flood.read_exact(&mut answers).unwrap();
    assert!(String::from_utf8_lossy(&answers).contains("-32700"));
}

#[test]
fn a_registered_hook_may_have_the_name_of_a_configured_one() {
    let mut home = Home::new();
    let config = |reason: &str| format!("hooks: {{PreToolUse: [{{name: no, run: '/deny \"{reason}\"'}}]}}");
    home.lab.write("config/crosier/crosier.yaml", &config("configured"));
    home.start();
    let mut client = home.connect();
    client.result("hello", json!({"protocols": [1], "project": home.lab.path("project")}));
    let register = json!({"name": "no", "event": "PreToolUse"});
    assert_eq!(client.result("hook.register", register), json!({"hook": "host:no"}));
    assert_eq!(client.result("hook.disable", json!({"hook": "host:no"})), json!({"enabled": false}));
    let plan = |client: &mut Client| {
        let explained = client.result("explain", json!({"event": "PreToolUse", "tool": "Bash"}));
        let hooks = explained["plan"].as_array().unwrap().clone();
        hooks.iter().map(|hook| hook["hook"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(plan(&mut client), ["user:no"]);
    // Also when the configuration was read again.
    home.lab.write("config/crosier/crosier.yaml", &config("another"));
    assert_eq!(client.fire("ls")["reason"], "another");
    assert_eq!(plan(&mut client), ["user:no"]);
    client.result("hook.enable", json!({"hook": "no"}));
    assert_eq!(plan(&mut client), ["host:no", "user:no"]);
    assert_eq!(client.result("hook.remove", json!({"hook": "host:no"})), json!({"removed": true}));
    let left = plan(&mut client);
    assert!(matches!(&left[..], [no] if no == "no" || no == "user:no"), "{left:?}");
}
