//! The events that an engine knows: the built-in table, and the rows a host added.

use std::sync::Arc;

use super::{EventKind, EventRow, Field, TABLE};
use crate::nearest::nearest;
use crate::wire::BASE_FIELDS;

/// All rows that can be fired or hooked.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Shared: a catalog is cloned for every loader and engine.
    host_rows: Arc<Vec<Arc<EventRow>>>,
}

/// What an event name in configuration refers to: a row, and optionally a matcher (`pre:tool:shell`).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResolvedName<'a> {
    /// The kind of the event.
    pub kind: EventKind,
    /// The part after a point alias, used as a matcher: `shell` in `pre:tool:shell`.
    pub matcher: Option<&'a str>,
}

impl Catalog {
    /// The built-in table and these rows, which must be valid: they are not checked here. A test should pass each of them
    /// to [`add`](Self::add).
    #[must_use]
    pub fn with_checked_rows(rows: &[EventRow]) -> Self {
        let placed = |(at, row): (usize, &EventRow)| Arc::new(EventRow { index: TABLE.len() + at, ..*row });
        Self { host_rows: Arc::new(rows.iter().enumerate().map(placed).collect()) }
    }

    /// Adds a row that the host defines.
    ///
    /// # Errors
    /// When its name or alias is taken, when it refers to a field that it does not have, or when it redefines
    /// a base field.
    pub fn add(&mut self, mut row: EventRow) -> Result<EventKind, String> {
        for name in std::iter::once(row.name).chain(row.alias) {
            if self.find(name).is_some() {
                return Err(format!("there is already an event named `{name}`; choose another name"));
            }
        }
        let derived = row.derived.into_iter().flat_map(|(derived, source)| [derived, source]);
        let named = row.matcher.into_iter().chain(row.rewrites.map(|(_, name)| name)).chain(derived);
        for field in named {
            if row.field(field).is_none() {
                return Err(format!(
                    "event `{}` names the field `{field}`, which it does not have",
                    row.name
                ));
            }
        }
        // `agent_id` is a base field, but a row may define it too, as some built-in rows do: the event is
        // about that agent.
        let is_base_field = |field: &&Field| field.name != "agent_id" && BASE_FIELDS.contains(&field.name);
        if let Some(field) = row.fields.iter().find(is_base_field) {
            return Err(format!(
                "event `{}` has a field `{}`, which every event already has; choose another name",
                row.name, field.name
            ));
        }
        row.index = TABLE.len() + self.host_rows.len();
        let row = Arc::new(row);
        Arc::make_mut(&mut self.host_rows).push(Arc::clone(&row));
        Ok(EventKind::Shared(row))
    }

