//! A viewer without a terminal: a fixture, keys, and the picture.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tv::app::arrange::arrange;
use tv::app::keys::{Press, parse_keys};
use tv::app::state::{Effect, State};
use tv::app::update::{Event, update};
use tv::ingest::{self, Pager, Target};
use tv::model::edit::Feed;
use tv::model::moment::Moment;
use tv::render::code::Colours;
use tv::render::row::Level;
use tv::render::theme::Theme;
use tv::ui;

/// A viewer on a fixture.
pub struct Stage {
    /// Its state.
    pub state: State,
    /// What it asked the outside for and the stage does not do.
    pub asked: Vec<Effect>,
    pager: Pager,
}

/// A file or folder under `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

impl Stage {
    /// Opens a session and reads all of it.
    pub fn open(path: &Path, size: (u16, u16), theme: Theme) -> Self {
        let target = Target { path: path.to_owned(), session: None };
        let session = ingest::open(&target).expect("the fixture opens");
        let pager = session.pager();
        // Long after everything in the fixtures: nothing is live.
        let mut state =
            State::new(theme, Level::Preview, Arc::new(Colours::never()), Moment(1_893_456_000_000));
        state.size = size;
        let mut stage = Self { state, asked: Vec::new(), pager };
        let opened = Box::new(session.opened.clone());
        stage.tell(Feed::Opened(opened));
        let mut feeds = Vec::new();
        session.read_whole(false, &mut |feed| feeds.push(feed));
        for feed in feeds {
            stage.tell(feed);
        }
        stage.arrange();
        stage
    }

    /// Tells the viewer something about the session.
    pub fn tell(&mut self, feed: Feed) {
        self.happen(Event::Feed(Box::new(feed)));
    }

    fn happen(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Page { entries, origins } => {
                let contents = origins.into_iter().map(|origin| (origin, self.pager.read(origin))).collect();
                self.happen(Event::Paged { entries, contents });
            }
            Effect::Search(job) => {
                let hits = job.entries.iter().flat_map(|(entry, pieces)| {
                    let blocks =
                        pieces.iter().filter(|(_, piece)| tv::app::search::has_hit(&job.pattern, piece));
                    blocks
                        .map(|(block, _)| tv::app::viewport::Focus { entry: *entry, block: *block })
                        .collect::<Vec<_>>()
                });
                let mut hits: Vec<_> = hits.collect();
                hits.dedup();
                self.happen(Event::Searched { generation: job.generation, hits, is_complete: true });
            }
            other => self.asked.push(other),
        }
    }

    /// Presses keys one after the other, as the bindings name them: `j j / e r r o r enter`.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for press in parse_keys(keys).expect("keys as in the bindings") {
            self.key(press);
        }
        self
    }

    fn key(&mut self, press: Press) {
        self.happen(Event::Key(press));
        self.arrange();
    }

    /// Changes the size of the screen.
    pub fn resize(&mut self, columns: u16, lines: u16) {
        self.happen(Event::Resize(columns, lines));
        self.arrange();
    }

    /// Brings the window up to date, bodies on disk included.
    pub fn arrange(&mut self) {
        for _ in 0..4 {
            let effects = arrange(&mut self.state);
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                self.carry_out(effect);
            }
        }
    }

    /// The screen, with an edge so that trailing blanks show, and times made the same everywhere.
    pub fn picture(&self) -> String {
        let (columns, lines) = self.state.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a test backend");
        terminal.draw(|frame| ui::view(&self.state, frame)).expect("drawing does not fail");
        let buffer = terminal.backend().buffer();
        let mut out = String::new();
        for y in 0..lines {
            for x in 0..columns {
                out.push_str(buffer[(x, y)].symbol());
            }
            out.push_str("|\n");
        }
        let times = regex::Regex::new(r"\b\d\d:\d\d:\d\d\b").expect("a pattern");
        times.replace_all(&out, "00:00:00").into_owned()
    }
}
