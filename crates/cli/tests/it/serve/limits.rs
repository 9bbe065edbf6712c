//! What a client may not do, and what nobody may wait for.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, Home, stdio};
use crate::lab::{Lab, is_alive, is_written, wait_until};

#[test]
fn a_deadline_ends_what_runs_and_says_what_was_decided() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    let hooks = json!({"PreToolUse": [
        {"name": "say", "run": "/context \"seen\""},
        {"name": "slow", "command": format!("echo $$ > {}; sleep 60", lab.path("pid").display())},
        {"name": "never", "priority": 200, "run": "/deny \"never asked\""},
    ]});
    client.result("scope.enter", json!({"agent_id": "a", "hooks": hooks}));
    let fire = json!({"event": "PreToolUse", "deadline_ms": 1200,
        "input": {"tool_name": "X", "tool_input": {}, "agent_id": "a"}});
    let began = Instant::now();
    let answer = client.call("fire", fire);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["kind"]),
        (&json!(-32003), &json!("deadline"))
    );
    let outcome = &answer["error"]["data"]["outcome"];
    assert_eq!(outcome["context"], json!(["seen"]));
    let statuses: Vec<&Value> =
        outcome["reports"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["ok", "skipped", "skipped"]);
    let alive = client.passed.iter().filter(|line| line["method"] == "alive").count();
    assert!(alive >= 1, "{:?}", client.passed);
    let pid = lab.read("pid");
    wait_until("the hook is killed", || !is_alive(&pid));
}

#[test]
fn a_cancelled_fire_is_answered_and_its_hooks_end() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    let slow = json!({"Stop": [{"command": format!("echo $$ > {}; sleep 60", lab.path("pid").display())}]});
    client.result("scope.enter", json!({"agent_id": "a", "hooks": slow}));
    let id = client.ask("fire", json!({"event": "Stop", "input": {"agent_id": "a"}}));
    wait_until("the hook runs", || is_written(&lab.path("pid")));
    client.send(&json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": id}}));
    assert_eq!(client.answer(id)["error"]["code"], -32004);
    wait_until("the hook is killed", || !is_alive(&lab.read("pid")));
    // An id that is answered already: nothing happens.
    client.send(&json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": id}}));
    client.result("status", json!({}));
}

#[test]
fn closing_a_connection_ends_its_fires_and_not_what_is_in_the_background() {
    let mut home = Home::new();
    home.start();
    let mut client = home.connect();
    client.hello();
    let (pid, background) = (home.lab.path("pid"), home.lab.path("background"));
    let hooks = json!({"Stop": [
        {"name": "late", "background": true, "command": format!("sleep 1; echo done > {}", background.display())},
        {"name": "slow", "command": format!("echo $$ > {}; sleep 60", pid.display())},
    ]});
    client.result("scope.enter", json!({"agent_id": "a", "hooks": hooks}));
    client.ask("fire", json!({"event": "Stop", "input": {"agent_id": "a"}}));
    wait_until("the hook runs", || is_written(&pid));
    let pid = std::fs::read_to_string(&pid).unwrap();
    drop(client);
    wait_until("the hook is killed", || !is_alive(&pid));
    wait_until("the background hook is done", || is_written(&background));
}

#[test]
fn changes_are_seen_by_what_was_sent_after_them_and_by_nothing_before() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    let fire = |id: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "fire", "params": {"event": "PreToolUse",
            "input": {"tool_name": "Bash", "tool_input": {}, "agent_id": "a"}}})
        .to_string()
    };
    let deny = json!({"PreToolUse": [{"name": "no", "run": "/deny no"}]});
    let request = |id: &str, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    // All at once, without waiting for an answer.
    client.send_text(
        &[
            request("h", "hello", json!({"protocols": [1], "config": []})),
            fire("1"),
            request("e", "scope.enter", json!({"agent_id": "a", "hooks": deny})),
            fire("2"),
            request("d", "hook.disable", json!({"hook": "a/no"})),
            fire("3"),
            request("n", "hook.enable", json!({"hook": "a/no"})),
            fire("4"),
            request("l", "scope.leave", json!({"agent_id": "a"})),
            fire("5"),
        ]
        .join("\n"),
    );
    let mut decisions = vec![Value::Null; 6];
    for _ in 0..10 {
        let line = client.next();
        if let Some(at) = line["id"].as_str().and_then(|id| id.parse::<usize>().ok()) {
            decisions[at] = line["result"]["outcome"]["decision"].clone();
        }
    }
    assert_eq!(decisions[1..], [json!(null), json!("deny"), json!(null), json!("deny"), json!(null)]);
}

