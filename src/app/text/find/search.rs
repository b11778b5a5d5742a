//! The search of the transcript pane: typing, hits from the worker, steps from hit to hit.

use tui_input::Input;

use super::opened::OpenedFolds;
use super::{Edge, PendingHit, TypedSearch, first_seen, mention};
use crate::analysis::search::texts;
use crate::app::effect::Effect;
use crate::app::input::action::{Action, Way};
use crate::app::input::history::HistoryKind;
use crate::app::mode::Mode;
use crate::app::scene::{Ask, Scene};
use crate::app::text::TextPane;
use crate::app::text::viewport::{Focus, Motion};
use crate::model::entry::EntryId;
use crate::model::transcript::Touched;
use crate::session::search::progress::BlockHits;
use crate::session::search::{Search, Seek, hits_of};

/// Limit of queued steps, however fast the key repeats.
const MOST_STEPS: isize = 1_000;

/// Starts typing a search, or goes to another hit.
pub fn act(text: &mut TextPane, scene: &mut Scene<'_>, action: Action) -> Vec<Effect> {
    match action {
        Action::Search => {
            let (from, opened) = (text.position(), text.find.opened.clone());
            text.find.typing = Some(Box::new(TypedSearch {
                text: String::new(),
                is_new: false,
                from,
                opened,
            }));
            scene.enter(Mode::Search {
                input: Input::default(),
            });
        }
        Action::Mention(way) => return seek_mention(text, scene, way),
        Action::FirstSeen => return seek_first(text, scene, None),
        Action::NextHit => step_hits(text, scene, 1),
        _ => step_hits(text, scene, -1),
    }
    Vec::new()
}

/// Stores the typed pattern. [`run_typed`] compiles it before the next frame or action, since keys
/// may arrive faster than patterns compile.
pub(crate) fn set_typed(text: &mut TextPane, typed: &str) {
    let Some(typing) = &mut text.find.typing else {
        return;
    };
    typed.clone_into(&mut typing.text);
    typing.is_new = true;
}

/// Switches between regular expression and literal text.
pub(crate) fn toggle_literal(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    text.find.is_literal = !text.find.is_literal;
    search_for_typed(text, scene)
}

/// Searches for the typed pattern, if it has changed.
pub(crate) fn run_typed(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let is_new = |typing: &mut Box<TypedSearch>| std::mem::take(&mut typing.is_new);
    if text.find.typing.as_mut().is_some_and(is_new) {
        search_for_typed(text, scene)
    } else {
        Vec::new()
    }
}

/// Starts the search, unless the pattern is the same as before.
fn search_for_typed(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(typing) = &text.find.typing else {
        return Vec::new();
    };
    let (typed, is_literal) = (typing.text.clone(), text.find.is_literal);
    let is_same = |search: &Search| search.typed == typed && search.is_literal == is_literal;
    if text.find.search.as_ref().is_some_and(is_same) {
        return Vec::new();
    }
    if typed.is_empty() {
        restore_position(text);
    }
    let search = Search::new(&typed, is_literal, text.find.next_generation());
    start(text, scene, search, Some(Seek::Nearest))
}

/// Accepts the typed search. An empty one repeats the last search, which may be from an earlier run
/// of the program.
pub(crate) fn accept(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    typed: &str,
    last: Option<String>,
) -> Vec<Effect> {
    text.find.typing = None;
    if !typed.is_empty() {
        if let Some(mistake) = text
            .find
            .search
            .as_ref()
            .and_then(|search| search.mistake.as_ref())
        {
            let place = mistake.at + 1;
            scene.set_status(format!(
                "no regular expression ({} at {place}): taken literally",
                mistake.what
            ));
        }
        return Vec::new();
    }
    if text.find.search.is_some() {
        step_hits(text, scene, 1);
        return Vec::new();
    }
    let Some(last) = last else { return Vec::new() };
    let search = Search::new(&last, text.find.is_literal, text.find.next_generation());
    let seeks = text.view.focus.map_or(Seek::Nearest, Seek::After);
    start(text, scene, search, Some(seeks))
}

/// Cancels the search that is being typed, and restores the previous position.
pub(crate) fn cancel(text: &mut TextPane) -> Vec<Effect> {
    restore_position(text);
    text.find.typing = None;
    end(text)
}

/// Ends the search, and closes the folds that it opened.
pub fn end(text: &mut TextPane) -> Vec<Effect> {
    let opened = std::mem::take(&mut text.find.opened);
    if !opened.is_empty() {
        text.view.pin();
        close(text, opened);
    }
    text.find.search = None;
    text.find.sought = None;
    text.find.current_hit = None;
    text.stale.spine = true;
    vec![Effect::CancelSearch]
}

fn close(text: &mut TextPane, opened: OpenedFolds) {
    opened.close(text.fold_state());
    text.stale.sequence = true;
    text.invalidate_rows();
}

