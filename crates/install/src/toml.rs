//! Adds and removes Crosier's entries in a TOML file, without changing anything else.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, value};

use crate::file::split_byte_order_mark;
use crate::line;

/// One `[[hooks]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The event.
    pub event: String,
    /// The command line.
    pub command: String,
    /// The timeout, in seconds.
    pub timeout: i64,
}

/// Reads a file.
///
/// # Errors
/// Why it cannot be edited.
pub fn parse(text: &str) -> Result<DocumentMut, String> {
    split_byte_order_mark(text).1.parse::<DocumentMut>().map_err(|error| {
        let first = error.to_string();
        format!("it is not TOML: {}", first.lines().next().unwrap_or_default())
    })
}

/// The edited document as text. The TOML library writes the same line ending everywhere, so unchanged lines are taken
/// from the old text.
#[must_use]
pub fn edited(old: &str, document: &DocumentMut) -> String {
    let new = document.to_string();
    let (mark, old) = split_byte_order_mark(old);
    let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let plain: Vec<&str> = old.iter().map(|line| line.trim_end_matches(['\r', '\n'])).collect();
    let lines: Vec<&str> = new.split_inclusive('\n').collect();
    let new: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(['\r', '\n'])).collect();
    let mut text = mark.to_owned();
    for op in capture_diff_slices(Algorithm::Myers, &plain, &new) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                text.extend(old.iter().skip(old_index).take(len).copied())
            }
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                if !text.is_empty() && text != mark && !text.ends_with('\n') {
                    text.push_str(end);
                }
                for line in lines.iter().skip(new_index).take(new_len) {
                    let bare = line.trim_end_matches(['\r', '\n']);
                    text.push_str(bare);
                    text.push_str(if line.ends_with('\n') { end } else { "" });
                }
            }
            DiffOp::Delete { .. } => {}
        }
    }
    text
}

