//! Events and actions to changes of the state. All meaning is here; no I/O, no clock.

use super::alarms;
use super::apply;
use super::arrange;
use super::clipboard;
use super::details;
use super::dispatch::{self, carry_out};
use super::effect::Effect;
use super::filtering;
use super::help;
use super::inspector::{self, Records};
use super::keys::Press;
use super::mode::Mode;
use super::mouse::{self, Pointer};
use super::picker;
use super::raw;
use super::reading;
use super::route::{self, route};
use super::search_progress::Hit;
use super::searching;
use super::state::App;
use super::typing::{self};
use super::viewport::{Focus, Motion};
use crate::analysis::activity::LastWrite;
use crate::model::body::{Held, Tree};
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::entry::details::Details;
use crate::model::found::{Place, Preview, Sighting};
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::WasPacked;

/// What can happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Press),
    /// The mouse did something.
    Mouse(Pointer),
    /// Text was pasted.
    Paste(String),
    /// The screen has this many columns and lines.
    Resize(u16, u16),
    /// The session says something.
    Feed(Box<Feed>),
    /// Time has passed.
    Tick {
        /// It is now.
        now: Timestamp,
    },
    /// The file was changed at this time.
    Written(Timestamp),
    /// Bodies that were asked for.
    Paged {
        /// The entries that wait for them.
        entries: Vec<EntryId>,
        /// Contents by record.
        contents: Vec<(Origin, Vec<Held>)>,
    },
    /// What records hold that no block tells.
    Detailed {
        /// Whether all that the records hold was wanted.
        is_whole: bool,
        /// What was found.
        found: Vec<(Origin, Details)>,
    },
    /// Entries that were to be packed.
    Packed(WasPacked),
    /// Results of the search on the thread.
    Searched {
        /// For which search.
        generation: u32,
        /// Which portion was searched.
        number: u32,
        /// Its hits.
        hits: Vec<Hit>,
    },
    /// How far the thread is that reads texts for a filter.
    Filtered {
        /// For which filter.
        generation: u32,
        /// How much has been read.
        percent: u8,
        /// At the end, the blocks that match, with the state of their entries.
        matched: Option<Vec<(Focus, u32)>>,
    },
    /// Records that were asked for, as trees.
    Records {
        /// What they are.
        title: String,
        /// A title and the value of each.
        trees: Vec<(String, Tree)>,
    },
    /// Records that the inspector asked for.
    Inspected(Records),
    /// Sessions that were looked for.
    Seen(Sighting),
    /// What a session is about.
    Previewed(Place, Preview),
    /// Colours that were asked for are ready.
    Coloured,
    /// The terminal has said whether its background is light.
    Background(bool),
    /// Something to tell the reader.
    Say(String),
}

/// Fills what is in sight, before a frame. Says what must be read for it.
pub fn arrange(app: &mut App) -> Vec<Effect> {
    match app.mode {
        Mode::Picker => picker::actions::arrange(app),
        _ => arrange::arrange(&mut app.reader),
    }
}

/// Carries out an event.
pub fn update(app: &mut App, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(press) => {
            let request = route(app, press);
            return carry_out(app, request);
        }
        Event::Mouse(pointer) => return mouse::actions::take(app, pointer),
        Event::Paste(text) => return typing::paste(app, &text),
        Event::Resize(columns, lines) => {
            app.reader.screen.size = (columns, lines);
            app.reader.look_changed();
            help::fit_page(app);
            if app.reader.text.view.selection.is_some() {
                app.reader.text.view.ask(Motion::Select);
            }
        }
        Event::Feed(feed) => return reading::take(&mut app.reader, *feed),
        Event::Tick { now } => {
            app.reader.screen.tick(now);
            let mut effects = alarms::actions::look(&mut app.reader);
            if let Some(action) = route::settle_digit(app) {
                effects.extend(dispatch::dispatch(app, action, 1));
            }
            return effects;
        }
        Event::Written(at) => app.reader.session.file.last_write = Some(LastWrite::seen(at)),
        Event::Paged { entries, contents } => {
            apply::fill(&mut app.reader, &entries, &contents);
            return clipboard::actions::resume(&mut app.reader);
        }
        Event::Detailed { is_whole, found } => details::ask::take(&mut app.reader, is_whole, found),
        Event::Packed(page) => app.reader.session.take_back(page),
        Event::Searched { generation, number, hits } => {
            return searching::found(&mut app.reader, generation, number, hits);
        }
        Event::Filtered { generation, percent, matched } => {
            filtering::answered(&mut app.reader, generation, percent, matched.as_deref());
        }
        Event::Seen(sighting) => app.picker.see(sighting),
        Event::Previewed(place, preview) => picker::actions::take(app, &place, preview),
        Event::Inspected(records) => inspector::actions::take(&mut app.reader, records),
        Event::Records { title, trees } => raw::actions::show(app, title, &trees),
        Event::Background(is_light) if is_light != app.reader.screen.theme.is_light => {
            return vec![Effect::Theme(if is_light { "light" } else { "dark" }.to_owned())];
        }
        // The next arrangement sees that the colours have changed.
        Event::Coloured | Event::Background(_) => {}
        Event::Say(text) => app.reader.screen.say(text),
    }
    Vec::new()
}
