//! Tool calls: hooks before, permission, the tool, hooks after.

use std::sync::Arc;

use crosier::payload::{PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse};
use crosier::{Gates, Json, OutputGate, PermissionGate, ResultGate, Strategy, ToolGate};

use super::actor::{Actor, End};
use super::person::Question;
use super::spawn::TASK;
use crate::conversation::{Block, Message, Role};
use crate::permission::{HookSays, PermissionMode, Ruling};
use crate::tool::{Risk, Tool, ToolContext, ToolError};

/// What stands in for an output that a hook hides.
const SUPPRESSED: &str = "[output suppressed by hook]";

/// One call that was let through.
struct Ready {
    id: String,
    tool: Arc<dyn Tool>,
    input: Json,
}

/// A call that will run, or what the model reads instead.
enum Prepared {
    Ready(Ready),
    Refused { id: String, reason: String },
}

type Call = (String, String, Json);
type Ran = Result<Json, ToolError>;

impl Actor {
    /// Runs the calls of one turn. Neighbours that only read run together; hooks always run in order.
    pub(super) async fn call_tools(&mut self, calls: Vec<Call>) -> Result<(), End> {
        let mut results = Vec::with_capacity(calls.len());
        let mut messages = Vec::new();
        let mut halted = None;
        let mut calls = calls.into_iter().peekable();
        while let Some(call) = calls.next() {
            let mut batch = vec![call];
            while self.reads(&batch[0].1) && calls.peek().is_some_and(|(_, name, _)| self.reads(name)) {
                batch.extend(calls.next());
            }
            let mut prepared = Vec::with_capacity(batch.len());
            for call in batch {
                prepared.push(self.prepare(call).await?);
            }
            let ran = self.run_batch(&prepared).await;
            for (prepared, ran) in prepared.into_iter().zip(ran) {
                let (block, gate) = self.after(prepared, ran).await;
                results.push(block);
                messages.extend(gate.inject.into_iter().map(|injected| injected.content));
                halted = halted.or(gate.halt);
            }
            if halted.is_some() || self.parts.interrupt.is_set() {
                break;
            }
        }
        // Every call gets a result, also one that was not reached: a model's service insists on it.
        for (id, ..) in calls {
            let content = "not run: the loop was stopped before it".to_owned();
            results.push(Block::ToolResult { tool_use_id: id, content, is_error: true });
        }
        let failed = |error: crate::session::SessionError| End::Failed(error.to_string());
        self.say(Message { role: Role::User, content: results }).map_err(failed)?;
        for content in messages {
            self.say(Message::user(content)).map_err(failed)?;
        }
        match halted {
            Some(halt) => Err(End::Halted(halt.reason)),
            None if self.parts.interrupt.is_set() => Err(End::Interrupted),
            None => Ok(()),
        }
    }

    fn reads(&self, name: &str) -> bool {
        self.parts.tool(name).is_some_and(|tool| tool.risk() == Risk::Read)
    }

    /// Hooks and permission.
    async fn prepare(&mut self, (id, name, input): Call) -> Result<Prepared, End> {
        let Some(tool) = self.parts.tool(&name) else {
            let names: Vec<String> = self.parts.tools.iter().map(|tool| tool.spec().name.clone()).collect();
            let near = crosier::protocol::nearest::nearest(&name, names.iter().map(String::as_str));
            let near = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
            return Ok(Prepared::Refused { id, reason: format!("there is no tool {name}{near}") });
        };
        let event = PreToolUse {
            tool_name: name.clone(),
            tool_input: input.clone(),
            tool_use_id: Some(id.clone()),
            ..Default::default()
        };
        let (hook, input) = match self.fire(event).await.tool_gate() {
            ToolGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ToolGate::Deny(refusal) => {
                self.note("denied", &format!("{name}: {} ({})", refusal.reason, refusal.by)).await;
                return Ok(Prepared::Refused { id, reason: refusal.reason.to_string() });
            }
            ToolGate::Ask { reason, input: new } => {
                (HookSays::Ask(reason.map(|r| r.to_string())), new.unwrap_or(input))
            }
            ToolGate::Allow(new) => (HookSays::Allow, new.unwrap_or(input)),
            ToolGate::Proceed(new) => (HookSays::Nothing, new.unwrap_or(input)),
        };
        match self.parts.permissions.rule(&name, tool.risk(), &input, &hook) {
            Ruling::Allow => Ok(Prepared::Ready(Ready { id, tool, input })),
            Ruling::Deny(reason) => {
                self.note("denied", &format!("{name}: {reason}")).await;
                Ok(Prepared::Refused { id, reason })
            }
            Ruling::Ask(why) => self.ask(id, &name, tool, input, why).await,
        }
    }

