//! `crosier test`: runs cases.

use serde_json::json;

use crate::args::TestArgs;
use crate::cases::{self, Case, Verdict};
use crate::exit::{Exit, Failed, Result};
use crate::print;

pub(crate) fn run(args: &TestArgs) -> Result {
    let filter = match &args.filter {
        Some(text) => Some(cases::Filter::new(text).map_err(|why| Failed::new(Exit::Usage, why))?),
        None => None,
    };
    let mut found = cases::load(&args.paths)?;
    found.retain(|case| filter.as_ref().is_none_or(|filter| filter.matches(&case.name)));
    let verdicts = cases::run_all(&found);
    let failed = verdicts.iter().filter(|verdict| !verdict.differences.is_empty()).count();
    let summary = format!("{} passed, {failed} failed", verdicts.len() - failed);
    if args.json {
        let rows: Vec<_> =
            found.iter().zip(&verdicts).map(|(case, verdict)| as_json(case, verdict)).collect();
        print::data(&format!(
            "{:#}",
            json!({"passed": verdicts.len() - failed, "failed": failed, "cases": rows})
        ))?;
    } else {
        for (case, verdict) in
            found.iter().zip(&verdicts).filter(|(_, verdict)| !verdict.differences.is_empty())
        {
            print::data(&cases::describe(case, verdict))?;
        }
        print::data(&summary)?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn as_json(case: &Case, verdict: &Verdict) -> serde_json::Value {
    let differences: Vec<_> = verdict
        .differences
        .iter()
        .map(
            |difference| json!({"at": difference.at, "expected": difference.expected, "got": difference.got}),
        )
        .collect();
    json!({
        "name": case.name,
        "file": case.place().0,
        "line": case.place().1,
        "passed": differences.is_empty(),
        "ms": (verdict.took.as_secs_f64() * 1e6).round() / 1e3,
        "differences": differences,
    })
}
