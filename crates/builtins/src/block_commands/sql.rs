//! SQL and other database languages: statements that drop things, or change every row.

/// Whether a text has a destructive statement.
pub(super) fn destroys(text: &str) -> bool {
    let text = super::fit::squeezed(text);
    // Comments can stand in for spaces: DROP/**/TABLE. Texts can be joined: 'DR'||'OP TABLE', "FLUSH".."DB".
    let text = text.replace("/**/", " ");
    let text = JOINS.iter().fold(text, |text, join| text.replace(join, ""));
    // CONCAT('DR', 'OP TABLE')
    let joined = text.contains("concat(").then(|| text.replace("','", "").replace("', '", ""));
    if joined.is_some_and(|text| DESTRUCTIVE.iter().any(|words| has_words(&text, words))) {
        return true;
    }
    text.split(';')
        .any(|statement| statement_destroys(statement.trim_start_matches(['\'', '"', ' ', '(', '\n'])))
        || DESTRUCTIVE.iter().any(|words| has_words(&text, words))
        || document_destroys(&text)
}

/// The names of what a text drops, when its destructive statements do nothing else.
pub(super) fn dropped(text: &str) -> Option<Vec<String>> {
    let text = super::fit::squeezed(text);
    // `db.getSiblingDB("a").dropDatabase()`
    if let Some((_, rest)) = text.split_once("getsiblingdb(") {
        let (name, rest) = rest.split_once(')')?;
        let is_only = rest.trim_start().starts_with(".dropdatabase()") && !rest.contains("getsiblingdb(");
        return is_only.then(|| vec![name.trim_matches(['"', '\'', ' ']).to_owned()]);
    }
    let mut names = Vec::new();
    for statement in text.split(';').map(|statement| statement.trim_matches(['\'', '"', ' ', '(', '\n'])) {
        if !destroys(statement) {
            continue;
        }
        let rest = statement.strip_prefix("drop ").or_else(|| statement.strip_prefix("truncate "))?;
        let kinds = ["database ", "schema ", "table ", "user ", "role ", "if ", "exists "];
        let rest = kinds.iter().fold(rest, |rest, kind| rest.strip_prefix(kind).unwrap_or(rest));
        let ends = [" cascade", " restrict", " with ", " restart "];
        let listed = ends.iter().fold(rest, |rest, end| rest.split(end).next().unwrap_or_default());
        names.extend(listed.split(',').map(|name| name.trim().to_owned()));
    }
    Some(names).filter(|names| !names.is_empty() && names.iter().all(|name| !name.contains(' ')))
}

/// Whether a text drops something outside of the database that is open.
pub(super) fn drops_beyond(text: &str) -> bool {
    let text = super::fit::squeezed(text);
    ["drop database", "drop user", "drop role", "drop owned"].iter().any(|words| has_words(&text, words))
}

/// What joins two texts in SQL and in Lua.
const JOINS: [&str; 8] = ["'||'", "' || '", "'..'", "' .. '", "\"..\"", "\" .. \"", "'+'", "' + '"];

/// Words that are enough by themselves.
const DESTRUCTIVE: [&str; 14] = [
    "drop database",
    "drop table",
    "drop schema",
    "truncate table",
    "flushall",
    "flushdb",
    "xp_cmdshell",
    "lo_export",
    "pg_read_file",
    "load_file",
    "into outfile",
    "into dumpfile",
    "pg_terminate_backend",
    "drop owned",
];

fn statement_destroys(statement: &str) -> bool {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let has = |word: &str| words.iter().any(|other| other.trim_matches(['\'', '"', ')']) == word);
    match words.as_slice() {
        ["drop", kind, ..] => !matches!(*kind, "index" | "view" | "trigger") || has("cascade"),
        ["truncate", _, ..] => true,
        ["delete", "from", ..] => !has("where") || is_always(statement),
        ["update", _, "set", ..] => !has("where") || is_always(statement),
        ["alter", "table", ..] => {
            has("drop") || has("delete") || statement.contains("disable row level security")
        }
        ["grant", "all", ..] => {
            statement.contains("*.*") || statement.contains("'%'") || has("public") || has("option")
        }
        ["alter" | "create", "role" | "user", ..] => has("superuser") || statement.contains("'%'"),
        ["alter", "system" | "database", ..] => !has("rename"),
        ["revoke", "all", ..] => true,
        ["copy", ..] => has("program"),
        // A table that is made anew out of none of its rows.
        ["create", "or", "replace", "table" | "transient" | "database" | "schema", ..] => {
            matches!(words[3], "database" | "schema") || is_never(statement)
        }
        ["insert", "overwrite", ..] => is_never(statement),
        ["set", "global", ..] | ["purge", "binary" | "master", ..] | ["reset", "master", ..] => true,
        ["with", ..] => statement.contains("delete from") && !has("where"),
        _ => false,
    }
}

/// `where 1=1`, `where true`
fn is_always(statement: &str) -> bool {
    let Some((_, condition)) = statement.rsplit_once("where ") else { return false };
    matches!(condition.trim_matches([' ', '\'', '"', ';']), "1=1" | "1 = 1" | "true" | "1" | "'1'='1")
}

/// `where 1=0`, `limit 0`
fn is_never(statement: &str) -> bool {
    let dense: String = statement.chars().filter(|c| !c.is_whitespace()).collect();
    let dense = dense.trim_end_matches(['\'', '"', ')']);
    ["where1=0", "where0=1", "where1=2", "wherefalse", "limit0", "where1<>1", "where1!=1"]
        .iter()
        .any(|end| dense.ends_with(end))
}

fn has_words(text: &str, words: &str) -> bool {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(words).any(|(at, _)| {
        is_border(text[..at].chars().next_back()) && is_border(text[at + words.len()..].chars().next())
    })
}

/// The same for document databases.
fn document_destroys(text: &str) -> bool {
    const CALLS: [&str; 13] = [
        "['dropdatabase']",
        "[\"dropdatabase\"]",
        "['deletemany']({})",
        "['drop']()",
        "dropdatabase(",
        ".drop(",
        ".dropindexes(",
        "deletemany({})",
        "deletemany( {} )",
        ".remove({})",
        "drop keyspace",
        "drop measurement",
        "detach delete",
    ];
    CALLS.iter().any(|call| text.contains(call))
}

#[cfg(test)]
mod tests {
    use super::destroys;

    #[test]
    fn statements_that_change_every_row_are_told_from_the_others() {
        for text in [
            "DROP TABLE users",
            "select 1; drop database x;",
            "TRUNCATE users",
            "delete from users;",
            "DELETE FROM users WHERE 1=1",
            "update users set a = 1",
            "ALTER TABLE t DROP COLUMN c",
            "db.users.deleteMany({})",
            "FLUSHALL",
        ] {
            assert!(destroys(text), "{text}");
        }
        for text in [
            "select * from t where name = 'drop'",
            "delete from users where id = 5",
            "update users set a = 1 where id = 2",
            "insert into drops values (1)",
            "create table t (id int)",
            "DROP INDEX i",
        ] {
            assert!(!destroys(text), "{text}");
        }
    }
}
