//! Tables for people: a header and columns, nothing else.
//!
//! In a pipe, every row is one line, however wide, so that lines can be searched. On a terminal, no line is wider than
//! the terminal: long cells are wrapped in their columns, and if columns do not fit, each row becomes a block.

use comfy_table::{Cell, ContentArrangement, Table, presets};

use crate::environment;
use crate::exit::Failed;
use crate::paint::{Paint, Tone};
use crate::print;
use crate::text::{columns, wrap};

/// The space between two columns.
const GAP: usize = 2;
/// The least width of a column that is wrapped; its longest word must fit too.
const MIN_COLUMN_WIDTH: usize = 12;

/// A table with a header.
pub(crate) fn table<H: Into<String>>(head: impl IntoIterator<Item = H>) -> Table {
    let mut table = rows();
    table.set_header(head.into_iter().map(Into::into).collect::<Vec<String>>());
    table
}

/// A table without a header.
pub(crate) fn rows() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// The table as text.
pub(crate) fn text(table: &Table) -> String {
    text_beside(table, 0)
}

/// The table as text, with this many columns taken by other text.
pub(crate) fn text_beside(table: &Table, taken: usize) -> String {
    match environment::columns() {
        Some(width) => fitted(table, width.saturating_sub(taken)),
        None => unlimited(table),
    }
}

/// Prints the table to stdout, with its header in bold on a terminal.
pub(crate) fn print(table: &Table) -> Result<(), Failed> {
    let text = text(table);
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    print::data(&format!("{}\n{rows}", Paint::stdout().tone(Tone::Strong, head)))
}

/// A sentence, wrapped to the terminal's width; every line ends with a line break.
pub(crate) fn paragraph(text: &str) -> String {
    let lines = wrap(text, environment::columns().unwrap_or(usize::MAX));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Lines for a person, wrapped to the terminal's width; continuation lines are indented.
pub(crate) fn fit(text: &str) -> String {
    fit_into(text, environment::columns())
}

fn fit_into(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut out = String::new();
    for line in text.lines() {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        for (number, part) in wrap(words, width.saturating_sub(indent + 2)).iter().enumerate() {
            let indent = if number == 0 { indent } else { indent + 2 };
            out.push_str(format!("{}{part}", " ".repeat(indent)).trim_end());
            out.push('\n');
        }
        if words.is_empty() {
            out.push('\n');
        }
    }
    out
}

/// One line per row.
fn unlimited(table: &Table) -> String {
    let text = table.trim_fmt();
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// No line wider than `width`.
fn fitted(table: &Table, width: usize) -> String {
    let head = table.header().map(cells);
    let rows: Vec<Vec<String>> = table.row_iter().map(cells).collect();
    let all = || head.iter().chain(&rows);
    let count = all().map(Vec::len).max().unwrap_or_default();
    let widest = |of: fn(&str) -> usize, column: usize| {
        all().filter_map(|row| row.get(column)).map(|cell| of(cell)).max().unwrap_or_default()
    };
    let natural: Vec<usize> = (0..count).map(|column| widest(columns, column)).collect();
    let least: Vec<usize> =
        (0..count).map(|column| widest(longest_word, column).max(MIN_COLUMN_WIDTH)).collect();
    let room = width.saturating_sub(GAP * count.saturating_sub(1));
    if natural.iter().sum::<usize>() <= room {
        return unlimited(table);
    }
    match shared(&natural, &least, room) {
        Some(widths) => all().flat_map(|row| wrapped(row, &widths)).collect::<Vec<_>>().join("\n"),
        None => blocks(head.as_deref(), &rows, width),
    }
}

fn cells(row: &comfy_table::Row) -> Vec<String> {
    row.cell_iter().map(Cell::content).collect()
}

fn longest_word(cell: &str) -> usize {
    cell.split(' ').map(columns).max().unwrap_or_default()
}

/// The widths of columns in limited room: the widest ones are reduced first. `None` when there is too little room.
fn shared(natural: &[usize], least: &[usize], room: usize) -> Option<Vec<usize>> {
    let widths =
        |cap: usize| natural.iter().zip(least).map(move |(&width, &least)| width.min(cap.max(least)));
    let widest = natural.iter().copied().max()?;
    let cap = (MIN_COLUMN_WIDTH..=widest).rev().find(|&cap| widths(cap).sum::<usize>() <= room)?;
    Some(widths(cap).collect())
}

/// The lines of one row.
fn wrapped(row: &[String], widths: &[usize]) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        row.iter().zip(widths).map(|(cell, &width)| wrap(cell, width.max(2))).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let line = |number: usize| {
        let mut line = String::new();
        for (cell, &width) in cells.iter().zip(widths) {
            let part = cell.get(number).map_or("", String::as_str);
            line.push_str(part);
            line.push_str(&" ".repeat((width + GAP).saturating_sub(columns(part))));
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// Each row as a block: its first cell, and below it the others with their names.
fn blocks(head: Option<&[String]>, rows: &[Vec<String>], width: usize) -> String {
    let name = |column: usize| head.and_then(|head| head.get(column)).map_or("", String::as_str);
    let mut lines = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate().filter(|(column, cell)| *column == 0 || !cell.is_empty())
        {
            let label = match (column, name(column)) {
                (0, _) | (_, "") => String::new(),
                (_, name) => format!("{}: ", name.to_lowercase()),
            };
            let indent = if column == 0 { 0 } else { 2 };
            let parts = wrap(&format!("{label}{cell}"), width.saturating_sub(indent + 2));
            for (number, part) in parts.iter().enumerate() {
                let indent = if number == 0 { indent } else { indent + 2 };
                lines.push(format!("{}{part}", " ".repeat(indent)).trim_end().to_owned());
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(long: &str) -> Table {
        let mut sample = table(["NAME", "WHY", "PLACE"]);
        sample.add_row(["guard", long, "crosier.yaml:3"]);
        sample.add_row(["b", "", "x"]);
        sample
    }

    #[test]
    fn columns_are_wrapped_where_there_is_room_for_them() {
        let text = fitted(&sample("it matches Bash and is a guard"), 50);
        assert_eq!(
            text,
            "NAME   WHY                          PLACE\n\
             guard  it matches Bash and is a     crosier.yaml:3\n       guard\n\
             b                                   x"
        );
    }

    #[test]
    fn lines_go_on_below() {
        assert_eq!(fit_into("  note: one two three\n\nb\n", Some(18)), "  note: one two\n    three\n\nb\n");
        assert_eq!(fit_into("one two", None), "one two");
    }

    #[test]
    fn without_room_for_columns_a_row_is_a_block() {
        let text = fitted(&sample("it matches Bash and is a guard"), 26);
        assert_eq!(
            text,
            "guard\n  why: it matches Bash\n    and is a guard\n  place: crosier.yaml:3\nb\n  place: x"
        );
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_the_terminal(long in "(\\PC|漢| ){0,200}", width in 20..200_usize) {
            let long = long.replace('\n', " ");
            for line in fitted(&sample(&long), width).lines() {
                prop_assert!(columns(line) <= width, "{} > {}: {}", columns(line), width, line);
            }
        }
    }
}
