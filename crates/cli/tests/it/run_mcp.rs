//! `crosier run --mcp`: tools of a real server process, offered to the model and called.

use serde_json::json;

use crate::model_server::{Reply, Said, Server, anthropic};
use crate::run_lab::Agent;

/// A server that speaks over stdin and stdout.
const SERVER: &str = r#"
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        result = {"tools": [{"name": "say", "description": "Says it.", "inputSchema": schema}]}
    elif method == "tools/call":
        text = params["arguments"]["text"] + " " + os.environ.get("VOICE", "") + os.environ.get("OPENAI_API_KEY", "")
        result = {"content": [{"type": "text", "text": text}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn a_tool_of_a_server_is_offered_permitted_and_called() {
    let agent =
        Agent::with("hooks: {PreToolUse: [{name: seen, matcher: 'mcp__*', command: 'cat > seen.json'}]}");
    agent.lab.write("server.py", SERVER);
    let server = json!({"command": "python3", "args": ["server.py"], "env": {"VOICE": "${LOUD:-softly}"}});
    agent.lab.write("mcp.json", &json!({"mcpServers": {"echo": server}}).to_string());
    let call = |id: &str| anthropic(&[Said::Call(id, "mcp__echo__say", r#"{"text":"hello"}"#)], "tool_use");
    let done = anthropic(&[Said::Text("Done.")], "end_turn");
    let run = |args: &[&str]| {
        let service = Server::replies(vec![Reply::stream(call("c1")), Reply::stream(done.clone())]);
        agent.call("anthropic", &service, &[&["x", "--mcp", "mcp.json"], args].concat()).exits(0);
        let requests = service.requests();
        assert!(requests[0].body["tools"].to_string().contains("mcp__echo__say"));
        requests[1].body["messages"][2]["content"][0]["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(run(&["--allow", "mcp__echo__say"]), "hello softly");
    assert!(agent.lab.read("seen.json").contains("mcp__echo__say"));
    assert!(
        run(&[]).contains("there is nobody to ask"),
        "what a server can do is not known: it is asked for"
    );
    assert!(run(&["--disable-tool", "mcp__echo__*"]).contains("disabled"));
}
