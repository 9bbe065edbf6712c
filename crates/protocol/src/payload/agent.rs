//! Payloads of events about agents and about the members of a team.

use super::Base;
use crate::json::Json;

payloads! {
    /// A subagent is about to start.
    SubagentStart on agent_type of agent_id {
        /// The agent that this is about.
        required agent_id: String,
        /// What kind of agent it is.
        required agent_type: String,
    }

    /// A subagent wants to stop.
    SubagentStop on agent_type of agent_id {
        /// The agent that this is about.
        required agent_id: String,
        /// What kind of agent it is.
        required agent_type: String,
        /// The subagent's own transcript.
        optional agent_transcript_path: String,
        /// True when a hook has resumed it already.
        defaulted stop_hook_active: bool,
    }

    /// An agent is about to be created.
    PreAgentSpawn on agent_type of agent_id {
        /// The agent that this is about.
        required agent_id: String,
        /// What kind of agent it is.
        required agent_type: String,
        /// What it will be made from.
        required config: Json,
    }

    /// An agent is done.
    PostAgentComplete on agent_type of agent_id {
        /// The agent that this is about.
        required agent_id: String,
        /// What kind of agent it is.
        required agent_type: String,
        /// Its result.
        required result: Json,
    }

    /// A team member has nothing to do.
    TeammateIdle on teammate_name {
        /// Who is idle.
        required teammate_name: String,
        /// The team.
        required team_name: String,
    }

    /// A task of a team is about to be marked done.
    TaskCompleted {
        /// The task.
        required task_id: String,
        /// What it was about.
        required task_subject: String,
        /// The task in full.
        optional task_description: String,
        /// Who did it.
        optional teammate_name: String,
        /// The team.
        optional team_name: String,
    }
}
