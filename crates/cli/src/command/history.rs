//! `crosier history`: every version of every file that the agent wrote in this folder.

use clap::{Args, Subcommand};
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier_agent::history::{Entry, History, HistoryError, Restored, ShadowGit};

use super::Run;
use crate::agent_data::{self, AgentDataArgs};
use crate::exit::{Exit, Failed, Result};
use crate::paint::{Paint, Tone};
use crate::{print, table};

const HEAD: [&str; 5] = ["COMMIT", "TIME", "WHAT", "FILE", "WHY"];

#[derive(Debug, Args)]
#[command(
    after_help = "Every file that `crosier run` writes is kept in a repository of its own, outside this folder and
its .git, together with its previous content.

Example:
  crosier history list && crosier history restore 3f2a91c04b src/main.rs"
)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    what: HistoryCommand,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// List versions, newest first
    #[command(after_help = "Example:\n  crosier history list src/main.rs --limit 5")]
    List(ListArgs),
    /// Print a file as it was at a commit
    #[command(after_help = "Example:\n  crosier history show 3f2a91c04b src/main.rs > old.rs")]
    Show(VersionArgs),
    /// Print what a commit changed
    #[command(after_help = "Example:\n  crosier history diff 3f2a91c04b")]
    Diff(DiffArgs),
    /// Restore a file as it was at a commit; the current content is kept first
    #[command(after_help = "Example:\n  crosier history restore 3f2a91c04b src/main.rs")]
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only versions of this file
    path: Option<String>,
    /// List at most this many versions
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: AgentDataArgs,
}

#[derive(Debug, Args)]
struct VersionArgs {
    /// The commit, as `list` shows it; its first digits are enough
    commit: String,
    /// The file, relative to this folder
    path: String,
    #[command(flatten)]
    folder: AgentDataArgs,
}

#[derive(Debug, Args)]
struct DiffArgs {
    /// The commit, as `list` shows it; its first digits are enough
    commit: String,
    #[command(flatten)]
    folder: AgentDataArgs,
}

#[derive(Debug, Args)]
struct RestoreArgs {
    #[command(flatten)]
    version: VersionArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for HistoryArgs {
    fn run(&self) -> Result {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failed::new(Exit::Failed, format!("the async runtime cannot be started: {error}"))
        })?;
        runtime.block_on(async {
            match &self.what {
                HistoryCommand::List(args) => args.run(&open(&args.folder).await?).await,
                HistoryCommand::Show(args) => args.run(&open(&args.folder).await?).await,
                HistoryCommand::Diff(args) => args.run(&open(&args.folder).await?).await,
                HistoryCommand::Restore(args) => args.run(&open(&args.version.folder).await?).await,
            }
        })
    }
}

/// The history of this folder; it is not created here.
async fn open(folder: &AgentDataArgs) -> std::result::Result<ShadowGit, Failed> {
    let (folder, workspace) = (folder.find()?, agent_data::workspace()?);
    if !folder.repository(&workspace).exists() {
        let message = format!(
            "there is no history of {} yet: it begins when `crosier run` writes a file here",
            print::one_line(&workspace.display().to_string())
        );
        return Err(Failed::new(Exit::Failed, message));
    }
    folder.history(&workspace).await.map_err(failed)
}

fn failed(error: HistoryError) -> Failed {
    let remedy = match &error {
        HistoryError::NoCommit { .. } => "; `crosier history list` shows them",
        HistoryError::NoGit { .. } => "; install git",
        _ => "",
    };
    Failed::new(Exit::Failed, format!("{}{remedy}", print::plain(&error.to_string())))
}

impl ListArgs {
    async fn run(&self, history: &ShadowGit) -> Result {
        let entries = history.list(self.path.as_deref(), self.limit).await.map_err(failed)?;
        if self.json {
            let rows: Vec<Value> = entries.iter().map(as_json).collect();
            print::json(&format!("{:#}", Value::from(rows)))?;
            return Ok(Exit::Done);
        }
        if entries.is_empty() {
            print::data("no versions")?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(HEAD);
        for entry in &entries {
            let first_line = entry.message.lines().next().unwrap_or_default();
            drawn.add_row([
                entry.commit.short().to_owned(),
                crosier::timestamp(entry.time).replace(".000Z", "Z"),
                entry.kind.word().to_owned(),
                print::one_line(&entry.path),
                print::one_line(first_line),
            ]);
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "commit": entry.commit.as_str(),
        "time": crosier::timestamp(entry.time),
        "kind": entry.kind.word(),
        "path": entry.path,
        "message": entry.message,
    })
}

impl VersionArgs {
    async fn run(&self, history: &ShadowGit) -> Result {
        // Exactly the bytes of the file, because the output may be redirected to a file.
        print::bytes(&history.show(&self.commit, &self.path).await.map_err(failed)?)?;
        Ok(Exit::Done)
    }
}

impl DiffArgs {
    async fn run(&self, history: &ShadowGit) -> Result {
        let difference = history.diff(&self.commit).await.map_err(failed)?;
        let paint = Paint::stdout();
        if paint == Paint::Plain {
            print::bytes(difference.as_bytes())?;
            return Ok(Exit::Done);
        }
        let lines = difference.lines().map(|line| {
            let tone = match line.as_bytes().first() {
                Some(b'+') => Tone::Good,
                Some(b'-') => Tone::Bad,
                Some(b'@') => Tone::Faint,
                _ => return print::plain(line),
            };
            paint.tone(tone, &print::plain(line))
        });
        print::data(&lines.collect::<Vec<_>>().join("\n"))?;
        Ok(Exit::Done)
    }
}

impl RestoreArgs {
    async fn run(&self, history: &ShadowGit) -> Result {
        let VersionArgs { commit, path, .. } = &self.version;
        let restored = history.restore(commit, path).await.map_err(failed)?;
        let (what, new) = match &restored {
            Restored::Written(new) => ("restored", new),
            Restored::Removed(new) => ("removed", new),
        };
        if self.json {
            let done = json!({"path": path, "kind": what, "commit": new.as_str()});
            print::json(&done.to_string())?;
            return Ok(Exit::Done);
        }
        let path = print::one_line(path);
        let done = match restored {
            Restored::Written(_) => format!("{path} is now as it was in {commit}"),
            Restored::Removed(_) => format!("{path} did not exist in {commit} and was removed"),
        };
        print::data(&format!("{done} (kept as {})", new.short()))?;
        Ok(Exit::Done)
    }
}
