//! Connections through `/dev/tcp`, which reverse shells use, and also everybody who waits for a port.

use super::disposable::{is_local_address, operands};
use super::fit::CommandContext;
use crate::shell::{Direction, Effect, Input, Word};

impl CommandContext<'_> {
    /// Whether the command says more through `/dev/tcp` than that a port answers, or says it to another machine.
    pub(super) fn talks_through_file(&self) -> bool {
        let is_net = |word: &Word| net_host(&word.show()).is_some();
        let names = self.files().iter().filter(|file| file.effect >= Effect::Read).map(|file| &file.path);
        let mut hosts = names.filter(|path| is_net(path)).peekable();
        let is_here = |path: &Word| net_host(&path.show()).is_some_and(|host| is_local_address(&host));
        // A shell there would get its commands from whoever listens, which may be a tunnel.
        let is_plain = matches!(
            self.command.name(),
            None | Some("echo" | "printf" | "cat" | "exec" | ":" | "true" | "timeout" | "read" | "head")
        );
        hosts.peek().is_some() && !(is_plain && hosts.all(|path| is_here(path))) && !self.only_knocks()
    }

    /// `</dev/tcp/host/port`, `: > /dev/tcp/host/port`, `cat < /dev/null > /dev/tcp/host/port`: nothing is said.
    fn only_knocks(&self) -> bool {
        let words = self.command.arguments();
        let is_silent = match self.command.name() {
            None => self.command.words.is_empty() && self.command.assignments.is_empty(),
            Some(":" | "true" | "echo") => words.is_empty(),
            Some("cat") => {
                let reads_nothing = |redirection: &crate::shell::Redirection| {
                    redirection.direction == Direction::Read
                        && redirection.target.known() == Some("/dev/null")
                };
                words.is_empty()
                    && self.command.redirections.iter().any(reads_nothing)
                    && !matches!(self.command.input, Input::Pipe(_))
            }
            _ => false,
        };
        // A host that is known only at run time could carry a message in its name.
        is_silent
            && self.command.redirections.iter().all(|redirection| {
                let shown = redirection.target.show();
                net_host(&shown).is_none_or(|host| !host.contains('$'))
            })
    }
}

impl CommandContext<'_> {
    /// `nc host 9000 < app.db`
    pub(super) fn sends_file(&self) -> bool {
        let mut operands = operands(self.command.arguments(), &["-w", "-p", "-s", "-q", "-i"]);
        let is_elsewhere = |word: &Word| {
            let shown = word.show();
            !is_local_address(&shown) && shown.contains(['.', ':', '$'])
        };
        self.command.input == Input::File && operands.next().is_some_and(is_elsewhere)
    }
}

/// The host in `/dev/tcp/host/port`.
fn net_host(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    rest.split('/').next().map(str::to_owned)
}
