//! `crosier fire`: the outcome, the trace, the messages, the exit code.

use serde_json::Value;

use crate::lab::{BASH, Lab};

const GUARD: &str = r#"
hooks:
  PreToolUse:
    - name: no-rm
      matcher: Bash
      command: 'grep -q "rm -rf" && { echo "never" >&2; exit 2; } || true'
      priority: 10
    - {name: other, matcher: Write, command: "true"}
    - {name: off, command: "true", enabled: false}
    - {name: note, reply: {systemMessage: hello}}
"#;

#[test]
fn the_outcome_is_one_json_object_on_stdout() {
    let lab = Lab::with(GUARD);
    let ran = lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.stdout.lines().count(), 1);
    let outcome = ran.json();
    assert_eq!(outcome["decision"], Value::Null);
    assert_eq!(outcome["context"][0], "hello");
    assert!(outcome["reports"][1]["duration_ms"].is_number(), "callbacks are timed too: {outcome}");
}

#[test]
fn an_alias_is_an_event_and_the_agent_is_an_option() {
    let lab = Lab::with(
        "{hooks: {PreToolUse: [{name: all, reply: {}}]},
          agents: {a1: {hooks: {PreToolUse: [{name: mine, reply: {}}]}}, a2: {hooks: {PreToolUse: [{name: not-mine, reply: {}}]}}}}",
    );
    let outcome = lab.feed(&["fire", "pre:tool", "--agent", "a1"], BASH).exits(0).json();
    let hooks: Vec<&str> =
        outcome["reports"].as_array().unwrap().iter().filter_map(|report| report["hook"].as_str()).collect();
    assert_eq!(hooks, ["all", "a1/mine"]);
}

#[test]
fn several_files_are_merged_in_order() {
    let lab = Lab::new();
    lab.write("one.yaml", "hooks: {Stop: [{name: one, reply: {}}]}");
    lab.write("two.yaml", "hooks: {Stop: [{name: two, reply: {}}]}");
    let outcome = lab.run(&["fire", "Stop", "-c", "one.yaml", "-c", "two.yaml"]).exits(0).json();
    assert_eq!(outcome["reports"][0]["hook"], "one");
    assert_eq!(outcome["reports"][1]["hook"], "two");
}

#[test]
fn exit_code_says_no_in_the_words_of_the_hook() {
    let lab = Lab::with(GUARD);
    let rm = r#"{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}"#;
    let ran = lab.feed(&["fire", "PreToolUse", "--exit-code"], rm).exits(2);
    assert_eq!(ran.stderr, "never\n");
    assert_eq!(ran.json()["by"], "no-rm");
    // Without it a denial is a result like any other.
    lab.feed(&["fire", "PreToolUse"], rm).exits(0);
}

#[test]
fn exit_code_is_2_on_ask_on_halt_and_on_resume() {
    let says = |event: &str, reply: &str, input: &str| {
        let lab = Lab::with(&format!("hooks: {{{event}: [{{name: guard, reply: {reply}}}]}}"));
        lab.feed(&["fire", event, "--exit-code"], input)
    };
    says("PreToolUse", "{decision: ask, reason: look}", BASH)
        .exits(2)
        .complains("a person must decide: look");
    says("PreToolUse", "{continue: false, stopReason: enough}", BASH)
        .exits(2)
        .complains("halted by hook guard: enough");
    says("PreToolUse", "{decision: deny}", BASH).exits(2).complains("guard");
    says("PreToolUse", "{decision: allow}", BASH).exits(0);
    // At Stop 2 keeps the loop going: that is what a resume wants, and not what a halt wants.
    says("Stop", "{decision: block, reason: not yet}", "").exits(2).complains("not yet");
    says("Stop", "{continue: false, stopReason: enough}", "").exits(0).complains("enough");
    says("Stop", "{}", "").exits(0);
}

#[test]
fn the_trace_shows_every_room_in_order() {
    let lab = Lab::with(GUARD);
    let ran = lab.feed(&["fire", "PreToolUse", "--trace"], BASH).exits(0);
    let rooms: Vec<&str> = ran.stderr.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        rooms,
        ["ingest", "plan", "plan", "plan", "plan", "run", "run", "fold", "gate"],
        "{}",
        ran.stderr
    );
    ran.complains(r#""tool_input":{"command": "ls"}"#)
        .complains("stage 1  no-rm  `Bash` matches Bash")
        .complains("out      other  its matcher `Write` does not match tool_name Bash")
        .complains("out      off    disabled by `enabled: false`")
        .complains("crosier.yaml:4")
        .complains("fold    no opinion; context: [\"hello\"]")
        .complains("gate    proceed: the host's own permissions decide");
    let rm = r#"{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}"#;
    let ran = lab.feed(&["fire", "PreToolUse", "--trace"], rm).exits(0);
    ran.complains("skipped")
        .complains("fold    deny by no-rm: never")
        .complains("gate    deny: the tool does not run");
}

