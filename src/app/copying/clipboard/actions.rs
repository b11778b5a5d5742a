//! Actions that copy items.

use super::{CopyFormat, CopyItem, PendingCopy, joined, origins_of};
use crate::app::copying::excerpt::{self, ItemText};
use crate::app::copying::markdown::{self, NotLoaded};
use crate::app::effect::Effect;
use crate::app::input::action::CopyTarget;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::viewport::Focus;
use crate::app::text::window::rows_of_block;
use crate::model::entry::{BlockKind, EntryId, Role};
use crate::model::figures;
use crate::model::record::Origin;
use crate::render::row::{Level, Row, RowKind};
use crate::session::Session;

/// Attempts to read the bodies of a copy; some may be evicted before all have arrived.
const PATIENCE: u8 = 3;

/// Limit of a copy, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Whether a block has rows of its own.
fn is_item(text: &TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let Some(entry) = scene.session.transcript.get(focus.entry) else {
        return false;
    };
    let Some(block) = entry.blocks.get(focus.block) else {
        return false;
    };
    let is_at_level = match text.level {
        Level::Prompts => {
            (entry.marks.prompt || entry.role == Role::User)
                && matches!(block.kind, BlockKind::Text(_))
        }
        Level::Outline | Level::Preview => !entry.marks.is_hidden(),
        Level::Full | Level::Raw => true,
    };
    let is_blank = |body: &crate::model::body::Body| {
        body.bytes == 0 || (!body.is_on_disk() && body.stub.is_blank())
    };
    let is_seen = match &block.kind {
        BlockKind::Thinking(_) => text.shows.thinking,
        BlockKind::Text(body) => !is_blank(body),
        _ => true,
    };
    is_at_level && is_seen && text.find.shows(focus)
}

/// The items from one block to another, both included.
pub(crate) fn items_between(
    text: &TextPane,
    scene: &Scene<'_>,
    first: Focus,
    last: Focus,
) -> Vec<Focus> {
    let places = (
        text.sequence.place_of(first.entry),
        text.sequence.place_of(last.entry),
    );
    let (Some(from), Some(to)) = places else {
        return Vec::new();
    };
    let between = text
        .sequence
        .order()
        .get(from..=to)
        .unwrap_or_default()
        .iter()
        .flat_map(|id| {
            let blocks = scene
                .session
                .transcript
                .get(*id)
                .map_or(0, |entry| entry.blocks.len());
            (0..blocks).map(|block| Focus { entry: *id, block })
        });
    let is_inside = |focus: &Focus| {
        (focus.entry != first.entry || focus.block >= first.block)
            && (focus.entry != last.entry || focus.block <= last.block)
    };
    between
        .filter(|focus| {
            is_inside(focus) && (*focus == first || *focus == last || is_item(text, scene, *focus))
        })
        .collect()
}

/// Copies a part of the focused item.
pub fn copy(text: &mut TextPane, scene: &mut Scene<'_>, what: CopyTarget) -> Vec<Effect> {
    let Some(focus) = text.view.focus else {
        return Vec::new();
    };
    let text = match what {
        CopyTarget::Turn => return copy_turn(text, scene),
        CopyTarget::Query => {
            scene.set_status("the jq path of a field: r shows the raw record, y q copies there");
            return Vec::new();
        }
        CopyTarget::Json => {
            return vec![Effect::CopyRecords(origins_of(scene.session, &[focus]))];
        }
        CopyTarget::Path => path_of(scene.session, focus).unwrap_or_default(),
        CopyTarget::Link => link_of(scene.session, focus).unwrap_or_default(),
        CopyTarget::Text | CopyTarget::Result | CopyTarget::Command | CopyTarget::Id => {
            let piece = CopyItem { focus, rows: None };
            return begin(text, scene, vec![piece], CopyFormat::Each(what));
        }
    };
    if text.is_empty() {
        scene.set_status("there is no file to name");
        return Vec::new();
    }
    vec![Effect::Copy(text)]
}

fn path_of(session: &Session, focus: Focus) -> Option<String> {
    let origin = origins_of(session, &[focus]).first().copied()?;
    let path = session.file.path(origin.file)?;
    Some(format!("{}:{}", path.display(), origin.line))
}

/// The command line argument that opens the session at the entry.
fn link_of(session: &Session, focus: Focus) -> Option<String> {
    let transcript = &session.transcript;
    let address = match transcript.session_of(focus.entry) {
        Some((number, _)) => session.file.opened.as_ref()?.joined.get(number)?.address(),
        None => session.file.address.clone()?,
    };
    Some(format!(
        "{address}#{}",
        transcript.recorded_key(&transcript.get(focus.entry)?.key)
    ))
}