#[test]
fn connections_do_not_see_each_other() {
    let mut home = Home::new();
    home.start();
    let (mut one, mut other) = (home.connect(), home.connect());
    one.hello();
    other.hello();
    one.result("hook.register", json!({"name": "mine", "event": "PreToolUse", "on_error": "abort"}));
    assert_eq!(other.fire("ls")["reports"], json!([]));
    assert_eq!(other.result("hook.remove", json!({"hook": "mine"})), json!({"removed": false}));
    assert_eq!(other.code("hook.disable", json!({"hook": "mine"})), -32005);
    other.result("subscribe", json!({"all": true, "outcomes": true}));
    let id =
        one.ask("fire", json!({"event": "PreToolUse", "input": {"tool_name": "Secret", "tool_input": {}}}));
    let call = one.next();
    one.send(&json!({"jsonrpc": "2.0", "id": call["id"], "result": {"decision": "deny", "reason": "hush"}}));
    assert_eq!(one.answer(id)["result"]["outcome"]["reason"], "hush");
    loop {
        let line = other.next();
        assert!(!line.to_string().contains("hush"), "{line}");
        if line["method"] == "outcome" {
            assert_eq!(line["params"]["outcome"]["decision"], "deny");
            break;
        }
    }
}

#[test]
fn what_a_client_does_wrong_in_a_call_is_a_failure_of_its_hook() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result(
        "hook.register",
        json!({"name": "h", "event": "PreToolUse", "timeout_ms": 5000, "on_error": "abort"}),
    );
    let mut failure = |answer: &dyn Fn(&mut Client, &Value)| {
        let fire = json!({"event": "PreToolUse", "input": {"tool_name": "Bash", "tool_input": {}}});
        let id = client.ask("fire", fire);
        let call = client.next();
        answer(&mut client, &call["id"]);
        let outcome = client.answer(id)["result"]["outcome"].clone();
        assert_eq!(outcome["decision"], "deny");
        (
            outcome["reports"][0]["failure"]["kind"].as_str().unwrap().to_owned(),
            std::mem::take(&mut client.passed),
        )
    };
    let reply = |value: Value| {
        move |client: &mut Client, id: &Value| {
            client.send(&json!({"jsonrpc": "2.0", "id": id, "result": value}))
        }
    };
    assert_eq!(failure(&reply(json!({"descision": "allow"}))).0, "bad_output");
    assert_eq!(failure(&reply(json!(["deny"]))).0, "bad_output");
    assert_eq!(failure(&reply(json!({"reason": "x".repeat(2 << 20)}))).0, "oversize");
    assert_eq!(failure(&|client, _| client.send_text("{no json")).0, "bad_output");
    let (kind, said) = failure(&|_, _| ());
    assert_eq!(kind, "timeout");
    assert!(said.iter().any(|line| line["method"] == "cancel"), "{said:?}");
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_connection_lives() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    let out = client.out.as_mut().unwrap();
    for _ in 0..65 {
        out.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    out.write_all(b"\n").unwrap();
    let error = client.next();
    assert_eq!((&error["id"], &error["error"]["code"]), (&Value::Null, &json!(-32007)));
    client.result("status", json!({}));
}

#[test]
fn any_depth_and_any_digits_reach_the_hook() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    let saved = lab.path("saved");
    let hooks = json!({"PreToolUse": [{"command": format!("cat > {}", saved.display())}]});
    client.result("scope.enter", json!({"agent_id": "a", "hooks": hooks}));
    let deep =
        format!("{}12345678901234567890123456789012345678901.50{}", "[".repeat(5000), "]".repeat(5000));
    client.last += 1;
    let id = client.last;
    client.send_text(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"fire","params":{{"event":"PreToolUse","input":{{"tool_name":"X","agent_id":"a","tool_input":{{"deep":{deep}}}}}}}}}"#
    ));
    assert!(client.answer(id).get("result").is_some());
    assert!(std::fs::read_to_string(saved).unwrap().contains(&deep));
}

#[test]
fn a_client_that_never_reads_delays_nobody() {
    let mut home = Home::new();
    home.start();
    let mut deaf = UnixStream::connect(home.socket()).unwrap();
    deaf.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let big = "x".repeat(200_000);
    let mut text =
        json!({"jsonrpc": "2.0", "id": 0, "method": "hello", "params": {"protocols": [1], "config": []}})
            .to_string();
    text.push_str("\n{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"subscribe\",\"params\":{\"all\":true,\"outcomes\":true}}\n");
    let _ = deaf.write_all(text.as_bytes());
    for id in 1..400 {
        let fire = json!({"jsonrpc": "2.0", "id": id, "method": "fire", "params": {"event": "Stop", "input": {"x": big, "session_id": big}}});
        if deaf.write_all(format!("{fire}\n").as_bytes()).is_err() {
            break;
        }
    }
    let mut other = home.connect();
    other.hello();
    other.result("hook.register", json!({"name": "h", "event": "Stop"}));
    let began = Instant::now();
    for _ in 0..200 {
        other.fire("ls");
    }
    assert!(began.elapsed() < Duration::from_secs(10));
    let status = other.result("status", json!({}));
    assert!(status["rss_bytes"].as_u64().unwrap() < 400 << 20, "{status}");
}

