//! A version of a file: its lines as far as records determine them, and which change wrote each.
//!
//! **Authors follow the lines, not the texts.** A change replaces a part of the version before it,
//! so a line that it does not touch keeps its author, and what was changed by nobody that is known
//! has none. Where two alignments of old and new lines are equally good and would name different
//! authors, as with braces around an inserted function, the line gets none.

use std::collections::HashMap;
use std::sync::Arc;

use similar::DiffOp;

use super::steps::{FileStep, Hunk, ended};
use crate::model::change::{LineSign, differences};

/// Fewer letters and digits in unchanged lines between changed ones may be there by chance.
const LEAST: usize = 12;
/// Lines with fewer letters and digits say nothing, such as `} else {`.
const LITTLE: usize = 5;
/// Lines, and letters and digits in them, of a block that is found again by its text alone.
const BLOCK: (usize, usize) = (3, 40);
/// Unchanged lines around a block that is looked for.
const AROUND: usize = 3;

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Author {
    /// Number of the change.
    pub(crate) change: u32,
    /// Whether the line was moved since, by nobody that is known.
    pub(crate) is_moved: bool,
    /// Whether the change wrote the file whole, and nothing is known of what was there before.
    pub(crate) is_blind: bool,
}

/// A line of a version.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileLine {
    /// The text with its line end.
    pub(crate) text: Arc<str>,
    pub(crate) by: Option<Author>,
}

/// Lines that follow one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LineRun {
    /// The number of its first line, from 1, if it is known.
    pub(crate) at: Option<usize>,
    /// What stood there at first.
    pub(crate) first: Vec<Arc<str>>,
    pub(crate) lines: Vec<FileLine>,
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Version {
    /// The whole file, as it was when all of it was known last.
    pub(crate) whole: Option<LineRun>,
    /// Whether `whole` is the version itself.
    pub(crate) is_sure: bool,
    /// Whether it is known if the last line has a line end.
    pub(crate) is_end_known: bool,
    /// Whether what was there before the first change is known.
    pub(crate) is_first_known: bool,
    /// Parts whose place in `whole` is not known.
    pub(crate) parts: Vec<LineRun>,
}

impl Default for Version {
    fn default() -> Self {
        Self {
            whole: None,
            is_sure: false,
            is_end_known: true,
            is_first_known: true,
            parts: Vec::new(),
        }
    }
}

