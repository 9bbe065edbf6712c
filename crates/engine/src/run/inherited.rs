//! Which variables hooks do not inherit: credentials, and what changes the code that programs load.

use std::borrow::Cow;
use std::ffi::OsStr;

/// Whether a variable looks like a credential, or changes what programs load. Hooks inherit such a variable
/// only if their configuration names it. Hosts can use this for processes that they start themselves.
#[must_use]
pub fn is_secret_or_loader(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    // Most names are in capital letters already.
    let name = match name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        true => Cow::Owned(name.to_ascii_uppercase()),
        false => name,
    };
    is_secret(&name, value) || is_loader(&name)
}

fn is_secret(name: &str, value: &OsStr) -> bool {
    const ENDS: [&str; 7] = ["_KEY", "_TOKEN", "_SECRET", "_PWD", "_PASS", "_PAT", "_DSN"];
    ENDS.iter().any(|end| name.ends_with(end))
        || has_part_of_secret(name.as_bytes())
        || name == "SSH_AUTH_SOCK"
        || ((name.ends_with("_URL") || name.ends_with("_URI")) && has_password(&value.to_string_lossy()))
}

/// Whether a name contains a word for secrets. In one pass, because every variable is looked at for every event.
fn has_part_of_secret(name: &[u8]) -> bool {
    (0..name.len()).any(|at| {
        let rest = name.get(at..).unwrap_or_default();
        match rest.first() {
            Some(b'P') => rest.starts_with(b"PASSWORD") || rest.starts_with(b"PASSPHRASE"),
            Some(b'C') => rest.starts_with(b"CREDENTIAL"),
            Some(b'J') => rest.starts_with(b"JWT"),
            _ => false,
        }
    })
}

/// Whether programs load code, options or settings because of this variable, whatever they were started for.
fn is_loader(name: &str) -> bool {
    /// `BASH_FUNC_`: an exported function takes the place of a command in every script of bash.
    const STARTS: [&str; 9] =
        ["BASH_FUNC_", "COMPLUS_", "DYLD_", "GIT_", "LD_", "LUA_CPATH", "LUA_INIT", "LUA_PATH", "TS_NODE_"];
    STARTS.iter().any(|start| name.starts_with(start)) || LOADERS.binary_search(&name).is_ok()
}

/// In order, because they are searched.
#[rustfmt::skip]
const LOADERS: [&str; 138] = [
    "ACKRC", "ANT_OPTS", "AWKLIBPATH", "AWKPATH", "BASHOPTS", "BASH_ENV", "BASH_LOADABLES_PATH", "BROWSER",
    "BUN_OPTIONS", "CAML_LD_LIBRARY_PATH", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER", "CDPATH", "CLASSPATH", "CORECLR_ENABLE_PROFILING", "COR_ENABLE_PROFILING",
    "COVERAGE_PROCESS_START", "CURL_HOME", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE",
    "DOTNET_STARTUP_HOOKS", "ELIXIR_ERL_OPTIONS", "EMACSLOADPATH", "ENV", "ERL_AFLAGS", "ERL_FLAGS",
    "ERL_LIBS", "ERL_ZFLAGS", "EXINIT", "FPATH", "GCONV_PATH", "GHCRTS", "GHC_ENVIRONMENT",
    "GHC_PACKAGE_PATH", "GIO_EXTRA_MODULES", "GLIBC_TUNABLES", "GNUMAKEFLAGS", "GOENV", "GOFLAGS",
    "GRADLE_OPTS", "GREP_OPTIONS", "GTK_MODULES", "GTK_PATH", "GUILE_LOAD_COMPILED_PATH", "GUILE_LOAD_PATH",
    "HGRCPATH", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JULIA_DEPOT_PATH", "JULIA_LOAD_PATH",
    "JULIA_PROJECT", "KRB5_CONFIG", "LESSCLOSE", "LESSOPEN", "LOCPATH", "MAKEFILES", "MAKEFLAGS",
    "MAVEN_ARGS", "MAVEN_OPTS", "NLSPATH", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE",
    "NPM_CONFIG_GLOBALCONFIG", "NPM_CONFIG_NODE_OPTIONS", "NPM_CONFIG_SCRIPT_SHELL", "NPM_CONFIG_USERCONFIG",
    "OCAMLRUNPARAM", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "PERL5DB", "PERL5LIB", "PERL5OPT",
    "PERLLIB", "PERL_USE_UNSAFE_INC", "PHPRC", "PHP_INI_SCAN_DIR", "PIP_CONFIG_FILE", "PROMPT_COMMAND", "PS4",
    "PSMODULEPATH", "PSQLRC", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONBREAKPOINT", "PYTHONCASEOK",
    "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONWARNINGS", "PYTHON_PRESITE",
    "QT_PLUGIN_PATH", "RIPGREP_CONFIG_PATH", "RSYNC_RSH", "RUBYGEMS_GEMDEPS", "RUBYLIB", "RUBYOPT",
    "RUBYSHELL", "RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTDOC", "RUSTDOCFLAGS", "RUSTFLAGS",
    "R_ENVIRON", "R_ENVIRON_USER", "R_HOME", "R_LIBS", "R_LIBS_SITE", "R_LIBS_USER", "R_PROFILE",
    "R_PROFILE_USER", "SASL_PATH", "SBT_OPTS", "SHELLOPTS", "SSH_ASKPASS", "SUDO_ASKPASS", "TAR_OPTIONS",
    "TCLLIBPATH", "TCL_LIBRARY", "TSX_TSCONFIG_PATH", "UNZIP", "VIMINIT", "VIMRUNTIME", "WGETRC", "ZDOTDIR",
    "ZIPOPT", "_JAVA_OPTIONS", "__PYVENV_LAUNCHER__",
];

