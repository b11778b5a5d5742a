//! The files that belong to a session: those that its format names, and those that its records
//! reference.
//!
//! **The end comes before the companions.** A session may have thousands of companions; they are
//! searched after its end is read, and idle ones are polled in turn.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::{Main, PendingStep, SessionReader};
use crate::formats::roots::{FileRole, Pattern};
use crate::ingest::earlier::{self, FilePart, is_packed};
use crate::ingest::files::FileKind;
use crate::ingest::line_file::LineFile;
use crate::ingest::whole::Small;
use crate::model::record::Shape;
use crate::source::pattern::from_root;

impl SessionReader<'_> {
    pub(super) fn find_files(&mut self, now: Instant) {
        if self.plan.shape == Shape::Rows {
            return self.find_lines_of_rows(now);
        }
        if self.plan.has_lines() {
            let parts = earlier::parts(self.plan.format, &self.plan.path, &self.files);
            let first = parts.first().map_or(&self.plan.path, |part| &part.path);
            let emitter = &mut self.emitter;
            earlier::originals(self.plan.format, first, &self.files, &mut |record| {
                emitter.read_original(record);
            });
            self.queue.extend(
                parts
                    .into_iter()
                    .map(|part| PendingStep::Text(FileKind::Lines, part)),
            );
        }
        let plan = &self.plan;
        let mut patterns = match plan.shape {
            Shape::Folder => plan.format.files(&plan.path, FileRole::Part(&plan.session)),
            Shape::Lines
            | Shape::Document
            | Shape::Values
            | Shape::Text
            | Shape::Rows
            | Shape::Stream => Vec::new(),
        };
        patterns.extend(plan.companions());
        self.add_patterns(patterns, false, now);
        self.find_rows_beside();
    }

    /// Searches the file that a session of a database may also be stored in. It is read first: what
    /// it shares with the rows is equal, and what it has besides mostly comes before them.
    fn find_lines_of_rows(&mut self, now: Instant) {
        let role = FileRole::Lines(&self.plan.session);
        let lines = self.plan.format.files(&from_root(&self.plan.path), role);
        if lines.is_empty() {
            return;
        }
        // The first number belongs to the opened path, wherever it is.
        self.files.number(&self.plan.path, FileKind::Small);
        self.add_patterns(lines, false, now);
    }

    /// Adds the files that records referenced. Those of a folder are read next, so that the parts
    /// of a message follow it.
    pub(super) fn add_requested(&mut self, now: Instant) {
        if let Main::Rows(rows) = &mut self.main {
            let wanted = self.emitter.take_wanted();
            return rows.request_sessions(wanted, &mut self.emitter);
        }
        for wanted in self.emitter.take_wanted() {
            if self.requested.insert(wanted.clone()) {
                let patterns = self.plan.requested_files(&wanted);
                self.add_patterns(patterns, self.plan.shape == Shape::Folder, now);
            }
        }
    }

    pub(super) fn add_patterns(&mut self, patterns: Vec<Pattern>, are_next: bool, now: Instant) {
        let mut found = Vec::new();
        for Pattern(pattern) in patterns {
            found.extend(self.folder.add(&pattern));
        }
        self.add_files(found, are_next, now);
    }

    pub(super) fn add_files(&mut self, paths: Vec<Arc<Path>>, are_next: bool, now: Instant) {
        let mut todo: Vec<PendingStep> = paths
            .iter()
            .filter_map(|path| self.add_file(path, now))
            .collect();
        if are_next {
            while let Some(last) = todo.pop() {
                self.queue.push_front(last);
            }
        } else {
            self.queue.extend(todo);
        }
    }

    fn add_file(&mut self, path: &Arc<Path>, now: Instant) -> Option<PendingStep> {
        let is_main = self.plan.shape != Shape::Folder && **path == *self.plan.path;
        if is_main {
            return None;
        }
        if let Some(index) = self.small_at.get(path) {
            return Some(PendingStep::Small(*index, None));
        }
        let kind = if self.plan.shape == Shape::Rows {
            FileKind::Lines
        } else {
            kind_of(path)
        };
        let id = self
            .files
            .announce(Arc::clone(path), kind, &mut self.emitter);
        if !kind.is_lines() {
            self.small_at.insert(Arc::clone(path), self.smalls.len());
            self.smalls.push(Small::new(
                Arc::clone(path),
                id,
                kind,
                self.files.fence_of(path),
            ));
            return Some(PendingStep::Small(self.smalls.len() - 1, None));
        }
        if is_packed(path) {
            let part = FilePart {
                path: path.to_path_buf(),
                bytes: u64::MAX,
            };
            return Some(PendingStep::Text(FileKind::CompanionLines, part));
        }
        if self.line_file_at.contains_key(&**path) {
            return None;
        }
        match LineFile::open(path, kind, &self.files, now) {
            Ok(line_file) => {
                let mut line_file = line_file.planned(&self.plan);
                line_file.follower.close();
                self.unopened.remove(&**path);
                self.line_file_at
                    .insert(path.to_path_buf(), self.line_files.len());
                self.line_files.push(line_file);
                Some(PendingStep::LineFile(self.line_files.len() - 1))
            }
            Err(error) => {
                if self.unopened.insert(path.to_path_buf()) {
                    self.emitter
                        .notice(id, &format!("{} cannot be opened: {error}", path.display()));
                }
                None
            }
        }
    }
}

/// Kind of a companion's content: one JSON value, a text, or a record a line.
fn kind_of(path: &Path) -> FileKind {
    match path.extension().and_then(|extension| extension.to_str()) {
        None | Some("json" | "lock" | "yaml") => FileKind::Small,
        Some("txt") => FileKind::Text,
        Some(_) => FileKind::CompanionLines,
    }
}
