//! The session as of the cursor: what the model no longer saw there is dimmed, and can be listed, and the header and
//! the outline tell what it had come to by then.
//!
//! Invariant: nothing moves when the dimming goes on or off, or when the cursor does; only what is painted in
//! the window is asked for.

use std::collections::HashSet;

use ratatui::text::{Line, Span};

use super::mode::Mode;
use super::raw::RawView;
use super::reader::Reader;
use super::state::App;
use super::viewport::Focus;
use crate::analysis::account::{self, Figures};
use crate::analysis::context::{self, ContextUse};
use crate::analysis::cost::Cost;
use crate::analysis::seen::Sight;
use crate::analysis::window::shares;
use crate::analysis::window::weigh::{Class, parts};
use crate::analysis::window::{Request, Row as WindowRow, Windows};
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role, Sent};
use crate::model::figures;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::row::Row;
use crate::render::wrap;

/// Messages of a list in a pop-up; longer ones are cut at the beginning, which is told.
const MOST_ROWS: usize = 20_000;
/// Characters of a message that are copied.
const WORDS: usize = 160;
/// Columns for what a part is.
const KIND: usize = 18;

/// The dimming.
#[derive(Clone, Debug, Default)]
pub struct AsOf {
    /// Whether the reader wants it.
    pub is_on: bool,
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

/// On or off.
pub fn switch(reader: &mut Reader, is_on: bool) {
    reader.text.as_of.is_on = is_on;
    reader.screen.say(if is_on {
        "dim is what the model did not see at the cursor"
    } else {
        "nothing is dimmed for the cursor's sake"
    });
}

/// Finds out what of the window is to be dimmed, and what the session had come to.
pub fn arrange(reader: &mut Reader) {
    reader.text.as_of.lost.clear();
    let focus =
        reader.text.view.focus.filter(|_| reader.text.as_of.is_on && !reader.session.indexes.is_behind());
    let known = reader.text.as_of.then.take();
    reader.text.as_of.then = focus.map(|focus| {
        let wanted = (focus.entry, reader.session.indexes.account.revision());
        known.filter(|then| then.made_for == wanted).unwrap_or_else(|| then(reader, wanted))
    });
    let sight = focus.and_then(|focus| sight(reader, focus));
    let Some(sight) = sight else { return };
    let in_sight = reader.text.view.lines.iter().map(|line| line.entry);
    reader.text.as_of.lost = in_sight.filter(|id| sight.has_lost(&reader.session.transcript, *id)).collect();
}

fn then(reader: &Reader, made_for: (EntryId, u64)) -> Then {
    let (transcript, account) = (&reader.session.transcript, &reader.session.indexes.account);
    let reach = account.as_of(transcript, made_for.0);
    Then {
        made_for,
        at: transcript.get(made_for.0).and_then(|entry| entry.at),
        cost: account.cost_as_of(transcript, &reach),
        turn: reach.turn().map(|turn| account.turn_as_of(transcript, &reach, turn)),
        context: context::at(transcript, made_for.0),
        reach,
    }
}

fn sight(reader: &Reader, focus: Focus) -> Option<Sight> {
    Sight::at(&reader.session.transcript, reader.session.indexes.windows.cuts(), focus.entry)
}

/// Lists what the model saw at the cursor.
pub fn list(app: &mut App) {
    let last = app.reader.session.transcript.order().last().map(|entry| Focus { entry: *entry, block: 0 });
    let Some(focus) = app.reader.text.view.focus.or(last) else {
        return app.reader.screen.say("nothing here yet");
    };
    while !app.reader.session.indexes.windows.follow(&app.reader.session.transcript, usize::MAX) {}
    let Some(sight) = sight(&app.reader, focus) else { return };
    let Some(entry) = app.reader.session.transcript.get(focus.entry) else { return };
    let density = app.reader.session.indexes.windows.density(entry.lane.as_ref());
    let messages = messages(
        &app.reader.session.transcript,
        &sight.entries(&app.reader.session.transcript),
        entry.at,
        density,
    );
    let request = request_of(&app.reader.session.indexes.windows, focus.entry);
    let told = told(&app.reader, entry, &messages, request, density);
    let title = format!("What the model saw at {}", place(&app.reader, focus.entry, entry));
    let mut lines = told;
    lines.push(String::new());
    let skipped = messages.len().saturating_sub(MOST_ROWS);
    if skipped > 0 {
        lines.push(format!("the first {skipped} are left out here"));
    }
    let cut = app.reader.screen.theme.glyphs().cut;
    let heads = lines.len();
    let shown = messages.iter().skip(skipped).map(|message| message.line(cut));
    lines.extend(shown);
    let width = usize::from(app.reader.screen.size.0.saturating_sub(2).max(1));
    let rows = lines.iter().enumerate().map(|(at, line)| {
        let style = if at < heads { app.reader.screen.theme.dim } else { app.reader.screen.theme.text };
        Row {
            line: Line::from(wrap::fit(&[Span::styled(line.clone(), style)], width, cut)),
            ..Row::default()
        }
    });
    let rows: Vec<Row> = rows.collect();
    let text = format!("{title}\n{}\n", lines.join("\n"));
    app.mode = Mode::Raw(RawView::of_text(title, rows, text));
}

/// One part of a message.
struct Message {
    number: usize,
    at: String,
    role: &'static str,
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
        let (Some(entry), Some(place)) = (transcript.get(*id), transcript.place_of(*id)) else { continue };
        for (block, class, bytes) in parts(entry, now) {
            let Some(block) = entry.blocks.get(block) else { continue };
            let (name, words) = words(block, class);
            messages.push(Message {
                number: place + 1,
                at: entry.at.map(Timestamp::clock).unwrap_or_default(),
                // Results go back to the model as a message of their own.
                role: if class == Class::Result { "tool" } else { entry.role.word() },
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
            let stub = call.state.result().map(|result| result.body.stub.to_string());
            (Some(format!("result {}", call.name)), stub.or(instead).unwrap_or_default())
        }
        BlockKind::Call(call) => (Some(format!("call {}", call.name)), call.headline.to_string()),
        _ if instead.is_some() => (None, instead.unwrap_or_default()),
        BlockKind::Result(stray) => (Some("stray result".to_owned()), stray.result.body.stub.to_string()),
        BlockKind::Raw(raw) => (None, format!("{}: {}", raw.title, raw.body.stub)),
        BlockKind::Image(image) => (Some("image".to_owned()), image.mime.to_string()),
        BlockKind::Text(body) | BlockKind::Thinking(body) => (None, body.stub.to_string()),
        BlockKind::Break(_) => (None, String::new()),
    }
}

fn request_of(windows: &Windows, id: EntryId) -> Option<&Request> {
    let (lane, number) = windows.row_at(id)?;
    windows.rows(lane).get(number).and_then(WindowRow::request).filter(|request| request.entry == id)
}

fn place(reader: &Reader, id: EntryId, entry: &Entry) -> String {
    let number = reader.session.transcript.place_of(id).map_or(0, |place| place + 1);
    let time = entry.at.map(|at| format!(", {}", at.clock())).unwrap_or_default();
    let lane = entry.lane.as_ref().map(|name| {
        let label = reader.session.transcript.lane(name).map_or(name, |lane| &lane.label);
        format!(", in {label}")
    });
    format!("#{number}{time}{}", lane.unwrap_or_default())
}

/// The sums, and what is not in the file.
fn told(
    reader: &Reader,
    entry: &Entry,
    messages: &[Message],
    request: Option<&Request>,
    density: f64,
) -> Vec<String> {
    let bytes: u64 = messages.iter().map(|message| message.bytes).sum();
    let parts = messages.len() as u64;
    let mut lines = vec![format!(
        "{} of messages, {}, ~{} tokens at {density:.1} bytes a token",
        figures::count(parts, "part"),
        figures::bytes(bytes),
        figures::tokens(shares::tokens_of(bytes, density)),
    )];
    match request {
        Some(request) => {
            let shares = shares::of(request, density);
            let rest = if shares.is_scaled {
                "the estimate is too high; of system and tools nothing can be told".to_owned()
            } else {
                format!("~{} of system prompt and tools are not in the file", figures::tokens(shares.rest))
            };
            let prompt = figures::tokens(request.prompt);
            lines.push(format!("the prompt of this request had {prompt} tokens, as recorded: {rest}"));
        }
        None if entry.role == Role::Assistant => {
            lines.push(
                "this answer records no tokens; system prompt and tools are not in the file".to_owned(),
            );
        }
        None => {
            let words =
                "what the next request was to have before it; system prompt and tools are not in the file";
            lines.push(words.to_owned());
        }
    }
    if reader.session.ends.is_part() {
        lines.push("the session is still being read: what comes before its end is missing".to_owned());
    }
    lines
}
