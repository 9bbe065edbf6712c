//! `crosier run` with a script of turns: sessions, transcripts, output, endings.

use serde_json::{Value, json};

use crate::run_lab::{Agent, events, lines};

const HELLO: &str = "- say: Hello.\n";
const TOOL: &str = "- {say: Looking., tools: [{name: Bash, input: {command: echo found}}]}\n- say: Done.\n";

#[test]
fn the_answer_is_data_and_the_rest_is_not() {
    let agent = Agent::new();
    let ran = agent.play(TOOL, &["look", "--allow", "Bash(echo *)"]).exits(0);
    assert_eq!(ran.stdout, "Done.\n");
    ran.complains("you: look").complains("main runs Bash").complains(&agent.sessions()[0]);
}

#[test]
fn a_prompt_comes_from_stdin_too() {
    let agent = Agent::new();
    agent.lab.write("turns.yaml", "- {when: from a pipe, say: Hello.}");
    let state = agent.state.path("");
    let args = ["run", "-", "--model", "scripted:turns.yaml", "--state-dir", state.to_str().unwrap()];
    assert_eq!(agent.lab.feed(&args, "from a pipe").exits(0).stdout, "Hello.\n");
    agent.lab.feed(&args, " \n").exits(64).complains("the prompt is empty");
    agent.lab.feed(&args, b"\xff").exits(65).complains("could not be read");
}

