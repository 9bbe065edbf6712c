//! `.arma` files and `run:` lines through the public interface: files in, outcomes or messages out.

use std::fs;

use crosier_protocol::{Catalog, Decision, NoticeKind, Outcome};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::{Config, Loader};
use crate::{Engine, payload};

/// A typical script.
const EXAMPLE: &str = "\
hook pre:message /log debug \"Sending: $prompt\"
hook pre:tool:shell /perms check shellExec
hook post:agent:complete /notify \"Agent $agent finished\"
";

/// A folder with `hooks.yaml`, which names the script `hooks.arma`.
pub(super) fn folder(script: &str, more: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("hooks.arma"), script).unwrap();
    fs::write(folder.path().join("hooks.yaml"), format!("scripts: [hooks.arma]\n{more}")).unwrap();
    folder
}

pub(super) fn load(script: &str, more: &str) -> Result<Config, String> {
    let folder = folder(script, more);
    let shown = format!("{}/", folder.path().display());
    let loaded = Loader::new(Catalog::default()).lint().file(folder.path().join("hooks.yaml")).load();
    loaded.map_err(|problems| problems.to_string().replace(&shown, ""))
}

pub(super) fn engine(config: Config) -> Engine {
    Engine::builder().config(config).build().unwrap()
}

pub(super) fn fire(engine: &Engine, event: &str, input: &Value) -> Outcome {
    engine.fire_blocking(engine.event(event, input.to_string().as_bytes()).unwrap())
}

fn run(script: &str, event: &str, input: &Value) -> Outcome {
    fire(&engine(load(script, "permissions: {shellExec: ask}").unwrap()), event, input)
}

/// The texts of the notices.
pub(super) fn notices(script: &str, event: &str, input: &Value) -> Vec<String> {
    run(script, event, input).notices.into_iter().map(|notice| notice.text).collect()
}

fn errors(script: &str) -> String {
    load(script, "").map(|config| config.warnings.to_string()).unwrap_err()
}

#[test]
fn seed_003_lines_load_as_printed_and_do_what_they_say() {
    let engine = engine(load(EXAMPLE, "permissions: {shellExec: ask}").unwrap());
    let sent = fire(&engine, "pre:message", &json!({"prompt": "hello"}));
    let notice = &sent.notices[0];
    assert_eq!(
        (notice.kind, &*notice.level, notice.text.as_str()),
        (NoticeKind::Log, "debug", "Sending: hello")
    );
    assert_eq!((&*notice.hook, sent.decision), ("PreMessage[1]", None));

    let asked = fire(&engine, "pre:tool", &json!({"tool_name": "shell", "tool_input": {"command": "ls"}}));
    assert_eq!(asked.decision, Some(Decision::Ask));
    assert!(asked.reason.unwrap().contains("shellExec"));
    let other = fire(&engine, "pre:tool", &json!({"tool_name": "read", "tool_input": {}}));
    assert!(other.reports.is_empty());

    let done = json!({"agent_id": "a7", "agent_type": "coder", "result": "ok"});
    let done = fire(&engine, "post:agent:complete", &done);
    assert_eq!(
        (done.notices[0].kind, done.notices[0].text.as_str()),
        (NoticeKind::Notify, "Agent a7 finished")
    );
}

#[test]
fn seed_003_lines_load_without_permissions_and_deny() {
    let config = load(EXAMPLE, "").unwrap();
    assert_eq!(config.warnings.len(), 1);
    assert!(config.warnings.to_string().contains("does not name `shellExec`"));
    let denied = fire(&engine(config), "pre:tool", &json!({"tool_name": "shell", "tool_input": {}}));
    assert_eq!(denied.decision, Some(Decision::Deny));
    assert!(denied.reason.unwrap().contains("shellExec"));
}

