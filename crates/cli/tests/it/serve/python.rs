//! Borrowed workers: the same outcome with and without a daemon, whatever happens on the way.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::Home;
use super::daemon::CONFIG;

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// What must be the same: everything but times and ids.
fn plain(mut outcome: Value) -> Value {
    for report in outcome["reports"].as_array_mut().unwrap() {
        report["duration_ms"] = Value::Null;
    }
    outcome
}

#[test]
fn the_outcome_is_the_same_with_and_without_a_daemon() {
    let (with, without) = (Home::with_policy(), Home::with_policy());
    let code = "
import os, sys
def look(event, context):
    kind = event['tool_input'].get('kind')
    if kind == 'env': return {'decision': 'deny', 'reason': ' '.join(f'{k}={v}' for k, v in sorted(os.environ.items()) if k.startswith('T_'))}
    if kind == 'raise': raise ValueError(event['tool_input'].get('text'))
    if kind == 'rewrite': return {'updated_input': {'text': 'new', 'kind': 'x'}}
    if kind == 'context': return {'additionalContext': str(event['tool_input'].get('text'))}
    if kind == 'nonsense': return {'decision': 'perhaps'}
    if kind == 'exit': sys.exit(3)
    if kind == 'die': os._exit(9)
    if kind == 'cwd': return {'reason': os.path.basename(os.getcwd()), 'decision': 'ask'}
    if kind == 'async': return {'async': True} if context.phase == 1 else {'decision': 'deny', 'reason': 'second'}
    print('noise')
";
    for home in [&with, &without] {
        home.lab.write("project/more.py", code);
        home.lab.write("project/missing_name.py", "x = 1");
    }
    std::fs::write(without.lab.path("config/off"), "").unwrap();
    with.fire(r#"{"command":"ls"}"#, &[]);
    with.wait_for_daemon();
    let kinds = ["env", "raise", "rewrite", "context", "nonsense", "exit", "die", "cwd", "async", "none"];
    let handlers = ["more.look", "policy.check", "missing.module", "missing_name.y"];
    let cases = std::env::var("CROSIER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let hook = (0..handlers.len(), 0..3_usize, any::<bool>(), any::<bool>());
    let strategy = (
        proptest::collection::vec(hook, 1..4),
        0..kinds.len(),
        "[a-zé\"\\\\ ]{0,12}",
        proptest::collection::vec(("T_[A-C]", "[ -~]{0,8}"), 0..3),
    );
    let result = runner.run(&strategy, |(hooks, kind, text, vars)| {
        let mut config = "hooks:\n  PreToolUse:\n".to_owned();
        for (at, (handler, on_error, parallel, isolate)) in hooks.iter().enumerate() {
            let on_error = ["log", "skip", "abort"][*on_error];
            let isolate = if *isolate { "fork" } else { "worker" };
            config.push_str(&format!(
                "    - {{name: h{at}, type: python, handler: {}, on_error: {on_error}, parallel: {parallel}, isolate: {isolate}}}\n",
                handlers[*handler]
            ));
        }
        let input = serde_json::json!({"kind": kinds[kind], "text": text, "command": text}).to_string();
        let vars: Vec<(&str, &str)> = vars.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut outcomes = Vec::new();
        for home in [&with, &without] {
            let off = if std::ptr::eq(home, &without) { "daemon: off\n" } else { "" };
            home.lab.write("project/hooks.yaml", &format!("{off}{config}"));
            let outcome = plain(home.fire(&input, &vars).0).to_string();
            outcomes.push(outcome.replace(home.lab.path("").to_str().unwrap(), "HOME/"));
        }
        prop_assert_eq!(&outcomes[0], &outcomes[1]);
        Ok(())
    });
    result.unwrap();
    assert!(with.connect().hello().is_object() && !without.socket().exists());
}

#[test]
fn a_large_value_that_no_hook_reads_is_not_parsed_with_a_daemon_either() {
    let mut home = Home::with_policy();
    let code = "
def look(event):
    unread = list(getattr(event, '_later', ()))
    return {'decision': 'deny', 'reason': f\"{unread} {len(event.tool_input['text'])}\"}
";
    home.lab.write("project/large.py", code);
    home.lab.write(
        "project/hooks.yaml",
        "hooks: {PreToolUse: [{name: large, type: python, handler: large.look}]}\n",
    );
    home.start();
    let fire = |size: usize| home.fire(&format!(r#"{{"text":"{}"}}"#, "x".repeat(size)), &[]).1;
    assert_eq!(fire(1_000_000), "['tool_input'] 1000000");
    assert_eq!(fire(10), "[] 10");
}

#[test]
fn a_guard_that_is_asked_again_is_told_so_by_a_cold_and_by_a_warm_worker() {
    let mut home = Home::with_policy();
    let code = "
import os
def judge(event):
    seen = os.environ.get('CROSIER_PASS')
    if seen or event.tool_input.get('text') == 'new':
        return {'decision': 'deny', 'reason': f'pass {seen}'}
def rewrite(event):
    return {'updated_input': {'text': 'new'}}
";
    home.lab.write("project/again.py", code);
    home.lab.write(
        "project/hooks.yaml",
        "hooks: {PreToolUse: [{name: judge, type: python, handler: again.judge, guard: true}, \
         {name: rewrite, type: python, handler: again.rewrite}]}\n",
    );
    home.start();
    // The first fire starts and loads, the others find a worker that is ready; its first pass must not be the second.
    for _ in 0..3 {
        assert_eq!(home.fire(r#"{"text":"old"}"#, &[]).1, "pass 2");
    }
}

#[test]
fn a_worker_that_dies_is_replaced_and_the_hook_knows_that_it_may_have_begun() {
    let mut home = Home::with_policy();
    home.start();
    assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
    // It dies in the daemon's worker, and lives in its own, where it finds the second attempt.
    let (outcome, _) = home.fire(r#"{"command":"die"}"#, &[]);
    assert_eq!((&outcome["decision"], &outcome["reports"][0]["status"]), (&Value::Null, &"ok".into()));
    assert_eq!(home.fire(r#"{"command":"rm"}"#, &[("CROSIER_ATTEMPT", "7")]).1, "no rm", "not inherited");
}

#[test]
fn a_daemon_that_hangs_is_left_after_two_seconds() {
    let mut home = Home::with_policy();
    let pid = home.start();
    home.fire(r#"{"command":"ls"}"#, &[]);
    signal(pid, Signal::STOP);
    let began = Instant::now();
    assert_eq!(
        home.fire(r#"{"command":"rm"}"#, &[]).1,
        "no rm",
        "it did not say hello, so nothing has begun"
    );
    assert!(began.elapsed() < Duration::from_secs(5));
    signal(pid, Signal::CONT);
    // It hangs in the middle of a call.
    let (outcome, _) = std::thread::scope(|scope| {
        let fire = scope.spawn(|| home.fire(r#"{"command":"slow","for":1.0}"#, &[]));
        std::thread::sleep(Duration::from_millis(600));
        signal(pid, Signal::STOP);
        fire.join().unwrap()
    });
    assert_eq!(outcome["reports"][0]["status"], "ok");
    signal(pid, Signal::CONT);
}

#[test]
fn a_daemon_that_dies_in_the_middle_is_no_reason_to_let_anything_through() {
    let mut home = Home::with_policy();
    let pid = home.start();
    let began = Instant::now();
    let (outcome, _) = std::thread::scope(|scope| {
        let fire = scope.spawn(|| home.fire(r#"{"command":"slow","for":1.0}"#, &[]));
        std::thread::sleep(Duration::from_millis(700));
        signal(pid, Signal::KILL);
        fire.join().unwrap()
    });
    assert_eq!(outcome["reports"][0]["status"], "ok");
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_hook_that_is_late_is_late_with_a_daemon_too() {
    let mut home = Home::with_policy();
    home.start();
    home.lab.write("project/hooks.yaml", &CONFIG.replace("20s", "1s"));
    let began = Instant::now();
    let (outcome, reason) = home.fire(r#"{"command":"sleep"}"#, &[]);
    assert!(began.elapsed() < Duration::from_secs(6));
    assert_eq!(outcome["reports"][0]["failure"]["kind"], "timeout", "{reason}");
    assert_eq!(outcome["decision"], "deny");
}

#[test]
fn calls_that_hang_delay_no_others() {
    let mut home = Home::with_policy();
    home.start();
    let mut client = home.connect();
    client.hello();
    std::thread::scope(|scope| {
        let slow: Vec<_> =
            (0..8).map(|_| scope.spawn(|| home.fire(r#"{"command":"slow","for":6.0}"#, &[]))).collect();
        let calls = |status: &Value| -> u64 {
            let workers = status["workers"].as_array().unwrap().iter();
            workers.map(|worker| worker["calls"].as_u64().unwrap()).sum()
        };
        let over = Instant::now() + Duration::from_secs(5);
        while calls(&client.result("status", serde_json::json!({}))) < 8 && Instant::now() < over {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
        assert!(slow.iter().any(|fire| !fire.is_finished()), "it waited for the others");
        // It ran in one more worker of the daemon.
        assert_eq!(calls(&client.result("status", serde_json::json!({}))), 9);
    });
}
