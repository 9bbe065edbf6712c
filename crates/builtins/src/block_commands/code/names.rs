//! Names of functions and modules that matter when code puts texts together.

/// Calls that move a file away, by the last part of their names.
pub(super) const MOVES: &[&str] = &["move", "rename", "renamesync", "replace", "mv"];
/// Calls whose second path is written, by the last part of their names.
pub(super) const COPIES: &[&str] = &[
    "move",
    "rename",
    "renamesync",
    "replace",
    "mv",
    "copy",
    "copy2",
    "copyfile",
    "copyfilesync",
    "copytree",
    "cpsync",
    "cp",
    "cp_r",
    "symlink",
    "symlinksync",
    "link",
    "linksync",
];
/// Names that code puts together only to hide which function or module it uses.
pub(super) const HIDDEN: &[&str] = &[
    "system",
    "exec",
    "eval",
    "popen",
    "execsync",
    "spawn",
    "spawnsync",
    "child_process",
    "subprocess",
    "rmtree",
    "rmsync",
    "unlinksync",
    "unlink",
    "shutil",
    "mainmodule",
    "process",
    "require",
    "shell_exec",
    "passthru",
    "proc_open",
    "os",
    "function",
    "rm",
    "curl",
    "wget",
    "rm -rf",
    "base64",
    "fromcharcode",
    "__import__",
    "constructor",
];
/// Calls that matter in code which other code puts together and then runs.
pub(super) const HIDDEN_CALLS: &[&str] =
    &["system(", "popen(", "subprocess.", "rmtree(", "child_process", "execSync(", "rmSync(", "shell_exec("];
