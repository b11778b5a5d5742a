//! Syntax highlighting in the background: a layout uses finished highlights and queues requests
//! for others.
//!
//! Highlighting takes a hundred times longer than the rest of a layout, so [`Colours::get`] never
//! waits: it queues a request, the layout is plain at first, and a thread of the runtime works
//! through the queue. Compiled grammars take some megabytes each, so few are cached, and none for
//! long. The grammars are those of `two-face` with Unicode categories replaced by ranges of
//! letters, which halves the memory they compile to.
//!
//! Invariant: the cache holds roles of words, not colours, so it survives a change of theme.

mod highlight;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::Span;

use self::highlight::{Highlighter, WordRole};
use super::theme::Theme;
use super::wrap::{self, Piece};
use crate::model::fingerprint::hash_of;
use crate::model::memory;

/// Larger texts are not highlighted.
const MAX_BYTES: usize = 256 * 1024;
/// Limit of bytes highlighted of one text while the caller waits, from its start.
const MAX_TEXT_NOW: usize = 16 * 1024;
/// Limit of bytes highlighted of one output while the caller waits: about a second in the slowest
/// languages.
const MAX_OUTPUT_NOW: usize = 64 * 1024;
/// Limit of cached highlights.
const MAX_CACHED: usize = 2_000;
/// Limit of cached highlights in bytes.
const MAX_CACHED_BYTES: usize = 8 * 1024 * 1024;
/// Limit of the queue; the oldest requests are dropped, because their text has scrolled away.
const MAX_QUEUED: usize = 256;
/// Limit of compiled languages.
const MAX_COMPILED: usize = 6;

/// The roles of the words of a text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Highlight {
    /// End of each word within its line in bytes, and its role; words of all lines in one list.
    words: Vec<(u32, WordRole)>,
    /// End of each line within `words`.
    lines: Vec<usize>,
}

impl Highlight {
    /// The words of each line.
    fn lines(&self) -> impl Iterator<Item = &[(u32, WordRole)]> {
        let starts = std::iter::once(0).chain(self.lines.iter().copied());
        starts
            .zip(&self.lines)
            .map(|(start, end)| self.words.get(start..*end).unwrap_or_default())
    }
}

/// The cache of highlights and the queue of requests.
#[derive(Debug, Default)]
pub struct Colours {
    state: Mutex<HighlighterState>,
    wake: Condvar,
    generation: AtomicU64,
    highlighter: Mutex<Option<Arc<Highlighter>>>,
    mode: HighlightMode,
}

#[derive(Debug, Default, PartialEq)]
enum HighlightMode {
    #[default]
    Later,
    Now,
    Never,
}

#[derive(Debug, Default)]
struct HighlighterState {
    finished: HashMap<u64, Arc<Highlight>>,
    /// Keys of `finished`, the oldest first, with their sizes in bytes.
    order: VecDeque<(u64, usize)>,
    cached_bytes: usize,
    queue: VecDeque<HighlightRequest>,
    /// The request that a worker is processing.
    in_work: Option<u64>,
    /// Bytes highlighted while the caller waited, since [`Colours::reset_budget`].
    spent: usize,
    is_stopped: bool,
}

#[derive(Debug)]
struct HighlightRequest {
    key: u64,
    language: String,
    text: String,
}

impl Colours {
    /// Highlights immediately, for output that is written once.
    pub(crate) fn immediate() -> Self {
        Self {
            mode: HighlightMode::Now,
            ..Self::default()
        }
    }

    /// Resets the budget of bytes for the next output.
    pub(crate) fn reset_budget(&self) {
        self.lock().spent = 0;
    }

    pub fn never() -> Self {
        Self {
            mode: HighlightMode::Never,
            ..Self::default()
        }
    }

    /// Incremented with every finished highlight; layouts from an earlier generation may be out of
    /// date.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The highlight of a text, if it is cached; otherwise it is requested. `language` is a word
    /// of a code fence, a file name or its extension.
    pub(crate) fn get(&self, language: &str, text: &str) -> Option<Arc<Highlight>> {
        let max = if self.mode == HighlightMode::Now {
            usize::MAX
        } else {
            MAX_BYTES
        };
        if language.is_empty()
            || text.is_empty()
            || text.len() > max
            || self.mode == HighlightMode::Never
        {
            return None;
        }
        let key = hash_of(&(language, text));
        let mut state = self.lock();
        if let Some(found) = state.finished.get(&key) {
            return Some(found.clone());
        }
        if self.mode == HighlightMode::Now {
            let begin = whole_lines(
                text,
                MAX_TEXT_NOW.min(MAX_OUTPUT_NOW.saturating_sub(state.spent)),
            );
            drop(state);
            if begin.is_empty() {
                return None;
            }
            let made = Arc::new(
                self.highlighter(language, usize::MAX)
                    .highlight(language, begin),
            );
            let mut state = self.lock();
            // An unknown language costs nothing.
            state.spent += if made.lines.is_empty() {
                0
            } else {
                begin.len()
            };
            state.insert(key, Arc::clone(&made));
            return Some(made);
        }
        if state.in_work != Some(key) && state.queue.iter().all(|request| request.key != key) {
            if state.queue.len() >= MAX_QUEUED {
                state.queue.pop_front();
            }
            state.queue.push_back(HighlightRequest {
                key,
                language: language.to_owned(),
                text: text.to_owned(),
            });
            drop(state);
            self.wake.notify_one();
        }
        None
    }

