//! The viewer without its threads: a session, keys, and frames painted to cells in memory.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tv::app::effect::Effect;
use tv::app::input::keys::parse_keys;
use tv::app::state::App;
use tv::app::update::arrange;
use tv::app::update::{Event, update};
use tv::ingest::{self, Pager, Target};
use tv::model::edit::Feed;
use tv::model::timestamp::Timestamp;
use tv::render::code::Colours;
use tv::render::row::Level;
use tv::render::theme::Theme;
use tv::session::search::Job;
use tv::ui;

/// A viewer whose bodies are on disk, as those of a large session are.
pub(crate) struct Viewer {
    pub(crate) app: App,
    pub(crate) pager: Pager,
    /// Searches that were asked for.
    pub(crate) searches: VecDeque<Job>,
    terminal: Terminal<TestBackend>,
}

impl Viewer {
    /// Opens a session and feeds all of it, or nothing yet.
    pub(crate) fn open(path: &Path, size: (u16, u16), is_read: bool) -> Self {
        let target = Target {
            path: path.to_owned(),
            session: None,
        };
        let session = ingest::open(&target).unwrap_or_else(|error| panic!("{error}"));
        let now = Timestamp(1_893_456_000_000);
        let mut app = App::new(
            Theme::dark(),
            Level::Preview,
            Arc::new(Colours::never()),
            now,
        );
        app.reader.screen.size = size;
        let terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        let pager = session.pager();
        let mut viewer = Self {
            app,
            pager,
            searches: VecDeque::new(),
            terminal,
        };
        viewer.feed(Feed::Opened(Box::new(session.opened.clone())));
        if is_read {
            let mut feeds = Vec::new();
            session.read_whole(true, &mut |feed| feeds.push(feed));
            for feed in feeds {
                viewer.feed(feed);
            }
        }
        viewer
    }

    pub(crate) fn feed(&mut self, feed: Feed) {
        self.happen(Event::Feed(Box::new(feed)));
    }

    pub(crate) fn press(&mut self, keys: &str) {
        for press in parse_keys(keys).unwrap() {
            self.happen(Event::Key(press));
        }
    }

    pub(crate) fn happen(&mut self, event: Event) {
        for effect in update(&mut self.app, event) {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Page { entries, origins } => {
                let read = |origin| (origin, self.pager.read(origin));
                let contents = origins.into_iter().map(read).collect();
                self.happen(Event::Paged { entries, contents });
            }
            Effect::Search(job) => self.searches.push_back(job),
            _ => {}
        }
    }

    /// What happens between a change and the screen: rows, bodies that they need, cells, the difference.
    pub(crate) fn frame(&mut self) {
        for _ in 0..4 {
            let effects = arrange(&mut self.app);
            if effects.is_empty() {
                break;
            }
            for effect in effects {
                self.carry_out(effect);
            }
        }
        self.terminal
            .draw(|frame| ui::view(&self.app, frame))
            .unwrap();
    }
}
