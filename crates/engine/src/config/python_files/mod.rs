//! Finds the files that python loads for a hook, without running anything.
//!
//! Imports are followed in the sources. A package is always taken as a whole, because its parts may be
//! imported by names that are only known at run time.

mod scan;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use scan::{Import, scan};

/// The maximum number of files that are followed.
const MAX_FILES: usize = 5_000;
/// A larger source is not read.
const MAX_SOURCE: u64 = 16 * 1024 * 1024;
/// The maximum nesting of folders in a package.
const MAX_DEPTH: usize = 32;

/// The files that python loads for a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PythonFiles {
    /// The sources, sorted by path. Each path begins with the folder in which the file was found.
    pub files: Vec<PathBuf>,
    /// Files that may load more than was found, each with the reason.
    pub unseen: Vec<(PathBuf, String)>,
}

/// Finds the files below these folders that python loads for a hook's module, such as `guard` for the handler
/// `guard.check`. Nothing is run. Pass [`PythonSpec::paths`](crate::PythonSpec::paths), or a part of them.
///
/// A module that is in none of the folders (the standard library, an installed package) adds nothing. Imports
/// by a name that is computed at run time cannot be found; [`PythonFiles::unseen`] says where that may
/// happen. A worker with a record ([`Sources`](crate::Sources)) refuses a module that was missed: an `import`
/// failure, which denies.
#[must_use]
pub fn python_files(module: &str, folders: &[PathBuf]) -> PythonFiles {
    let mut search = Search {
        folders,
        files: BTreeSet::new(),
        unseen: BTreeSet::new(),
        todo: Vec::new(),
        packages: BTreeSet::new(),
    };
    search.absolute(module);
    while let Some(file) = search.todo.pop() {
        search.follow(&file);
    }
    PythonFiles { files: search.files.into_iter().collect(), unseen: search.unseen.into_iter().collect() }
}

struct Search<'a> {
    folders: &'a [PathBuf],
    files: BTreeSet<PathBuf>,
    unseen: BTreeSet<(PathBuf, String)>,
    todo: Vec<PathBuf>,
    /// The packages that were added.
    packages: BTreeSet<PathBuf>,
}

/// Whether there is a python source directly in a folder, not below it.
fn has_source(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| entry.path().extension().is_some_and(|ending| ending == "py"))
}

