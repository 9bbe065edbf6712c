//! The report as a page of `bench/results/`.

use super::Report;
use super::table::points;
use super::text::{HEADINGS, cells, nanoseconds};

pub(crate) fn markdown(report: &Report) -> String {
    let mut out = format!("# Bench of {}\n\n", report.date);
    if report.quick {
        out.push_str("A quick run: few rounds, wide intervals. Nothing here is a claim.\n\n");
    }
    out.push_str(&format!("{}.\n\n", report.summary()));
    let machine = &report.machine;
    for (name, value) in machine.lines() {
        out.push_str(&format!("- {name}: {value}\n"));
    }
    for noise in &report.noise {
        out.push_str(&format!("- noise {noise}\n"));
    }
    out.push_str(&format!("- {}\n", report.quiet()));
    out.push_str(
        "\nIn each round, every case of a group runs once, in a new random order. The first tenth of each run is \
         dropped. A sample is also dropped if a short calibration loop next to it took more than 1.3 times its best \
         time, because then another program was using the same core. The share of samples that were kept is under \
         Spread; if it is less than a fifth, all samples are used. A time is the median of the p50 of each run. The \
         interval is a bootstrap over runs and rounds. A goal is met when the result reaches it, and \"within \
         noise\" when only the interval does.\n\n",
    );
    push_table(&mut out, &HEADINGS.map(str::to_owned), report.rows.iter().map(|row| cells(row).to_vec()));
    for curve in &report.curves {
        out.push_str(&format!("\n## {} ({})\n\n", curve.title, curve.id));
        let mut lines = points(curve).into_iter();
        let headings = lines.next().unwrap_or_default();
        push_table(&mut out, &headings, lines);
    }
    out.push_str("\n## Spread\n\n");
    let headings =
        ["id", "runs × rounds", "quiet", "floor p50 / p90", "Crosier p50 / p90"].map(str::to_owned);
    let spread = report.rows.iter().filter(|row| row.ours.is_some()).map(|row| {
        let both = |side: &Option<crate::row::Timing>| {
            side.as_ref()
                .map(|side| format!("{} / {}", nanoseconds(side.p50), nanoseconds(side.p90)))
                .unwrap_or_default()
        };
        let rounds = format!("{} × {}", row.runs, row.rounds);
        let quiet = format!("{:.0} %", row.quiet * 100.0);
        vec![row.id.clone(), rounds, quiet, both(&row.floor), both(&row.ours)]
    });
    push_table(&mut out, &headings, spread);
    let notes: Vec<_> = report.rows.iter().filter(|row| !row.note.is_empty()).collect();
    if !notes.is_empty() {
        out.push_str("\n## Notes\n\n");
        notes.iter().for_each(|row| out.push_str(&format!("- **{}** {}\n", row.id, row.note)));
    }
    if !report.skipped.is_empty() {
        out.push_str("\n## Not measured\n\n");
        report.skipped.iter().for_each(|why| out.push_str(&format!("- {why}\n")));
    }
    out
}

fn push_table(out: &mut String, headings: &[String], rows: impl Iterator<Item = Vec<String>>) {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
    let escaped = |cells: &[String]| -> Vec<String> {
        cells.iter().map(|cell| cell.replace('|', "\\|").replace('<', "&lt;")).collect()
    };
    out.push_str(&line(&escaped(headings)));
    out.push_str(&format!("|{}\n", "---|".repeat(headings.len())));
    rows.for_each(|row| out.push_str(&line(&escaped(&row))));
}
