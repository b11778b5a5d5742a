//! Applies events to the state, and returns effects. No I/O, no clock.

use super::comparison::Compared;
use super::copying::clipboard;
use super::dispatch::{self, answer, mouse, typing};
use super::effect::Effect;
use super::hints;
use super::input::action::Action;
use super::input::keys::Press;
use super::input::mouse::{Gesture, Pointer};
use super::inspector::InspectedRecords;
use super::mode::Mode;
use super::pop_ups::help;
use super::pop_ups::raw::RawView;
use super::state::App;
use super::text::compared;
use super::text::details;
use super::text::find::{filter, search};
use super::text::viewport::{Focus, Motion};
use super::{arrange, ledger, picker, wall};
use crate::analysis::activity::LastWrite;
use crate::analysis::ledger::counting::CountedUsage;
use crate::analysis::wall::Glance;
use crate::analysis::wall::News;
use crate::app::screens::AppScreen;
use crate::model::body::{Held, Tree};
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::entry::details::Details;
use crate::model::found::{Sighting, TextHit};
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::session::search::progress::BlockHits;

/// An event from the terminal, a worker or the session.
#[derive(Clone, Debug)]
pub enum Event {
    Key(Press),
    Mouse(Pointer),
    Paste(String),
    /// The screen was resized to this many columns and lines.
    Resize(u16, u16),
    /// A message from the thread that reads the session.
    Feed(Box<Feed>),
    /// A tick of the clock.
    Tick {
        now: Timestamp,
    },
    /// The file was changed at this time.
    Written(Timestamp),
    /// Bodies that were read.
    Paged {
        /// The entries that need the bodies.
        entries: Vec<EntryId>,
        contents: Vec<(Origin, Vec<Held>)>,
    },
    /// Fields of records that no block shows.
    Detailed {
        /// Whether all fields were read.
        is_whole: bool,
        /// The fields, by record.
        found: Vec<(Origin, Details)>,
    },
    /// Hits of the search worker.
    Searched {
        /// Generation of the search.
        generation: u32,
        /// Number of the searched portion.
        number: u32,
        /// Hits in the portion.
        hits: Vec<BlockHits>,
    },
    /// Two runs that were compared, or why they were not.
    Compared {
        /// What the runs are called.
        names: [String; 2],
        read: Result<Compared, String>,
    },
    /// Progress of the filter worker.
    Filtered {
        /// Generation of the filter.
        generation: u32,
        percent: u8,
        /// At the end, the matching blocks, with the state of their entries.
        matched: Option<Vec<(Focus, u32)>>,
    },
    /// Records for the raw pop-up, as trees.
    Records {
        /// Title of the pop-up.
        title: String,
        /// Title and value of each record.
        trees: Vec<(String, Tree)>,
    },
    /// Records for the inspector.
    Inspected(InspectedRecords),
    /// A result of the scan for sessions.
    Seen(Sighting),
    /// Facts read of a session that is not open.
    Glanced(Box<Glance>),
    /// A session with a hit in its text, and the generation of the search.
    TextHit(u32, Box<TextHit>),
    /// The search through texts has ended.
    TextsSearched {
        /// Generation of the search.
        generation: u32,
        /// Whether all sessions were searched; otherwise the limit of hits was reached.
        is_all: bool,
        /// Number of sessions that could not be read.
        failures: usize,
    },
    /// News of a followed session, for the wall.
    News(Box<News>),
    /// Sums for the ledger, of the sessions counted so far.
    Counted(Box<CountedUsage>),
    /// Syntax highlights or drawings are ready.
    Coloured,
    /// The terminal reported whether its background is light.
    Background(bool),
    /// A message for the status line.
    Status(String),
}

/// Lays out the current screen before a frame. Returns effects that read missing data.
pub fn arrange(app: &mut App) -> Vec<Effect> {
    if !app.mode.is_of_all() {
        return arrange::arrange(&mut app.reader);
    }
    let screen = &app.reader.screen;
    match app.mode.screen() {
        AppScreen::Picker => return picker::actions::arrange(&mut app.picker, screen),
        AppScreen::Wall => wall::sheet::arrange(&mut app.wall, screen),
        AppScreen::Ledger => ledger::sheet::arrange(&mut app.ledger, screen),
        AppScreen::Session => {}
    }
    Vec::new()
}

