//! The listing of a session's files: numbers of reads, changes and writes, and problems.

use std::collections::BTreeSet;

use ratatui::text::Span;

use super::call::{carrying_usd, carrying_width, carrying_words};
use super::sort::{Order, Sort, Value};
use super::table::{Cell, CellLook, Column, Listing, cell};
use crate::analysis::calls::Place;
use crate::analysis::context::window::carried::{Carriage, Carried};
use crate::analysis::files::{FileUses, Files, Use};
use crate::model::path;
use crate::model::text::Text;
use crate::model::transcript::Transcript;
use crate::render::wrap;

/// By number of changes, the most first.
pub(crate) const MOST_CHANGED: Sort = Sort {
    by: "edits",
    order: Order::Falling,
};

/// The files of a session, by path.
pub(crate) struct FileList<'a> {
    transcript: &'a Transcript,
    files: &'a Files,
    carried: &'a Carried,
    has_flags: bool,
    /// Whether files were used on several days.
    is_dated: bool,
}

impl<'a> FileList<'a> {
    pub(crate) fn of(transcript: &'a Transcript, files: &'a Files, carried: &'a Carried) -> Self {
        let times = || files.list().filter_map(|(_, file)| file.last);
        let ends = times().min().zip(times().max());
        Self {
            transcript,
            files,
            carried,
            has_flags: files.list().any(|(_, file)| file.flags > 0),
            is_dated: ends.is_some_and(|(first, last)| !first.is_same_day(last)),
        }
    }
}

pub(crate) struct FileRow<'a> {
    transcript: &'a Transcript,
    path: &'a Text,
    file: &'a FileUses,
    /// What the results of its calls cost to carry.
    carriage: Option<Carriage>,
    is_dated: bool,
}

type FileColumn<'a> = Column<FileRow<'a>>;

impl<'a> Listing for FileList<'a> {
    type Key = Text;
    type Row = FileRow<'a>;

    fn columns(&self, _: usize) -> Vec<FileColumn<'a>> {
        let has_flags = self.has_flags;
        let last = if self.is_dated { 11 } else { 8 };
        // A file has the numbers of all sessions that used it.
        let sessions = match self.transcript.sessions_width() {
            0 => 0,
            width => width * 2 + 1,
        };
        vec![
            FileColumn::words("", usize::from(has_flags), 9)
                .cell(|row, look| cell(if row.file.flags > 0 { "!" } else { "" }, look.theme.warn)),
            FileColumn::words("", sessions, 9).cell(|row, look| {
                let mut marks = Cell::new();
                for session in row.sessions() {
                    marks.extend((!marks.is_empty()).then(|| Span::raw(" ")));
                    marks.push(look.theme.session_mark(Some(session)));
                }
                marks
            }),
            FileColumn::rest("file", 16)
                .sorted_by("file", |row| Value::text(Some(row.path.as_str())))
                .cell(|row, look| {
                    let style = match row.file.edits + row.file.writes {
                        0 => look.theme.dim,
                        _ => look.theme.text,
                    };
                    let path = wrap::fit_path(row.seen_path(), look.width, look.theme.glyphs().cut);
                    cell(path, look.focus_or(style))
                }),
            FileColumn::figures("r", 4, 6)
                .sorted_by("reads", |row| Value::int(Some(row.file.reads)))
                .cell(|row, look| count(row.file.reads, look)),
            FileColumn::figures("e", 4, 8)
                // Sorting by changes also counts writes of the whole file.
                .sorted_by(MOST_CHANGED.by, |row| {
                    Value::int(Some(row.file.edits)).ranked(row.file.edits + row.file.writes)
                })
                .cell(|row, look| count(row.file.edits, look)),
            FileColumn::figures("w", 4, 7)
                .sorted_by("writes", |row| Value::int(Some(row.file.writes)))
                .cell(|row, look| count(row.file.writes, look)),
            FileColumn::figures("carried", carrying_width(self.carried), 4)
                .sorted_by("carried_usd", |row| carrying_usd(row.carriage.as_ref()))
                .cell(|row, look| cell(carrying_words(row.carriage.as_ref()), look.theme.text)),
            FileColumn::data("carried_tokens", |row| {
                Value::tokens(row.carriage.map(|one| one.carried))
            }),
            FileColumn::figures("lanes", 5, 3)
                .sorted_by("lanes", |row| Value::int(Some(row.file.lanes)))
                .dim(),
            FileColumn::words("last", last, 5)
                .sorted_by("last", |row| Value::time(row.file.last))
                .turned()
                .cell(|row, look| {
                    let words = row.file.last.map(|at| at.clock_or_dated(row.is_dated));
                    cell(words.unwrap_or_default(), look.theme.dim)
                }),
            FileColumn::words("flags", if has_flags { 16 } else { 0 }, 4)
                .sorted_by("flags", |row| {
                    let flags = row.file.uses.iter().filter_map(Use::flag);
                    let words = flags.map(|flag| flag.word().to_owned());
                    Value::Texts(words.collect()).ranked(row.file.flags)
                })
                .turned()
                .cell(flags),
        ]
    }

    fn row(&self, path: &Text) -> Option<FileRow<'a>> {
        let files = self.files;
        let (path, file) = files.file_with_path(path)?;
        // What a call that names several files cost is that of its first.
        let calls = file.uses.iter().map(|one| one.place);
        let calls: BTreeSet<Place> = calls
            .filter(|place| files.of_call(*place) == Some(path))
            .collect();
        Some(FileRow {
            transcript: self.transcript,
            path,
            file,
            carriage: self.carried.sum(calls.into_iter()),
            is_dated: self.is_dated,
        })
    }
}

impl FileRow<'_> {
    /// The joined sessions that used it.
    fn sessions(&self) -> BTreeSet<usize> {
        let uses = self.file.uses.iter();
        uses.filter_map(|one| Some(self.transcript.session_of(one.place.entry)?.0))
            .collect()
    }

    /// The path as the session that used it last would have it alone.
    fn seen_path(&self) -> &str {
        let last = self.file.uses.last().map(|one| one.place.entry);
        let root = last.and_then(|entry| self.transcript.root_of(entry));
        path::relative_to(self.path, root.map(Text::as_str))
    }
}

/// The paths of all files by number of reads, which is the order among equal rows.
pub(crate) fn keys(files: &Files) -> Vec<Text> {
    let mut list: Vec<(&Text, &FileUses)> = files.list().collect();
    list.sort_by_key(|(path, file)| (std::cmp::Reverse(file.reads), *path));
    list.into_iter().map(|(path, _)| path.clone()).collect()
}

fn count(figure: usize, look: &CellLook<'_>) -> Cell {
    let words = match figure {
        0 => "-".to_owned(),
        figure => figure.to_string(),
    };
    cell(words, look.theme.text)
}

/// The problems of a file, with their counts.
fn flags(row: &FileRow<'_>, look: &CellLook<'_>) -> Cell {
    let mut flags: Vec<(&str, usize)> = Vec::new();
    for flag in row.file.uses.iter().filter_map(Use::flag) {
        match flags.iter_mut().find(|(word, _)| *word == flag.word()) {
            Some((_, number)) => *number += 1,
            None => flags.push((flag.word(), 1)),
        }
    }
    let counted = |(word, number): (&str, usize)| match number {
        1 => word.to_owned(),
        _ => format!("{number} {word}"),
    };
    let flags: Vec<String> = flags.into_iter().map(counted).collect();
    cell(flags.join(", "), look.theme.warn)
}
