//! Packages from an address: `pip install https://host/a.whl`, `npx github:a/b`, `npm i --registry http://host`.
//!
//! Only the words that say where a package comes from count: the packages themselves, and the options for an index. An
//! address that the installed program gets (`npx lighthouse https://…`) says nothing about the package.

use super::fit::CommandContext;
use crate::shell::Word;

/// Options whose value is where packages are looked up.
const INDEXES: [&str; 12] = [
    "--registry",
    "--index-url",
    "--extra-index-url",
    "--index",
    "--default-index",
    "--find-links",
    "--source",
    "--repo",
    "--channel",
    "-i",
    "-f",
    "-c",
];

/// Options whose value is a package.
const PACKAGES: [&str; 10] = [
    "--git",
    "--from",
    "--with",
    "--with-editable",
    "--spec",
    "--package",
    "-p",
    "-r",
    "--requirement",
    "--editable",
];

/// Options with other values, which may be addresses.
const OTHER_VALUES: [&str; 14] = [
    "--proxy",
    "--https-proxy",
    "--cert",
    "--set",
    "--set-string",
    "--values",
    "--tag",
    "--branch",
    "--rev",
    "--python",
    "--prefix",
    "--config",
    "--url",
    "--call",
];

/// Hosts of repositories, and of packages, that everybody uses.
const FORGES: [&str; 22] = [
    "github.com",
    "gitlab.com",
    "codeberg.org",
    "bitbucket.org",
    "codeload.github.com",
    "objects.githubusercontent.com",
    "git.sr.ht",
    "dev.azure.com",
    "ssh.dev.azure.com",
    "salsa.debian.org",
    "gitlab.freedesktop.org",
    "gitlab.gnome.org",
    "huggingface.co",
    "pkg.pr.new",
    "files.pythonhosted.org",
    "download.pytorch.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "deno.land",
    "jsr.io",
    "rubygems.org",
    "pypi.nvidia.com",
];

/// Hosts of indexes that everybody uses.
const KNOWN_INDEXES: [&str; 24] = [
    "pypi.org",
    "test.pypi.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.pkg.github.com",
    "npm.jsr.io",
    "jsr.io",
    "download.pytorch.org",
    "data.pyg.org",
    "pypi.nvidia.com",
    "pypi.ngc.nvidia.com",
    "pypi.anaconda.org",
    "conda.anaconda.org",
    "repo.anaconda.com",
    "rubygems.org",
    "index.crates.io",
    "pkgs.dev.azure.com",
    "registry.npmmirror.com",
    "pypi.tuna.tsinghua.edu.cn",
    "pypi.mirrors.ustc.edu.cn",
    "repo.huaweicloud.com",
    "storage.googleapis.com",
    "proxy.golang.org",
    "charts.bitnami.com",
];

/// Owners of repositories whose packages documentation tells people to run without a version.
const KNOWN_OWNERS: [&str; 7] = [
    "astral-sh/",
    "psf/",
    "microsoft/",
    "modelcontextprotocol/",
    "anthropics/",
    "oraios/serena",
    "github/spec-kit",
];

/// What an installer does with its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// All are packages.
    Installs,
    /// The first is a package whose program runs at once, with the others.
    Runs,
    /// The first is a script of the project, or a program that is installed.
    Starts,
}

impl CommandContext<'_> {
    /// Whether a package, or the index that it is looked up in, is an address that not everybody uses.
    pub(super) fn gets_foreign_package(&self) -> bool {
        let words = self.command.arguments();
        let (mode, mut at) = mode(self.command.name().unwrap_or_default(), words);
        while let Some(word) = words.get(at) {
            at += 1;
            let shown = word.show();
            let (name, inline) = match shown.split_once('=') {
                Some((name, value)) if name.starts_with('-') => (name, Some(value)),
                _ => (&*shown, None),
            };
            if !name.starts_with('-') || name.len() < 2 {
                if mode != Mode::Starts && is_foreign(&shown, mode, false) {
                    return true;
                }
                if mode != Mode::Installs {
                    return false;
                }
                continue;
            }
            let is = |names: &[&str]| names.contains(&name);
            if !is(&INDEXES) && !is(&PACKAGES) && !is(&OTHER_VALUES) {
                continue;
            }
            let next = || words.get(at).map(Word::show);
            let Some(value) = inline.map(Into::into).or_else(next) else { continue };
            let is_list = matches!(name, "-r" | "--requirement");
            if (is(&INDEXES) && is_foreign_index(&value))
                || (is(&PACKAGES) && is_foreign(&value, mode, is_list))
            {
                return true;
            }
            at += usize::from(inline.is_none());
        }
        false
    }
}

/// What the program does, and where the words begin that say it with what.
fn mode(program: &str, words: &[Word]) -> (Mode, usize) {
    if matches!(program, "npx" | "bunx" | "pnpx" | "uvx" | "dlx" | "pip-run") {
        return (Mode::Runs, 0);
    }
    let is_verb = |word: &Word| !word.head().starts_with('-');
    let Some(at) = words.iter().position(is_verb) else { return (Mode::Installs, 0) };
    let second = words.get(at + 1).map(Word::head).unwrap_or_default();
    match (program, words[at].head()) {
        ("pipx", "run") | ("npm" | "bun", "exec" | "x") | ("pnpm" | "yarn", "dlx") => (Mode::Runs, at + 1),
        ("uv", "tool") if second == "run" => (Mode::Runs, at + 2),
        (_, "run") => (Mode::Starts, at + 1),
        // `npm --registry http://host install x`
        _ => (Mode::Installs, 0),
    }
}

/// Where something comes from.
struct Address<'a> {
    is_safe: bool,
    host: &'a str,
    path: &'a str,
}

