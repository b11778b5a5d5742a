//! Highlights a text with its grammar: the slow part of syntax highlighting.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratatui::style::Style;
use syntect::dumps::from_uncompressed_data;
use syntect::highlighting::{
    Color, HighlightState, Highlighter as Matcher, RangedHighlightIterator, ScopeSelectors,
    StyleModifier, Theme as Scopes, ThemeItem, ThemeSettings,
};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::Highlight;
use crate::render::theme::Syntax;

/// Longer lines stay plain, because some grammars take quadratic time.
const MAX_LINE: usize = 4 * 1024;

/// The role of a word in its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordRole {
    Plain,
    Comment,
    Keyword,
    String,
    Constant,
    Function,
    Kind,
}

impl WordRole {
    pub(crate) fn style(self, syntax: &Syntax, base: Style) -> Style {
        match self {
            Self::Plain => base,
            Self::Comment => syntax.comment,
            Self::Keyword => syntax.keyword,
            Self::String => syntax.string,
            Self::Constant => syntax.constant,
            Self::Function => syntax.function,
            Self::Kind => syntax.kind,
        }
    }
}

/// Roles by TextMate scope. syntect highlights with colours; the index of a role is passed through
/// it as one.
const ROLES: [(WordRole, &str); 7] = [
    (WordRole::Plain, "none"),
    (WordRole::Comment, "comment, punctuation.definition.comment"),
    (
        WordRole::Keyword,
        "keyword - keyword.operator, keyword.operator.word, keyword.operator.logical.python, storage, \
         storage.type, entity.name.tag, variable.language, markup.heading, meta.diff.range",
    ),
    (
        WordRole::String,
        "string, punctuation.definition.string, markup.inserted, markup.raw",
    ),
    (
        WordRole::Constant,
        "constant, constant.character.escape, support.constant, variable.other.constant",
    ),
    (
        WordRole::Function,
        "entity.name.function, support.function, variable.function, support.macro, meta.mapping.key string, \
         support.type.property-name, entity.name.tag.yaml, markup.underline.link",
    ),
    (
        WordRole::Kind,
        "entity.name.type, entity.name.class, entity.name.struct, entity.name.enum, entity.name.trait, \
         entity.name.impl, support.type, support.class, entity.other.inherited-class, \
         entity.other.attribute-name, meta.annotation, variable.parameter.option, markup.deleted",
    ),
];

/// Grammars and the table of roles, loaded on first use.
#[derive(Debug)]
pub(crate) struct Highlighter {
    grammars: SyntaxSet,
    scopes: Scopes,
    /// Languages compiled so far.
    compiled: Mutex<HashSet<String>>,
}

/// The grammars that `bat` uses, with patterns that compile to less; `tests/all/grammars.rs`
/// generates the file.
fn grammars() -> SyntaxSet {
    from_uncompressed_data(include_bytes!("../../../assets/grammars.bin")).unwrap_or_default()
}

impl Highlighter {
    /// Loads the grammars; each is compiled on first use.
    pub(crate) fn new() -> Self {
        let place = |index: usize| {
            let r = u8::try_from(index).unwrap_or(0);
            Color {
                r,
                g: 0,
                b: 0,
                a: 255,
            }
        };
        let item = |(index, (_, selector)): (usize, &(WordRole, &str))| {
            let scope = ScopeSelectors::from_str(selector).unwrap_or_default();
            let style = StyleModifier {
                foreground: Some(place(index)),
                background: None,
                font_style: None,
            };
            ThemeItem { scope, style }
        };
        let scopes = Scopes {
            settings: ThemeSettings {
                foreground: Some(place(0)),
                ..ThemeSettings::default()
            },
            scopes: ROLES.iter().enumerate().map(item).collect(),
            ..Scopes::default()
        };
        Self {
            grammars: grammars(),
            scopes,
            compiled: Mutex::default(),
        }
    }

    /// Number of languages compiled so far.
    #[cfg(test)]
    pub(crate) fn compiled(&self) -> usize {
        self.names().len()
    }

    /// Whether a language can be used within a limit of compiled ones; an unknown language always
    /// can.
    pub(crate) fn can_compile(&self, language: &str, most: usize) -> bool {
        let Some(grammar) = self.grammar(language) else {
            return true;
        };
        let names = self.names();
        names.len() < most || names.contains(&grammar.name)
    }

    fn names(&self) -> MutexGuard<'_, HashSet<String>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The roles of all words of a text; no lines for an unknown language.
    pub(crate) fn highlight(&self, language: &str, text: &str) -> Highlight {
        let Some(grammar) = self.grammar(language) else {
            return Highlight::default();
        };
        self.names().insert(grammar.name.clone());
        let matcher = Matcher::new(&self.scopes);
        let mut parser = ParseState::new(grammar);
        let mut state = HighlightState::new(&matcher, ScopeStack::new());
        let mut words: Vec<(u32, WordRole)> = Vec::new();
        let mut lines = Vec::new();
        let mut buffer = String::new();
        for line in text.lines() {
            if line.len() > MAX_LINE {
                lines.push(words.len());
                continue;
            }
            buffer.clear();
            buffer.push_str(line);
            buffer.push('\n');
            let Ok(changes) = parser.parse_line(&buffer, &self.grammars) else {
                break;
            };
            let first = words.len();
            for (style, _, range) in
                RangedHighlightIterator::new(&mut state, &changes, &buffer, &matcher)
            {
                let role = ROLES
                    .get(usize::from(style.foreground.r))
                    .map_or(WordRole::Plain, |(role, _)| *role);
                let end = u32::try_from(range.end).unwrap_or(u32::MAX);
                match words.get_mut(first..).and_then(<[_]>::last_mut) {
                    Some((last, same)) if *same == role => *last = end,
                    _ => words.push((end, role)),
                }
            }
            lines.push(words.len());
        }
        Highlight { words, lines }
    }

    fn grammar(&self, language: &str) -> Option<&SyntaxReference> {
        let name = match language.to_ascii_lowercase().as_str() {
            "shell" | "console" | "shell-session" | "zsh" | "shellscript" => "bash".to_owned(),
            "jsonc" | "json5" | "jsonl" | "ndjson" => "json".to_owned(),
            "node" | "mjs" | "cjs" => "js".to_owned(),
            "mts" | "cts" => "ts".to_owned(),
            "c++" => "cpp".to_owned(),
            other => other.to_owned(),
        };
        self.grammars
            .find_syntax_by_token(&name)
            .or_else(|| self.grammars.find_syntax_by_extension(language))
            .filter(|grammar| grammar.name != "Plain Text")
    }
}