    /// Waits for a request; returns `false` to stop the worker. Without requests for `patience`
    /// the grammars are dropped; the cached highlights stay.
    pub(crate) fn wait_for_work(&self, patience: Duration) -> bool {
        let is_idle = |state: &mut HighlighterState| state.queue.is_empty() && !state.is_stopped;
        let (mut state, waited) = self
            .wake
            .wait_timeout_while(self.lock(), patience, is_idle)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            drop(state);
            self.grammars().take();
            memory::release_free();
            state = self
                .wake
                .wait_while(self.lock(), is_idle)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_stopped
    }

    /// Works on the latest request, which is most likely on the screen. Returns `false` if there
    /// was none.
    pub(crate) fn work(&self) -> bool {
        let mut state = self.lock();
        let Some(request) = state.queue.pop_back() else {
            return false;
        };
        state.in_work = Some(request.key);
        drop(state);
        let made = self
            .highlighter(&request.language, MAX_COMPILED)
            .highlight(&request.language, &request.text);
        let mut state = self.lock();
        state.in_work = None;
        state.insert(request.key, Arc::new(made));
        drop(state);
        self.generation.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Stops the workers in [`Colours::wait_for_work`].
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.wake.notify_all();
    }

    /// The highlighter; a new one if the language would exceed the limit of compiled ones.
    fn highlighter(&self, language: &str, most: usize) -> Arc<Highlighter> {
        let mut known = self.grammars();
        known.take_if(|known| !known.can_compile(language, most));
        Arc::clone(known.get_or_insert_with(|| Arc::new(Highlighter::new())))
    }

    /// Number of compiled languages.
    #[cfg(test)]
    fn compiled(&self) -> usize {
        self.grammars().as_ref().map_or(0, |known| known.compiled())
    }

    fn grammars(&self) -> MutexGuard<'_, Option<Arc<Highlighter>>> {
        self.highlighter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HighlighterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HighlighterState {
    fn insert(&mut self, key: u64, made: Arc<Highlight>) {
        let size = 128 + made.lines.len() * 8 + made.words.len() * 8;
        self.finished.insert(key, made);
        self.order.push_back((key, size));
        self.cached_bytes += size;
        while self.order.len() > MAX_CACHED || self.cached_bytes > MAX_CACHED_BYTES {
            let Some((oldest, size)) = self.order.pop_front() else {
                return;
            };
            self.finished.remove(&oldest);
            self.cached_bytes = self.cached_bytes.saturating_sub(size);
        }
    }
}

/// The first whole lines of a text, up to `most` bytes.
fn whole_lines(text: &str, most: usize) -> &str {
    let begin = wrap::head(text, most);
    let end = if begin.len() == text.len() {
        begin.len()
    } else {
        begin.rfind('\n').unwrap_or(0)
    };
    begin.get(..end).unwrap_or_default()
}

/// The lines of a text with the highlights that are finished; other words in style `base`.
pub fn lines(
    text: &str,
    language: &str,
    colours: &Colours,
    theme: &Theme,
    base: Style,
) -> Vec<Vec<Piece>> {
    let found = if theme.terminal.has_colour {
        colours.get(language, text)
    } else {
        None
    };
    let mut roles = found.iter().flat_map(|highlight| highlight.lines());
    text.lines()
        .map(|line| match roles.next() {
            Some(words) => painted(line, words, theme, base),
            None => vec![Span::styled(line.to_owned(), base)],
        })
        .collect()
}

/// The language of a file: its extension, or its name if it has none.
pub(crate) fn language_of_path(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    // `src/watch.rs:120-180` is how headlines name a range.
    let name = name.split(':').next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(_, ending)| ending)
}

/// The language of a code fence: the first word of its info string.
pub(crate) fn language_of_fence(info: &str) -> &str {
    info.split([' ', ',', '{', ':', '\t'])
        .find(|word| !word.is_empty())
        .unwrap_or_default()
}

