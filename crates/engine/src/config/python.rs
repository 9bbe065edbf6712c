//! Python functions: `type: python`, `handler: "module.function"`.

use std::sync::Arc;

use super::command;
use super::hook::Keys;
use super::loader::Reading;
use super::value::Sheet;
use crate::registry::{Handler, PythonSpec};

pub(super) fn python(sheet: &mut Sheet<'_>, reading: &Reading<'_>, keys: &Keys<'_>) -> Option<Handler> {
    let Some(node) = keys.get("handler") else {
        let help = "add `handler: \"module.function\"`";
        sheet.error_with_help(keys.start(), "this hook of type python calls nothing", help);
        return None;
    };
    let handler = sheet.filled_text("handler", node)?;
    let named = |part: &str| !part.is_empty() && part.chars().all(|c| c == '_' || c.is_alphanumeric());
    let spec = PythonSpec::new(&handler, reading.folder).filter(|_| handler.split('.').all(named));
    let Some(mut spec) = spec else {
        let help = if handler.ends_with(".py") || handler.contains('/') {
            "a file is run by `type: command`; a function is named like `guard.check`"
        } else {
            "write it like `guard.check` for the function `check` in guard.py"
        };
        sheet.error_with_help(node.span, format!("`{handler}` is not module.function"), help);
        return None;
    };
    if let Some(node) = keys.get("python") {
        let interpreter = sheet.filled_text("python", node)?;
        spec.interpreter = match interpreter.contains('/') {
            true => reading.folder.join(&interpreter).display().to_string(),
            false => interpreter,
        };
    }
    if let Some(node) = keys.get("python_path") {
        let paths = sheet.texts("python_path", node);
        spec.paths.extend(paths.iter().map(|path| reading.folder.join(path)));
    }
    if let Some(node) = keys.get("isolate") {
        spec.fork = sheet.word("isolate", node, &[("fork", true), ("worker", false)])?;
    }
    spec.cwd = command::cwd(sheet, reading, keys)?;
    spec.env = keys.get("env").map(|node| command::env(sheet, node)).unwrap_or_default();
    spec.env_pass = keys.get("env_pass").map(|node| sheet.texts("env_pass", node)).unwrap_or_default();
    Some(Handler::Python(Arc::new(spec)))
}
