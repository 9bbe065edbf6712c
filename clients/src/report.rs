//! The table at the end.

use crate::check::Verdict;

/// The result of every check.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    skipped: Vec<String>,
}

struct Row {
    agent: &'static str,
    check: String,
    /// What was observed instead.
    fault: Option<String>,
    seconds: f64,
}

impl Report {
    /// Adds the checks of one run and its duration.
    pub(crate) fn add(&mut self, agent: &'static str, scenario: &str, verdicts: Vec<Verdict>, seconds: f64) {
        for Verdict { check, fault } in verdicts {
            if let Some(fault) = &fault {
                eprintln!("  failed: {check}\n    {fault}");
            }
            self.rows.push(Row { agent, check: format!("{scenario}: {check}"), fault, seconds });
        }
    }

    /// An agent that was left out.
    pub(crate) fn skip(&mut self, agent: &str, why: &str) {
        self.skipped.push(format!("SKIPPED {agent}: {}", why.lines().next().unwrap_or_default()));
    }

    /// Prints the table and the count; returns whether nothing failed.
    pub(crate) fn finish(&self) -> bool {
        let agent = self.rows.iter().map(|row| row.agent.len()).max().unwrap_or_default().max(5);
        let check = self.rows.iter().map(|row| row.check.chars().count()).max().unwrap_or_default().max(5);
        println!("{:agent$}  {:check$}  result  seconds", "agent", "check");
        for row in &self.rows {
            let result = if row.fault.is_none() { "pass" } else { "FAIL" };
            println!("{:agent$}  {:check$}  {result:6}  {:7.1}", row.agent, row.check, row.seconds);
        }
        for row in &self.rows {
            if let Some(fault) = &row.fault {
                println!("\n{} · {}\n  {fault}", row.agent, row.check);
            }
        }
        for skipped in &self.skipped {
            println!("{skipped}");
        }
        let failed = self.rows.iter().filter(|row| row.fault.is_some()).count();
        println!("{} passed, {failed} failed", self.rows.len() - failed);
        failed == 0
    }
}
