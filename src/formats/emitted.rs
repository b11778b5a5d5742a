//! The strings that a decoder emitted for a record, to find the strings of the record that it did
//! not emit.
//!
//! Strings are compared by content, not by field name, so no decoder has to list the fields it
//! read. A string is emitted if it is one of the emitted texts, if its lines are lines of these, or
//! if nearly all its words occur in them. Short strings are words such as `error`, which occur in
//! many texts by chance: they must be a whole text, or occur in a phrase that the decoder composed
//! (titles, separators, facts).
//!
//! Invariant: the cost is linear in the length of the record.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use itertools::Itertools as _;

use crate::model::body::{Body, Held, Image, Tree};
use crate::model::edit::{Edit, MetaEdit, Notice};
use crate::model::entry::{BlockKind, Break, Entry};
use crate::model::text::{Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, ToolState};
use crate::model::usage::Usage;

/// Results for strings longer than this are cached, in bytes.
const LONG: usize = 512;
/// Strings of one line shorter than this must be emitted verbatim, in bytes.
const SHORT: usize = 24;

/// The texts, numbers and timestamps that were emitted for a record.
#[derive(Default)]
pub struct Emitted {
    /// Hashes of whole texts.
    texts: HashSet<u64>,
    /// Hashes of their lines.
    lines: HashSet<u64>,
    numbers: HashSet<u64>,
    times: HashSet<Timestamp>,
    /// Texts that the decoder composed, separated by line breaks.
    phrases: String,
    /// All texts, from which `words` is computed on first use.
    sources: Vec<EmittedSource>,
    words: OnceCell<HashSet<u64>>,
    /// Emitted bytes of long strings, by hash and size: they are queried more than once.
    found: RefCell<HashMap<(u64, usize), usize>>,
}

enum EmittedSource {
    Text(Text),
    Tree(std::sync::Arc<Tree>),
}

