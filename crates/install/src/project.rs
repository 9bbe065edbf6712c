//! What kind of project a folder is, and the first `crosier.yaml` for it.

use std::path::Path;

/// A kind of project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectKind {
    /// Its usual name.
    pub name: &'static str,
    /// Files that only such a project has.
    marker_files: &'static [&'static str],
    /// Generated and lock files, which are not edited by hand.
    pub generated: &'static [&'static str],
    /// The command that checks the work.
    pub check: &'static str,
}

/// The kinds, the most specific first.
pub static KINDS: &[ProjectKind] = &[
    ProjectKind {
        name: "Rust",
        marker_files: &["Cargo.toml"],
        generated: &["Cargo.lock"],
        check: "cargo test",
    },
    ProjectKind { name: "Go", marker_files: &["go.mod"], generated: &["go.sum"], check: "go test ./..." },
    ProjectKind {
        name: "Python",
        marker_files: &["pyproject.toml", "setup.py", "requirements.txt"],
        generated: &["uv.lock", "poetry.lock"],
        check: "python3 -m pytest -q",
    },
    ProjectKind {
        name: "JavaScript",
        marker_files: &["package.json", "deno.json"],
        generated: &["package-lock.json", "pnpm-lock.yaml", "yarn.lock"],
        check: "npm test",
    },
    ProjectKind {
        name: "JVM",
        marker_files: &["pom.xml", "build.gradle", "build.gradle.kts"],
        generated: &["gradle.lockfile"],
        check: "./gradlew test",
    },
    ProjectKind {
        name: "Terraform",
        marker_files: &["main.tf", "terraform.tf"],
        generated: &["terraform.tfstate", ".terraform.lock.hcl"],
        check: "terraform validate",
    },
];

/// The kind of project in this folder.
#[must_use]
pub fn kind(folder: &Path) -> Option<&'static ProjectKind> {
    KINDS.iter().find(|kind| kind.marker_files.iter().any(|file| folder.join(file).is_file()))
}

/// Whether a denial is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Yes.
    Enforce,
    /// No, it is only reported.
    Warn,
}

impl Mode {
    /// Its word in a configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
        }
    }
}

/// The first `crosier.yaml`, with comments that explain what can be added.
#[must_use]
pub fn first_config(pack: &str, mode: Mode, kind: Option<&ProjectKind>) -> String {
    let generated = kind.map_or(&["package-lock.json"][..], |kind| kind.generated).join(", ");
    let check = kind.map_or("make test", |kind| kind.check);
    let about = kind.map_or(String::new(), |kind| format!(" (a {} project)", kind.name));
    format!(
        "# Crosier{about}: what AI agents may do here. `crosier try 'git push --force'` shows what would be decided,
# `crosier check` checks this file, `crosier log` shows what was decided.

# Ready-made hooks: `crosier packs` lists the packs, `crosier packs {short}` prints this one.
extends: {pack}

# enforce: denied actions do not run. warn: everything runs, and you are told what would have been denied.
mode: {mode}

# Add your own hooks here. To use these examples, remove the first `#` of each line.
#hooks:
#  PreToolUse:
#    # Generated files: agents must not edit them.
#    - name: generated-files
#      type: builtin
#      handler: protect-paths
#      options:
#        no_write: [{generated}]
#  Stop:
#    # Keeps the agent going until this passes.
#    - name: tests-pass
#      command: {check} >&2 || exit 2
#      timeout: 5m
",
        short = pack.strip_prefix("crosier:").unwrap_or(pack),
        mode = mode.word(),
    )
}
