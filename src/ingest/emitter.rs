//! Decodes records into batches, and sends the batches.
//!
//! Invariant: each batch has the tally of all records so far; a replacement begins and ends with
//! the batches whose mode says so, however many there are.

use std::ops::Range;
use std::path::Path;

use crate::formats::decoder::{Decoder, RecordPlace, feed, feed_read};
use crate::formats::json::Json;
use crate::model::body::Body;
use crate::model::edit::{Batch, BatchMode, Edit, Feed, MetaEdit, Severity, Stage};
use crate::model::entry::rewording;
use crate::model::entry::{BlockKind, Raw, Role};
use crate::model::record::{FileId, Origin, Record};
use crate::model::tally::{Fate, Tally};
use crate::model::text::Text;
use crate::model::text::secrets;

/// Receiver of events. Returns whether it accepts more.
pub(crate) type Outlet<'o> = &'o dyn Fn(Feed) -> bool;

/// Number of edits after which a batch is sent, so that the first ones are shown soon. Later
/// batches hold a fraction of what was sent before, because each may cost the receiver a pass over
/// everything. No batch exceeds what the indexes process at once: entries that they fall behind
/// with would be packed, and unpacked again for them.
const EDITS: usize = 128;
const PART: u64 = 4;
const MOST_EDITS: usize = 512;

/// Whether the next batch is added to the transcript or replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    Append,
    Replace,
    ReplaceMore,
}

/// Estimated memory of an entry besides its texts, in bytes.
const A_RECORD: u64 = 1_000;

/// Estimated memory of a byte of JSON, in bytes: an object may become a block of an entry; control
/// characters are shown by pictures, invisible ones by their code points.
fn weight_of(byte: u8) -> u64 {
    match byte {
        b'{' => 200,
        b'[' => 48,
        b',' => 32,
        0xc2 | 0xe2 | 0xef | 0xf3 => 11,
        0..0x20 => 3,
        _ => 1,
    }
}

/// Estimated memory for the content of a record, in bytes.
fn weight(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| weight_of(*byte)).sum()
}

pub(crate) struct Emitter<'o> {
    decoder: Box<dyn Decoder>,
    stage: Stage,
    outlet: Outlet<'o>,
    batch: Batch,
    sending: Sending,
    records_sent: u64,
    is_open: bool,
    has_sent: bool,
    /// Limit of the memory of what is emitted, and what remains of it, in bytes; `None` without a
    /// limit.
    budget: Option<(u64, u64)>,
}

impl<'o> Emitter<'o> {
    /// An emitter of a new transcript.
    pub(crate) fn new(decoder: Box<dyn Decoder>, stage: Stage, outlet: Outlet<'o>) -> Self {
        Self {
            decoder,
            stage,
            outlet,
            batch: Batch::default(),
            sending: Sending::Append,
            records_sent: 0,
            is_open: true,
            has_sent: false,
            budget: None,
        }
    }

    /// Begins a replacement of the whole session, with a fresh decoder.
    pub(crate) fn restart(&mut self, decoder: Box<dyn Decoder>) {
        self.decoder = decoder;
        self.batch = self.next_batch();
        self.records_sent = 0;
        self.budget = self.budget.map(|(most, _)| (most, most));
        if self.has_sent {
            self.sending = Sending::Replace;
        }
    }

    /// Makes the next batches replace what another emitter sent.
    pub(crate) fn replace(&mut self) {
        self.sending = Sending::Replace;
        self.has_sent = true;
    }

    /// Limits the memory of what is emitted, in bytes; records beyond that are dropped.
    #[must_use]
    pub(crate) fn within(mut self, most: u64) -> Self {
        self.budget = Some((most, most));
        self
    }