impl Emitted {
    /// Collects the texts of edits and notices.
    pub(crate) fn of(edits: &[Edit], notices: &[Notice]) -> Self {
        let mut emitted = Self::default();
        for edit in edits {
            emitted.edit(edit);
        }
        for notice in notices {
            emitted.phrase(&notice.what);
        }
        emitted
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Entry(entry) => self.entry(entry),
            Edit::Result { call, result, lane } => {
                self.text(call);
                self.some(lane.as_ref());
                self.result(result);
            }
            Edit::State { call, state } => {
                self.text(call);
                self.state(state);
            }
            Edit::Update {
                about,
                update,
                lane,
            } => {
                for id in [&about.call, &about.handle].into_iter().flatten() {
                    self.text(id);
                }
                self.text(&update.by);
                self.some(lane.as_ref());
            }
            Edit::Usage { of, usage, model } => {
                self.text(of);
                self.some(model.as_ref());
                self.usage(usage);
            }
            Edit::Link { key, parent } => {
                self.text(key);
                self.some(parent.as_ref());
            }
            Edit::Meta(meta) => self.meta(meta),
            Edit::Retire(key) | Edit::RetirePiece { of: key, .. } | Edit::CopiedWith(key) => {
                self.text(key);
            }
            Edit::Copied { lane, .. } => self.some(lane.as_ref()),
            Edit::Complete { of, usage } => {
                self.text(of);
                self.usage(usage);
            }
        }
    }

    fn meta(&mut self, meta: &MetaEdit) {
        match meta {
            MetaEdit::Id(text)
            | MetaEdit::Title { title: text, .. }
            | MetaEdit::Agent(text)
            | MetaEdit::Cwd(text)
            | MetaEdit::Version(text)
            | MetaEdit::Model(text)
            | MetaEdit::Helper(text) => self.phrase(text),
            MetaEdit::Fact { value, .. } => self.phrase(value),
            MetaEdit::Moved { from, to } => {
                self.phrase(from);
                self.phrase(to);
            }
            MetaEdit::Window(tokens) => self.count(Some(*tokens)),
            MetaEdit::Session {
                name,
                label,
                root,
                duplicate_of: _,
                shares: _,
            } => {
                [name, label]
                    .into_iter()
                    .chain(root)
                    .for_each(|text| self.phrase(text));
            }
            MetaEdit::Limit(limit) => {
                self.count(Some(limit.minutes));
                self.times.extend(limit.resets);
            }
            MetaEdit::Lane { name, label, call } => {
                self.phrase(name);
                if let Some(label) = label {
                    self.phrase(label);
                }
                self.some(call.as_ref());
            }
            MetaEdit::FirstKept { compaction, first } => {
                self.text(compaction);
                self.text(first);
            }
            MetaEdit::SumSoFar { after, sums: _ } => self.text(after),
            MetaEdit::LinkedTree | MetaEdit::Live(_) | MetaEdit::Running(_) => {}
        }
    }

    fn entry(&mut self, entry: &Entry) {
        self.text(&entry.key);
        for text in [&entry.parent, &entry.lane, &entry.model] {
            self.some(text.as_ref());
        }
        self.times.extend(entry.at.into_iter().chain(entry.ended));
        entry.usage.iter().for_each(|usage| self.usage(usage));
        entry
            .blocks
            .iter()
            .for_each(|block| self.block(&block.kind));
    }

    fn block(&mut self, block: &BlockKind) {
        match block {
            BlockKind::Text(body) | BlockKind::Thinking(body) => self.body(body),
            BlockKind::Call(call) => self.call(call),
            BlockKind::Result(stray) => {
                self.text(&stray.call);
                self.result(&stray.result);
            }
            BlockKind::Image(image) => self.image(image),
            BlockKind::Break(line) => {
                if let Break::Compaction { before, after, .. } = line {
                    self.count(*before);
                    self.count(*after);
                }
                self.phrase(&line.words());
            }
            BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
                self.phrase(&raw.title);
                self.body(&raw.body);
            }
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.text(&call.key);
        self.phrase(&call.name);
        self.phrase(&call.headline);
        self.some(call.lane.as_ref());
        self.times.extend(call.started);
        self.body(&call.input);
        self.state(&call.state);
    }

    fn state(&mut self, state: &ToolState) {
        state
            .live_output()
            .into_iter()
            .for_each(|body| self.body(body));
        state
            .result()
            .into_iter()
            .for_each(|result| self.result(result));
    }

    fn result(&mut self, result: &ToolResult) {
        self.text(&result.key);
        self.some(result.tool.as_ref());
        self.phrase(&result.facts);
        self.times.extend(result.at);
        self.count(result.duration_ms);
        self.some(result.work.as_ref().map(|work| &work.handle));
        self.body(&result.body);
        result.patch.iter().for_each(|patch| self.body(patch));
        result.images.iter().for_each(|image| self.image(image));
    }

    fn image(&mut self, image: &Image) {
        self.text(&image.mime);
        self.some(image.source.as_ref());
        self.count(image.bytes);
    }

    fn usage(&mut self, usage: &Usage) {
        let Usage {
            input,
            output,
            cache_read,
            cache_write,
            cache_write_1h,
            reasoning,
            searches,
            cost,
            ..
        } = usage;
        for tokens in [
            input,
            output,
            cache_read,
            cache_write,
            cache_write_1h,
            reasoning,
            searches,
        ] {
            self.count(*tokens);
        }
        self.numbers.extend(cost.map(f64::to_bits));
    }

    fn body(&mut self, body: &Body) {
        match &body.held {
            Held::Tree(tree) => {
                self.tree(tree);
                self.sources.push(EmittedSource::Tree(tree.clone()));
            }
            _ => self.text(body.text_or_stub()),
        }
    }

    fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::Text(text) => self.content(text),
            Tree::Number(digits) => self.numbers.extend(digits.parse().ok().map(f64::to_bits)),
            Tree::List(items) => items.iter().for_each(|item| self.tree(item)),
            Tree::Map(members) => members.iter().for_each(|(_, value)| self.tree(value)),
            Tree::Null | Tree::Bool(_) => {}
        }
    }

    fn some(&mut self, text: Option<&Text>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn count(&mut self, count: Option<u64>) {
        self.numbers
            .extend(count.map(|count| (count as f64).to_bits()));
    }

    /// Adds a text that the decoder composed.
    fn phrase(&mut self, text: &Text) {
        self.phrases.push('\n');
        self.phrases.push_str(text);
        self.text(text);
    }

    fn text(&mut self, text: &Text) {
        self.content(text);
        self.sources.push(EmittedSource::Text(text.clone()));
    }

    fn content(&mut self, text: &str) {
        let plain = without_sgr(text);
        self.texts.insert(print(&plain));
        for line in plain.lines() {
            self.lines.insert(print(line));
            // In the file the line of a diff has no sign.
            self.lines.extend(line.strip_prefix(['+', '-']).map(print));
        }
    }

    /// The number of bytes of a string that are emitted.
    pub(crate) fn bytes_of(&self, raw: &str) -> usize {
        if raw.len() < LONG {
            return self.count_emitted(raw);
        }
        let print = (print(raw), raw.len());
        let known = self.found.borrow().get(&print).copied();
        known.unwrap_or_else(|| {
            let found = self.count_emitted(raw);
            self.found.borrow_mut().insert(print, found);
            found
        })
    }

    fn count_emitted(&self, raw: &str) -> usize {
        if raw.trim().is_empty() || self.texts.contains(&print(raw)) {
            return raw.len();
        }
        let is_time = || Timestamp::parse(raw).is_some_and(|time| self.times.contains(&time));
        if raw.len() < 40 && is_time() {
            return raw.len();
        }
        let output = raw
            .contains(['\u{1b}', '\r'])
            .then(|| without_sgr(&Text::output(raw)).into_owned());
        let seen = output.as_deref().unwrap_or(raw);
        if output.is_some() && self.texts.contains(&print(seen)) {
            return raw.len();
        }
        if raw.len() < SHORT && !raw.contains('\n') {
            let is_emitted = self.lines.contains(&print(raw)) || self.is_in_a_phrase(raw.trim());
            return if is_emitted { raw.len() } else { 0 };
        }
        let found = seen
            .lines()
            .filter(|line| self.has_line(line))
            .map(|line| line.len() + 1)
            .sum::<usize>();
        if found == 0 {
            0
        } else {
            raw.len() * found / (seen.lines().map(|line| line.len() + 1).sum::<usize>())
        }
    }

    fn has_line(&self, line: &str) -> bool {
        line.trim().is_empty() || self.lines.contains(&print(line)) || self.has_words_of(line)
    }

    /// Whether most words of a line are emitted. Lines of up to two words do not count, as they
    /// match by chance.
    fn has_words_of(&self, line: &str) -> bool {
        let known = self.words.get_or_init(|| self.all_words());
        let (mut all, mut missing) = (0, 0);
        for word in words(&untagged(line)) {
            all += 1;
            missing += usize::from(!known.contains(&print(word)));
        }
        all > 2 && missing * 10 <= all
    }

    fn all_words(&self) -> HashSet<u64> {
        let mut all = HashSet::new();
        for source in &self.sources {
            match source {
                EmittedSource::Text(text) => all.extend(words(text).map(print)),
                EmittedSource::Tree(tree) => words_of(tree, &mut all),
            }
        }
        all
    }

    fn is_in_a_phrase(&self, word: &str) -> bool {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        self.phrases.match_indices(word).any(|(at, _)| {
            let (before, after) = (self.phrases.get(..at), self.phrases.get(at + word.len()..));
            is_edge(before.and_then(|text| text.chars().next_back()))
                && is_edge(after.and_then(|text| text.chars().next()))
        })
    }

    /// The hashes of all lines, for comparison with other records.
    pub(crate) fn into_lines(self) -> impl Iterator<Item = u64> {
        self.lines.into_iter()
    }

    /// Whether a number is emitted: as a number, in a phrase, or as a timestamp.
    pub(crate) fn has_number(&self, number: f64) -> bool {
        self.numbers.contains(&number.to_bits())
            || Timestamp::from_number(number).is_some_and(|time| self.times.contains(&time))
            || self.is_in_a_phrase(&number.to_string())
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// A line without the tags that agents put around texts.
fn untagged(line: &str) -> Cow<'_, str> {
    if !line.contains('<') {
        return line.into();
    }
    let without = |part: &str| {
        part.split_once('>')
            .map_or_else(|| part.to_owned(), |(_, rest)| rest.to_owned())
    };
    line.split('<').map(without).join(" ").into()
}

fn words_of(tree: &Tree, all: &mut HashSet<u64>) {
    match tree {
        Tree::Text(text) | Tree::Number(text) => all.extend(words(text).map(print)),
        Tree::List(items) => items.iter().for_each(|item| words_of(item, all)),
        Tree::Map(members) => {
            for (key, value) in members {
                all.extend(words(key).map(print));
                words_of(value, all);
            }
        }
        Tree::Null | Tree::Bool(_) => {}
    }
}

/// Hashes the visible characters of a text, which cleaning does not change.
pub(crate) fn print(text: &str) -> u64 {
    let seen = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && !byte.is_ascii_control());
    seen.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::Emitted;
    use crate::model::edit::{Batch, Edit, MetaEdit};
    use crate::model::entry::{BlockKind, Break, Piece, Role};
    use crate::model::timestamp::Timestamp;
    use crate::model::usage::Usage;

    fn emitted() -> Emitted {
        let mut out = Batch::default();
        let mut entry = out.new_entry(
            "u1".into(),
            Role::Assistant,
            Timestamp::parse("2026-01-02T03:04:05Z"),
        );
        entry.usage = Some(Box::new(Usage {
            output: Some(57),
            cost: Some(0.25),
            ..Usage::default()
        }));
        let prose = out.prose("The first line is read.\nok\nAnd there is a third line in it");
        entry.push(BlockKind::Text(prose));
        let words = Break::Setting("mode: plan".into());
        entry.push_piece(Piece(1), words);
        let output = out.output("\u{1b}[31mred\u{1b}[0m and some more words");
        entry.push_piece(Piece(2), BlockKind::Text(output));
        out.entry(entry);
        out.push(Edit::Meta(MetaEdit::Fact {
            name: "git branch",
            value: "main".into(),
        }));
        Emitted::of(&out.edits, &out.notices)
    }

    #[test]
    fn what_is_emitted_is_found_however_it_was_taken_apart() {
        let emitted = emitted();
        for whole in [
            "u1",
            "plan",
            "main",
            "ok",
            "2026-01-02T03:04:05.000Z",
            "The first line is read.\nok",
            " The first line is read.\n\n",
            "<note>a third line there</note> And is in it",
            "\u{1b}[31mred\u{1b}[0m and some more words",
            "",
        ] {
            assert_eq!(emitted.bytes_of(whole), whole.len(), "{whole}");
        }
        assert!(
            emitted.has_number(57.0)
                && emitted.has_number(0.25)
                && emitted.has_number(1_767_323_045_000.0)
        );
        assert!(!emitted.has_number(58.0));
    }

    #[test]
    fn what_is_not_emitted_is_not_found_by_chance() {
        let emitted = emitted();
        for missing in [
            "read",
            "line",
            "pla",
            "third",
            "u",
            "2026-01-02T03:04:06Z",
            "The first line that nobody has read ever",
        ] {
            assert_eq!(emitted.bytes_of(missing), 0, "{missing}");
        }
        let half = "The first line is read.\nNobody says this one here";
        let found = emitted.bytes_of(half);
        assert!((20..=28).contains(&found), "{found} of {}", half.len());
    }
}