fn painted(line: &str, words: &[(u32, WordRole)], theme: &Theme, base: Style) -> Vec<Piece> {
    let mut out = Vec::with_capacity(words.len() + 1);
    let mut from = 0;
    for (end, role) in words {
        let to = (*end as usize).min(line.len());
        if let Some(word) = line.get(from..to).filter(|word| !word.is_empty()) {
            out.push(Span::styled(
                word.to_owned(),
                role.style(&theme.syntax, base),
            ));
            from = to;
        }
    }
    if let Some(rest) = line.get(from..).filter(|rest| !rest.is_empty()) {
        out.push(Span::styled(rest.to_owned(), base));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ratatui::style::Style;

    use super::{
        Colours, MAX_COMPILED, MAX_OUTPUT_NOW, MAX_TEXT_NOW, language_of_fence, language_of_path,
        lines,
    };
    use crate::render::theme::Theme;

    #[test]
    fn asks_once_and_answers_later() {
        let colours = Colours::default();
        assert!(colours.get("rs", "fn main() {}").is_none());
        assert!(colours.get("rs", "fn main() {}").is_none());
        assert!(colours.wait_for_work(Duration::MAX));
        assert!(colours.work());
        assert!(!colours.work());
        assert_eq!(colours.generation(), 1);
        assert!(colours.get("rs", "fn main() {}").is_some());
        colours.stop();
        assert!(!colours.wait_for_work(Duration::MAX));
    }

    #[test]
    fn few_languages_stay_compiled() {
        let colours = Colours::default();
        let languages = [
            "rs", "py", "sh", "json", "toml", "yaml", "css", "sql", "rs", "html", "xml",
        ];
        for (number, language) in languages.into_iter().enumerate() {
            colours.get(language, &format!("let x = {number};"));
            assert!(colours.work());
            assert!(
                (1..=MAX_COMPILED).contains(&colours.compiled()),
                "{} for {language}",
                colours.compiled()
            );
            let compiled = colours.compiled();
            for language in [language, "no-such-language"] {
                colours.get(language, &format!("the same again {number}"));
                assert!(
                    colours.work() && colours.compiled() == compiled,
                    "{language}"
                );
            }
        }
    }

    #[test]
    fn languages_are_let_go_when_nothing_comes_for_long() {
        let colours = Colours::default();
        colours.get("rs", "let x = 1;");
        assert!(colours.work() && colours.compiled() == 1);
        std::thread::scope(|scope| {
            let queue = scope.spawn(|| colours.wait_for_work(Duration::from_millis(1)));
            while colours.compiled() > 0 {
                std::thread::yield_now();
            }
            colours.get("rs", "let y = 1;");
            assert!(queue.join().unwrap());
        });
        assert!(
            colours.get("rs", "let x = 1;").is_some() && colours.work() && colours.compiled() == 1
        );
    }

    #[test]
    fn who_waits_for_colours_waits_for_a_bounded_number() {
        let colours = Colours::immediate();
        let coloured = |number: usize| {
            let text = format!("let x = {number};\n").repeat(2_000);
            let found = colours.get("rs", &text);
            found.map_or(0, |found| found.lines().count())
        };
        assert!(
            (1_000..2_000).contains(&coloured(10)),
            "the beginning of a long piece: {}",
            coloured(10)
        );
        assert!(
            colours
                .get("no-such-language", &"x\n".repeat(MAX_OUTPUT_NOW))
                .is_some(),
            "that costs nothing"
        );
        let pieces = (11..99).take_while(|number| coloured(*number) > 0).count();
        assert!(
            (MAX_OUTPUT_NOW / MAX_TEXT_NOW - 1..MAX_OUTPUT_NOW / MAX_TEXT_NOW + 2)
                .contains(&pieces),
            "{pieces}"
        );
        colours.reset_budget();
        assert!(coloured(99) > 0, "what is written later gets as many again");
    }

    #[test]
    fn keywords_have_their_colour() {
        let theme = Theme::dark();
        for (language, text, word) in [
            ("rs", "pub fn main() { let x = 1; }", "fn"),
            ("python", "def f():\n    return 1", "def"),
            ("typescript", "const x: number = 1", "const"),
            ("sh", "if true; then echo 1; fi", "if"),
        ] {
            let shown = lines(text, language, &Colours::immediate(), &theme, Style::new());
            let found = shown
                .iter()
                .flatten()
                .find(|span| span.content.trim() == word);
            assert_eq!(
                found.map(|span| span.style.fg),
                Some(theme.syntax.keyword.fg),
                "{language}: {shown:?}"
            );
        }
    }

    #[test]
    fn knows_languages() {
        assert_eq!(language_of_path("src/watch.rs:120-180"), "rs");
        assert_eq!(language_of_path("/a.b/Makefile"), "Makefile");
        assert_eq!(language_of_fence("rust,ignore"), "rust");
        assert_eq!(language_of_fence("{.python .x}"), ".python");
    }

    #[test]
    fn unknown_languages_stay_plain() {
        let shown = lines(
            "some text",
            "no-such-language",
            &Colours::immediate(),
            &Theme::dark(),
            Style::new(),
        );
        assert_eq!(shown[0].len(), 1);
    }
}
