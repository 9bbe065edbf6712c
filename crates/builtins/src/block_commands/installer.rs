//! Installers that the documentation of well-known programs tells everybody to run: a person decides about those.

use super::fit::CommandContext;
use super::runs_input::names_of;
use crate::shell::{Command, Word};

/// Hosts, or hosts with the beginning of a path, of installers that many people run.
const WELL_KNOWN: [&str; 43] = [
    "sh.rustup.rs",
    "astral.sh/",
    "deb.nodesource.com/",
    "rpm.nodesource.com/",
    "get.docker.com",
    "raw.githubusercontent.com/Homebrew/install/",
    "raw.githubusercontent.com/nvm-sh/nvm/",
    "raw.githubusercontent.com/helm/helm/",
    "raw.githubusercontent.com/golangci/golangci-lint/",
    "raw.githubusercontent.com/pyenv/pyenv-installer/",
    "raw.githubusercontent.com/ohmyzsh/ohmyzsh/",
    "raw.githubusercontent.com/rbenv/rbenv-installer/",
    "raw.githubusercontent.com/k3d-io/k3d/",
    "raw.githubusercontent.com/rancher/k3d/",
    "raw.githubusercontent.com/aquasecurity/trivy/",
    "raw.githubusercontent.com/anchore/",
    "raw.githubusercontent.com/kubernetes-sigs/kustomize/",
    "deno.land/",
    "bun.sh/install",
    "bun.com/install",
    "get.pnpm.io/",
    "install.python-poetry.org",
    "pyenv.run",
    "get.sdkman.io",
    "mise.run",
    "mise.jdx.dev/",
    "nixos.org/nix/",
    "install.determinate.systems/",
    "fly.io/install.sh",
    "starship.rs/install.sh",
    "get.volta.sh",
    "claude.ai/install.sh",
    "get.k3s.io",
    "just.systems/install.sh",
    "ollama.com/install.sh",
    "bootstrap.pypa.io/",
    "get.helm.sh/",
    "tailscale.com/install.sh",
    "zed.dev/install.sh",
    "pixi.sh/install.sh",
    "get-ghcup.haskell.org",
    "install.julialang.org",
    "get.rvm.io",
];

/// Programs that download.
const DOWNLOADS: [&str; 6] = ["curl", "wget", "fetch", "aria2c", "http", "xh"];

impl CommandContext<'_> {
    /// Whether all that the command runs comes from well-known installers.
    pub(super) fn runs_installer(&self) -> bool {
        let commands = self.source_commands();
        let downloads = |command: &&&Command| names_of(command).any(|name| DOWNLOADS.contains(&name));
        let mut downloads = commands.iter().filter(downloads).peekable();
        downloads.peek().is_some() && downloads.all(|command| gets_installer(command))
    }
}

fn gets_installer(command: &Command) -> bool {
    // What goes through another machine can be anything.
    const DIVERTS: [&str; 9] =
        ["-x", "--proxy", "--resolve", "--connect-to", "-K", "--config", "-k", "--insecure", "-i"];
    let words = command.arguments();
    let diverts = |word: &Word| {
        let head = word.head();
        let name = head.split('=').next().unwrap_or_default();
        DIVERTS.contains(&name) || name == "--no-check-certificate" || name == "--socks5"
    };
    let is_address = |word: &&Word| {
        let shown = word.show();
        let host = shown.split('/').next().unwrap_or_default();
        shown.contains("://") || (host.contains('.') && !shown.starts_with(['-', '=', '.', '/', '~']))
    };
    let mut addresses = words.iter().filter(is_address).peekable();
    let known = |word: &Word| {
        let Some(address) = word.known() else { return false };
        let Some(rest) =
            address.strip_prefix("https://").or_else(|| (!address.contains("://")).then_some(address))
        else {
            return false;
        };
        WELL_KNOWN.iter().any(|start| match start.contains('/') {
            true => rest.starts_with(start),
            false => rest.split(['/', '?', '#']).next() == Some(start),
        })
    };
    // The file that it is downloaded to may have a dot in its name.
    let is_file =
        |word: &Word| !word.show().contains(['/', ':']) && word.show().ends_with(".sh") && !known(word);
    addresses.peek().is_some()
        && !words.iter().any(diverts)
        && words.iter().any(known)
        && addresses.all(|word| known(word) || is_file(word))
}
