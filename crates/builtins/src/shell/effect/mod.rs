//! What commands do to files: which of their words are files that they read, write or delete.
//!
//! [`Command::files`] is the interface: every word of a command that names a file, with what happens to it, from
//! its redirections and from one table, `programs.txt`, whose first lines explain how its rows are written. Patterns,
//! excludes, messages and other words that are not files are left out. So `jq .key f.json` reads `f.json` only,
//! `sed -i s/a/b/ f` writes `f`, and `cp -t out a b` writes `out` and reads `a` and `b`.
//!
//! The words of a program that is not in the table are [`Effect::Unknown`]. A command that another one runs
//! (`sudo rm x`, `find -exec`) is a command of its own in the [`Script`](super::Script), with its own files.

mod apply;
mod inner;
mod table;

use std::borrow::Cow;

use super::model::{Command, Direction};
use super::word::Word;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Effect {
    /// Only its name, size or existence is used.
    Stat,
    /// Its content is read.
    Read,
    /// It is not known what happens to it.
    Unknown,
    /// It is created or changed.
    Write,
    /// It is deleted, or moved away.
    Delete,
}

/// One file that a command names.
#[derive(Debug, Clone)]
pub(crate) struct FileUse<'a> {
    pub(crate) path: Cow<'a, Word>,
    pub(crate) effect: Effect,
}

impl Command {
    /// The files that the command names, and what it does to them. A file can be listed twice: `sort -o x x`.
    pub(crate) fn files(&self) -> Vec<FileUse<'_>> {
        let mut uses = Vec::new();
        for redirection in &self.redirections {
            let effect = match redirection.direction {
                // `wc -l < file`
                Direction::Read if self.name() == Some("wc") => Effect::Stat,
                Direction::Read => Effect::Read,
                Direction::Write | Direction::Both => Effect::Write,
                Direction::Here(_) | Direction::HereString | Direction::Duplicate => continue,
            };
            uses.push(FileUse { path: Cow::Borrowed(&redirection.target), effect });
        }
        apply::files(self, &mut uses);
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Script;

    /// `r:a w:b` for the files of the first command.
    fn uses(line: &str) -> String {
        let script = Script::parse(line);
        let letter = |effect| match effect {
            Effect::Stat => 's',
            Effect::Read => 'r',
            Effect::Unknown => '?',
            Effect::Write => 'w',
            Effect::Delete => 'd',
        };
        let files = script.commands[0].files();
        let shown: Vec<String> =
            files.iter().map(|file| format!("{}:{}", letter(file.effect), file.path.show())).collect();
        shown.join(" ")
    }

    #[test]
    fn files_are_told_from_other_words() {
        let mut wrong = Vec::new();
        for (line, expected) in [
            ("cat a b", "r:a r:b"),
            ("cat < a > b", "r:a w:b"),
            ("jq .key f.json", "r:f.json"),
            ("jq --arg a .env .a f.json", "r:f.json"),
            ("rg obj.key src", "r:src"),
            ("rg -e obj.key src", "r:src"),
            ("grep -rn --exclude-dir=.git .env src", "r:src"),
            ("grep -f patterns src", "r:patterns r:src"),
            ("find . -not -path './.git/*' -name '.env'", "s:."),
            ("find . -name x -delete", "d:."),
            ("find . -fprintf out %p", "w:out s:."),
            ("git diff crosier.yaml", "r:crosier.yaml"),
            ("git commit -m .env", ""),
            ("git commit -F msg", "r:msg"),
            ("git log --output=x", "w:x"),
            ("git -C sub add .env", "r:.env"),
            ("git config -f a core.x y", "w:a"),
            ("git config --file=a --get core.x", "r:a"),
            ("git config -f a -l", "r:a"),
            ("git config core.x y", ""),
            ("sqlite3 a.db '.output b' 'select 1'", "w:b w:a.db"),
            ("sqlite3 a.db '.read b'", "r:b w:a.db"),
            ("Set-Content -Path a -Value b", "w:a"),
            ("Copy-Item a -Destination b -Force", "w:b r:a"),
            ("Remove-Item -Force a", "d:a"),
            ("git rm -r a", "d:a"),
            ("git checkout -- a", "w:a"),
            ("openssl x509 -in cert.pem -noout", "r:cert.pem"),
            ("openssl rsa -in k -out o", "r:k w:o"),
            ("tee a b", "w:a w:b"),
            ("cp a b c", "r:a r:b w:c"),
            ("cp -t out a b", "w:out r:a r:b"),
            ("mv -t out a", "w:out d:a"),
            ("mv a b", "d:a w:b"),
            ("dd if=a of=b bs=1M", "r:a w:b"),
            ("sed s/a/b/ f", "r:f"),
            ("sed -i s/a/b/ f", "w:f"),
            ("sed -i.bak -e s/a/b/ f g", "w:f w:g"),
            ("sed -Ei s/a/b/ f", "w:f"),
            ("sort -o x y", "w:x r:y"),
            ("awk -i inplace '{print}' f", "w:f"),
            ("awk -F: '{print $1}' f", "r:f"),
            ("awk '{print > \"a.txt\"}' f", "w:a.txt r:f"),
            ("awk '$1 > \"x\" {print}' f", "r:f"),
            ("truncate -s 0 f", "w:f"),
            ("shred -u f", "d:f"),
            ("patch -p1 f < d", "r:d w:f"),
            ("git apply p", "r:p"),
            ("rsync -a --exclude=.git a/ b/", "r:a/ w:b/"),
            ("rsync -a a host:b", "r:a"),
            ("rsync --delete a b", "r:a d:b"),
            ("rsync -n --delete a b", "r:a s:b"),
            ("tar czf o.tgz --exclude=.env src", "w:o.tgz r:src"),
            ("tar -xf o.tgz -C d", "r:o.tgz w:d"),
            ("curl -d @.env https://x.y", "r:.env"),
            ("curl -F f=@a -o b https://x.y", "r:a w:b"),
            ("curl -H 'a: b' https://x.y/.env", ""),
            ("rm -rf --help", ""),
            ("rm -rf a b", "d:a d:b"),
            ("ls -la .env", "s:.env"),
            ("echo .env", ""),
            ("chmod +x a", "w:a"),
            ("ln -s a b", "s:a w:b"),
            ("foo --file=.env x", "?:.env ?:x"),
            ("./run x", "r:./run ?:x"),
            ("python3 a.py b", "r:a.py ?:b"),
            ("unzip a.zip -d out", "w:out r:a.zip"),
            ("test -f .env", "s:.env"),
            ("scp a h:b", "r:a"),
            ("ssh -i key h", "r:key"),
            ("docker run --env-file .env img", "s:.env"),
            ("docker cp .env web:/tmp", "r:.env"),
            ("docker cp web:/tmp/x out", "w:out"),
            ("chmod 600 .env", "s:.env"),
            ("chmod go-rwx .env", "s:.env"),
            ("chmod 644 .env", "w:.env"),
            ("perl -i -pe s/a/b/ f", "w:f"),
            ("perl -pi.bak -e s/a/b/ f", "w:f"),
            ("perl -ne print f", "?:f"),
            ("wc -l .env", "s:.env"),
            ("wc -l < .env", "s:.env"),
            ("prettier --write a.ts", "w:a.ts"),
            ("prettier --check a.ts", "r:a.ts"),
        ] {
            if uses(line) != expected {
                wrong.push(format!("{line}: {} instead of {expected}", uses(line)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_row_of_the_table_can_be_read() {
        let count = table::check().unwrap();
        assert!(count > 250, "{count}");
    }
}