/// The address in a word: `https://…`, `git+ssh://…`, `name@github:a/b`, `git@host:path`. Other schemes are not the net.
fn address(text: &str) -> Option<Address<'_>> {
    const SHORT: [(&str, &str); 3] =
        [("github:", "github.com"), ("gitlab:", "gitlab.com"), ("bitbucket:", "bitbucket.org")];
    if let Some(at) = text.find("://") {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || c == '+';
        let start = text[..at].rfind(|c: char| !is_scheme(c)).map_or(0, |before| before + 1);
        // `--set url=https://…`
        if text[..start].ends_with('=') && !text.starts_with("git+") {
            return None;
        }
        let scheme = text[start..at].trim_start_matches("git+").trim_start_matches("sparse+");
        let rest = &text[at + 3..];
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = host.split([':', '?', '#']).next().unwrap_or_default();
        return match scheme {
            "https" | "ssh" => Some(Address { is_safe: true, host, path }),
            "http" | "git" | "ftp" => Some(Address { is_safe: false, host, path }),
            "file" => temporary(path),
            _ => None,
        };
    }
    let plain = text.rsplit_once('@').filter(|(name, _)| !name.is_empty() && *name != "git");
    let plain = plain.map_or(text, |(_, after)| after);
    for (short, host) in SHORT {
        if let Some(path) = plain.strip_prefix(short).or_else(|| text.strip_prefix(short)) {
            return Some(Address { is_safe: true, host, path });
        }
    }
    if plain.starts_with("gist:") {
        return Some(Address { is_safe: true, host: "gist.github.com", path: "" });
    }
    if let Some(path) = plain.strip_prefix("file:") {
        return temporary(path.trim_start_matches('/'));
    }
    let (host, path) = text.strip_prefix("git@")?.split_once(':')?;
    Some(Address { is_safe: true, host, path })
}

/// A file in a folder that everybody can write to; any other file is the person's own.
fn temporary(path: &str) -> Option<Address<'_>> {
    let is_open = ["tmp/", "var/tmp/", "dev/shm/"].iter().any(|folder| path.starts_with(folder));
    is_open.then_some(Address { is_safe: false, host: "/tmp", path })
}

impl Address<'_> {
    fn is_here(&self) -> bool {
        matches!(self.host, "localhost" | "127.0.0.1" | "0.0.0.0" | "host.docker.internal" | "[")
    }

    /// Whether it names a version that does not change: `a/b@v1.2`, `a/b#1f2e3d4`, an archive of a release.
    fn is_pinned(&self) -> bool {
        let named = self.path.split_once(['@', '#']).map_or("", |(_, named)| named);
        let named = named.split(['#', '&', '?']).next().unwrap_or_default();
        let is_commit = named.len() >= 7 && named.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_version = named.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
        is_commit || is_version || self.path.contains("/releases/download/")
    }
}

/// Whether a package comes from an address that not everybody uses, or runs at once in whatever version there is.
fn is_foreign(text: &str, mode: Mode, is_list: bool) -> bool {
    let Some(found) = address(text) else { return false };
    if found.is_here() {
        return false;
    }
    let is_forge = FORGES.contains(&found.host)
        || (is_list && found.host == "raw.githubusercontent.com")
        || is_known_cloud(found.host);
    let is_known = || KNOWN_OWNERS.iter().any(|owner| found.path.starts_with(owner));
    !found.is_safe || !is_forge || (mode == Mode::Runs && !found.is_pinned() && !is_known())
}

fn is_foreign_index(text: &str) -> bool {
    let Some(found) = address(text) else { return false };
    let is_known = KNOWN_INDEXES.contains(&found.host)
        || FORGES.contains(&found.host)
        || found.host.starts_with("mirrors.")
        || is_known_cloud(found.host);
    !(found.is_here() || (found.is_safe && is_known))
}

/// Registries that a company rents.
fn is_known_cloud(host: &str) -> bool {
    host.ends_with(".pkg.dev")
        || host.ends_with(".jfrog.io")
        || (host.contains(".codeartifact.") && host.ends_with(".amazonaws.com"))
}

#[cfg(test)]
mod tests {
    use super::{Mode, is_foreign, is_foreign_index};

    #[test]
    fn packages_of_well_known_forges_are_told_from_others() {
        for text in [
            "requests",
            "git+https://github.com/acme/tool.git@v1",
            "tool @ git+https://gitlab.com/acme/tool",
            "acme@https://github.com/acme/tool",
            "github:acme/tool",
            "git+ssh://git@github.com/acme/tool.git",
            "git@github.com:acme/tool.git",
            "http://localhost:8080/a.tgz",
            "./a.whl",
            "@acme/tool@1.2.3",
        ] {
            assert!(!is_foreign(text, Mode::Installs, false), "{text}");
        }
        for text in [
            "http://github.com/acme/tool",
            "https://host.example/a.whl",
            "git+https://github.com.evil.example/a",
            "https://github.com@evil.example/a.whl",
            "gist:0123",
            "a@file:/tmp/a",
        ] {
            assert!(is_foreign(text, Mode::Installs, false), "{text}");
        }
        for text in ["github:acme/tool", "git+https://github.com/acme/tool@main"] {
            assert!(is_foreign(text, Mode::Runs, false), "{text}");
        }
        assert!(!is_foreign("git+https://github.com/acme/tool@v1.2.3", Mode::Runs, false));
    }

    #[test]
    fn indexes_that_everybody_uses_are_told_from_others() {
        for text in ["https://pypi.org/simple", "https://download.pytorch.org/whl/cpu", "a.txt", "main"] {
            assert!(!is_foreign_index(text), "{text}");
        }
        for text in ["http://pypi.org/simple", "https://pypi.evil.example/simple"] {
            assert!(is_foreign_index(text), "{text}");
        }
    }
}
