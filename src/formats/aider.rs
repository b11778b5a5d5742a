//! aider: the history that Aider writes in Markdown beside the code, many runs in one file.
//! Prompts, messages of Aider and answers of the model follow each other as passages.
//!
//! **Aider ends its own lines with two blanks.** So a heading or a quote in an answer stays part of
//! the answer, although it begins like a line of the user or of Aider. An editor or a hook may have
//! removed trailing blanks. Then the blank lines decide: a prompt begins with one, an answer begins
//! and ends with one, and messages of Aider follow without one.
//!
//! Source: `append_chat_history`, `user_input` and `ai_output` in aider's `io.py`.

use std::ops::Range;
use std::path::Path;

use itertools::Itertools as _;

use super::decoder::{Decoder, Format, Input};

use super::definition::head::Head;
use super::definition::heads::head;
use super::probe::{Confidence, Probe, ProbeResult};
use super::roots::{SessionName, file_name, folder_name};
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Piece, Raw, Role};
use crate::model::record::Shape;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// The beginning of a run, followed by the local time.
const START: &str = "# aider chat started at ";
const USER: &str = "####";
const TOOL: &str = "> ";
const TOKENS: &str = "> Tokens: ";
/// First words of messages of Aider below answers, as opposed to quotes.
const SAID: [&str; 23] = [
    "Tokens: ",
    "Applied edit to ",
    "Did not apply edit to ",
    "Commit ",
    "Add ",
    "Added ",
    "Allow edits to ",
    "Create new file",
    "Attempt to fix ",
    "Install ",
    "Run shell command",
    "Running ",
    "Fix ",
    "Skipping edits to ",
    "The LLM did not ",
    "The API provider ",
    "Retrying in ",
    "litellm.",
    "^C ",
    "Model ",
    "Only 3 reflections",
    "Dirty files ",
    "You can use /undo ",
];
/// The message of several lines about edits that did not match: its first line, and its last line,
/// or if other edits matched, another last line a few lines below.
const UNMATCHED: &str = " failed to match!";
const UNMATCHED_END: &str = "The SEARCH section must exactly match";
const UNMATCHED_LAST: &str = "Just reply with fixed versions of the";
const UNMATCHED_REST: usize = 6;
/// The first characters of commands to Aider, which get no answer from the model.
const COMMANDS: [char; 2] = ['/', '!'];
/// The byte order mark.
const BOM: char = '\u{feff}';
/// Limit of the lines of a message of Aider.
const MESSAGE: usize = 400;
/// Length limit of a title made from a prompt, in characters.
const TITLE_CHARS: usize = 120;

pub(crate) struct Aider;

impl Format for Aider {
    head!("aider");

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        let mut lines = probe.text.into_iter().flat_map(str::lines);
        let first = lines.find(|line| !line.trim().is_empty());
        let start = first.and_then(|first| first.strip_prefix(START));
        if start.is_some_and(is_time) {
            ProbeResult::yes(
                Confidence::Certain,
                Shape::Text,
                "Markdown that begins with a chat of Aider",
            )
        } else {
            ProbeResult::no("no Markdown that begins with a chat of Aider")
        }
    }

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(AiderDecoder::default())
    }

    /// The name of the project's folder, as all histories have the same file name; the file name,
    /// if it was renamed.
    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        if file_name(path).starts_with('.') {
            Some(SessionName::id(folder_name(path)))
        } else {
            SessionName::stem(path)
        }
    }
}