#[test]
fn more_than_256_connections_and_one_that_says_nothing() {
    let mut home = Home::new();
    home.start();
    let silent = home.connect();
    let began = Instant::now();
    let hello = |mut client: Client| {
        client.hello();
        client
    };
    let mut all: Vec<Client> = (0..300).map(|_| hello(home.connect())).collect();
    assert_eq!(all[299].fire("ls")["decision"], Value::Null);
    assert!(all[0].result("status", json!({}))["connections"].as_u64().unwrap() >= 300);
    assert!(silent.is_hung_up() && began.elapsed() >= Duration::from_millis(4500));
}

#[test]
fn with_too_many_under_way_all_are_answered_in_the_end() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("hook.register", json!({"name": "h", "event": "Stop", "timeout_ms": 15000}));
    let ids: Vec<u64> = (0..150).map(|_| client.ask("fire", json!({"event": "Stop", "input": {}}))).collect();
    let mut answered = 0;
    while answered < ids.len() {
        let line = client.next();
        if line["method"] == "hook.call" {
            client.send(&json!({"jsonrpc": "2.0", "id": line["id"], "result": null}));
        } else {
            assert_eq!(line["result"]["outcome"]["reports"][0]["status"], "ok", "{line}");
            answered += 1;
        }
    }
}

#[test]
fn a_shutdown_waits_for_fires_unless_it_is_now() {
    for now in [false, true] {
        let lab = Lab::new();
        let (mut client, mut server) = stdio(&lab);
        client.hello();
        let hooks = json!({"Stop": [{"command": "sleep 1"}]});
        client.result("scope.enter", json!({"agent_id": "a", "hooks": hooks}));
        let fire = client.ask("fire", json!({"event": "Stop", "input": {"agent_id": "a"}}));
        let end = client.ask("shutdown", json!({"now": now}));
        let answer = client.answer(fire);
        assert_eq!(answer.get("result").is_some(), !now, "{answer}");
        assert_eq!(client.answer(end)["result"], json!({}));
        assert_eq!(server.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn fires_from_inside_calls_are_counted_and_denied_when_too_deep() {
    let lab = Lab::new();
    let (mut client, _server) = stdio(&lab);
    client.hello();
    client.result("hook.register", json!({"name": "again", "event": "PreToolUse"}));
    let mut fire = json!({"event": "PreToolUse", "input": {"tool_name": "Bash", "tool_input": {}}});
    let mut open = Vec::new();
    let last = loop {
        let id = client.ask("fire", fire.clone());
        let heard = client.next();
        if heard["method"] != "hook.call" {
            break heard;
        }
        assert!(open.len() < 10, "it never ends");
        fire["call"] = heard["id"].clone();
        open.push((id, heard["id"].clone()));
    };
    assert_eq!(open.len(), 4, "{last}");
    let outcome = &last["result"]["outcome"];
    assert_eq!((&outcome["decision"], &outcome["by_failure"]), (&json!("deny"), &json!(true)), "{last}");
    assert!(outcome["reason"].as_str().unwrap().contains("4 levels deep"), "{last}");
    for (id, call) in open.into_iter().rev() {
        client.send(&json!({"jsonrpc": "2.0", "id": call, "result": null}));
        assert_eq!(client.answer(id)["result"]["outcome"]["decision"], Value::Null);
    }
    // No call is open any more, and what is beside calls is not counted.
    assert_eq!(client.code("fire", fire.clone()), -32602);
    fire.as_object_mut().unwrap().remove("call");
    let beside: Vec<u64> = (0..10).map(|_| client.ask("fire", fire.clone())).collect();
    for _ in &beside {
        let call = client.next();
        client.send(&json!({"jsonrpc": "2.0", "id": call["id"], "result": null}));
    }
    for id in beside {
        assert_eq!(client.answer(id)["result"]["outcome"]["decision"], Value::Null);
    }
    // A client that a hook started.
    fire["env"] = json!({"CROSIER_DEPTH": "4"});
    assert_eq!(client.result("fire", fire)["outcome"]["by_failure"], true);
}
