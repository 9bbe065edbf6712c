//! What is remembered between two calls of `crosier hook` in a session: context that waits for an event that can take
//! it, how often in a row hooks resumed the agent, and what the person was already told.
//!
//! One small file per agent and session in the state folder, readable only by its owner, limited in size, and removed
//! with the session. If nothing can be stored, decisions are still made: an error here never becomes an allow.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crosier_dialect::{Answer, Call, Verdict};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How often in a row hooks may resume an agent that has no limit of its own.
const MAX_RESUMES: u32 = 8;
/// How long context waits.
const MAX_AGE: Duration = Duration::from_secs(3600);
/// How many bytes of context can wait.
const MAX_CONTEXT: usize = 64 * 1024;
/// How much of the reason of a resume is remembered, in characters.
const MAX_REASON: usize = 200;
/// How many subjects of messages are remembered.
const MAX_TOLD: usize = 256;
/// How long a session is remembered if it never ended.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// What is remembered.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// Texts that wait, each with the time it was added, in seconds.
    context: Vec<(u64, String)>,
    resumes: u32,
    /// Why a hook resumed the agent, if the previous answer did so.
    resumed: Option<String>,
    /// The hooks whose failure the person was told.
    told: Vec<String>,
}

/// The answer to a call, which depends on what the session remembers.
pub(super) fn answer(state: Option<&Path>, call: &Call, verdict: Verdict) -> Answer {
    let Some(path) = state.and_then(|state| path_of(state, call)) else { return without(call, verdict) };
    let (empty, now) = (Memory::default(), now());
    if !path.exists() {
        let (answer, memory) = decide(call, verdict.clone(), empty.clone(), now);
        if memory == empty {
            return answer;
        }
    }
    match remember(&path, |memory| decide(call, verdict.clone(), memory, now)) {
        Ok(answer) => answer,
        Err(error) => {
            let mut answer = without(call, verdict);
            answer.log.push(format!("the session's state cannot be kept at {}: {error}", path.display()));
            answer
        }
    }
}

/// The answer when nothing can be remembered: an agent without a limit is resumed once.
fn without(call: &Call, mut verdict: Verdict) -> Answer {
    let again = call.sent("stop_hook_active").is_some_and(|active| active.text() == "true");
    if again && call.agent.resumes.is_none() {
        verdict.resume = None;
    }
    let mut answer = call.answer(&verdict);
    answer
        .log
        .extend(answer.waits.iter().map(|text| format!("context that could not be kept for later: {text}")));
    answer
}

/// The answer, and the new memory.
fn decide(call: &Call, mut verdict: Verdict, mut memory: Memory, now: u64) -> (Answer, Memory) {
    match call.entry.event {
        "SessionStart" => {
            // An agent that has compacted its conversation starts the same session again, before the same person.
            let is_same = call.text("source").is_some_and(|source| source == "compact");
            let told = if is_same { memory.told } else { Vec::new() };
            memory = Memory { told, ..Memory::default() };
        }
        // Some agents send the reason of a resume as a prompt, which does not come from a person.
        "UserPromptSubmit" if !is_resume(call, memory.resumed.as_deref()) => memory.resumes = 0,
        _ => {}
    }
    memory.resumed = None;
    memory.context.retain(|(at, _)| now.saturating_sub(*at) < MAX_AGE.as_secs());
    if call.takes_context() {
        let waiting = memory.context.drain(..).map(|(_, text)| text);
        verdict.context.splice(0..0, waiting);
    }
    verdict.told.retain(|told| !(told.failed && memory.told.contains(&told.hook)));
    let is_over = memory.resumes >= MAX_RESUMES && call.agent.resumes.is_none();
    if is_over && verdict.resume.take().is_some() {
        let text = format!("crosier: hooks resumed the agent {MAX_RESUMES} times in a row; now it stops");
        verdict.told.push(crosier_dialect::PersonMessage { hook: String::new(), failed: false, text });
    }
    let answer = call.answer(&verdict);
    if answer.resumed {
        memory.resumes += 1;
        memory.resumed = verdict.resume.as_deref().map(|reason| reason.chars().take(MAX_REASON).collect());
    }
    if answer.told {
        let failed = verdict.told.iter().filter(|told| told.failed);
        memory
            .told
            .extend(failed.map(|told| told.hook.clone()).take(MAX_TOLD - memory.told.len().min(MAX_TOLD)));
    }
    for text in &answer.waits {
        let size: usize = memory.context.iter().map(|(_, text)| text.len()).sum();
        if size + text.len() <= MAX_CONTEXT && !memory.context.iter().any(|(_, other)| other == text) {
            memory.context.push((now, text.clone()));
        }
    }
    if call.entry.event == "SessionEnd" {
        memory = Memory::default();
    }
    (answer, memory)
}