impl Search<'_> {
    /// Adds what a file imports.
    fn follow(&mut self, file: &Path) {
        let is_small = fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_SOURCE);
        let source = if is_small { fs::read(file).ok() } else { None };
        let Some(source) = source else {
            self.note(file, "cannot be read");
            return;
        };
        let imports = scan(&source);
        for why in imports.unseen {
            self.note(file, why);
        }
        for import in imports.found {
            self.import(file, &import);
        }
    }

    fn import(&mut self, file: &Path, import: &Import) {
        if import.level == 0 {
            return self.absolute(&import.module);
        }
        // One dot means the folder of the file, which is its package.
        let Some(folder) = file.ancestors().nth(import.level) else { return };
        let folder = folder.to_owned();
        if import.module.is_empty() {
            import.names.iter().for_each(|name| self.module_in(&folder, name));
        } else {
            self.module_in(&folder, &import.module);
        }
    }

    fn absolute(&mut self, module: &str) {
        for folder in self.folders {
            self.module_in(folder, module);
        }
    }

    /// Adds the module with this dotted name: its whole top-level package, or its file.
    fn module_in(&mut self, folder: &Path, module: &str) {
        let first = module.split('.').next().unwrap_or_default();
        if first.is_empty() || first.contains('/') {
            return;
        }
        let package = folder.join(first);
        let file = folder.join(format!("{first}.py"));
        // Without `__init__.py` a folder is a package too, if nothing else has its name. A folder of that name may also
        // be something else, so it counts only if the module is in it.
        let is_within = || {
            let inner = folder.join(module.replace('.', "/"));
            inner.with_extension("py").is_file() || inner.join("__init__.py").is_file() || has_source(&inner)
        };
        if package.join("__init__.py").is_file() || (!file.is_file() && package.is_dir() && is_within()) {
            self.package(&package, 0);
        }
        // Next to a package of the same name it is refused at run time, but a person who trusts the project
        // should see both.
        if file.is_file() {
            self.add(file);
        }
    }

    /// Adds every source of a package.
    fn package(&mut self, folder: &Path, depth: usize) {
        if depth == 0 && !self.packages.insert(folder.to_owned()) {
            return;
        }
        if depth > MAX_DEPTH {
            return self.note(folder, "is nested too deeply");
        }
        let Ok(entries) = fs::read_dir(folder) else { return self.note(folder, "cannot be read") };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "__pycache__") {
                    self.package(&path, depth + 1);
                }
            } else if path.extension().is_some_and(|ending| ending == "py") {
                self.add(path);
            }
        }
    }

    fn add(&mut self, file: PathBuf) {
        if self.files.len() >= MAX_FILES {
            return self.note(&file, "comes after more files than are followed");
        }
        if self.files.insert(file.clone()) {
            self.todo.push(file);
        }
    }

    fn note(&mut self, file: &Path, why: &str) {
        if self.unseen.len() < MAX_FILES {
            self.unseen.insert((file.to_owned(), why.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(module: &str, files: &[(&str, &str)]) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let folders = [folder.path().to_owned(), folder.path().join("lib")];
        let found = python_files(module, &folders);
        let show = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().display().to_string();
        let unseen = found.unseen.iter().map(|(path, why)| format!("{} {why}", show(path)));
        (found.files.iter().map(show).collect::<Vec<_>>().join(" "), unseen.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn imports_are_followed_and_packages_count_as_a_whole() {
        let project = [
            ("guard.py", "import json, rules\nfrom . import near\nfrom lib_of import x"),
            ("rules.py", "def f():\n    import pkg.deep.part"),
            ("near.py", "import guard"),
            ("pkg/__init__.py", ""),
            ("pkg/deep/part.py", "from ..other import x\nfrom ... import above"),
            ("pkg/deep/__init__.py", ""),
            ("pkg/other.py", "from .. import above"),
            ("pkg/__pycache__/other.py", ""),
            ("pkg/data.txt", ""),
            ("above.py", ""),
            ("lib/lib_of.py", "__import__(name)"),
            ("unused.py", "import nothing"),
        ];
        let (found, unseen) = files("guard", &project);
        let all = "above.py guard.py lib/lib_of.py near.py pkg/__init__.py pkg/deep/__init__.py pkg/deep/part.py \
                   pkg/other.py rules.py";
        assert_eq!(found, all);
        assert_eq!(unseen, "lib/lib_of.py imports a module by a name that is made at run time");
        assert_eq!(files("pkg.deep.part", &project).0.split(' ').count(), 5);
        assert_eq!(files("missing", &project).0, "");
    }

    #[test]
    fn a_folder_without_init_is_a_package_if_the_module_is_in_it() {
        let project = [
            ("policies/guard.py", "from policies.deep import rules\nimport other, data.missing, plain"),
            ("policies/deep/rules.py", ""),
            ("policies/words.txt", ""),
            ("data/x.json", ""),
            ("other.py", ""),
            ("other/not.py", ""),
            ("plain/a.py", ""),
        ];
        assert_eq!(
            files("policies.guard", &project).0,
            "other.py plain/a.py policies/deep/rules.py policies/guard.py"
        );
    }

    #[test]
    fn a_loop_of_folders_ends() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("pkg")).unwrap();
        fs::write(folder.path().join("pkg/__init__.py"), "").unwrap();
        std::os::unix::fs::symlink(".", folder.path().join("pkg/again")).unwrap();
        let found = python_files("pkg", &[folder.path().to_owned()]);
        assert!(found.files.len() <= MAX_DEPTH + 2 && !found.unseen.is_empty());
    }
}