impl Version {
    /// Whether every line is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_sure && self.whole.is_some()
    }

    /// All runs of lines.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &LineRun> {
        self.whole.iter().chain(&self.parts)
    }

    /// Applies what a call did.
    pub(crate) fn apply(&mut self, step: &FileStep, change: u32) {
        let by = Author {
            change,
            is_moved: false,
            is_blind: false,
        };
        match step {
            FileStep::Write { content, is_new } => self.write(lines_of(content), *is_new, by),
            FileStep::Delete => self.write(Vec::new(), false, by),
            FileStep::Unknown => self.is_sure = false,
            FileStep::Before(content) => self.observe(lines_of(content)),
            FileStep::Replace {
                pairs,
                is_all,
                recorded,
            } => self.replace_all(pairs, *is_all, recorded, by),
            FileStep::Patch(hunks) => self.patch(hunks, by),
            FileStep::Read {
                from,
                lines,
                is_whole,
            } => self.read(*from, lines, *is_whole),
        }
    }

    /// What the file was found to be. Lines that are new in it have no author.
    pub(crate) fn observe(&mut self, lines: Vec<Arc<str>>) {
        self.is_end_known = true;
        self.take_whole(lines, None);
    }

    fn write(&mut self, lines: Vec<Arc<str>>, is_new: bool, by: Author) {
        let is_blind = self.whole.is_none() && !is_new;
        if is_blind {
            self.is_first_known = false;
        }
        self.is_end_known = true;
        self.take_whole(lines, Some(Author { is_blind, ..by }));
    }

    /// Takes all lines of the file, of which new ones are by this author.
    fn take_whole(&mut self, new: Vec<Arc<str>>, by: Option<Author>) {
        let parts = std::mem::take(&mut self.parts);
        let (mut first, mut lines) = match &self.whole {
            Some(known) => (Some(known.first.clone()), merge(&known.lines, &new, by)),
            None => (None, new.iter().map(|text| line(text, by)).collect()),
        };
        for part in &parts {
            let place = place_in(&mut lines, part, by);
            // What was there before changes of a part that is found again.
            if let (None, Some(place), None) = (&first, place, by) {
                let mut before = new.clone();
                before.splice(place..place + part.lines.len(), part.first.iter().cloned());
                first = Some(before);
            }
        }
        let first = first.unwrap_or_else(|| if by.is_some() { Vec::new() } else { new });
        self.is_sure = true;
        self.whole = Some(LineRun {
            at: Some(1),
            first,
            lines,
        });
    }

    fn replace_all(
        &mut self,
        pairs: &[(String, String)],
        is_all: bool,
        recorded: &[Hunk],
        by: Author,
    ) {
        for (number, (old, new)) in pairs.iter().enumerate() {
            if old.is_empty() && self.runs().all(|run| run.lines.is_empty()) {
                self.write(lines_of(new), false, by);
                continue;
            }
            let near = recorded
                .get(number)
                .filter(|_| recorded.len() == pairs.len());
            let near = near.or(recorded.first()).and_then(|hunk| hunk.at);
            if !old.is_empty() && self.replace(old, new, is_all, near, by) {
                continue;
            }
            // The recorded change has whole lines and their numbers. If a part of the call was
            // applied already, its hunks do not fit any more.
            if number == 0 && !recorded.is_empty() && keeps_tabs(recorded, new) {
                self.patch(recorded, by);
                return;
            }
            self.add_part(None, lines_of(old), &lines_of(new), by);
        }
    }

    /// Replaces a text where it is known to stand. Returns false if it is not known where.
    fn replace(
        &mut self,
        old: &str,
        new: &str,
        is_all: bool,
        near: Option<usize>,
        by: Author,
    ) -> bool {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        let runs = self.whole.iter_mut().chain(&mut self.parts);
        let mut runs: Vec<&mut LineRun> = runs.collect();
        for (number, run) in runs.iter().enumerate() {
            let text: String = run.lines.iter().map(|line| &*line.text).collect();
            let at = run.at.unwrap_or(1);
            for (place, _) in text.match_indices(old) {
                let before = text.get(..place).unwrap_or_default();
                let line = at + before.matches('\n').count();
                found.push((number, place, line));
            }
        }
        if found.len() > 1 && !is_all {
            let Some(near) = near else { return false };
            found.sort_by_key(|(.., line)| line.abs_diff(near));
            let distance = |at: usize| found.get(at).map(|(.., line)| line.abs_diff(near));
            if distance(0) == distance(1) {
                return false;
            }
            found.truncate(1);
        }
        // From behind, so that places stay right.
        for (number, place, _) in found.iter().rev() {
            if let Some(run) = runs.get_mut(*number) {
                run.replace(*place, old, new, by);
            }
        }
        !found.is_empty()
    }

    /// Adds a part that replaces lines whose place is not sure.
    fn add_part(&mut self, at: Option<usize>, old: Vec<Arc<str>>, new: &[Arc<str>], by: Author) {
        self.is_sure = false;
        let known: Vec<FileLine> = old.iter().map(|text| line(text, None)).collect();
        self.parts.push(LineRun {
            at,
            lines: merge(&known, new, Some(by)),
            first: old,
        });
    }

    fn patch(&mut self, hunks: &[Hunk], by: Author) {
        let mut cursor = 0;
        for hunk in hunks {
            let old = hunk.side(LineSign::Removed);
            let new = hunk.side(LineSign::Added);
            if old.is_empty() && self.runs().all(|run| run.lines.is_empty()) {
                self.write(new, false, by);
                continue;
            }
            let mut runs = self.whole.iter_mut().chain(&mut self.parts);
            let found = runs.find_map(|run| Some((run.place_of(hunk, &old, cursor)?, run)));
            if let Some((place, run)) = found {
                run.splice(place, old.len(), &new, Some(by));
                cursor = place + new.len();
                continue;
            }
            self.add_part(hunk.at, old, &new, by);
        }
    }

    fn read(&mut self, from: usize, lines: &[String], is_whole: bool) {
        let ended: Vec<Arc<str>> = lines.iter().map(|text| ended(text)).collect();
        let is_same = |known: &[FileLine]| {
            known.len() == ended.len()
                && known
                    .iter()
                    .zip(&ended)
                    .all(|(known, read)| key_of(&known.text) == key_of(read))
        };
        if let Some(known) = self.whole.as_ref().filter(|_| self.is_sure) {
            let there = known
                .lines
                .get(from - 1..(from - 1 + ended.len()).min(known.lines.len()));
            if there.is_some_and(is_same) && (!is_whole || known.lines.len() == ended.len()) {
                return;
            }
        }
        if is_whole {
            self.is_end_known = false;
            return self.take_whole(ended, None);
        }
        self.is_sure = false;
        if ended.is_empty() {
            return;
        }
        // Numbers that were known before are no longer those of the file.
        self.parts.iter_mut().for_each(|part| part.at = None);
        self.parts.push(LineRun {
            at: Some(from),
            lines: ended.iter().map(|text| line(text, None)).collect(),
            first: ended,
        });
    }
}

