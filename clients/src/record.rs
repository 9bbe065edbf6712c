//! A hook that has no opinion and records what it gets.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

/// The maximum number of bytes that are read.
const LARGEST: u64 = 16 << 20;

/// Writes stdin to `DIR/AGENT/EVENT.TOOL.json`, with placeholders for what differs from run to run.
pub(crate) fn record(dir: &Path, agent: &str, event: &str) -> anyhow::Result<()> {
    let mut text = String::new();
    std::io::stdin().take(LARGEST).read_to_string(&mut text)?;
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let find = |keys: &[&str]| keys.iter().find_map(|key| value.pointer(key)?.as_str());
    let name = match find(&["/tool_name", "/toolName", "/tool_call/name", "/preToolUse/toolName", "/tool"]) {
        Some(tool) => format!("{event}.{}.json", tool.replace('/', "_")),
        None => format!("{event}.json"),
    };
    let folder = dir.join(agent);
    fs::create_dir_all(&folder)?;
    if let Some(session) = find(&["/session_id", "/sessionId", "/sessionID", "/taskId"]) {
        text = text.replace(session, "SESSION");
    }
    let here = std::env::current_dir()?;
    // A hook runs in the project, which is beside the home.
    if let Some(run) =
        here.ancestors().find(|folder| folder.join("home").is_dir() && folder.join("project").is_dir())
    {
        for (name, word) in [("project", "/PROJECT"), ("home", "/HOME"), ("tmp", "/TMP")] {
            let path = run.join(name).display().to_string();
            text = text.replace(&path, word).replace(&path.replace(['/', '.'], "-"), &word.replace('/', "-"));
        }
    }
    fs::write(folder.join(name), text)?;
    Ok(())
}