#[test]
fn with_json_every_message_and_event_is_a_line() {
    let agent = Agent::new();
    let ran = agent.play(TOOL, &["look", "--json", "--permission-mode", "bypassPermissions"]).exits(0);
    let lines = lines(&ran);
    let said: Vec<&Value> = lines.iter().filter(|line| line["type"] == "message").collect();
    let roles: Vec<&Value> = said.iter().map(|line| &line["message"]["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert_eq!(said[1]["message"]["content"][1]["input"], json!({"command": "echo found"}));
    assert!(said[2]["message"]["content"][0]["content"].as_str().unwrap().contains("found"));
    let tool = events(&lines, "PostToolUse");
    assert_eq!(tool[0]["tool_input"], json!({"command": "echo found"}));
    assert_eq!(tool[0]["agent_id"], "main");
    let id = &agent.sessions()[0];
    assert_eq!(lines.last().unwrap(), &json!({"type": "end", "end": "done", "reason": "", "session_id": id}));
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_hook_finds_in_the_transcript_what_came_before_it() {
    let agent = Agent::with(
        "hooks: {PreToolUse: [{name: reads, output: text, command: \"python3 -c \\\"import json,sys; \
         print(open(json.load(sys.stdin)['transcript_path']).read())\\\" > seen.txt\"}]}",
    );
    agent.play(TOOL, &["look", "--allow", "Bash"]).exits(0);
    let seen = agent.lab.read("seen.txt");
    let records: Vec<Value> = seen
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let said: Vec<&Value> = records.iter().filter(|record| record["record"] == "message").collect();
    assert_eq!(said.len(), 2, "{seen}");
    assert_eq!(said[1]["message"]["content"][1]["name"], "Bash");
    assert_eq!(agent.state.mode(&format!("sessions/{}", agent.sessions()[0])), 0o700);
}

#[test]
fn a_session_is_resumed_cleared_and_maintained() {
    let agent = Agent::new();
    agent.play(HELLO, &["one"]).exits(0);
    let id = agent.sessions()[0].clone();
    let sources = |lines: &[Value]| -> Vec<String> {
        events(lines, "SessionStart")
            .iter()
            .map(|start| start["source"].as_str().unwrap().to_owned())
            .collect()
    };
    let resumed = lines(&agent.play(HELLO, &["two", "--resume", &id, "--json"]).exits(0));
    assert_eq!(sources(&resumed), ["resume"]);
    let cleared = lines(&agent.play(HELLO, &["three", "--resume", &id, "--clear", "--json"]).exits(0));
    assert_eq!(sources(&cleared), ["resume", "clear"]);
    let kept = lines(&agent.play(HELLO, &["--maintenance", "--resume", &id, "--json"]).exits(0));
    assert_eq!(events(&kept, "Setup")[0]["trigger"], "maintenance");
    assert_eq!(events(&kept, "UserPromptSubmit"), Vec::<&Value>::new());
    assert_eq!(events(&kept, "SessionEnd")[0]["reason"], "done");
    assert_eq!(agent.sessions(), std::slice::from_ref(&id), "it is the same session all the time");
    let new = lines(&agent.play(HELLO, &["four", "--json"]).exits(0));
    assert_eq!(sources(&new), ["startup"]);
    assert_eq!(events(&new, "Setup")[0]["trigger"], "init");
    agent.play(HELLO, &["five", "--clear"]).exits(64).complains("--resume");
}

#[test]
fn an_unknown_session_is_answered_with_the_known_ones() {
    let agent = Agent::new();
    agent.play(HELLO, &["x", "--resume", "01234567"]).exits(64).complains("there is none yet");
    agent.play(HELLO, &["my first prompt"]).exits(0);
    let id = &agent.sessions()[0];
    let wrong = format!("{}x", &id[..id.len() - 1]);
    let ran = agent.play(HELLO, &["x", "--resume", &wrong]).exits(64);
    ran.complains(&format!("did you mean `{id}`?")).complains("my first prompt");
    agent.play(HELLO, &["x", "--resume", "../evil"]).exits(64).complains("is not the id of a session");
    assert_eq!(agent.sessions().len(), 1, "nothing was begun");
}

#[test]
fn how_it_ended_is_the_exit_status() {
    let deny =
        Agent::with("hooks: {UserPromptSubmit: [{name: no, reply: {decision: block, reason: not now}}]}");
    deny.play(HELLO, &["x"]).exits(1).complains("a hook denied it: not now");
    let halt = Agent::with("hooks: {PreToolUse: [{name: no, reply: {continue: false, stopReason: enough}}]}");
    halt.play(TOOL, &["x"]).exits(1).complains("a hook stopped the agent: enough");
    let agent = Agent::new();
    agent.play(TOOL, &["x", "--max-turns", "1"]).exits(1).complains("--max-turns");
    agent.play("[]", &["x"]).exits(1).complains("the script has no more turns");
}

#[test]
fn what_nobody_allows_is_denied_and_the_model_is_told() {
    let agent = Agent::new();
    let turns =
        "- {tools: [{name: Bash, input: {command: touch made}}]}\n- {when: there is nobody, say: Pity.}\n";
    assert_eq!(agent.play(turns, &["x"]).exits(0).stdout, "Pity.\n");
    assert!(!agent.lab.path("made").exists());
    // A deny rule is stronger than any mode; a hook's allow is not stronger than a disabled tool.
    let turns = "- {tools: [{name: Bash, input: {command: touch made}}]}\n- {say: Pity.}\n";
    let bypass = ["x", "--permission-mode", "bypassPermissions"];
    agent.play(turns, &[&bypass[..], &["--deny", "Bash(touch *)"]].concat()).exits(0);
    agent.play(turns, &[&bypass[..], &["--disable-tool", "Bash"]].concat()).exits(0).complains("is disabled");
    assert!(!agent.lab.path("made").exists());
    agent.play(turns, &bypass).exits(0);
    assert!(agent.lab.path("made").exists());
}

#[test]
fn tools_do_not_get_the_keys() {
    let agent = Agent::new();
    agent
        .lab
        .write("turns.yaml", "- {tools: [{name: Bash, input: {command: env > env.txt}}]}\n- {say: Done.}\n");
    let mut command = agent.command(&["run", "x", "--model", "scripted:turns.yaml", "--allow", "Bash"]);
    command.env("ANTHROPIC_API_KEY", "sk-secret").env("GREETING", "hello");
    agent.start(command).exits(0);
    let env = agent.lab.read("env.txt");
    assert!(env.contains("GREETING=hello") && !env.contains("sk-secret"), "{env}");
}

#[test]
fn mistakes_are_found_before_anything_begins() {
    let agent = Agent::new();
    let bad = |args: &[&str], code: i32, says: &str| {
        agent.play(HELLO, args).exits(code).complains(says);
    };
    bad(&["x", "--disable-tool", "Bsh"], 64, "did you mean `Bash`?");
    bad(&["x", "--allow", "Bash("], 64, "the rule `Bash(`");
    bad(&["x", "--permission-mode", "yolo"], 64, "bypassPermissions");
    bad(&["x", "--mcp", "gone.json"], 78, "gone.json");
    bad(&["x", "-c", "gone.yaml"], 78, "gone.yaml");
    bad(&[], 64, "<PROMPT>");
    agent.lab.write("mcp.json", "{}");
    bad(&["x", "--mcp", "mcp.json"], 78, "`mcpServers`");
    agent.play("- {sya: x}", &["x"]).exits(65).complains("did you mean `say`?");
    let run = |args: &[&str]| agent.start(agent.command(&[&["run", "x"], args].concat()));
    run(&[]).exits(78).complains("ANTHROPIC_API_KEY").complains("OPENAI_API_KEY").complains("--model");
    run(&["--model", "gpt-5"]).exits(64).complains("anthropic:NAME, openai:NAME or scripted:FILE");
    run(&["--model", "opnai:x"]).exits(64).complains("did you mean `openai:`?");
    run(&["--model", "openai:x"]).exits(78).complains("set OPENAI_API_KEY");
    run(&["--model", "scripted:gone.yaml"]).exits(65).complains("gone.yaml");
    run(&["--model", "openai:x", "--base-url", "localhost:1"]).exits(78).complains("http: or https:");
    assert!(!agent.state.path("history").exists());
}

#[test]
fn a_server_that_fails_is_named_and_the_agent_works_without_it() {
    let agent = Agent::new();
    agent.lab.write("mcp.json", r#"{"mcpServers": {"broken": {"command": "/no/such/program"}}}"#);
    let ran = agent.play(HELLO, &["x", "--mcp", "mcp.json"]).exits(0);
    ran.complains("MCP server `broken`");
}

#[test]
fn the_hooks_of_a_kind_of_agent_run_for_each_of_them() {
    let agent = Agent::with(
        "agents: {reviewer: {hooks: {SubagentStart: [{name: own, command: 'echo $CROSIER_AGENT_ID >> seen.txt'}]}}}",
    );
    let turns = "- {when: go, tools: [{name: Task, input: {prompt: a, agent_type: reviewer}}, \
         {name: Task, input: {prompt: b, agent_type: other}}]}\n- {say: Done., repeat: true}\n";
    agent.play(turns, &["go"]).exits(0);
    assert_eq!(agent.lab.read("seen.txt").lines().count(), 1, "{}", agent.lab.read("seen.txt"));
    assert!(agent.lab.read("seen.txt").starts_with("reviewer-"));
}

#[test]
fn the_state_is_where_the_system_wants_it() {
    let agent = Agent::new();
    agent.lab.write("turns.yaml", HELLO);
    let home = agent.state.path("home");
    let run = |variables: &[(&str, &str)]| {
        let mut command = agent.lab.command(&["run", "x", "--model", "scripted:turns.yaml"]);
        command.env_remove("XDG_STATE_HOME").envs(variables.iter().copied());
        agent.start(command)
    };
    run(&[]).exits(78).complains("--state-dir");
    let home_text = home.to_str().unwrap();
    // A relative one does not count.
    run(&[("HOME", home_text), ("XDG_STATE_HOME", "relative")]).exits(0);
    assert!(home.join(".local/state/crosier/sessions").is_dir());
    let state = agent.state.path("xdg");
    run(&[("HOME", home_text), ("XDG_STATE_HOME", state.to_str().unwrap())]).exits(0);
    assert!(state.join("crosier/sessions").is_dir());
    assert!(!agent.lab.path("relative").exists());
}

#[test]
fn a_long_answer_is_shown_whole() {
    let agent = Agent::new();
    let words = "word ".repeat(100);
    let turns =
        format!("- {{say: {words}, tools: [{{name: Glob, input: {{pattern: '*'}}}}]}}\n- {{say: Done.}}\n");
    let ran = agent.play(&turns, &["x"]).exits(0);
    assert_eq!(ran.stderr.matches("word").count(), 100, "{}", ran.stderr);
}

#[test]
fn a_reader_that_went_away_ends_the_session() {
    let agent = Agent::new();
    agent.lab.write("turns.yaml", &"- {tools: [{name: Glob, input: {pattern: '*'}}]}\n".repeat(5));
    let mut command = agent.command(&["run", "x", "--model", "scripted:turns.yaml", "--json"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    let mut child = command.spawn().unwrap();
    drop((command, child.stdin.take()));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let transcript = agent.state.read(&format!("sessions/{}/main.jsonl", agent.sessions()[0]));
    assert!(!transcript.contains("tool_result"), "{transcript}");
}

#[test]
fn a_team_works_on_its_tasks_and_a_person_compacts() {
    let agent = Agent::new();
    let turns = "- say: One.\n- say: Two.\n";
    let ran = agent.play(turns, &["--task", "a", "--task", "b", "--member", "ann:writer", "--json"]).exits(0);
    let seen = lines(&ran);
    assert_eq!((events(&seen, "TaskCompleted").len(), events(&seen, "TeammateIdle").len()), (2, 1));
    agent
        .play(turns, &["--task", "a", "--member", "ann", "--member", "ann"])
        .exits(64)
        .complains("each name once");
    let before = agent.sessions();
    agent.play(HELLO, &["hello"]).exits(0);
    let session = agent.sessions().into_iter().find(|session| !before.contains(session)).unwrap();
    let ran = agent.play("- say: A summary.\n", &["/compact", "--resume", &session, "--json"]).exits(0);
    let seen = lines(&ran);
    assert_eq!(events(&seen, "PreCompact")[0]["trigger"], "manual");
    agent.play(HELLO, &["/compact"]).exits(1).complains("no conversation to compact");
}

#[test]
fn a_command_that_fails_is_shown_to_have_failed() {
    let agent = Agent::new();
    let turns = "- {tools: [{name: Bash, input: {command: 'echo the-output; exit 3'}}, {name: Bash, input: {command: 'true'}}]}\n- {say: Done.}\n";
    let ran = agent.play(turns, &["x", "--allow", "Bash"]).exits(0);
    ran.complains("Bash failed: exit code 3");
    assert_eq!(ran.stderr.matches("failed").count(), 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("the-output"), "hooks have not seen it: {}", ran.stderr);
}