fn copy_turn(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(turn) = text.focused_turn(scene.session) else {
        scene.set_status("this belongs to no turn");
        return Vec::new();
    };
    let entries = markdown::entries_of(&scene.session.transcript, turn).into_iter();
    let pieces = entries.flat_map(|entry| {
        let blocks = scene
            .session
            .transcript
            .get(entry)
            .map_or(0, |entry| entry.blocks.len());
        (0..blocks).map(move |block| CopyItem {
            focus: Focus { entry, block },
            rows: None,
        })
    });
    let pieces: Vec<CopyItem> = pieces.collect();
    begin(text, scene, pieces, CopyFormat::Markdown)
}

/// Copies items; first reads their bodies that are on disk.
pub fn begin(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    pieces: Vec<CopyItem>,
    form: CopyFormat,
) -> Vec<Effect> {
    continue_copy(
        text,
        scene,
        PendingCopy {
            pieces,
            form,
            tries: 0,
        },
    )
}

/// Continues the pending copy after bodies were read.
pub(crate) fn resume(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    text.pending_copy
        .take()
        .map_or_else(Vec::new, |taking| continue_copy(text, scene, taking))
}

fn continue_copy(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    mut taking: PendingCopy,
) -> Vec<Effect> {
    let mut entries: Vec<EntryId> = Vec::new();
    let mut origins: Vec<Origin> = Vec::new();
    let mut size = 0_u64;
    for piece in &taking.pieces {
        let Some(block) = scene
            .session
            .transcript
            .get(piece.focus.entry)
            .and_then(|entry| entry.blocks.get(piece.focus.block))
        else {
            continue;
        };
        let before = origins.len();
        for body in block.kind.bodies() {
            size += u64::from(body.bytes);
            origins.extend(body.is_on_disk().then_some(body.from));
        }
        if origins.len() > before && entries.last() != Some(&piece.focus.entry) {
            entries.push(piece.focus.entry);
        }
    }
    if size > MOST_BYTES {
        let size = figures::bytes(size);
        scene.set_status(format!(
            "{size} are too much to copy; | pipes the records to a command"
        ));
        return Vec::new();
    }
    if origins.is_empty() {
        return finish(text, scene, &taking);
    }
    if taking.tries >= PATIENCE {
        scene.set_status("the records cannot be read any more");
        return Vec::new();
    }
    taking.tries += 1;
    text.pending_copy = Some(taking);
    origins.sort_unstable();
    origins.dedup();
    vec![Effect::Page { entries, origins }]
}

fn finish(text: &mut TextPane, scene: &mut Scene<'_>, taking: &PendingCopy) -> Vec<Effect> {
    let text = match taking.form {
        CopyFormat::Markdown => {
            let mut entries: Vec<EntryId> = taking
                .pieces
                .iter()
                .map(|piece| piece.focus.entry)
                .collect();
            entries.dedup();
            markdown::markdown(&scene.session.transcript, &entries)
                .map_or_else(|NotLoaded| ItemText::OnDisk, ItemText::Text)
        }
        CopyFormat::Each(what) => {
            let each = taking.pieces.iter().map(|piece| {
                let entry = scene.session.transcript.get(piece.focus.entry);
                let excerpt = entry.map(|entry| excerpt::of(entry, piece.focus.block, what));
                match excerpt.unwrap_or(ItemText::Nothing("nothing is focused")) {
                    ItemText::Text(key) if what == CopyTarget::Id => {
                        ItemText::Text(scene.session.transcript.recorded_key(&key).to_owned())
                    }
                    excerpt => excerpt,
                }
            });
            let between = if matches!(what, CopyTarget::Text | CopyTarget::Result) {
                "\n\n"
            } else {
                "\n"
            };
            joined(each.collect(), between)
        }
        CopyFormat::Selected => {
            let parts = taking
                .pieces
                .iter()
                .map(|piece| selected(text, scene, *piece))
                .collect();
            joined(parts, "\n\n")
        }
    };
    match text {
        ItemText::Text(text) => return vec![Effect::Copy(text)],
        ItemText::Nothing(why) => scene.set_status(why),
        ItemText::OnDisk => scene.set_status("the records cannot be read any more"),
    }
    Vec::new()
}

fn selected(text: &mut TextPane, scene: &Scene<'_>, piece: CopyItem) -> ItemText {
    let rows = piece
        .rows
        .map(|_| rows_of(text, scene, piece.focus))
        .unwrap_or_default();
    let Some(entry) = scene.session.transcript.get(piece.focus.entry) else {
        return ItemText::Nothing("it is gone");
    };
    let Some((first, last)) = piece.rows else {
        return excerpt::of_block(entry, piece.focus.block);
    };
    let last = last.min(rows.len().saturating_sub(1));
    excerpt::of_rows(
        entry,
        piece.focus.block,
        rows.get(first..=last).unwrap_or_default(),
    )
}

/// The rows of an item, without the gap after it.
pub(crate) fn rows_of(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> Vec<Row> {
    let mut rows = rows_of_block(text, scene, focus);
    rows.retain(|row| row.kind != RowKind::Gap);
    rows
}
