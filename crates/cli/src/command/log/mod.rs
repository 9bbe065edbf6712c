//! `crosier log`: what hooks decided, and why.

mod show;
mod stats;

use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use crosier_log::{Filter, Log, Record, Stats, since};
use crosier_policy::StateFolder;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Run, doctor_entry};
use crate::exit::{Exit, Failed, Result};
use crate::homes::HomeArgs;
use crate::print;
use crate::setup::{self, count};
use crate::table;
use show::Layout;

/// The pause between two reads while a log is followed.
const INTERVAL: Duration = Duration::from_millis(150);
/// How many records a terminal gets by default.
const SCREENFUL: usize = 50;
/// How many records are shown before a log is followed.
const BEFORE: usize = 10;
/// The argument of `log` that asks for statistics.
const STATS: &str = "stats";

#[derive(Debug, Args)]
#[command(
    after_help = "Every event that `crosier hook` and `crosier run` handle is one line of JSON in the state folder:
secrets are masked, only the owner can read it, and there are at most 5 files of 10 MB.
What a person changes (`trust`, `disable`, `install`, …) is logged too.

In the list, `-` is no opinion, `fail` that a hook failed and was ignored, `would` what a hook in
`mode: warn` would have denied or asked, and `did` a command of a person.

`log: off` in your own or the managed crosier.yaml switches it off. No decision depends on it.

`crosier test --record LAST` turns the last denial into a test case.

Example:
  crosier log --denied --since 1h
  crosier log -f --agent claude
  crosier log stats"
)]
pub(crate) struct LogArgs {
    /// The id of a record, to see all of it; or `stats`, for denials by rule, slow hooks and failures
    #[arg(value_name = "ID|stats")]
    what: Option<String>,
    /// Show records as they are written, until Ctrl-C
    #[arg(short = 'f', long, conflicts_with = "what")]
    follow: bool,
    /// Only denials
    #[arg(long)]
    denied: bool,
    /// Only this decision; `would` selects what hooks that only warn would have denied or asked
    #[arg(long, value_name = "DECISION", value_parser = decisions())]
    decision: Option<String>,
    /// Only events of this agent: claude, codex, …; for `crosier run` it is `crosier`
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only sessions whose id begins with this
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only events at which this hook ran, decided or failed
    #[arg(long, value_name = "NAME")]
    hook: Option<String>,
    /// Only records since: 30s, 15m, 1h, 2d, 1w, 2026-11-17, 2026-11-17T08:30
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only the newest N; 0 means all (default: all in a pipe, 50 on a terminal)
    #[arg(short = 'n', long = "lines", value_name = "N")]
    lines: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    homes: HomeArgs,
}

fn decisions() -> PossibleValuesParser {
    ["deny", "ask", "allow", "none", "would"].into()
}

impl Run for LogArgs {
    fn run(&self) -> Result {
        let homes = self.homes.find();
        let Some(state) = homes.state.clone() else {
            let message = "there is no state folder, so nothing is logged: set HOME or XDG_STATE_HOME";
            return Err(Failed::new(Exit::BadConfig, message));
        };
        if let StateFolder::Refused(why) = crosier_policy::state_folder(&setup::request(&[], homes)) {
            print::note(&format!("{why}; until then nothing is logged here, and hooks deny actions"));
        }
        let log = Log::in_folder(&state);
        let zone = TimeZone::system();
        let mut filter = self.filter(&zone)?;
        let layout = Layout::of_terminal(zone);
        match self.what.as_deref() {
            Some(STATS) => self.stats(&log, &filter),
            Some(id) => {
                filter.id = Some(id.to_owned());
                self.one(&log, &filter, id, &layout)
            }
            None if self.follow => self.follow(&log, &filter, &layout),
            None => self.list(&log, &filter, &layout),
        }
    }
}

impl LogArgs {
    fn filter(&self, zone: &TimeZone) -> std::result::Result<Filter, Failed> {
        let mut filter = Filter::default();
        filter.denied = self.denied;
        filter.decision.clone_from(&self.decision);
        filter.agent.clone_from(&self.agent);
        filter.session.clone_from(&self.session);
        filter.hook.clone_from(&self.hook);
        if let Some(text) = &self.since {
            let found = since(text, Timestamp::now(), zone);
            filter.since =
                Some(found.map_err(|error| Failed::new(Exit::Usage, format!("--since: {error}")))?);
        }
        Ok(filter)
    }

