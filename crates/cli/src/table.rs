//! Tables for people: columns under a head, nothing else.

use comfy_table::{ContentArrangement, Table, presets};

use crate::exit::Failed;
use crate::paint::{Paint, Tone};
use crate::print;

/// A table whose lines can be searched: one row a line, however wide it gets.
pub(crate) fn table<H: Into<String>>(head: impl IntoIterator<Item = H>) -> Table {
    let mut table = rows();
    table.set_header(head.into_iter().map(Into::into).collect::<Vec<String>>());
    table
}

/// Columns without a head.
pub(crate) fn rows() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// The table as text, without spaces around it.
pub(crate) fn text(table: &Table) -> String {
    let text = table.trim_fmt();
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The table on stdout, its head in bold for a person.
pub(crate) fn print(table: &Table) -> Result<(), Failed> {
    let text = text(table);
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    print::data(&format!("{}\n{rows}", Paint::stdout().tone(Tone::Strong, head)))
}
