//! `docs/configuration.md`: generated from the tables of keys that the loader itself uses.

use std::fmt::Write;

use crosier::Catalog;
use crosier::config::{Key, Loader, ValueKind};

const HEAD: &str = r#"# Configuration

<!-- Generated from the tables of keys by a test; `CROSIER_GENERATE=1 cargo test -p crosier-cli docs` writes it. -->

YAML or JSON. `crosier check` reports every problem at once, with line, column and the nearest right word; a file with
an error loads nothing. `crosier schema config` prints the JSON Schema for editors. The whole at a glance, with the
files it names in its folder: a guard, `guard.sh`:

```sh
#!/bin/sh
# No opinion, about anything.
exit 0
```

a policy, `policy.py`:

```python
def check(event):
    return None
```

and `crosier.yaml`:

```yaml
hooks:
  error_behavior: log              # for every hook that does not say on_error
  timeout: 5000                    # for every hook that names none; a bare number HERE is milliseconds
  PreToolUse:
    - name: guard                  # the flat form
      matcher: "Bash|shell"
      command: ./guard.sh
      timeout: 60                  # a bare number on a hook is SECONDS; "1500ms", "2s", "1m" say it outright
      priority: 10
      on_error: abort
    - {name: policy, type: python, handler: policy.check}
    - {name: files, type: builtin, handler: protect-paths, options: {also_no_write: ["*.lock"]}}
    - matcher: "Write"             # Claude Code's nested form: one matcher, several hooks
      hooks:
        - {type: command, command: ./guard.sh}
  "pre:message":                   # a point alias is a name too
    - run: '/log debug "Sending: $prompt"'
agents:
  - id: reviewer
    hooks:
      PreToolUse:
        - {name: read-only, matcher: "Write|Edit", run: '/deny "a reviewer only reads"'}
      PostToolUse: {override: true, hooks: []}
permissions: {shellExec: ask}      # what /perms check looks up
```

- Relative paths are relative to the file, and that is also where hooks run.
- Every key may be written in camel case (`onError`). `x-…` keys are free. A name is used once per scope; a hook without
  one is called by its place, `PreToolUse[1]`.
- Outside `hooks`, keys that Crosier does not know may belong to other programs, in a file that has something for
  Crosier. Those it knows are `hooks`, `agents` (each with `id` and `hooks`, or `backend: {hooks}`), `scripts` (a list of
  `.arma` files), `permissions` (`NAME: allow | ask | deny`; of several files the strictest counts), `extends`, and for
  the program `trust` (globs of more files that are [trusted](trust.md) with it) and, in the user's and the managed file
  only, `log` (`on`, `off`), `daemon` (`auto`, `off`), `self_guard` (`on`, `off`) and `otlp` (kept for later: it has no
  effect yet, and `crosier check` says so).
- Files come in **layers**, and hooks run in their order: *managed* (`/etc/crosier/crosier.yaml` and `conf.d/*.yaml` beside
  it), *user* (`~/.config/crosier/crosier.yaml`), *project* (every `crosier.yaml` from the root of the repository down to
  the project folder), *local* (`crosier.local.yaml` beside it). `-c FILE` takes the place of all but the managed layer.
  A later layer only adds: it cannot disable, override, weaken or go before a hook of an earlier one, and the same name in
  two layers is two hooks. Managed and user files that somebody else can write are refused, and actions are denied.
  `crosier config` shows which files are in force.
- `mode: enforce | warn | off`, of a file, a `hooks` section or a hook (the nearest counts): `warn` runs a hook without an
  effect and reports what it would have done.
- A file in which nothing is found for Crosier, an event beside `hooks:` and a key that is nearly one of ours are errors:
  a guard that is silently not there would be worse.
- `extends: NAME` or a list brings in packs of ready hooks, before those of the file; a path names a file as a pack. An
  entry under the same event with the name of a pack's hook changes it: without a handler key (`command`, `handler`, …)
  its keys replace the pack's, with one it replaces the hook. Only the first file that extends a pack can change it.
- In a MassGen file (one with `orchestrator`, or with agents that have a `backend`) a `handler` without a `type` is python.
- What a hook runs: `command` (a line for `sh -c`), `argv` (no shell), `run` (a script line), or `type` with `handler`: a
  file that need not be executable, a Python function, a built-in. `reply` is an answer that is written down, for
  [cases](testing.md).
"#;

fn value(key: &Key, types: &[&str]) -> String {
    match key.value {
        ValueKind::Text => "text".to_owned(),
        ValueKind::Type => types.join(", "),
        ValueKind::Word(words) => words.join(", "),
        ValueKind::Bool => "true or false".to_owned(),
        ValueKind::Integer => "a whole number".to_owned(),
        ValueKind::Count => "a number from 1 on".to_owned(),
        ValueKind::Seconds => "a time, in seconds".to_owned(),
        ValueKind::Milliseconds => "a time, in milliseconds".to_owned(),
        ValueKind::Texts => "a list of texts".to_owned(),
        ValueKind::Argv => "a program and its arguments".to_owned(),
        ValueKind::Variables => "names and values".to_owned(),
        ValueKind::Hooks => "a list of hooks".to_owned(),
        _ => "anything".to_owned(),
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let known = Loader::new(Catalog::default()).keys();
    let tables: [(&str, &[Key]); 4] = [
        ("Of a hook", &known.hook),
        ("Directly under `hooks`, beside the events", &known.section),
        ("Of an event, in the form `{override, hooks}`", &known.event),
        ("Of a group, in the nested form", &known.group),
    ];
    for (title, keys) in tables {
        writeln!(page, "\n## {title}\n\n| key | value | |\n|---|---|---|").unwrap();
        for key in keys {
            let about = key.about.replace('|', "\\|");
            writeln!(page, "| `{}` | {} | {about} |", key.name, value(key, &known.types)).unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_the_configuration_is_what_the_tables_say() {
    super::is_up_to_date("docs/configuration.md", &page());
}
