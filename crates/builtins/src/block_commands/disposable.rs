//! Names, addresses and options that tell disposable resources from those that must be kept.

use std::borrow::Cow;

use crate::shell::{Command, Word};

/// Parts of names that mark something as temporary, or as made for development or tests.
const DISPOSABLE_NAMES: [&str; 27] = [
    "ci",
    "debug",
    "demo",
    "dev",
    "devel",
    "development",
    "dummy",
    "e2e",
    "example",
    "examples",
    "fixture",
    "fixtures",
    "integration",
    "local",
    "mock",
    "playground",
    "preview",
    "sandbox",
    "scratch",
    "shadow",
    "spike",
    "temp",
    "test",
    "testdb",
    "testing",
    "tests",
    "tmp",
];

/// Parts of names that mark something as not disposable. The first four mean production: see `is_about_production`.
const KEPT_NAMES: [&str; 10] =
    ["prod", "production", "prd", "live", "staging", "stage", "uat", "master", "backup", "backups"];

/// Whether a name says that the thing is for development or tests.
pub(super) fn is_disposable(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_one = |part: &str| DISPOSABLE_NAMES.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit()));
    parts(&name).any(|part| is_one(part) || part == "e2e")
        && !parts(&name).any(|part| KEPT_NAMES.contains(&part))
}

/// Whether a database is for development or tests, by its name, its file or the last part of its address.
pub(super) fn is_disposable_database(text: &str) -> bool {
    let text = text.split('?').next().unwrap_or_default();
    if text == ":memory:" || text.starts_with("/tmp/") {
        return true;
    }
    match text.contains("://") {
        true => text.rsplit_once('/').is_some_and(|(_, name)| is_disposable(name)),
        false => is_disposable(crate::shell::base_name(text)),
    }
}

/// Whether an address, with or without a scheme, is this machine.
pub(super) fn is_local_address(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = host.split(':').next().unwrap_or_default();
    matches!(name, "localhost" | "127.0.0.1" | "0.0.0.0" | "localstack" | "host.docker.internal")
        || host.starts_with("[::1]")
}

/// The parts of a name between signs.
pub(super) fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty())
}

/// Whether a text names production.
pub(super) fn is_about_production(text: &str) -> bool {
    parts(&text.to_lowercase()).any(|part| KEPT_NAMES[..4].contains(&part))
}

/// Whether there is at least one word, and every word is known and accepted by `good`.
pub(super) fn all<'a>(words: impl Iterator<Item = &'a Word>, good: impl Fn(&str) -> bool) -> bool {
    let mut words = words.peekable();
    words.peek().is_some() && words.all(|word| word.known().is_some_and(&good))
}

pub(super) fn has(words: &[Word], option: &str) -> bool {
    words.iter().any(|word| {
        let head = word.head();
        head == option || head.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    })
}

/// The words that are neither options nor the values of these options.
pub(super) fn operands<'a>(words: &'a [Word], with_value: &'a [&str]) -> impl Iterator<Item = &'a Word> {
    words.iter().enumerate().filter_map(move |(at, word)| {
        let is_value = at > 0 && with_value.contains(&words[at - 1].head());
        let is_option = word.head().len() > 1 && word.head().starts_with('-');
        (!is_option && !is_value).then_some(word)
    })
}

/// The values of these options: `-n a`, `-na`, `--name a`, `--name=a`.
pub(super) fn values<'a>(words: &'a [Word], names: &[&str]) -> Vec<Cow<'a, str>> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if names.contains(&word.head()) {
            found.extend(words.get(at + 1).map(Word::show));
        } else if let Some(text) = word.known() {
            let value = names.iter().find_map(|name| {
                let rest = text.strip_prefix(name)?;
                if name.starts_with("--") {
                    rest.strip_prefix('=')
                } else {
                    Some(rest).filter(|rest| !rest.is_empty())
                }
            });
            found.extend(value.filter(|_| text.starts_with('-')).map(Cow::Borrowed));
        }
    }
    found
}

/// `NAME=value`, in front of the command and among its words.
pub(super) fn settings(command: &Command) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    let in_front =
        command.assignments.iter().map(|assignment| (assignment.name.as_str(), assignment.value.show()));
    let among = command.arguments().iter().filter_map(Word::known).filter_map(|word| word.split_once('='));
    in_front.chain(among.map(|(name, value)| (name, Cow::Borrowed(value))))
}

