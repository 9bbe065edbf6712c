//! Payloads around agents: made, started, stopped, done; and the members of a team.

use serde::{Deserialize, Serialize};

use super::Base;
use crate::json::Json;

/// A subagent is about to start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentStart {
    /// The fields that every event has; its `agent_id` gives way to the one below.
    #[serde(skip)]
    pub base: Base,
    /// The agent that this is about.
    pub agent_id: String,
    /// What kind of agent it is.
    pub agent_type: String,
}

/// A subagent wants to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentStop {
    /// The fields that every event has; its `agent_id` gives way to the one below.
    #[serde(skip)]
    pub base: Base,
    /// The agent that this is about.
    pub agent_id: String,
    /// What kind of agent it is.
    pub agent_type: String,
    /// The subagent's own transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_transcript_path: Option<String>,
    /// True when a hook has resumed it already.
    #[serde(default)]
    pub stop_hook_active: bool,
}

/// An agent is about to be created.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreAgentSpawn {
    /// The fields that every event has; its `agent_id` gives way to the one below.
    #[serde(skip)]
    pub base: Base,
    /// The agent that this is about.
    pub agent_id: String,
    /// What kind of agent it is.
    pub agent_type: String,
    /// What it will be made from.
    pub config: Json,
}

/// An agent is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostAgentComplete {
    /// The fields that every event has; its `agent_id` gives way to the one below.
    #[serde(skip)]
    pub base: Base,
    /// The agent that this is about.
    pub agent_id: String,
    /// What kind of agent it is.
    pub agent_type: String,
    /// What it came back with.
    pub result: Json,
}

/// A team member has nothing to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeammateIdle {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// Who is idle.
    pub teammate_name: String,
    /// The team.
    pub team_name: String,
}

/// A task of a team is about to be marked done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCompleted {
    /// The fields that every event has.
    #[serde(skip)]
    pub base: Base,
    /// The task.
    pub task_id: String,
    /// What it was about.
    pub task_subject: String,
    /// The task in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teammate_name: Option<String>,
    /// The team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
}
