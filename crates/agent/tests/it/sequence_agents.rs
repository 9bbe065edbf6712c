//! Subagents and teams: scopes, order, and what hooks may do to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crosier::payload::{
    PostToolUse, PreAgentSpawn, PreMessage, PreToolUse, SubagentStart, SubagentStop, TaskCompleted,
    TeammateIdle,
};
use crosier::{Hook, Reply, Scope};
use crosier_agent::agent::{End, Member, Task};
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn subagents_of_one_turn_start_and_end_in_order() {
    let script = "- {when: go, tools: [{name: Task, input: {prompt: look left, agent_type: scout}}, {name: Task, input: {prompt: look right, agent_type: scout}}]}\n\
                  - {when: left, say: nothing on the left}\n- {when: right, say: nothing on the right}\n- say: done\n";
    let played = Stage::new(script).play("go").await;
    let results: Vec<String> = played.results().into_iter().map(|(content, _)| content).collect();
    assert_eq!(results, ["nothing on the left", "nothing on the right"]);
    assert_eq!(played.field("SubagentStart", "agent_id"), ["scout-1", "scout-2"]);
    assert_eq!(played.field("Notification", "message"), ["subagent scout-1: done", "subagent scout-2: done"]);
    let mains: Vec<&str> = played
        .fires()
        .iter()
        .filter(|fired| fired.agent_id == "main" && fired.event.contains("Tool"))
        .map(|fired| fired.event)
        .collect();
    assert_eq!(mains, ["PreToolUse", "PreToolUse", "PostToolUse", "PostToolUse"]);
}

#[tokio::test]
async fn a_hook_denies_a_spawn_or_gives_it_other_means() {
    let script = "- {when: go, tools: [{name: Task, input: {prompt: dig, agent_type: mole}}, {name: Task, input: {prompt: look, agent_type: scout}}]}\n\
                  - {when: look twice, say: seen}\n- say: done\n";
    let hook = Hook::on(PreAgentSpawn).named("spawns").callback(|e: &PreAgentSpawn| {
        if e.agent_type == "mole" {
            return Reply::deny("no digging");
        }
        let config = json!({"prompt": "look twice", "tools": ["Read"], "system_prompt": "You are a scout.", "model": "x"});
        Reply::none().rewrite_input(config)
    });
    let played = Stage::new(script).hook(hook).play("go").await;
    assert_eq!(played.results(), [("Error: no digging".to_owned(), true), ("seen".to_owned(), false)]);
    let heard = played.heard.lock().unwrap().clone();
    assert_eq!(heard[1], ("You are a scout.".to_owned(), vec!["Read".to_owned()]));
    assert_eq!(
        played.notes("main")[..2],
        [
            "not spawned: mole-1: no digging (spawns)",
            "ignored: scout-2: config.model is not a setting of an agent"
        ]
    );
}

#[tokio::test]
async fn a_subagent_that_does_not_end_well_still_has_its_last_events() {
    let script = "- {when: go, tools: [{name: Task, input: {prompt: look}}]}\n- {when: Error, say: done}\n";
    let deny = Hook::on(PreMessage)
        .callback(|e: &PreMessage| (e.prompt == "look").then(|| Reply::deny("not this one")));
    let context =
        Hook::on(SubagentStop).callback(|_: &SubagentStop| Reply::resume("more").context("it tried"));
    let played = Stage::new(script).hook(deny).hook(context).play("go").await;
    assert_eq!(played.results(), [("Error: the subagent ended (denied): not this one".to_owned(), true)]);
    let of_agents: Vec<&str> = played.events().into_iter().filter(|event| event.contains("gent")).collect();
    assert_eq!(of_agents, ["PreAgentSpawn", "SubagentStart", "SubagentStop", "PostAgentComplete"]);
    assert!(
        played.notes("general-1").contains(&"not resumed: it ended (denied) and cannot be resumed".into())
    );
    // What a hook said at its end reaches the one that sent it.
    assert!(played.heard.lock().unwrap().last().unwrap().0.ends_with("it tried"));
}