pub fn update(app: &mut App, event: Event) -> Vec<Effect> {
    let mut effects = handle(app, event);
    effects.extend(answer(app));
    // A pop-up may have replaced the line of a typed search.
    if !matches!(app.mode, Mode::Search { .. }) {
        app.reader.text.find.typing = None;
    }
    effects
}

fn handle(app: &mut App, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(press) => return dispatch::press(app, press),
        Event::Mouse(pointer) if app.mouse.is_on => return point(app, pointer),
        Event::Paste(text) => typing::paste(app, &text),
        Event::Resize(columns, lines) => {
            app.reader.screen.size = (columns, lines);
            app.reader.text.invalidate_rows();
            help::fit_page(&mut app.mode, &app.reader.screen);
            if app.reader.text.view.selection.is_some() {
                app.reader.text.view.push_motion(Motion::Select);
            }
        }
        Event::Feed(feed) => return app.reader.apply_feed(*feed),
        Event::Tick { now } => {
            app.reader.screen.tick(now);
            return app.reader.check_alarms();
        }
        Event::Written(at) => app.reader.session.file.last_write = Some(LastWrite::observed(at)),
        Event::Paged { entries, contents } => {
            app.reader.fill(&entries, &contents);
            return app.reader.with_text(clipboard::actions::resume);
        }
        Event::Detailed { is_whole, found } => {
            details::apply(&mut app.reader.text, is_whole, found);
        }
        Event::Searched {
            generation,
            number,
            hits,
        } => {
            return app.reader.with_text(|text, scene| {
                search::apply_hits(text, scene, generation, number, hits)
            });
        }
        Event::Compared { names, read } => compared::apply(&mut app.reader.text, &names, read),
        Event::Filtered {
            generation,
            percent,
            matched,
        } => {
            filter::apply_results(
                &mut app.reader.text,
                generation,
                percent,
                matched.as_deref(),
            );
        }
        Event::Seen(sighting) => app.picker.apply(sighting),
        Event::Glanced(glance) => app.picker.add_glance(*glance),
        Event::TextHit(generation, hit) => app.picker.add_hit(generation, *hit),
        Event::TextsSearched {
            generation,
            is_all,
            failures,
        } => {
            app.picker.end_of_texts(generation, is_all, failures);
        }
        Event::News(news) => return wall::actions::apply_news(app, *news),
        Event::Counted(counted) => app.ledger.apply(*counted),
        Event::Inspected(records) => app.reader.inspector.set_records(records),
        Event::Records { title, trees } => {
            app.mode = Mode::Raw(RawView::of_trees(title, &trees, &app.reader.screen));
        }
        Event::Background(is_light) if is_light != app.reader.screen.theme.is_light => {
            return vec![Effect::Theme(
                if is_light { "light" } else { "dark" }.to_owned(),
            )];
        }
        // The next layout compares the generation of the highlights.
        Event::Coloured | Event::Background(_) | Event::Mouse(_) => {}
        Event::Status(text) => app.reader.screen.set_status(text),
    }
    Vec::new()
}

/// The action of the cell of the bar that is pressed: a view or a list.
fn bar_action(app: &App, pointer: Pointer) -> Option<Action> {
    let bar = app.reader.frame().bar;
    let is_on = bar.contains((pointer.column, pointer.line).into());
    let column = pointer.column.checked_sub(bar.x)?;
    let counts = app.reader.checks.failures_and_errors();
    let mut cells = hints::bar(&app.keys.keymap, bar.width, counts).into_iter();
    let is_pressed = is_on && pointer.gesture == Gesture::Press;
    cells
        .find(|cell| is_pressed && (cell.column..cell.end()).contains(&column))
        .map(|cell| cell.action)
}

/// Applies a gesture of the mouse.
fn point(app: &mut App, pointer: Pointer) -> Vec<Effect> {
    app.reader.text.places.wants_beginning = false;
    match (&app.mode, mouse::wheel_of(pointer.gesture)) {
        (Mode::Help { .. } | Mode::Raw(_), Some(by)) => dispatch::scroll_pop_up(app, by),
        (Mode::Picker | Mode::Palette(_) | Mode::Wall | Mode::Ledger, Some(by)) => {
            dispatch::scroll_pop_up(app, by.signum());
        }
        (_, Some(by)) => return mouse::turn_wheel(&mut app.reader, pointer, by),
        (Mode::Normal, None) => match bar_action(app, pointer) {
            Some(action) => return dispatch::act(app, action),
            None => mouse::handle_gesture(&mut app.mouse, &mut app.reader, pointer),
        },
        (_, None) => {}
    }
    Vec::new()
}
