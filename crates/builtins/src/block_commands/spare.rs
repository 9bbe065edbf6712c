//! Exceptions for deletions that do no lasting harm: the target is for tests, is local, or is recreated automatically.
//! Such a deletion is not asked about.
//!
//! The decision uses the target's own name, address or environment, and what earlier commands of the same line did
//! (`cd /tmp/x`, `git stash`, `export RAILS_ENV=test`). Other words in the line never count.

use std::borrow::Cow;

use super::disposable::{
    all, has, is_about_production, is_disposable, is_disposable_database, is_local_address, operands, parts,
    settings, spares_in_cluster, values,
};
use super::fit::CommandContext;
use super::sql;
use crate::shell::{Command, Input, Word};

/// An exception of an entry: deletions that it does not apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spare {
    /// What the command before it picks by the name of something that is built again.
    Built,
    /// A pod that comes back, or something in a cluster or namespace for development or tests.
    Cluster,
    /// A composition of containers for development or tests.
    Composition,
    /// A repository in a temporary folder, or one that the line itself makes.
    Copy,
    /// A database for development or tests, or a table that is named so.
    Database,
    /// The database of an environment for tests, or one that a framework itself keeps from dropping in production.
    Environment,
    /// A folder by name below the one where the command runs.
    Folder,
    /// An installer that the documentation of a well-known program names.
    Installer,
    /// A server on this machine.
    Local,
    /// Processes that the command before it picks by name or port.
    Process,
    /// A stash that the line has not just made out of the changes.
    Stash,
    /// Volumes that are caches or for tests.
    Volume,
    /// Changes that the line has saved before, or a copy of a repository that it made, or one in a temporary folder.
    Work,
}

/// The names of the exceptions in a list.
pub(super) const SPARES: [(&str, Spare); 13] = [
    ("built", Spare::Built),
    ("cluster", Spare::Cluster),
    ("composition", Spare::Composition),
    ("copy", Spare::Copy),
    ("database", Spare::Database),
    ("environment", Spare::Environment),
    ("folder", Spare::Folder),
    ("installer", Spare::Installer),
    ("local", Spare::Local),
    ("process", Spare::Process),
    ("stash", Spare::Stash),
    ("volume", Spare::Volume),
    ("work", Spare::Work),
];

/// Parts of names of volumes that are filled again by the next build.
const CACHES: [&str; 9] =
    ["cache", "caches", "modules", "venv", "target", "build", "gradle", "cargo", "bundle"];

/// How many earlier commands of a line are searched for context about a command.
const MOST_BEFORE: usize = 32;

