//! The session as of the cursor: what the model no longer saw there is dimmed, and can be listed, and the header and
//! the outline show what it had come to by then.
//!
//! Invariant: nothing moves when the dimming goes on or off, or when the cursor does; only what is painted in
//! the window is asked for.

pub mod make;

use std::collections::HashSet;

use ratatui::text::Span;

use crate::analysis::account::{self, Figures};
use crate::analysis::context::ContextUse;
use crate::analysis::context::window::weigh::{Class, parts};
use crate::analysis::context::window::{ContextRow, Request, Windows, shares};
use crate::analysis::money::cost::Cost;
use crate::model::entry::{Block, BlockKind, EntryId, Sent};
use crate::model::figures;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::wrap;

/// Characters of a message that are copied.
const WORDS: usize = 160;
/// Columns for what a part is.
const KIND: usize = 18;

/// The dimming.
#[derive(Clone, Debug, Default)]
pub struct AsOf {
    /// Whether the reader wants it.
    pub is_on: bool,
    /// Whether the reader is still to be told what that comes to.
    is_asked: bool,
    /// Entries in the window that the model did not see at the cursor.
    lost: HashSet<EntryId>,
    /// What the session had come to.
    then: Option<Then>,
}

/// What the session had come to at the cursor.
#[derive(Clone, Debug)]
pub struct Then {
    /// The entry, and the revision of the account.
    made_for: (EntryId, u64),
    /// How far it had come.
    pub reach: account::AsOf,
    /// When that was.
    pub at: Option<Timestamp>,
    /// What it had cost.
    pub cost: Cost,
    /// What the turn had come to.
    pub turn: Option<Figures>,
    /// How full the context was.
    pub context: Option<ContextUse>,
}

impl AsOf {
    /// Whether an entry in the window is dimmed.
    pub fn has_lost(&self, id: EntryId) -> bool {
        self.lost.contains(&id)
    }

    /// What the session had come to at the cursor, if the reader wants it and it is known.
    pub fn then(&self) -> Option<&Then> {
        self.then.as_ref()
    }
}

/// One part of a message.
struct Message {
    number: usize,
    at: String,
    role: &'static str,
    class: Class,
    kind: String,
    bytes: u64,
    tokens: u64,
    words: Text,
}

impl Message {
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
) -> Vec<Message> {
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
            messages.push(Message {
                number: place + 1,
                at: entry.at.map(Timestamp::clock).unwrap_or_default(),
                // Results go back to the model as a message of their own.
                role: if class == Class::Result {
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

/// One of a class.
fn word(class: Class) -> &'static str {
    match class {
        Class::System => "system",
        Class::Tools => "tools",
        Class::Summary => "summary",
        Class::Prompt => "prompt",
        Class::Added => "added",
        Class::Thinking => "thinking",
        Class::Answer => "answer",
        Class::Call => "call",
        Class::Result => "result",
    }
}

/// What a part is called if it has a name, and how it begins.
fn words(block: &Block, class: Class) -> (Option<String>, String) {
    let instead = match &block.sent {
        Sent::As(words) => Some(words.to_string()),
        Sent::Usual | Sent::Whole | Sent::Never | Sent::Until(_) => None,
    };
    match &block.kind {
        BlockKind::Call(call) if class == Class::Result => {
            let stub = call
                .state
                .result()
                .map(|result| result.body.stub.to_string());
            (
                Some(format!("result {}", call.name)),
                stub.or(instead).unwrap_or_default(),
            )
        }
        BlockKind::Call(call) => (
            Some(format!("call {}", call.name)),
            call.headline.to_string(),
        ),
        _ if instead.is_some() => (None, instead.unwrap_or_default()),
        BlockKind::Result(stray) => (
            Some("stray result".to_owned()),
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
