//! `crosier test`: what users see of their own cases.

use crate::lab::Lab;

/// The whole event is searched, and the name of its folder is random: two letters alone could be in it.
const CONFIG: &str = "hooks: {PreToolUse: [{name: no-rm, matcher: Bash, command: 'grep -q rm.x && { echo never >&2; exit 2; } || true'}]}";
const GOOD: &str = "
- name: rm is denied
  config: ../hooks.yaml
  event: PreToolUse
  input: {tool_name: Bash, tool_input: {command: rm x}}
  expect: {decision: deny, by: no-rm, reason: /nev.r/}
- name: ls is not
  config: ../hooks.yaml
  event: PreToolUse
  input: {tool_name: Bash, tool_input: {command: ls}}
  expect: {decision: null, ran: [no-rm]}
";

fn lab(cases: &str) -> Lab {
    let lab = Lab::new();
    lab.write("hooks.yaml", CONFIG);
    lab.write("cases/a.yaml", cases);
    lab
}

#[test]
fn real_hooks_run_beside_their_cases() {
    let lab = lab(GOOD);
    assert_eq!(lab.run(&["test", "cases"]).exits(0).stdout, "2 passed, 0 failed\n");
    assert_eq!(lab.run(&["test", "cases/a.yaml", "--filter", "rm"]).exits(0).stdout, "1 passed, 0 failed\n");
    assert_eq!(
        lab.run(&["test", "cases", "--filter", "/^ls/", "--jobs", "1"]).exits(0).stdout,
        "1 passed, 0 failed\n"
    );
}

#[test]
fn a_difference_shows_what_was_expected_and_what_came() {
    let lab = lab(&GOOD.replace("decision: deny", "decision: allow").replace("/nev.r/", "always"));
    let ran = lab.run(&["test", "cases"]).exits(1);
    ran.says("FAILED cases/a.yaml:2: rm is denied\n  decision\n    - expected allow\n    + got      deny\n");
    ran.says("  reason\n    - expected always\n    + got      never\n").says("1 passed, 1 failed");
    let found = lab.run(&["test", "cases", "--json"]).exits(1).json();
    assert_eq!((found["passed"].as_u64(), found["failed"].as_u64()), (Some(1), Some(1)));
    let difference = &found["cases"][0]["differences"][0];
    assert_eq!(
        (difference["at"].as_str(), difference["expected"].as_str(), difference["got"].as_str()),
        (Some("decision"), Some("allow"), Some("deny"))
    );
    assert_eq!(
        (found["cases"][0]["line"].as_u64(), found["cases"][1]["passed"].as_bool()),
        (Some(2), Some(true))
    );
}

#[test]
fn junit_is_for_machines() {
    let lab = lab(&GOOD.replace("by: no-rm", "by: '<someone> & \"else\"'"));
    lab.run(&["test", "cases", "--junit", "out.xml"]).exits(1);
    let xml = lab.read("out.xml");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"crosier\" tests=\"2\" failures=\"1\""), "{xml}");
    assert!(
        xml.contains(
            "<testcase name=\"ls is not\" classname=\"PreToolUse\" file=\"cases/a.yaml\" line=\"7\""
        ),
        "{xml}"
    );
    assert!(
        xml.contains("<failure message=\"not as expected: by\">")
            && xml.contains("&lt;someone&gt; &amp; &quot;else&quot;"),
        "{xml}"
    );
    for tag in ["testsuites", "testsuite", "failure"] {
        assert_eq!(
            xml.matches(&format!("<{tag} ")).count(),
            xml.matches(&format!("</{tag}>")).count(),
            "{tag}"
        );
    }
    lab.run(&["test", "cases", "--junit", "no/such/out.xml"])
        .exits(1)
        .complains("no/such/out.xml cannot be written");
}

#[test]
fn nothing_to_test_is_a_failure() {
    let lab = lab(GOOD);
    lab.run(&["test", "cases", "--filter", "nobody"])
        .exits(1)
        .complains("no case matches --filter nobody; there are 2 cases in cases");
    lab.write("empty/x.yaml", "");
    lab.write("empty/notes.txt", "- name: x");
    lab.run(&["test", "empty"]).exits(1).complains("no cases in empty");
}

