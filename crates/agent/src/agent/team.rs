//! A team: several agents on one list of tasks.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crosier::payload::{TaskCompleted, TeammateIdle};
use crosier::{Gates, WorkGate};

use super::actor::Actor;
use super::end::End;
use super::setup::AgentSetup;
use super::spawn::Subagent;

/// How often a hook may reopen a task, or keep an idle teammate working.
const MAX_TRIES: usize = 3;

/// A task of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// What to do.
    pub description: String,
}

/// A member of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name; also the agent's id.
    pub name: String,
    /// What kind of agent it is.
    pub agent_type: String,
}

/// The result of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnd {
    /// The task.
    pub id: String,
    /// The member that did it.
    pub by: String,
    /// How the work on it ended.
    pub end: End,
    /// The agent's last text about it.
    pub result: String,
    /// How often a hook reopened it.
    pub reopened: usize,
}

/// The result of a team's work.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamEnd {
    /// The tasks that were worked on, in the order in which they ended.
    pub tasks: Vec<TaskEnd>,
    /// The tasks that were left when the last member had to stop.
    pub open: Vec<Task>,
    /// Members that could not join, and why.
    pub absent: Vec<(String, String)>,
}

/// A task on the list, with the feedback of hooks that reopened it.
struct Open {
    task: Task,
    feedback: Vec<String>,
}

/// The task list that all members share.
struct Board {
    open: VecDeque<Open>,
    working: Vec<(Task, String)>,
    done: Vec<(Task, TaskEnd)>,
}

type Shared<'a> = &'a Mutex<Board>;

fn lock(board: Shared<'_>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// One line per task, for the screen.
    fn lines(&self) -> Vec<String> {
        let done = self.done.iter().map(|(task, end)| match end.end {
            End::Done => format!("[x] {} ({})", task.subject, end.by),
            ref other => format!("[!] {} ({}: {})", task.subject, end.by, other.word()),
        });
        let working = self.working.iter().map(|(task, who)| format!("[~] {} ({who})", task.subject));
        let open = self.open.iter().map(|open| format!("[ ] {}", open.task.subject));
        done.chain(working).chain(open).collect()
    }
}

impl Actor {
    /// Runs a team until its list is empty. All members work at once, each in its own scope.
    pub async fn run_team(&mut self, team: &str, members: &[Member], tasks: Vec<Task>) -> TeamEnd {
        let open = tasks.into_iter().map(|task| Open { task, feedback: Vec::new() }).collect();
        let board = Mutex::new(Board { open, working: Vec::new(), done: Vec::new() });
        let mut end = TeamEnd::default();
        let mut present = Vec::new();
        for member in members {
            match self.join_team(member).await {
                Ok(teammate) => present.push(teammate),
                Err(why) => {
                    self.note("absent", &format!("{}: {why}", member.name)).await;
                    end.absent.push((member.name.clone(), why));
                }
            }
        }
        let work = present.into_iter().map(|teammate| work(teammate, team, &board));
        for mut actor in futures_util::future::join_all(work).await {
            self.pending.append(&mut actor.pending);
        }
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        end.tasks = board.done.into_iter().map(|(_, end)| end).collect();
        end.open = board.open.into_iter().map(|open| open.task).collect();
        end
    }

    async fn join_team(&mut self, member: &Member) -> Result<Subagent, String> {
        let setup = AgentSetup::all(&self.session_context, &member.agent_type, "");
        let setup = self.may_spawn(&member.name, setup).await.map_err(|error| error.message)?;
        let started =
            Subagent::start(&self.session_context, member.name.clone(), self.depth + 1, setup).await;
        started.map_err(|error| error.message)
    }
}

async fn work(mut teammate: Subagent, team: &str, board: Shared<'_>) -> Actor {
    let mut kept_working = 0;
    let end = loop {
        if let Err(end) = teammate.actor.check_stop() {
            break end;
        }
        let next = {
            let mut board = lock(board);
            let next = board.open.pop_front();
            board.working.extend(next.iter().map(|open| (open.task.clone(), teammate.actor.id.clone())));
            next
        };
        if let Some(open) = next {
            do_task(&mut teammate, team, open, board).await;
            continue;
        }
        let idle = TeammateIdle::new(teammate.actor.id.as_str(), team);
        match teammate.actor.fire(idle).await.work_gate() {
            WorkGate::KeepWorking(refusal) if kept_working < MAX_TRIES => {
                kept_working += 1;
                let text = format!("{}: {} ({})", teammate.actor.id, refusal.reason, refusal.by);
                teammate.actor.note("kept working", &text).await;
                teammate.work(&refusal.reason).await;
            }
            WorkGate::KeepWorking(refusal) => {
                let text = format!("{} kept {} working too many times", refusal.by, teammate.actor.id);
                teammate.actor.note("stopped", &text).await;
                break End::Done;
            }
            WorkGate::Done => break End::Done,
            WorkGate::Halt(halt) => break End::Halted(halt.reason),
        }
    };
    teammate.leave(end).await.into_actor()
}

async fn do_task(teammate: &mut Subagent, team: &str, mut open: Open, board: Shared<'_>) {
    let Task { id, subject, description } = open.task.clone();
    show_board(teammate, board, &format!("{} takes {subject}", teammate.actor.id)).await;
    let feedback: String = open.feedback.iter().map(|line| format!("\nStill open: {line}")).collect();
    let end = teammate.work(&format!("{subject}\n{description}{feedback}")).await;
    let by = teammate.actor.id.clone();
    if end == End::Done {
        let completed = TaskCompleted::new(id.as_str(), subject.as_str())
            .task_description(description)
            .teammate_name(by.clone())
            .team_name(team.to_owned());
        if let WorkGate::KeepWorking(refusal) = teammate.actor.fire(completed).await.work_gate() {
            if open.feedback.len() < MAX_TRIES {
                let text = format!("{subject}: {} ({})", refusal.reason, refusal.by);
                open.feedback.push(refusal.reason.to_string());
                {
                    let mut board = lock(board);
                    board.working.retain(|(task, _)| task.id != id);
                    board.open.push_front(open);
                }
                teammate.actor.note("task reopened", &text).await;
                return;
            }
            let text = format!("{subject}: already reopened {MAX_TRIES} times, although {}", refusal.reason);
            teammate.actor.note("task closed", &text).await;
        }
    }
    let result = teammate.last_text();
    let message = format!("{subject}: {}", end.word());
    let task_end = TaskEnd { id: id.clone(), by, end, result, reopened: open.feedback.len() };
    {
        let mut board = lock(board);
        board.working.retain(|(task, _)| task.id != id);
        board.done.push((open.task, task_end));
    }
    show_board(teammate, board, &format!("{} is done with {subject}", teammate.actor.id)).await;
    teammate.actor.notify("task_completed", &message).await;
}

/// Shows the list after it has changed.
async fn show_board(teammate: &mut Subagent, board: Shared<'_>, line: &str) {
    let lines = lock(board).lines();
    teammate.actor.session_context.change_view(|view| view.tasks = lines);
    teammate.actor.show(line.to_owned()).await;
}
