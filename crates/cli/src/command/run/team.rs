//! A team of agents, from the command line: its members and its tasks.

use clap::Args;
use crosier_agent::agent::{Actor, End, Member, Task};

use crate::exit::{Exit, Failed};
use crate::print;

/// The team's name, for hooks.
const NAME: &str = "team";
/// The default type of a member.
const TEAMMATE: &str = "teammate";

// A team, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct TeamArgs {
    /// A task for the team, done before the prompt; several are shared among the members
    #[arg(long, value_name = "TASK")]
    task: Vec<String>,
    /// A member of the team, NAME or NAME:TYPE (default: one)
    #[arg(long, value_name = "NAME", requires = "task")]
    member: Vec<String>,
}

impl TeamArgs {
    pub(super) fn is_wanted(&self) -> bool {
        !self.task.is_empty()
    }

    /// The members. Names must be unique: two members of one name would be one agent.
    pub(super) fn members(&self) -> Result<Vec<Member>, Failed> {
        let mut members: Vec<Member> = Vec::new();
        for word in &self.member {
            let (name, agent_type) = word.split_once(':').unwrap_or((word, TEAMMATE));
            let is_known = members.iter().any(|member| member.name == name);
            if name.is_empty() || agent_type.is_empty() || is_known {
                let word = print::one_line(word);
                let message = format!("--member {word}: a member is NAME or NAME:TYPE, each name once");
                return Err(Failed::new(Exit::Usage, message));
            }
            members.push(Member { name: name.to_owned(), agent_type: agent_type.to_owned() });
        }
        if members.is_empty() {
            members.push(Member { name: "teammate-1".to_owned(), agent_type: TEAMMATE.to_owned() });
        }
        Ok(members)
    }

    /// Lets the team work until its task list is empty.
    pub(super) async fn work(&self, actor: &mut Actor, members: &[Member]) -> End {
        let task = |(number, subject): (usize, &String)| Task {
            id: (number + 1).to_string(),
            subject: subject.clone(),
            description: String::new(),
        };
        let done = actor.run_team(NAME, members, self.task.iter().enumerate().map(task).collect()).await;
        let absent =
            done.absent.first().map(|(name, why)| End::Failed(format!("{name} could not join: {why}")));
        let unfinished = done.tasks.into_iter().map(|task| task.end).find(|end| *end != End::Done);
        let open =
            done.open.first().map(|task| End::Failed(format!("no member was left for: {}", task.subject)));
        unfinished.or(open).or(absent).unwrap_or(End::Done)
    }
}
