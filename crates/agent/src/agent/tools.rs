//! Tool calls: hooks before, permission, the tool, hooks after.

use std::sync::Arc;

use crosier::payload::{PostToolUse, PostToolUseFailure, PreToolUse};
use crosier::{Gates, Json, OutputGate, ResultGate, Strategy, ToolGate};

use super::actor::Actor;
use super::end::End;
use crate::conversation::{Block, Message, Role};
use crate::permission::{HookDecision, Ruling};
use crate::tool::{Risk, Task, Tool, ToolContext, ToolError};

/// Replaces an output that a hook hides.
const SUPPRESSED: &str = "[output suppressed by hook]";

/// A call as the model made it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    id: String,
    name: String,
    input: Json,
}

impl Call {
    pub(super) fn of(block: Block) -> Option<Self> {
        match block {
            Block::ToolUse { id, name, input } => Some(Self { id, name, input }),
            Block::Text { .. } | Block::ToolResult { .. } => None,
        }
    }

    /// The result of a call that was not run: a model's service requires a result for every call.
    fn not_run(self) -> Block {
        let content = "not run: the agent stopped first".to_owned();
        Block::ToolResult { tool_use_id: self.id, content, is_error: true }
    }
}

/// A call that may run.
pub(super) struct Ready {
    pub(super) id: String,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) input: Json,
}

/// A call that will run, or what the model gets instead.
pub(super) enum Prepared {
    Ready(Ready),
    Refused { id: String, reason: String },
}

type Ran = Result<Json, ToolError>;

/// Which calls of one turn may run together: those that only read, and subagents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Concurrency {
    Readers,
    Subagents,
}

impl Actor {
    /// Runs the calls of one turn. Adjacent calls that only read run together, and so do subagents; hooks of this
    /// agent always run in the order of the calls.
    pub(super) async fn call_tools(&mut self, calls: Vec<Call>) -> Result<(), End> {
        let mut results = Vec::with_capacity(calls.len());
        let mut messages = Vec::new();
        let mut end = self.check_stop().err();
        let mut calls = calls.into_iter().peekable();
        while end.is_none() {
            let Some(call) = calls.next() else { break };
            let concurrency = self.concurrency(&call);
            let mut batch = vec![call];
            while concurrency.is_some()
                && calls.peek().is_some_and(|next| self.concurrency(next) == concurrency)
            {
                batch.extend(calls.next());
            }
            let prepared = match self.prepare_all(&batch).await {
                Ok(prepared) => prepared,
                Err(stopped) => {
                    results.extend(batch.into_iter().map(Call::not_run));
                    end = Some(stopped);
                    break;
                }
            };
            let ran = self.run_batch(&prepared, concurrency).await;
            for (prepared, ran) in prepared.into_iter().zip(ran) {
                let (block, gate) = self.after(prepared, ran).await;
                results.push(block);
                messages.extend(gate.inject.into_iter().map(|injected| injected.content));
            }
            end = self.check_stop().err();
        }
        results.extend(calls.map(Call::not_run));
        let failed = |error: crate::session::SessionError| End::Failed(error.to_string());
        self.say(Message { role: Role::User, content: results }).map_err(failed)?;
        for content in messages {
            self.say(Message::user(content)).map_err(failed)?;
        }
        end.map_or(Ok(()), Err)
    }

    fn concurrency(&self, call: &Call) -> Option<Concurrency> {
        match self.setup.tool(&call.name) {
            Some(_) if call.name == Task::NAME => Some(Concurrency::Subagents),
            Some(tool) if tool.risk() == Risk::Read => Some(Concurrency::Readers),
            _ => None,
        }
    }

    async fn prepare_all(&mut self, batch: &[Call]) -> Result<Vec<Prepared>, End> {
        let mut prepared = Vec::with_capacity(batch.len());
        for call in batch {
            prepared.push(self.prepare(call.clone()).await?);
        }
        Ok(prepared)
    }

    /// Runs the hooks before a call, and decides whether it may run.
    async fn prepare(&mut self, Call { id, name, input }: Call) -> Result<Prepared, End> {
        let Some(tool) = self.setup.tool(&name).cloned() else {
            let near = crosier::protocol::nearest::nearest(&name, self.setup.names());
            let near = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
            return Ok(Prepared::Refused { id, reason: format!("there is no tool {name}{near}") });
        };
        let event = PreToolUse::new(name.as_str(), input.clone()).tool_use_id(id.clone());
        let (hook, input) = match self.fire(event).await.tool_gate() {
            ToolGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ToolGate::Deny(refusal) => {
                self.note("denied", &format!("{name}: {} ({})", refusal.reason, refusal.by)).await;
                return Ok(Prepared::Refused { id, reason: refusal.reason.to_string() });
            }
            ToolGate::Ask { reason, input: new } => {
                (HookDecision::Ask(reason.map(|r| r.to_string())), new.unwrap_or(input))
            }
            ToolGate::Allow(new) => (HookDecision::Allow, new.unwrap_or(input)),
            ToolGate::Proceed(new) => (HookDecision::Nothing, new.unwrap_or(input)),
        };
        match self.ruling(&name, tool.risk(), &input, &hook) {
            Ruling::Allow => Ok(Prepared::Ready(Ready { id, tool, input })),
            Ruling::Deny(reason) => {
                self.note("denied", &format!("{name}: {reason}")).await;
                Ok(Prepared::Refused { id, reason })
            }
            Ruling::Ask(why) => self.ask(id, &name, tool, input, why).await,
        }
    }

