//! Items are copied.

use super::Form;
use super::PendingCopy;
use super::Piece;
use super::joined;
use super::origins_of;
use crate::app::action::What;
use crate::app::effect::Effect;
use crate::app::excerpt::{self, Excerpt};
use crate::app::layout::divide;
use crate::app::reader::Reader;
use crate::app::telling::{self, IsAway};
use crate::app::viewport::{Focus, Rows};
use crate::app::window::with_layouts;
use crate::model::entry::{BlockKind, Entry, EntryId, Role};
use crate::model::figures;
use crate::model::record::Origin;
use crate::render::row::{Level, Row, RowKind};

/// So often texts are asked for again that went away before all had come.
const PATIENCE: u8 = 3;

/// Items that a count may take.
const MOST_ITEMS: usize = 10_000;

/// More bytes are not put together for a clipboard.
const MOST_BYTES: u64 = 64 << 20;

/// The records of the focused item.
pub(crate) fn focused_origins(reader: &Reader) -> Option<Vec<Origin>> {
    let focus = reader.text.view.focus?;
    reader.session.transcript.get(focus.entry)?;
    Some(origins_of(&reader.session, &[focus]))
}

/// Whether a block has rows of its own just now.
fn is_item(reader: &Reader, focus: Focus) -> bool {
    let Some(entry) = reader.session.transcript.get(focus.entry) else { return false };
    let Some(block) = entry.blocks.get(focus.block) else { return false };
    let is_at_level = match reader.text.level {
        Level::Prompts => {
            (entry.marks.prompt || entry.role == Role::User) && matches!(block.kind, BlockKind::Text(_))
        }
        Level::Outline | Level::Preview => !entry.marks.trace,
        Level::Full | Level::Raw => true,
    };
    let is_blank =
        |body: &crate::model::body::Body| body.bytes == 0 || (!body.is_away() && body.stub.is_blank());
    let is_seen = match &block.kind {
        BlockKind::Thinking(_) => reader.text.shows_thinking,
        BlockKind::Text(body) => !is_blank(body),
        _ => true,
    };
    is_at_level && is_seen && reader.find.shows(focus)
}

/// So many items from one on, in the order of the screen.
pub(crate) fn items_from(reader: &Reader, from: Focus, count: usize) -> Vec<Focus> {
    let Some(place) = reader.text.sequence.place_of(from.entry) else { return vec![from] };
    let after = reader.text.sequence.order().get(place..).unwrap_or_default().iter().flat_map(|id| {
        let blocks = reader.session.transcript.get(*id).map_or(0, |entry: &Entry| entry.blocks.len());
        (0..blocks).map(|block| Focus { entry: *id, block })
    });
    let is_behind = |focus: &Focus| focus.entry != from.entry || focus.block > from.block;
    let further = after.filter(|focus| is_behind(focus) && is_item(reader, *focus));
    std::iter::once(from).chain(further.take(count.saturating_sub(1).min(MOST_ITEMS))).collect()
}

/// The items from one entry's block to another's, both included.
pub(crate) fn items_between(reader: &Reader, first: Focus, last: Focus) -> Vec<Focus> {
    let places = (reader.text.sequence.place_of(first.entry), reader.text.sequence.place_of(last.entry));
    let (Some(from), Some(to)) = places else { return Vec::new() };
    let between = reader.text.sequence.order().get(from..=to).unwrap_or_default().iter().flat_map(|id| {
        let blocks = reader.session.transcript.get(*id).map_or(0, |entry| entry.blocks.len());
        (0..blocks).map(|block| Focus { entry: *id, block })
    });
    let is_inside = |focus: &Focus| {
        (focus.entry != first.entry || focus.block >= first.block)
            && (focus.entry != last.entry || focus.block <= last.block)
    };
    between
        .filter(|focus| is_inside(focus) && (*focus == first || *focus == last || is_item(reader, *focus)))
        .collect()
}

/// Copies something of the focused item and, with a count, of those behind it.
pub fn copy(reader: &mut Reader, what: What, times: usize) -> Vec<Effect> {
    let Some(focus) = reader.text.view.focus else { return Vec::new() };
    let text = match what {
        What::Turn => return copy_turns(reader, times),
        What::Query => {
            reader.screen.say("the jq path of a field: r shows the raw record, y q copies there");
            return Vec::new();
        }
        What::Json => {
            return vec![Effect::CopyRecords(origins_of(&reader.session, &items_from(reader, focus, times)))];
        }
        What::Path => places(reader, &items_from(reader, focus, times), path_of),
        What::Link => places(reader, &items_from(reader, focus, times), link_of),
        What::Text | What::Result | What::Command | What::Id => {
            let pieces =
                items_from(reader, focus, times).into_iter().map(|focus| Piece { focus, rows: None });
            return begin(reader, pieces.collect(), Form::Each(what));
        }
    };
    if text.is_empty() {
        reader.screen.say("there is no file to name");
        return Vec::new();
    }
    vec![Effect::Copy(text)]
}

/// One line for each item; the same one only once.
fn places(reader: &Reader, items: &[Focus], place: impl Fn(&Reader, Focus) -> Option<String>) -> String {
    let mut lines: Vec<String> = items.iter().filter_map(|focus| place(reader, *focus)).collect();
    lines.dedup();
    lines.join("\n")
}

fn path_of(reader: &Reader, focus: Focus) -> Option<String> {
    let origin = origins_of(&reader.session, &[focus]).first().copied()?;
    let path = reader.session.file.path(origin.file)?;
    Some(format!("{}:{}", path.display(), origin.line))
}