    /// Whether the memory limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.budget.is_some_and(|(_, left)| left == 0)
    }

    /// Deducts bytes from the memory limit.
    pub(crate) fn deduct(&mut self, bytes: u64) {
        if let Some((_, left)) = &mut self.budget {
            *left = left.saturating_sub(bytes);
        }
    }

    /// Like [`Self::deduct`], for the memory of a record; `before` is the number of records before it.
    fn deduct_record(&mut self, bytes: &[u8], before: u64) {
        let records = self.batch.tally.records().saturating_sub(before);
        if records > 0 && self.budget.is_some() {
            self.deduct(
                records
                    .saturating_mul(A_RECORD)
                    .saturating_add(weight(bytes)),
            );
        }
    }

    /// Marks what is sent as coming through a pipe.
    #[must_use]
    pub(crate) fn of_pipe(mut self, is_piped: bool) -> Self {
        self.batch.is_piped = is_piped;
        self
    }

    /// Marks what is sent as needed without bodies.
    #[must_use]
    pub(crate) fn counting(mut self, is_counted: bool) -> Self {
        self.batch.is_counted = is_counted;
        self
    }

    /// An empty batch with the flags of the last one.
    fn next_batch(&self) -> Batch {
        let mut batch = Batch::default();
        batch.stubs_only = self.batch.stubs_only;
        batch.is_counted = self.batch.is_counted;
        batch.is_piped = self.batch.is_piped;
        batch
    }

    /// Whether the receiver still accepts events.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Sets whether the bodies of the next records stay on disk.
    pub(crate) fn set_stubs_only(&mut self, stubs_only: bool) {
        self.batch.stubs_only = stubs_only;
    }

    /// The records of a plain text.
    pub(crate) fn passages(&self, text: &str) -> Vec<Range<usize>> {
        self.decoder.passages(text)
    }

    /// Decodes and emits a record.
    pub(crate) fn emit(&mut self, record: Record<'_>, place: RecordPlace<'_>) {
        if self.is_full() {
            return;
        }
        let before = self.batch.tally.records();
        feed(&mut *self.decoder, record, place, &mut self.batch);
        self.deduct_record(record.bytes, before);
        self.flush_if_full();
    }

    /// Like [`Self::emit`], for a record that is parsed already.
    pub(crate) fn emit_read(
        &mut self,
        record: Record<'_>,
        value: &Json<'_>,
        place: RecordPlace<'_>,
    ) {
        feed_read(
            &mut *self.decoder,
            record,
            Some(value),
            place,
            &mut self.batch,
        );
        self.flush_if_full();
    }

    /// Emits a record that may be sent again in another form, or that its agent has abandoned. Returns
    /// its tally, to be taken back.
    pub(crate) fn emit_provisional(
        &mut self,
        record: Record<'_>,
        place: RecordPlace<'_>,
        is_abandoned: bool,
    ) -> Tally {
        self.with_tally(|emitter| {
            let before = emitter.batch.edits.len();
            feed(&mut *emitter.decoder, record, place, &mut emitter.batch);
            for edit in emitter.batch.edits.iter_mut().skip(before) {
                if let Edit::Entry(entry) = edit {
                    entry.marks.undone |= is_abandoned;
                }
            }
        })
    }

    /// Whether the receiver needs only figures.
    pub(crate) fn is_counting(&self) -> bool {
        self.batch.is_counted
    }

    /// Emits metadata that is in no record.
    pub(crate) fn emit_fact(&mut self, fact: MetaEdit) {
        self.batch.meta(fact);
    }

    /// Emits bytes that are no record, with the reason.
    pub(crate) fn fault(&mut self, record: Record<'_>, what: &str) {
        if self.is_full() {
            return;
        }
        let before = self.batch.tally.records();
        let batch = &mut self.batch;
        batch.begin_record(record.origin);
        let mut entry = batch.new_entry(batch.origin_key(), Role::Harness, None);
        let body = body_of_fault(record.bytes, batch);
        let title = Text::clean(what);
        entry.push(BlockKind::Raw(Raw {
            title: title.clone(),
            body,
        }));
        batch.entry(entry);
        batch.notice(Severity::Error, what);
        batch.tally.record_fault(record.origin, title);
        batch.tally.count(
            Fate::Faulty,
            record.origin.file,
            u64::from(record.origin.len),
        );
        self.deduct_record(record.bytes, before);
    }

    /// Adds bytes to the last fault.
    pub(crate) fn weigh_fault(&mut self, file: FileId, bytes: u64) {
        self.batch.tally.add_bytes(Fate::Faulty, file, bytes);
    }

    /// Like [`Self::fault`], returning the tally, to be taken back.
    pub(crate) fn fault_provisional(&mut self, record: Record<'_>, what: &str) -> Tally {
        self.with_tally(|emitter| emitter.fault(record, what))
    }

    /// Subtracts the tally of a record. The entry of a fault is removed, because the record may
    /// have another key in its new form.
    pub(crate) fn retract(&mut self, counted: &Tally, origin: Origin) {
        self.batch.tally.subtract(counted);
        if counted.faulty > 0 {
            self.batch.begin_record(origin);
            let key = self.batch.origin_key();
            self.batch.push(Edit::Retire(key));
        }
    }

    /// Adds a notice about a file.
    pub(crate) fn notice(&mut self, file: FileId, what: &str) {
        self.batch.begin_record(Origin {
            file,
            ..Origin::default()
        });
        self.batch.notice(Severity::Warning, what);
    }

    /// The ids that decoders requested since the last call.
    pub(crate) fn take_wanted(&mut self) -> Vec<Text> {
        std::mem::take(&mut self.batch.requested_files)
    }

    /// Emits that a small file was deleted.
    pub(crate) fn emit_deleted(&mut self, path: &Path) {
        self.decoder.file_deleted(path, &mut self.batch);
    }

    /// Passes a record of the original session, which this one copies, to the decoder.
    pub(crate) fn read_original(&mut self, original: &[u8]) {
        self.decoder.read_original(original);
    }

    /// Lets the decoder emit pending records at the end of a reading.
    pub(crate) fn finish(&mut self) {
        self.decoder.finish(&mut self.batch);
    }

    /// Sends the pending batch. `is_end` ends a replacement.
    pub(crate) fn flush(&mut self, is_end: bool) {
        let (mode, next) = match (self.sending, is_end) {
            (Sending::Append, _) => (BatchMode::Append, Sending::Append),
            (Sending::Replace, false) => (BatchMode::ReplaceStart, Sending::ReplaceMore),
            (Sending::Replace, true) => (BatchMode::Replace, Sending::Append),
            (Sending::ReplaceMore, false) => (BatchMode::ReplaceMore, Sending::ReplaceMore),
            (Sending::ReplaceMore, true) => (BatchMode::ReplaceEnd, Sending::Append),
        };
        self.batch.mode = mode;
        mask_edits(&mut self.batch);
        let records = self.batch.tally.records();
        if self.batch.is_empty() && records == self.records_sent {
            return;
        }
        self.sending = next;
        self.records_sent = records;
        let mut rest = self.next_batch();
        rest.tally.clone_from(&self.batch.tally);
        rest.requested_files = std::mem::take(&mut self.batch.requested_files);
        let batch = std::mem::replace(&mut self.batch, rest);
        self.has_sent = true;
        self.send(Feed::Batch {
            stage: self.stage,
            batch: Box::new(batch),
        });
    }

    /// Sends an event that is no batch.
    pub(crate) fn send(&mut self, feed: Feed) {
        self.is_open = self.is_open && (self.outlet)(feed);
    }

    fn with_tally(&mut self, emit: impl FnOnce(&mut Self)) -> Tally {
        let before = std::mem::take(&mut self.batch.tally);
        emit(self);
        let counted = std::mem::replace(&mut self.batch.tally, before);
        self.batch.tally.merge(&counted);
        self.flush_if_full();
        counted
    }

    fn flush_if_full(&mut self) {
        let part = usize::try_from(self.records_sent / PART).unwrap_or(MOST_EDITS);
        if self.batch.edits.len() >= part.clamp(EDITS, MOST_EDITS) {
            let edits = self.batch.edits.len();
            self.flush(false);
            self.batch.edits.reserve(edits);
        }
    }
}