    /// Whether this is a row of this catalog, or equal to the row at the same index.
    #[inline]
    #[must_use]
    pub fn contains(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::Static(row) if TABLE.as_ptr_range().contains(&&raw const **row))
            || self.contains_equal(kind)
    }

    /// The same row as this catalog holds it, with its index: the static row of a host's typed payload has
    /// none. `None` when the catalog has no row of that name, or a different one.
    #[must_use]
    pub fn bind(&self, kind: &EventKind) -> Option<EventKind> {
        if self.contains(kind) {
            return Some(kind.clone());
        }
        let is_same = |row: &EventRow| EventRow { index: row.index, ..**kind } == *row;
        let row = self.host_rows.iter().find(|row| row.name == kind.name && is_same(row))?;
        (kind.index() == EventRow::UNPLACED).then(|| EventKind::Shared(Arc::clone(row)))
    }

    fn contains_equal(&self, kind: &EventKind) -> bool {
        let place = kind.index();
        let mine: &EventRow = match (TABLE.get(place), place.checked_sub(TABLE.len())) {
            (Some(row), _) => row,
            (None, Some(own)) if own < self.host_rows.len() => &self.host_rows[own],
            _ => return false,
        };
        *mine == **kind
    }

    /// How many rows there are; every index is below this.
    #[must_use]
    pub fn len(&self) -> usize {
        TABLE.len() + self.host_rows.len()
    }

    /// Always false: the built-in table is never empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every row, the built-in ones first.
    pub fn rows(&self) -> impl Iterator<Item = EventKind> + '_ {
        TABLE.iter().map(EventKind::Static).chain(self.host_rows.iter().cloned().map(EventKind::Shared))
    }

    /// The row with exactly this name or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<EventKind> {
        let is_named = |row: &EventRow| row.name == name || row.alias == Some(name);
        let builtin = TABLE.iter().find(|row| is_named(row)).map(EventKind::Static);
        builtin.or_else(|| self.host_rows.iter().find(|row| is_named(row)).cloned().map(EventKind::Shared))
    }

    /// The row that a name in configuration refers to, with the matcher that may follow a point alias.
    #[must_use]
    pub fn resolve<'a>(&self, name: &'a str) -> Option<ResolvedName<'a>> {
        if let Some(kind) = self.find(name) {
            return Some(ResolvedName { kind, matcher: None });
        }
        self.rows().find_map(|kind| {
            let rest = name.strip_prefix(kind.alias?)?.strip_prefix(':')?;
            (!rest.is_empty()).then_some(ResolvedName { kind, matcher: Some(rest) })
        })
    }

    /// An error message for a name that no row has, with the most similar name that exists.
    #[must_use]
    pub fn unknown_event(&self, name: &str) -> String {
        // Names before aliases: most people know only the names.
        let aliases = || self.rows().filter_map(|row| row.alias);
        match nearest(name, self.rows().map(|row| row.name)).or_else(|| nearest(name, aliases())) {
            Some(near) => format!("unknown event `{name}`, did you mean `{near}`?"),
            None => format!("unknown event `{name}`; `crosier events` lists them"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FieldKind;

    #[test]
    fn point_aliases_take_a_matcher() {
        let catalog = Catalog::default();
        let named = catalog.resolve("pre:tool:shell").unwrap();
        assert_eq!((named.kind.name, named.matcher), ("PreToolUse", Some("shell")));
        assert_eq!(catalog.resolve("pre:agent:spawn").unwrap().kind.name, "PreAgentSpawn");
        assert!(catalog.resolve("pre:tool:").is_none());
        assert!(catalog.resolve("pre:toolx").is_none());
    }

    #[test]
    fn a_host_row_gets_the_next_place_and_a_taken_name_is_refused() {
        let mut catalog = Catalog::default();
        let kind = catalog.add(EventRow::new("PostCompact", "after compaction")).unwrap();
        assert_eq!(kind.index(), TABLE.len());
        assert!(
            catalog.add(EventRow::new("PreToolUse", "")).unwrap_err().contains("there is already an event")
        );
        assert!(catalog.add(EventRow::new("X", "").matches_on("gone")).unwrap_err().contains("`gone`"));
    }

    #[test]
    fn a_host_row_whose_fields_make_no_sense_is_refused() {
        const TEXT: Field = Field::required("text", FieldKind::Text, "");
        const CWD: Field = Field::required("cwd", FieldKind::Text, "");
        const AGENT: Field = Field::required("agent_id", FieldKind::Text, "");
        let mut catalog = Catalog::default();
        let mut add = |row: EventRow| catalog.add(row).map(|kind| kind.index());
        let gone = EventRow::new("X", "").fields(&[TEXT]).derives("text", "gone");
        assert!(add(gone).unwrap_err().contains("`gone`"));
        let clash = EventRow::new("X", "").fields(&[TEXT, CWD]);
        assert!(add(clash).unwrap_err().contains("`cwd`, which every event already has"));
        assert_eq!(add(EventRow::new("X", "").fields(&[AGENT])), Ok(TABLE.len()));
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_one() {
        assert!(Catalog::default().unknown_event("PreTolUse").contains("did you mean `PreToolUse`?"));
    }
}
