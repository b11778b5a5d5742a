//! The provider whose API a session's history is sent to: responses to the same defect differ.

use crate::analysis::money::models;
use crate::model::body::Key;
use crate::model::text::Name;

/// A provider of a model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    /// Messages API.
    Anthropic,
    /// Responses API.
    OpenAi,
    /// Gemini API.
    Google,
    /// Another provider with the chat completions API.
    Other,
    /// The session does not record it.
    Unknown,
}

impl Provider {
    /// By the model's name, otherwise by the form of the call's id.
    pub(crate) fn of(model: Option<&Name>, call: &Key) -> Self {
        let name = model
            .map(|model| models::canonical(model))
            .unwrap_or_default();
        let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        if begins(&["claude"]) || (name.is_empty() && call.starts_with("toolu_")) {
            Self::Anthropic
        } else if begins(&["gpt", "chatgpt", "o1", "o3", "o4", "codex"]) {
            Self::OpenAi
        } else if begins(&["gemini"]) {
            Self::Google
        } else if name.is_empty() {
            Self::Unknown
        } else {
            Self::Other
        }
    }
}