#[test]
fn messages_go_to_a_file_one_object_a_line() {
    let lab = Lab::with("hooks: {Stop: [{name: loud, command: 'echo one; echo two >&2', output: text}]}");
    lab.run(&["fire", "Stop", "--messages", "heard.jsonl"]).exits(0);
    let heard: Vec<Value> =
        lab.read("heard.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(heard.first().unwrap()["subtype"], "hook_started");
    let last = heard.last().unwrap();
    assert_eq!((last["subtype"].as_str(), last["exit_code"].as_i64()), (Some("hook_response"), Some(0)));
    assert_eq!((last["stdout"].as_str(), last["stderr"].as_str()), (Some("one\n"), Some("two\n")));
    // The next event of the session is appended, and its runs cannot be taken for those of this one.
    lab.run(&["fire", "Stop", "--messages", "heard.jsonl"]).exits(0);
    let both: Vec<Value> =
        lab.read("heard.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(both[..heard.len()], heard[..]);
    assert!(both.len() > heard.len());
    assert_ne!(both.last().unwrap()["hook_id"], last["hook_id"]);
}

#[test]
fn a_closed_stdout_is_no_panic_and_no_success() {
    let lab = Lab::with(GUARD);
    for (args, code) in [(&["fire", "PreToolUse"][..], 1), (&["fire", "PreToolUse", "--exit-code"][..], 2)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = lab.command(args);
        command.stdout(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), BASH.as_bytes()).unwrap();
        let ran = crate::lab::finish(child, std::time::Instant::now()).exits(code);
        ran.complains("the outcome cannot be written");
        assert!(!ran.stderr.contains("bug"), "{}", ran.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_takes_the_place_of_a_closed_stream() {
    let lab = Lab::with("hooks: {Stop: [{command: 'readlink /proc/$PPID/fd/[012] > streams.txt; echo {}'}]}");
    let crosier = lab.command(&["fire", "Stop"]);
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-"]).arg(crosier.get_program());
    command.args(crosier.get_args()).current_dir(crosier.get_current_dir().unwrap());
    assert!(command.status().unwrap().success());
    assert_eq!(lab.read("streams.txt"), "/dev/null\n".repeat(3));
}

#[test]
fn an_event_of_any_size_gets_through() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: keep, command: cat > got.json}]}");
    let event = format!(r#"{{"tool_name": "Bash", "tool_input": {{"x": "{}"}}}}"#, "y".repeat(3_000_000));
    for more in [&[][..], &["--exit-code"]] {
        lab.feed(&[&["fire", "PreToolUse"][..], more].concat(), &event).exits(0);
        assert!(lab.read("got.json").len() > 3_000_000);
    }
}

#[test]
fn notices_are_for_people_and_go_to_stderr() {
    let lab = Lab::with("hooks: {Stop: [{run: '/log warn \"take care\"'}, {run: '/notify \"look here\"'}]}");
    let ran = lab.run(&["fire", "Stop"]).exits(0);
    assert_eq!(ran.stderr, "warn: take care\ninfo: look here\n");
    assert_eq!(ran.json()["notices"][1]["kind"], "notify");
}

#[test]
fn a_hook_that_fails_and_is_passed_over_is_told_to_people_unless_it_is_to_be_quiet() {
    let lab = Lab::with(
        "hooks:
          PreToolUse:
            - {name: loud, fail: timeout}
            - {name: quiet, fail: timeout, on_error: skip}",
    );
    let ran = lab.feed(&["fire", "PreToolUse", "--exit-code"], BASH).exits(0);
    assert_eq!(ran.stderr, "warn: hook loud failed (timeout) and was ignored\n");
    let lab = Lab::with("hooks: {PreToolUse: [{name: closed, fail: timeout, on_error: abort}]}");
    let ran = lab.feed(&["fire", "PreToolUse", "--exit-code"], BASH).exits(2);
    assert!(
        ran.stderr.starts_with("hook closed failed (timeout), and is set to abort when it fails: "),
        "the denial names its cause: {}",
        ran.stderr
    );
}

#[test]
fn a_guard_that_cannot_be_loaded_denies_and_is_told_on_stderr() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: guard, type: python, handler: nowhere.check}]}");
    let ran = lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
    assert_eq!(ran.json()["decision"], "deny");
    ran.complains("error: hook guard could not be loaded: ").complains("nowhere");
}
