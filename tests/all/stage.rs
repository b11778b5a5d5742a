//! A viewer without a terminal, for tests: a fixture, keys, and the painted cells.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use tv::app::effect::Effect;
use tv::app::input::keys::{Code, Press, parse_keys};
use tv::app::inspector::InspectedRecords;
use tv::app::state::App;
use tv::app::text::viewport::{WindowLine, focus_of};
use tv::app::update::arrange;
use tv::app::update::{Event, update};
use tv::ingest::{self, Pager, Target};
use tv::model::body::{Held, Tree};
use tv::model::edit::{Batch, BatchMode, Edit, Feed, Stage as Stretch};
use tv::model::record::Origin;
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::render::code::Colours;
use tv::render::row::Level;
use tv::render::theme::Theme;
use tv::session::search::hits_of;
use tv::ui;

/// A viewer on a fixture.
pub struct Stage {
    /// Its state.
    pub app: App,
    /// What it asked the outside for and the stage does not do.
    pub asked: Vec<Effect>,
    /// Whether texts for filters and searches are left unread.
    pub is_slow: bool,
    pager: Option<Pager>,
    records: u64,
}

/// Reads bodies that are on disk.
fn reader(mut pager: Option<&mut Pager>) -> impl FnMut(Origin, u16) -> Option<Held> {
    move |origin, slot| pager.as_mut()?.read(origin).get(usize::from(slot)).cloned()
}

/// A file or folder under `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// Long after everything in the fixtures: nothing is live.
const LATE: Timestamp = Timestamp(1_893_456_000_000);

/// A small session that has everything in it. That of `tv demo` grew out of it, and may change without these tests.
pub fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/stage/session.jsonl")
}

impl Stage {
    /// A viewer on a session without a file, to be filled by [`Stage::add`].
    pub fn made(size: (u16, u16)) -> Self {
        let mut app = App::new(
            Theme::dark(),
            Level::Preview,
            Arc::new(Colours::never()),
            LATE,
        );
        app.reader.screen.size = size;
        // Tests count lines of the text; the bar of views has its own.
        app.reader.screen.shows_bar = false;
        Self {
            app,
            asked: Vec::new(),
            is_slow: false,
            pager: None,
            records: 0,
        }
    }

    /// Feeds edits, each of them as the only one of its record.
    pub fn add(&mut self, edits: impl IntoIterator<Item = Edit>) -> &mut Self {
        self.add_as(BatchMode::Append, Stretch::Whole, edits);
        self
    }

    /// As [`Stage::add`], for one of the two transcripts and in any mode.
    pub fn add_as(
        &mut self,
        mode: BatchMode,
        stage: Stretch,
        edits: impl IntoIterator<Item = Edit>,
    ) {
        let mut batch = Batch::default();
        batch.mode = mode;
        if matches!(mode, BatchMode::Replace | BatchMode::ReplaceStart) {
            self.records = 0;
        }
        for mut edit in edits {
            self.records += 1;
            if let Edit::Entry(entry) = &mut edit {
                entry.origin.at = self.records;
                entry.origin.line = u32::try_from(self.records).expect("few records");
                let from = entry.origin;
                let bodies = entry
                    .blocks
                    .iter_mut()
                    .flat_map(|block| block.kind.bodies_mut());
                bodies.for_each(|body| body.from = from);
            }
            if let Edit::Result { result, .. } = &mut edit {
                result.body.from.at = self.records;
            }
            batch.tally.shown = self.records;
            batch.push(edit);
        }
        self.feed(Feed::Batch {
            stage,
            batch: Box::new(batch),
        });
        self.arrange();
    }

    /// Opens a session and reads all of it.
    pub fn open(path: &Path, size: (u16, u16), theme: Theme) -> Self {
        Self::open_target(
            &Target {
                path: path.to_owned(),
                session: None,
            },
            size,
            theme,
        )
    }

    /// As [`Stage::open`], for one session of many.
    pub fn open_target(target: &Target, size: (u16, u16), theme: Theme) -> Self {
        Self::open_as(target, size, theme, false)
    }