    /// The last layer: hooks on the request, then a person.
    async fn ask(
        &mut self,
        id: String,
        name: &str,
        tool: Arc<dyn Tool>,
        input: Json,
        why: String,
    ) -> Result<Prepared, End> {
        let event =
            PermissionRequest { tool_name: name.to_owned(), tool_input: input.clone(), ..Default::default() };
        let refused = |reason: String| Ok(Prepared::Refused { id: id.clone(), reason });
        let (input, must_ask) = match self.fire(event).await.permission_gate() {
            PermissionGate::Interrupt(halt) => return Err(End::Halted(halt.reason)),
            PermissionGate::Deny(refusal) => {
                self.note("denied", &format!("{name}: {} ({})", refusal.reason, refusal.by)).await;
                return refused(refusal.reason.to_string());
            }
            PermissionGate::Allow { input: new, .. } => (new.unwrap_or(input), false),
            PermissionGate::Ask(new) => (new.unwrap_or(input), true),
        };
        // Another input is another question to the rules: an allow never beats a deny rule.
        if let Ruling::Deny(reason) = self.parts.permissions.rule(name, tool.risk(), &input, &HookSays::Allow)
        {
            return refused(reason);
        }
        if must_ask {
            let person =
                self.parts.person.clone().filter(|_| self.parts.permissions.mode != PermissionMode::DontAsk);
            let Some(person) = person else {
                let reason = format!("{why}, and nobody is there to be asked");
                self.note("denied", &format!("{name}: {reason}")).await;
                return refused(reason);
            };
            self.notify("permission_prompt", &format!("{name} needs permission: {why}")).await;
            let question = Question {
                agent_id: self.id.clone(),
                tool: name.to_owned(),
                input: input.text().to_owned(),
                why,
            };
            let interrupt = self.parts.interrupt.clone();
            let allowed = tokio::select! {
                biased;
                () = interrupt.wait() => return Err(End::Interrupted),
                allowed = person.allows(&question) => allowed,
            };
            if !allowed {
                return refused(format!("the person did not allow {name}"));
            }
        }
        Ok(Prepared::Ready(Ready { id, tool, input }))
    }

    async fn run_batch(&mut self, batch: &[Prepared]) -> Vec<Option<Ran>> {
        if let [Prepared::Ready(ready)] = batch {
            return vec![Some(self.run_one(ready).await)];
        }
        let parts = Arc::clone(&self.parts);
        let runs = batch.iter().map(|prepared| async {
            match prepared {
                Prepared::Ready(ready) => Some(run_tool(&parts, ready).await),
                Prepared::Refused { .. } => None,
            }
        });
        futures_util::future::join_all(runs).await
    }

    async fn run_one(&mut self, ready: &Ready) -> Ran {
        self.show(format!("{} runs {}", self.id, ready.tool.spec().name)).await;
        if ready.tool.spec().name == TASK {
            return self.spawn(&ready.input).await;
        }
        let context = context(&self.parts);
        match ready.tool.write(&ready.input, &context) {
            Some(Ok(write)) => self.write_file(write).await,
            Some(Err(error)) => Err(error),
            None => run_tool(&self.parts, ready).await,
        }
    }

    /// Hooks after a call, and what the model reads of it.
    async fn after(&mut self, prepared: Prepared, ran: Option<Ran>) -> (Block, ResultGate) {
        let nothing = || ResultGate { output: OutputGate::Keep, inject: Vec::new(), halt: None };
        let (id, name, input, ran) = match (prepared, ran) {
            (Prepared::Ready(ready), Some(ran)) => {
                (ready.id, ready.tool.spec().name.clone(), ready.input, ran)
            }
            (Prepared::Ready(Ready { id, .. }), None) | (Prepared::Refused { id, .. }, Some(_)) => {
                return (
                    Block::ToolResult { tool_use_id: id, content: String::new(), is_error: true },
                    nothing(),
                );
            }
            (Prepared::Refused { id, reason }, None) => {
                let content = format!("Error: {reason}");
                return (Block::ToolResult { tool_use_id: id, content, is_error: true }, nothing());
            }
        };
        let tool_use_id = Some(id.clone());
        let is_error = ran.is_err();
        let (mut content, mut gate) = match ran {
            Ok(response) => {
                let event = PostToolUse {
                    tool_name: name,
                    tool_input: input,
                    tool_response: response.clone(),
                    tool_use_id,
                    ..Default::default()
                };
                let gate = self.fire(event).await.result_gate();
                let content = match &gate.output {
                    OutputGate::Keep => response.plain().into_owned(),
                    OutputGate::Replace(new) => new.plain().into_owned(),
                    OutputGate::Suppress => SUPPRESSED.to_owned(),
                };
                (content, gate)
            }
            Err(error) => {
                let event = PostToolUseFailure {
                    tool_name: name,
                    tool_input: input,
                    tool_use_id,
                    error: error.message.clone(),
                    is_interrupt: self.parts.interrupt.is_set().then_some(true),
                    ..Default::default()
                };
                (format!("Error: {}", error.message), self.fire(event).await.result_gate())
            }
        };
        // Strategies are never mixed: these stay with the result, the others become messages after it.
        gate.inject.retain(|injected| match injected.strategy {
            Strategy::ToolResult => {
                content.push('\n');
                content.push_str(&injected.content);
                false
            }
            Strategy::UserMessage => true,
        });
        (Block::ToolResult { tool_use_id: id, content, is_error }, gate)
    }
}

fn context(parts: &super::Parts) -> ToolContext {
    ToolContext::new(parts.settings.workspace.clone(), parts.settings.tool_timeout)
}

/// Runs a tool until it is done, late or interrupted.
async fn run_tool(parts: &super::Parts, ready: &Ready) -> Ran {
    let context = context(parts);
    tokio::select! {
        biased;
        () = parts.interrupt.wait() => Err(ToolError::new("a person interrupted it")),
        ran = tokio::time::timeout(context.timeout, ready.tool.run(&ready.input, &context)) => {
            ran.unwrap_or_else(|_| Err(ToolError::new(format!("it was not done after {:?}", context.timeout))))
        }
    }
}
