//! The configurations that the documents behind Crosier print load as they are and behave as their text says.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Two levels of hooks, as MassGen's design prints them.
const MASSGEN: &str = r#"# Global hooks - apply to ALL agents
hooks:
  PreToolUse:
    - matcher: "*"
      handler: "massgen.hooks.audit_all_tools"
      type: "python"

agents:
  - id: "agent1"
    backend:
      # Per-agent hooks - extend global by default
      hooks:
        PreToolUse:
          - matcher: "Write"
            handler: "custom_write_hook.py"
            type: "command"
        PostToolUse:
          override: true  # Only use per-agent hooks, disable global
          hooks:
            - handler: "agent1_logging.py"
              type: "command"
"#;

/// Settings and script lines, as Armament's documentation prints them.
const ARMAMENT: &str = "hooks:
  errorBehavior: log    # skip | abort | log
  timeout: 5000         # Max hook execution time (ms)
  maxHooksPerPoint: 50  # Safety limit
";
const SCRIPT: &str = r#"hook pre:message /log debug "Sending: $prompt"
hook pre:tool:shell /perms check shellExec
hook post:agent:complete /notify "Agent $agent finished"
"#;

fn fire(folder: &Path, event: &str, agent: Option<&str>, input: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crosier"));
    command.args(["fire", event, "-c", "config.yaml"]).current_dir(folder);
    // Without a home folder there is no daemon, and nothing of the person who runs the tests is touched.
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    if let Some(agent) = agent {
        command.args(["--agent", agent]);
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ran(outcome: &Value) -> Vec<&str> {
    outcome["reports"].as_array().unwrap().iter().map(|report| report["hook"].as_str().unwrap()).collect()
}

fn massgen(folder: &Path) {
    fs::write(folder.join("config.yaml"), MASSGEN).unwrap();
    fs::create_dir_all(folder.join("massgen")).unwrap();
    fs::write(folder.join("massgen/__init__.py"), "").unwrap();
    let audit = "class Result:\n    allowed = True\n    decision = 'allow'\n    reason = None\n\n\
                 def audit_all_tools(event):\n    print(event.tool_name)\n    return Result()\n";
    fs::write(folder.join("massgen/hooks.py"), audit).unwrap();
    let deny = "import json, sys\nevent = json.load(sys.stdin)\n\
                print(json.dumps({'allowed': False, 'decision': 'deny', 'reason': 'no ' + event['tool_name']}))\n";
    fs::write(folder.join("custom_write_hook.py"), deny).unwrap();
    let log = "import json, os, sys\njson.load(sys.stdin)\n\
               print(json.dumps({'inject': {'content': os.environ['MASSGEN_AGENT_ID'], 'strategy': 'tool_result'}}))\n";
    fs::write(folder.join("agent1_logging.py"), log).unwrap();
}

#[test]
fn global_hooks_hold_for_every_agent_and_an_agents_own_extend_them() {
    let folder = tempfile::tempdir().unwrap();
    massgen(folder.path());
    let write = r#"{"tool_name": "Write", "tool_input": {}}"#;
    let anybody = fire(folder.path(), "PreToolUse", Some("agent2"), write);
    assert_eq!(ran(&anybody), ["PreToolUse[1]"]);
    assert_eq!(anybody["decision"], Value::Null, "an audit hook must not skip a prompt: {anybody}");
    let agent1 = fire(folder.path(), "PreToolUse", Some("agent1"), write);
    assert_eq!(ran(&agent1), ["PreToolUse[1]", "agent1/PreToolUse[1]"]);
    assert_eq!((&agent1["decision"], &agent1["reason"]), (&"deny".into(), &"no Write".into()));
}

#[test]
fn an_overriding_agent_runs_only_its_own_hooks() {
    let folder = tempfile::tempdir().unwrap();
    massgen(folder.path());
    let input = r#"{"tool_name": "Write", "tool_input": {}, "tool_response": "ok"}"#;
    let outcome = fire(folder.path(), "PostToolUse", Some("agent1"), input);
    assert_eq!(ran(&outcome), ["agent1/PostToolUse[1]"]);
    assert_eq!(outcome["inject"][0]["content"], "agent1");
}

#[test]
fn script_lines_log_check_permissions_and_notify() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hooks.arma"), SCRIPT).unwrap();
    fs::set_permissions(folder.path().join("hooks.arma"), fs::Permissions::from_mode(0o600)).unwrap();
    let more = "scripts: [hooks.arma]\npermissions: {shellExec: ask}\n";
    fs::write(folder.path().join("config.yaml"), format!("{ARMAMENT}{more}")).unwrap();

    let message = fire(folder.path(), "pre:message", None, r#"{"prompt": "hi"}"#);
    assert_eq!(message["notices"][0]["text"], "Sending: hi");
    assert_eq!(
        (&message["notices"][0]["kind"], &message["notices"][0]["level"]),
        (&"log".into(), &"debug".into())
    );

    let shell = fire(folder.path(), "pre:tool", None, r#"{"tool_name": "shell", "tool_input": "ls"}"#);
    assert_eq!(shell["decision"], "ask");
    let other = fire(folder.path(), "pre:tool", None, r#"{"tool_name": "read", "tool_input": "x"}"#);
    assert_eq!(ran(&other), Vec::<&str>::new());

    let done = r#"{"agent_id": "a7", "agent_type": "t", "result": null}"#;
    let complete = fire(folder.path(), "post:agent:complete", None, done);
    assert_eq!(complete["notices"][0]["text"], "Agent a7 finished");
    assert_eq!(complete["notices"][0]["kind"], "notify");
}