    fn list(&self, log: &Log, filter: &Filter, layout: &Layout) -> Result {
        let most = match self.lines {
            Some(0) => None,
            Some(lines) => Some(lines),
            None => (layout.is_terminal && !self.json).then_some(SCREENFUL),
        };
        let mut records = log.read(filter, None).map_err(|error| unreadable(log, &error))?;
        let all = records.len();
        if let Some(most) = most {
            records.drain(..all.saturating_sub(most));
        }
        if records.is_empty() && !self.json {
            print::data(&self.nothing(log)?)?;
            return Ok(Exit::Done);
        }
        let mut text = String::new();
        if records.len() < all && self.lines.is_none() {
            let earlier = count(all - records.len(), "earlier record");
            text.push_str(&format!("({earlier} left out: -n 0 shows all)\n"));
        }
        records.iter().for_each(|record| text.push_str(&self.shown(record, layout)));
        if !text.is_empty() {
            print::data(&text)?;
        }
        Ok(Exit::Done)
    }

    fn shown(&self, record: &Record, layout: &Layout) -> String {
        if self.json { format!("{}\n", show::json(record)) } else { layout.lines(record) }
    }

    /// Shows one record in full.
    fn one(&self, log: &Log, filter: &Filter, id: &str, layout: &Layout) -> Result {
        let found = log.read(filter, Some(1)).map_err(|error| unreadable(log, &error))?;
        let Some(record) = found.first() else {
            let id = print::one_line(id);
            let message = format!(
                "no record has the id `{id}`; `crosier log` shows the ids, `crosier log stats` shows statistics"
            );
            return Err(Failed::new(Exit::Failed, message));
        };
        let text = if self.json { show::json(record) } else { layout.whole(record) };
        print::data(&text)?;
        Ok(Exit::Done)
    }

    fn stats(&self, log: &Log, filter: &Filter) -> Result {
        let records = log.read(filter, None).map_err(|error| unreadable(log, &error))?;
        if records.is_empty() && !self.json {
            print::data(&self.nothing(log)?)?;
            return Ok(Exit::Done);
        }
        // Events that `doctor` sent as a test are not counted.
        let is_event = |record: &Record| {
            self.session.is_some() || record.session.as_deref() != Some(doctor_entry::SESSION)
        };
        let stats = Stats::of(records.into_iter().filter(is_event));
        print::data(&if self.json { stats::json(&stats) } else { stats::text(&stats) })?;
        Ok(Exit::Done)
    }

    fn follow(&self, log: &Log, filter: &Filter, layout: &Layout) -> Result {
        // Started before the existing records are read, so that none is missed or shown twice.
        let mut follow = log.follow().map_err(|error| unreadable(log, &error))?;
        let before = log.read(filter, Some(self.lines.unwrap_or(BEFORE)));
        let before = before.map_err(|error| unreadable(log, &error))?;
        let mut shown: Vec<String> = before.iter().map(|record| record.id.clone()).collect();
        for record in &before {
            print::data(&self.shown(record, layout))?;
        }
        if before.is_empty() && !self.json {
            print::note("nothing yet; records are shown as they are written, until Ctrl-C");
        }
        loop {
            for record in follow.look().map_err(|error| unreadable(log, &error))? {
                if filter.matches(&record) && !shown.contains(&record.id) {
                    print::data(&self.shown(&record, layout))?;
                }
            }
            // Only the first look can return records that were already shown.
            std::thread::sleep(INTERVAL);
            shown.clear();
        }
    }

    /// What to do when there is nothing to show.
    fn nothing(&self, log: &Log) -> std::result::Result<String, Failed> {
        let all = log.read(&Filter::default(), None).map_err(|error| unreadable(log, &error))?.len();
        if all > 0 {
            let records = count(all, "record");
            let text = format!(
                "no record matches; the log has {records}: remove a filter, or see them with `crosier log -n 20`"
            );
            return Ok(table::paragraph(&text));
        }
        Ok("nothing is logged yet. Next:
  crosier install
    make your agents call Crosier
  crosier try 'git push --force'
    see what would be decided here, now"
            .to_owned())
    }
}

fn unreadable(log: &Log, error: &std::io::Error) -> Failed {
    let folder = log.folder().display();
    Failed::new(Exit::Failed, format!("the log in {folder} cannot be read: {error}"))
}
