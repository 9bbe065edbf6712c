//! `crosier audit`: reads the log that the built-in hook `audit` writes. It never changes the log.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier_builtins::audit::{self, Anchors, Count, Entry, Protection, Stats, Verified};

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::setup::count;
use crate::{environment, print, table};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier audit verify audit.jsonl")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    what: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Check that no record was changed, removed or inserted
    #[command(
        after_help = "Renamed files (FILE.000001 and so on) are part of the log. The key of the chain and the end of
the log are stored in the state folder ($XDG_STATE_HOME/crosier or ~/.local/state/crosier);
without them, `verify` cannot detect changes by somebody who knows the format, or records that are
missing at the end. Code that runs as you can read the key: keep the last hash elsewhere,
and check it with --contains.

Exit status: 0 the chain is intact, 1 it is not, 65 the log cannot be read.

Example:
  crosier audit verify audit.jsonl"
    )]
    Verify(VerifyArgs),
    /// Show the records, the oldest first
    #[command(after_help = "Example:\n  crosier audit show --decision deny --last 20")]
    Show(ShowArgs),
    /// Count the records by event, tool, hook and decision
    #[command(after_help = "Example:\n  crosier audit stats --json")]
    Stats(StatsArgs),
}

// The log. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
struct FileArgs {
    /// The log: the value of the hook's option `file`
    #[arg(default_value = "audit.jsonl")]
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    #[command(flatten)]
    of: FileArgs,
    /// A hash that must be in the log: what an earlier `verify` printed as the last one
    #[arg(long, value_name = "HASH", value_parser = hash)]
    contains: Option<String>,
}

#[derive(Debug, Args)]
struct ShowArgs {
    #[command(flatten)]
    of: FileArgs,
    /// Only this event
    #[arg(long)]
    event: Option<String>,
    /// Only this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only this session
    #[arg(long)]
    session: Option<String>,
    /// Only this agent
    #[arg(long)]
    agent: Option<String>,
    /// Only records with this decision
    #[arg(long, value_parser = ["allow", "ask", "deny", "none"])]
    decision: Option<String>,
    /// Only this many of the newest records
    #[arg(long, value_name = "COUNT")]
    last: Option<usize>,
}

#[derive(Debug, Args)]
struct StatsArgs {
    #[command(flatten)]
    of: FileArgs,
}

impl Run for AuditArgs {
    fn run(&self) -> Result {
        match &self.what {
            AuditCommand::Verify(args) => args.run(),
            AuditCommand::Show(args) => args.run(),
            AuditCommand::Stats(args) => args.run(),
        }
    }
}

fn hash(text: &str) -> std::result::Result<String, String> {
    let lower = text.to_ascii_lowercase();
    let is_hash = lower.len() == 64 && lower.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(lower).ok_or_else(|| "a hash has 64 hexadecimal digits".to_owned())
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failed {
    let message = format!("the log {} cannot be read: {error}", file.display());
    Failed::new(Exit::BadInput, message)
}

impl VerifyArgs {
    fn run(&self) -> Result {
        let file = &self.of.file;
        let anchors = environment::default_state_folder().map(|folder| Anchors::in_state_folder(&folder));
        let verified = audit::verify(file, self.contains.as_deref(), anchors.as_ref())
            .map_err(|error| unreadable(file, &error))?;
        let shown =
            if self.of.json { format!("{:#}", verified_json(&verified)) } else { self.text(&verified) };
        print::data(&shown)?;
        let is_good = verified.problem.is_none() && verified.contains != Some(false);
        Ok(if is_good { Exit::Done } else { Exit::Failed })
    }

    fn text(&self, verified: &Verified) -> String {
        let records = count(usize::try_from(verified.records).unwrap_or(usize::MAX), "record");
        let mut lines = Vec::new();
        match &verified.problem {
            None => lines.push(format!("{}: {records}, the chain is intact", self.of.file.display())),
            Some(problem) => {
                lines.push(print::one_line(&problem.to_string()));
                lines.push(format!("{records} before it: intact"));
            }
        }
        if let Some(first) = verified.begins_at {
            lines.push(format!("it begins with record {first}: older files are gone"));
        }
        if verified.torn_records > 0 {
            let torn = count(usize::try_from(verified.torn_records).unwrap_or(usize::MAX), "record");
            lines.push(format!("{torn} incomplete: the writer was stopped; nothing else is missing there"));
        }
        if verified.torn_bytes > 0 {
            let bytes = verified.torn_bytes;
            lines.push(format!("{bytes} bytes after the last complete record: the writer was stopped"));
        }
        lines.push(protection(verified.protection).to_owned());
        if let Some(hash) = &verified.last_hash {
            lines.push(format!("last hash: {hash}"));
        }
        match verified.contains {
            None => {}
            Some(true) => lines.push("the hash that was asked for is in it".to_owned()),
            Some(false) => {
                lines.push("the hash that was asked for is not in it: records are missing".to_owned());
            }
        }
        lines.join("\n")
    }
}

fn protection(protection: Protection) -> &'static str {
    match protection {
        Protection::KeyAndHead => "protected by a key and by its end, both in the state folder",
        Protection::Key => "protected by a key; where it ends is not stored",
        _ => "not protected by a key: anyone who can write to the log can also forge the chain",
    }
}

