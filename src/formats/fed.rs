//! Builds transcripts from records in memory, for tests of formats.

use super::decoder::{Format, RecordPlace, feed};
use crate::model::edit::{Batch, saturating_u32};
use crate::model::record::{FileId, Origin, Record};
use crate::model::transcript::Transcript;

/// The transcript of files, each with the place of its records. The first file is the opened one.
pub(crate) fn transcript<S: AsRef<str>>(
    format: &dyn Format,
    files: &[(RecordPlace<'_>, &[S])],
) -> Transcript {
    let files: Vec<_> = files
        .iter()
        .map(|(place, records)| (*place, vec![*records]))
        .collect();
    in_portions(format, &files)
}

/// As [`transcript`], each file read in portions.
pub(crate) fn in_portions<S: AsRef<str>>(
    format: &dyn Format,
    files: &[(RecordPlace<'_>, Vec<&[S]>)],
) -> Transcript {
    let mut decoder = format.decoder(None);
    let mut out = Batch::default();
    for (number, (place, portions)) in (0..).zip(files) {
        let mut at = 0;
        for (portion, records) in portions.iter().enumerate() {
            if portion > 0 {
                decoder.finish(&mut out);
            }
            for record in records.iter().map(AsRef::as_ref) {
                let origin = Origin {
                    file: FileId(number),
                    at,
                    len: saturating_u32(record.len()),
                    line: 0,
                };
                feed(
                    &mut *decoder,
                    Record {
                        origin,
                        bytes: record.as_bytes(),
                    },
                    *place,
                    &mut out,
                );
                at += record.len() as u64 + 1;
            }
        }
    }
    decoder.finish(&mut out);
    let mut transcript = Transcript::new();
    transcript.apply(out);
    transcript.update_derived();
    transcript
}