/// What opens the session at the entry.
fn link_of(reader: &Reader, focus: Focus) -> Option<String> {
    let entry = reader.session.transcript.get(focus.entry)?;
    Some(format!("{}#{}", reader.session.file.address.as_ref()?, entry.key))
}

fn copy_turns(reader: &mut Reader, times: usize) -> Vec<Effect> {
    let Some(turn) = reader.focused_turn() else {
        reader.screen.say("this belongs to no turn");
        return Vec::new();
    };
    let turns = turn..turn.saturating_add(times);
    let last = reader.session.transcript.turns().len();
    let entries = turns
        .take_while(|turn| *turn < last)
        .flat_map(|turn| telling::entries_of(&reader.session.transcript, turn));
    let pieces = entries.flat_map(|entry| {
        let blocks = reader.session.transcript.get(entry).map_or(0, |entry| entry.blocks.len());
        (0..blocks).map(move |block| Piece { focus: Focus { entry, block }, rows: None })
    });
    let pieces: Vec<Piece> = pieces.collect();
    begin(reader, pieces, Form::Markdown)
}

/// Copies, or asks for the texts that are on disk.
pub fn begin(reader: &mut Reader, pieces: Vec<Piece>, form: Form) -> Vec<Effect> {
    go_on(reader, PendingCopy { pieces, form, tries: 0 })
}

/// Texts have come; what waited for them may go on.
pub(crate) fn resume(reader: &mut Reader) -> Vec<Effect> {
    reader.text.pending_copy.take().map_or_else(Vec::new, |taking| go_on(reader, taking))
}

fn go_on(reader: &mut Reader, mut taking: PendingCopy) -> Vec<Effect> {
    let mut entries: Vec<EntryId> = Vec::new();
    let mut origins: Vec<Origin> = Vec::new();
    let mut size = 0_u64;
    for piece in &taking.pieces {
        let Some(block) = reader
            .session
            .transcript
            .get(piece.focus.entry)
            .and_then(|entry| entry.blocks.get(piece.focus.block))
        else {
            continue;
        };
        let bodies = block.kind.bodies();
        size += bodies.iter().map(|body| u64::from(body.bytes)).sum::<u64>();
        let away = bodies.iter().filter(|body| body.is_away()).map(|body| body.from);
        let before = origins.len();
        origins.extend(away);
        if origins.len() > before && entries.last() != Some(&piece.focus.entry) {
            entries.push(piece.focus.entry);
        }
    }
    if size > MOST_BYTES {
        let size = figures::bytes(size);
        reader.screen.say(format!("{size} are too much to copy; | pipes the records to a command"));
        return Vec::new();
    }
    if origins.is_empty() {
        return finish(reader, &taking);
    }
    if taking.tries >= PATIENCE {
        reader.screen.say("the records cannot be read any more");
        return Vec::new();
    }
    taking.tries += 1;
    reader.text.pending_copy = Some(taking);
    origins.sort_unstable();
    origins.dedup();
    vec![Effect::Page { entries, origins }]
}

fn finish(reader: &mut Reader, taking: &PendingCopy) -> Vec<Effect> {
    let text = match taking.form {
        Form::Markdown => {
            let mut entries: Vec<EntryId> = taking.pieces.iter().map(|piece| piece.focus.entry).collect();
            entries.dedup();
            telling::markdown(&reader.session.transcript, &entries)
                .map_or_else(|IsAway| Excerpt::Away, Excerpt::Text)
        }
        Form::Each(what) => {
            let each = taking.pieces.iter().map(|piece| {
                let entry = reader.session.transcript.get(piece.focus.entry);
                entry.map_or(Excerpt::Nothing("nothing is focused"), |entry| {
                    excerpt::of(entry, piece.focus.block, what)
                })
            });
            let between = if matches!(what, What::Text | What::Result) { "\n\n" } else { "\n" };
            joined(each.collect(), between)
        }
        Form::Selected => {
            let parts = taking.pieces.iter().map(|piece| selected(reader, *piece)).collect();
            joined(parts, "\n\n")
        }
    };
    match text {
        Excerpt::Text(text) => return vec![Effect::Copy(text)],
        Excerpt::Nothing(why) => reader.screen.say(why),
        Excerpt::Away => reader.screen.say("the records cannot be read any more"),
    }
    Vec::new()
}

fn selected(reader: &mut Reader, piece: Piece) -> Excerpt {
    let rows = piece.rows.map(|_| rows_of(reader, piece.focus)).unwrap_or_default();
    let Some(entry) = reader.session.transcript.get(piece.focus.entry) else {
        return Excerpt::Nothing("it is gone");
    };
    let Some((first, last)) = piece.rows else { return excerpt::of_block(entry, piece.focus.block) };
    let last = last.min(rows.len().saturating_sub(1));
    excerpt::of_rows(entry, piece.focus.block, rows.get(first..=last).unwrap_or_default())
}

/// The rows of an item, without the air after it.
pub(crate) fn rows_of(reader: &mut Reader, focus: Focus) -> Vec<Row> {
    let frame = divide(reader);
    with_layouts(reader, frame, |layouts, _| {
        let Some(place) = layouts.place(focus) else { return Vec::new() };
        let rows = layouts.rows(place);
        let is_own = |row: &&Row| row.block == focus.block && row.kind != RowKind::Gap;
        rows.iter().filter(is_own).cloned().collect()
    })
}
