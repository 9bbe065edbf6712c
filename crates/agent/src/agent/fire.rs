//! Fires an event for an agent, and draws the screen, which is an event too.

use std::time::Instant;

use crosier::payload::{Notification, PreViewRender};
use crosier::{Base, Decision, Event, Gates, Json, NoticeKind, Outcome, Payload};

use super::actor::Actor;
use super::listener::Fired;
use crate::view::View;

impl Actor {
    /// The base fields of every event of this agent.
    fn base(&self) -> Base {
        Base::default()
            .session_id(self.session_context.session.id().to_owned())
            .transcript_path(self.transcript.path().display().to_string())
            .cwd(self.session_context.settings.workspace.display().to_string())
            .permission_mode(self.session_context.with_permissions(|now| now.mode.word().to_owned()))
            .agent_id(self.id.clone())
    }

    /// Fires an event: its context waits for the next model call, its halt for the loop's next check, and its
    /// notices go to their recipients.
    pub(super) async fn fire<P: Payload>(&mut self, payload: P) -> Outcome {
        let outcome = self.fire_quietly(payload).await;
        for notice in outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Notify) {
            self.notify("hook", &notice.text).await;
        }
        let did = match outcome.decision {
            Some(Decision::Deny) => Some("denied"),
            _ if outcome.halt.is_some() => Some("halted"),
            Some(Decision::Ask) => Some("asked"),
            _ => None,
        };
        if let (Some(did), Some(by)) =
            (did, outcome.by.as_ref().or(outcome.halt.as_ref().map(|halt| &halt.by)))
        {
            let line = format!("{} {did} by {by}", outcome.event.name);
            self.session_context.change_view(|view| view.decide(line));
        }
        outcome
    }

    /// Asks the guards again about an event that was changed after it was fired.
    pub(super) async fn recheck<P: Payload>(&mut self, payload: P) -> Outcome {
        self.session_context.engine.recheck(payload.with_base(self.base())).await
    }

    async fn fire_quietly<P: Payload>(&mut self, payload: P) -> Outcome {
        let event = Event::from(payload.with_base(self.base()));
        let started = Instant::now();
        let outcome = self.session_context.engine.fire(&event).await;
        let took = started.elapsed();
        self.pending.collect(&outcome);
        if let Some(halt) = &outcome.halt {
            self.halted.get_or_insert_with(|| halt.reason.clone());
        }
        for notice in outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Log) {
            tracing::info!(hook = %notice.hook, level = %notice.level, "{}", notice.text);
        }
        if let Some(listener) = &self.session_context.listener {
            let input = event.wire().ok().and_then(|wire| Json::parse(wire).ok()).unwrap_or_default();
            let (agent_id, outcome) = (self.id.clone(), outcome.clone());
            listener.on_fire(&Fired { agent_id, event: event.name(), input, outcome, took });
        }
        outcome
    }

    /// Tells a person something. Notices about a notification are dropped: they could go on forever.
    pub(super) async fn notify(&mut self, kind: &str, message: &str) {
        self.notify_hooks(kind, message).await;
        self.show(format!("* {message}")).await;
    }

    /// Fires a notification about something that the person sees anyway.
    pub(super) async fn notify_hooks(&mut self, kind: &str, message: &str) {
        let notification = Notification::new(message, kind).title("Crosier".to_owned());
        self.fire_quietly(notification).await;
    }

    /// Adds a line to the screen and draws it; hooks can change what is drawn.
    pub(super) async fn show(&mut self, line: String) {
        let view = self.session_context.change_view(|view| view.add(line));
        let outcome = self.fire_quietly(PreViewRender::new(view.to_json())).await;
        let drawn = match outcome.action_gate() {
            crosier::ActionGate::Go(Some(changed)) => View::from_json(&changed).unwrap_or(view),
            _ => view,
        };
        self.session_context.draw(&drawn);
    }
}
