//! Details are asked for, and come.

use std::sync::Arc;

use super::Shown;
use crate::app::effect::Effect;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::entry::details::{Details, records_below};
use crate::model::record::Origin;
use crate::render::row::Level;

/// Bytes of whole records that are kept.
const KEPT_BYTES: u64 = 32 << 20;

/// Records whose details are kept.
const KEPT: usize = 1_000;

/// Asks for what is in sight and not known, each record once.
pub fn ask(text: &mut TextPane, scene: &Scene<'_>) -> Option<Effect> {
    if text.level < Level::Full {
        return None;
    }
    let is_whole = text.level == Level::Raw;
    if text.details.is_whole != is_whole {
        text.details = Shown { is_whole, ..Shown::default() };
    }
    let mut wanted = Vec::new();
    for line in text.view.lines.chunk_by(|line, next| line.place == next.place).filter_map(<[_]>::first) {
        let Some(entry) = scene.session.transcript.get(line.entry) else { continue };
        let within = text.sequence.portions().at(line.place).blocks();
        for block in within.start..within.end.min(entry.blocks.len()) {
            let records = records_below(entry, block).into_iter().map(|(_, origin)| origin);
            wanted.extend(records.filter(|origin| !text.details.known.contains_key(origin)));
        }
    }
    wanted.retain(|origin| text.details.asked.insert(*origin));
    (!wanted.is_empty()).then_some(Effect::Details { origins: wanted, is_whole })
}

/// Takes what was asked for.
pub fn take(text: &mut TextPane, is_whole: bool, found: Vec<(Origin, Details)>) {
    let shown = &mut text.details;
    let mut is_seen = false;
    for (origin, details) in found {
        // What was asked for before records were read anew may be of others.
        if shown.is_whole == is_whole && shown.asked.remove(&origin) {
            shown.bytes += u64::from(origin.len);
            is_seen |= !details.is_empty();
            shown.known.insert(origin, Arc::new(details));
            shown.order.push_back(origin);
        }
    }
    let is_much = |shown: &Shown| shown.order.len() > 1 && is_whole && shown.bytes > KEPT_BYTES;
    while shown.order.len() > KEPT || is_much(shown) {
        if let Some(oldest) = shown.order.pop_front() {
            shown.bytes = shown.bytes.saturating_sub(u64::from(oldest.len));
            shown.known.remove(&oldest);
        }
    }
    if is_seen {
        text.cache.clear();
    }
}
