//! One entry of the list: as it is written, and as it is compared.

use crosier::Decision;

use super::spare::Spare;
use crate::token::{WildcardSet, Wildcards};

/// An entry as it is written; the first lines of `commands.yaml` explain its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntrySource<'a> {
    pub(crate) id: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) instead: &'a str,
    pub(crate) stops: &'a str,
    pub(crate) passes: &'a str,
    pub(super) programs: &'a [&'a str],
    pub(super) words: &'a [&'a str],
    pub(super) targets: &'a [&'a str],
    pub(super) operands: &'a [&'a str],
    pub(super) text: &'a [&'a str],
    pub(super) reads: &'a [&'a str],
    pub(super) writes: &'a [&'a str],
    pub(super) from: &'a [&'a str],
    pub(super) except: &'a [&'a str],
    pub(super) flags: &'a [&'a [&'a str]],
    pub(super) unless: &'a [&'a [&'a str]],
    pub(crate) decision: Decision,
    pub(super) special: Option<Special>,
    pub(super) spare: Option<Spare>,
}

/// An entry in the form that is compared with commands.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) programs: Vec<Wildcards>,
    pub(super) words: Vec<Vec<Wildcards>>,
    pub(super) flags: Vec<Vec<String>>,
    pub(super) targets: Vec<Target>,
    pub(super) operands: WildcardSet,
    pub(super) text: Vec<Wildcards>,
    pub(super) reads: WildcardSet,
    pub(super) writes: WildcardSet,
    pub(super) from: Vec<Wildcards>,
    pub(super) except: WildcardSet,
    pub(super) unless: Vec<Vec<String>>,
    pub(super) special: Option<Special>,
    pub(super) spare: Option<Spare>,
    pub(super) reason: String,
    pub(super) instead: String,
}

impl Entry {
    pub(super) fn new(source: &EntrySource<'_>) -> Self {
        Self {
            programs: globs(source.programs),
            words: source.words.iter().map(|word| alternatives(word)).collect(),
            flags: groups(source.flags),
            targets: source.targets.iter().map(|text| Target::new(text)).collect(),
            operands: globs(source.operands).into(),
            text: globs(source.text),
            reads: globs(source.reads).into(),
            writes: globs(source.writes).into(),
            from: globs(source.from),
            except: globs(source.except).into(),
            unless: groups(source.unless),
            special: source.special,
            spare: source.spare,
            reason: source.reason.to_owned(),
            instead: source.instead.to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// One of the listed places, a home folder or a parent of the current folder, or everything in it; as this operand.
    Top(Operand),
    /// Something below a folder of the system.
    System,
    /// A folder directly inside a home folder.
    HomeFolder,
    /// A folder beside the one where the line starts.
    Beside,
    /// An absolute path in a container or on another machine.
    Elsewhere,
    /// Everything in the folder where it runs.
    Here,
    /// The folder where it runs is one of the listed places or a home folder.
    InTop,
    /// A path that is known only at run time.
    Unknown,
    Path(Wildcards),
}

impl Target {
    fn new(text: &str) -> Self {
        match text {
            "TOP" => Self::Top(Operand::Any),
            "SYSTEM" => Self::System,
            "HOME_FOLDER" => Self::HomeFolder,
            "BESIDE" => Self::Beside,
            "IN_TOP" => Self::InTop,
            "ELSEWHERE" => Self::Elsewhere,
            "TOP_SOURCE" => Self::Top(Operand::NotLast),
            "TOP_LAST" => Self::Top(Operand::Last),
            "HERE" => Self::Here,
            "UNKNOWN" => Self::Unknown,
            text => Self::Path(Wildcards::new(text)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Any,
    Last,
    NotLast,
}

/// A check that goes beyond comparing words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    ForkBomb,
    Power,
    KillAll,
    /// SQL that drops, or changes every row.
    Sql,
    /// A file with secrets, or the environment, goes to another machine.
    Exfiltration,
    /// A well-known key in a variable is shown, or sent to a host other than its issuer.
    ShownKey,
    /// Code of another language that would be stopped as a command.
    Code,
    /// Code that a program makes when the line runs.
    MadeCode,
    /// A program that the line itself has downloaded.
    Fetched,
    /// It runs the lines that it reads.
    RunsInput,
    /// The line has switched to a branch that everybody builds on.
    SharedBranch,
    /// A program out of a repository or an archive that the line itself has fetched.
    Cloned,
    /// A shell in a container or on another machine that reads its commands from here.
    RemoteInput,
    /// The environment of a container or of another machine is shown.
    RemoteEnvironment,
    /// The whole environment is shown or written to a file.
    Environment,
    /// A file gets code that runs later, or words that mislead an agent.
    WrittenCode,
    /// Its operands are the results of a search through a whole system or home folder.
    Found,
    /// Its operands are the results of any search.
    AnyFound,
    /// An address on another machine is among its words.
    RemoteCall,
    /// A verb among its first words deletes for good.
    Verb,
    /// It truncates many files.
    EmptiesMany,
    /// A loop without an end starts programs, writes files or calls other machines.
    Endless,
    /// It gets more than any disk holds from the command before it.
    EndlessInput,
    /// It writes a file that is larger than most disks.
    Huge,
    /// It runs as root.
    AsRoot,
    /// It waits for commands, as root.
    RootShell,
    /// The line fetches code, or sends credentials, without the check of certificates that this switches off.
    Unchecked,
    /// A package, or the index for it, is an address that not everybody uses.
    PackageAddress,
    /// It says something through `/dev/tcp`.
    NetFile,
    /// A call of a forge's API that changes something.
    ForgeChange,
    /// A file goes to another machine as it is.
    SentFile,
    /// Its operands are all sources of one language: `*.py`.
    AllSources,
    /// It reads the changes that are in no commit.
    OwnDiff,
    /// Its operands are files that git lists because it does not have them.
    Untracked,
    /// Its operands are processes, picked by a word that fits those of many programs.
    BroadSearch,
    /// A script for the desktop of macOS that does more than look.
    Desktop,
}

impl Special {
    /// Whether it is cheap to check and rarely true.
    pub(super) fn is_quick(self) -> bool {
        matches!(
            self,
            Self::ForkBomb | Self::Endless | Self::EndlessInput | Self::Huge | Self::AsRoot | Self::RootShell
        )
    }
}

/// Globs that ignore case.
fn globs(texts: &[&str]) -> Vec<Wildcards> {
    texts.iter().map(|text| glob(text)).collect()
}

pub(super) fn glob(text: &str) -> Wildcards {
    Wildcards::new(&text.to_lowercase())
}

/// Expands `{a,b}` into alternatives.
fn alternatives(text: &str) -> Vec<Wildcards> {
    match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        Some(inside) => inside.split(',').map(|part| glob(part.trim())).collect(),
        None => vec![glob(text)],
    }
}

/// Flags without their dashes.
fn groups(groups: &[&[&str]]) -> Vec<Vec<String>> {
    let bare = |name: &&str| name.trim_start_matches('-').to_owned();
    groups.iter().map(|group| group.iter().map(bare).collect()).collect()
}
