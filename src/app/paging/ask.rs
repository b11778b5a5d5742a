//! Bodies are asked for.

use super::Paging;
use crate::app::effect::Effect;
use crate::app::reader::Reader;

/// Asks for the bodies in the window that are on disk, and for those that its layout lacked.
pub fn page(reader: &mut Reader) -> Option<Effect> {
    let mut paging = Paging::default();
    let portions = reader.text.view.lines.chunk_by(|line, next| line.place == next.place);
    for line in portions.filter_map(<[_]>::first) {
        let portion = reader.text.sequence.portions().at(line.place);
        if let Some(entry) = reader.session.transcript.get(line.entry) {
            paging.portion(&mut reader.text.asked, (line.entry, entry), portion.number);
        }
    }
    for (id, holder, body) in std::mem::take(&mut reader.text.cache.wanted) {
        if let Some(entry) = reader.session.transcript.get(holder) {
            paging.other(&mut reader.text.asked, (holder, entry), Some(body));
            paging.needs_layout(id);
        }
    }
    paging.effect()
}
