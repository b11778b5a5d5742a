//! Scopes of a search: a letter and a colon before the text, such as `/u:boats`.

use crate::model::entry::{Block, BlockKind, Entry, Role};

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextScope {
    /// Messages of the user.
    Prompts,
    /// Tool calls and their results.
    Tools,
    Errors,
    /// Messages of the model.
    Answers,
    /// Thinking of the model.
    Thinking,
    /// Messages of the harness, and the system prompt.
    Notes,
}

/// All scopes with their letters and names.
pub(crate) const SCOPES: [(char, TextScope, &str); 6] = [
    ('u', TextScope::Prompts, "prompts"),
    ('t', TextScope::Tools, "tools"),
    ('e', TextScope::Errors, "errors"),
    ('b', TextScope::Answers, "answers"),
    ('k', TextScope::Thinking, "thinking"),
    ('s', TextScope::Notes, "notes"),
];

impl TextScope {
    /// Splits the typed text into scope and text.
    pub(crate) fn split(typed: &str) -> (Option<Self>, &str) {
        let scoped = SCOPES.iter().find_map(|(letter, scope, _)| {
            let text = typed.strip_prefix(*letter)?.strip_prefix(':')?;
            Some((Some(*scope), text))
        });
        scoped.unwrap_or((None, typed))
    }

    /// The name of the scope.
    pub(crate) fn word(self) -> &'static str {
        SCOPES
            .iter()
            .find(|(_, scope, _)| *scope == self)
            .map_or("", |(_, _, word)| word)
    }
}

pub(crate) fn of_block(entry: &Entry, block: &Block) -> Vec<TextScope> {
    let speaker = match entry.role {
        Role::User => TextScope::Prompts,
        Role::Assistant => TextScope::Answers,
        Role::System | Role::Harness => TextScope::Notes,
    };
    let own = match &block.kind {
        BlockKind::Text(_) | BlockKind::Image(_) => speaker,
        BlockKind::Thinking(_) => TextScope::Thinking,
        BlockKind::Call(_) | BlockKind::Result(_) => TextScope::Tools,
        BlockKind::Break(_) | BlockKind::Raw(_) | BlockKind::Aside(..) => TextScope::Notes,
    };
    std::iter::once(own)
        .chain(block.kind.is_error().then_some(TextScope::Errors))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::TextScope;

    #[test]
    fn a_letter_and_a_colon_are_a_scope() {
        assert_eq!(
            TextScope::split("u:boats"),
            (Some(TextScope::Prompts), "boats")
        );
        assert_eq!(TextScope::split("e:"), (Some(TextScope::Errors), ""));
        assert_eq!(TextScope::split("x:boats"), (None, "x:boats"));
        assert_eq!(TextScope::split("[u]:boats"), (None, "[u]:boats"));
        assert_eq!(TextScope::split("u"), (None, "u"));
    }
}
