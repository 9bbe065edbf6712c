//! Reads python functions: `type: python`, `handler: "module.function"`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command;
use super::hook::Keys;
use super::loader::LoadContext;
use super::value::Reader;
use crate::registry::{Handler, PythonSpec};

pub(super) fn python(reader: &mut Reader<'_>, context: &LoadContext<'_>, keys: &Keys<'_>) -> Option<Handler> {
    let Some(node) = keys.get("handler") else {
        let help = "add `handler: \"module.function\"`";
        reader.error_with_help(keys.start(), "a hook of type python needs a handler", help);
        return None;
    };
    let handler = reader.filled_text("handler", node)?;
    let named = |part: &str| !part.is_empty() && part.chars().all(|c| c == '_' || c.is_alphanumeric());
    let spec = PythonSpec::new(&handler, context.folder).filter(|_| handler.split('.').all(named));
    let Some(mut spec) = spec else {
        let help = if handler.ends_with(".py") || handler.contains('/') {
            "a file is run by `type: command`; a function is named like `guard.check`"
        } else {
            "write it like `guard.check` for the function `check` in guard.py"
        };
        reader.error_with_help(node.span, format!("`{handler}` is not module.function"), help);
        return None;
    };
    if let Some(node) = keys.get("python") {
        let interpreter = reader.filled_text("python", node)?;
        spec.interpreter = match interpreter.contains('/') {
            true => context.folder.join(&interpreter).display().to_string(),
            false => interpreter,
        };
    }
    if let Some(node) = keys.get("python_path") {
        let paths = reader.texts("python_path", node);
        spec.paths.extend(paths.iter().map(|path| context.folder.join(path)));
    }
    if let Some(path) = spec.paths.iter().find_map(|folder| ambiguous_module(folder, &spec.module)) {
        let message = format!(
            "`{}` is both a module and a package: {}.py and {}/",
            spec.module,
            path.display(),
            path.display()
        );
        reader.error_with_help(
            node.span,
            message,
            "python would take the package: remove or rename one of them",
        );
        return None;
    }
    if let Some(node) = keys.get("isolate") {
        spec.fork = reader.word("isolate", node, &[("fork", true), ("worker", false)])?;
    }
    spec.cwd = command::cwd(reader, context, keys)?;
    spec.env = keys.get("env").map(|node| command::env(reader, node)).unwrap_or_default();
    spec.env_pass = keys.get("env_pass").map(|node| reader.texts("env_pass", node)).unwrap_or_default();
    Some(Handler::Python(Arc::new(spec)))
}

/// A module next to a package of the same name: python would load the package and silently ignore the module.
fn ambiguous_module(folder: &Path, module: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in module.split('.') {
        path.push(part);
        let is_package = ["py", "pyc", "so"].iter().any(|end| path.join(format!("__init__.{end}")).is_file());
        if is_package && path.with_extension("py").is_file() {
            return Some(path);
        }
    }
    None
}
