//! Tables for people.

use comfy_table::{ContentArrangement, Table, presets};

/// A table with a line under its head and no other lines; it fits the terminal.
pub(crate) fn table<H: Into<String>>(head: impl IntoIterator<Item = H>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.into_iter().map(Into::into).collect::<Vec<String>>());
    table
}

/// The table as text, without spaces at the ends of lines.
pub(crate) fn text(table: &Table) -> String {
    table.trim_fmt()
}
