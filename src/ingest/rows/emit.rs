//! Reads rows and emits their records.

use std::borrow::Cow;

use super::RowFollower;
use super::look::{AT_ONCE, ReadStep};
use crate::formats::decoder::is_blank;
use crate::ingest::bodies::Bodies;
use crate::ingest::emitter::Emitter;
use crate::ingest::files::FileKind;
use crate::model::edit::saturating_u32;
use crate::model::fingerprint::hash_of;
use crate::model::record::{Origin, Record};
use crate::source::lines::{Line, LineBuffer};
use crate::source::packed;
use crate::source::rows::{DatabaseFailure, SqlValue};

/// Session, table, and row id.
type RowPlace = (usize, usize, i64);

impl RowFollower {
    /// Queues the next rows of the first reading of a session.
    pub(super) fn read_portion(
        &mut self,
        number: usize,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), DatabaseFailure> {
        let database = self.database()?;
        let Some(session) = self.sessions.get_mut(number) else {
            return Ok(());
        };
        let portion = session.next_portion(number, &database, &self.queries)?;
        if let Some(what) = portion.notice
            && let Some((file, ..)) =
                session.file((&self.files, &self.path), 0, &self.queries, emitter)
        {
            emitter.notice(file, what);
        }
        self.read_next(portion.todo);
        Ok(())
    }

    /// Adds the sessions that one started without a row that requests them.
    pub(super) fn read_children(
        &mut self,
        number: usize,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), DatabaseFailure> {
        let database = self.database()?;
        let Some(session) = self.sessions.get(number) else {
            return Ok(());
        };
        let names = session.children(&database, &self.queries)?;
        self.add_sessions(names, emitter);
        Ok(())
    }

    /// Reads a row, and the queued ones after it, in one query.
    pub(super) fn read_rows(&mut self, first: RowPlace) -> Result<(), DatabaseFailure> {
        let database = self.database()?;
        let further = self.queue.iter().map_while(|todo| match todo {
            ReadStep::Row { session, table, at } => Some((*session, *table, *at)),
            _ => None,
        });
        let places: Vec<RowPlace> = std::iter::once(first)
            .chain(further)
            .take(AT_ONCE)
            .collect();
        let mut questions = places.iter().map_while(|(session, table, at)| {
            let id = SqlValue::from(self.sessions.get(*session)?.id.as_str());
            Some((
                self.queries.tables.get(*table)?.one.as_str(),
                vec![id, SqlValue::Int(*at)],
            ))
        });
        let answers = database.values(&mut questions)?;
        let answered = answers.len();
        let mut read = Vec::new();
        for ((session, table, at), answer) in places.into_iter().zip(answers) {
            let content = match answer {
                Ok(Some(cell)) => Ok(cell.content()),
                // The row was deleted since the scan; the next scan detects that.
                Ok(None) => continue,
                Err(DatabaseFailure::Damaged(what)) => Err(what),
                Err(failure) => return Err(failure),
            };
            read.push(ReadStep::Have {
                session,
                table,
                at,
                content,
            });
        }
        self.queue
            .drain(..answered.saturating_sub(1).min(self.queue.len()));
        self.read_next(read);
        Ok(())
    }

    /// Emits a row that was read, in place of its previous version, or the error.
    pub(super) fn emit_read(
        &mut self,
        (session, table, at): RowPlace,
        content: &Result<Vec<u8>, String>,
        emitter: &mut Emitter<'_>,
    ) {
        let Some(rows) = self.sessions.get_mut(session) else {
            return;
        };
        let file = rows.file((&self.files, &self.path), table, &self.queries, emitter);
        let Some((file, kind, path)) = file else {
            return;
        };
        let line = u32::try_from(at).unwrap_or(0);
        let origin = Origin {
            file,
            at: at.cast_unsigned(),
            len: 0,
            line,
        };
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(what) => {
                if !rows.walk.known.read(table, at, 0) {
                    let what = format!("a row cannot be read: {what}");
                    let tally = emitter.fault_provisional(Record { origin, bytes: b"" }, &what);
                    rows.walk.known.record(table, at, (0, file), tally);
                }
                return;
            }
        };
        let hash = hash_of(bytes);
        if rows.walk.known.read(table, at, hash) {
            return;
        }
        if let Some(tally) = rows.walk.known.counted_before(table, at, origin.file) {
            emitter.retract(&tally, origin);
        }
        emitter.set_stubs_only(self.bodies == Bodies::OnDisk || self.leaves_bodies);
        let tally = match unpacked(bytes) {
            Err(what) => emitter.fault_provisional(Record { origin, bytes: b"" }, &what),
            Ok(text) if is_blank(&text) => {
                emitter.fault_provisional(Record { origin, bytes: b"" }, "a row without content")
            }
            Ok(text) => {
                let origin = Origin {
                    len: saturating_u32(text.len()),
                    ..origin
                };
                let (record, place) = (
                    Record {
                        origin,
                        bytes: &text,
                    },
                    kind.place(&path, origin.line),
                );
                emitter.emit_provisional(record, place, table == 0 && rows.abandoned.contains(&at))
            }
        };
        rows.walk
            .known
            .record(table, at, (hash, origin.file), tally);
        self.read += 1;
    }

    /// Reports the anomaly of the files beside the database once.
    pub(super) fn report_anomaly(
        &mut self,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), DatabaseFailure> {
        let anomaly = self.database()?.anomaly();
        if let Some(what) = anomaly.filter(|_| self.anomaly != anomaly)
            && let Some(session) = self.sessions.first_mut()
            && let Some((file, ..)) =
                session.file((&self.files, &self.path), 0, &self.queries, emitter)
        {
            emitter.notice(file, what);
        }
        self.anomaly = anomaly;
        Ok(())
    }

    pub(super) fn read_archive(
        &mut self,
        number: usize,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), DatabaseFailure> {
        let database = self.database()?;
        let (Some(sql), Some(session)) = (&self.queries.archive, self.sessions.get(number)) else {
            return Ok(());
        };
        let Some(cell) = database.value(sql, &[SqlValue::from(session.id.as_str())])? else {
            return Ok(());
        };
        let kind = FileKind::Archive {
            session: self.files.session(&session.id),
            is_lane: session.lane.is_some(),
        };
        let (file, kind, path) =
            session.register((&self.files, &self.path), kind, "archive", emitter);
        let packed = cell.content();
        let text = match unpacked(&packed) {
            Ok(text) => text,
            Err(what) => {
                emitter.notice(
                    file,
                    &format!("the archive of this session cannot be read: {what}"),
                );
                return Ok(());
            }
        };
        emitter.set_stubs_only(self.bodies == Bodies::OnDisk);
        let mut buffer = LineBuffer::new(file);
        let mut emit = |line: Line<'_>| {
            let record = line.record();
            emitter.emit(record, kind.place(&path, record.origin.line));
        };
        buffer.feed(&text, &mut emit);
        buffer.unfinished().into_iter().for_each(emit);
        Ok(())
    }
}

/// A record as text; long ones may be compressed.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    packed::unpack(bytes).map_err(|error| format!("a compressed row cannot be read: {error}"))
}
