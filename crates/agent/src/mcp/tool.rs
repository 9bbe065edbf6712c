//! A server's tool, as a tool of the agent.

use std::sync::Arc;

use crosier::Json;
use serde_json::{Map, Value};

use super::config::Trust;
use super::connection::{RemoteTool, Reply};
use super::server::Server;
use crate::tool::output::BoundedOutput;
use crate::tool::{Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// Model services accept names up to this length.
const NAME_LIMIT: usize = 64;
/// The maximum number of bytes of text that are returned.
const TEXT_LIMIT: usize = 256 * 1024;
/// A server's description of a tool is cut after this many bytes.
const DESCRIPTION_LIMIT: usize = 4096;

/// A tool of an MCP server.
#[derive(Debug)]
pub struct McpTool {
    server: Arc<Server>,
    /// Its name at the server.
    remote: String,
    spec: ToolSpec,
    risk: Risk,
}

impl McpTool {
    pub(super) fn new(server: &Arc<Server>, tool: RemoteTool, name: String, trust: Trust) -> Self {
        let read_only = tool.read_only_hint && trust == Trust::ReadOnlyHints;
        let mut description = BoundedOutput::new(DESCRIPTION_LIMIT);
        description.take(tool.description.as_bytes());
        Self {
            server: Arc::clone(server),
            remote: tool.name,
            spec: ToolSpec {
                name,
                description: description.into_text(),
                input_schema: Json::from(tool.input_schema),
            },
            risk: if read_only { Risk::Read } else { Risk::Execute },
        }
    }

    /// The server's name.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server.name
    }

    /// The tool's name at its server.
    #[must_use]
    pub fn remote_name(&self) -> &str {
        &self.remote
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn risk(&self) -> Risk {
        self.risk
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments = arguments(input)?;
            let reply = self.server.call(&self.remote, arguments, context.timeout).await;
            let reply = reply.map_err(|error| {
                ToolError::new(format!("MCP server `{}`, tool `{}`: {error}", self.server.name, self.remote))
            })?;
            match reply {
                Reply::Done(Value::String(text)) => Ok(Json::from(cut(text))),
                Reply::Done(value) => Ok(bounded(&value)),
                Reply::Failed(why) => Err(ToolError::new(cut(why))),
            }
        })
    }
}

/// The input for the server: exactly what hooks have seen, or an error.
fn arguments(input: &Json) -> Result<Map<String, Value>, ToolError> {
    if input.is_null() {
        return Ok(Map::new());
    }
    if let Some(number) = inexact_integer(input.text()) {
        return Err(ToolError::new(format!("the number {number} cannot be passed to an MCP server exactly")));
    }
    match input.to_value() {
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(ToolError::new(format!("the input must be an object, not {}", input.kind_word()))),
        None => Err(ToolError::new("the input is nested too deeply or contains an invalid number")),
    }
}

/// The first integer that would lose digits when it is sent.
fn inexact_integer(json: &str) -> Option<&str> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = json[at..].find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
                let number = &json[at..end.map_or(json.len(), |length| at + length)];
                let is_integer = !number.contains(['.', 'e', 'E']);
                if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return Some(number);
                }
                at += number.len();
            }
            _ => at += 1,
        }
    }
    None
}

fn cut(text: String) -> String {
    if text.len() <= TEXT_LIMIT {
        return text;
    }
    let mut kept = BoundedOutput::new(TEXT_LIMIT);
    kept.take(text.as_bytes());
    kept.into_text()
}

/// Structured content; shortened to text when it is too large.
fn bounded(value: &Value) -> Json {
    let json = Json::from(value);
    if json.text().len() <= TEXT_LIMIT { json } else { Json::from(cut(json.text().to_owned())) }
}

/// The name of a server's tool for the model: `mcp__server__tool`, from letters, digits, `_` and `-`. The server's
/// part contains no `__`, so that no server can use a name that looks like another's.
#[must_use]
pub fn tool_name(server: &str, tool: &str) -> String {
    let plain = |text: &str| -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        text.chars().map(letter).collect()
    };
    let mut server_part = plain(server);
    while server_part.contains("__") {
        server_part = server_part.replace("__", "_");
    }
    let server_part = server_part.trim_matches('_');
    let name = format!("mcp__{server_part}__{}", plain(tool));
    if name.len() <= NAME_LIMIT {
        return name;
    }
    // A checksum of the full name keeps shortened names distinct.
    let tag = format!("_{:08x}", checksum(&format!("{server}\0{tool}")));
    format!("{}{tag}", &name[..NAME_LIMIT - tag.len()])
}

/// FNV-1a: short and the same everywhere. Nothing depends on its strength.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_no_servers_look_alike() {
        assert_eq!(tool_name("git", "commit"), "mcp__git__commit");
        assert_eq!(tool_name("my server!", "a.b/c"), "mcp__my_server__a_b_c");
        assert_eq!(tool_name("a__b", "c"), "mcp__a_b__c");
        assert_eq!(tool_name("a", "b__c"), "mcp__a__b__c");
        let long = tool_name("server", &"t".repeat(100));
        assert_eq!(long.len(), NAME_LIMIT);
        assert_ne!(long, tool_name("server", &"t".repeat(101)));
        assert!(tool_name("\u{e4}", "\u{f6}").is_ascii());
    }

    #[test]
    fn integers_that_would_lose_digits_are_found() {
        assert_eq!(inexact_integer(r#"{"a":18446744073709551615,"b":-9223372036854775808}"#), None);
        assert_eq!(inexact_integer(r#"{"a":"18446744073709551616","b":1.5,"c":1e30}"#), None);
        assert_eq!(inexact_integer(r#"{"a\"":[18446744073709551616]}"#), Some("18446744073709551616"));
        assert_eq!(inexact_integer("-9223372036854775809"), Some("-9223372036854775809"));
    }

    #[test]
    fn only_objects_are_handed_over() {
        assert_eq!(arguments(&Json::null()).unwrap(), Map::new());
        assert!(arguments(&Json::parse("[1]").unwrap()).is_err());
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert!(arguments(&Json::parse(&deep).unwrap()).unwrap_err().message.contains("too deeply"));
        let error = arguments(&Json::parse("{\"a\":123456789012345678901}").unwrap()).unwrap_err();
        assert!(error.message.starts_with("the number 123456789012345678901 cannot"));
    }
}