#[test]
fn what_is_wrong_with_a_case_is_found_before_any_runs() {
    let lab = lab("
- name: a
  event: Stop
  expect: {decison: deny, reason: '/(/', error: x}
- name: b
  evnt: Stop
  expect: {}
- name: [c]
  event: Stop
  expect: nothing
- not a case
");
    let ran = lab.run(&["test", "cases"]).exits(65);
    for message in [
        "cases/a.yaml:4:12: error: an outcome has no `decison`, did you mean `decision`?",
        "error: bad regular expression /(/: unclosed group",
        "error: nothing else can be expected beside `error`",
        "error: unknown key `evnt` of a case, did you mean `event`?",
        "error: a case needs `event`",
        "error: a case needs `config`: `config: {hooks: {…}}`, or the path of a file",
        "error: `expect` is empty: this case could never fail",
        "error: `name` must be text, but it is a list",
        "error: `expect` must be a mapping, but it is text",
        "error: a case is a mapping, but this is text",
    ] {
        ran.complains(message);
    }
    assert_eq!(ran.stdout, "", "nothing was run");
}

#[test]
fn an_error_can_be_expected_and_one_that_is_not_is_a_failure() {
    let lab = lab("
- {name: a, config: {hooks: {Stop: [{comand: x}]}}, event: Stop, expect: {error: did you mean `command`}}
- {name: b, config: {hooks: {Stop: [{comand: x}]}}, event: Stop, expect: {error: /unknown key .comand/}}
- {name: c, config: {hooks: {Stop: [{comand: x}]}}, event: Stop, expect: {decision: null}}
- {name: d, config: {hooks: {Stop: [{reply: {}}]}}, event: Stop, expect: {error: something}}
- {name: e, config: gone.yaml, event: Stop, expect: {error: gone.yaml}}
");
    let ran = lab.run(&["test", "cases"]).exits(1);
    ran.says("FAILED cases/a.yaml:4: c").says("FAILED cases/a.yaml:5: d").says("3 passed, 2 failed");
}

#[test]
fn many_lines_are_compared_line_by_line() {
    let lab = lab(
        "- {name: a, config: {hooks: {Stop: [{reply: {systemMessage: \"one\\ntwo\\nthree\"}}]}}, event: Stop, expect: {context: [\"one\\n2\\nthree\"]}}",
    );
    lab.run(&["test", "cases"])
        .exits(1)
        .says("  context[0]\n    - expected, + got\n      one\n    - 2\n    + two\n      three\n");
}

#[test]
fn a_case_can_name_several_files_and_switch_hooks_off() {
    let lab = Lab::new();
    lab.write("one.yaml", "hooks: {Stop: [{name: one, reply: {}}]}");
    lab.write("two.yaml", "hooks: {Stop: [{name: two, reply: {}}, {name: three, reply: {}}]}");
    lab.write(
        "a.test.yaml",
        "- {name: a, config: [one.yaml, two.yaml], disable: [two], event: Stop, expect: {ran: [one, three]}}",
    );
    lab.run(&["test", "a.test.yaml"]).exits(0);
}

#[test]
fn cases_run_at_the_same_time_unless_told_otherwise() {
    let case = |name: &str| {
        format!(
            "- {{name: {name}, config: {{hooks: {{Stop: [{{command: sleep 0.4}}]}}}}, event: Stop, expect: {{decision: null}}}}\n"
        )
    };
    let lab = lab(&["a", "b", "c", "d"].map(case).concat());
    let one = lab.run(&["test", "cases", "--jobs", "1"]).exits(0).took;
    let four = lab.run(&["test", "cases", "--jobs", "4"]).exits(0).took;
    assert!(one.as_millis() >= 1600, "{one:?}");
    assert!(four < one, "{four:?} is not less than {one:?}");
}

#[test]
fn cases_can_live_beside_their_configuration() {
    let lab = Lab::with("hooks: {Stop: [{name: one, reply: {}}]}");
    lab.run(&["disable", "one"]).exits(0);
    lab.write("a.test.yaml", "- {name: a, config: crosier.yaml, event: Stop, expect: {ran: [one]}}");
    lab.write(".hidden/b.yaml", "not a case");
    std::os::unix::fs::symlink(".", lab.path("loop")).unwrap();
    assert_eq!(lab.run(&["test", "."]).exits(0).stdout, "1 passed, 0 failed\n");
    // Who names a file means it.
    lab.run(&["test", "crosier.yaml"]).exits(65).complains("a case file is a list of cases");
}