    async fn run_batch(&mut self, batch: &[Prepared], concurrency: Option<Concurrency>) -> Vec<Option<Ran>> {
        let ready: Vec<&Ready> = batch
            .iter()
            .filter_map(|prepared| match prepared {
                Prepared::Ready(ready) => Some(ready),
                Prepared::Refused { .. } => None,
            })
            .collect();
        for ready in &ready {
            self.show(format!("{} runs {}", self.id, ready.tool.spec().name)).await;
        }
        let ran = match concurrency {
            Some(Concurrency::Subagents) => self.run_subagents(&ready).await,
            Some(Concurrency::Readers) => {
                let session_context = Arc::clone(&self.session_context);
                futures_util::future::join_all(ready.iter().map(|ready| run_tool(&session_context, ready)))
                    .await
            }
            None => {
                let mut ran = Vec::with_capacity(ready.len());
                for ready in ready {
                    ran.push(self.run_one(ready).await);
                }
                ran
            }
        };
        let mut ran = ran.into_iter();
        let in_order = batch.iter().map(|prepared| match prepared {
            Prepared::Ready(_) => ran.next(),
            Prepared::Refused { .. } => None,
        });
        in_order.collect()
    }

    /// Subagents start in order, work concurrently, and are finished in order.
    async fn run_subagents(&mut self, ready: &[&Ready]) -> Vec<Ran> {
        let mut started = Vec::with_capacity(ready.len());
        for ready in ready {
            started.push(self.spawn_subagent(&ready.input).await);
        }
        let work = started.into_iter().map(|subagent| async {
            match subagent {
                Ok(subagent) => Ok(subagent.run().await),
                Err(error) => Err(error),
            }
        });
        let mut ran = Vec::with_capacity(ready.len());
        for finished in futures_util::future::join_all(work).await {
            ran.push(match finished {
                Ok(finished) => self.finish_subagent(finished).await,
                Err(error) => Err(error),
            });
        }
        ran
    }

    async fn run_one(&mut self, ready: &Ready) -> Ran {
        let context = context(&self.session_context);
        match ready.tool.write(&ready.input, &context) {
            Some(Ok(write)) => self.write_file(write).await,
            Some(Err(error)) => Err(error),
            None => run_tool(&self.session_context, ready).await,
        }
    }

    /// Runs the hooks after a call, and returns what the model gets.
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
        let is_error = ran.is_err();
        let (mut content, mut gate) = match ran {
            Ok(response) => {
                if let Some(code) = failed_with(&name, &response) {
                    self.show(format!("{name} failed: exit code {code}")).await;
                }
                let event = PostToolUse::new(name, input, response.clone()).tool_use_id(id.clone());
                let gate = self.fire(event).await.result_gate();
                let content = match &gate.output {
                    OutputGate::Keep => response.plain().into_owned(),
                    OutputGate::Replace(new) => new.plain().into_owned(),
                    OutputGate::Suppress => SUPPRESSED.to_owned(),
                };
                (content, gate)
            }
            Err(error) => {
                self.show(format!("{name} failed: {}", first_line(&error.message))).await;
                let event = PostToolUseFailure::new(name, input, error.message.as_str())
                    .tool_use_id(id.clone())
                    .is_interrupt(self.session_context.interrupt.is_set().then_some(true));
                (format!("Error: {}", error.message), self.fire(event).await.result_gate())
            }
        };
        // `tool_result` texts are added to the result; the others become messages after it.
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

/// The exit code of a command that failed. Its output is not shown here: hooks have not seen it yet.
fn failed_with(tool: &str, response: &Json) -> Option<String> {
    let code = response.get("exit_code").filter(|_| tool == "Bash")?;
    Some(code.plain().into_owned()).filter(|code| code != "0")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn context(session_context: &super::SessionContext) -> ToolContext {
    ToolContext::new(session_context.settings.workspace.clone(), session_context.settings.tool_timeout)
}

/// Runs a tool until it is done, times out or is interrupted.
async fn run_tool(session_context: &super::SessionContext, ready: &Ready) -> Ran {
    let context = context(session_context);
    tokio::select! {
        biased;
        () = session_context.interrupt.wait() => Err(ToolError::new("a person interrupted it")),
        ran = tokio::time::timeout(context.timeout, ready.tool.run(&ready.input, &context)) => {
            ran.unwrap_or_else(|_| Err(ToolError::new(format!("it did not finish within {:?}", context.timeout))))
        }
    }
}
