//! Firing an event for an agent, and drawing the screen, which is an event too.

use std::time::Instant;

use crosier::payload::{Notification, PreViewRender};
use crosier::{Base, Event, Gates, Json, NoticeKind, Outcome, Payload};

use super::actor::Actor;
use super::witness::Fired;
use crate::view::View;

impl Actor {
    /// What every event of this agent says.
    fn base(&self) -> Base {
        Base {
            session_id: Some(self.parts.session.id().to_owned()),
            transcript_path: Some(self.transcript.path().display().to_string()),
            cwd: Some(self.parts.settings.workspace.display().to_string()),
            permission_mode: Some(self.parts.with_permissions(|now| now.mode.word().to_owned())),
            agent_id: Some(self.id.clone()),
            ..Base::default()
        }
    }

    /// Fires an event: its context waits for the next model call, its halt for the next look at it, and its
    /// notices go to whom they are for.
    pub(super) async fn fire<P: Payload>(&mut self, payload: P) -> Outcome {
        let outcome = self.fire_quietly(payload).await;
        for notice in outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Notify) {
            self.notify("hook", &notice.text).await;
        }
        let denied = outcome.is_denied().then_some("denied");
        let did = denied.or_else(|| outcome.halt.as_ref().map(|_| "halted"));
        if let (Some(did), Some(by)) =
            (did, outcome.by.as_ref().or(outcome.halt.as_ref().map(|halt| &halt.by)))
        {
            let line = format!("{} {did} by {by}", outcome.event.name);
            self.parts.change_view(|view| view.decide(line));
        }
        outcome
    }

    /// Asks the guards about an event of which something changed after it was fired.
    pub(super) async fn recheck<P: Payload>(&mut self, payload: P) -> Outcome {
        self.parts.engine.recheck(payload.with_base(self.base())).await
    }

    async fn fire_quietly<P: Payload>(&mut self, payload: P) -> Outcome {
        let event = Event::from(payload.with_base(self.base()));
        let started = Instant::now();
        let outcome = self.parts.engine.fire(&event).await;
        let took = started.elapsed();
        self.pending.collect(&outcome);
        if let Some(halt) = &outcome.halt {
            self.halted.get_or_insert_with(|| halt.reason.clone());
        }
        for notice in outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Log) {
            tracing::info!(hook = %notice.hook, level = %notice.level, "{}", notice.text);
        }
        if let Some(witness) = &self.parts.witness {
            let input = event.wire().ok().and_then(|wire| Json::parse(wire).ok()).unwrap_or_default();
            let (agent_id, outcome) = (self.id.clone(), outcome.clone());
            witness.fired(&Fired { agent_id, event: event.name(), input, outcome, took });
        }
        outcome
    }

    /// Tells a person something. A notification's own notices are not told: they could go on for ever.
    pub(super) async fn notify(&mut self, kind: &str, message: &str) {
        let notification = Notification {
            message: message.to_owned(),
            title: Some("Crosier".to_owned()),
            notification_type: kind.to_owned(),
            ..Default::default()
        };
        self.fire_quietly(notification).await;
        self.show(format!("* {message}")).await;
    }

    /// Adds a line to the screen and draws it, as hooks want it to be drawn.
    pub(super) async fn show(&mut self, line: String) {
        let view = self.parts.change_view(|view| view.add(line));
        let outcome = self.fire_quietly(PreViewRender { view: view.to_json(), ..Default::default() }).await;
        let drawn = match outcome.action_gate() {
            crosier::ActionGate::Go(Some(changed)) => View::from_json(&changed).unwrap_or(view),
            _ => view,
        };
        self.parts.draw(&drawn);
    }
}
