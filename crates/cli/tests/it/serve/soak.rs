//! Many fires over one connection: the server's memory stays as it is.
//!
//! `CROSIER_SOAK` is how many (20,000).

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::Home;

/// Fires this many events, half of them with a hook that the client answers; gives the server's memory then.
fn fire(wire: &mut BufReader<UnixStream>, count: usize) -> u64 {
    let event = |name: &str| {
        let input = json!({"tool_name": name, "tool_input": {"command": "ls -la"}});
        let fire = json!({"event": "PreToolUse", "input": input});
        json!({"jsonrpc": "2.0", "id": "f", "method": "fire", "params": fire}).to_string()
    };
    let events = [event("Read"), event("Bash")];
    for at in 0..count {
        send(wire, &events[at % 2]);
        let mut line = read(wire);
        if at % 2 == 1 {
            assert_eq!(line["method"], "hook.call", "{line}");
            send(wire, &json!({"jsonrpc": "2.0", "id": line["id"], "result": null}).to_string());
            line = read(wire);
        }
        assert!(line["result"]["outcome"].is_object(), "{line}");
    }
    send(wire, r#"{"jsonrpc":"2.0","id":"s","method":"status"}"#);
    read(wire)["result"]["rss_bytes"].as_u64().unwrap()
}

fn send(wire: &mut BufReader<UnixStream>, line: &str) {
    wire.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn read(wire: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    wire.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn memory_is_flat_over_many_fires() {
    let mut home = Home::new();
    home.start();
    let mut wire = BufReader::new(UnixStream::connect(home.socket()).unwrap());
    let hook = json!({"name": "h", "event": "PreToolUse", "matcher": "Bash"});
    for (method, params) in [("hello", json!({"protocols": [1], "config": []})), ("hook.register", hook)] {
        send(&mut wire, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string());
        assert!(read(&mut wire).get("result").is_some());
    }
    let count = std::env::var("CROSIER_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let before = fire(&mut wire, 2_000);
    let after = fire(&mut wire, count);
    // One leaked kilobyte per fire would be 20 MB.
    assert!(after < before + (4 << 20), "{before} bytes before, {after} after {count} fires");
}
