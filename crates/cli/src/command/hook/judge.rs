//! One event of an agent: read, fired and answered.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crosier::{Decision, Engine, Event, Outcome};
use crosier_dialect::table::{Agent, AgentEvent};
use crosier_dialect::{Answer, Call, PersonMessage, Read, Verdict, closed, is_denied_when_closed, read};
use crosier_policy::{Notices, SelfGuard, StateFolder, Venvs};

use super::policy::{self, Policy};
use super::{HookArgs, no_opinion, project, session, wiring};
use crate::logbook::PendingRecord;
use crate::signals::Signals;
use crate::{homes, print};

/// Who is said to deny when [`wiring::objection`] does, which is no hook: as if the self-guard had denied, because for a
/// person both are one protection.
const OBJECTION_BY: &str = "self-guard";

impl HookArgs {
    pub(super) fn judge(&self, agent: &'static Agent, bytes: &[u8], pending: &mut PendingRecord) -> Answer {
        let call = match read(agent, self.event.as_deref(), bytes, &crosier_dialect::catalog()) {
            Ok(Read::Call(call)) => call,
            Ok(Read::Repeated) => return no_opinion(agent),
            Ok(Read::Unknown(name)) => {
                pending.record.set_unknown(&name);
                let log = vec![format!("{}: no opinion about the unknown event {name}", agent.title)];
                return Answer { log, ..no_opinion(agent) };
            }
            Err(unreadable) => {
                let why = format!("crosier cannot read this event: {}", unreadable.why);
                record_closed(pending, unreadable.event, &why);
                return closed(agent, unreadable.event, None, &why);
            }
        };
        let mut request = self.config.request_before_project();
        project::find(&call, &mut request);
        homes::use_home_outside_project(&mut request);
        pending.set_project(&request.project);
        call.events.first().into_iter().for_each(|event| pending.set_event(event));
        let shut = |pending: &mut PendingRecord, why: &str| {
            let reason = policy::reason(why);
            record_closed(pending, Some(call.entry), &reason);
            closed(agent, Some(call.entry), Some(&call), &reason)
        };
        if let Some(mistake) = &self.mistake {
            return shut(
                pending,
                &format!(
                    "{mistake}; correct the command `crosier hook {}` in the agent's configuration",
                    agent.name
                ),
            );
        }
        // The self-guard has no effect at other events, and would cost time.
        let is_guarded = |event: &Event| crosier_builtins::self_guard::CONFIG.contains(event.name());
        if call.events.iter().any(is_guarded) {
            request.self_guard = SelfGuard::On;
        }
        // A changed environment closes the project, and at these events the person is told so. They are rare, so that a full
        // comparison costs little, and what it finds holds for the events after it, which compare stamps only.
        if call.events.iter().any(|event| crosier_policy::is_told_when_closed(event.name())) {
            request.venvs = Venvs::InFull;
        }
        // A repository's settings can set variables for its agent, and not every agent can be recognised by its child
        // process: only the installed line counts.
        if self.config.trust.is_none() {
            request.trust = None;
        }
        // State that somebody else may have written must not reach the model.
        let folder = crosier_policy::state_folder(&request);
        let state = request.homes.state.clone().filter(|_| !matches!(folder, StateFolder::Refused(_)));
        if state.is_none() {
            pending.leave_out();
        }
        let answer = |mut verdict: Verdict, notices: &Notices| {
            // The names of hooks, and what failed programs print, may come from a repository.
            for told in verdict.told.iter_mut().filter(|told| told.failed) {
                told.text = print::plain(&told.text);
            }
            verdict.told.extend(notices.iter().map(|notice| PersonMessage {
                hook: notice.subject.clone(),
                failed: true,
                text: notice.text.clone(),
            }));
            session::answer(state.as_deref(), &call, verdict)
        };
        if let Some(reason) = wiring::objection(&call, state.as_deref()) {
            pending.record.decision = Some("deny".to_owned());
            (pending.record.by, pending.record.reason) =
                (Some(OBJECTION_BY.to_owned()), Some(reason.clone()));
            let (decision, by) = (Some(Decision::Deny), OBJECTION_BY.to_owned());
            return answer(Verdict { decision, reason, by, ..Verdict::default() }, &Notices::new());
        }
        let (hooks, notices, closed) = match policy::in_force(&request, &folder) {
            Policy::Loaded(hooks, notices) => (hooks, notices, None),
            Policy::None(notices) => return answer(call.verdict(&[]), &notices),
            Policy::Closed(why, None) => return shut(pending, &why),
            Policy::Closed(why, Some(hooks)) => (hooks, Notices::new(), Some(policy::reason(&why))),
        };
        pending.set_policy(&hooks.files, hooks.is_logged);
        let answer = match fire(&hooks.engine, &call, self.deadline(agent)) {
            Ok(outcomes) => {
                call.events.iter().zip(&outcomes).for_each(|(event, outcome)| pending.add(event, outcome));
                let mut verdict = call.verdict(&outcomes);
                if let Some(reason) = &closed {
                    record_closed(pending, Some(call.entry), reason);
                    // A hook that halts the agent ends the walk before the hook that denies.
                    if is_denied_when_closed(call.entry.event) && verdict.decision != Some(Decision::Deny) {
                        (verdict.decision, verdict.reason) = (Some(Decision::Deny), reason.clone());
                    }
                }
                let mut answer = answer(verdict, &notices);
                answer.log.extend(closed);
                answer
            }
            Err(why) => shut(pending, &why),
        };
        // The process ends soon: its memory need not be freed, but workers must be stopped.
        hooks.engine.shut_down();
        std::mem::forget(hooks);
        answer
    }
}

