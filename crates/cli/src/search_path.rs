//! The folders in which the programs of hooks look for code: none of them is the project's.
//!
//! A repository can make its agent set `PATH`. Then `grep` in a person's own hook, or `python3`, would be a file of the
//! repository that nobody has reviewed; with `HOME`, so would a module that python loads for every user. So folders of the
//! project are left out of such variables, except virtual environments that a person trusted.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crosier::{Handler, Layer};
use crosier_policy::{Loaded, Request};

/// Folders that only the system's administrator can change, as a rule: links in them are not followed.
const OF_THE_SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/opt", "/nix", "/snap"];

/// Variables with folders or files from which programs load code, or settings that name code, in order. Those that are
/// never inherited are in the engine's list.
#[rustfmt::skip]
const CODE: [&str; 98] = [
    "ANDROID_HOME", "ANT_HOME", "ASDF_CONFIG_FILE", "ASDF_DATA_DIR", "ASDF_DIR", "AWS_CONFIG_FILE",
    "AZURE_CONFIG_DIR", "BAT_CONFIG_DIR", "BAT_CONFIG_PATH", "BUNDLE_APP_CONFIG", "BUNDLE_GEMFILE", "BUNDLE_PATH",
    "BUNDLE_USER_HOME", "BUN_INSTALL", "CABAL_DIR", "CARGO_HOME", "CLOUDSDK_CONFIG", "CMAKE_PREFIX_PATH",
    "CMAKE_TOOLCHAIN_FILE", "COMPOSER", "COMPOSER_HOME", "CONDA_PREFIX", "COREPACK_HOME", "CPATH", "C_INCLUDE_PATH",
    "DENO_DIR", "DENO_INSTALL", "DIRENV_CONFIG", "DOCKER_CONFIG", "DOTNET_CLI_HOME", "DOTNET_ROOT", "EDITOR", "FNM_DIR",
    "GEM_HOME", "GEM_PATH", "GH_CONFIG_DIR", "GI_TYPELIB_PATH", "GNUPGHOME", "GOBIN", "GOCACHE", "GOMODCACHE", "GOPATH",
    "GOROOT", "GRADLE_HOME", "GRADLE_USER_HOME", "GROOVY_HOME", "GST_PLUGIN_PATH", "HELM_PLUGINS", "HEX_HOME",
    "INFOPATH", "INPUTRC", "JAVA_HOME", "JDK_HOME", "JRE_HOME", "JULIA_BINDIR", "KUBECONFIG", "LESSKEY", "LIBRARY_PATH",
    "M2_HOME", "MANPAGER", "MANPATH", "MAVEN_HOME", "MISE_CONFIG_DIR", "MISE_DATA_DIR", "MIX_HOME", "NODENV_ROOT",
    "NPM_CONFIG_PREFIX", "NUGET_PACKAGES", "NVM_DIR", "ODBCSYSINI", "OPAMROOT", "PAGER", "PERL_LOCAL_LIB_ROOT",
    "PGSERVICEFILE", "PIPX_HOME", "PKG_CONFIG_PATH", "PNPM_HOME", "POETRY_HOME", "PUB_CACHE", "PYENV_ROOT", "RBENV_ROOT",
    "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "SDKROOT", "SHELL", "STACK_ROOT", "TERMINFO", "TERMINFO_DIRS", "UV_PYTHON",
    "VIRTUAL_ENV", "VISUAL", "VOLTA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS",
    "XDG_DATA_HOME", "XDG_STATE_HOME",
];

/// The variables for hooks, of which none makes a program load code of the project. Files that a person named with `-c`
/// run as that person's shell would run them.
pub(crate) fn without_project(
    mut variables: Vec<(OsString, OsString)>,
    request: &Request,
    loaded: &Loaded,
) -> Vec<(OsString, OsString)> {
    let mut hooks = loaded.layers.iter().flat_map(|(_, config)| &config.hooks);
    let starts_programs =
        hooks.any(|hook| matches!(hook.handler(), Handler::Command(_) | Handler::Python(_)));
    if !request.named.is_empty() || !starts_programs {
        return variables;
    }
    let inside = Inside::new(request, loaded);
    variables.retain_mut(|(name, value)| {
        let upper = name.to_string_lossy().to_ascii_uppercase();
        let left = match upper.as_str() {
            "PATH" => inside.without(value, |folder| !folder.is_absolute()),
            "HOME" => match inside.has(Path::new(&*value)) {
                true => Left::Other(request.homes.home.clone().unwrap_or_default().into()),
                false => return true,
            },
            name if CODE.binary_search(&name).is_ok() => inside.without(value, is_from_here),
            _ => return true,
        };
        match left {
            Left::Same => true,
            Left::Other(other) if name != "PATH" && (other.is_empty() || inside.has(Path::new(&other))) => {
                false
            }
            Left::Other(other) => {
                *value = other;
                true
            }
        }
    });
    variables
}

/// Whether a path depends on the folder in which a program runs. A name without a slash may be that of a program.
fn is_from_here(path: &Path) -> bool {
    !path.is_absolute() && path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'/' | b'.'))
}

/// What is left of a value.
enum Left {
    Same,
    Other(OsString),
}

/// What belongs to the project.
struct Inside {
    roots: Vec<PathBuf>,
    /// Virtual environments that a person trusted.
    trusted: Vec<PathBuf>,
}

impl Inside {
    fn new(request: &Request, loaded: &Loaded) -> Self {
        let folders = std::iter::once(&request.project).chain(&request.entered_folders);
        Self {
            roots: folders.filter_map(|folder| root_of(folder, request)).collect(),
            trusted: loaded
                .sources(Layer::Project(0))
                .map(|sources| sources.python().units)
                .unwrap_or_default(),
        }
    }

    /// A value that may be a list of paths, without those of the project and those that `also` says.
    fn without(&self, value: &OsStr, also: impl Fn(&Path) -> bool) -> Left {
        let is_out = |path: &PathBuf| also(path) || self.has(path);
        let all: Vec<PathBuf> = std::env::split_paths(value).collect();
        if !all.iter().any(is_out) {
            return Left::Same;
        }
        let kept = all.iter().filter(|path| !is_out(path));
        Left::Other(std::env::join_paths(kept).unwrap_or_default())
    }

    fn has(&self, path: &Path) -> bool {
        let real = match OF_THE_SYSTEM.iter().any(|system| path.starts_with(system)) {
            true => path.to_owned(),
            false => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        };
        self.roots.iter().any(|root| path.starts_with(root) || real.starts_with(root))
            && !self.trusted.iter().any(|unit| path.starts_with(unit))
    }
}

/// The repository that a project folder is in, or else the folder. `None` if it is the home folder, or above it: a
/// person's own programs are there.
fn root_of(project: &Path, request: &Request) -> Option<PathBuf> {
    let root = repository(&crosier_policy::real(project));
    let holds = |folder: &PathBuf| folder.starts_with(&root);
    (root.parent().is_some() && !request.homes.home.as_ref().is_some_and(holds)).then_some(root)
}

/// The repository that a folder is in, or else the folder.
pub(crate) fn repository(folder: &Path) -> PathBuf {
    folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder).to_owned()
}
