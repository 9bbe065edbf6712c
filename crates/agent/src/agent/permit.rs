//! Whether a call may run: the layers of permissions, hooks on the request, a person.

use std::sync::Arc;

use crosier::payload::{PermissionRequest, PreToolUse};
use crosier::{Gates, Json, PermissionGate, ToolGate};

use super::actor::Actor;
use super::end::End;
use super::person::Question;
use super::tools::{Prepared, Ready};
use crate::permission::{HookDecision, PermissionMode, Ruling};
use crate::tool::{Risk, Tool};

impl Actor {
    pub(super) fn ruling(&self, name: &str, risk: Risk, input: &Json, hook: &HookDecision) -> Ruling {
        let folder = &self.session_context.settings.workspace;
        self.session_context.with_permissions(|now| now.ruling(name, risk, input, folder, hook))
    }

    /// The last layer: hooks on the request, then a person.
    pub(super) async fn ask(
        &mut self,
        id: String,
        name: &str,
        tool: Arc<dyn Tool>,
        input: Json,
        why: String,
    ) -> Result<Prepared, End> {
        let event = PermissionRequest::new(name, input.clone());
        let judged = input.clone();
        let refused = |reason: String| Ok(Prepared::Refused { id: id.clone(), reason });
        let (input, mut must_ask) = match self.fire(event).await.permission_gate() {
            PermissionGate::Interrupt(halt) => return Err(End::Halted(halt.reason)),
            PermissionGate::Deny(refusal) => {
                self.note("denied", &format!("{name}: {} ({})", refusal.reason, refusal.by)).await;
                return refused(refusal.reason.to_string());
            }
            PermissionGate::Allow { input: new, permissions } => {
                if let Some(updates) = permissions {
                    self.note("permissions", updates.text()).await;
                    for problem in self.session_context.update_permissions(&updates) {
                        self.note("ignored", &problem).await;
                    }
                }
                (new.unwrap_or(input), false)
            }
            PermissionGate::Ask(new) => (new.unwrap_or(input), true),
        };
        // A hook on the request can change the input after the guards decided: they judge the new one.
        if input.text() != judged.text() {
            let call = PreToolUse::new(name, input.clone()).tool_use_id(id.clone());
            match self.recheck(call).await.tool_gate() {
                ToolGate::Halt(halt) => return Err(End::Halted(halt.reason)),
                ToolGate::Deny(refusal) => {
                    self.note("denied", &format!("{name}: {} ({})", refusal.reason, refusal.by)).await;
                    return refused(refusal.reason.to_string());
                }
                ToolGate::Ask { .. } => must_ask = true,
                ToolGate::Allow(_) | ToolGate::Proceed(_) => {}
            }
        }
        // A changed input is checked against the rules again: a hook's allow never beats a deny rule.
        if let Ruling::Deny(reason) = self.ruling(name, tool.risk(), &input, &HookDecision::Allow) {
            return refused(reason);
        }
        if must_ask {
            let is_silent = self.session_context.with_permissions(|now| now.mode == PermissionMode::DontAsk);
            let person = self.session_context.person.clone().filter(|_| !is_silent);
            let Some(person) = person else {
                let reason = format!("{why}, and there is nobody to ask");
                self.note("denied", &format!("{name}: {reason}")).await;
                return refused(reason);
            };
            // Only hooks are told: the person sees the question itself.
            self.notify_hooks("permission_prompt", &format!("{name} needs permission: {why}")).await;
            let question = Question {
                agent_id: self.id.clone(),
                tool: name.to_owned(),
                input: input.text().to_owned(),
                why,
            };
            let interrupt = self.session_context.interrupt.clone();
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
}
