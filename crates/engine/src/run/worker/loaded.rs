//! The hooks that a worker has loaded, and the files that they consist of.
//!
//! The files are checked here before each call, and not by the worker, because python takes several times as
//! long. A hook whose files changed is reloaded in the same round trip as the call.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::super::os::{self, Stamp};
use super::response::Response;
use crate::registry::PythonSpec;

/// A worker that has loaded this many hooks is not used again: hooks come and go with agents, but it never
/// unloads one.
const MAX_LOADED: usize = 1024;

/// A worker identifies hooks by their index in this list. A name is not enough: another hook may have the
/// same name later.
#[derive(Debug, Default)]
pub(super) struct Loaded(Vec<LoadedHook>);

#[derive(Debug)]
struct LoadedHook {
    spec: Arc<PythonSpec>,
    hook: Arc<str>,
    /// As the worker found them; `None` if it could not load the hook, or has not yet.
    files: Option<Files>,
}

type Files = BTreeMap<String, Option<Stamp>>;

/// What a worker reports about a hook that it has loaded.
#[derive(Deserialize)]
struct LoadReport {
    watched: Files,
}

impl Loaded {
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MAX_LOADED
    }

    /// The number of a hook, if it is loaded and its files have not changed since.
    pub(super) fn fresh(&self, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> Option<usize> {
        let number = self.position(spec, hook)?;
        let files = self.0.get(number)?.files.as_ref()?;
        files.iter().all(|(path, known)| os::stamp(path) == *known).then_some(number)
    }

    /// The number under which a hook is loaded.
    pub(super) fn number(&mut self, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> usize {
        self.position(spec, hook).unwrap_or_else(|| {
            self.0.push(LoadedHook { spec: Arc::clone(spec), hook: Arc::clone(hook), files: None });
            self.0.len() - 1
        })
    }

    /// Remembers the files of a hook that was loaded.
    pub(super) fn learn(&mut self, number: usize, response: &Response) {
        let facts = match response {
            Response::Reply(bytes) => serde_json::from_slice::<LoadReport>(bytes).ok(),
            Response::Nothing | Response::Failed(_) => None,
        };
        if let Some(known) = self.0.get_mut(number) {
            known.files = facts.map(|facts| facts.watched);
        }
    }

    /// The worker has imported something that may be part of any hook: all of them are loaded again before they are
    /// called, to learn their files; except one that was just loaded.
    pub(super) fn forget_files(&mut self, except: Option<usize>) {
        for (number, known) in self.0.iter_mut().enumerate() {
            if Some(number) != except {
                known.files = None;
            }
        }
    }

    fn position(&self, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> Option<usize> {
        self.0.iter().position(|known| Arc::ptr_eq(&known.spec, spec) && known.hook == *hook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_fresh_while_its_files_are_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guard.py");
        std::fs::write(&path, "1").unwrap();
        let path = path.to_str().unwrap();
        let (spec, hook) = (Arc::new(PythonSpec::new("guard.check", "/cfg").unwrap()), Arc::from("no-rm"));
        let mut loaded = Loaded::default();
        assert_eq!((loaded.fresh(&spec, &hook), loaded.number(&spec, &hook)), (None, 0));
        let Stamp { modified: time, changed: change, size, inode: file } = os::stamp(path).unwrap();
        let learn = |loaded: &mut Loaded, stamp: &str| {
            let facts = format!(r#"{{"file":"x","watched":{{{path:?}:{stamp}}}}}"#);
            loaded.learn(0, &Response::Reply(facts.into_bytes()));
            loaded.fresh(&spec, &hook)
        };
        assert_eq!(learn(&mut loaded, &format!("[{time},{change},{size},{file}]")), Some(0));
        assert_eq!(learn(&mut loaded, &format!("[{time},{change},{size},{}]", file + 1)), None);
        assert_eq!(learn(&mut loaded, &format!("[{},{change},{size},{file}]", time + 1)), None);
        assert_eq!(learn(&mut loaded, &format!("[{time},{},{size},{file}]", change + 1)), None);
        assert_eq!(learn(&mut loaded, &format!("[{time},{change},{},{file}]", size + 1)), None);
        assert_eq!(learn(&mut loaded, "null"), None);
        assert_eq!(learn(&mut loaded, "\"nonsense\""), None);
        assert_eq!(learn(&mut loaded, &format!("[{time},{change},{size},{file}]")), Some(0));
        loaded.forget_files(Some(0));
        assert_eq!(loaded.fresh(&spec, &hook), Some(0));
        loaded.forget_files(None);
        assert_eq!(loaded.fresh(&spec, &hook), None);
        assert_eq!(learn(&mut loaded, &format!("[{time},{change},{size},{file}]")), Some(0));
        std::fs::remove_file(path).unwrap();
        assert_eq!(loaded.fresh(&spec, &hook), None);
        assert_eq!(learn(&mut loaded, "null"), Some(0));
        // It keeps its number, and another hook gets a different one.
        assert_eq!((loaded.number(&spec, &hook), loaded.number(&spec, &Arc::from("other"))), (0, 1));
    }
}
