//! What one call costs a guard, for a profiler that counts instructions: time says little on a busy machine.
//!
//! ```sh
//! cargo build --release -p crosier-builtins --example guard_cost
//! valgrind --tool=callgrind target/release/examples/guard_cost block-commands normal 100
//! ```
//!
//! The counts of 100 calls less those of 0 calls, divided by 100, are the cost of one. The guard `none` is the cost
//! of the engine alone. Without arguments it prints the time of every guard and line.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crosier::config::Loader;
use crosier::payload::PreToolUse;
use crosier::{Catalog, Engine, Event, Json};

const GUARDS: [&str; 5] = ["none", "block-commands", "protect-paths", "permissions", "self-guard"];

const LINES: [(&str, &str); 7] = [
    ("list", "ls -la"),
    ("status", "git status"),
    ("normal", "cargo test --workspace"),
    ("three", "cd src && cargo build --release 2>&1 | tail -n 20"),
    ("file", "cat src/main.rs"),
    ("copy", "cp src/main.rs src/old.rs && cat src/main.rs"),
    ("grep", "grep -rn \"fn main\" src --include='*.rs' | head -5"),
];

/// A start, and what is repeated up to 64 KiB.
const HOSTILE: [(&str, &str, &str); 36] = [
    ("lists", "", "ls\n"),
    ("listed-files", "", "ls src\n"),
    ("listed-output", "", "ls $(ls);"),
    ("captured", "", "X=$(cat .env);"),
    ("untracked", "", "git ls-files -o|xargs rm;"),
    ("fish", "fish -c '", "for i in (a); b; end;"),
    ("eval", "", "eval "),
    ("sudo", "", "sudo "),
    ("commands", "", "rm -rf x; "),
    ("substitutions", "", "$(a) "),
    ("open-substitutions", "", "$("),
    ("arithmetic", "", "$(("),
    ("backquotes", "", "`a` "),
    ("braces", "", "{a,b}"),
    ("ranges", "echo ", "{1..9}"),
    ("here-documents", "", "cat <<E\nx $(a)\nE\n"),
    ("joined-lines", "cat <<E\n", "x\\\n"),
    ("functions", "", "f() { f; g; }; "),
    ("arrays", "", "a=(x y); "),
    ("growing-array", "", "a+=(x); "),
    ("doubling", "a=x; ", "a=$a$a; "),
    ("appending", "", "a+=x; "),
    ("loops", "", "for i in a b; do "),
    ("conditions", "", "if a; then b; fi; "),
    ("quotes", "", "bash -c 'bash -c \"a\"'; "),
    ("variables", "a=x; ", "rm $a; "),
    ("long-word", "echo ", "abcdefgh"),
    ("pipes", "a", " | b"),
    ("environment", "", "env|wc;"),
    ("echoes", "", "echo $a;"),
    ("links", "ln -s a b; ", "cat b/c; "),
    ("settings", "", "GIT_CONFIG_VALUE_0=a "),
    ("written", "", "echo x>>f;"),
    ("maps", "declare -A m; ", "m[k]=v; "),
    ("printed", "", "{ echo a; echo b; }|sh;"),
    ("searches", "", "find ~|xargs rm;"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("src"))?;
    std::fs::write(folder.path().join("src/main.rs"), "fn main() {}\n")?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    if let [guard, name, times] = arguments.as_slice() {
        let (engine, event) = (engine(guard, folder.path())?, event(&line(name)?));
        fire(&engine, &event, times.parse()?);
        return Ok(());
    }
    for (name, text) in LINES {
        for guard in GUARDS {
            let (engine, event) = (engine(guard, folder.path())?, event(text));
            let best = (0..50).map(|_| fire(&engine, &event, 20) / 20.0).fold(f64::MAX, f64::min);
            writeln!(out, "{guard:16} {name:20} {:10.2} µs", best * 1e6)?;
        }
    }
    for (name, ..) in HOSTILE {
        for guard in &GUARDS[1..] {
            let (engine, event) = (engine(guard, folder.path())?, event(&line(name)?));
            let best = (0..3).map(|_| fire(&engine, &event, 1)).fold(f64::MAX, f64::min);
            writeln!(out, "{guard:16} {name:20} {:10.2} ms, 64 KiB", best * 1e3)?;
        }
    }
    Ok(())
}

fn line(name: &str) -> Result<String, String> {
    if let Some((_, text)) = LINES.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let found = HOSTILE.iter().find(|(known, ..)| *known == name);
    let (_, start, part) = found.ok_or_else(|| format!("there is no line `{name}`"))?;
    Ok(format!("{start}{}", part.repeat((64 << 10) / part.len())))
}

fn event(line: &str) -> Event {
    Event::from(PreToolUse::new("Bash", Json::from(serde_json::json!({ "command": line }))))
}

fn engine(guard: &str, folder: &Path) -> Result<Engine, Box<dyn Error>> {
    let options = match guard {
        "none" => return Ok(Engine::builder().folder(folder).build()?),
        "permissions" => {
            "{allow: ['Bash(cargo test *)', 'Bash(git status:*)'], deny: ['Bash(rm *)', 'Read(**/.env)']}"
        }
        _ => "{}",
    };
    let text = format!("hooks: {{PreToolUse: [{{type: builtin, handler: {guard}, options: {options}}}]}}");
    let loader = crosier_builtins::register(Loader::new(Catalog::default()));
    let config = loader.text("cost", &text, folder).load().map_err(|problems| problems.to_string())?;
    Ok(Engine::builder().folder(folder).config(config).build()?)
}

/// The seconds that so many calls take.
fn fire(engine: &Engine, event: &Event, times: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        black_box(&engine.fire_blocking(event));
    }
    start.elapsed().as_secs_f64()
}
