//! Items that the reader marked with a letter.
//!
//! Invariant: kept by the entry's key, so that marks survive a new telling of the session.

use super::action::Action;
use super::apply;
use super::effect::Effect;
use super::moving::{go, jump};
use super::outline::row::title_of;
use super::reader::Reader;
use super::state::App;
use super::viewport::Focus;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId};

/// Sets a mark, goes to one, or to where jumps came from.
pub fn act(app: &mut App, action: Action, times: usize) -> Vec<Effect> {
    match action {
        Action::SetMark => return set(app),
        Action::ToMark => go_to(app),
        other => {
            let is_back = other == Action::Back;
            return (0..times.min(1_000)).flat_map(|_| travel(&mut app.reader, is_back)).collect();
        }
    }
    Vec::new()
}

/// Marks the focused item with the letter that was pressed.
fn set(app: &mut App) -> Vec<Effect> {
    let Some(letter) = app.keys.letter.filter(|letter| letter.is_alphanumeric()) else {
        app.reader.screen.say("a letter or a digit names the mark");
        return Vec::new();
    };
    let marked =
        app.reader.text.view.focus.and_then(|focus| {
            Some((app.reader.session.transcript.get(focus.entry)?.key.clone(), focus.block))
        });
    let Some(marked) = marked else {
        app.reader.screen.say("nothing is focused");
        return Vec::new();
    };
    app.reader.places.marks.insert(letter, marked);
    app.reader.text.stale.spine = true;
    app.reader.screen.say(format!("marked {letter}"));
    vec![Effect::Remember]
}

/// To the item with the letter that was pressed.
fn go_to(app: &mut App) {
    let Some(letter) = app.keys.letter.filter(|letter| letter.is_alphanumeric()) else {
        return app.reader.screen.say("a letter or a digit names the mark");
    };
    let Some((key, block)) = app.reader.places.marks.get(&letter).cloned() else {
        return app.reader.screen.say(format!("nothing is marked {letter}"));
    };
    match app.reader.session.transcript.find(&key) {
        Some(entry) => jump(&mut app.reader, Focus { entry, block }),
        None if app.reader.session.ends.is_part() => {
            app.reader.screen.say(format!("what was marked {letter} is not read yet"));
        }
        None => app.reader.screen.say(format!("what was marked {letter} is not in the session any more")),
    }
}

/// The marks in the order of their letters, each with what it stands at.
pub fn listed(reader: &Reader) -> Vec<(char, String)> {
    let at = |(key, block): &(Key, usize)| {
        let entry = reader.session.transcript.find(key).and_then(|id| reader.session.transcript.get(id));
        entry.map_or_else(
            || "gone".to_owned(),
            |entry| match entry.blocks.get(*block).map(|block| &block.kind) {
                Some(BlockKind::Call(call)) => format!("{} {}", call.name, call.headline),
                Some(BlockKind::Thinking(body)) => body.stub.to_string(),
                Some(BlockKind::Break(what)) => what.words().to_string(),
                Some(BlockKind::Raw(raw)) => raw.title.to_string(),
                Some(BlockKind::Text(_) | BlockKind::Result(_) | BlockKind::Image(_)) | None => {
                    title_of(entry).to_string()
                }
            },
        )
    };
    let mut marks: Vec<(char, String)> =
        reader.places.marks.iter().map(|(letter, mark)| (*letter, at(mark))).collect();
    marks.sort_unstable();
    marks
}

/// Entries with marks.
pub fn entries(reader: &Reader) -> impl Iterator<Item = EntryId> {
    reader.places.marks.values().filter_map(|(key, _)| reader.session.transcript.find(key))
}

/// Takes the last jump back, or goes forward again.
fn travel(reader: &mut Reader, is_back: bool) -> Vec<Effect> {
    // From the beginning of a session that is being read to where the reader was among its last entries.
    let effects = if is_back && !reader.places.can_go_back() { apply::to_end(reader) } else { Vec::new() };
    match reader.places.travel(&reader.session.transcript, reader.text.view.focus, is_back) {
        Some(focus) => go(reader, focus),
        None if is_back => reader.screen.say("no jump to take back"),
        None => reader.screen.say("no jump was taken back"),
    }
    effects
}
