//! The texts that a tool runs, as scripts: lines of a shell, code in other languages, statements for databases.

use super::files::words;
use super::{lowercase, short_name};
use crate::shell::{Script, Word};

/// Fields that hold statements, in tools for databases.
pub(super) const STATEMENTS: &[&str] = &["query", "statement", "queries"];

/// Whether the name of a tool, or of its server, is one of a database.
pub(super) fn is_database(tool: &str) -> bool {
    const DATABASES: [&str; 14] = [
        "postgres",
        "mysql",
        "mariadb",
        "sqlite",
        "sql",
        "database",
        "supabase",
        "bigquery",
        "snowflake",
        "neon",
        "clickhouse",
        "duckdb",
        "mssql",
        "cockroach",
    ];
    let tool = lowercase(tool);
    DATABASES.iter().any(|name| tool.contains(name))
}

/// Words of tools that run code.
const RUNS: [&str; 10] =
    ["execute", "exec", "eval", "evaluate", "run", "repl", "kernel", "notebook", "cell", "interpreter"];

/// The language of a tool that runs code, when its name has one.
pub(super) fn language_of(tool: &str) -> &'static str {
    const NAMES: [(&str, &str); 6] = [
        ("python", "python"),
        ("jupyter", "python"),
        ("javascript", "node"),
        ("node", "node"),
        ("bash", "bash"),
        ("powershell", "powershell"),
    ];
    let name = lowercase(tool);
    let named = NAMES.iter().find(|(word, _)| name.contains(word)).map(|(_, language)| *language);
    // What runs code without saying in which language: its texts are looked through as those of any other.
    let runs = || words(tool).iter().any(|word| RUNS.contains(&word.as_str()));
    named.unwrap_or_else(|| if runs() { "python" } else { "" })
}

/// Code in a language, as the command that would run it.
pub(super) fn code_in(language: &str, code: &str) -> Option<Script> {
    Some(match language {
        "bash" | "sh" | "shell" | "zsh" | "console" | "terminal" => Script::parse(code),
        "powershell" | "pwsh" | "cmd" | "batch" => Script::parse_windows(code),
        "python" | "python3" | "py" | "ipython" => Script::from_words(["python", "-c", code]),
        "javascript" | "js" | "node" | "typescript" | "ts" => Script::from_words(["node", "-e", code]),
        "ruby" | "perl" | "php" | "lua" => Script::from_words([language, "-e", code]),
        _ => return None,
    })
}

/// A line, in the language of the tool.
pub(super) fn parsed(tool: &str, line: &str) -> Script {
    if is_windows(tool) { Script::parse_windows(line) } else { Script::parse(line) }
}

/// What a line of Windows runs besides its own commands: the text after `powershell -Command`, and code of .NET.
pub(super) fn inside_windows_line(line: &str, own: &Script) -> Vec<Script> {
    let mut scripts = Vec::new();
    let lower = line.to_ascii_lowercase();
    if ["powershell", "pwsh", "cmd"].iter().any(|shell| lower.contains(shell)) {
        let is_shell = |name: &str| matches!(name.trim_end_matches(".exe"), "powershell" | "pwsh" | "cmd");
        let shells = own.commands.iter().filter(|command| command.name().is_some_and(is_shell));
        let texts = shells.flat_map(|command| command.arguments()).filter_map(Word::known);
        scripts.extend(texts.filter(|text| text.contains(' ')).map(Script::parse_windows));
    }
    if lower.contains("io.file]::") || lower.contains("io.directory]::") {
        scripts.push(Script::from_words(["powershell", "-Command", line]));
    }
    scripts
}

pub(super) fn is_windows(tool: &str) -> bool {
    let name = short_name(tool);
    name.contains("powershell") || matches!(&*name, "pwsh" | "cmd")
}

/// Whether a line has what only shells of Windows have.
pub(super) fn is_windows_line(line: &str) -> bool {
    line.contains('\\')
        && (line.contains(":\\")
            || line.contains("$env:")
            || line.contains("%USERPROFILE%")
            || line.contains("%APPDATA%"))
}