impl CommandContext<'_> {
    /// Whether this exception holds for the command.
    pub(super) fn spares(&self, spare: Spare) -> bool {
        if self.is_far_away() || self.is_about_production() {
            return false;
        }
        let words = self.command.arguments();
        match spare {
            Spare::Built => self.gets_built(),
            Spare::Cluster => spares_in_cluster(self.command),
            Spare::Composition => {
                let names = values(words, &["-f", "--file", "-p", "--project-name", "--env-file"]);
                names.iter().any(|name| is_disposable(name))
            }
            Spare::Copy => self.is_temporary_copy() || self.is_made_here(),
            Spare::Database => self.spares_database(),
            Spare::Environment => self.spares_environment(),
            Spare::Folder => names_inner_folders(words) || self.is_temporary_copy(),
            Spare::Installer => self.runs_installer(),
            Spare::Local => self.is_local_server(),
            Spare::Process => self.gets_named_processes(),
            // A name that is known only at run time can be the name of each stash in turn.
            Spare::Stash => !self.has_saved_work() && words.iter().all(|word| word.known().is_some()),
            Spare::Work => self.has_saved_work() || self.is_temporary_copy(),
            Spare::Volume => {
                let names = operands(words, &[]).skip(2);
                all(names, |name| is_disposable(name) || parts(name).any(|part| CACHES.contains(&part)))
            }
        }
    }

    /// Whether the command runs on another machine or in a cluster, about which its words say nothing.
    fn is_far_away(&self) -> bool {
        let wrapper = self.wrapper_elsewhere().and_then(|at| self.script.commands.get(at));
        wrapper.is_some_and(|wrapper| !matches!(wrapper.name(), Some("docker" | "podman" | "docker-compose")))
    }

    /// Whether the command, what runs it, or a command before it names production.
    fn is_about_production(&self) -> bool {
        let names_it = is_about_production;
        let start = self.at.saturating_sub(MOST_BEFORE);
        self.script.commands[start..=self.at].iter().any(|command| {
            command.words.iter().any(|word| names_it(&word.show()))
                || command.assignments.iter().any(|assignment| names_it(&assignment.value.show()))
        })
    }

    /// Whether the line stashed or committed the changes first.
    fn has_saved_work(&self) -> bool {
        let saves = |command: &Command| {
            let mut operands = operands(command.arguments(), &["-C", "-c"]).map(Word::head);
            match (operands.next(), operands.next()) {
                (Some("stash"), next) => matches!(next, None | Some("push" | "save")),
                (Some("commit"), _) => true,
                _ => false,
            }
        };
        self.earlier().iter().any(|command| command.name() == Some("git") && saves(command))
    }

    /// Whether the last branch that the line switched to is one that everybody builds on, and the command names no other.
    pub(super) fn is_on_shared_branch(&self) -> bool {
        const SHARED: [&str; 8] =
            ["main", "master", "trunk", "develop", "production", "prod", "staging", "stable"];
        let switches = |command: &&Command| {
            let verb = operands(command.arguments(), &["-C", "-c"]).next().map(Word::head);
            command.name() == Some("git") && matches!(verb, Some("checkout" | "switch"))
        };
        // `git push --force-with-lease origin other`
        let names_branch = operands(self.command.arguments(), &["-C", "-c", "-o"]).skip(2);
        if names_branch.into_iter().any(|word| word.known() != Some("HEAD")) {
            return false;
        }
        let Some(last) = self.earlier().iter().rfind(switches) else { return false };
        let mut names = operands(last.arguments(), &["-C", "-c"]).skip(1);
        let creates =
            last.arguments().iter().any(|word| matches!(word.known(), Some("-b" | "-B" | "-c" | "--")));
        let is_shared = |name: &str| SHARED.contains(&name) || name.starts_with("release");
        !creates && names.next().and_then(Word::known).is_some_and(is_shared) && names.next().is_none()
    }

    /// Whether the repository is one that the line has just cloned, or one in a temporary folder.
    fn is_temporary_copy(&self) -> bool {
        const STARTS: [&str; 4] = ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/"];
        // Where Windows, and agents, keep what they throw away.
        const PARTS: [&str; 3] = ["/AppData/Local/Temp/", "/scratchpad/", ".claude/worktrees/"];
        let is_temporary = |folder: &str| {
            STARTS.iter().any(|start| folder.starts_with(start))
                || PARTS.iter().any(|part| folder.contains(part))
        };
        let is_one = |folder: &str| is_temporary(folder) && !folder.contains("..");
        if values(self.command.arguments(), &["-C"]).iter().any(|folder| is_one(folder)) {
            return true;
        }
        let is_worktree = operands(self.command.arguments(), &[]).next().map(Word::head) == Some("worktree");
        if is_worktree {
            let mut folders = operands(self.command.arguments(), &[]).skip(2).peekable();
            // The last part of the path may be a choice: `for w in a b; do … "$TMP/$w"`.
            if folders.peek().is_some() && folders.all(|word| is_one(&word.show())) {
                return true;
            }
        }
        let moves = |command: &&Command| matches!(command.name(), Some("cd" | "pushd"));
        let Some(last) = self.earlier().iter().rfind(moves) else { return false };
        let Some(word) = last.arguments().first() else { return false };
        // `cd "$(mktemp -d)"`
        if word.unknowns().next().is_some() && word.unknowns().all(|unknown| self.is_temporary(unknown)) {
            return true;
        }
        let Some(folder) = word.known() else { return false };
        let clones = |command: &Command| {
            let words = command.arguments();
            let is_clone = |word: &&Word| word.known() == Some("clone");
            let copies = command.name() == Some("git")
                && operands(words, &["-C", "-c"]).next().as_ref().is_some_and(is_clone);
            let into = words.last().and_then(Word::known).unwrap_or_default();
            let into = into.trim_end_matches(".git").trim_end_matches('/');
            copies && crate::shell::base_name(into) == crate::shell::base_name(folder.trim_end_matches('/'))
        };
        is_one(folder) || self.earlier().iter().any(clones)
    }

    /// Whether the line has made the repository: `git init x && cd x && git commit …`.
    fn is_made_here(&self) -> bool {
        self.earlier().iter().any(|command| {
            let verb = operands(command.arguments(), &["-C", "-c"]).next().map(Word::head);
            command.name() == Some("git") && verb == Some("init")
        })
    }

    /// `Get-Process node | Stop-Process`
    fn gets_named_processes(&self) -> bool {
        let Input::Pipe(range) = &self.command.input else { return false };
        let commands = self.script.commands.get(range.clone()).unwrap_or_default();
        let is_plain = |word: &&Word| {
            let letters = word.head().chars().filter(|c| c.is_alphanumeric()).count();
            letters >= 3 && !word.show().contains('*') && !word.head().starts_with('-')
        };
        commands.iter().any(|command| {
            let name = command.name().unwrap_or_default().to_ascii_lowercase();
            let ignored = |word: &&Word| !matches!(word.head(), "SilentlyContinue" | "Stop");
            matches!(name.as_str(), "get-process" | "gps" | "get-nettcpconnection")
                && command.arguments().iter().filter(ignored).any(|word| is_plain(&word))
        })
    }

    /// `Get-ChildItem -Recurse -Filter node_modules | Remove-Item -Recurse`
    fn gets_built(&self) -> bool {
        const BUILT: [&str; 15] = [
            "node_modules",
            "bin",
            "obj",
            "dist",
            "build",
            "target",
            "out",
            ".next",
            ".vs",
            "testresults",
            "__pycache__",
            "coverage",
            ".pytest_cache",
            "*.pyc",
            "*.log",
        ];
        let Input::Pipe(range) = &self.command.input else { return false };
        let [search] = self.script.commands.get(range.clone()).unwrap_or_default() else { return false };
        let name = search.name().unwrap_or_default().to_ascii_lowercase();
        let words = search.arguments();
        let picks = words.windows(2).find_map(|pair| {
            let option = pair[0].head().to_ascii_lowercase();
            matches!(option.as_str(), "-include" | "-filter").then(|| pair[1].show().to_lowercase())
        });
        matches!(name.as_str(), "get-childitem" | "gci" | "ls" | "dir")
            && picks.is_some_and(|names| names.split(',').all(|name| BUILT.contains(&name.trim())))
    }

    fn earlier(&self) -> &[Command] {
        &self.script.commands[self.at.saturating_sub(MOST_BEFORE)..self.at]
    }

    fn spares_database(&self) -> bool {
        let words = self.command.arguments();
        match self.command.name() {
            Some("redis-cli" | "valkey-cli") => self.is_local_server(),
            Some("dropdb" | "dropuser") => {
                const VALUES: [&str; 7] =
                    ["-h", "-p", "-U", "--host", "--port", "--username", "--maintenance-db"];
                all(operands(words, &VALUES), is_disposable)
            }
            Some("wrangler") => has(words, "--local") && !has(words, "--remote"),
            _ => self.connects_to_disposable() || self.destroys_disposable_only(),
        }
    }

    /// Whether the database that a client opens is one for tests.
    fn connects_to_disposable(&self) -> bool {
        const NAMED: [&str; 6] = ["-d", "--dbname", "-D", "--database", "--db", "-k"];
        const VALUES: [&str; 18] = [
            "-h",
            "-p",
            "-P",
            "-U",
            "-u",
            "-c",
            "-e",
            "-f",
            "-v",
            "-q",
            "--host",
            "--port",
            "--user",
            "--username",
            "--command",
            "--execute",
            "--eval",
            "--file",
        ];
        let words = self.command.arguments();
        let named = values(words, &NAMED);
        // `drop database` and `drop user` work from any database, so the one that is opened proves nothing.
        if words.iter().any(|word| sql::drops_beyond(&word.show()))
            || self.command.stdin_text.as_deref().is_some_and(sql::drops_beyond)
        {
            return false;
        }
        if !named.is_empty() {
            return named.iter().all(|name| is_disposable_database(name));
        }
        let first = operands(words, &VALUES).next();
        first.is_some_and(|word| word.known().is_some_and(is_disposable_database))
    }

    /// Whether every destructive statement drops something that is named as disposable.
    fn destroys_disposable_only(&self) -> bool {
        let typed = self.command.stdin_text.as_deref().into_iter().map(Cow::Borrowed);
        let texts = self.command.arguments().iter().map(Word::show).chain(typed);
        let mut destructive = texts.filter(|text| sql::destroys(text)).peekable();
        destructive.peek().is_some()
            && destructive.all(|text| {
                sql::dropped(&text).is_some_and(|names| names.iter().all(|name| is_disposable(name)))
            })
    }

    /// Whether a variable or an option names an environment for tests, or the framework guards production itself.
    fn spares_environment(&self) -> bool {
        const NAMES: [&str; 12] = [
            "RAILS_ENV",
            "RACK_ENV",
            "NODE_ENV",
            "MIX_ENV",
            "APP_ENV",
            "FLASK_ENV",
            "ENV",
            "ENVIRONMENT",
            "DJANGO_SETTINGS_MODULE",
            "ASPNETCORE_ENVIRONMENT",
            "PGDATABASE",
            "DB_NAME",
        ];
        const ADDRESSES: [&str; 4] = ["DATABASE_URL", "DB_URL", "TEST_DATABASE_URL", "POSTGRES_URL"];
        let says = |name: &str, value: &str| {
            let is_address = ADDRESSES.contains(&name);
            (NAMES.contains(&name) && is_disposable(value))
                || (is_address && (is_local_address(value) || is_disposable_database(value)))
        };
        let mut command = Some(self.command);
        for _ in 0..4 {
            let Some(current) = command else { break };
            if settings(current).any(|(name, value)| says(name, &value)) {
                return true;
            }
            command = current.wrapper.and_then(|at| self.script.commands.get(at));
        }
        if self
            .earlier()
            .iter()
            .filter(|command| command.name() == Some("export"))
            .flat_map(settings)
            .any(|(name, value)| says(name, &value))
        {
            return true;
        }
        let words = self.command.arguments();
        let named = values(words, &["--env", "--settings", "-e", "--environment"]);
        if named.iter().any(|name| is_disposable(name)) {
            return true;
        }
        match self.command.name() {
            // Rails refuses to drop what its own table of settings calls production.
            Some("rails" | "rake" | "bundle" | "spring") => {
                !words.iter().any(|word| word.head().starts_with("DISABLE_DATABASE"))
                    && !settings(self.command).any(|(name, _)| name.starts_with("DISABLE_DATABASE"))
            }
            // Without --force, Laravel asks by itself in production.
            Some("php" | "artisan" | "sail") => !has(words, "--force"),
            // The environment is development unless a variable says otherwise.
            Some("mix") => true,
            // A script of the project, made for its developers.
            Some("npm" | "pnpm" | "yarn" | "bun") => {
                let script = operands(words, &[]).find(|word| word.known() != Some("run"));
                script.is_some_and(|word| word.head().starts_with("db:") || is_disposable(word.head()))
            }
            _ => false,
        }
    }

    /// Whether the server that the command talks to is on this machine.
    fn is_local_server(&self) -> bool {
        const NAMED: [&str; 9] = [
            "--registry",
            "--endpoint-url",
            "--endpoint",
            "--bootstrap-server",
            "--broker-list",
            "-h",
            "--host",
            "--url",
            "-u",
        ];
        let words = self.command.arguments();
        match self.command.name() {
            // Without one of these, it is the database of `supabase start`.
            Some("supabase") => {
                let first = operands(words, &[]).next().map(Word::head);
                first == Some("db")
                    && !["--linked", "--db-url", "--project-ref"].iter().any(|option| has(words, option))
            }
            Some("curl" | "http" | "https" | "xh") => {
                let is_address = |word: &&Word| {
                    let shown = word.show();
                    shown.contains("://") || is_local_address(&shown)
                };
                let mut addresses = words.iter().filter(is_address).peekable();
                addresses.peek().is_some()
                    && addresses.all(|word| {
                        let shown = word.show();
                        let rest = shown.split_once("://").map_or(&*shown, |(_, rest)| rest);
                        let path = rest.split_once('/').map_or("", |(_, path)| path);
                        let is_one = !path.is_empty() && !path.starts_with('_');
                        is_one && !path.contains(['*', ',', '$']) && is_local_address(&shown)
                    })
            }
            Some("tcpdump" | "tshark" | "dumpcap" | "ngrep" | "wireshark") => {
                let named = values(words, &["-i", "--interface", "-d"]);
                !named.is_empty() && named.iter().all(|name| matches!(&**name, "lo" | "lo0"))
            }
            // The name that a composition of containers gives its cache.
            Some("redis-cli" | "valkey-cli") if is_service(&values(words, &["-h", "-u"])) => true,
            // The cache of a composition on this machine.
            Some("redis-cli" | "valkey-cli") if values(words, &["-h", "-u"]).is_empty() => {
                self.wrapper_elsewhere().is_some()
            }
            _ => {
                let named = values(words, &NAMED);
                let variable = settings(self.command)
                    .any(|(name, value)| name == "AWS_ENDPOINT_URL" && is_local_address(&value));
                variable || (!named.is_empty() && named.iter().all(|value| is_local_address(value)))
            }
        }
    }
}

/// Whether `git clean` gets folders by name that lie below this one.
fn names_inner_folders(words: &[Word]) -> bool {
    let is_inner = |name: &str| {
        let name = name.trim_start_matches("./").trim_end_matches('/');
        !name.is_empty() && name != "." && !name.starts_with(['/', '~', ':', '*']) && !name.contains("..")
    };
    let names = operands(words, &["-e", "--exclude", "-C", "-c", "--git-dir", "--work-tree"]).skip(1);
    all(names.filter(|word| word.known() != Some("deinit")), is_inner)
}

/// `redis-cli -h redis`, `redis-cli -u redis://redis:6379/1`
fn is_service(addresses: &[Cow<'_, str>]) -> bool {
    let is_one = |address: &Cow<'_, str>| {
        let rest = address.split_once("://").map_or(&**address, |(_, rest)| rest);
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        matches!(host, "redis" | "valkey" | "keydb") || (!host.contains('.') && is_disposable(host))
    };
    !addresses.is_empty() && addresses.iter().all(is_one)
}
