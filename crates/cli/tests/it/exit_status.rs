//! The table of exit statuses: each number means one thing, and 2 is never an accident.

use crate::lab::{BASH, Lab};

const CONFIG: &str = "hooks: {PreToolUse: [{name: quiet, command: 'true'}]}";

#[test]
fn done_is_0() {
    Lab::with(CONFIG).feed(&["fire", "PreToolUse"], BASH).exits(0);
}

#[test]
fn what_did_not_work_is_1() {
    let lab = Lab::with(CONFIG);
    lab.write(
        "a.test.yaml",
        "- {name: x, config: {hooks: {Stop: [{reply: {}}]}}, event: Stop, expect: {decision: deny}}",
    );
    lab.run(&["test", "a.test.yaml"]).exits(1);
    lab.run(&["disable", "nobody"]).exits(1);
}

#[test]
fn usage_is_64_with_the_nearest_word() {
    let lab = Lab::with(CONFIG);
    lab.run(&["fier"]).exits(64).complains("fire");
    lab.run(&["fire", "PreToolUse", "--exit-cod"]).exits(64).complains("--exit-code");
    lab.run(&["schema", "confg"]).exits(64).complains("config");
    lab.run(&["completions", "tcsh"]).exits(64).complains("bash");
    lab.run(&["fire"]).exits(64).complains("<EVENT>");
    lab.run(&["test", "x.yaml", "--jobs", "0"]).exits(64);
    lab.run(&["test", "x.yaml", "--filter", "/(/"]).exits(64).complains("bad regular expression");
    for command in ["fire", "explain"] {
        lab.run(&[command, "PreTolUse"])
            .exits(64)
            .complains("unknown event `PreTolUse`, did you mean `PreToolUse`?");
        lab.run(&[command, "whatever"]).exits(64).complains("`crosier events` lists them");
    }
}

#[test]
fn no_arguments_are_the_help_and_64() {
    Lab::new().run(&[]).exits(64).complains("Usage: crosier <COMMAND>").complains("Example:");
}

#[test]
fn bad_input_is_65_with_the_field_or_the_position() {
    let lab = Lab::with(CONFIG);
    let fire = |input: &[u8]| lab.feed(&["fire", "PreToolUse"], input).exits(65);
    fire(b"").complains("tool_name");
    fire(b"{\"tool_name\": ").complains("not JSON");
    fire(b"[]").complains("must be a JSON object");
    fire(b"{\"tool_name\": 3, \"tool_input\": {}}").complains("`tool_name` must be text");
    fire(b"\xff").complains("byte 0");
    fire(br#"{"hook_event_name": "Stop", "tool_name": "Bash", "tool_input": {}}"#).complains("Stop");
    lab.write("bad.yaml", "- {nam: x}");
    lab.run(&["test", "bad.yaml"]).exits(65).complains("did you mean `name`?");
    lab.run(&["test", "gone.yaml"]).exits(65).complains("gone.yaml");
}

#[test]
fn a_bad_configuration_is_78_and_so_is_none() {
    let lab = Lab::new();
    let commands: [&[&str]; 5] =
        [&["fire", "Stop"], &["check"], &["list"], &["explain", "Stop"], &["disable", "x"]];
    for command in commands {
        lab.run(command)
            .exits(78)
            .complains("there is no crosier.yaml in this folder; name one with -c FILE");
    }
    lab.write("crosier.yaml", "hooks: {Stop: [{comand: x}]}");
    for command in commands {
        let ran = lab.run(command).exits(78);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("crosier.yaml:1:17: error: unknown key `comand`"), "{said}");
        assert!(said.contains("did you mean `command`?"), "{said}");
    }
    lab.run(&["fire", "Stop", "-c", "gone.yaml"]).exits(78).complains("gone.yaml");
}

/// The command exists in debug builds only.
#[cfg(debug_assertions)]
#[test]
fn a_bug_is_70_and_says_where_to_report_it() {
    let ran = Lab::new().run(&["panic"]).exits(70);
    ran.complains("this is a bug in crosier").complains("/issues");
    Lab::new().run(&["panic", "--exit-code"]).exits(2).complains("this is a bug in crosier");
}

#[test]
fn with_exit_code_whatever_goes_wrong_is_2_with_a_reason() {
    let lab = Lab::with(CONFIG);
    lab.feed(&["fire", "PreToolUse", "--exit-code"], BASH).exits(0);
    let fails: [(&[&str], &str); 7] = [
        (&["fire", "PreToolUse", "--exit-code", "--bogus"], "--bogus"),
        (&["fier", "PreToolUse", "--exit-code"], "fier"),
        (&["fire", "--exit-code"], "<EVENT>"),
        (&["fire", "PreTolUse", "--exit-code"], "PreToolUse"),
        (&["fire", "PreToolUse", "--exit-code"], "tool_name"),
        (&["fire", "PreToolUse", "--exit-code", "-c", "gone.yaml"], "gone.yaml"),
        (&["fire", "Stop", "--exit-code", "--messages", "no/such/folder"], "no/such/folder"),
    ];
    for (args, reason) in fails {
        lab.run(args).exits(2).complains(reason);
    }
}
