//! Protects the entries that call Crosier: a change to the agent's settings that removes them is not
//! applied, in agents that ask before they apply changes. `crosier uninstall` forgets the entries first, so it works.

use std::path::{Path, PathBuf};

use crosier_dialect::Call;
use crosier_install::{Store, table};

/// Why a change of settings must not be applied.
pub(super) fn objection(call: &Call, state: Option<&Path>) -> Option<String> {
    if call.entry.event != "ConfigChange" {
        return None;
    }
    let file = PathBuf::from(call.text("file_path")?);
    let row = table::find(call.agent.name)?;
    let why = Store::in_folder(state?).why_not_called(row, &file)?;
    let shown = crate::print::one_line(&file.display().to_string());
    let name = row.agent;
    Some(format!(
        "{shown}: {why}; in a terminal outside the agent, `crosier uninstall {name}` removes Crosier"
    ))
}
