//! Workers and daemons die at random while clients fire: every event is judged, and what the policy denies is denied.
//!
//! `CROSIER_CHAOS` is how many seconds it lasts (4).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

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
            if let Some(pid) = victim.and_then(|pid| Pid::from_raw(pid.cast_signed())) {
                let _ = kill_process(pid, Signal::KILL);
            }
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

/// The processes that this one started.
fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}
