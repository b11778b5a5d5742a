//! What the parts of a sample refer to: long texts that stand once, and what its events say of times and tokens.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use crate::formats::json::Json;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// How a text begins that stands elsewhere in the sample.
const ELSEWHERE: &str = "attachment://";

/// What the events say of a message or of a call.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'j> {
    /// When it was asked for.
    pub(super) began: Option<Timestamp>,
    /// When it was there.
    pub(super) ended: Option<Timestamp>,
    /// What it took of the model.
    pub(super) usage: Option<&'j Json<'j>>,
}

/// Where a sample is, and what its parts may refer to.
pub(super) struct Sample<'j> {
    /// A name of its own for whatever is in it: other samples have calls of the same ids.
    pub(super) name: String,
    /// What keys of its entries begin with: its record, with its number there if that has several.
    pub(super) place: Text,
    /// Long texts, by their names.
    pub(super) attached: Attached<'j>,
    /// Answers by their ids, and calls by theirs: with how many of the same id were before.
    pub(super) known: HashMap<(&'j str, usize), Known<'j>>,
    /// The calls that were asked for.
    pub(super) asked: Uses,
    /// The calls that have their results.
    pub(super) answered: Uses,
}

/// How often each id was used.
#[derive(Default)]
pub(super) struct Uses(RefCell<HashMap<String, usize>>);

impl Uses {
    /// Uses an id: how often it was used before.
    pub(super) fn next(&self, id: &str) -> usize {
        let mut uses = self.0.borrow_mut();
        let count = uses.entry(id.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

/// Long texts of a sample by name.
pub(super) struct Attached<'j>(&'j Json<'j>);

impl<'j> Attached<'j> {
    /// The attachments of a sample.
    pub(super) fn of(json: &'j Json<'j>) -> Self {
        Self(json)
    }

    /// A text, or the one that it names.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str>
    where
        'j: 't,
    {
        let named = text
            .strip_prefix(ELSEWHERE)
            .and_then(|name| self.0.get(name).str());
        Cow::Borrowed(named.unwrap_or(text))
    }
}

/// Counts of tokens. Some providers count what was thought among the output, others beside it, and old versions of the
/// program count cached tokens of some among the input: the sum tells which.
pub(super) fn usage_of(json: &Json<'_>) -> Usage {
    let count = |name: &str| json.get(name).count();
    let (input, output, thought) = (
        count("input_tokens"),
        count("output_tokens"),
        count("reasoning_tokens"),
    );
    let (read, written) = (
        count("input_tokens_cache_read"),
        count("input_tokens_cache_write"),
    );
    let sum = |terms: &[Option<u64>]| {
        terms
            .iter()
            .flatten()
            .fold(0_u64, |sum, term| sum.saturating_add(*term))
    };
    let is_total = |terms: &[Option<u64>]| count("total_tokens") == Some(sum(terms));
    let is_usual = is_total(&[input, output, read, written]);
    let has_cached =
        !is_usual && (is_total(&[input, output]) || is_total(&[input, output, thought]));
    let is_beside = !is_usual
        && thought > Some(0)
        && (is_total(&[input, output, thought, read, written])
            || is_total(&[input, output, thought]));
    let more = thought.filter(|_| is_beside).unwrap_or(0);
    let cached = if has_cached { sum(&[read, written]) } else { 0 };
    let input = input.map(|input| input.saturating_sub(cached));
    Usage {
        input,
        output: output.map(|output| output.saturating_add(more)),
        cache_read: read,
        cache_write: written,
        reasoning: thought,
        ..Usage::default()
    }
}

/// What events say of answers and calls, by their ids.
pub(super) fn known<'j>(events: &'j [Json<'j>]) -> HashMap<(&'j str, usize), Known<'j>> {
    let mut known = HashMap::new();
    let calls = Uses::default();
    for event in events {
        let began = event.get("timestamp").moment();
        let ended = event.get("completed").moment();
        match event.get("event").str_or_empty() {
            "model" => {
                let output = event.get("output");
                let answers = output.get("choices").items().iter();
                let usage = Some(output.get("usage")).filter(|usage| usage.is_object());
                for id in answers.filter_map(|choice| choice.at(&["message", "id"]).filled()) {
                    known.insert(
                        (id, 0),
                        Known {
                            began,
                            ended,
                            usage,
                        },
                    );
                }
            }
            "tool" => {
                let id = event.get("id").filled();
                known.extend(id.map(|id| {
                    (
                        (id, calls.next(id)),
                        Known {
                            began,
                            ended,
                            usage: None,
                        },
                    )
                }));
            }
            _ => {}
        }
    }
    known
}