#[tokio::test]
async fn of_100_subagents_at_once_none_meets_a_hook_of_another() {
    const CROWD: usize = 100;
    let calls: Vec<String> =
        (0..CROWD).map(|_| "{name: Task, input: {prompt: look, agent_type: scout}}".to_owned()).collect();
    let script = format!(
        "- {{when: go, tools: [{}]}}\n- {{when: look, tools: [{{name: Read, input: {{n: 1}}}}], repeat: true}}\n\
         - {{when: '{{\"n\":1}}', say: seen, repeat: true}}\n- {{when: seen, say: done}}\n",
        calls.join(", ")
    );
    // For each scope: the agents that its hooks ran for.
    let ran: Arc<Mutex<HashMap<String, Vec<String>>>> = Arc::default();
    let seen = Arc::clone(&ran);
    let mut stage = Stage::new(script);
    // No reader is done before all of them run: all agents live at once.
    stage.readers = CROWD;
    stage.agent_hooks = Some(Box::new(move |agent_id, _| {
        let scope = agent_id.to_owned();
        let tell = move |seen: &Mutex<HashMap<String, Vec<String>>>, agent: &Option<String>| {
            let agent = agent.clone().unwrap_or_default();
            seen.lock().unwrap().entry(scope.clone()).or_default().push(agent);
        };
        let hooks = [
            {
                let (seen, tell) = (Arc::clone(&seen), tell.clone());
                Hook::on(PreToolUse).callback(move |e: &PreToolUse| tell(&seen, &e.base.agent_id))
            },
            {
                let (seen, tell) = (Arc::clone(&seen), tell.clone());
                Hook::on(PostToolUse).callback(move |e: &PostToolUse| tell(&seen, &e.base.agent_id))
            },
            {
                let (seen, tell) = (Arc::clone(&seen), tell.clone());
                Hook::on(SubagentStart)
                    .callback(move |e: &SubagentStart| tell(&seen, &Some(e.agent_id.clone())))
            },
            {
                let seen = Arc::clone(&seen);
                Hook::on(SubagentStop)
                    .callback(move |e: &SubagentStop| tell(&seen, &Some(e.agent_id.clone())))
            },
        ];
        Scope::new(agent_id).hooks(hooks)
    }));
    let played = stage.play("go").await;
    assert_eq!(played.end, End::Done);
    assert_eq!(played.results(), vec![("seen".to_owned(), false); CROWD]);
    let ran = ran.lock().unwrap();
    assert_eq!(ran.len(), CROWD);
    for (scope, agents) in ran.iter() {
        assert_eq!(agents, &vec![scope.clone(); 4], "hooks of {scope}");
    }
    assert!(played.session_context.engine.entries().is_empty(), "no scope is left");
}

fn task(id: &str, subject: &str) -> Task {
    Task { id: id.into(), subject: subject.into(), description: "now".into() }
}

fn member(name: &str) -> Member {
    Member { name: name.into(), agent_type: "worker".into() }
}

#[tokio::test]
async fn a_team_works_until_its_hooks_are_content() {
    let script =
        "- {when: Still open, say: tested}\n- {when: write, say: written}\n- {when: rest, say: swept}\n";
    let reopen = Hook::on(TaskCompleted).named("tests").callback({
        let first = Mutex::new(true);
        move |_: &TaskCompleted| std::mem::take(&mut *first.lock().unwrap()).then(|| Reply::deny("no tests"))
    });
    let keep = Hook::on(TeammateIdle).named("no-rest").callback({
        let first = Mutex::new(true);
        move |_: &TeammateIdle| {
            std::mem::take(&mut *first.lock().unwrap()).then(|| Reply::deny("sweep the rest").context("calm"))
        }
    });
    let (mut actor, played) = Stage::new(script).hook(reopen).hook(keep).enter().await;
    let end = actor.run_team("blue", &[member("ann")], vec![task("1", "write")]).await;
    assert_eq!((end.open.len(), end.absent.len()), (0, 0));
    let done = &end.tasks[0];
    assert_eq!((done.id.as_str(), done.by.as_str(), done.reopened), ("1", "ann", 1));
    assert_eq!((&done.end, done.result.as_str()), (&End::Done, "tested"));
    let work = ["PreMessage", "PostMessage", "SubagentStop"];
    let wanted = [
        &["PreAgentSpawn", "SubagentStart"][..],
        &work,
        &["TaskCompleted"],
        &work,
        &["TaskCompleted", "Notification", "TeammateIdle"],
        &work,
        &["TeammateIdle", "PostAgentComplete"],
    ];
    assert_eq!(played.events(), wanted.concat());
    assert!(played.session_context.engine.entries().iter().all(|hook| hook.scope.is_none()));
}

#[tokio::test]
async fn who_may_not_join_is_absent_and_what_nobody_does_stays_open() {
    let deny = Hook::on(PreAgentSpawn).callback(|_: &PreAgentSpawn| Reply::deny("no teams"));
    let (mut actor, _played) = Stage::new("- say: hi\n").hook(deny).enter().await;
    let end = actor.run_team("blue", &[member("ann")], vec![task("1", "write")]).await;
    assert_eq!(end.absent, [("ann".to_owned(), "no teams".to_owned())]);
    assert_eq!(end.open, [task("1", "write")]);
}