    /// As [`Stage::open`], with the bodies left on disk, as those of a long session are.
    pub fn open_from_disk(path: &Path, size: (u16, u16)) -> Self {
        Self::open_as(
            &Target {
                path: path.to_owned(),
                session: None,
            },
            size,
            Theme::dark(),
            true,
        )
    }

    fn open_as(target: &Target, size: (u16, u16), theme: Theme, stubs_only: bool) -> Self {
        let session = ingest::open(target).expect("the fixture opens");
        let pager = Some(session.pager());
        let mut app = App::new(theme, Level::Preview, Arc::new(Colours::never()), LATE);
        app.reader.screen.size = size;
        app.reader.screen.shows_bar = false;
        let mut stage = Self {
            app,
            asked: Vec::new(),
            is_slow: false,
            pager,
            records: 0,
        };
        let opened = Box::new(session.opened.clone());
        stage.feed(Feed::Opened(opened));
        let mut feeds = Vec::new();
        session.read_whole(stubs_only, &mut |feed| feeds.push(feed));
        for feed in feeds {
            stage.feed(feed);
        }
        stage.arrange();
        stage
    }

    /// Feeds the viewer something of the session.
    pub fn feed(&mut self, feed: Feed) {
        self.happen(Event::Feed(Box::new(feed)));
    }

    /// Lets something happen.
    pub fn happen(&mut self, event: Event) {
        for effect in update(&mut self.app, event) {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Page { entries, origins } => {
                let Some(pager) = &mut self.pager else { return };
                let contents = origins
                    .into_iter()
                    .map(|origin| (origin, pager.read(origin)))
                    .collect();
                self.happen(Event::Paged { entries, contents });
            }
            Effect::Details { origins, is_whole } => {
                let Some(pager) = &mut self.pager else { return };
                let details = |origin| (origin, pager.details(origin, is_whole));
                let found = origins.into_iter().map(details).collect();
                self.happen(Event::Detailed { is_whole, found });
            }
            Effect::Search(job) => {
                if self.is_slow {
                    self.asked.push(Effect::Search(job));
                    return;
                }
                let mut read = |origin, slot: u16| {
                    let held = self
                        .pager
                        .as_mut()?
                        .read_next(origin, &|record| job.prefilter.may_be_in(record));
                    held.get(usize::from(slot)).cloned()
                };
                let mut hits = Vec::new();
                for (entry, blocks) in &job.entries {
                    hits.extend(hits_of(
                        &job.pattern,
                        job.scope,
                        (*entry, blocks),
                        &mut read,
                    ));
                }
                self.happen(Event::Searched {
                    generation: job.generation,
                    number: job.number,
                    hits,
                });
            }
            Effect::Filter(job) => {
                if self.is_slow {
                    self.asked.push(Effect::Filter(job));
                    return;
                }
                let mut read = reader(self.pager.as_mut());
                let matching = job
                    .unsure
                    .iter()
                    .filter(|open| job.judge.read(&open.unsure, &mut read));
                let matched = matching.map(|open| (open.focus, open.revision)).collect();
                drop(read);
                let generation = job.generation;
                self.happen(Event::Filtered {
                    generation,
                    percent: 100,
                    matched: Some(matched),
                });
            }
            Effect::Inspect(origins) => {
                let Some(pager) = &mut self.pager else { return };
                let read = |origin: &Origin| {
                    // Edits by hand can follow a real session: their records are in no file.
                    let gone = || Tree::Text(Text::from("the record cannot be read any more"));
                    (
                        format!("line {}", origin.line),
                        pager.tree(*origin).unwrap_or_else(gone),
                    )
                };
                let trees = origins.iter().map(read).collect();
                self.happen(Event::Inspected(InspectedRecords { origins, trees }));
            }
            other => self.asked.push(other),
        }
    }

    /// Lets the cursor rest, so that the inspector follows it.
    pub fn rest(&mut self) -> &mut Self {
        self.wait(50)
    }

    /// Lets so many ms pass.
    pub fn wait(&mut self, ms: i64) -> &mut Self {
        let now = Timestamp(self.app.reader.screen.now.0 + ms);
        self.happen(Event::Tick { now });
        self.arrange();
        self
    }

