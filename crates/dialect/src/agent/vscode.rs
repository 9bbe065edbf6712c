//! Agent hooks of VS Code.
//!
//! From its documentation; not run. It takes the replies of Claude Code.

use super::shape::{BEFORE_TOOL, BLOCK, CONTEXT, HALT, TELL};
use crate::table::{
    Agent, AgentEvent, EffectSupport, Mcp, Move, OutputShape, Page, Parts, Proof, TimeUnit, Timeout, Tool,
    Way,
};

const SEEN: EffectSupport = EffectSupport { tell: TELL, halt: HALT, ..EffectSupport::NOTHING };
const FILE: &[(&str, &str)] =
    &[("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string")];

pub(super) static VSCODE: Agent = Agent {
    name: "vscode",
    title: "VS Code",
    signs: &["hookEventName"],
    proof: Proof::Documentation,
    event_at: &["hook_event_name", "hookEventName"],
    fields: &[Move::new("sessionId", "session_id"), Move::new("transcriptPath", "transcript_path")],
    tools: &[
        Tool::new("run_in_terminal", "Bash"),
        Tool::new("runTerminalCommand", "Bash"),
        Tool::new("read_file", "Read").fields(FILE),
        Tool::new("create_file", "Write").fields(FILE),
        Tool::new("replace_string_in_file", "Edit").fields(FILE),
        Tool::new("insert_edit_into_file", "Edit").fields(FILE),
        Tool::new("apply_patch", "Edit").parts(Parts::Patch("input")),
        Tool::new("grep_search", "Grep").fields(&[("query", "pattern")]),
        Tool::new("file_search", "Glob").fields(&[("query", "pattern")]),
        Tool::new("list_dir", "LS"),
        Tool::new("runSubagent", "Task").also(&["Agent"]),
    ],
    mcp: Mcp::Same,
    version_at: "version",
    project: &[],
    text_at: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 30 },
    events: &[
        AgentEvent::new(&["PreToolUse"], "PreToolUse", BEFORE_TOOL),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: Way::Lost("a hook cannot change an output"),
                hide: Way::Lost("a hook cannot change an output"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", EffectSupport { context: CONTEXT, ..SEEN })
            .fields(&[Move::new("source", "source").values(&[("new", "startup")])]),
        AgentEvent::new(&["Stop"], "Stop", EffectSupport { resume: BLOCK, ..SEEN }),
        AgentEvent::new(&["SubagentStart"], "SubagentStart", EffectSupport { context: CONTEXT, ..SEEN }),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", EffectSupport { resume: BLOCK, ..SEEN }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: Way::Lost("a compaction cannot be stopped"),
                rewrite: Way::Lost("the agent accepts no instructions"),
                ..SEEN
            },
        ),
    ],
    page: Page {
        file: ".github/hooks/crosier.json in a repository, or ~/.copilot/hooks/crosier.json",
        entry: r#"{"hooks": {"PreToolUse": [{"type": "command", "command": "crosier hook vscode", "timeout": 30}]}}"#,
        fails: "A hook that times out and every exit status but 2 let the tool run.",
        traps: &["It also runs the hooks of Claude Code's settings."],
    },
};
