//! `crosier try`: the decision of the hooks in force, without an agent.

use crate::lab::Lab;

const POLICY: &str = "hooks:
  PreToolUse:
    - {name: no-force, matcher: Bash, type: builtin, handler: block-commands}
    - {name: elsewhere, matcher: Write, reply: {updatedInput: {file_path: safe.txt, content: mine}}}
    - {name: look, matcher: Read, command: 'test \"$CROSIER_TRY\" = 1 && { echo only tried >&2; exit 2; }'}
    - {name: careful, matcher: Glob, mode: warn, reply: {decision: deny, reason: no globs}}
    - {name: maybe, matcher: Deploy, reply: {decision: ask, reason: is it a good day?}}
";

fn lab() -> Lab {
    Lab::with(POLICY)
}

fn tried(lab: &Lab, args: &[&str]) -> crate::lab::Ran {
    let words: Vec<&str> = ["try", "-c", "crosier.yaml"].into_iter().chain(args.iter().copied()).collect();
    lab.run(&words).exits(0)
}

#[test]
fn a_denial_is_two_lines_with_the_safer_way() {
    let lab = lab();
    let ran = tried(&lab, &["git push --force"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("deny     by no-force: `git push --force` is blocked"), "{lines:?}");
    assert!(lines[1].starts_with("instead  git push --force-with-lease"), "{lines:?}");
}

#[test]
fn every_decision_has_its_words_and_the_exit_status_is_0() {
    let lab = lab();
    tried(&lab, &["ls"]).says("no opinion");
    tried(&lab, &["--tool", "Write", "--path", ".env"])
        .says("the input was rewritten by elsewhere")
        .says("-        file_path: .env")
        .says("+        file_path: safe.txt");
    tried(&lab, &["--tool", "Read", "--path", "a"]).says("deny     by look: only tried");
    tried(&lab, &["--tool", "Glob", "--path", "a"]).says("would    deny by careful, which only warns");
    tried(&lab, &["--tool", "Deploy", "--input", "{}"]).says("ask      by maybe: is it a good day?");
    tried(&lab, &["--event", "UserPromptSubmit", "--input", r#"{"prompt": "hi"}"#]).says("no opinion");
    tried(&lab, &["ls", "--explain"]).says("out: its matcher `Deploy` does not match");
}

#[test]
fn an_agent_is_asked_and_answered_in_its_own_words() {
    let lab = lab();
    tried(&lab, &["--agent", "gemini", "git push -f"])
        .says("sends    {")
        .says("run_shell_command")
        .says(r#"is told  {"decision":"deny""#);
    // Codex has no ask: the person is told to run it.
    tried(&lab, &["--agent", "codex", "--tool", "Deploy", "--input", "{}"])
        .says(r#""permissionDecision":"deny""#)
        .says("let the person run it");
    let json = tried(&lab, &["--agent", "codex", "git push -f", "--json"]).json();
    assert_eq!((&json["decision"], &json["by"]), (&"deny".into(), &"no-force".into()));
    assert_eq!((&json["answer"]["agent"], &json["answer"]["exit_status"]), (&"codex".into(), &0.into()));
    assert_eq!(json["outcomes"][0]["decision"], "deny");
}

#[test]
fn what_makes_no_sense_is_told() {
    let lab = lab();
    for (args, why) in [
        (&["try"][..], "say what to try"),
        (&["try", "ls", "--agent", "nobody"], "no agent is called `nobody`"),
        (&["try", "--tool", "X", "--input", "{"], "--input is not JSON"),
        (&["try", "ls", "--event", "Stop"], "Stop is not about a tool"),
        (&["try", "ls", "--event", "Frob"], "Frob"),
        (&["try", "--agent", "codex", "--event", "PreMessage"], "has no event"),
    ] {
        lab.run(args).exits(64).complains(why);
    }
}

#[test]
fn without_a_configuration_and_with_a_bad_one_it_says_so() {
    let lab = Lab::new();
    lab.run(&["try", "ls"]).exits(0).says("no opinion");
    lab.write("bad.yaml", "hoks: {}");
    lab.run(&["try", "ls", "-c", "bad.yaml"]).exits(0).says("deny     closed: ");
}

#[test]
fn nothing_of_it_is_in_the_log() {
    let lab = lab();
    let at_home = |args: &[&str]| {
        let mut command = lab.command(args);
        command.env("HOME", lab.path("")).env("XDG_STATE_HOME", lab.path("state"));
        command.output().unwrap()
    };
    assert!(at_home(&["try", "-c", "crosier.yaml", "git push --force"]).status.success());
    assert!(at_home(&["log", "--json"]).stdout.is_empty());
}

#[test]
fn tool_path_and_input_go_together() {
    let lab = lab();
    tried(&lab, &["--tool", "Bash", "git push --force"]).says("deny     by no-force");
    let with = ["--path", "a.txt", "--input", r#"{"content": "other"}"#];
    tried(&lab, &with).says("-        file_path: a.txt").says("-        content: other");
    lab.run(&["try", "--tool", "Write", "ls"]).exits(64).complains("Write takes no command line");
    for input in ["5", "[]", "null"] {
        lab.run(&["try", "--input", input]).exits(64).complains("--input is not a JSON object");
    }
}
