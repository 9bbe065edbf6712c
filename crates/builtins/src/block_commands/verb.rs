//! Programs of services that no entry names: `acmectl cluster destroy`, `toolx db:drop --all`.
//!
//! Most command lines of services look alike: the program, perhaps a kind of resource, and a verb. When the verb deletes
//! permanently, a person is asked, whatever the program is.

use crate::shell::{Command, Word};

/// The verb is one of this many operands.
const MAX_OPERANDS: usize = 3;

/// Verbs, or parts of them, that delete for good.
const VERBS: [&str; 25] = [
    "delete",
    "destroy",
    "purge",
    "drop",
    "wipe",
    "nuke",
    "erase",
    "terminate",
    "obliterate",
    "deleteall",
    "decommission",
    "teardown",
    "undeploy",
    "dropall",
    "dropdb",
    "shred",
    "zap",
    "expunge",
    "rmall",
    "removeall",
    "deprovision",
    "factoryreset",
    "destroyall",
    "wipeall",
    "reinitialize",
];

/// Options that delete for good, as they begin.
const OPTIONS: [&str; 10] = [
    "--delete-all",
    "--destroy",
    "--purge",
    "--wipe",
    "--drop",
    "--obliterate",
    "--erase",
    "--remove-all",
    "--force-delete",
    "--reset-all",
];

/// Programs whose operands are texts, files, or names that a project gives: a verb among them says nothing.
const OTHERS: [&str; 132] = [
    "echo",
    "printf",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "sed",
    "awk",
    "cat",
    "ls",
    "cd",
    "git",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "make",
    "gmake",
    "just",
    "task",
    "cargo",
    "go",
    "python",
    "python3",
    "node",
    "deno",
    "ruby",
    "perl",
    "php",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "uv",
    "pip",
    "pip3",
    "poetry",
    "pytest",
    "jest",
    "vitest",
    "mocha",
    "rspec",
    "test",
    "[",
    "[[",
    "touch",
    "mkdir",
    "cp",
    "mv",
    "rm",
    "find",
    "fd",
    "man",
    "help",
    "which",
    "type",
    "alias",
    "export",
    "set",
    "unset",
    "declare",
    "local",
    "readonly",
    "read",
    "gh",
    "glab",
    "jq",
    "yq",
    "sort",
    "head",
    "tail",
    "wc",
    "diff",
    "tr",
    "cut",
    "tee",
    "xargs",
    "less",
    "more",
    "vim",
    "nvim",
    "vi",
    "nano",
    "code",
    "emacs",
    "mix",
    "rake",
    "rails",
    "gradle",
    "mvn",
    "dotnet",
    "swift",
    "flutter",
    "dart",
    "composer",
    "bundle",
    "gem",
    "nx",
    "turbo",
    "lerna",
    "tsx",
    "ts-node",
    "sh",
    "bash",
    "zsh",
    "docker",
    "podman",
    "docker-compose",
    "kubectl",
    "brew",
    "apt",
    "apt-get",
    "return",
    "exit",
    "tldr",
    "cargo-nextest",
    "curl",
    "http",
    "https",
    "xh",
    "wget",
    "kind",
    "minikube",
    "k3d",
    "xcrun",
    "terraform",
    "tofu",
    "svn",
    "coverage",
    "pm2",
];

/// Whether a command tells a program to delete something for good.
pub(super) fn is_destructive(command: &Command) -> bool {
    let Some(name) = command.name() else { return false };
    let words = command.arguments();
    if words.is_empty() || !command.certain {
        return false;
    }
    if is_removing_cmdlet(name) {
        return true;
    }
    let options = words.iter().map(Word::head).filter(|head| head.starts_with("--"));
    let has_option = |head: &str| {
        let name = head.split('=').next().unwrap_or_default();
        OPTIONS.contains(&name)
    };
    let operands = words.iter().filter(|word| !word.head().starts_with('-')).take(MAX_OPERANDS);
    let found = operands.map_while(|word| word.known().filter(|text| is_name(text))).any(has_verb)
        || options.into_iter().any(has_option);
    found && !OTHERS.contains(&name) && !name.contains('.') && name.len() > 1
}

/// `Remove-AzResourceGroup`: a command of PowerShell that removes something beyond this session and its files.
fn is_removing_cmdlet(name: &str) -> bool {
    const OF_SESSION: [&str; 14] = [
        "item",
        "itemproperty",
        "variable",
        "module",
        "job",
        "alias",
        "event",
        "pssession",
        "psdrive",
        "psbreakpoint",
        "typedata",
        "type",
        "pester",
        "psreadlinekeyhandler",
    ];
    let Some(noun) = name.strip_prefix("Remove-") else { return false };
    let noun = noun.to_ascii_lowercase();
    noun.len() > 2 && noun.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !OF_SESSION.contains(&&*noun)
}

/// Whether a word can be a subcommand.
fn is_name(text: &str) -> bool {
    const LONGEST: usize = 40;
    !text.is_empty()
        && text.len() <= LONGEST
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_uppercase() || b"-:_".contains(&byte))
}

fn has_verb(text: &str) -> bool {
    // Most words do not begin with one of these letters.
    let parts = text.split(['-', ':', '_']);
    parts
        .into_iter()
        .any(|part| VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(part)) || begins_with_verb(part))
}

/// `deleteUser`, `dropDatabase`
fn begins_with_verb(part: &str) -> bool {
    ["delete", "destroy", "purge", "drop", "terminate"].iter().any(|verb| {
        part.strip_prefix(verb).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::{has_verb, is_removing_cmdlet};

    #[test]
    fn cmdlets_that_remove_are_told_from_those_of_the_session() {
        assert!(is_removing_cmdlet("Remove-AzResourceGroup") && is_removing_cmdlet("Remove-ADUser"));
        assert!(!is_removing_cmdlet("Remove-Item") && !is_removing_cmdlet("remove-unused"));
    }

    #[test]
    fn verbs_are_told_from_other_words() {
        for text in ["delete", "db:drop", "delete-cluster", "volume_destroy", "deleteStack", "PURGE"] {
            assert!(has_verb(text), "{text}");
        }
        for text in ["list", "undelete", "dropdown", "deleted", "status", "dropbox"] {
            assert!(!has_verb(text), "{text}");
        }
    }
}