/// A whole file as a value; dates become texts.
///
/// # Errors
/// Why it is not TOML.
pub fn as_json(text: &str) -> Result<serde_json::Value, String> {
    fn table(table: &dyn TableLike) -> serde_json::Value {
        table
            .iter()
            .map(|(name, value)| (name.to_owned(), item(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
    fn item(one: &Item) -> serde_json::Value {
        match one {
            Item::None => serde_json::Value::Null,
            Item::Value(one) => plain(one),
            Item::Table(one) => table(one),
            Item::ArrayOfTables(all) => all.iter().map(|one| table(one)).collect::<Vec<_>>().into(),
        }
    }
    fn plain(one: &toml_edit::Value) -> serde_json::Value {
        match one {
            toml_edit::Value::String(text) => text.value().as_str().into(),
            toml_edit::Value::Integer(number) => (*number.value()).into(),
            toml_edit::Value::Float(number) => (*number.value()).into(),
            toml_edit::Value::Boolean(is) => (*is.value()).into(),
            toml_edit::Value::Datetime(date) => date.value().to_string().into(),
            toml_edit::Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().into(),
            toml_edit::Value::InlineTable(one) => table(one),
        }
    }
    Ok(table(parse(text)?.as_table()))
}

/// Crosier's entries in it.
#[must_use]
pub fn found(document: &DocumentMut, agent: &str) -> Vec<Hook> {
    let read = |get: &dyn Fn(&str) -> Option<Item>| {
        let command = get("command")?.as_str()?.to_owned();
        let event = get("event")?.as_str()?.to_owned();
        let timeout = get("timeout").and_then(|item| item.as_integer()).unwrap_or_default();
        line::is_our_line(&command, agent).then_some(Hook { event, command, timeout })
    };
    let tables = document.get("hooks").and_then(Item::as_array_of_tables);
    let tables = tables.into_iter().flatten().filter_map(|table| read(&|name| table.get(name).cloned()));
    let inline = document.get("hooks").and_then(Item::as_array).into_iter().flatten();
    let inline = inline.filter_map(|one| {
        let table = one.as_inline_table()?;
        read(&|name| table.get(name).cloned().map(Item::Value))
    });
    tables.chain(inline).collect()
}

/// Replaces Crosier's entries with these.
///
/// # Errors
/// When something else is in their place.
pub fn set_entries(document: &mut DocumentMut, agent: &str, wanted: &[Hook]) -> Result<(), String> {
    if found(document, agent) == wanted {
        return Ok(());
    }
    remove_entries(document, agent);
    let hooks = document.entry("hooks").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    match hooks {
        Item::ArrayOfTables(tables) => {
            for one in wanted {
                let mut table = Table::new();
                table.insert("event", value(&one.event));
                table.insert("command", value(&one.command));
                table.insert("timeout", value(one.timeout));
                tables.push(table);
            }
        }
        Item::Value(toml_edit::Value::Array(array)) => {
            for one in wanted {
                let mut table = InlineTable::new();
                table.insert("event", one.event.as_str().into());
                table.insert("command", one.command.as_str().into());
                table.insert("timeout", one.timeout.into());
                array.push(table);
            }
        }
        _ => return Err("`hooks` in it is not a list".to_owned()),
    }
    Ok(())
}

/// Removes Crosier's entries.
pub fn remove_entries(document: &mut DocumentMut, agent: &str) {
    let is_ours = |command: Option<&str>| command.is_some_and(|command| line::is_our_line(command, agent));
    let is_empty = match document.get_mut("hooks") {
        Some(Item::ArrayOfTables(tables)) => {
            let before = tables.len();
            tables.retain(|table| !is_ours(table.get("command").and_then(Item::as_str)));
            tables.is_empty() && before > 0
        }
        Some(Item::Value(toml_edit::Value::Array(array))) => {
            array.retain(|one| {
                !is_ours(
                    one.as_inline_table().and_then(|table| table.get("command")).and_then(|one| one.as_str()),
                )
            });
            false
        }
        _ => false,
    };
    if is_empty {
        document.remove("hooks");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\nmodel = \"k\" # the model\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"mine\"\n\n[other]\na = 1\n";

    fn wanted() -> Vec<Hook> {
        vec![Hook {
            event: "PreToolUse".into(),
            command: "/bin/crosier hook kimi --deadline 27".into(),
            timeout: 30,
        }]
    }

    #[test]
    fn entries_are_put_in_and_taken_out() {
        for text in
            [TEXT, "", "a = 1\n", "hooks = []\n", "hooks = [{event = \"Stop\", command = \"x\"}] # c\n"]
        {
            let mut document = parse(text).unwrap();
            set_entries(&mut document, "kimi", &wanted()).unwrap();
            let with = document.to_string();
            assert_eq!(found(&parse(&with).unwrap(), "kimi"), wanted(), "{with}");
            let mut document = parse(&with).unwrap();
            remove_entries(&mut document, "kimi");
            assert_eq!(document.to_string(), text);
        }
    }

    #[test]
    fn lines_that_stay_keep_their_ends() {
        for text in [
            "a = 1\r\n[b]\r\nc = 2\r\n",
            "\u{feff}a = 1\n",
            "\u{feff}a = 1\r\n# c\r\n",
            "a = 1\r\nb = 2\nc = 3\r\n",
            "a = 1",
            "a = 1\r\nb = 2",
            "a = \"\"\"\r\nx\r\n\"\"\"\r\n",
            "",
            "\r\n",
        ] {
            let mut document = parse(text).unwrap();
            set_entries(&mut document, "kimi", &wanted()).unwrap();
            let with = edited(text, &document);
            assert_eq!(found(&parse(&with).unwrap(), "kimi"), wanted(), "{with:?}");
            let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
            let has = |line: &String| with.contains(line.trim_end_matches('\n'));
            assert!(lines(text).iter().all(has), "{text:?} {with:?}");
            if !text.contains("2\nc") && text.contains('\r') {
                assert!(lines(&with).iter().all(|line| line.ends_with("\r\n")), "{with:?}");
            }
            let mut document = parse(&with).unwrap();
            remove_entries(&mut document, "kimi");
            let back = edited(&with, &document);
            assert_eq!(back.trim_end(), text.trim_end(), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let mut document = parse("hooks = 3").unwrap();
        assert!(set_entries(&mut document, "kimi", &wanted()).is_err());
        assert!(parse("a = ").is_err());
    }
}
