//! What the parts of a sample refer to: long texts, which are stored once, and the times and usage
//! in its events.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use crate::formats::json::Json;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// The prefix of a reference to an attachment of the sample.
const ELSEWHERE: &str = "attachment://";

/// The facts that events record about a message or a call.
#[derive(Clone, Copy, Default)]
pub(super) struct EventFacts<'j> {
    /// When the answer or call began.
    pub(super) began: Option<Timestamp>,
    /// When it was complete.
    pub(super) ended: Option<Timestamp>,
    pub(super) usage: Option<&'j Json<'j>>,
}

/// The keys of a sample, and the data that its parts refer to.
pub(super) struct EvalSample<'j> {
    /// The prefix of ids, since other samples have calls with the same ids.
    pub(super) name: String,
    /// The prefix of entry keys: the record, with the sample's number if the record has several.
    pub(super) place: Text,
    /// Long texts by name.
    pub(super) attached: Attachments<'j>,
    /// Facts of answers and calls, by id and the number of earlier ones with the same id.
    pub(super) known: HashMap<(&'j str, usize), EventFacts<'j>>,
    /// The calls so far.
    pub(super) asked: IdCounts,
    /// The calls with results so far.
    pub(super) answered: IdCounts,
}

/// The number of uses of each id.
#[derive(Default)]
pub(super) struct IdCounts(RefCell<HashMap<String, usize>>);

impl IdCounts {
    /// Counts a use of an id and returns the number of earlier uses.
    pub(super) fn next(&self, id: &str) -> usize {
        let mut uses = self.0.borrow_mut();
        let count = uses.entry(id.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

/// Long texts of a sample by name.
pub(super) struct Attachments<'j>(&'j Json<'j>);

impl<'j> Attachments<'j> {
    pub(super) fn of(json: &'j Json<'j>) -> Self {
        Self(json)
    }

    /// A text, or the attachment that it refers to.
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

/// Parses token counts. Some providers include reasoning in the output, others do not, and old
/// versions of the program include some providers' cached tokens in the input. The total shows
/// which applies.
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

/// Collects the facts of answers and calls from events, by id.
pub(super) fn event_facts<'j>(events: &'j [Json<'j>]) -> HashMap<(&'j str, usize), EventFacts<'j>> {
    let mut known = HashMap::new();
    let calls = IdCounts::default();
    for event in events {
        let began = event.get("timestamp").moment();
        let ended = event.get("completed").moment();
        match event.get("event").str_or_empty() {
            "model" => {
                let output = event.get("output");
                let answers = output.get("choices").items().iter();
                let usage = Some(output.get("usage")).filter(|usage| usage.is_object());
                for id in answers.filter_map(|choice| choice.at("message.id").filled()) {
                    known.insert(
                        (id, 0),
                        EventFacts {
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
                        EventFacts {
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