#[test]
fn a_line_knows_its_place_its_order_and_its_name() {
    let script = "# first\r\n\r\n  hook pre:tool --priority -5 --name 'my guard' /deny no\rhook pre:tool /log info x\n";
    let config = load(script, "hooks: {PreToolUse: [{name: plain, command: 'true'}]}").unwrap();
    let engine = engine(config);
    let explained = engine.fire_blocking(payload::PreToolUse::new("x", ""));
    let order: Vec<&str> = explained.reports.iter().map(|report| &*report.hook).collect();
    assert_eq!(order, ["my guard", "PreToolUse[1]", "plain"]);
    let config = load(script, "").unwrap();
    let origins: Vec<(usize, usize)> = config
        .hooks
        .iter()
        .map(|hook| hook.origin.as_ref().map(|at| (at.line, at.column)).unwrap())
        .collect();
    assert_eq!(origins, [(3, 3), (4, 1)]);
    assert!(config.hooks[0].origin.as_ref().unwrap().file.ends_with("hooks.arma"));
    assert_eq!(config.hooks[1].priority, 50);
}

#[test]
fn a_byte_order_mark_and_a_missing_line_break_do_not_matter() {
    let input = json!({"prompt": "p"});
    assert_eq!(notices("\u{feff}hook pre:message /log info $prompt", "PreMessage", &input), ["p"]);
}

#[test]
fn names_of_events_take_matchers_as_points_do() {
    let bash = json!({"tool_name": "Bash", "tool_input": {}});
    assert_eq!(notices("hook PreToolUse:Bash /log info hi", "PreToolUse", &bash), ["hi"]);
    assert!(notices("hook PreToolUse:Read /log info hi", "PreToolUse", &bash).is_empty());
    assert_eq!(notices("hook PreToolUse:re:B.*$ /log info hi", "PreToolUse", &bash), ["hi"]);
    assert_eq!(notices("hook 'pre:tool:A | B*' /log info hi", "PreToolUse", &bash), ["hi"]);
}

#[test]
fn every_mistake_of_every_line_is_reported_at_once() {
    let text = errors("hok x\nhook pre:tol /deny $toool\nhook pre:tool --prio 1 /lgo x\nhook pre:tool\n");
    for wanted in [
        "hooks.arma:1:1: error: every line must begin with `hook`, but this begins with `hok`",
        "hooks.arma:2:6: error: unknown event `pre:tol`",
        "hooks.arma:2:20: error: unknown variable `$toool`",
        "hooks.arma:3:15: error: unknown option `--prio`",
        "hooks.arma:3:24: error: unknown command `/lgo`",
        "hooks.arma:4:14: error: a command like `/log` is missing here",
        "help: did you mean `/log`?",
        "help: did you mean `$tool`?",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert_eq!(text.matches(": error: ").count(), 6, "{text}");
}

#[test]
fn a_problem_shows_its_line_with_carets() {
    assert_eq!(
        errors("hook pre:message /log debug \"é $promt\"\n"),
        "hooks.arma:1:32: error: unknown variable `$promt`\n  |\n1 | hook pre:message /log debug \"é $promt\"\n  \
         |                                ^^^^^^\n  help: did you mean `$prompt`?"
    );
}

#[test]
fn a_name_that_is_taken_is_shown_with_both_places() {
    let yaml = "hooks: {PreToolUse: [{name: guard, command: 'true'}]}";
    let text = load("hook Stop --name guard /log info x\n", yaml).unwrap_err();
    assert!(text.contains("hooks.arma:1:18: error: there is already a hook named `guard`"), "{text}");
    assert!(text.contains("the first one is here: hooks.yaml:2:29"), "{text}");
}

#[test]
fn a_script_that_cannot_be_read_is_a_problem_at_its_path() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bytes.arma"), b"# ok\n\xff").unwrap();
    fs::write(folder.path().join("large.arma"), "#".repeat(1024 * 1024 + 1)).unwrap();
    let yaml = "scripts: [gone.arma, ., bytes.arma, large.arma, 5]\n";
    let text = Loader::default().text("c.yaml", yaml, folder.path()).load().unwrap_err().to_string();
    for wanted in [
        "c.yaml:1:11: error: the script does not exist: ",
        "c.yaml:1:22: error: the script is not a file: ",
        "c.yaml:1:25: error: the script is not UTF-8 text (byte 5, in line 2): ",
        "c.yaml:1:37: error: the script is larger than 1 MiB: ",
        "c.yaml:1:49: error: `scripts` must be text, but it is a number",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    let text = Loader::default().text("c", "scripts: {a: b}", "/").load().unwrap_err().to_string();
    assert!(
        text.contains("`scripts` must be a list of files like [hooks.arma], but it is a mapping"),
        "{text}"
    );
}

#[test]
fn one_script_may_stand_without_a_list() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.arma"), "hook Stop /notify done\n").unwrap();
    let config = Loader::default().text("c.yaml", "scripts: a.arma", folder.path()).load().unwrap();
    assert_eq!(config.hooks.len(), 1);
}

