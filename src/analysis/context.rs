//! How full the model's context is.

use crate::model::transcript::Transcript;

/// The size of the context at the last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextUse {
    /// Tokens of the last prompt and its answer.
    pub tokens: u64,
    /// Size of the window in tokens, recorded or known from the model's name.
    pub window: Option<u64>,
}

/// The context at the end of the main lane; nothing if no request records usage.
pub fn of(transcript: &Transcript) -> Option<ContextUse> {
    let _ = transcript;
    None
}