/// Whether a text is a date and a time: `2025-08-06 12:06:30`.
fn is_time(text: &str) -> bool {
    let is_part = |(at, c): (usize, char)| match at {
        4 | 7 => c == '-',
        10 => c == ' ',
        13 | 16 => c == ':',
        _ => c.is_ascii_digit(),
    };
    let text = text.trim_end();
    text.len() == 19 && text.chars().enumerate().all(is_part)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineAuthor {
    Start,
    User,
    Tool,
    Model,
}

/// The lines of a history, and how to recognize Aider's own.
struct Lines<'t> {
    all: Vec<&'t str>,
    /// Whether trailing blanks were removed.
    is_trimmed: bool,
    /// Whether the usage follows each answer.
    tells_tokens: bool,
    /// Whether two blank lines separate an answer and a prompt: one ends the answer, one begins the prompt.
    has_gaps: bool,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let lines: Vec<&str> = text
            .split_inclusive('\n')
            .map(|line| line.trim_start_matches(BOM).trim_end_matches(['\n', '\r']))
            .collect();
        let is_marked = |line: &&&str| is_tools(line) || is_users(line);
        let is_trimmed = !lines
            .iter()
            .filter(is_marked)
            .any(|line| line.ends_with("  "));
        let tells_tokens = lines.iter().any(|line| line.starts_with(TOKENS));
        let mut found = Self {
            all: lines,
            is_trimmed,
            tells_tokens,
            has_gaps: false,
        };
        found.has_gaps =
            (0..found.all.len()).any(|at| is_users(found.line(at)) && found.gap(at) > 1);
        found
    }

    fn line(&self, at: usize) -> &'t str {
        self.all.get(at).copied().unwrap_or_default()
    }

    /// The number of blank lines directly above a line.
    fn gap(&self, at: usize) -> usize {
        self.all
            .iter()
            .take(at)
            .rev()
            .take_while(|line| line.trim().is_empty())
            .count()
    }

    /// The author of a line; `None` for a blank one. `before` is the author of the lines above it.
    /// `is_answered`: these are a prompt to the model, not a command to Aider.
    fn author(
        &self,
        at: usize,
        before: Option<LineAuthor>,
        is_answered: bool,
    ) -> Option<LineAuthor> {
        let line = self.line(at);
        let (is_aiders, gap) = (line.ends_with("  ") || self.is_trimmed, self.gap(at));
        if line.trim().is_empty() {
            None
        } else if line.strip_prefix(START).is_some_and(is_time) {
            Some(LineAuthor::Start)
        } else if is_users(line) && is_aiders && self.begins_prompt(before, gap, is_answered) {
            Some(LineAuthor::User)
        } else if is_tools(line)
            && is_aiders
            && (!self.is_trimmed || self.is_aider_line(at, before, gap))
        {
            Some(LineAuthor::Tool)
        } else if line.starts_with(TOOL)
            && gap == 0
            && matches!(before, Some(LineAuthor::Tool | LineAuthor::User))
        {
            // The first line of a message of several lines.
            Some(LineAuthor::Tool)
        } else {
            Some(LineAuthor::Model)
        }
    }

    /// Whether a line that begins like a prompt is one. Without trailing blanks it may be a heading of an answer.
    fn begins_prompt(&self, before: Option<LineAuthor>, gap: usize, is_answered: bool) -> bool {
        match before {
            _ if !self.is_trimmed => true,
            Some(LineAuthor::Model) if self.has_gaps => gap > 1,
            Some(LineAuthor::Model) => !self.tells_tokens,
            Some(LineAuthor::User) => gap == 0 || !(is_answered && self.tells_tokens),
            _ => true,
        }
    }

    /// Whether a line that begins like Aider's is one, in a history without trailing blanks. Aider
    /// writes directly below a prompt and its own lines; below an answer, which ends in a blank
    /// line, a quote looks the same.
    fn is_aider_line(&self, at: usize, before: Option<LineAuthor>, gap: usize) -> bool {
        if gap == 0 || before == Some(LineAuthor::Start) {
            return before != Some(LineAuthor::Model);
        }
        let block = || self.all.iter().skip(at).take_while(|line| is_tools(line));
        let is_known = block().any(|line| is_known_message(line));
        let next = self
            .all
            .iter()
            .skip(at + block().count())
            .find(|line| !line.trim().is_empty());
        let ends_run = next.is_none_or(|line| line.starts_with(START));
        let ends_turn = !self.tells_tokens && next.is_some_and(|line| is_users(line));
        is_known || before == Some(LineAuthor::Model) && (ends_run || ends_turn)
    }

    /// The end of a message of several lines that begins here: only its first line has the mark, only its last one
    /// the blanks. `None` if it has one line, or a line of another author comes before the end.
    fn message_end(&self, from: usize) -> Option<usize> {
        let behind = from + 1..self.all.len().min(from + 1 + MESSAGE);
        let mut own = behind
            .clone()
            .take_while(|at| !is_users(self.line(*at)) && !self.line(*at).starts_with(START));
        if !self.is_trimmed {
            let is_one = self.line(from).ends_with("  ");
            return own
                .find(|at| self.line(*at).ends_with("  "))
                .filter(|_| !is_one)
                .map(|at| at + 1);
        }
        let ends = |at: &usize, how: &str| self.line(*at).starts_with(how);
        if self.line(from).ends_with(UNMATCHED) {
            let end = own.find(|at| ends(at, UNMATCHED_END))?;
            let last = own.take(UNMATCHED_REST).find(|at| ends(at, UNMATCHED_LAST));
            return Some(last.unwrap_or(end) + 1);
        }
        // An answer has a blank line below it, so text directly above Aider's next line is a message of Aider.
        let next = own.find(|at| is_tools(self.line(*at)))?;
        (next > from + 1 && self.gap(next) == 0 && is_known_message(self.line(next)))
            .then_some(next)
    }
}

