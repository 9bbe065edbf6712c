//! Turns an agent's existing hooks into a Crosier configuration.
//!
//! Input: the agent's own file with hooks. Output: a `crosier.yaml` with the same commands, in Crosier's names,
//! units and matchers, and a list of what could not be translated.

use std::fmt::Write as _;

use crosier_protocol::Json;

use crate::json;
use crate::rows::all_rows;
use crate::table::{Agent, AgentEvent, TimeUnit};

/// A Crosier configuration, and what is missing from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The configuration.
    pub yaml: String,
    /// How many hooks are in it.
    pub hooks: usize,
    /// What could not be translated, one line each.
    pub missing: Vec<String>,
}

/// The characters of matchers that the agent takes as plain names.
const NAMES: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_| ";

/// Reads an agent's file with hooks.
///
/// # Errors
/// When the file is not JSON or has no hooks.
pub fn import(agent: &'static Agent, text: &str) -> Result<Imported, String> {
    let file = Json::parse(text.trim_start_matches('\u{feff}').trim());
    let file = file.map_err(|error| format!("it is not JSON: {error}"))?;
    let hooks = file.get("hooks").and_then(|hooks| hooks.entries()).ok_or("it has no `hooks`")?;
    let mut out = Imported::default();
    let mut sections: Vec<(&str, String)> = Vec::new();
    for (name, groups) in hooks {
        // Some files have settings beside the events.
        let Some(groups) = json::elements(&groups) else { continue };
        let Some(entry) = agent.named(&name) else {
            out.missing.push(format!("{name}: not a known event of {}", agent.title));
            continue;
        };
        let lines: String = groups.iter().map(|group| out.group(agent, entry, group)).collect();
        if lines.is_empty() {
            continue;
        }
        match sections.iter_mut().find(|(event, _)| *event == entry.event) {
            Some((_, all)) => all.push_str(&lines),
            None => sections.push((entry.event, lines)),
        }
    }
    out.yaml = format!("# From the hooks of {}.\nhooks:\n", agent.title);
    for (event, lines) in sections {
        // Writing to a string cannot fail.
        let _ = write!(out.yaml, "  {event}:\n{lines}");
    }
    Ok(out)
}

impl Imported {
    /// Adds the hooks of another file of the same agent.
    pub fn merge(&mut self, other: Self) {
        let sections = other.yaml.split_once("hooks:\n").map_or("", |(_, rest)| rest);
        for section in sections.split_inclusive('\n').fold(Vec::<String>::new(), sections_of) {
            let name = section.lines().next().unwrap_or_default().to_owned();
            let end = self.yaml.find(&format!("{name}\n")).map(|at| at + name.len() + 1);
            match end {
                Some(at) => self.yaml.insert_str(at, &section[name.len() + 1..]),
                None => self.yaml.push_str(&section),
            }
        }
        self.hooks += other.hooks;
        self.missing.extend(other.missing);
    }

    fn group(&mut self, agent: &Agent, entry: &AgentEvent, group: &Json) -> String {
        let matcher = group.get("matcher").and_then(|matcher| matcher.as_str().map(|text| text.into_owned()));
        let takes = all_rows().any(|row| row.name == entry.event && row.matcher.is_some());
        let matcher = match matcher.filter(|_| takes).map(|text| matcher_of(agent, entry, &text)) {
            None => None,
            Some(Ok(matcher)) => matcher,
            Some(Err(why)) => {
                self.missing.push(format!("{}: {why}", entry.name()));
                return String::new();
            }
        };
        let handlers = group.get("hooks").and_then(|hooks| json::elements(&hooks));
        // Some agents have no groups: the entry is the hook itself.
        let handlers = handlers.unwrap_or_else(|| vec![group.clone()]);
        handlers
            .iter()
            .filter_map(|handler| self.handler(agent, entry, matcher.as_deref(), handler))
            .collect()
    }

    fn handler(
        &mut self,
        agent: &Agent,
        entry: &AgentEvent,
        matcher: Option<&str>,
        handler: &Json,
    ) -> Option<String> {
        let members = handler.entries().unwrap_or_default();
        let text = |name: &str| json::text(&members, name);
        let mut miss = |what: String| self.missing.push(format!("{}: {what}", entry.name()));
        let kind = text("type").unwrap_or_else(|| "command".to_owned());
        if kind != "command" {
            miss(format!("a hook of type `{kind}`"));
            return None;
        }
        let Some(command) = text("command").filter(|command| !command.trim().is_empty()) else {
            miss("a hook without a command".to_owned());
            return None;
        };
        let args = json::at(&members, "args").and_then(|args| json::elements(&args));
        let words = args.iter().flatten().map(|word| format!(" {}", word.plain()));
        let line = std::iter::once(command.clone()).chain(words).collect::<String>();
        if line.contains("crosier") && line.contains(" hook ") {
            return None;
        }
        let mut keys: Vec<(&str, String)> = Vec::new();
        keys.extend(text("name").map(|name| ("name", quoted(&name))));
        keys.extend(matcher.map(|matcher| ("matcher", quoted(matcher))));
        match args {
            Some(args) => {
                let words: Vec<String> = args.iter().map(|word| quoted(&word.plain())).collect();
                let all = std::iter::once(quoted(&command)).chain(words).collect::<Vec<_>>();
                keys.push(("argv", format!("[{}]", all.join(", "))));
            }
            None => keys.push(("command", quoted(&command))),
        }
        keys.push(("timeout", quoted(&time(agent, json::at(&members, "timeout").as_ref()))));
        let is = |name: &str| json::at(&members, name).is_some_and(|value| value.text() == "true");
        if text("onFailure").as_deref() == Some("block") {
            keys.push(("fail_closed", "true".to_owned()));
        }
        if is("async") {
            keys.push(("background", "true".to_owned()));
        }
        const KNOWN: [&str; 9] = [
            "type",
            "command",
            "args",
            "timeout",
            "name",
            "onFailure",
            "async",
            "description",
            "statusMessage",
        ];
        for (name, _) in
            members.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()) && name != "matcher")
        {
            miss(format!("`{name}` of `{command}`"));
        }
        self.hooks += 1;
        let lines = keys.iter().enumerate().map(|(at, (key, value))| {
            let lead = if at == 0 { "    - " } else { "      " };
            format!("{lead}{key}: {value}\n")
        });
        Some(lines.collect())
    }
}