/// Whether a prompt is the reason with which a hook resumed the agent.
fn is_resume(call: &Call, resumed: Option<&str>) -> bool {
    let prompt = call.sent("prompt");
    let prompt = prompt.as_ref().and_then(|prompt| prompt.as_str());
    resumed.is_some_and(|reason| prompt.is_some_and(|prompt| prompt.contains(reason)))
}

/// Reads the memory, lets `change` update it, and writes it back, under a lock.
fn remember(path: &Path, change: impl FnOnce(Memory) -> (Answer, Memory)) -> io::Result<Answer> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let _held = crosier_policy::lock_file(&folder.join("lock"))?;
    let old: Memory = match crosier_policy::read_file(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Memory::default(),
        Err(error) => return Err(error),
    };
    let (answer, new) = change(old.clone());
    if new == Memory::default() {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        sweep(folder);
    } else if new != old {
        write(path, &new)?;
    }
    Ok(answer)
}

/// Writes atomically.
fn write(path: &Path, memory: &Memory) -> io::Result<()> {
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let mut file: File =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(&serde_json::to_vec(memory)?)?;
    fs::rename(&beside, path)
}

/// Removes the files of sessions that had no end event.
fn sweep(folder: &Path) {
    let old = |entry: &fs::DirEntry| {
        let age =
            entry.metadata().and_then(|meta| meta.modified()).map(|at| at.elapsed().unwrap_or_default());
        age.is_ok_and(|age| age > RETENTION) && entry.file_name() != "lock"
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(1000).filter(old) {
        let _ = fs::remove_file(entry.path());
    }
}

/// The file of a call's session; `None` when it has no session.
fn path_of(state: &Path, call: &Call) -> Option<PathBuf> {
    Some(state.join("hook").join(name_of(call)? + ".json"))
}

/// The name of a call's session, for files; `None` when it has no session.
pub(super) fn name_of(call: &Call) -> Option<String> {
    let session = Some(call.session()).filter(|session| !session.is_empty())?;
    Some(file_name(call.agent.name, session))
}

/// The file name of a session: `AGENT-ID` if the id is plain (most agents send a UUID), otherwise `AGENT.DIGEST`,
/// because other ids may not be valid file names, or may differ only in case.
fn file_name(agent: &str, session: &str) -> String {
    use std::fmt::Write as _;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if session.len() <= 64 && session.bytes().all(is_plain) {
        return format!("{agent}-{session}");
    }
    let mut name = format!("{agent}.");
    for byte in &Sha256::digest(session.as_bytes())[..12] {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn every_session_has_a_file_of_its_own() {
        let plain = "0b6d2c1e-8f3a-4c51-9d7e-2f1a3b4c5d6e";
        assert_eq!(file_name("claude", plain), format!("claude-{plain}"));
        let mut names: Vec<String> =
            ["../x", "A", "a", "a.b", "a/b", "é", &"a".repeat(65), "a\0"].map(|id| file_name("x", id)).into();
        assert!(names.iter().all(|name| name.len() < 100 && !name.contains(['/', '\0'])), "{names:?}");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 8);
    }
}
