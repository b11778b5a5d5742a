//! The strip of the focused turn.

use super::{Made, SCALES, Segment, Strip, TITLE, column, runs};
use crate::analysis::account::{Class, TimeSpan};
use crate::analysis::activity::Activity;
use crate::analysis::calls::{Place, call_at};
use crate::app::effect::Effect;
use crate::app::input::action::Action;
use crate::app::layout::Frame;
use crate::app::scene::Scene;
use crate::app::side_pane::SidePane;
use crate::app::text::TextPane;
use crate::app::text::viewport::Focus;
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;
use crate::session::Session;
use crate::session::indexes::Needs;

/// A session that took no longer, in ms, is shown as a whole.
const SHORT_MS: u64 = 5 * 60_000;

/// Columns of the screen from which there is room for what the shades stand for.
const SIGNS_FROM: u16 = 100;

/// Narrower strips say nothing besides.
const LEAST: usize = 12;

/// Of a long turn so many entries on each side of the cursor.
const AROUND: usize = 1_500;

impl SidePane for Strip {
    fn needs(&self, _: &Frame) -> Needs {
        // The account is always followed.
        Needs::default()
    }

    /// Makes the strip, if it is in sight and anything has changed.
    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect> {
        if frame.strip.height == 0 {
            return Vec::new();
        }
        let is_live = scene.session.is_at_work(scene.screen.now);
        let focus = text.view.focus;
        let made = Made {
            focus,
            width: frame.strip.width,
            generation: scene.session.indexes.generation,
            second: if is_live { scene.screen.now.0 / 1_000 } else { 0 },
            signs: signs(scene),
        };
        if self.made != Some(made) {
            *self = Self { made: Some(made), ..make(scene, focus, usize::from(frame.strip.width)) };
        }
        Vec::new()
    }

    fn act(&mut self, _: &mut TextPane, _: &mut Scene<'_>, _: Action, _: usize) -> Option<Vec<Effect>> {
        None
    }
}

fn make(scene: &Scene<'_>, focus: Option<Focus>, width: usize) -> Strip {
    let turns = scene.session.transcript.turns();
    let focused = focus.map(|focus| focus.entry);
    let newest = || turns.last().map(|turn| turn.prompt);
    let main = focused.or_else(newest).and_then(|id| scene.session.transcript.main_lane_of(id));
    let all = scene.session.indexes.account.time(main).total();
    let last = turns.len().checked_sub(1);
    // What stands before the first prompt belongs to what it leads to.
    let turn = focused.map_or(last, |id| {
        Some(scene.session.indexes.account.turn_of(&scene.session.transcript, id).unwrap_or(0))
    });
    let is_whole = all <= SHORT_MS || turns.is_empty();
    let shown = turn.filter(|_| !is_whole);
    let first_of_all = || {
        scene
            .session
            .transcript
            .order()
            .iter()
            .find(|id| scene.session.transcript.lane_at(**id) == main)
            .copied()
    };
    let first = shown.and_then(|turn| turns.get(turn)).map(|turn| turn.prompt).or_else(first_of_all);
    let Some(first) = first else {
        return Strip { legend: "no times to tell".to_owned(), ..Strip::default() };
    };
    let end = shown.and_then(|turn| scene.session.transcript.turn_after(turn)).map(|turn| turn.prompt);
    let holder = focused.map_or(first, |id| holder_of(scene, id));
    let spans = scene.session.indexes.account.between(first, end, holder, AROUND);
    let mut parts: Vec<Segment> = spans.iter().map(|span| part(scene, span)).collect();
    if end.is_none() {
        parts.extend(going_on(scene, &spans));
    }
    let total: u64 = parts.iter().map(|part| part.ms).sum();
    let what = match shown {
        Some(turn) => format!("turn {}", turn + 1),
        None => "session".to_owned(),
    };
    let work =
        work_ms(scene, shown, main) + parts.last().filter(|part| part.goes_on).map_or(0, Segment::work_ms);
    if total == 0 {
        let took = if work > 0 { format!(" took {}", figures::duration(work)) } else { String::new() };
        return Strip { legend: format!("{what}{took}: no times to tell"), ..Strip::default() };
    }
    let words = [work, total].map(figures::duration);
    let took = match words {
        [work_words, total_words] if work > 0 && work_words != total_words => {
            format!("{work_words} of {total_words}")
        }
        [_, total_words] => total_words,
    };
    let legend = |scale: u64| format!("  {}{what} {took}  1 col = {}", signs(scene), column(scale));
    // The legend's own length hardly depends on the scale.
    let room = width.saturating_sub(TITLE.len() + legend(SCALES.last().copied().unwrap_or(1)).len() + 1);
    let (room, is_bare) =
        if room < LEAST { (width.saturating_sub(TITLE.len() + 1), true) } else { (room, false) };
    let scale = SCALES.into_iter().find(|scale| total.div_ceil(*scale) <= room as u64);
    let Some(scale) = scale else { return Strip { legend: what, ..Strip::default() } };
    let cursor = focus.and_then(|focus| {
        let at = offset(scene.session, &spans, focus)?;
        usize::try_from(at.min(total - 1) / scale).ok()
    });
    Strip {
        runs: runs(&parts, scale),
        cursor,
        legend: if is_bare { String::new() } else { legend(scale) },
        made: None,
    }
}

