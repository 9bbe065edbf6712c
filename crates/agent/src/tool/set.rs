//! The tools of an agent, by name, in the order in which the model sees them.

use std::fmt;
use std::sync::Arc;

use super::{Bash, Edit, Glob, Grep, Read, Task, Tool, ToolSpec, Write};

/// Tools by name. A clone shares the tools.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: Vec<Arc<dyn Tool>>,
}

/// Two tools have the same name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is already a tool with the name `{name}`")]
pub struct NameTaken {
    /// The name.
    pub name: String,
}

impl ToolSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bash, Read, Write, Edit, Glob, Grep and Task.
    #[must_use]
    pub fn standard(bash: Bash) -> Self {
        let tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(bash),
            Arc::new(Read::new()),
            Arc::new(Write::new()),
            Arc::new(Edit::new()),
            Arc::new(Glob::new()),
            Arc::new(Grep::new()),
            Arc::new(Task::new()),
        ];
        Self { tools }
    }

    /// Adds a tool at the end.
    ///
    /// # Errors
    /// When there is already one of that name: a tool never replaces another silently.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), NameTaken> {
        let name = &tool.spec().name;
        if self.get(name).is_some() {
            return Err(NameTaken { name: name.clone() });
        }
        self.tools.push(tool);
        Ok(())
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// All tools, in order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    /// Their descriptions for the model, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// Only the tools that `wanted` selects, in the same order.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        Self { tools: self.tools.iter().filter(|tool| wanted(&tool.spec().name)).cloned().collect() }
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| &tool.spec().name)).finish()
    }
}