/// Restores the position before the typing.
fn restore_position(text: &mut TextPane) {
    let typing = text.find.typing.as_ref();
    if let Some((from, opened)) = typing.map(|typing| (typing.from.clone(), typing.opened.clone()))
    {
        // A position includes folds, but neither the level nor thinking.
        let by_typed = std::mem::replace(&mut text.find.opened, opened);
        if by_typed.differs_in_look(&text.find.opened) {
            close(text, by_typed);
        }
        text.restore(&from);
        text.find.sought = None;
    }
}

fn start(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    search: Option<Search>,
    seeks: Option<Seek>,
) -> Vec<Effect> {
    let Some(mut search) = search else {
        return end(text);
    };
    search.seeks = seeks;
    search.start_lane =
        start_focus(text).and_then(|focus| scene.session.transcript.lane_at(focus.entry).cloned());
    // What is first is found first from the beginning on.
    let start = start_focus(text).filter(|_| !matches!(seeks, Some(Seek::First(_))));
    let place = start.and_then(|focus| scene.session.transcript.place_of(focus.entry));
    search.begin(place.unwrap_or(0), text.find.search.as_ref());
    text.find.search = Some(search);
    text.find.current_hit = None;
    send_portions(text, scene)
}

/// Sends the next portions to the worker, as many as its queue has room for.
fn send_portions(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let Some(search) = &mut text.find.search {
        while let Some(job) = search.next_job(&scene.session.transcript) {
            effects.push(Effect::Search(job));
        }
        let len = scene.session.transcript.order().len();
        search.percent = search.progress.percent(len);
        search.is_complete = search.progress.is_complete(len);
    }
    apply_filter(text);
    to_sought(text, scene);
    effects
}

/// The focused item, or the item that had the focus before the typing.
fn start_focus(text: &TextPane) -> Option<Focus> {
    text.find
        .typing
        .as_ref()
        .map_or(text.view.focus, |typing| typing.from.focus)
}

/// Searches again after the transcript was replaced. The window does not move.
pub fn restart(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(search) = text.find.search.take() else {
        return Vec::new();
    };
    let (typed, is_literal, at_hit) = (
        search.typed.clone(),
        search.is_literal,
        text.find.current_hit,
    );
    let seeks = search.seeks.and_then(|seeks| match seeks {
        Seek::First(_) => Some(Seek::First(None)),
        Seek::Nearest => Some(seeks),
        Seek::After(_) | Seek::Before(_) => None,
    });
    let search = Search::new(&typed, is_literal, text.find.next_generation());
    let effects = start(text, scene, search, seeks);
    text.find.current_hit = at_hit;
    effects
}

/// Searches for the text from the focused item. Further steps from hit to hit keep it.
fn seek_mention(text: &mut TextPane, scene: &mut Scene<'_>, way: Way) -> Vec<Effect> {
    let Some(focus) = text.view.focus else {
        return Vec::new();
    };
    let goes_on = text.find.current_hit.is_some_and(|at| at.focus == focus);
    let is_mention = |search: &Search| search.is_literal && search.scope.is_none();
    if goes_on && text.find.search.as_ref().is_some_and(is_mention) {
        step_hits(text, scene, if way == Way::Next { 1 } else { -1 });
        return Vec::new();
    }
    let Some(word) = mentioned(scene, focus) else {
        return Vec::new();
    };
    let seeks = if way == Way::Next {
        Seek::After(focus)
    } else {
        Seek::Before(focus)
    };
    seek(text, scene, &word, seeks)
}

/// The path, id or word of an item.
fn mentioned(scene: &mut Scene<'_>, focus: Focus) -> Option<String> {
    let transcript = &scene.session.transcript;
    let root = transcript.meta().root.as_deref();
    let entry = transcript.get(focus.entry);
    let word = entry.and_then(|entry| mention::of_block(entry, focus.block, root));
    if word.is_none() {
        scene.set_status("nothing in this item to look for");
    }
    word
}

/// Searches for a literal text, and goes to one of its hits.
fn seek(text: &mut TextPane, scene: &mut Scene<'_>, word: &str, seeks: Seek) -> Vec<Effect> {
    text.remember_place(scene.session);
    scene
        .requests
        .push(Ask::Keep(HistoryKind::Search, word.to_owned()));
    let search = Search::new(word, true, text.find.next_generation());
    start(text, scene, search, Some(seeks))
}

/// Goes to where the model first saw a text: the typed one, that of the hit at the focus, or that of
/// the focused item.
pub(crate) fn seek_first(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    typed: Option<&str>,
) -> Vec<Effect> {
    if scene.session.is_part() {
        scene.set_status("the beginning is not read yet");
        return Vec::new();
    }
    let focus = text.view.focus;
    let at_hit = text.find.current_hit.filter(|at| Some(at.focus) == focus);
    let search = text.find.search.as_ref().filter(|_| at_hit.is_some());
    let search = search.filter(|search| search.scope.is_none());
    let word = typed
        .map(str::to_owned)
        .or_else(|| search.map(|search| search.typed.clone()))
        .or_else(|| mentioned(scene, focus?));
    word.map_or_else(Vec::new, |word| {
        seek(text, scene, &word, Seek::First(focus))
    })
}

