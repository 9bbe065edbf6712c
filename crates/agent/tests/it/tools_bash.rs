//! Bash, with real processes.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crosier::Json;
use crosier_agent::tool::{Bash, Progress, Risk, Tool, ToolContext};
use serde_json::{Value, json};

use crate::tools::Lab;

impl Lab {
    async fn bash(&self, command: &str) -> Value {
        self.run("Bash", json!({"command": command})).await.unwrap().to_value().unwrap()
    }
}

/// Waits until a condition holds; false when it does not within five seconds.
pub(crate) async fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        if holds() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    holds()
}

/// Whether a process is there and not dead.
/// A killed process whose first thread is gone lives until its last one is.
pub(crate) fn is_alive(pid: &str) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", pid.trim())) else { return false };
    threads.flatten().any(|thread| {
        fs::read_to_string(thread.path().join("stat"))
            .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
    })
}

pub(crate) fn is_there(pid: &str) -> bool {
    fs::exists(format!("/proc/{}", pid.trim())).unwrap()
}

#[tokio::test]
async fn output_comes_in_order_with_the_exit_code() {
    let lab = Lab::new();
    assert_eq!(lab.tools.get("Bash").unwrap().risk(), Risk::Execute);
    let result = lab.bash("echo 1; echo 2 >&2; echo 3; exit 7").await;
    assert_eq!(result, json!({"exit_code": 7, "output": "1\n2\n3\n"}));
    assert_eq!(
        lab.bash("pwd -P").await["output"],
        format!("{}\n", lab.folder.path().canonicalize().unwrap().display())
    );
    assert_eq!(lab.bash("kill -9 $$").await, json!({"exit_code": 137, "signal": 9, "output": ""}));
    assert_eq!(lab.bash("[[ a == a ]] && read x; echo \"<$x>\"").await["output"], "<>\n");
}

#[tokio::test]
async fn the_environment_is_the_hosts() {
    let lab = Lab::new();
    let output = lab.bash("env").await["output"].as_str().unwrap().to_owned();
    let mut names: Vec<&str> = output.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name));
    assert_eq!(names, ["GREETING", "PATH"]);
}

#[tokio::test]
async fn a_flood_is_cut_in_the_middle() {
    let lab = Lab::new();
    let result = lab.bash("echo start; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end").await;
    let output = result["output"].as_str().unwrap();
    assert!(output.len() < 300 * 1024, "{}", output.len());
    assert!(output.starts_with("start\nxxx") && output.ends_with("xxx\nend\n"));
    assert!(output.contains("bytes left out]"));
    assert_eq!(lab.bash("printf 'a\\377b'").await["output"], "a\u{fffd}b");
}

