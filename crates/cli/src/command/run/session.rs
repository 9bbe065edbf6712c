//! The session, from the command line.

use std::path::Path;

use clap::Args;
use crosier::protocol::nearest::nearest;
use crosier_agent::conversation::Message;
use crosier_agent::session::{self, Resumed, Session, SessionError};

use crate::agent_data::AgentDataArgs;
use crate::exit::{Exit, Failed};
use crate::print;

/// How many sessions are listed when an id is unknown.
const SHOWN: usize = 5;

// The session, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// Resume a session, by its id
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Forget the earlier conversation of the session
    #[arg(long, requires = "resume")]
    pub(crate) clear: bool,
    /// Fire Setup with the trigger `maintenance`; then the prompt may be left out
    #[arg(long)]
    pub(crate) maintenance: bool,
    #[command(flatten)]
    pub(crate) folder: AgentDataArgs,
}

/// A session that is ready to begin.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) messages: Vec<Message>,
    /// How it begins, for SessionStart.
    pub(crate) source: &'static str,
}

impl SessionArgs {
    pub(crate) fn open(&self, sessions: &Path) -> Result<Opened, Failed> {
        let Some(id) = &self.resume else {
            let begun = Session::begin(sessions);
            let session = begun.map_err(|error| {
                Failed::new(Exit::Failed, format!("the session cannot be started: {error}; see --state-dir"))
            })?;
            return Ok(Opened { session, messages: Vec::new(), source: "startup" });
        };
        let Resumed { session, messages, unreadable } = Session::resume(sessions, id).map_err(|error| {
            let exit = match &error {
                SessionError::Unknown { .. } | SessionError::BadId(_) => Exit::Usage,
                _ => Exit::Failed,
            };
            Failed::new(exit, format!("{}{}", print::plain(&error.to_string()), others(sessions, id)))
        })?;
        if unreadable > 0 {
            print::note(&format!(
                "{unreadable} lines of the session's transcript cannot be read and are left out"
            ));
        }
        Ok(Opened { session, messages, source: "resume" })
    }
}

/// Sessions that may have been meant.
fn others(sessions: &Path, id: &str) -> String {
    let all = session::list(sessions, usize::MAX);
    if all.is_empty() {
        return "; there is none yet".to_owned();
    }
    let near = nearest(id, all.iter().map(|listed| listed.id.as_str()));
    let mut text = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
    text.push_str("\nThe latest:");
    for listed in all.iter().take(SHOWN) {
        let time = crosier::timestamp(listed.time);
        text.push_str(&format!("\n  {}  {time}  {}", listed.id, print::one_line(&listed.prompt)));
    }
    text
}
