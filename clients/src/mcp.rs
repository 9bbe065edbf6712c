//! A small MCP server over stdio, for agents to call: `touch` makes a file, `fail` fails.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// Answers line by line until stdin ends.
pub(crate) fn serve() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?).unwrap_or_default();
        let Some(id) = request.get("id") else { continue };
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        match answer_to(&request) {
            Some(result) => answer["result"] = result,
            None => answer["error"] = json!({"code": -32601, "message": "no such method"}),
        }
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer_to(request: &Value) -> Option<Value> {
    let text =
        |text: String, failed: bool| json!({"content": [{"type": "text", "text": text}], "isError": failed});
    match request.get("method")?.as_str()? {
        "initialize" => {
            let version = request.pointer("/params/protocolVersion").cloned().unwrap_or(json!("2025-06-18"));
            let info = json!({"name": "demo", "version": "1.0.0"});
            Some(json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}))
        }
        "ping" => Some(json!({})),
        "tools/list" => {
            let schema =
                json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            let tool =
                |name: &str, what: &str| json!({"name": name, "description": what, "inputSchema": schema});
            Some(json!({"tools": [tool("touch", "Makes a file"), tool("fail", "Fails")]}))
        }
        "tools/call" => {
            let name = request.pointer("/params/arguments/name").and_then(Value::as_str).unwrap_or_default();
            if request.pointer("/params/name").and_then(Value::as_str) == Some("fail") {
                return Some(text("MCP-FAILED".to_owned(), true));
            }
            match std::fs::write(name, "made by the MCP server\n") {
                Ok(()) => Some(text(format!("MCP-TOUCHED {name}"), false)),
                Err(error) => Some(text(format!("MCP-FAILED {error}"), true)),
            }
        }
        _ => None,
    }
}