/// What the shades stand for, if there is room.
fn signs(scene: &Scene<'_>) -> &'static str {
    match scene.screen.theme.ascii {
        _ if scene.screen.size.0 < SIGNS_FROM => "",
        true => "# model = tool . you ! retry  ",
        false => "▄ model ▂ tool · you ! retry  ",
    }
}

/// What the turn, or the session, took without the time of the human, in ms.
fn work_ms(scene: &Scene<'_>, turn: Option<usize>, main: Option<&Name>) -> u64 {
    let account = &scene.session.indexes.account;
    match turn {
        Some(turn) => account.turn(&scene.session.transcript, turn).time.work(),
        None => account.time(main).work(),
    }
}

/// The entry of the main lane that an item belongs to.
fn holder_of(scene: &Scene<'_>, id: EntryId) -> EntryId {
    let lane = scene.session.transcript.get(id).and_then(|entry| entry.lane.as_ref());
    let lane = lane.and_then(|name| scene.session.transcript.lane(name));
    lane.and_then(|lane| scene.session.transcript.root_caller(lane)).unwrap_or(id)
}

fn part(scene: &Scene<'_>, span: &TimeSpan) -> Segment {
    let entry = scene.session.transcript.get(span.entry);
    let call = entry.zip(span.call()).and_then(|(entry, call)| call_at(entry, call.block));
    Segment {
        ms: span.ms(),
        class: span.class,
        has_failed: call.is_some_and(|call| matches!(call.state, ToolState::Failed(_))),
        goes_on: false,
    }
}

/// What the agent has been doing since the last sign.
fn going_on(scene: &Scene<'_>, spans: &[TimeSpan]) -> Option<Segment> {
    let last = spans.last()?.to;
    let class = match &scene.session.status.activity {
        Activity::Tool { .. } => Class::Tool,
        Activity::Model { .. } => Class::Model,
        Activity::Retry { .. } => Class::Retry,
        Activity::Waiting { .. } if scene.session.is_at_work(scene.screen.now) => Class::Human,
        _ => return None,
    };
    let ms = scene.screen.now.since(last);
    (ms > 0).then_some(Segment { ms, class, has_failed: false, goes_on: true })
}

/// Where an item lies on the line, in ms from its beginning.
fn offset(session: &Session, spans: &[TimeSpan], focus: Focus) -> Option<u64> {
    let Focus { entry: id, block } = focus;
    let own = spans.iter().position(|one| one.call() == Some(Place { entry: id, block }));
    let before = |place: usize| spans.iter().take(place).map(TimeSpan::ms).sum::<u64>();
    if let Some(place) = own {
        return Some(before(place));
    }
    let at: Timestamp = session.transcript.get(id)?.at?;
    let place = spans.iter().position(|one| one.from <= at && at <= one.to)?;
    Some(before(place) + at.since(spans.get(place)?.from))
}