/// Whether a line begins like a prompt.
fn is_users(line: &str) -> bool {
    line.strip_prefix(USER)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether a line begins like Aider's, even if it is empty.
fn is_tools(line: &str) -> bool {
    line.starts_with(TOOL) || line.trim_end() == TOOL.trim_end()
}

/// Whether a line is one of Aider's common messages.
fn is_known_message(line: &str) -> bool {
    line.strip_prefix(TOOL)
        .is_some_and(|words| SAID.iter().any(|said| words.starts_with(said)))
}

/// The author of a passage. An answer that begins like another author has a blank line above it.
fn author(passage: &str) -> LineAuthor {
    let first = passage
        .lines()
        .map(|line| line.trim_start_matches(BOM))
        .find(|line| !line.trim().is_empty());
    let is_below_blank = passage
        .lines()
        .next()
        .is_some_and(|line| line.trim().is_empty());
    match first {
        Some(line) if line.strip_prefix(START).is_some_and(is_time) => LineAuthor::Start,
        Some(line) if is_users(line.trim_end()) && !is_below_blank => LineAuthor::User,
        Some(line) if is_tools(line) && !is_below_blank => LineAuthor::Tool,
        _ => LineAuthor::Model,
    }
}

/// Splits a history into passages: lines of one author. Two prompts with a blank line between them are two passages.
fn passages(text: &str) -> Vec<Range<usize>> {
    let lines = Lines::of(text);
    let mut passages = Vec::new();
    let (mut begin, mut at, mut blank) = (0, 0, None);
    let mut before = None;
    let (mut end_of_message, mut is_answered) = (0, false);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_within = number < end_of_message;
        let now = if is_within {
            Some(LineAuthor::Tool)
        } else {
            lines.author(number, before, is_answered)
        };
        if now == Some(LineAuthor::Tool) && !is_within {
            end_of_message = lines.message_end(number).unwrap_or(number);
        }
        let is_next =
            now == Some(LineAuthor::Start) || now == Some(LineAuthor::User) && blank.is_some();
        if now == Some(LineAuthor::User) && (now != before || is_next) {
            is_answered = !lines
                .line(number)
                .trim_start_matches([' ', '#'])
                .starts_with(COMMANDS);
        }
        if now.is_some() && before.is_some() && (now != before || is_next) {
            let is_like_another =
                now == Some(LineAuthor::Model) && author(line) != LineAuthor::Model;
            let end = blank.filter(|_| is_like_another).unwrap_or(at);
            passages.push(begin..end);
            begin = end;
        }
        blank = now.is_none().then_some(at);
        before = now.or(before);
        at += line.len();
    }
    passages.push(begin..at);
    passages
}

#[derive(Default)]
struct AiderDecoder {
    model: Option<Name>,
    answer: Option<Key>,
    /// A hash of the last answer.
    answer_hash: Option<Piece>,
    has_prompt: bool,
}

impl Decoder for AiderDecoder {
    fn head(&self) -> &'static Head {
        Aider.head()
    }

    fn passages(&self, text: &str) -> Vec<Range<usize>> {
        passages(text)
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let text = input.json.str_or_empty().trim_start_matches(BOM);
        match author(text) {
            LineAuthor::Start => self.start_session(text, out),
            LineAuthor::User => self.prompt(text, out),
            LineAuthor::Tool => self.tool(text, out),
            LineAuthor::Model => self.answer(text, out),
        }
    }
}

impl AiderDecoder {
    fn start_session(&mut self, text: &str, out: &mut Batch) -> Fate {
        (self.answer, self.answer_hash) = (None, None);
        let at = text
            .trim()
            .strip_prefix(START)
            .and_then(Timestamp::parse_local);
        let mut entry = out.new_entry(out.origin_key(), Role::Harness, at);
        let words = Text::clean(text.trim().trim_start_matches("# "));
        entry.push(Break::Resumed(words));
        out.show(entry)
    }

