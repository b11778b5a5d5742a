//! Reads bodies from disk for the window ([`crate::session::paging`]).

use super::TextPane;
use crate::app::effect::Effect;
use crate::app::scene::Scene;
use crate::session::paging::Paging;

/// Requests the bodies in the window that are on disk, and those that layouts lacked.
pub fn page(text: &mut TextPane, scene: &Scene<'_>) -> Option<Effect> {
    let mut paging = Paging::default();
    let portions = text
        .view
        .lines
        .chunk_by(|line, next| line.place == next.place);
    for line in portions.filter_map(<[_]>::first) {
        let portion = text.sequence.portions().at(line.place);
        if let Some(entry) = scene.session.transcript.get(line.entry) {
            paging.portion(&mut text.pending_pages, (line.entry, entry), portion.number);
        }
    }
    for (id, holder, body) in std::mem::take(&mut text.cache.needed_bodies) {
        if let Some(entry) = scene.session.transcript.get(holder) {
            paging.other(&mut text.pending_pages, (holder, entry), Some(body));
            paging.needs_layout(id);
        }
    }
    effect(paging)
}

/// The effect that reads the collected bodies, if there are any.
pub(crate) fn effect(paging: Paging) -> Option<Effect> {
    paging
        .into_request()
        .map(|(entries, origins)| Effect::Page { entries, origins })
}