impl LineRun {
    /// Replaces a text at an offset.
    fn replace(&mut self, place: usize, old: &str, new: &str, by: Author) {
        let (mut first, mut start) = (0, 0);
        for line in &self.lines {
            if start + line.text.len() > place {
                break;
            }
            start += line.text.len();
            first += 1;
        }
        let (mut end, mut region) = (first, String::new());
        let wanted = place - start + old.len();
        while let Some(line) = self.lines.get(end).filter(|_| region.len() < wanted) {
            region.push_str(&line.text);
            end += 1;
        }
        let head = region.get(..place - start).unwrap_or_default();
        let tail = region.get(wanted..).unwrap_or_default();
        let mut text = [head, new, tail].concat();
        // A replaced line end joins the next line.
        while !text.is_empty() && !text.ends_with('\n') {
            let Some(next) = self.lines.get(end) else {
                break;
            };
            text.push_str(&next.text);
            end += 1;
        }
        self.splice(first, end - first, &lines_of(&text), Some(by));
    }

    fn splice(&mut self, from: usize, count: usize, new: &[Arc<str>], by: Option<Author>) {
        let range = from..(from + count).min(self.lines.len());
        let merged = merge(self.lines.get(range.clone()).unwrap_or_default(), new, by);
        self.lines.splice(range, merged);
    }

    /// Where the old lines of a hunk stand.
    fn place_of(&self, hunk: &Hunk, old: &[Arc<str>], cursor: usize) -> Option<usize> {
        let from = self.at.unwrap_or(1);
        if old.is_empty() {
            let at = hunk.at.map(|at| at.saturating_sub(from));
            let at = at
                .or_else(|| self.anchor(hunk, cursor))
                .or(Some(self.lines.len()));
            return at.filter(|at| *at <= self.lines.len() && self.at == Some(1));
        }
        let is_there = |at: &usize| {
            let lines = self.lines.get(*at..*at + old.len());
            lines.is_some_and(|lines| {
                lines
                    .iter()
                    .zip(old)
                    .all(|(known, old)| known.text.trim_end() == old.trim_end())
            })
        };
        let last = self.lines.len().checked_sub(old.len())?;
        let places = (0..=last).filter(is_there);
        if let Some(at) = hunk.at {
            return places.min_by_key(|place| (place + from).abs_diff(at));
        }
        let start = self.anchor(hunk, cursor).unwrap_or(cursor);
        let places: Vec<usize> = places.collect();
        let next = places.iter().find(|place| **place >= start);
        next.or(places.first().filter(|_| places.len() == 1))
            .copied()
    }

    /// The line after the one that the head of a hunk names.
    fn anchor(&self, hunk: &Hunk, cursor: usize) -> Option<usize> {
        let anchor = hunk.anchor.as_ref()?;
        let mut lines = self.lines.iter().enumerate().skip(cursor);
        lines
            .find(|(_, line)| line.text.trim() == anchor.trim())
            .map(|(at, _)| at + 1)
    }
}

/// Whether a recorded change has the tabs that a text has; some agents record it as shown.
fn keeps_tabs(recorded: &[Hunk], new: &str) -> bool {
    let is_indented = |text: &str| text.starts_with('\t');
    !new.lines().any(is_indented)
        || recorded
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .any(|(_, text)| is_indented(text))
}

fn line(text: &Arc<str>, by: Option<Author>) -> FileLine {
    FileLine {
        text: Arc::clone(text),
        by,
    }
}

/// The lines of a text, each with its end.
pub(crate) fn lines_of(text: &str) -> Vec<Arc<str>> {
    text.split_inclusive('\n').map(Arc::from).collect()
}

