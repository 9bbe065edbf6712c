//! `crosier run` with a service on this machine, in both languages: what the model really gets to read.

use serde_json::{Value, json};

use crate::model_server::{Reply, Request, Said, Server, anthropic, openai};
use crate::run_lab::Agent;

/// An answer in the language of `kind`.
fn say(kind: &str, said: &[Said<'_>]) -> Reply {
    let calls = said.iter().any(|part| matches!(part, Said::Call(..)));
    Reply::stream(match (kind, calls) {
        ("anthropic", true) => anthropic(said, "tool_use"),
        ("anthropic", false) => anthropic(said, "end_turn"),
        (_, true) => openai(said, "tool_calls"),
        (_, false) => openai(said, "stop"),
    })
}

/// The instructions of a request.
fn system(request: &Request) -> String {
    let body = &request.body;
    let text = body["system"].as_str().or(body["messages"][0]["content"].as_str());
    text.unwrap_or_default().to_owned()
}

/// The results of tools in a request, in order.
fn results(request: &Request) -> Vec<String> {
    let mut found = Vec::new();
    for message in request.body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            found.push(message["content"].as_str().unwrap().to_owned());
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_result" {
                found.push(block["content"].as_str().unwrap().to_owned());
            }
        }
    }
    found
}

const HOOKS: &str = "
hooks:
  SessionStart: [{name: greet, reply: {systemMessage: the sky is green today}}]
  PreToolUse:
    - {name: no-rm, matcher: Bash, command: \"if grep -q 'rm '; then echo 'rm is not for you' >&2; exit 2; fi\"}
  PostToolUse:
    - {name: more, matcher: Bash, reply: {inject: {content: remember the milk, strategy: user_message}}}
";

#[test]
fn the_model_reads_results_denials_and_what_hooks_add() {
    for kind in ["anthropic", "openai"] {
        let agent = Agent::with(HOOKS);
        agent.lab.write("fact.txt", "42");
        let calls = say(
            kind,
            &[
                Said::Text("Looking."),
                Said::Call("c1", "Bash", r#"{"command":"cat fact.txt"}"#),
                Said::Call("c2", "Bash", r#"{"command":"rm fact.txt"}"#),
            ],
        );
        let server = Server::replies(vec![calls, say(kind, &[Said::Text("It is 42.")])]);
        let ran = agent.call(kind, &server, &["What is it?", "--allow", "Bash"]).exits(0);
        assert_eq!(ran.stdout, "It is 42.\n");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{kind}");
        // Context goes into the next instructions, once.
        assert!(system(&requests[0]).ends_with("\n\nthe sky is green today"), "{}", system(&requests[0]));
        assert!(!system(&requests[1]).contains("the sky"));
        let results = results(&requests[1]);
        assert!(results[0].contains("42") && results[1].contains("rm is not for you"), "{results:?}");
        assert!(agent.lab.path("fact.txt").exists());
        assert!(requests[1].body.to_string().contains("remember the milk"));
        assert!(!results[0].contains("remember the milk"), "strategies are never mixed");
        let tools = requests[0].body["tools"].to_string();
        for tool in ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task"] {
            assert!(tools.contains(&format!("\"{tool}\"")), "{tool}");
        }
        assert!(!ran.stderr.contains("sk-secret"));
    }
}

#[test]
fn a_resumed_session_is_told_to_the_model_whole() {
    for kind in ["anthropic", "openai"] {
        let agent = Agent::new();
        let call = say(kind, &[Said::Call("c1", "Glob", r#"{"pattern":"*.none"}"#)]);
        let server = Server::replies(vec![
            call,
            say(kind, &[Said::Text("None.")]),
            say(kind, &[Said::Text("Still none.")]),
            say(kind, &[Said::Text("New.")]),
        ]);
        agent.call(kind, &server, &["How many?"]).exits(0);
        let id = agent.sessions()[0].clone();
        agent.call(kind, &server, &["And now?", "--resume", &id]).exits(0);
        agent.call(kind, &server, &["Anew", "--resume", &id, "--clear"]).exits(0);
        let requests = server.requests();
        let before = requests[1].body["messages"].as_array().unwrap();
        let after = requests[2].body["messages"].as_array().unwrap();
        assert_eq!(after[..before.len()], before[..], "{kind}");
        let text = requests[2].body["messages"].to_string();
        for part in ["How many?", "*.none", "None.", "And now?"] {
            assert!(text.contains(part), "{part}");
        }
        let text = requests[3].body["messages"].to_string();
        assert!(text.contains("Anew") && !text.contains("How many?"), "{text}");
    }
}

#[test]
fn a_session_that_broke_off_in_a_call_goes_on() {
    let agent = Agent::new();
    let server =
        Server::replies(vec![say("anthropic", &[Said::Text("ok")]), say("anthropic", &[Said::Text("ok")])]);
    agent.call("anthropic", &server, &["first"]).exits(0);
    let id = agent.sessions()[0].clone();
    // As if the machine had stopped while a tool ran, in the middle of a line.
    let name = format!("sessions/{id}/main.jsonl");
    let call = json!({"type": "tool_use", "id": "c9", "name": "Bash", "input": {"command": "x"}});
    let record = json!({"record": "message", "message": {"role": "assistant", "content": [call]}});
    let text = agent.state.read(&name);
    agent.state.write(&name, &format!("{text}{record}\n{{\"record\":\"mess"));
    let ran = agent.call("anthropic", &server, &["second", "--resume", &id]).exits(0);
    ran.complains("1 lines of the session's transcript cannot be read");
    let messages = server.requests()[1].body["messages"].as_array().unwrap().clone();
    let last: &Value = &messages.last().unwrap()["content"];
    assert_eq!((&last[0]["tool_use_id"], &last[1]["text"]), (&json!("c9"), &json!("second")), "{last}");
}

#[test]
fn the_service_is_found_by_name_and_by_flag() {
    let agent = Agent::new();
    let server = Server::start(|_, _| say("openai", &[Said::Text("hi")]));
    let url = format!("http://localhost:{}/v1", server.port());
    // The flag is stronger than the environment, and a service of one's own needs no key.
    let mut command = agent.command(&["run", "x", "--model", "openai:m", "--base-url", &url]);
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:1");
    assert_eq!(agent.start(command).exits(0).stdout, "hi\n");
    assert_eq!(server.requests()[0].path(), "/v1/chat/completions");
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn the_key_that_is_set_chooses_the_model() {
    let agent = Agent::new();
    for (kind, path) in [("anthropic", "/v1/messages"), ("openai", "/chat/completions")] {
        let server = Server::start(move |_, _| say(kind, &[Said::Text("hi")]));
        let mut command = agent.command(&["run", "x"]);
        let name = kind.to_uppercase();
        command.env(format!("{name}_API_KEY"), "sk-secret").env(format!("{name}_BASE_URL"), server.url());
        agent.start(command).exits(0);
        assert_eq!(server.requests()[0].path(), path);
    }
}

#[test]
fn a_service_that_refuses_is_an_error_that_says_why() {
    let agent = Agent::new();
    let server =
        Server::start(|_, _| Reply::status(401, r#"{"error":{"message":"invalid x-api-key sk-secret"}}"#));
    let ran = agent.call("anthropic", &server, &["x"]).exits(1);
    ran.complains("the key was refused (401): invalid x-api-key [key]; check ANTHROPIC_API_KEY");
    assert!(!ran.stderr.contains("sk-secret"), "{}", ran.stderr);
    let server = Server::start(|_, _| Reply::status(404, r#"{"error":{"message":"model: model-1"}}"#));
    agent.call("openai", &server, &["x"]).exits(1).complains("no model `model-1`");
}

#[test]
fn a_busy_service_is_asked_again_and_the_person_told() {
    let agent = Agent::new();
    let busy = Reply::Status { status: 429, headers: "retry-after: 0\r\n", body: "busy".into() };
    let server = Server::replies(vec![busy, say("openai", &[Said::Text("hi")])]);
    let ran = agent.call("openai", &server, &["x"]).exits(0);
    ran.complains("answered 429: busy; asking again in");
    assert_eq!(ran.stdout, "hi\n");
}
