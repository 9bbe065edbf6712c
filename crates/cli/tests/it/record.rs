//! `crosier test --record`: from a fired event to a case that passes.

use crate::lab::{BASH, Lab};

const CONFIG: &str = r#"
hooks:
  PreToolUse:
    - {name: no-rm, matcher: Bash, command: 'grep -q rm && { echo "never: #1" >&2; exit 2; } || true'}
    - {name: note, reply: {systemMessage: "/tmp/", updated_input: {big: 12345678901234567890123, "é ": "x: y\u007f"}}}
    - {name: broken, fail: exit}
"#;

#[test]
fn a_recorded_case_passes_and_can_be_read() {
    let lab = Lab::new();
    lab.write("conf/hooks.yaml", CONFIG);
    let record = ["test", "--record", "cases/a.yaml", "--event", "pre:tool", "-c", "conf/hooks.yaml"];
    std::fs::create_dir(lab.path("cases")).unwrap();
    let ran = lab.feed(&record, r#"{"tool_name": "Bash", "tool_input": {"command": "rm x"}}"#).exits(0);
    assert_eq!(ran.stdout, "recorded in cases/a.yaml: PreToolUse Bash: deny by no-rm (deny)\n");
    assert_eq!(
        lab.read("cases/a.yaml"),
        r#"- name: "PreToolUse Bash: deny by no-rm"
  config: "../conf/hooks.yaml"
  event: PreToolUse
  input: {"tool_name": "Bash", "tool_input": {"command": "rm x"}}
  expect:
    decision: deny
    reason: "never: #1"
    by: no-rm
    ran: ["no-rm"]
    skipped: ["note", "broken"]
"#
    );
    // A second one goes behind the first, with everything that is hard to write.
    let hard = "{\"tool_name\": \"Bash\",\n\t\"tool_input\": {\"n\": 12345678901234567890, \"s\": \"tab\\t \\u0001 \\u2028 é # \u{7f}\"}}";
    lab.feed(&[&record[..], &["--name", "no: it is hard", "--agent", "a 1"]].concat(), hard).exits(0);
    let text = lab.read("cases/a.yaml");
    assert!(text.contains("\n\n- name: \"no: it is hard\"\n") && text.contains("  agent: a 1\n"), "{text}");
    assert!(
        text.contains("failed: {\"broken\": \"exit\"}") && text.contains("12345678901234567890123"),
        "{text}"
    );
    assert_eq!(lab.run(&["test", "cases"]).exits(0).stdout, "2 passed, 0 failed\n");
}

#[test]
fn several_configurations_are_all_named() {
    let lab = Lab::new();
    lab.write("one.yaml", "hooks: {Stop: [{name: one, reply: {}}]}");
    lab.write("two.yaml", "hooks: {Stop: [{name: two, reply: {}}]}");
    lab.run(&["test", "--record", "a.yaml", "--event", "Stop", "-c", "one.yaml", "-c", "two.yaml"]).exits(0);
    assert!(lab.read("a.yaml").contains("config: [one.yaml, two.yaml]"), "{}", lab.read("a.yaml"));
    lab.run(&["test", "a.yaml"]).exits(0);
}

#[test]
fn a_file_that_cannot_take_it_stays_as_it_is() {
    let lab = Lab::with(CONFIG);
    let record = ["test", "--record", "a.yaml", "--event", "PreToolUse"];
    for (text, code, why) in [
        (
            "[{name: x, config: {hooks: {Stop: [{reply: {}}]}}, event: Stop, expect: {decision: null}}]\n",
            1,
            "is the list written with [ ]?",
        ),
        ("hooks: {}\n", 65, "a case file is a list of cases"),
        ("- {name: x, evnt: Stop}\n", 65, "did you mean `event`?"),
    ] {
        lab.write("a.yaml", text);
        lab.feed(&record, BASH).exits(code).complains(why);
        assert_eq!(lab.read("a.yaml"), text);
    }
    lab.feed(&record, "{}").exits(65).complains("tool_name");
    lab.feed(&["test", "--record", "no/such/a.yaml", "--event", "PreToolUse"], BASH)
        .exits(1)
        .complains("nothing was recorded");
}

#[test]
fn record_and_run_do_not_mix() {
    let lab = Lab::with(CONFIG);
    lab.run(&["test", "--record", "a.yaml"]).exits(64).complains("--event");
    lab.run(&["test", "--event", "Stop"]).exits(64).complains("--record");
    lab.run(&["test", "cases", "--record", "a.yaml", "--event", "Stop"]).exits(64);
    lab.run(&["test", "--record", "a.yaml", "--event", "Stopp"]).exits(64).complains("did you mean `Stop`?");
}
