//! Permission updates from hooks: `updatedPermissions` of a PermissionRequest.
//!
//! A list of updates in the format of Claude Code: `addRules` with rules for `allow`, `ask` or `deny`, and `setMode`.
//! An update that cannot be applied is reported; the others are applied. Whatever destination an update names, it
//! applies only to this session: the person's files are not changed.

use crosier::{Decision, Json};
use crosier_builtins::rules::Rule;
use serde_json::Value;

use super::{PermissionMode, Permissions};

impl Permissions {
    /// Applies updates. Returns what could not be applied, and why.
    pub fn update(&mut self, updates: &Json) -> Vec<String> {
        let Some(Value::Array(updates)) = updates.to_value() else {
            return vec![format!("updates are a list, but this is {}", updates.kind_word())];
        };
        updates.iter().flat_map(|update| self.update_one(update)).collect()
    }

    fn update_one(&mut self, update: &Value) -> Vec<String> {
        match update["type"].as_str() {
            Some("addRules") => {
                let effect = match update["behavior"].as_str() {
                    Some("allow") => Decision::Allow,
                    Some("ask") => Decision::Ask,
                    Some("deny") => Decision::Deny,
                    _ => return vec!["`behavior` of new rules is allow, ask or deny".to_owned()],
                };
                let rules = update["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
                rules.iter().filter_map(|rule| self.add_rule(effect, rule).err()).collect()
            }
            Some("setMode") => {
                let word = update["mode"].as_str().unwrap_or_default();
                match PermissionMode::WORDS.iter().find(|(known, _)| *known == word) {
                    Some((_, mode)) => {
                        self.mode = *mode;
                        Vec::new()
                    }
                    None => vec![format!("there is no permission mode `{word}`")],
                }
            }
            other => vec![format!("`{}` is not a known update", other.unwrap_or("?"))],
        }
    }

    fn add_rule(&mut self, effect: Decision, rule: &Value) -> Result<(), String> {
        let tool = rule["toolName"].as_str().ok_or("a rule needs a `toolName`")?;
        let text = match rule["ruleContent"].as_str() {
            Some(content) => format!("{tool}({content})"),
            None => tool.to_owned(),
        };
        self.rules.add(effect, Rule::parse(&text).map_err(|error| error.to_string())?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{HookDecision, Ruling};
    use super::*;
    use crate::tool::Risk;

    fn bash(permissions: &Permissions, command: &str) -> Ruling {
        let input = Json::from(serde_json::json!({"command": command}));
        permissions.ruling("Bash", Risk::Execute, &input, Path::new("/"), &HookDecision::Nothing)
    }

    #[test]
    fn rules_and_modes_are_learned_and_the_rest_is_said() {
        let mut permissions = Permissions::default();
        assert!(matches!(bash(&permissions, "git status"), Ruling::Ask(_)));
        let updates = r#"[
            {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash", "ruleContent": "git *"}, {}]},
            {"type": "addRules", "behavior": "deny", "rules": [{"toolName": "Bash", "ruleContent": "git push *"}]},
            {"type": "addRules", "behavior": "perhaps", "rules": []},
            {"type": "addDirectories", "directories": ["/"]},
            {"type": "setMode", "mode": "acceptEdits"}, {"type": "setMode", "mode": "yolo"}]"#;
        let problems = permissions.update(&Json::parse(updates).unwrap());
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert_eq!(bash(&permissions, "git status"), Ruling::Allow);
        assert!(matches!(bash(&permissions, "git push origin"), Ruling::Deny(_)));
        assert_eq!(permissions.mode, PermissionMode::AcceptEdits);
        assert_eq!(permissions.update(&Json::null()).len(), 1);
    }
}
