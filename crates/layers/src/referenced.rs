//! The files that the managed and the user's layer refer to: packs, scripts, rules, and the code of their hooks.
//!
//! Whoever can write such a file has the power of the layer. So it must belong to the same owners as the files of the
//! layer, and nobody else may be able to write to it or to replace it. Not every file that a hook names is checked: only
//! files below the layer's folder, and code below the person's home folder. For the managed layer, all code that a hook
//! names by its path is checked.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crosier::config::Config;
use crosier::{CommandSpec, Cwd, Handler, Hook, Layer, Program, PythonSpec};

use crate::owner::{self, Person, Writers};

/// The endings of files that interpreters run.
const CODE: [&str; 11] = ["arma", "bash", "cjs", "js", "lua", "mjs", "php", "pl", "py", "rb", "sh"];

/// The first file that a layer refers to and that others can change, and why it is refused.
pub(crate) fn refused(
    layer: Layer,
    config: &Config,
    person: Person,
    home: Option<&Path>,
) -> Option<(PathBuf, String)> {
    let writers = match layer {
        Layer::Managed => Writers::Root,
        Layer::User => Writers::Person(person),
        _ => return None,
    };
    let mut checker = Checker { writers, home, checked: HashSet::new(), listed: HashSet::new() };
    let files = config.files.iter().find_map(|file| checker.check(file));
    let hooks = || config.hooks.iter().chain(config.agents.iter().flat_map(|agent| &agent.hooks));
    files.or_else(|| hooks().find_map(|hook| checker.hook(hook)))
}

struct Checker<'a> {
    writers: Writers,
    home: Option<&'a Path>,
    /// The folders above files that were checked.
    checked: HashSet<PathBuf>,
    /// The folders whose modules were checked.
    listed: HashSet<PathBuf>,
}

type Refused = Option<(PathBuf, String)>;

impl Checker<'_> {
    fn hook(&mut self, hook: &Hook) -> Refused {
        match hook.handler() {
            Handler::Command(spec) => self.command(spec),
            Handler::Python(spec) => self.python(spec),
            _ => None,
        }
    }

    fn command(&mut self, spec: &CommandSpec) -> Refused {
        let base = match &spec.cwd {
            Cwd::Folder(folder) => folder,
            _ => &spec.project_dir,
        };
        match &spec.program {
            Program::Argv(words) => words.iter().find_map(|word| self.word(word, base, &spec.project_dir)),
            // A word that only looks like a file does no harm: it costs one look at the disk.
            Program::Shell(line) => {
                let is_between = |c: char| c.is_whitespace() || ";&|<>()'\"`".contains(c);
                let mut words = line.split(is_between).filter(|word| !word.is_empty());
                words.find_map(|word| self.word(word, base, &spec.project_dir))
            }
            _ => None,
        }
    }

    /// Checks the file that a word of a command names, if it is one.
    fn word(&mut self, word: &str, base: &Path, folder: &Path) -> Refused {
        // An option such as `--rules=file` also names a file.
        let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
        let after =
            |names: [&str; 2]| names.into_iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('/'));
        let path = if let Some(rest) = after(["$CROSIER_CONFIG_DIR", "${CROSIER_CONFIG_DIR}"]) {
            folder.join(rest)
        } else if let Some(rest) = after(["$HOME", "${HOME}"]).or_else(|| word.strip_prefix("~/")) {
            self.home?.join(rest)
        } else {
            base.join(word)
        };
        let is_below = path.starts_with(folder) || path.starts_with(base);
        (is_below || self.is_code_to_check(&path)).then(|| self.check(&path)).flatten()
    }

    /// Whether a file outside the folder of the layer is code that must be checked.
    fn is_code_to_check(&self, path: &Path) -> bool {
        let is_near = match self.writers {
            Writers::Root => true,
            _ => self.home.is_some_and(|home| path.starts_with(home)),
        };
        let is_code = || path.extension().and_then(|end| end.to_str()).is_some_and(|end| CODE.contains(&end));
        is_near && (is_code() || fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o111 != 0))
    }

    /// Checks the interpreter, the module, and everything that it can import from the folder of the configuration.
    fn python(&mut self, spec: &PythonSpec) -> Refused {
        let interpreter = Path::new(&spec.interpreter);
        if interpreter.starts_with(&spec.project_dir)
            && let Some(refused) = self.check(interpreter)
        {
            return Some(refused);
        }
        for folder in &spec.paths {
            let mut path = folder.clone();
            for part in spec.module.split('.') {
                path.push(part);
                for file in [path.join("__init__.py"), path.with_extension("py")] {
                    if let Some(refused) = self.check(&file) {
                        return Some(refused);
                    }
                }
            }
            let package = folder.join(spec.module.split('.').next().unwrap_or_default());
            let modules = [(folder == &spec.project_dir).then_some(folder), Some(&package)];
            if let Some(refused) = modules.into_iter().flatten().find_map(|folder| self.modules(folder)) {
                return Some(refused);
            }
        }
        None
    }

    /// Checks the modules in a folder.
    fn modules(&mut self, folder: &Path) -> Refused {
        if !self.listed.insert(folder.to_owned()) {
            return None;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut modules = entries.filter(|path| path.extension().is_some_and(|end| end == "py"));
        modules.find_map(|path| self.check(&path))
    }

    /// Why a file is refused; `None` if it is safe, or is not a file.
    fn check(&mut self, path: &Path) -> Refused {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let refused = |why: String| Some((path.to_owned(), why));
        if let Err(why) = owner::check(&meta, self.writers) {
            return refused(why);
        }
        let folder = path.parent().unwrap_or(path);
        let is_new = self.checked.insert(folder.to_owned());
        if is_new && let Err(why) = owner::check_folders(path, self.writers) {
            return refused(why);
        }
        if (is_new || path.is_symlink())
            && let Ok(real) = fs::canonicalize(path)
            && real != path
            && let Err(why) = owner::check_folders(&real, self.writers)
        {
            return refused(why);
        }
        None
    }
}