/// Records that no decision could be made, so actions are denied.
pub(super) fn record_closed(pending: &mut PendingRecord, event: Option<&AgentEvent>, reason: &str) {
    pending.record.set_closed(reason);
    // An unknown event is answered like one before an action.
    if event.is_none_or(|event| is_denied_when_closed(event.event)) {
        pending.record.decision = Some("deny".to_owned());
    }
    if let Some(event) = event.filter(|_| pending.record.event.is_empty()) {
        event.event.clone_into(&mut pending.record.event);
    }
}

/// Fires every event of a call within the given time.
fn fire(engine: &Engine, call: &Call, time: Duration) -> Result<Vec<Outcome>, String> {
    let all = || call.events.iter().map(|event| engine.fire_blocking(event)).collect();
    if !call.events.iter().any(|event| engine.is_wanted(event)) {
        return Ok(all());
    }
    let longest: Duration = call.events.iter().map(|event| engine.longest_run(event)).sum();
    // Nothing would be left behind if a signal ended this process.
    if longest == Duration::ZERO {
        return Ok(all());
    }
    let signals = Signals::watch().map_err(|failed| failed.message)?;
    signals.kill(engine);
    // Usually the hooks cannot be late, and no watcher is needed.
    if longest <= time {
        return signals.during("running hooks were killed", all).map_err(|failed| failed.message);
    }
    let late = Arc::new(AtomicBool::new(false));
    let outcomes = within(engine, time, &late, || signals.during("running hooks were killed", all));
    if late.load(Ordering::SeqCst) {
        return Err(format!("its hooks did not finish within {} s and were killed", time.as_secs()));
    }
    outcomes.map_err(|failed| failed.message)
}

/// Does work that fires hooks; hooks that still run after this time are killed.
fn within<T>(engine: &Engine, time: Duration, late: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let Ok(kill_switch) = engine.kill_switch() else { return work() };
    let (done, wait) = sync_channel::<()>(1);
    let late = Arc::clone(late);
    let watch = std::thread::Builder::new().name("deadline".to_owned()).spawn(move || {
        if wait.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            late.store(true, Ordering::SeqCst);
            let _ = std::fs::File::from(kill_switch).write_all(b"x");
        }
    });
    let done_work = work();
    drop(done);
    if let Ok(watch) = watch {
        let _ = watch.join();
    }
    done_work
}
