//! Interned texts and field lists, for rows that are defined at run time.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::Field;

static TEXTS: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
static LISTS: LazyLock<Mutex<Vec<&'static [Field]>>> = LazyLock::new(Mutex::default);

/// A copy of the text that lives as long as the process, for rows whose names are not known at compile time.
///
/// Each distinct text is kept once and is never freed. Use it only for the few rows of a host, never for data
/// from events.
///
/// ```
/// use crosier_protocol::event::{intern, intern_fields};
/// use crosier_protocol::{Catalog, EventRow, Field, FieldKind};
/// let name = format!("Post{}", "Compact");
/// let field = Field::required(intern(&format!("{}_tokens", "saved")), FieldKind::Any, "how many");
/// let row = EventRow::new(intern(&name), "after compaction").fields(intern_fields(vec![field]));
/// assert_eq!(Catalog::default().add(row).unwrap().name, "PostCompact");
/// ```
pub fn intern(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.into());
    texts.insert(text);
    text
}

/// Like [`intern`], for the fields of a row.
pub fn intern_fields(fields: Vec<Field>) -> &'static [Field] {
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lists.iter().find(|known| ***known == *fields) {
        return known;
    }
    let fields: &'static [Field] = Box::leak(fields.into());
    lists.push(fields);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FieldKind;

    #[test]
    fn what_is_the_same_is_kept_once() {
        let twice = [intern(&"ab".repeat(3)), intern(&String::from("ababab"))];
        assert!(std::ptr::eq(twice[0], twice[1]));
        let fields = || vec![Field::optional(intern("x"), FieldKind::Text, "")];
        assert!(std::ptr::eq(intern_fields(fields()), intern_fields(fields())));
        assert!(intern_fields(Vec::new()).is_empty());
    }
}
