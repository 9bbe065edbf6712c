use super::*;

fn read(text: &str) -> Result<Vec<McpServerConfig>, String> {
    let environment = [("TOKEN".into(), "s3cret".into())];
    read_config(text, &environment).map_err(|error| error.to_string())
}

fn one(server: &str) -> Result<McpServerConfig, String> {
    read(&format!(r#"{{"mcpServers":{{"s":{server}}}}}"#)).map(|mut servers| servers.remove(0))
}

#[test]
fn both_transports_are_read_in_order() {
    let servers = read(
        r#"{"other": 1, "mcpServers": {
            "z": {"command": "npx", "args": ["-y", "x"], "env": {"A": "${TOKEN}", "N": 1}, "cwd": "/w"},
            "off": {"command": "x", "disabled": true},
            "a": {"type": "http", "url": "https://x/${PATH_PART:-mcp}", "headers": {"Authorization": "Bearer ${TOKEN}"},
                  "startTimeout": 1.5, "handshake": "discover", "trustReadOnlyHints": true}}}"#,
    )
    .unwrap();
    let stdio = McpTransport::Stdio {
        command: "npx".to_owned(),
        args: vec!["-y".to_owned(), "x".to_owned()],
        env: vec![("A".to_owned(), "s3cret".to_owned()), ("N".to_owned(), "1".to_owned())],
        cwd: Some("/w".into()),
    };
    let http = McpTransport::Http {
        url: "https://x/mcp".to_owned(),
        headers: vec![("Authorization".to_owned(), "Bearer s3cret".to_owned())],
    };
    assert_eq!(servers[0], McpServerConfig::new("z", stdio));
    let expected = McpServerConfig {
        handshake: Handshake::Discover,
        start_timeout: Duration::from_millis(1500),
        trust: Trust::ReadOnlyHints,
        ..McpServerConfig::new("a", http)
    };
    assert_eq!(servers[1..], [expected]);
    assert!(!format!("{servers:?}").contains("s3cret"), "secrets are not shown");
}

#[test]
fn what_is_not_understood_is_refused_with_its_server() {
    for (server, why) in [
        ("{}", "needs either `command`"),
        (r#"{"command": "x", "url": "y"}"#, "needs either"),
        (r#"{"type": "http", "command": "x"}"#, "needs either"),
        (r#"{"type": "ws", "url": "x"}"#, "unknown type `ws`"),
        (r#"{"type": "sse", "url": "x"}"#, "use `http`"),
        (r#"{"comand": "x"}"#, "unknown field `comand`"),
        (r#"{"command": 1}"#, "invalid type"),
        (r#"{"command": "x", "env": {"A": []}}"#, "`A` must be text"),
        (r#"{"command": "${GONE}"}"#, "the variable `GONE` is not set"),
        (r#"{"command": "${GONE"}"#, "has no `}`"),
        (r#"{"command": "x", "startTimeout": 0}"#, "over 0"),
        (r#"{"command": "x", "handshake": "shake"}"#, "unknown handshake `shake`"),
    ] {
        let error = one(server).unwrap_err();
        assert!(error.starts_with("MCP server `s`: ") && error.contains(why), "{server}: {error}");
    }
    assert!(read("[]").unwrap_err().contains("no object `mcpServers`"));
    assert!(read("{").unwrap_err().contains("EOF"));
}
