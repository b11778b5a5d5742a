//! Warnings about lines of an overlay without effect: kinds that the decoder handles in code, or
//! that mean the same without the overlay. No list has the kinds that are handled in code: a record
//! of the kind is fed to the decoder, and if it is not reported as unknown, the lists are not
//! consulted for it.

use super::decoder::{Format, RecordPlace, feed};
use super::definition::kinds::{KindClass, Kinds};
use super::definition::read::Overlay;
use super::unknown::NamedKind;
use crate::model::edit::{Batch, KIND_CHARS, saturating_u32};
use crate::model::record::{FileId, Origin, Record};
use crate::model::text::Text;

/// A name that no kind has.
const MADE_UP: &str = "kind.of_next_week";

/// The warnings about an overlay, with their positions. `known` are the kinds of the format without
/// it.
pub(crate) fn remarks(overlay: &Overlay, format: &dyn Format, known: &Kinds) -> Vec<String> {
    let mut remarks = Vec::new();
    let all = known.with(&overlay.kinds);
    for (class, name, place) in &overlay.named {
        let same = known.get(class, name).zip(overlay.kinds.get(class, name));
        let what = if is_built_in(format, &all, class, name) {
            format!("`{name}` is read before any list is looked into, which changes nothing")
        } else if same.is_some_and(|(known, own)| known.same(own)) {
            format!("`{name}` is so without this file")
        } else {
            continue;
        };
        remarks.push(format!(":{}:{}: warning: {what}", place.line, place.column));
    }
    for root in overlay.roots {
        if format.head().roots.contains(root) {
            let what = format!(
                "`~/{}` is a place of {} without this file",
                root.home, overlay.extends
            );
            remarks.push(format!(": warning: {what}"));
        }
    }
    remarks
}

/// Whether a format decodes a kind without looking up its name. `false` if that cannot be tested
/// for its class.
fn is_built_in(format: &dyn Format, all: &Kinds, class: &str, name: &str) -> bool {
    let Some(class) = all.class(class) else {
        return false;
    };
    // A pattern is tested by one name that matches it.
    let name = name
        .strip_suffix('*')
        .map_or_else(|| name.to_owned(), |beginning| format!("{beginning}x"));
    is_looked_up(format, class, MADE_UP) && !is_looked_up(format, class, &name)
}

/// Whether a decoder without any lists reports a record of the kind as unknown.
fn is_looked_up(format: &dyn Format, class: &KindClass, name: &str) -> bool {
    let record = class.record(name);
    let mut out = Batch::default();
    out.is_nameless = true;
    let mut decoder = format.decoder(None);
    let origin = Origin {
        file: FileId(0),
        at: 0,
        len: saturating_u32(record.len()),
        line: 1,
    };
    feed(
        &mut *decoder,
        Record {
            origin,
            bytes: record.as_bytes(),
        },
        RecordPlace::Line,
        &mut out,
    );
    decoder.finish(&mut out);
    out.tally.unknown.contains_key(&Text::stub(
        &NamedKind(class.name, name).to_string(),
        KIND_CHARS,
    ))
}

#[cfg(test)]
mod tests {
    use super::{MADE_UP, is_looked_up};
    use crate::formats::DECODERS;

    /// The record of each class leads its decoder to a lookup, and so does each listed name: no
    /// code handles it first.
    #[test]
    fn all_kinds_of_formats_with_decoders_are_looked_up() {
        for format in DECODERS {
            let kinds = &format.head().kinds;
            for class in kinds.classes() {
                let what = |name: &str| format!("{} {} {name}", format.name(), class.record(name));
                assert!(is_looked_up(*format, class, MADE_UP), "{}", what(MADE_UP));
                for name in class.names() {
                    let name = name.replace('*', "x");
                    assert!(is_looked_up(*format, class, &name), "{}", what(&name));
                }
            }
        }
    }

    /// Kinds that a decoder handles in code are not looked up.
    #[test]
    fn what_code_reads_is_not_looked_up() {
        for (format, class, name) in [
            ("claude-code", "type", "user"),
            ("claude-code", "attachment.type", "queued_command"),
            ("claude-stream-json", "stream_event.type", "message_stop"),
            ("cline", "say", "tool"),
            ("codex", "event_msg.type", "token_count"),
            ("kimi-code", "loop_event.type", "tool.call"),
            ("opencode", "event", "session.idle"),
            ("pi", "role", "toolResult"),
        ] {
            let decoder = DECODERS
                .iter()
                .find(|known| known.name() == format)
                .unwrap();
            let class = decoder.head().kinds.class(class).unwrap();
            assert!(!is_looked_up(*decoder, class, name), "{format} {name}");
        }
    }
}
