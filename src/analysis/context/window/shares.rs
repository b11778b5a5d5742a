//! The composition of a prompt in tokens: estimates from sizes, scaled to the recorded prompt.

use std::collections::BTreeMap;

use super::Request;
use super::weigh::{ContextClass, parts};
use crate::analysis::context::seen::{Cuts, Sight};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// Usual bytes per token in texts that agents handle.
pub(crate) const USUAL: f64 = 4.0;
/// Least and greatest bytes per token that are believed.
const BOUNDS: (f64, f64) = (2.0, 6.0);
/// Growth by fewer tokens says nothing about bytes per token.
const ENOUGH: u64 = 4_000;

/// The composition of a prompt. Only its total is recorded, the rest is estimated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    pub(crate) classes: Vec<(ContextClass, u64)>,
    /// Tokens that no entry explains: the system prompt and the tools, as far as the file does not
    /// record them.
    pub(crate) rest: u64,
    /// Whether the estimates exceeded the prompt and were scaled down to it, so that the rest is
    /// unknown.
    pub(crate) is_scaled: bool,
}

impl Shares {
    /// Whether the file records something of a class.
    pub(crate) fn contains(&self, class: ContextClass) -> bool {
        self.classes.iter().any(|(one, _)| *one == class)
    }
}

/// Bytes per token, from how prompts grew by texts of known size.
pub(crate) fn density(bytes: u64, tokens: u64) -> f64 {
    if tokens < ENOUGH {
        return USUAL;
    }
    (bytes as f64 / tokens as f64).clamp(BOUNDS.0, BOUNDS.1)
}

/// The estimated tokens of so many bytes.
pub(crate) fn tokens_of(bytes: u64, density: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "float casts saturate"
    )]
    let tokens = (bytes as f64 / density).round() as u64;
    tokens
}

/// The composition of a request's prompt.
pub fn of(request: &Request, density: f64) -> Shares {
    let estimates =
        ContextClass::ALL.map(|class| (class, tokens_of(request.sizes.of(class), density)));
    let sum: u64 = estimates.iter().map(|(_, tokens)| tokens).sum();
    let is_scaled = sum > request.prompt;
    let scaled = |tokens: u64| {
        let exact = u128::from(tokens) * u128::from(request.prompt) / u128::from(sum.max(1));
        u64::try_from(exact).unwrap_or(u64::MAX)
    };
    let classes =
        estimates.map(|(class, tokens)| (class, if is_scaled { scaled(tokens) } else { tokens }));
    let classes: Vec<_> = classes
        .into_iter()
        .filter(|(_, tokens)| *tokens > 0)
        .collect();
    let known: u64 = classes.iter().map(|(_, tokens)| tokens).sum();
    Shares {
        classes,
        rest: if is_scaled {
            0
        } else {
            request.prompt.saturating_sub(known)
        },
        is_scaled,
    }
}

/// Bytes of results that the model saw at a request, by tool, the largest first.
pub(crate) fn results_by_tool(
    transcript: &Transcript,
    cuts: &Cuts,
    request: EntryId,
) -> Vec<(Name, u64)> {
    let Some(sight) = Sight::at(transcript, cuts, request) else {
        return Vec::new();
    };
    let now = transcript.get(request).and_then(|entry| entry.at);
    let mut sizes: BTreeMap<Name, u64> = BTreeMap::new();
    for entry in sight
        .entries(transcript)
        .into_iter()
        .filter_map(|id| transcript.get(id))
    {
        for (block, class, bytes) in parts(entry, now) {
            let name = match entry.blocks.get(block).map(|block| &block.kind) {
                Some(BlockKind::Call(call)) if class == ContextClass::Result => call.name.clone(),
                Some(BlockKind::Result(stray)) => stray.result.tool.clone().unwrap_or_default(),
                _ => continue,
            };
            *sizes.entry(name).or_default() += bytes;
        }
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    sizes
}