#[tokio::test]
async fn a_timeout_kills_the_whole_group_and_keeps_the_output() {
    let lab = Lab::new();
    let started = Instant::now();
    let command = "echo so far; (trap '' TERM; sleep 60) & echo $! > child; trap '' TERM; sleep 61; sleep 62";
    let error = lab.error("Bash", json!({"command": command, "timeout": 0.5})).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(
        error.starts_with("timed out after 500ms; the command") && error.contains("were killed"),
        "{error}"
    );
    assert!(error.ends_with("so far\n"), "{error}");
    assert!(soon(|| !is_alive(&lab.text("child"))).await);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_timeout_kills_what_left_the_group() {
    let lab = Lab::new();
    let command =
        "setsid sh -c 'echo $$ > child; exec sleep 60' & while ! test -s child; do sleep 0.01; done; wait";
    let error = lab.error("Bash", json!({"command": command, "timeout": 1})).await;
    assert!(error.contains("its process group and its descendants were killed"), "{error}");
    assert!(soon(|| !is_alive(&lab.text("child"))).await);
}

#[tokio::test]
async fn the_contexts_time_is_the_most() {
    let lab = Lab::new();
    let context = ToolContext::new(lab.folder.path(), Duration::from_secs(1));
    let input = Json::from(json!({"command": "sleep 30", "timeout": 9999}));
    let bash = lab.tools.get("Bash").unwrap();
    // Also for whoever waits no longer than that.
    let ran = tokio::time::timeout(context.timeout, bash.run(&input, &context)).await;
    let error = ran.unwrap().unwrap_err();
    assert!(error.message.starts_with("timed out after 750ms"), "{error}");
}

#[tokio::test]
async fn dropping_the_call_kills_everything_and_leaves_no_zombie() {
    let lab = Lab::new();
    let input = Json::from(json!({"command": "echo $$ > leader; sleep 60 & echo $! > child; wait"}));
    let context = lab.context();
    {
        let running = lab.tools.get("Bash").unwrap().run(&input, &context);
        tokio::pin!(running);
        let written = soon(|| fs::metadata(lab.folder.path().join("child")).is_ok_and(|file| file.len() > 0));
        tokio::select! {
            ran = &mut running => panic!("{ran:?}"),
            written = written => assert!(written),
        }
    }
    assert!(soon(|| !is_alive(&lab.text("child"))).await);
    assert!(soon(|| !is_there(&lab.text("leader"))).await, "the leader is reaped");
}

#[tokio::test]
async fn a_call_ends_with_its_shell_not_with_its_pipe() {
    let lab = Lab::new();
    let started = Instant::now();
    let result = lab.bash("sleep 60 & echo $! > child; echo done").await;
    assert_eq!(result, json!({"exit_code": 0, "output": "done\n"}));
    assert!(started.elapsed() < Duration::from_secs(5));
    let child = lab.text("child");
    assert!(is_alive(&child), "a background child of a finished command lives on");
    std::process::Command::new("kill").arg(child.trim()).status().unwrap();
    // Somebody who writes for ever does not hold it back either.
    let result = lab.bash("yes & echo $! > child; exit 3").await;
    assert_eq!(result["exit_code"], 3);
    assert!(soon(|| !is_alive(&lab.text("child"))).await, "its pipe is gone");
}

#[tokio::test]
async fn progress_is_told_while_it_runs() {
    let lab = Lab::new();
    let told = Arc::new(Mutex::new(String::new()));
    let progress = Progress::new({
        let told = Arc::clone(&told);
        move |text| told.lock().unwrap().push_str(text)
    });
    let context = ToolContext { progress: Some(progress), ..lab.context() };
    let input = Json::from(
        json!({"command": "echo first; while ! test -e go; do sleep 0.01; done; printf '\\303'; sleep 0.05; printf '\\244'"}),
    );
    let bash = lab.tools.get("Bash").unwrap();
    let (ran, ()) = tokio::join!(bash.run(&input, &context), async {
        assert!(soon(|| *told.lock().unwrap() == "first\n").await);
        lab.file("go", "");
    });
    assert_eq!(ran.unwrap().get("output").unwrap().plain(), "first\n\u{e4}");
    assert_eq!(*told.lock().unwrap(), "first\n\u{e4}");
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let lab = Lab::new();
    let bash = Bash::new(Vec::new()).with_shell("/no/such/shell");
    let input = Json::from(json!({"command": "true"}));
    let error = bash.run(&input, &lab.context()).await.unwrap_err();
    assert!(error.message.starts_with("/no/such/shell could not be started"), "{error}");
    assert_eq!(lab.error("Bash", json!({"command": "  "})).await, "`command` is empty");
    assert_eq!(
        lab.error("Bash", json!({"command": "true", "timeout": -1})).await,
        "`timeout` must be a number of seconds over 0"
    );
    let error = lab.error("Bash", json!({"command": "echo a\u{0}b"})).await;
    assert!(error.contains("could not be started"), "{error}");
    let error = lab.error("Bash", json!({"command": "x".repeat(3_000_000)})).await;
    assert!(error.contains("could not be started"), "{error}");
}

#[tokio::test]
async fn many_calls_leave_no_descriptor_behind() {
    let lab = Lab::new();
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    lab.bash("true").await;
    let before = count();
    for _ in 0..30 {
        lab.bash("echo x; true").await;
    }
    // Other tests of this binary open and close files meanwhile.
    assert!(soon(|| count() <= before + 20).await, "{before} then {}", count());
}
