//! Calls of the API of a forge: `gh api`, `glab api`. One without fields and without another method only shows.

use super::disposable::{has, values};
use super::fit::{CommandContext, squeezed};
use crate::shell::Word;

/// Parts of mutations of GraphQL that delete, or change what others rely on.
const MUTATIONS: [&str; 12] = [
    "delete",
    "archiverepository",
    "transferissue",
    "updaterepository",
    "updateref",
    "branchprotection",
    "ruleset",
    "removeenterprise",
    "removeoutside",
    "updateorganization",
    "updateenterprise",
    "unlinkrepository",
];

impl CommandContext<'_> {
    /// Whether the call changes something; of GraphQL, whether it deletes or changes what others rely on.
    pub(super) fn changes_forge(&self) -> bool {
        let words = self.command.arguments();
        let is_graph = words.iter().any(|word| word.known() == Some("graphql"));
        if is_graph {
            let typed = self.command.stdin_text.as_deref().map(squeezed);
            let mut texts = words.iter().map(|word| squeezed(&word.show())).chain(typed);
            return texts.any(|text| {
                text.contains("mutation") && MUTATIONS.iter().any(|mutation| text.contains(mutation))
            });
        }
        let methods = values(words, &["-X", "--method"]);
        if let Some(method) = methods.last() {
            return !matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD");
        }
        const FIELDS: [&str; 5] = ["-f", "-F", "--field", "--raw-field", "--input"];
        let is_joined = |word: &Word| {
            let head = word.head();
            head.len() > 2 && (head.starts_with("-f") || head.starts_with("-F"))
        };
        FIELDS.iter().any(|field| has(words, field)) || words.iter().any(is_joined)
    }
}