    fn prompt(&mut self, text: &str, out: &mut Batch) -> Fate {
        let words = without_marks(text, USER);
        // In architect mode the plan of one model is the prompt of the next.
        if self
            .answer_hash
            .take()
            .is_some_and(|said| said == words_hash(&words))
        {
            return Fate::Merged;
        }
        if !std::mem::replace(&mut self.has_prompt, true) {
            out.title(0, Text::stub(&words, TITLE_CHARS));
        }
        self.answer = None;
        let mut entry = out.new_entry(out.origin_key(), Role::User, None);
        entry.marks.prompt = true;
        let body = out.prose(&words);
        entry.push(BlockKind::Text(body));
        out.show(entry)
    }

    fn answer(&mut self, text: &str, out: &mut Batch) -> Fate {
        let words = text.trim_matches(['\n', '\r']).trim_end();
        self.answer_hash = Some(words_hash(words));
        let mut entry = out.new_entry(out.origin_key(), Role::Assistant, None);
        entry.model.clone_from(&self.model);
        let body = out.prose(words);
        entry.push(BlockKind::Text(body));
        self.answer = Some(entry.key.clone());
        out.show(entry)
    }

    fn tool(&mut self, text: &str, out: &mut Batch) -> Fate {
        let words = without_marks(text, ">");
        for line in words.lines() {
            let model = line
                .strip_prefix("Model: ")
                .or_else(|| line.strip_prefix("Main model: "));
            if let Some(model) = model
                .and_then(|model| model.split_whitespace().next())
                .map(Text::clean)
            {
                out.meta(MetaEdit::Model(model.clone()));
                self.model = Some(model);
            }
            if let Some(version) = line.strip_prefix("Aider v") {
                out.meta(MetaEdit::Version(Text::clean(version.trim())));
            }
            if let Some(usage) = usage(line) {
                let of = self.answer.take().unwrap_or_else(|| out.origin_key());
                out.usage(of, usage, self.model.clone());
            }
        }
        let mut entry = out.new_entry(out.origin_key(), Role::Harness, None);
        let body = out.output(&words);
        let raw = Raw {
            title: "aider".into(),
            body,
        };
        entry.push(BlockKind::Raw(raw));
        out.show(entry)
    }
}

