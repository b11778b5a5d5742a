//! Marks: items that the user named by letters.
//!
//! Invariant: marks are stored by the entry's key, so they survive a reload.

use super::item_of;
use crate::analysis::phrases::title_of;
use crate::app::effect::Effect;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::jumps::{go_to_item, jump};
use crate::app::text::viewport::Focus;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::transcript::Transcript;

/// Marks the focused item with the pressed letter.
pub(crate) fn set(text: &mut TextPane, scene: &mut Scene<'_>, letter: Option<char>) -> Vec<Effect> {
    let Some(letter) = letter.filter(|letter| letter.is_alphanumeric()) else {
        scene.set_status("a letter or a digit names the mark");
        return Vec::new();
    };
    let focus = text.view.focus;
    let marked = focus.and_then(|focus| item_of(&scene.session.transcript, focus));
    let Some(marked) = marked else {
        scene.set_status("nothing is focused");
        return Vec::new();
    };
    text.places.marks.insert(letter, marked);
    text.stale.spine = true;
    scene.set_status(format!("marked {letter}"));
    vec![Effect::Remember]
}

/// Jumps to the item with the pressed letter.
pub(crate) fn go_to(text: &mut TextPane, scene: &mut Scene<'_>, letter: Option<char>) {
    let Some(letter) = letter.filter(|letter| letter.is_alphanumeric()) else {
        return scene.set_status("a letter or a digit names the mark");
    };
    let Some((key, block)) = text.places.marks.get(&letter).cloned() else {
        return scene.set_status(format!("nothing is marked {letter}"));
    };
    match scene.session.transcript.find(&key) {
        Some(entry) => jump(text, scene, Focus { entry, block }),
        None if scene.session.is_part() => {
            scene.set_status(format!("what was marked {letter} is not read yet"));
        }
        None => scene.set_status(format!(
            "what was marked {letter} is not in the session any more"
        )),
    }
}

/// The marks by letter, each with the title of its item.
pub fn listed(text: &TextPane, transcript: &Transcript) -> Vec<(char, String)> {
    let at = |(key, block): &(Key, usize)| {
        let entry = transcript.find(key).and_then(|id| transcript.get(id));
        entry.map_or_else(
            || "gone".to_owned(),
            |entry| match entry.blocks.get(*block).map(|block| &block.kind) {
                Some(BlockKind::Call(call)) => {
                    format!(
                        "{} {}",
                        call.shown_name(),
                        call.about(transcript.meta().root.as_deref())
                    )
                }
                Some(BlockKind::Thinking(body)) => body.stub.to_string(),
                Some(BlockKind::Break(what)) => what.words().to_string(),
                Some(BlockKind::Raw(raw) | BlockKind::Aside(_, raw)) => raw.title.to_string(),
                Some(BlockKind::Text(_) | BlockKind::Result(_) | BlockKind::Image(_)) | None => {
                    title_of(entry).to_string()
                }
            },
        )
    };
    let mut marks: Vec<(char, String)> = text
        .places
        .marks
        .iter()
        .map(|(letter, mark)| (*letter, at(mark)))
        .collect();
    marks.sort_unstable();
    marks
}

/// The entries with marks.
pub fn entries(text: &TextPane, transcript: &Transcript) -> impl Iterator<Item = EntryId> {
    text.places
        .marks
        .values()
        .filter_map(|(key, _)| transcript.find(key))
}

/// Goes back or forward in the jump list.
pub(crate) fn step_jumps(text: &mut TextPane, scene: &mut Scene<'_>, is_back: bool) {
    match text
        .places
        .step_jumps(&scene.session.transcript, text.view.focus, is_back)
    {
        Some(focus) => go_to_item(text, scene, focus),
        None if is_back => scene.set_status("no jump to take back"),
        None => scene.set_status("no jump was taken back"),
    }
}