/// What two lines are compared by: their text without line ends.
fn key_of(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

/// How much a line says.
fn weight(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// The lines `new`, of which those that stood in `old` keep their authors; the others get `by`.
fn merge(old: &[FileLine], new: &[Arc<str>], by: Option<Author>) -> Vec<FileLine> {
    let mut merged: Vec<FileLine> = new.iter().map(|text| line(text, by)).collect();
    let (olds, news): (Vec<&str>, Vec<&str>) = (
        old.iter().map(|line| key_of(&line.text)).collect(),
        new.iter().map(|text| key_of(text)).collect(),
    );
    let ops = differences(&olds, &news);
    for op in &ops {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = *op
        {
            let known = old.get(old_index..old_index + len).unwrap_or_default();
            let same = merged
                .get_mut(new_index..new_index + len)
                .unwrap_or_default();
            for (same, known) in same.iter_mut().zip(known) {
                same.by = known.by;
            }
        }
    }
    let doubtful = doubtful(old, &merged, (&olds, &news), &ops, by);
    let left_over = left_over(old, &merged, &ops);
    for at in doubtful.into_iter().chain(left_over) {
        if let Some(line) = merged.get_mut(at) {
            line.by = None;
        }
    }
    if by.is_none() {
        find_moved(old, &mut merged, (&olds, &news), &ops);
    }
    merged
}

/// Braces and blank lines that are all that is left of what a call wrote in one piece: they may as
/// well be those of what took its place.
fn left_over(old: &[FileLine], merged: &[FileLine], ops: &[DiffOp]) -> Vec<usize> {
    let mut from_old: Vec<Option<usize>> = vec![None; merged.len()];
    for op in ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. })) {
        let range = from_old.get_mut(op.new_range()).unwrap_or_default();
        for (place, at) in range.iter_mut().zip(op.old_range()) {
            *place = Some(at);
        }
    }
    let said = |lines: &[FileLine]| lines.iter().map(|line| weight(&line.text)).sum::<usize>();
    let was: Vec<usize> = old
        .chunk_by(|one, other| one.by == other.by)
        .flat_map(|lines| std::iter::repeat_n(said(lines), lines.len()))
        .collect();
    let mut left_over = Vec::new();
    let mut start = 0;
    for lines in merged.chunk_by(|one, other| one.by == other.by) {
        let range = start..start + lines.len();
        start = range.end;
        let places = from_old.get(range.clone()).unwrap_or_default();
        let is_author_known = lines.first().is_some_and(|line| line.by.is_some());
        let is_of_more = |at: &Option<usize>| {
            let before = at.and_then(|at| was.get(at));
            before.is_some_and(|before| *before >= LITTLE)
        };
        if is_author_known && said(lines) < LITTLE && places.iter().all(is_of_more) {
            left_over.extend(range);
        }
    }
    left_over
}

/// Lines of which another alignment, as good as this one, would name another author.
fn doubtful(
    old: &[FileLine],
    merged: &[FileLine],
    (olds, news): (&[&str], &[&str]),
    ops: &[DiffOp],
    by: Option<Author>,
) -> Vec<usize> {
    let mut doubtful = Vec::new();
    let author = |at: usize| merged.get(at).and_then(|line| line.by);
    let before = |at: usize| old.get(at).and_then(|line| line.by);
    for (number, op) in ops.iter().enumerate() {
        let same = |number: Option<usize>| match number.and_then(|number| ops.get(number)) {
            Some(DiffOp::Equal { len, .. }) => *len,
            _ => 0,
        };
        let (above, below) = (same(number.checked_sub(1)), same(Some(number + 1)));
        if let DiffOp::Equal { new_index, len, .. } = *op {
            let is_between = number > 0 && number + 1 < ops.len();
            let lines = new_index..new_index + len;
            let said = || news.get(lines.clone()).unwrap_or_default().iter();
            if is_between && said().map(|text| weight(text)).sum::<usize>() < LEAST {
                doubtful.extend(lines.filter(|at| author(*at) != by));
            }
            continue;
        }
        let (a, b) = (op.old_range().start, op.old_range().end);
        let (c, d) = (op.new_range().start, op.new_range().end);
        if c < d {
            // The inserted lines may stand higher or lower by as many lines as are the same.
            for k in (0..above).take_while(|k| news.get(c - 1 - k) == news.get(d - 1 - k)) {
                if author(c - 1 - k) != author(d - 1 - k) {
                    doubtful.extend([c - 1 - k, d - 1 - k]);
                }
            }
            for k in (0..below).take_while(|k| news.get(d + k) == news.get(c + k)) {
                if author(d + k) != author(c + k) {
                    doubtful.extend([d + k, c + k]);
                }
            }
        }
        if a < b {
            for k in (0..above).take_while(|k| olds.get(a - 1 - k) == olds.get(b - 1 - k)) {
                if before(a - 1 - k) != before(b - 1 - k) {
                    doubtful.push(c - 1 - k);
                }
            }
            for k in (0..below).take_while(|k| olds.get(b + k) == olds.get(a + k)) {
                if before(b + k) != before(a + k) {
                    doubtful.push(d + k);
                }
            }
        }
    }
    doubtful
}

