//! A team: several agents on one list of tasks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crosier::payload::{TaskCompleted, TeammateIdle};
use crosier::{Gates, Scope, WorkGate};

use super::actor::{Actor, End, Kind};
use super::parts::Parts;
use crate::conversation::{Message, Role};

/// How often a hook may reopen a task, or keep an idle teammate working.
const MAX_TRIES: usize = 3;

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// What to do.
    pub description: String,
}

/// Somebody of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name; also the agent's id.
    pub name: String,
    /// What kind of agent it is.
    pub agent_type: String,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnd {
    /// The task.
    pub id: String,
    /// Who did it.
    pub by: String,
    /// The last words about it.
    pub result: String,
    /// How often a hook reopened it.
    pub reopened: usize,
}

/// A task on the list, with the feedback of hooks that reopened it.
struct Open {
    task: Task,
    feedback: Vec<String>,
}

struct Board {
    open: VecDeque<Open>,
    done: Vec<TaskEnd>,
}

/// Runs a team until the list is empty. All members work at once.
pub async fn run_team(parts: &Arc<Parts>, team: &str, members: &[Member], tasks: Vec<Task>) -> Vec<TaskEnd> {
    let open = tasks.into_iter().map(|task| Open { task, feedback: Vec::new() }).collect();
    let board = Mutex::new(Board { open, done: Vec::new() });
    let work = members.iter().map(|member| work(parts, team, member, &board));
    futures_util::future::join_all(work).await;
    board.into_inner().unwrap_or_else(PoisonError::into_inner).done
}

async fn work(parts: &Arc<Parts>, team: &str, member: &Member, board: &Mutex<Board>) {
    let hooks = parts.agent_hooks.as_ref().map(|make| make(&member.agent_type)).unwrap_or_default();
    let Ok(_scope) = parts.engine.enter(Scope::new(member.name.as_str()).hooks(hooks)) else { return };
    let actor = Actor::new(
        Arc::clone(parts),
        member.name.clone(),
        member.agent_type.clone(),
        Kind::Subagent,
        1,
        Vec::new(),
    );
    let Ok(mut actor) = actor else { return };
    let mut kept_working = 0;
    loop {
        let next = lock(board).open.pop_front();
        match next {
            Some(open) => actor.do_task(team, open, board).await,
            None => {
                let idle = TeammateIdle {
                    teammate_name: member.name.clone(),
                    team_name: team.to_owned(),
                    ..Default::default()
                };
                match actor.fire(idle).await.work_gate() {
                    WorkGate::KeepWorking(refusal) if kept_working < MAX_TRIES => {
                        kept_working += 1;
                        actor.note("kept working", &format!("{}: {}", member.name, refusal.reason)).await;
                        if actor.say(Message::user(&*refusal.reason)).is_ok() {
                            actor.work().await;
                        }
                    }
                    WorkGate::KeepWorking(_) | WorkGate::Done | WorkGate::Halt(_) => return,
                }
            }
        }
    }
}

fn lock(board: &Mutex<Board>) -> std::sync::MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Actor {
    async fn do_task(&mut self, team: &str, mut open: Open, board: &Mutex<Board>) {
        let Task { id, subject, description } = open.task.clone();
        let feedback: String = open.feedback.iter().map(|line| format!("\nStill open: {line}")).collect();
        if self.say(Message::user(format!("{subject}\n{description}{feedback}"))).is_err() {
            return;
        }
        let end = self.work().await;
        let completed = TaskCompleted {
            task_id: id.clone(),
            task_subject: subject.clone(),
            task_description: Some(description),
            teammate_name: Some(self.id.clone()),
            team_name: Some(team.to_owned()),
            ..Default::default()
        };
        let gate = if end == End::Done { self.fire(completed).await.work_gate() } else { WorkGate::Done };
        match gate {
            WorkGate::KeepWorking(refusal) if open.feedback.len() < MAX_TRIES => {
                self.note("task reopened", &format!("{subject}: {}", refusal.reason)).await;
                open.feedback.push(refusal.reason.to_string());
                lock(board).open.push_front(open);
            }
            _ => {
                let last = self.messages.iter().rfind(|message| message.role == Role::Assistant);
                let result = last.map(Message::words).unwrap_or_default();
                let task_end = TaskEnd { id, by: self.id.clone(), result, reopened: open.feedback.len() };
                lock(board).done.push(task_end);
                self.notify("task_completed", &format!("{subject}: {}", end.word())).await;
            }
        }
    }
}
