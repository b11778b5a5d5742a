//! The session as of the cursor: entries that the model could no longer see at that point are
//! dimmed, its context can be listed, and header and outline show cost and time up to that point.
//!
//! Invariants: dimming moves no row, and only entries in the window are checked.

pub mod make;

use std::collections::HashSet;

use ratatui::text::Span;

use crate::analysis::account::{self, Figures};
use crate::analysis::context::ContextUse;
use crate::analysis::context::window::weigh::{ContextClass, parts};
use crate::analysis::context::window::{ContextRow, Request, Windows, shares};
use crate::analysis::money::cost::Cost;
use crate::model::entry::{Block, BlockKind, EntryId, Sent};
use crate::model::figures;
use crate::model::text::{Text, tags};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::wrap;

/// Limit of the text that is copied from a message, in characters.
const WORDS: usize = 160;
/// Width of the column with the kind of a part.
const KIND: usize = 18;

/// State of the dimming.
#[derive(Clone, Debug, Default)]
pub struct AsOfCursor {
    pub is_on: bool,
    /// Whether the message about the dimming is still to be shown.
    pub(crate) is_asked: bool,
    /// Entries in the window that the model could not see at the cursor.
    lost: HashSet<EntryId>,
    /// Cost, time and context up to the cursor.
    then: Option<SessionAtCursor>,
}

/// Cost, time and context of the session up to the cursor.
#[derive(Clone, Debug)]
pub struct SessionAtCursor {
    /// Cache key: the entry at the cursor, and the generation of the account.
    made_for: (EntryId, u64),
    pub position: account::AsOf,
    /// The time of the entry.
    pub at: Option<Timestamp>,
    /// Cost up to the cursor.
    pub cost: Cost,
    /// Figures of the turn, up to the cursor.
    pub turn: Option<Figures>,
    /// The fill of the context window.
    pub context: Option<ContextUse>,
}

impl AsOfCursor {
    /// Whether an entry in the window is dimmed.
    pub fn is_dimmed(&self, id: EntryId) -> bool {
        self.lost.contains(&id)
    }

    /// Cost, time and context up to the cursor; `None` if dimming is off or they are not computed.
    pub fn totals(&self) -> Option<&SessionAtCursor> {
        self.then.as_ref()
    }
}

/// A block as a part of the model's context.
struct ContextPart {
    number: usize,
    at: String,
    role: &'static str,
    class: ContextClass,
    kind: String,
    bytes: u64,
    tokens: u64,
    words: Text,
}

impl ContextPart {
    fn line(&self, cut: &'static str) -> String {
        let kind = wrap::fit(&[Span::raw(self.kind.clone())], KIND, cut);
        let kind: String = kind.iter().map(|span| span.content.as_ref()).collect();
        format!(
            "{:>5}  {:<8}  {:<9}  {kind:<KIND$}  {:>7}  {:>6}  {}",
            self.number,
            self.at,
            self.role,
            figures::bytes(self.bytes),
            format!("~{}", figures::tokens(self.tokens)),
            self.words
        )
    }
}

fn messages(
    transcript: &Transcript,
    entries: &[EntryId],
    now: Option<Timestamp>,
    density: f64,
) -> Vec<ContextPart> {
    let mut messages = Vec::new();
    for id in entries {
        let (Some(entry), Some(place)) = (transcript.get(*id), transcript.place_of(*id)) else {
            continue;
        };
        for (block, class, bytes) in parts(entry, now) {
            let Some(block) = entry.blocks.get(block) else {
                continue;
            };
            let (name, words) = words(block, class);
            messages.push(ContextPart {
                number: place + 1,
                at: entry.at.map(Timestamp::clock).unwrap_or_default(),
                // Results go back to the model as a message of their own.
                role: if class == ContextClass::Result {
                    "tool"
                } else {
                    entry.role.word()
                },
                class,
                kind: name.unwrap_or_else(|| word(class).to_owned()),
                bytes,
                tokens: shares::tokens_of(bytes, density),
                words: Text::stub(&words, WORDS),
            });
        }
    }
    messages
}

/// The singular name of a class.
fn word(class: ContextClass) -> &'static str {
    match class {
        ContextClass::System => "system",
        ContextClass::Tools => "tools",
        ContextClass::Summary => "summary",
        ContextClass::Prompt => "prompt",
        ContextClass::Added => "added",
        ContextClass::Thinking => "thinking",
        ContextClass::Answer => "answer",
        ContextClass::Call => "call",
        ContextClass::Result => "result",
    }
}

/// The name of a part, if it has one, and the beginning of its text.
fn words(block: &Block, class: ContextClass) -> (Option<String>, String) {
    let instead = match &block.sent {
        Sent::As(words) => Some(words.to_string()),
        Sent::Usual | Sent::Whole | Sent::Never | Sent::Until(_) => None,
    };
    match &block.kind {
        BlockKind::Call(call) if class == ContextClass::Result => {
            let stub = call
                .state
                .result()
                .map(|result| tags::readable_result(&result.body.stub).into_owned());
            (
                Some(format!("result {}", call.shown_name())),
                stub.or(instead).unwrap_or_default(),
            )
        }
        BlockKind::Call(call) => (
            Some(format!("call {}", call.shown_name())),
            call.headline.to_string(),
        ),
        _ if instead.is_some() => (None, instead.unwrap_or_default()),
        BlockKind::Result(stray) => (
            Some("orphan result".to_owned()),
            stray.result.body.stub.to_string(),
        ),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
            (None, format!("{}: {}", raw.title, raw.body.stub))
        }
        BlockKind::Image(image) => (Some("image".to_owned()), image.mime.to_string()),
        BlockKind::Text(body) | BlockKind::Thinking(body) => (None, body.stub.to_string()),
        BlockKind::Break(_) => (None, String::new()),
    }
}

fn request_of<'w>(
    windows: &'w Windows,
    transcript: &Transcript,
    id: EntryId,
) -> Option<&'w Request> {
    let (lane, number) = windows.row_at(transcript, id)?;
    windows
        .rows(lane)
        .get(number)
        .and_then(ContextRow::request)
        .filter(|request| request.entry == id)
}