/// Masks secrets in the edits of a batch, if masking is on; a secret may be spread over several
/// records.
pub(super) fn mask_edits(batch: &mut Batch) {
    secrets::with_mask(|mask| rewording::batch(batch, &mut |text| mask.text(text)));
}

/// The body of bytes that are no record, used when they are sent and when they are read again.
pub(super) fn body_of_fault(bytes: &[u8], batch: &mut Batch) -> Body {
    batch.output(String::from_utf8_lossy(bytes).trim())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::Emitter;
    use crate::formats::decoder::Format;
    use crate::formats::decoder::RecordPlace;
    use crate::formats::generic::Generic;
    use crate::model::edit::{Feed, Stage};
    use crate::model::record::{Origin, Record};

    #[test]
    fn batches_become_larger() {
        let sizes = RefCell::new(Vec::new());
        let outlet = |feed: Feed| {
            if let Feed::Batch { batch, .. } = feed {
                sizes.borrow_mut().push(batch.edits.len());
            }
            true
        };
        let mut emitter = Emitter::new(Generic.decoder(None), Stage::Whole, &outlet);
        for number in 0..100_000_u32 {
            let origin = Origin {
                line: number,
                ..Origin::default()
            };
            emitter.emit(
                Record {
                    origin,
                    bytes: br#"{"role":"user","content":"x"}"#,
                },
                RecordPlace::Line,
            );
        }
        let sizes = sizes.into_inner();
        assert!(
            sizes
                .first()
                .is_some_and(|first| (128..192).contains(first)),
            "{sizes:?}"
        );
        assert!(
            sizes.iter().all(|size| *size <= 512) && sizes.len() < 250,
            "{sizes:?}"
        );
    }

    #[test]
    fn no_more_is_emitted_than_may_be_held() {
        for (record, most, least) in [
            ("{}".to_owned(), 200, 40),
            ("x".repeat(10_000), 12, 4),
            ("\0a".repeat(9_000), 12, 2),
        ] {
            let records = Cell::new(0);
            let outlet = |feed: Feed| {
                if let Feed::Batch { batch, .. } = feed {
                    records.set(batch.tally.records());
                }
                true
            };
            let mut emitter =
                Emitter::new(Generic.decoder(None), Stage::Whole, &outlet).within(100_000);
            for _ in 0..1_000 {
                emitter.emit(
                    Record {
                        origin: Origin::default(),
                        bytes: record.as_bytes(),
                    },
                    RecordPlace::Line,
                );
            }
            assert!(emitter.is_full());
            emitter.flush(true);
            assert!(
                (least..=most).contains(&records.get()),
                "{} of {}",
                records.get(),
                record.len()
            );
        }
    }
}
