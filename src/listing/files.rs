//! The listing of a session's files: numbers of reads, changes and writes, and problems.

use std::collections::BTreeSet;

use super::call::{carried_usd, carried_width, carried_words};
use super::sort::{Order, Sort, Value};
use super::table::{Cell, Column, Listing, Look, cell};
use crate::analysis::calls::Place;
use crate::analysis::context::window::carried::{Carriage, Carried};
use crate::analysis::files::{File, Files, Use};
use crate::model::text::Text;
use crate::render::wrap;

/// By number of changes, the most first.
pub(crate) const MOST_CHANGED: Sort = Sort {
    by: "edits",
    order: Order::Falling,
};

/// The files of a session, by path.
pub(crate) struct FileList<'a>(pub(crate) &'a Files, pub(crate) &'a Carried);

/// A file with its path, and what the results of its calls cost to carry.
pub(crate) type FileRow<'a> = (&'a Text, &'a File, Option<Carriage>);

type FileColumn<'a> = Column<FileRow<'a>>;

impl<'a> Listing for FileList<'a> {
    type Key = Text;
    type Row = FileRow<'a>;

    fn columns(&self, _: usize) -> Vec<FileColumn<'a>> {
        vec![
            FileColumn::words("", 1, 9).cell(|(_, file, _), look| {
                cell(if file.flags > 0 { "!" } else { "" }, look.theme.warn)
            }),
            FileColumn::rest("file", 16)
                .by("file", |(path, ..)| Value::text(Some(path.as_str())))
                .cell(|(path, file, _), look| {
                    let style = match file.edits + file.writes {
                        0 => look.theme.dim,
                        _ => look.theme.text,
                    };
                    let path = wrap::fit_path(path, look.width, look.theme.glyphs().cut);
                    cell(path, look.focus_or(style))
                }),
            FileColumn::figures("r", 4, 6)
                .by("reads", |(_, file, _)| Value::int(Some(file.reads)))
                .cell(|(_, file, _), look| count(file.reads, look)),
            FileColumn::figures("e", 4, 8)
                // Sorting by changes also counts writes of the whole file.
                .by(MOST_CHANGED.by, |(_, file, _)| {
                    Value::int(Some(file.edits)).ranked(file.edits + file.writes)
                })
                .cell(|(_, file, _), look| count(file.edits, look)),
            FileColumn::figures("w", 4, 7)
                .by("writes", |(_, file, _)| Value::int(Some(file.writes)))
                .cell(|(_, file, _), look| count(file.writes, look)),
            FileColumn::figures("carried", carried_width(self.1), 4)
                .by("carried_usd", |(.., carriage)| {
                    carried_usd(carriage.as_ref())
                })
                .cell(|(.., carriage), look| {
                    cell(carried_words(carriage.as_ref()), look.theme.text)
                }),
            FileColumn::data("carried_tokens", |(.., carriage)| {
                Value::tokens(carriage.map(|one| one.carried))
            }),
            FileColumn::figures("lanes", 5, 3)
                .by("lanes", |(_, file, _)| Value::int(Some(file.lanes)))
                .dim(),
            FileColumn::words("last", 8, 5)
                .by("last", |(_, file, _)| Value::time(file.last))
                .turned()
                .dim(),
            FileColumn::words("flags", 16, 4)
                .by("flags", |(_, file, _)| {
                    let flags = file.uses.iter().filter_map(Use::flag);
                    let words = flags.map(|flag| flag.word().to_owned());
                    Value::Texts(words.collect()).ranked(file.flags)
                })
                .turned()
                .cell(flags),
        ]
    }

    fn row(&self, path: &Text) -> Option<FileRow<'a>> {
        let Self(files, carried) = *self;
        let (path, file) = files.file_with_path(path)?;
        // What a call that names several files cost is that of its first.
        let calls = file.uses.iter().map(|one| one.place);
        let calls: BTreeSet<Place> = calls
            .filter(|place| files.of_call(*place) == Some(path))
            .collect();
        Some((path, file, carried.sum(calls.into_iter())))
    }
}

/// The paths of all files by number of reads, which is the order among equal rows.
pub(crate) fn keys(files: &Files) -> Vec<Text> {
    let mut list: Vec<(&Text, &File)> = files.list().collect();
    list.sort_by_key(|(path, file)| (std::cmp::Reverse(file.reads), *path));
    list.into_iter().map(|(path, _)| path.clone()).collect()
}

fn count(figure: usize, look: &Look<'_>) -> Cell {
    let words = match figure {
        0 => "-".to_owned(),
        figure => figure.to_string(),
    };
    cell(words, look.theme.text)
}

/// The problems of a file, with their counts.
fn flags((_, file, _): &FileRow<'_>, look: &Look<'_>) -> Cell {
    let mut flags: Vec<(&str, usize)> = Vec::new();
    for flag in file.uses.iter().filter_map(Use::flag) {
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