/// Gives blocks that were removed in one place and inserted in another their authors back.
fn find_moved(
    old: &[FileLine],
    merged: &mut [FileLine],
    (olds, news): (&[&str], &[&str]),
    ops: &[DiffOp],
) {
    let changed = |is_old: bool| {
        ops.iter()
            .filter(|op| !matches!(op, DiffOp::Equal { .. }))
            .flat_map(move |op| {
                if is_old {
                    op.old_range()
                } else {
                    op.new_range()
                }
            })
    };
    let by_text = |is_old: bool, texts: &[&str]| {
        let mut by_text: HashMap<String, Option<usize>> = HashMap::new();
        for at in changed(is_old) {
            let Some(text) = texts.get(at).filter(|text| weight(text) > 3) else {
                continue;
            };
            by_text
                .entry((*text).to_owned())
                .and_modify(|known| *known = None)
                .or_insert(Some(at));
        }
        by_text
    };
    let removed = by_text(true, olds);
    let inserted = by_text(false, news);
    let is_removed: std::collections::HashSet<usize> = changed(true).collect();
    let is_inserted: std::collections::HashSet<usize> = changed(false).collect();
    let mut done = 0;
    for at in changed(false) {
        let text = news.get(at).copied().unwrap_or_default();
        let (Some(Some(_)), Some(Some(from))) = (inserted.get(text), removed.get(text)) else {
            continue;
        };
        if at < done {
            continue;
        }
        let fits = |old_at: usize, new_at: usize| {
            is_removed.contains(&old_at)
                && is_inserted.contains(&new_at)
                && olds.get(old_at) == news.get(new_at)
        };
        let mut above = 0;
        while above < (*from).min(at - done) && fits(from - above - 1, at - above - 1) {
            above += 1;
        }
        let below = (0..news.len())
            .take_while(|k| fits(from + k, at + k))
            .count();
        let lines = at - above..at + below;
        done = lines.end;
        let said: usize = lines
            .clone()
            .filter_map(|at| news.get(at))
            .map(|text| weight(text))
            .sum();
        if lines.len() < BLOCK.0 || said < BLOCK.1 {
            continue;
        }
        for (new_at, old_at) in lines.zip(from - above..) {
            let by = old.get(old_at).and_then(|line| line.by);
            if let Some(line) = merged.get_mut(new_at) {
                line.by = by.map(|by| Author {
                    is_moved: true,
                    ..by
                });
            }
        }
    }
}

/// Finds a part in the whole file and gives its lines their authors, where those in `lines` are
/// `over`. Returns the place if all of it is there.
fn place_in(lines: &mut [FileLine], part: &LineRun, over: Option<Author>) -> Option<usize> {
    let texts: Vec<&str> = lines.iter().map(|line| key_of(&line.text)).collect();
    let wanted: Vec<&str> = part.lines.iter().map(|line| key_of(&line.text)).collect();
    let said = |range: std::ops::Range<usize>| {
        let lines = wanted.get(range).unwrap_or_default();
        lines.iter().map(|text| weight(text)).sum::<usize>()
    };
    let find = |range: std::ops::Range<usize>| {
        let wanted = wanted.get(range).filter(|wanted| !wanted.is_empty())?;
        let mut places = texts.windows(wanted.len()).enumerate();
        let mut next = || places.find(|(_, texts)| *texts == wanted).map(|(at, _)| at);
        next().filter(|_| next().is_none())
    };
    let all = 0..part.lines.len();
    let whole = find(all.clone()).filter(|_| said(all.clone()) >= LEAST);
    let mut found: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
    if let Some(place) = whole {
        found.push((place, all));
    } else {
        let mut from = 0;
        for block in part.lines.chunk_by(|one, other| one.by == other.by) {
            let own = from..from + block.len();
            from = own.end;
            if block.first().is_none_or(|line| line.by.is_none()) {
                continue;
            }
            let wide = own.start.saturating_sub(AROUND)..(own.end + AROUND).min(wanted.len());
            let is_block = own.len() >= BLOCK.0 && said(own.clone()) >= BLOCK.1;
            let is_enough = said(wide.clone()) >= BLOCK.1;
            let place = find(wide.clone())
                .filter(|_| is_enough)
                .map(|place| (place, wide));
            found.extend(
                place.or_else(|| find(own.clone()).filter(|_| is_block).map(|at| (at, own))),
            );
        }
    }
    for (place, range) in found {
        let known = part.lines.get(range).unwrap_or_default();
        for (at, known) in (place..).zip(known) {
            if let Some(line) = lines.get_mut(at).filter(|line| line.by == over) {
                line.by = known.by;
            }
        }
    }
    whole
}