/// Whether a URL contains a password: `scheme://user:password@host`, or as a parameter.
fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let userinfo = rest.rsplit_once('@').map_or("", |(userinfo, _)| userinfo);
    let in_userinfo = userinfo.split_once(':').is_some_and(|(_, password)| !password.is_empty());
    in_userinfo || rest.to_ascii_lowercase().contains("password=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_loaders_are_held_back() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GH_TOKEN",
            "AWS_SECRET",
            "db_password",
            "PGPASSWORDFILE",
            "MY_CREDENTIALS",
            "LD_PRELOAD",
            "DYLD_X",
            "BASH_ENV",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "GIT_DIR",
            "MYSQL_PWD",
            "DB_PASS",
            "GITHUB_PAT",
            "SENTRY_DSN",
            "SUPABASE_JWT_X",
            "SSH_AUTH_SOCK",
            "ENV",
            "SHELLOPTS",
            "BASHOPTS",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "_JAVA_OPTIONS",
            "GPG_PASSPHRASE",
            "PERL5LIB",
            "RUBYLIB",
            "NODE_PATH",
            "GCONV_PATH",
            "LUA_INIT",
            "LUA_INIT_5_4",
            "PYTHONHOME",
            "BASH_FUNC_grep%%",
            "ZDOTDIR",
            "RIPGREP_CONFIG_PATH",
            "PHPRC",
            "BUN_OPTIONS",
            "OPENSSL_CONF",
            "LUA_PATH",
            "LUA_PATH_5_4",
            "LUA_CPATH",
            "GLIBC_TUNABLES",
            "PYTHONUSERBASE",
            "PYTHONWARNINGS",
            "PYTHONPYCACHEPREFIX",
            "BROWSER",
            "TAR_OPTIONS",
            "MAKEFLAGS",
            "npm_config_script_shell",
        ] {
            assert!(is_secret_or_loader(OsStr::new(name), OsStr::new("x")), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "TOKENIZER",
            "LDAP",
            "GITHUB_REF",
            "PYTHONUNBUFFERED",
            "ENVIRONMENT",
            "COMPASS",
            "BASE_URL",
            "BASH",
            "LUA",
            "PYTHONIOENCODING",
            "PAGER",
        ] {
            assert!(!is_secret_or_loader(OsStr::new(name), OsStr::new("x")), "{name}");
        }
    }

    #[test]
    fn the_list_can_be_searched() {
        assert!(LOADERS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_url_is_held_back_when_it_has_a_password() {
        for (url, held) in [
            ("postgres://user:secret@db:5432/app", true),
            ("postgres://user:se/cr@et@db", true),
            ("redis://:secret@cache", true),
            ("https://db/app?user=a&Password=b", true),
            ("https://example.org:8080/a", false),
            ("postgres://user@db/app", false),
            ("postgres://user:@db/app", false),
            ("nothing", false),
        ] {
            for name in ["DATABASE_URL", "database_url", "MONGO_URI"] {
                assert_eq!(is_secret_or_loader(OsStr::new(name), OsStr::new(url)), held, "{url}");
            }
            assert!(!is_secret_or_loader(OsStr::new("DATABASE"), OsStr::new(url)), "{url}");
        }
    }
}
