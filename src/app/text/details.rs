//! Reads the fields of records that no block shows, for the entries in the window ([`crate::session::details`]).

use super::TextPane;
use crate::app::effect::Effect;
use crate::app::scene::Scene;
use crate::model::entry::details::Details;
use crate::model::record::Origin;
use crate::render::row::Level;

/// Requests the details of visible entries, each record once.
pub fn request(text: &mut TextPane, scene: &Scene<'_>) -> Option<Effect> {
    if text.level < Level::Full {
        text.view.accept_clamp();
        return None;
    }
    let is_whole = text.level == Level::Raw;
    text.details.set_whole(is_whole);
    let mut origins = Vec::new();
    for line in text
        .view
        .lines
        .chunk_by(|line, next| line.place == next.place)
        .filter_map(<[_]>::first)
    {
        let Some(entry) = scene.session.transcript.get(line.entry) else {
            continue;
        };
        let within = text.sequence.portions().at(line.place).blocks();
        origins.extend(text.details.request_missing(entry, within));
    }
    if !text.details.is_pending() {
        text.view.accept_clamp();
    }
    (!origins.is_empty()).then_some(Effect::Details { origins, is_whole })
}

/// Stores details that were read.
pub fn apply(text: &mut TextPane, is_whole: bool, found: Vec<(Origin, Details)>) {
    if text.details.insert(is_whole, found) {
        text.cache.clear();
        text.view.restore_place();
    }
}
