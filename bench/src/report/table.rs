//! The table on a terminal.

use super::text::{self, HEADINGS, cells};
use super::{Curve, Report};

/// The whole report as text.
pub(crate) fn table(report: &Report) -> String {
    let mut out = String::new();
    let rows: Vec<[String; 7]> = report.rows.iter().map(cells).collect();
    let mut lines: Vec<Vec<String>> = vec![HEADINGS.map(str::to_owned).to_vec()];
    lines.extend(rows.into_iter().map(|row| row.to_vec()));
    out.push_str(&align(&lines));
    for curve in &report.curves {
        out.push_str(&format!("\n{} ({})\n", curve.title, curve.id));
        out.push_str(&align(&points(curve)));
    }
    let notes = report.rows.iter().filter(|row| !row.note.is_empty());
    let notes: Vec<String> = notes.map(|row| format!("  {}: {}\n", row.id, row.note)).collect();
    if !notes.is_empty() {
        out.push_str("\nnotes\n");
        out.push_str(&notes.concat());
    }
    if !report.skipped.is_empty() {
        out.push_str("\nnot measured\n");
        report.skipped.iter().for_each(|why| out.push_str(&format!("  {why}\n")));
    }
    out.push('\n');
    for noise in &report.noise {
        out.push_str(&format!("noise {noise}\n"));
    }
    out.push_str(&format!("{}\n", report.quiet()));
    out.push_str(&format!("{}\n", report.summary()));
    out
}

/// A curve as lines of cells.
pub(super) fn points(curve: &Curve) -> Vec<Vec<String>> {
    let mut lines = vec![
        std::iter::once(curve.across.clone())
            .chain(curve.columns.iter().map(|column| column.name.clone()))
            .collect::<Vec<_>>(),
    ];
    for point in &curve.points {
        let values =
            curve.columns.iter().zip(&point.values).map(|(column, &value)| text::value(column.unit, value));
        lines.push(std::iter::once(format!("{:.0}", point.at)).chain(values).collect());
    }
    lines
}

fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}