    /// Presses keys one after the other, as the bindings name them: `j j / e r r o r enter`.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for press in parse_keys(keys).expect("keys as in the bindings") {
            self.key(press);
        }
        self
    }

    /// Presses keys in one burst: no frame comes between them.
    pub fn burst(&mut self, keys: &str) -> &mut Self {
        for press in parse_keys(keys).expect("keys as in the bindings") {
            self.happen(Event::Key(press));
        }
        self.arrange();
        self
    }

    /// Types a text, letter by letter.
    pub fn type_in(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(Press::plain(Code::Char(c)));
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
            let effects = arrange(&mut self.app);
            let is_done = effects.is_empty();
            for effect in effects {
                self.carry_out(effect);
            }
            if is_done {
                return;
            }
        }
    }

    /// The screen, with an edge so that trailing blanks show, and times made the same everywhere.
    pub fn picture(&self) -> String {
        let (columns, lines) = self.app.reader.screen.size;
        let buffer = self.buffer();
        let mut out = String::new();
        for y in 0..lines {
            for x in 0..columns {
                out.push_str(buffer[(x, y)].symbol());
            }
            out.push_str("|\n");
        }
        let times = regex::Regex::new(r"\b\d\d:\d\d:\d\d\b").expect("a pattern");
        let minutes = regex::Regex::new(r"([^\d:])\d\d:\d\d([^\d:])").expect("a pattern");
        minutes
            .replace_all(&times.replace_all(&out, "00:00:00"), "${1}00:00$2")
            .into_owned()
    }

    /// What a frame writes to a terminal.
    pub fn painted(&self) -> Vec<u8> {
        let (width, height) = self.app.reader.screen.size;
        let viewport = Viewport::Fixed(Rect {
            x: 0,
            y: 0,
            width,
            height,
        });
        let mut bytes = Vec::new();
        let backend = CrosstermBackend::new(&mut bytes);
        let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport })
            .expect("a terminal in memory");
        terminal
            .draw(|frame| ui::view(&self.app, frame))
            .expect("memory takes everything");
        drop(terminal);
        bytes
    }

    /// The cells of the screen.
    pub fn buffer(&self) -> Buffer {
        let (columns, lines) = self.app.reader.screen.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a test backend");
        let paint = |frame: &mut Frame<'_>| {
            ui::view(&self.app, frame);
            ui::pictures::place(
                &ui::pictures::in_sight(&self.app.reader),
                frame.buffer_mut(),
            );
        };
        terminal.draw(paint).expect("drawing does not fail");
        terminal.backend().buffer().clone()
    }

    /// A line of the screen as it is, without the blanks at its end.
    pub fn line(&self, y: u16) -> String {
        let buffer = self.buffer();
        let text: String = (0..self.app.reader.screen.size.0)
            .map(|x| buffer[(x, y)].symbol())
            .collect();
        text.trim_end().to_owned()
    }

    /// The status line.
    pub fn status(&self) -> String {
        self.line(self.app.reader.frame().status.y)
    }

    /// What the window shows, row by row: entry, row and text.
    pub fn window(&self) -> Vec<(u32, usize, String)> {
        let row = |line: &WindowLine| {
            line.row()
                .map(|row| row.line.to_string())
                .unwrap_or_default()
        };
        self.app
            .reader
            .text
            .view
            .lines
            .iter()
            .map(|line| (line.entry.0, line.row, row(line)))
            .collect()
    }

    /// The line of the window on which the focused item begins.
    pub fn line_of_focus(&self) -> Option<usize> {
        self.app
            .reader
            .text
            .view
            .lines
            .iter()
            .position(|line| focus_of(line) == self.app.reader.text.view.focus)
    }

    /// The key of the focused entry.
    pub fn focused_key(&self) -> String {
        let entry = self
            .app
            .reader
            .text
            .view
            .focus
            .and_then(|focus| self.app.reader.session.transcript.get(focus.entry));
        entry.map(|entry| entry.key.to_string()).unwrap_or_default()
    }

    /// The first row of the focused item.
    pub fn focused(&self) -> String {
        let line = self
            .line_of_focus()
            .and_then(|place| self.app.reader.text.view.lines.get(place));
        line.and_then(|line| line.row())
            .map(|row| row.line.to_string())
            .unwrap_or_default()
    }
}