fn verified_json(verified: &Verified) -> Value {
    let problem = verified.problem.as_ref().map(|problem| {
        json!({
            "file": problem.file.display().to_string(),
            "line": problem.line,
            "record": problem.record,
            "byte": problem.offset,
            "flaw": problem.kind.word(),
            "message": problem.to_string(),
        })
    });
    json!({
        "ok": problem.is_none() && verified.contains != Some(false),
        "records": verified.records,
        "files": verified.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "begins_at": verified.begins_at,
        "torn_records": verified.torn_records,
        "torn_bytes": verified.torn_bytes,
        "last_hash": verified.last_hash,
        "contains": verified.contains,
        "protection": verified.protection.word(),
        "problem": problem,
    })
}

impl ShowArgs {
    fn run(&self) -> Result {
        let file = &self.of.file;
        let (mut out, mut kept) = (String::new(), VecDeque::new());
        let (mut printed, mut unread) = (Ok(()), 0_usize);
        let read = audit::read(file, |entry| {
            let record = match entry {
                Entry::Record(record) => record,
                Entry::Unreadable { file, line } => {
                    unread += 1;
                    if unread <= 10 {
                        print::note(&format!("{}:{line}: this is not a record", file.display()));
                    }
                    return true;
                }
            };
            if !self.is_wanted(&record) {
                return true;
            }
            if let Some(last) = self.last {
                kept.push_back(self.line(&record));
                if kept.len() > last {
                    kept.pop_front();
                }
                return true;
            }
            out.push_str(&self.line(&record));
            // Printed in parts: a log can be larger than memory, and the reader may stop early.
            if out.len() > 1 << 16 {
                printed = print::data(&out);
                out.clear();
            }
            printed.is_ok()
        });
        read.map_err(|error| unreadable(file, &error))?;
        printed?;
        out.extend(kept);
        if !out.is_empty() {
            print::data(&out)?;
        }
        if unread > 0 {
            print::note(&format!(
                "{} of the log left out; `crosier audit verify` says more",
                count(unread, "line")
            ));
        }
        Ok(Exit::Done)
    }

    fn is_wanted(&self, record: &Value) -> bool {
        let is = |key: &str, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| text(record, key) == Some(wanted))
        };
        let decision = match self.decision.as_deref() {
            None => true,
            Some("none") => text(record, "decision").is_none(),
            Some(word) => text(record, "decision") == Some(word),
        };
        decision
            && is("event", &self.event)
            && is("tool_name", &self.tool)
            && is("session", &self.session)
            && is("agent", &self.agent)
    }

    /// One line: the whole record as JSON, or an outline for people.
    fn line(&self, record: &Value) -> String {
        if self.of.json {
            return format!("{record}\n");
        }
        let shown = |key: &str| print::one_line(text(record, key).unwrap_or("-"));
        let by = text(record, "by").map(|by| format!(" by {}", print::one_line(by))).unwrap_or_default();
        let agent =
            text(record, "agent").map(|agent| format!("/{}", print::one_line(agent))).unwrap_or_default();
        let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
        let [time, event, tool] = ["time", "event", "tool_name"].map(shown);
        let rest = format!("{}{by}  {}{agent}\n", shown("decision"), shown("session"));
        let line = format!("{seq:>6}  {time:<24}  {event:<18}  {tool:<12}  {rest}");
        match environment::columns() {
            Some(columns) if crate::text::columns(&line) > columns => {
                table::fit(&format!("{seq}  {time}  {event}  {tool}  {rest}"))
            }
            _ => line,
        }
    }
}

fn text<'a>(record: &'a Value, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str)
}

impl StatsArgs {
    fn run(&self) -> Result {
        let file = &self.of.file;
        let stats = audit::stats(file).map_err(|error| unreadable(file, &error))?;
        if self.of.json {
            print::data(&format!("{:#}", stats_json(&stats)))?;
            return Ok(Exit::Done);
        }
        let mut text = format!("{} records of {} sessions", stats.records, stats.sessions);
        if let (Some(first), Some(last)) = (&stats.first, &stats.last) {
            text.push_str(&format!(", {} to {}", print::one_line(first), print::one_line(last)));
        }
        if stats.unreadable > 0 {
            text.push_str(&format!("\n{} lines are not records", stats.unreadable));
        }
        text = table::fit(&text).trim_end().to_owned();
        for (what, counts) in [("EVENT", &stats.events), ("TOOL", &stats.tools), ("HOOK", &stats.hooks)] {
            if counts.is_empty() {
                continue;
            }
            let mut drawn = table::table([what, "TOTAL", "ALLOW", "ASK", "DENY", "FAILED"]);
            for (name, Count { total, allow, ask, deny, failed }) in counts {
                let numbers = [total, allow, ask, deny, failed].map(u64::to_string);
                drawn.add_row(std::iter::once(print::one_line(name)).chain(numbers));
            }
            text.push_str(&format!("\n\n{}", table::text(&drawn)));
        }
        print::data(&text)?;
        Ok(Exit::Done)
    }
}

fn stats_json(stats: &Stats) -> Value {
    let counts = |counts: &std::collections::BTreeMap<String, Count>| -> Value {
        let entries = counts.iter().map(|(name, Count { total, allow, ask, deny, failed })| {
            let numbers = json!({"total": total, "allow": allow, "ask": ask, "deny": deny, "failed": failed});
            (name.clone(), numbers)
        });
        Value::Object(entries.collect())
    };
    json!({
        "records": stats.records,
        "unreadable": stats.unreadable,
        "sessions": stats.sessions,
        "first": stats.first,
        "last": stats.last,
        "events": counts(&stats.events),
        "tools": counts(&stats.tools),
        "hooks": counts(&stats.hooks),
    })
}
