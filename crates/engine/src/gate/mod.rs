//! Turns an outcome into the enums that a host matches on.
//!
//! Any outcome can be read as a gate, and a denial or halt never becomes permission to continue. The enums are
//! exhaustive on purpose: a host that does not handle an answer must not compile.

mod pending;

use std::sync::Arc;

use crosier_protocol::{Decision, Directive, Injected, Json, Outcome};

pub use pending::PendingContext;

/// A refusal: why, and by which hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Arc<str>,
    /// The hook.
    pub by: Arc<str>,
    /// Whether the engine refused because the hook failed.
    pub by_failure: bool,
}

/// What to do with a tool call ([`PreToolUse`](struct@crosier_protocol::payload::PreToolUse)).
#[derive(Debug, Clone, PartialEq)]
pub enum ToolGate {
    /// Do not run it, and stop the loop.
    Halt(Directive),
    /// Do not run it; tell the model why.
    Deny(Refusal),
    /// Have a person decide.
    Ask {
        /// Why a person should look at it.
        reason: Option<Arc<str>>,
        /// The input to run it with, if they agree (`None`: the original one).
        input: Option<Json>,
    },
    /// Run it without asking a person, with this input (`None`: the original one).
    Allow(Option<Json>),
    /// No hook decided: apply the host's own permissions, to this input (`None`: the original one).
    Proceed(Option<Json>),
}

/// What to do with a question to a person ([`PermissionRequest`](struct@crosier_protocol::payload::PermissionRequest)).
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionGate {
    /// The tool does not run, and the loop stops.
    Interrupt(Directive),
    /// The tool does not run.
    Deny(Refusal),
    /// The tool runs without asking.
    Allow {
        /// The input to run it with (`None`: the original one).
        input: Option<Json>,
        /// Permission updates for the host.
        permissions: Option<Json>,
    },
    /// Ask the person about this input (`None`: the original one).
    Ask(Option<Json>),
}

/// What to do with something that is about to happen: a prompt, a spawn, a phase, a write, a compaction.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionGate {
    /// Do not do it, and stop the loop.
    Halt(Directive),
    /// Do not do it.
    Deny(Refusal),
    /// Do it, with this value (`None`: the original one).
    Go(Option<Json>),
}

/// What to do with a result: of a tool, or of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultGate {
    /// What to do with the output.
    pub output: OutputGate,
    /// What is added to the result or sent after it, in order.
    pub inject: Vec<Injected>,
    /// Set when the loop is to stop.
    pub halt: Option<Directive>,
}

/// What to do with an output.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputGate {
    /// Show it as it is.
    Keep,
    /// Replace it with this.
    Replace(Json),
    /// Hide it; a note takes its place.
    Suppress,
}

/// What to do when the loop wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopGate {
    /// Stop for good.
    Halt(Directive),
    /// Continue; the reason is for the model.
    Resume(Directive),
    /// Stop.
    Stop,
}

/// What to do with a teammate that is idle or a task that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkGate {
    /// Stop the teammate.
    Halt(Directive),
    /// Keep working; the reason is the feedback.
    KeepWorking(Refusal),
    /// It is done.
    Done,
}

/// Turns an [`Outcome`] into a gate.
pub trait Gates {
    /// For `PreToolUse`.
    fn tool_gate(&self) -> ToolGate;
    /// For `PermissionRequest`.
    fn permission_gate(&self) -> PermissionGate;
    /// For `UserPromptSubmit` and `PreMessage`.
    fn prompt_gate(&self) -> ActionGate;
    /// For `PreAgentSpawn`, `PreSessionPhase`, `PreGitWrite`, `PreViewRender` and `PreCompact`.
    fn action_gate(&self) -> ActionGate;
    /// For `PostToolUse`, `PostToolUseFailure` and `PostMessage`.
    fn result_gate(&self) -> ResultGate;
    /// For `Stop` and `SubagentStop`.
    fn stop_gate(&self) -> StopGate;
    /// For `TeammateIdle` and `TaskCompleted`.
    fn work_gate(&self) -> WorkGate;
}

fn refusal(outcome: &Outcome) -> Option<Refusal> {
    outcome.is_denied().then(|| Refusal {
        reason: outcome.reason.clone().unwrap_or_else(|| "denied".into()),
        by: outcome.by.clone().unwrap_or_else(|| "".into()),
        by_failure: outcome.by_failure,
    })
}

impl Gates for Outcome {
    fn tool_gate(&self) -> ToolGate {
        if let Some(halt) = &self.halt {
            return ToolGate::Halt(halt.clone());
        }
        if let Some(refusal) = refusal(self) {
            return ToolGate::Deny(refusal);
        }
        let input = self.updated_input.clone();
        match self.decision {
            Some(Decision::Ask) => ToolGate::Ask { reason: self.reason.clone(), input },
            Some(Decision::Allow) => ToolGate::Allow(input),
            _ => ToolGate::Proceed(input),
        }
    }

    fn permission_gate(&self) -> PermissionGate {
        if let Some(halt) = &self.halt {
            return PermissionGate::Interrupt(halt.clone());
        }
        if let Some(refusal) = refusal(self) {
            return PermissionGate::Deny(refusal);
        }
        let input = self.updated_input.clone();
        match self.decision {
            Some(Decision::Allow) => {
                PermissionGate::Allow { input, permissions: self.updated_permissions.clone() }
            }
            _ => PermissionGate::Ask(input),
        }
    }

    fn prompt_gate(&self) -> ActionGate {
        self.action_gate()
    }

    fn action_gate(&self) -> ActionGate {
        match (&self.halt, refusal(self)) {
            (Some(halt), _) => ActionGate::Halt(halt.clone()),
            (None, Some(refusal)) => ActionGate::Deny(refusal),
            (None, None) => ActionGate::Go(self.updated_input.clone()),
        }
    }

    fn result_gate(&self) -> ResultGate {
        let output = match (&self.updated_output, self.suppress_output) {
            (_, true) => OutputGate::Suppress,
            (Some(output), false) => OutputGate::Replace(output.clone()),
            (None, false) => OutputGate::Keep,
        };
        ResultGate { output, inject: self.inject.clone(), halt: self.halt.clone() }
    }

    fn stop_gate(&self) -> StopGate {
        match (&self.halt, &self.resume) {
            (Some(halt), _) => StopGate::Halt(halt.clone()),
            (None, Some(resume)) => StopGate::Resume(resume.clone()),
            (None, None) => StopGate::Stop,
        }
    }

    fn work_gate(&self) -> WorkGate {
        match (&self.halt, refusal(self)) {
            (Some(halt), _) => WorkGate::Halt(halt.clone()),
            (None, Some(refusal)) => WorkGate::KeepWorking(refusal),
            (None, None) => WorkGate::Done,
        }
    }
}