#[test]
fn a_file_of_nothing_but_mistakes_or_hooks_ends_soon() {
    let text = errors(&"x\n".repeat(400_000));
    assert_eq!(text.matches(": error: ").count(), 101);
    assert!(text.contains("the file has 100 errors up to here"));
    let text = errors(&"hook pre:view:render /deny a\n".repeat(36_000));
    assert!(text.contains("this is hook 51 of PreViewRender"));
    assert!(text.contains("the file has 35900 more warnings"));
    let text = errors(&"hook Stop --name a /log info x\n".repeat(33_000));
    assert!(text.contains("the file has 100 errors up to here"));
}

#[test]
fn permissions_of_a_later_file_count_and_the_strictest_wins() {
    let script = "hooks: {PreToolUse: [{run: /perms check shellExec}]}";
    let loader =
        || Loader::default().text("a", script, "/").text("b", "permissions: {shellExec: allow}", "/");
    let outcome =
        fire(&engine(loader().load().unwrap()), "pre:tool", &json!({"tool_name": "x", "tool_input": {}}));
    assert_eq!(outcome.decision, None);
    assert!(loader().text("c", "permissions: {shellExec: allow}", "/").load().is_ok());
    for (more, expected) in [("ask", Some(Decision::Ask)), ("deny", Some(Decision::Deny))] {
        let config = loader().text("c", &format!("permissions: {{shellExec: {more}}}"), "/").load().unwrap();
        let outcome = fire(&engine(config), "pre:tool", &json!({"tool_name": "x", "tool_input": {}}));
        assert_eq!(outcome.decision, expected, "{more}");
    }
}

#[test]
fn claudes_permissions_are_left_alone() {
    let settings =
        r#"{"hooks": {}, "permissions": {"allow": ["Bash(ls)"], "deny": [], "defaultMode": "plan"}}"#;
    assert!(Loader::default().text("settings.json", settings, "/").load().is_ok());
}

#[test]
fn run_lines_are_located_in_their_file() {
    let text = |yaml: &str| Loader::default().text("c", yaml, "/").load().unwrap_err().to_string();
    let yaml = "hooks:\n  Stop:\n    - run: \"/log debug \\\"é $promt\\\"\"\n";
    assert!(text(yaml).starts_with("c:3:28: error: unknown variable `$promt`"), "{}", text(yaml));
    let yaml = "hooks: {Stop: [{run: \"/log debug x\\n/log debug y\"}]}";
    assert!(text(yaml).contains("c:1:35: error: `run` is one line"), "{}", text(yaml));
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    for (line, wanted) in [
        ("hook post:tool /deny no", "1:16: warning: `/deny`: it denies, but PostToolUse has no deny"),
        (
            "hook post:tool /perms check x",
            "1:16: warning: `/perms`: it can deny, but PostToolUse has no deny",
        ),
        ("hook pre:git:write /context x", "`/context`: it adds context, but PreGitWrite has no context"),
        ("hook pre:git:write /perms check x", "PreGitWrite cannot ask, so `x: ask` denies here"),
        ("hook pre:tool /perms check xy", "did you mean `x`?"),
        ("hook pre:tool /log info $prompt", "PreToolUse has no `prompt`, so `$prompt` is empty"),
        ("hook pre:tool /log info $args.command", "write `${args.command}` for what is inside"),
        ("hook pre:tool /log info ${tool_inptu.x}", "did you mean `tool_input`?"),
        ("hook pre:tool:a,b /log info x", "no tool has a comma in its name"),
    ] {
        let warnings = load(line, "permissions: {x: ask}").unwrap().warnings.to_string();
        assert!(warnings.contains(wanted), "{line}\n{warnings}");
    }
    for line in
        ["hook Stop /deny go", "hook pre:tool /perms check x", "hook pre:tool /log info ${outcome.by}"]
    {
        assert!(load(line, "permissions: {x: ask}").unwrap().warnings.is_empty(), "{line}");
    }
}