fn without_marks(text: &str, mark: &str) -> String {
    let bare = |line: &str| {
        let line = line.strip_prefix(mark).unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    let lines: Vec<String> = text.trim_matches(['\n', '\r']).lines().map(bare).collect();
    lines.join("\n").trim_end().to_owned()
}

fn words_hash(text: &str) -> Piece {
    Piece::of(&text.split_whitespace().join(" "))
}

/// Parses `Tokens: 9.7k sent, 2k cache hit, 85 received. Cost: $0.01 message, $0.03 session.`; the
/// cost of the session is the sum so far.
fn usage(line: &str) -> Option<Usage> {
    let counts = line.trim_start().strip_prefix("Tokens: ")?;
    let (counts, cost) = counts.split_once(" Cost: ").unwrap_or((counts, ""));
    let of = |name: &str| {
        let part = counts
            .split(", ")
            .find_map(|part| part.trim_end_matches('.').strip_suffix(name))?;
        amount(part.trim())
    };
    let (sent, received) = (of("sent")?, of("received")?);
    let (read, written) = (of("cache hit"), of("cache write"));
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let cost = cost.strip_prefix('$').and_then(|cost| {
        cost.split_whitespace()
            .next()?
            .replace(',', "")
            .parse()
            .ok()
    });
    Some(Usage {
        input: Some(sent.saturating_sub(cached)),
        output: Some(received),
        cache_read: read,
        cache_write: written,
        cost,
        ..Usage::default()
    })
}

/// Parses `85`, `9.7k`, `1.2M`.
fn amount(text: &str) -> Option<u64> {
    let (digits, times) = match text.strip_suffix(['k', 'M']) {
        Some(digits) if text.ends_with('k') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
        None => (text, 1.0),
    };
    let number: f64 = digits.replace(',', "").parse().ok()?;
    super::json::Json::Number((number * times).round()).count()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Aider, passages, usage};
    use crate::formats::decoder::{Format, RecordPlace};
    use crate::formats::fed;
    use crate::formats::probe::{Confidence, Probe};
    use crate::model::entry::{BlockKind, Role};
    use crate::model::transcript::Transcript;

    const HISTORY: &str = include_str!("../../tests/fixtures/aider/aider.chat.history.md");

    fn read(text: &str) -> Transcript {
        let parts: Vec<&str> = passages(text)
            .into_iter()
            .filter_map(|range| text.get(range))
            .collect();
        fed::transcript(&Aider, &[(RecordPlace::Passage, &parts)])
    }

    fn said(transcript: &Transcript, role: Role) -> Vec<String> {
        let of_role = transcript.entries().filter(|entry| entry.role == role);
        let words = of_role.filter_map(|entry| match &entry.blocks.first()?.kind {
            BlockKind::Text(body) => Some(body.text_or_stub().to_string()),
            _ => None,
        });
        words.collect()
    }

    #[test]
    fn passages_are_all_of_the_text() {
        let mut end = 0;
        for range in passages(HISTORY) {
            assert_eq!(range.start, end);
            end = range.end;
        }
        assert_eq!(end, HISTORY.len());
        assert!(passages("").iter().all(std::ops::Range::is_empty));
    }

    #[test]
    fn headings_and_quotes_of_the_model_are_a_part_of_its_answer() {
        let transcript = read(HISTORY);
        let answers = said(&transcript, Role::Assistant);
        assert!(
            answers[0].contains("#### Stones") && answers[0].contains("> a quote"),
            "{answers:?}"
        );
        let prompts = said(&transcript, Role::User);
        assert_eq!(
            prompts,
            ["How many stones\nhas the mill?", "Oil the wheel", "/exit"]
        );
    }

    #[test]
    fn a_plan_that_is_asked_again_is_no_prompt() {
        let text = "#### Plan it  \n> Looking.  \n\nOil it.\n\n- left\n- right\n\n> Tokens: 1k sent, 2 received.  \n\n#### Oil it.  \n####   \n#### - left  \n#### - right  \n\nDone.\n\n";
        let transcript = read(text);
        assert_eq!(said(&transcript, Role::User), ["Plan it"]);
        assert_eq!(
            said(&transcript, Role::Assistant),
            ["Oil it.\n\n- left\n- right", "Done."]
        );
        assert_eq!(transcript.tally().merged, 1);
    }

    #[test]
    fn a_message_of_several_lines_is_not_the_answer_of_the_model() {
        let text = "#### Oil it  \n> Applied.  \n> # 1 block failed to match!\n\n## The block:\n<<<\nold\n>>>\nSend it again.  \n\nHere it is.\n\n##### Details  \n\nNone.\n\n";
        let transcript = read(text);
        assert_eq!(said(&transcript, Role::User), ["Oil it"]);
        assert_eq!(
            said(&transcript, Role::Assistant),
            ["Here it is.\n\n##### Details  \n\nNone."]
        );
    }

    /// A history without trailing blanks.
    fn trimmed(text: &str) -> String {
        text.lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect()
    }

    #[test]
    fn a_history_without_blanks_at_the_ends_of_lines_reads_the_same() {
        let start = "\n# aider chat started at 2025-08-06 12:06:30\n\n> Model: m-1 with diff edit format  \n";
        let tokens = "> Tokens: 9.7k sent, 85 received. Cost: $0.03 message, $0.03 session.  \n";
        let edited = "> Applied edit to wheel.txt  \n";
        for (turns, prompts, answers) in [
            (
                format!(
                    "\n#### Oil it  \n#### now  \n\nI oil it.\n\n#### Details\n\n- left\n\n{tokens}{edited}\n#### /exit  \n"
                ),
                vec!["Oil it\nnow", "/exit"],
                vec!["I oil it.\n\n#### Details\n\n- left"],
            ),
            (
                format!(
                    "\n#### Oil it  \n\nIt says:\n\n> use oil\n> and wait\n\n#### So\n\nI wait.\n\n{tokens}\n#### Go on  \n\nDone.\n\n{tokens}"
                ),
                vec!["Oil it", "Go on"],
                vec![
                    "It says:\n\n> use oil\n> and wait\n\n#### So\n\nI wait.",
                    "Done.",
                ],
            ),
            (
                format!(
                    "\n#### /clear  \n\n#### Oil it  \n\n#### Oil\n\nDone.\n\n{tokens}> Scraping it...  \n> Install:\n\npip install x\n\nSee more.  \n> Install it? (Y)es/(N)o [Yes]: n  \n\nAgain.\n\n{tokens}"
                ),
                vec!["/clear", "Oil it"],
                vec!["#### Oil\n\nDone.", "Again."],
            ),
            (
                format!(
                    "\n#### Oil it  \n\n> a quote first\n\nThen words.\n\n{tokens}> Attempt to fix lint errors? (Y)es/(N)o [Yes]: y  \n\nFixed.\n\n{tokens}"
                ),
                vec!["Oil it"],
                vec!["> a quote first\n\nThen words.", "Fixed."],
            ),
            (
                format!(
                    "\n#### Oil it  \n\nHalf of it\n\n\n#### Stop  \n>   \n> ^C KeyboardInterrupt  \n\n#### Again  \n\nWhole.\n\n{tokens}"
                ),
                vec!["Oil it", "Stop", "Again"],
                vec!["Half of it", "Whole."],
            ),
            (
                format!(
                    "\n#### Oil it  \n\nEdits.\n\n{tokens}> The LLM did not conform to the edit format.  \n> # 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: wheel\n<<<<<<< SEARCH\nold\n>>>>>>> REPLACE\n\nThe SEARCH section must exactly match an existing block\n  \n\nAgain.\n\n{tokens}"
                ),
                vec!["Oil it"],
                vec!["Edits.", "Again."],
            ),
        ] {
            let whole = format!("{start}{turns}");
            for text in [&whole, &trimmed(&whole)] {
                assert_eq!(said(&read(text), Role::User), prompts, "{text}");
                assert_eq!(said(&read(text), Role::Assistant), answers, "{text}");
            }
        }
    }

    #[test]
    fn a_history_without_blank_lines_either_reads_what_can_be_known() {
        let start = "# aider chat started at 2025-08-06 12:06:30\n\n> Aider v0.40\n\n#### Oil it\n#### now\n\n";
        for (turns, prompts) in [
            (
                "Oiled.\n\n#### And this\n\nDone.\n",
                vec!["Oil it\nnow", "And this"],
            ),
            (
                "Oiled.\n\n> Applied edit to wheel\n\n#### And this\n\nDone.\n",
                vec!["Oil it\nnow", "And this"],
            ),
            (
                "Oiled.\n\n#### Details\n\nDone.\n\n> Tokens: 1k sent, 2 received.\n",
                vec!["Oil it\nnow"],
            ),
        ] {
            assert_eq!(
                said(&read(&format!("{start}{turns}")), Role::User),
                prompts,
                "{turns}"
            );
        }
    }

    #[test]
    fn tokens_and_cost_are_those_of_the_message() {
        let usage = |line| {
            usage(line).map(|usage| (usage.input, usage.output, usage.cache_read, usage.cost))
        };
        assert_eq!(
            usage(
                "Tokens: 9.7k sent, 2.1k cache hit, 85 received. Cost: $0.01 message, $0.03 session."
            ),
            Some((Some(7600), Some(85), Some(2100), Some(0.01)))
        );
        assert_eq!(
            usage("Tokens: 1.2M sent, 2,048 received."),
            Some((Some(1_200_000), Some(2048), None, None))
        );
        assert_eq!(usage("Tokens: many"), None);
        assert_eq!(usage("It says Tokens: 1k sent, 2 received."), None);
        let dear =
            usage("Tokens: 1k sent, 2 received. Cost: $1,234.50 message, $2,000.00 session.");
        assert_eq!(dear.and_then(|(.., cost)| cost), Some(1234.5));
        let transcript = read(HISTORY);
        assert_eq!(transcript.totals().sum().requests, 2);
    }

    #[test]
    fn only_what_begins_with_a_chat_is_a_history() {
        let is_history = |text| {
            let probe = Probe {
                text: Some(text),
                ..Probe::at(Path::new("-"))
            };
            Aider.sniff(&probe).confidence == Confidence::Certain
        };
        assert!(is_history(HISTORY));
        for text in [
            "# aider chat started at noon\n",
            "# Notes\n\n# aider chat started at 2025-08-06 12:06:30\n",
            "> # aider chat started at 2025-08-06 12:06:30\n",
            "#### Go  \n",
            "",
        ] {
            assert!(!is_history(text), "{text}");
        }
    }
}