/// What `kubectl delete` and `helm uninstall` delete, when it comes back or is for tests.
pub(super) fn spares_in_cluster(command: &Command) -> bool {
    const VALUES: [&str; 18] = [
        "-n",
        "--namespace",
        "--context",
        "--kube-context",
        "--kubeconfig",
        "-f",
        "--filename",
        "-l",
        "--selector",
        "--grace-period",
        "--timeout",
        "-o",
        "--field-selector",
        "--as",
        "--cluster",
        "--server",
        "-k",
        "--kustomize",
    ];
    /// Things that belong to no namespace.
    const OF_CLUSTER: [&str; 17] = [
        "ns",
        "namespace",
        "namespaces",
        "no",
        "node",
        "nodes",
        "pv",
        "persistentvolume",
        "persistentvolumes",
        "crd",
        "crds",
        "customresourcedefinition",
        "clusterrole",
        "clusterrolebinding",
        "storageclass",
        "sc",
        "apiservice",
    ];
    /// Kinds that a controller recreates, or that have finished.
    const RECREATED_KINDS: [&str; 9] =
        ["po", "pod", "pods", "job", "jobs", "rs", "replicaset", "replicasets", "event"];
    let words = command.arguments();
    if values(words, &["--context", "--kube-context"]).iter().any(|name| is_local_cluster(name)) {
        return true;
    }
    if has(words, "-A") || has(words, "--all-namespaces") {
        return false;
    }
    let namespaces = values(words, &["-n", "--namespace"]);
    let in_test = namespaces.iter().any(|name| is_disposable(name));
    let things: Vec<&Word> = operands(words, &VALUES).skip(1).collect();
    if command.name() == Some("helm") {
        return in_test || all(things.into_iter(), is_disposable);
    }
    let files = values(words, &["-f", "--filename", "-k", "--kustomize"]);
    let Some((kind, names)) = things.split_first() else {
        return !files.is_empty() && (in_test || files.iter().all(|file| is_disposable(file)));
    };
    // `pod/a` is a kind and a name.
    let pairs = things.iter().filter_map(|word| word.known()?.split_once('/'));
    let (kinds, names): (Vec<&str>, Vec<&str>) = match kind.head().contains('/') {
        true => pairs.unzip(),
        false => (kind.head().split(',').collect(), names.iter().filter_map(|word| word.known()).collect()),
    };
    let is_known = words.iter().all(|word| word.known().is_some());
    if kinds.iter().any(|kind| OF_CLUSTER.contains(kind)) {
        return is_known && !names.is_empty() && names.iter().all(|name| is_disposable(name));
    }
    let is_passing = kinds.iter().all(|kind| RECREATED_KINDS.contains(kind));
    in_test || (is_known && !names.is_empty() && (is_passing || names.iter().all(|name| is_disposable(name))))
}

/// Whether a context is a cluster on this machine, or one for tests.
pub(super) fn is_local_cluster(name: &str) -> bool {
    const NAMES: [&str; 5] = ["minikube", "docker-desktop", "rancher-desktop", "orbstack", "colima"];
    NAMES.contains(&name) || name.starts_with("kind-") || name.starts_with("k3d-") || is_disposable(name)
}

#[cfg(test)]
mod tests {
    use super::{is_disposable, is_disposable_database, is_local_address};

    #[test]
    fn names_say_what_they_are_for() {
        for name in
            ["test", "app_test", "test-2", "app-dev", "tmp1", "k8s/dev/job.yaml", "pr-12-preview", "e2e"]
        {
            assert!(is_disposable(name), "{name}");
        }
        for name in ["prod", "app", "latest", "contest", "test-prod", "device", "staging-test", "main"] {
            assert!(!is_disposable(name), "{name}");
        }
    }

    #[test]
    fn databases_and_addresses() {
        assert!(is_disposable_database("postgres://a:b@db:5432/app_test?ssl=1"));
        assert!(!is_disposable_database("postgres://test:test@db.acme.com/app"));
        assert!(is_disposable_database("/tmp/x.db") && is_disposable_database("data/test.db"));
        assert!(!is_disposable_database("tests/../app.db"));
        for text in ["localhost:9200/a", "http://127.0.0.1", "postgres://a:b@localhost:5432/x"] {
            assert!(is_local_address(text), "{text}");
        }
        for text in ["http://acme.com/localhost", "localhost.evil.com", "http://localhost@evil.com"] {
            assert!(!is_local_address(text), "{text}");
        }
    }
}