/// Searches for a literal text from the focus on.
pub(crate) fn begin(text: &mut TextPane, scene: &mut Scene<'_>, sought: &str) -> Vec<Effect> {
    scene
        .requests
        .push(Ask::Keep(HistoryKind::Search, sought.to_owned()));
    let search = Search::new(sought, true, text.find.next_generation());
    start(text, scene, search, Some(Seek::Nearest))
}

/// Applies the hits of a portion, and goes to the requested one.
pub fn apply_hits(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    generation: u32,
    number: u32,
    hits: Vec<BlockHits>,
) -> Vec<Effect> {
    let Some(search) = text
        .find
        .search
        .as_mut()
        .filter(|search| search.generation == generation)
    else {
        return Vec::new();
    };
    let level = text.level;
    let is_shown = |hit: &BlockHits| {
        scene
            .session
            .transcript
            .get(hit.focus.entry)
            .is_some_and(|entry| !level.hides(entry.marks))
    };
    for hits in search.progress.add_hits(number, hits) {
        search.add(
            &scene.session.transcript,
            hits.into_iter().filter(is_shown).collect(),
        );
    }
    send_portions(text, scene)
}

/// Drops hits that the filter hides.
pub fn apply_filter(text: &mut TextPane) {
    let filter = text.find.filter.as_ref();
    if let Some(search) = &mut text.find.search {
        search.narrow(|focus| filter.is_none_or(|filter| filter.shows(focus)));
        text.stale.spine = true;
    }
}

/// Goes to the first wanted hit as soon as it is determined.
fn to_sought(text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(search) = &text.find.search else {
        return;
    };
    let Some(seeks) = search.seeks else { return };
    let hit = search.chosen(&scene.session.transcript, seeks, start_focus(text));
    if hit.is_none() && !search.is_complete {
        return;
    }
    if let Some(search) = &mut text.find.search {
        search.seeks = None;
    }
    // Close what an earlier, shorter pattern opened.
    restore_position(text);
    match (hit, seeks) {
        (Some(hit), Seek::After(from) | Seek::Before(from)) if hit == from => {
            scene.set_status("mentioned nowhere else");
        }
        (Some(hit), Seek::First(from)) => first_seen::arrive(text, scene, hit, from),
        (None, Seek::First(_)) => scene.set_status("the model has not seen it"),
        (Some(hit), Seek::Before(_)) => {
            text.find.sought = Some(PendingHit {
                block: Some((hit, Edge::Last)),
                steps: 0,
            });
        }
        (Some(hit), _) => {
            text.find.sought = Some(PendingHit {
                block: Some((hit, Edge::First)),
                steps: 0,
            });
        }
        (None, _) => {}
    }
}

/// Steps forward or back by hits. The next layout finds them, since it has the rows.
fn step_hits(text: &mut TextPane, scene: &mut Scene<'_>, steps: isize) {
    let Some(search) = &text.find.search else {
        return scene.set_status("nothing is searched for; / starts a search");
    };
    if search.hits.is_empty() {
        let what = match (search.is_complete, text.find.filter.is_some()) {
            (true, true) => "no hits in what the filter shows",
            (true, false) => "no hits",
            (false, _) => "still searching",
        };
        return scene.set_status(what);
    }
    if text.find.sought.is_none() {
        text.remember_place(scene.session);
    }
    let sought = text.find.sought.get_or_insert_default();
    sought.steps = (sought.steps + steps).clamp(-MOST_STEPS, MOST_STEPS);
    text.view.push_motion(Motion::Pause);
}

/// Searches new and changed entries.
pub fn update(text: &mut TextPane, scene: &mut Scene<'_>, touched: &Touched) -> Vec<Effect> {
    let ids: Vec<EntryId> = touched
        .added
        .iter()
        .chain(&touched.changed)
        .copied()
        .collect();
    search_new(text, scene, &ids);
    let is_underway = text
        .find
        .search
        .as_ref()
        .is_some_and(|search| !search.is_complete);
    if touched.reordered && is_underway {
        restart(text, scene)
    } else {
        Vec::new()
    }
}

fn search_new(text: &mut TextPane, scene: &Scene<'_>, ids: &[EntryId]) {
    let Some(search) = &mut text.find.search else {
        return;
    };
    let mut hits = Vec::new();
    for id in ids {
        // Traces are searched only at the levels that show them.
        let entry = scene
            .session
            .transcript
            .get(*id)
            .filter(|entry| !text.level.hides(entry.marks));
        let Some(entry) = entry else { continue };
        let blocks = texts::of_entry_in(&scene.session.transcript, entry);
        hits.extend(hits_of(
            &search.pattern,
            search.scope,
            (*id, &blocks),
            &mut |_, _| None,
        ));
    }
    search.replace(&scene.session.transcript, ids, hits);
    if search.is_complete {
        search.progress.grow(scene.session.transcript.order().len());
    }
    apply_filter(text);
}
