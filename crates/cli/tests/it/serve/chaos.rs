//! Workers and daemons die at random while clients fire: every event is judged, and what the policy denies is denied.
//!
//! `CROSIER_CHAOS` is how many seconds it lasts (4).

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::Home;

/// It writes down every time that it begins.
const POLICY: &str = "
import os, time
def check(event):
    with open(os.environ['BEGUN'], 'a') as file:
        file.write(event['tool_input']['id'] + ' ' + os.environ.get('CROSIER_ATTEMPT', '1') + '\\n')
    time.sleep(0.005)
    if event['tool_input']['deny']: return {'decision': 'deny', 'reason': 'no'}
";

#[test]
fn nothing_slips_through_while_everything_dies() {
    let home = Home::with_policy();
    home.lab.write("project/policy.py", POLICY);
    let seconds = std::env::var("CROSIER_CHAOS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let (over, begun) = (AtomicBool::new(false), home.lab.path("begun"));
    let begun_path = begun.to_str().unwrap();
    let fired = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let (over, home) = (&over, &home);
                scope.spawn(move || {
                    let mut fired = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let (id, deny) = (format!("{client}-{}", fired.len()), fired.len() % 2 == 0);
                        let input = format!(r#"{{"id":"{id}","deny":{deny}}}"#);
                        let (outcome, _) = home.fire(&input, &[("BEGUN", begun_path)]);
                        assert_eq!(outcome["decision"] == "deny", deny, "{id}: {outcome}");
                        assert_eq!(outcome["reports"][0]["status"], "ok", "{id}: {outcome}");
                        fired.push(id);
                    }
                    fired
                })
            })
            .collect();
        // Now a worker dies, now the daemon.
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut round = 0_u64;
        while Instant::now() < until {
            round += 1;
            std::thread::sleep(Duration::from_millis(40 + round * 37 % 90));
            let Some(daemon) = home.pid() else { continue };
            let workers = children(daemon);
            let victim = if round.is_multiple_of(4) { Some(daemon) } else { workers.first().copied() };
            victim.into_iter().for_each(kill);
        }
        over.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let mut attempts: HashMap<&str, Vec<&str>> = HashMap::new();
    let text = std::fs::read_to_string(&begun).unwrap();
    for (id, attempt) in text.lines().filter_map(|line| line.split_once(' ')) {
        attempts.entry(id).or_default().push(attempt);
    }
    assert!(fired.len() > 8, "{}", fired.len());
    for id in &fired {
        let mine = attempts.get(id.as_str()).unwrap_or_else(|| panic!("{id} was never judged"));
        let firsts = mine.iter().filter(|attempt| **attempt == "1").count();
        assert!(firsts <= 1 && mine.len() <= 2, "{id} began {mine:?}");
    }
}

/// The same over open connections: the daemon judges, its workers die, and so does it.
#[test]
fn nothing_slips_through_open_connections_while_workers_and_daemons_die() {
    let mut home = Home::with_policy();
    home.lab.write("project/policy.py", POLICY);
    let hooks = home.lab.read("project/hooks.yaml");
    home.lab.write(
        "config/crosier/crosier.yaml",
        &hooks.replace("policy.check", "policy.check, python_path: [../../project]"),
    );
    home.start();
    let seconds = std::env::var("CROSIER_CHAOS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let (over, begun) = (AtomicBool::new(false), home.lab.path("begun"));
    let begun_path = begun.to_str().unwrap();
    let answers = AtomicUsize::new(0);
    let answered: Vec<(String, bool)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let (over, home, answers) = (&over, &home, &answers);
                scope.spawn(move || fire_over_connections(home, client, begun_path, over, answers))
            })
            .collect();
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut daemon = home.pid().unwrap();
        let mut started = Vec::new();
        let mut round = 0_usize;
        while Instant::now() < until {
            round += 1;
            // Some events are answered, and then something dies.
            let (wanted, patience) = (answers.load(Ordering::Relaxed) + 5 + round % 11, Instant::now());
            while answers.load(Ordering::Relaxed) < wanted && patience.elapsed() < Duration::from_secs(2) {
                std::thread::sleep(Duration::from_millis(3));
            }
            if round.is_multiple_of(5) {
                kill(daemon);
                let child = home.command(&["serve"]).spawn().unwrap();
                daemon = child.id();
                started.push(child);
            } else if let Some(&worker) = children(daemon).get(round % 3) {
                kill(worker);
            }
        }
        over.store(true, Ordering::Relaxed);
        let answered = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        for mut child in started {
            let _ = child.kill();
            let _ = child.wait();
        }
        answered
    });
    assert!(answered.iter().filter(|(_, allowed)| *allowed).count() > 8, "{}", answered.len());
    let text = std::fs::read_to_string(&begun).unwrap();
    let begun: std::collections::HashSet<&str> =
        text.lines().filter_map(|line| line.split(' ').next()).collect();
    for (id, _) in answered.iter().filter(|(_, allowed)| *allowed) {
        assert!(begun.contains(id.as_str()), "{id} was let through unjudged");
    }
}

/// Fires until it is over, on a new connection whenever one breaks. Which events were answered, and whether they were let
/// through; an event whose connection broke has no answer.
fn fire_over_connections(
    home: &Home,
    client: usize,
    begun: &str,
    over: &AtomicBool,
    answers: &AtomicUsize,
) -> Vec<(String, bool)> {
    let mut answered = Vec::new();
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        let Ok(stream) = UnixStream::connect(home.socket()) else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        let mut wire = BufReader::new(stream);
        let mut ask = |method: &str, params: Value| -> Option<Value> {
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            wire.get_mut().write_all(format!("{line}\n").as_bytes()).ok()?;
            loop {
                let mut line = String::new();
                wire.read_line(&mut line).ok().filter(|&read| read > 0)?;
                let line: Value = serde_json::from_str(&line).ok()?;
                if line.get("method").is_none() {
                    return Some(line["result"].clone());
                }
            }
        };
        let env = json!({"PATH": "/usr/local/bin:/usr/bin:/bin", "BEGUN": begun});
        let hello = json!({"protocols": [1], "project": home.lab.path("project"), "env": env});
        if ask("hello", hello).is_none() {
            continue;
        }
        while !over.load(Ordering::Relaxed) {
            number += 1;
            let (id, deny) = (format!("{client}-{number}"), number % 2 == 0);
            let input = json!({"tool_name": "Bash", "tool_input": {"id": id, "deny": deny}});
            let Some(result) = ask("fire", json!({"event": "PreToolUse", "input": input})) else { break };
            let outcome = &result["outcome"];
            // A worker that died is a failure, which denies here; what the policy denies is never let through.
            let denied = outcome["decision"] == "deny";
            assert!(denied || (!deny && outcome["reports"][0]["status"] == "ok"), "{id}: {result}");
            answered.push((id, !denied));
            answers.fetch_add(1, Ordering::Relaxed);
        }
    }
    answered
}

fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The processes that this one started.
fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}
