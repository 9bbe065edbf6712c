//! Gates: what a host matches on, for every family of events and every combination of effects.

use crosier::payload::{
    PermissionRequest, PostMessage, PostToolUse, PreAgentSpawn, PreCompact, PreGitWrite, PreMessage,
    PreSessionPhase, PreToolUse, PreViewRender, Stop, SubagentStop, TaskCompleted, TeammateIdle,
    UserPromptSubmit,
};
use crosier::{
    ActionGate, Decision, Directive, Event, Gates, Hook, Injected, Json, Outcome, OutputGate, Payload,
    PermissionGate, Refusal, Reply, ResultGate, StopGate, Strategy, ToolGate, WorkGate,
};

use super::kit::{engine, json, says, tool};

fn because(reason: &str) -> Directive {
    Directive::new(reason, "hook")
}

fn refusal() -> Refusal {
    Refusal { reason: "no".into(), by: "hook".into(), by_failure: false }
}

/// Every combination of the effects that gates look at.
fn every_outcome() -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for bits in 0..(4 * 64) {
        let mut outcome = Outcome::new(PreToolUse.kind());
        outcome.decision = [None, Some(Decision::Allow), Some(Decision::Ask), Some(Decision::Deny)][bits % 4];
        if outcome.decision.is_some() {
            outcome.reason = Some("no".into());
            outcome.by = Some("hook".into());
        }
        let set = |bit: usize| (bits / 4) >> bit & 1 == 1;
        outcome.halt = set(0).then(|| because("halt"));
        outcome.resume = set(1).then(|| because("resume"));
        outcome.updated_input = set(2).then(|| json(r#"{"in":1}"#));
        outcome.updated_output = set(3).then(|| json(r#"{"out":1}"#));
        outcome.suppress_output = set(4);
        outcome.updated_permissions = set(5).then(|| json("[1]"));
        outcome.inject = vec![Injected::new(Strategy::ToolResult, "i", "hook")];
        outcomes.push(outcome);
    }
    outcomes
}

#[test]
fn the_tool_gate_has_an_answer_for_every_outcome() {
    for outcome in every_outcome() {
        let input = outcome.updated_input.clone();
        let wanted = match (&outcome.halt, outcome.decision) {
            (Some(halt), _) => ToolGate::Halt(halt.clone()),
            (None, Some(Decision::Deny)) => ToolGate::Deny(refusal()),
            (None, Some(Decision::Ask)) => ToolGate::Ask { reason: Some("no".into()), input },
            (None, Some(Decision::Allow)) => ToolGate::Allow(input),
            (None, None) => ToolGate::Proceed(input),
        };
        assert_eq!(outcome.tool_gate(), wanted);
    }
}

#[test]
fn the_permission_gate_has_an_answer_for_every_outcome() {
    for outcome in every_outcome() {
        let (input, permissions) = (outcome.updated_input.clone(), outcome.updated_permissions.clone());
        let wanted = match (&outcome.halt, outcome.decision) {
            (Some(halt), _) => PermissionGate::Interrupt(halt.clone()),
            (None, Some(Decision::Deny)) => PermissionGate::Deny(refusal()),
            (None, Some(Decision::Allow)) => PermissionGate::Allow { input, permissions },
            (None, _) => PermissionGate::Ask(input),
        };
        assert_eq!(outcome.permission_gate(), wanted);
    }
}

#[test]
fn the_prompt_and_action_gates_have_an_answer_for_every_outcome() {
    for outcome in every_outcome() {
        let wanted = match (&outcome.halt, outcome.decision) {
            (Some(halt), _) => ActionGate::Halt(halt.clone()),
            (None, Some(Decision::Deny)) => ActionGate::Deny(refusal()),
            (None, _) => ActionGate::Go(outcome.updated_input.clone()),
        };
        assert_eq!(outcome.action_gate(), wanted);
        assert_eq!(outcome.prompt_gate(), wanted);
    }
}

#[test]
fn the_result_gate_has_an_answer_for_every_outcome() {
    for outcome in every_outcome() {
        let output = match (&outcome.updated_output, outcome.suppress_output) {
            (_, true) => OutputGate::Suppress,
            (Some(output), false) => OutputGate::Replace(output.clone()),
            (None, false) => OutputGate::Keep,
        };
        let wanted = ResultGate { output, inject: outcome.inject.clone(), halt: outcome.halt.clone() };
        assert_eq!(outcome.result_gate(), wanted);
    }
}

#[test]
fn the_stop_and_work_gates_have_an_answer_for_every_outcome() {
    for outcome in every_outcome() {
        let stop = match (&outcome.halt, &outcome.resume) {
            (Some(halt), _) => StopGate::Halt(halt.clone()),
            (None, Some(resume)) => StopGate::Resume(resume.clone()),
            (None, None) => StopGate::Stop,
        };
        assert_eq!(outcome.stop_gate(), stop);
        let work = match (&outcome.halt, outcome.decision) {
            (Some(halt), _) => WorkGate::Halt(halt.clone()),
            (None, Some(Decision::Deny)) => WorkGate::KeepWorking(refusal()),
            (None, _) => WorkGate::Done,
        };
        assert_eq!(outcome.work_gate(), work);
    }
}

#[test]
fn a_denial_without_words_still_has_some() {
    let mut outcome = Outcome::new(PreToolUse.kind());
    outcome.decision = Some(Decision::Deny);
    let ToolGate::Deny(refusal) = outcome.tool_gate() else { panic!("not denied") };
    assert_eq!(&*refusal.reason, "denied");
    let fired = engine([says(
        "guard",
        Reply::none().with(|effects| {
            effects.opinion = Some(crosier::protocol::Opinion::new(Decision::Deny, None));
        }),
    )])
    .fire_blocking(tool("Bash"));
    let ToolGate::Deny(refusal) = fired.tool_gate() else { panic!("not denied") };
    assert_eq!((&*refusal.reason, &*refusal.by), ("denied by hook guard", "guard"));
}

/// The outcome of this event when one hook says this.
fn fired<P: Payload>(event: P, reply: Reply) -> Outcome {
    let event = Event::from(event);
    let kind = event.kind().clone();
    engine([Hook::on_event(kind).named("hook").callback(move |_: &Event| reply.clone())]).fire_blocking(event)
}

#[test]
fn a_tool_call_goes_through_its_gate() {
    let gate = |reply: Reply| fired(tool("Bash"), reply).tool_gate();
    let input = Some(json(r#"{"n":1}"#));
    assert_eq!(gate(Reply::none()), ToolGate::Proceed(None));
    assert_eq!(gate(Reply::none().rewrite_input(json(r#"{"n":1}"#))), ToolGate::Proceed(input.clone()));
    assert_eq!(gate(Reply::allow("x").rewrite_input(json(r#"{"n":1}"#))), ToolGate::Allow(input.clone()));
    let ask = ToolGate::Ask { reason: Some("sure?".into()), input: None };
    assert_eq!(gate(Reply::ask("sure?")), ask);
    assert_eq!(gate(Reply::deny("no").rewrite_input(json("{}"))), ToolGate::Deny(refusal()));
    assert_eq!(gate(Reply::halt("enough")), ToolGate::Halt(because("enough")));
}

#[test]
fn a_permission_request_goes_through_its_gate() {
    let gate = |reply: Reply| fired(PermissionRequest::default(), reply).permission_gate();
    assert_eq!(gate(Reply::none()), PermissionGate::Ask(None));
    let rules = Reply::allow("x").with(|effects| effects.permissions = Some(json("[1]")));
    let allowed = PermissionGate::Allow { input: None, permissions: Some(json("[1]")) };
    assert_eq!(gate(rules), allowed);
    assert_eq!(gate(Reply::deny("no")), PermissionGate::Deny(refusal()));
    assert_eq!(gate(Reply::deny("no").interrupt()), PermissionGate::Interrupt(because("no")));
    assert_eq!(gate(Reply::halt("enough")), PermissionGate::Interrupt(because("enough")));
    let halted = fired(PermissionRequest::default(), Reply::halt("enough"));
    assert_eq!(halted.decision, None, "the interrupt is not a decision");
    let asked = fired(PermissionRequest::default(), Reply::ask("x"));
    assert_eq!(asked.permission_gate(), PermissionGate::Ask(None));
}

#[test]
fn prompts_and_actions_go_through_their_gates() {
    fn check<P: Payload>(event: P, new: Option<Json>, can_deny: bool) {
        let name = Event::from(event.clone()).name();
        let gate = |reply: Reply| fired(event.clone(), reply).action_gate();
        assert_eq!(gate(Reply::none()), ActionGate::Go(None), "{name}");
        assert_eq!(gate(Reply::halt("enough")), ActionGate::Halt(because("enough")), "{name}");
        let denied = if can_deny { ActionGate::Deny(refusal()) } else { ActionGate::Go(None) };
        assert_eq!(gate(Reply::deny("no")), denied, "{name}");
        let value = new.clone().unwrap_or_else(|| Json::from("x"));
        assert_eq!(gate(Reply::none().rewrite_input(value)), ActionGate::Go(new), "{name}");
    }
    let (text, object) = (Some(Json::from("new")), Some(json(r#"{"n":1}"#)));
    check(UserPromptSubmit::default(), None, true);
    check(PreMessage::default(), text.clone(), true);
    check(PreAgentSpawn::default(), object.clone(), true);
    check(PreSessionPhase::default(), None, true);
    check(PreGitWrite::default(), text.clone(), true);
    check(PreCompact::default(), text, true);
    check(PreViewRender::default(), object, false);
}

#[test]
fn results_go_through_their_gate() {
    let gate = |reply: Reply| fired(PostToolUse::default(), reply).result_gate();
    let plain = ResultGate { output: OutputGate::Keep, inject: Vec::new(), halt: None };
    assert_eq!(gate(Reply::none()), plain);
    assert_eq!(gate(Reply::deny("no")), plain, "what has happened cannot be denied");
    assert_eq!(gate(Reply::none().rewrite_output("x")).output, OutputGate::Replace(Json::from("x")));
    assert_eq!(gate(Reply::none().rewrite_output("x").suppress()).output, OutputGate::Suppress);
    let both = Reply::none().inject(Strategy::ToolResult, "a").inject(Strategy::UserMessage, "b");
    let inject = gate(both).inject;
    let parts: Vec<_> =
        inject.iter().map(|part| (part.strategy, part.content.as_str(), &*part.hook)).collect();
    assert_eq!(parts, [(Strategy::ToolResult, "a", "hook"), (Strategy::UserMessage, "b", "hook")]);
    assert_eq!(gate(Reply::halt("enough")).halt, Some(because("enough")));
    let message = fired(PostMessage::default(), Reply::none().rewrite_output("x")).result_gate();
    assert_eq!(message.output, OutputGate::Replace(Json::from("x")));
}

#[test]
fn stops_go_through_their_gate() {
    for gate in [
        |reply| fired(Stop::default(), reply).stop_gate(),
        |reply| fired(SubagentStop::default(), reply).stop_gate(),
    ] {
        assert_eq!(gate(Reply::none()), StopGate::Stop);
        assert_eq!(gate(Reply::allow("x")), StopGate::Stop);
        assert_eq!(gate(Reply::resume("go on")), StopGate::Resume(because("go on")));
        assert_eq!(gate(Reply::deny("go on")), StopGate::Resume(because("go on")));
        assert_eq!(gate(Reply::halt("enough")), StopGate::Halt(because("enough")));
        let both = Reply::halt("enough").with(|effects| {
            effects.opinion = Some(crosier::protocol::Opinion::new(Decision::Deny, Some("go on".into())));
        });
        assert_eq!(gate(both), StopGate::Halt(because("enough")), "a halt beats a resume");
    }
}

#[test]
fn team_work_goes_through_its_gate() {
    for gate in [
        |reply| fired(TeammateIdle::default(), reply).work_gate(),
        |reply| fired(TaskCompleted::default(), reply).work_gate(),
    ] {
        assert_eq!(gate(Reply::none()), WorkGate::Done);
        assert_eq!(gate(Reply::deny("no")), WorkGate::KeepWorking(refusal()));
        assert_eq!(gate(Reply::halt("enough")), WorkGate::Halt(because("enough")));
    }
}
