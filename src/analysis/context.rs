//! The size of the model's context.

pub mod cache_breaks;
pub(crate) mod seen;
pub mod window;

use super::money::{models, prices};
use crate::model::entry::{BlockKind, Break, Entry, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::model::usage::Scope;

/// Entries that are searched for the previous request.
pub(crate) const LOOKED_AT: usize = 4_096;

/// The context at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextUse {
    /// Tokens of the prompt and its answer.
    pub(crate) tokens: u64,
    /// Size of the window in tokens, recorded or known from the model's name.
    pub(crate) window: Option<u64>,
}

/// The context at the end of the main lane; `None` if none of its last [`LOOKED_AT`] entries is a
/// request that records usage. Joined sessions have no common context.
pub fn of(transcript: &Transcript) -> Option<ContextUse> {
    let order = Some(transcript.order()).filter(|_| !transcript.is_joined())?;
    let main = order.iter().rev();
    let main = main.filter(|id| transcript.lane_at(**id).is_none());
    let (mut passing, mut left) = (transcript.cursor(), None);
    for id in main.take(LOOKED_AT) {
        let entry = passing.get(*id)?;
        if is_request(entry) {
            let tokens = left.or_else(|| Some(entry.usage.as_ref()?.last_step().context()))?;
            return Some(ContextUse {
                tokens,
                window: window_at(transcript, entry, tokens),
            });
        }
        left = left.or_else(|| tokens_after(entry));
    }
    None
}

/// The context when an entry was recorded, in its lane; `None` if no request shortly before it
/// records usage.
pub(crate) fn at(transcript: &Transcript, id: EntryId) -> Option<ContextUse> {
    let entry = transcript.get(id)?;
    let (request, compaction) = if is_request(entry) {
        (Some(id), None)
    } else {
        before(transcript, transcript.place_of(id)?, LOOKED_AT)
    };
    let request = transcript.get(request?)?;
    let left = tokens_after(entry).or_else(|| tokens_after(transcript.get(compaction?)?));
    let tokens = left.or_else(|| Some(request.usage.as_ref()?.last_step().context()))?;
    Some(ContextUse {
        tokens,
        window: window_at(transcript, request, tokens),
    })
}

/// The window of a request in tokens, recorded or known from the model's name.
pub(crate) fn window_at(transcript: &Transcript, request: &Entry, tokens: u64) -> Option<u64> {
    window_of_session(transcript, request.model.as_ref())?.fitting(tokens)
}

/// The window for requests to a model: the one the session records, else that of the model.
pub(crate) fn window_of_session(
    transcript: &Transcript,
    model: Option<&Name>,
) -> Option<ModelWindow> {
    let meta = transcript.meta();
    let recorded = meta.window.map(ModelWindow::Recorded);
    recorded.or_else(|| ModelWindow::of(model.or(meta.model.as_ref())?))
}

/// The request before a position, in its lane, and a compaction between the two. Searches at most
/// [`LOOKED_AT`] entries.
pub(crate) fn before(
    transcript: &Transcript,
    place: usize,
    most: usize,
) -> (Option<EntryId>, Option<EntryId>) {
    let order = transcript.order().get(..place).unwrap_or_default();
    let lane = transcript
        .order()
        .get(place)
        .and_then(|id| transcript.get(*id))
        .map(|entry| &entry.lane);
    let mut compaction = None;
    for id in order.iter().rev().take(most) {
        let Some(entry) = transcript
            .get(*id)
            .filter(|entry| Some(&entry.lane) == lane)
        else {
            continue;
        };
        if entry.is_compaction() {
            compaction = compaction.or(Some(*id));
        }
        if is_request(entry) {
            return (Some(*id), compaction);
        }
    }
    (None, compaction)
}

/// The tokens left by the compaction of an entry.
fn tokens_after(entry: &Entry) -> Option<u64> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Compaction { after, .. }) => *after,
        _ => None,
    })
}

/// Whether an entry is a request that records its prompt.
pub(crate) fn is_request(entry: &Entry) -> bool {
    entry
        .usage
        .as_ref()
        .is_some_and(|usage| usage.scope == Scope::Request && usage.prompt() > 0)
}

/// Windows by the beginning of the model's name; the first match counts. These are the windows that
/// agents use, which for some models are smaller than what the price table says is available.
const WINDOWS: &[(&str, u64)] = &[
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-fable", 1_000_000),
    ("claude", 200_000),
    ("gpt-5.4-mini", 400_000),
    ("gpt-5.4-nano", 400_000),
    ("gpt-5.4", 1_000_000),
    ("gpt-5.5", 1_000_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_000_000),
    ("gpt-4o", 128_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("gemini-2.5", 1_048_576),
    ("gemini-3", 1_048_576),
];

/// The long window that Claude 4 models have on request; agents mark it with `[1m]` or not at all.
const CLAUDE_LONG: u64 = 1_000_000;

/// A window, as far as it does not depend on the prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModelWindow {
    Recorded(u64),
    /// The window of the model, and the long one that it has on request.
    OfModel(u64, Option<u64>),
}

impl ModelWindow {
    fn of(name: &str) -> Option<Self> {
        let model = models::canonical(name);
        let family = WINDOWS
            .iter()
            .find(|(family, _)| model.starts_with(family))
            .map(|(_, window)| *window);
        let window = family.or_else(|| prices::of_model(name)?.window)?;
        let long = model.starts_with("claude").then_some(CLAUDE_LONG);
        Some(Self::OfModel(
            long.filter(|_| name.contains("[1m]")).unwrap_or(window),
            long,
        ))
    }

    /// The window that held so many tokens; `None` if they exceed all that are known.
    pub(crate) fn fitting(self, tokens: u64) -> Option<u64> {
        match self {
            Self::Recorded(window) => Some(window),
            Self::OfModel(window, _) if tokens <= window => Some(window),
            Self::OfModel(_, long) => long.filter(|window| tokens <= *window),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ModelWindow;

    fn window_of_model(name: &str, tokens: u64) -> Option<u64> {
        ModelWindow::of(name)?.fitting(tokens)
    }

    #[test]
    fn windows_are_known_by_family_or_not_at_all() {
        assert_eq!(
            window_of_model("claude-sonnet-4-5-20250929", 10),
            Some(200_000)
        );
        assert_eq!(
            window_of_model("claude-sonnet-4-5[1m]", 10),
            Some(1_000_000)
        );
        assert_eq!(
            window_of_model("claude-sonnet-4-5", 300_000),
            Some(1_000_000)
        );
        assert_eq!(window_of_model("openai/gpt-5-codex", 10), Some(400_000));
        assert_eq!(window_of_model("gemini-2.5-pro", 10), Some(1_048_576));
        assert_eq!(window_of_model("glm-5", 10), Some(200_000));
        assert_eq!(window_of_model("unheard-of-5", 10), None);
        assert_eq!(window_of_model("gpt-4o", 500_000), None);
    }
}