/// The sections of events, each with its hooks.
fn sections_of(mut all: Vec<String>, line: &str) -> Vec<String> {
    match all.last_mut() {
        Some(last) if line.starts_with("    ") => last.push_str(line),
        _ => all.push(line.to_owned()),
    }
    all
}

/// A matcher of Crosier that matches the same; `None` when it matches everything.
fn matcher_of(agent: &Agent, entry: &AgentEvent, text: &str) -> Result<Option<String>, String> {
    let text = text.trim();
    if text.is_empty() || text == "*" {
        return Ok(None);
    }
    // A list of names, separated by `|` (in Claude Code also by `,`).
    let is_claude = agent.name == "claude";
    let is_name = |c: char| NAMES.contains(c) || (is_claude && matches!(c, ',' | '-'));
    let is_own = |part: &str| agent.tools.iter().any(|tool| tool.agent_name == part);
    let parts: Vec<&str> = text.split(['|', ',']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let searches = agent.timeout.unit == TimeUnit::Milliseconds && !parts.iter().all(|part| is_own(part));
    if text.chars().all(is_name) && (!searches || entry.event == "SessionStart") {
        return Ok(Some(parts.join("|")));
    }
    if ["(?=", "(?!", "(?<=", "(?<!", "\\1"].iter().any(|look| text.contains(look)) {
        return Err(format!("the matcher `{text}` uses look-around, which matchers here do not support"));
    }
    // The agent's expression may match anywhere in the name, Crosier's must match the whole name.
    Ok(Some(format!("re:.*(?:{text}).*")))
}

/// A duration with its unit.
fn time(agent: &Agent, value: Option<&Json>) -> String {
    let number = value.and_then(|value| value.text().parse::<f64>().ok()).filter(|number| *number > 0.0);
    match (number, agent.timeout.unit) {
        (None, _) => format!("{}s", agent.timeout.default_s),
        (Some(number), TimeUnit::Milliseconds) => format!("{}ms", number.ceil()),
        (Some(number), TimeUnit::Seconds | TimeUnit::Fixed) => format!("{}ms", (number * 1000.0).ceil()),
    }
}

/// A text in quotes, which is YAML as well as JSON.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    json::write_text(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::find;

    fn imported(agent: &str, text: &str) -> Imported {
        import(find(agent).unwrap(), text).unwrap()
    }

    #[test]
    fn claude_codes_hooks() {
        let text = r#"{"model": "x", "hooks": {
            "PreToolUse": [{"matcher": "Edit, Write", "hooks": [{"type": "command", "command": "./a.sh \"x\"", "timeout": 5, "onFailure": "block"}]},
                           {"matcher": "Edit.*", "hooks": [{"type": "command", "command": "b", "args": ["c d"]}]},
                           {"matcher": "^(?!mcp__)", "hooks": [{"type": "command", "command": "never"}]}],
            "Stop": [{"matcher": "ignored", "hooks": [{"type": "command", "command": "s", "async": true, "if": "x"}, {"type": "prompt", "prompt": "p"}]}],
            "Frobbed": [{"hooks": []}],
            "PostToolUse": [{"hooks": [{"type": "command", "command": "/bin/crosier hook claude"}]}]}}"#;
        let all = imported("claude", text);
        assert_eq!(
            all.yaml,
            r#"# From the hooks of Claude Code.
hooks:
  PreToolUse:
    - matcher: "Edit|Write"
      command: "./a.sh \"x\""
      timeout: "5000ms"
      fail_closed: true
    - matcher: "re:.*(?:Edit.*).*"
      argv: ["b", "c d"]
      timeout: "600s"
  Stop:
    - command: "s"
      timeout: "600s"
      background: true
"#
        );
        assert_eq!(all.hooks, 3);
        let missing = all.missing.join("\n");
        for what in ["look-around", "type `prompt`", "`if` of `s`", "Frobbed"] {
            assert!(missing.contains(what), "{missing}");
        }
    }

    #[test]
    fn gemini_clis_hooks_have_milliseconds_and_other_names() {
        let text = r#"{"hooks": {"enabled": true, "BeforeTool": [{"matcher": "write_file|replace", "hooks": [{"name": "n", "type": "command", "command": "x", "timeout": 1500}]},
            {"matcher": "write_.*", "hooks": [{"type": "command", "command": "y"}]}]}}"#;
        let all = imported("gemini", text);
        assert!(
            all.yaml.contains("  PreToolUse:\n    - name: \"n\"\n      matcher: \"write_file|replace\"\n"),
            "{}",
            all.yaml
        );
        assert!(all.yaml.contains("timeout: \"1500ms\"") && all.yaml.contains("re:.*(?:write_.*).*"));
        assert_eq!(all.missing, Vec::<String>::new());
    }

    #[test]
    fn a_file_without_hooks_is_an_error() {
        assert!(import(find("codex").unwrap(), "{}").is_err());
        assert!(import(find("codex").unwrap(), "nonsense").is_err());
    }
}
