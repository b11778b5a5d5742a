//! Format definitions: parsing them, and reading by them.

use tv::formats::DEFINITIONS;
use tv::formats::decoder::{Format, RecordPlace, feed};
use tv::formats::definition::read::read;
use tv::formats::definition::rule::Definition;
use tv::model::edit::Batch;
use tv::model::record::{Origin, Record};

use crate::decoding;
use crate::laws;

/// Records with fields of all agents.
const SAMPLES: [&str; 5] = [
    r#"{"type":"user","id":"1","timestamp":"2026-01-02T03:04:05Z","content":"hello","role":"user"}"#,
    r#"{"type":"assistant","id":"2","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"n","input":{}}]},"usage":{"input_tokens":3}}"#,
    r#"{"type":"tool","of":"c","output":"\u001b[31mx","args":"{\"a\":\"\\\"b\\\"\"}","error":null,"exit":1e300}"#,
    r#"{"$set":{"messages":[{"id":"1"},{"id":"1"},5,null]},"$rewindTo":"1","a":{"b":{"c":[[[]]]}}}"#,
    r#"["type",{"type":[]},-1]"#,
];

/// A text is a definition, or has mistakes with positions in it; a definition reads any input and
/// loses no record.
pub fn define(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let definition = match read(text, None) {
        Ok(definition) => definition,
        Err(mistakes) => {
            assert!(!mistakes.is_empty(), "refused without a mistake");
            let lines = text.split('\n').count();
            assert!(
                mistakes
                    .iter()
                    .all(|mistake| mistake.line <= lines && mistake.column > 0)
            );
            return;
        }
    };
    // Formats live as long as the program, so only few definitions of a run are used.
    let definition: &'static Definition = Box::leak(Box::new(definition));
    let mut decoder = definition.decoder(None);
    let mut batch = Batch::default();
    for (at, sample) in (0..).zip(SAMPLES) {
        let before = batch.tally.records();
        let origin = Origin {
            at,
            ..Origin::default()
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: sample.as_bytes(),
            },
            RecordPlace::Line,
            &mut batch,
        );
        assert!(batch.tally.records() > before, "a record was lost");
    }
    laws::assert_conserved(&batch.tally);
    assert!(
        definition.head.name.len() <= 64,
        "a name is a column of tables"
    );
    assert!(
        batch.edits.len() < 50_000,
        "{} edits of {} records",
        batch.edits.len(),
        SAMPLES.len()
    );
    laws::assert_clean_within(&[batch]);
}

/// Pieces of definitions, of which bytes choose some, repeated many times.
const PIECES: [&str; 32] = [
    "name = \"h\"\n",
    "\n[[record]]\n",
    "also = true\n",
    "entry = { role = \"user\" }\n",
    "records = \"$\"\n",
    "records = [\"$\", \".\", \"message.content\"]\n",
    "again = \"replace\"\n",
    "skip = \"no\"\n",
    "when = { type = [\"user\", \"tool\"] }\n",
    "block = ",
    "[{ each = \"$.message.content[]\", block = ",
    "[{ text = \"content|message.content[].text\" }]",
    "}]",
    "usage = [{ each = \"a.b.c[]\", input = \"n\" }]\n",
    "result = [{ of = \"of\", each = \"$\", text = \"output\" }]\n",
    "lane = { name = [\"id\", \"type\"] }\n",
    "rewind = { to = \"id\" }\n",
    "text = \"",
    "a.",
    "[]",
    "|",
    ":source",
    ":json",
    ":each",
    ":under(a)",
    ":tagged(u)",
    "[a.b=c]",
    "\"\n",
    "session = { first = [\"title\"], facts = { a = \"a\" } }\n",
    "roots = [\"~/*/*.x\"]\n",
    "beside = \"{dir}{name}\"\n",
    "\u{1f980}\u{301}",
];

/// How often a piece may be repeated.
const TIMES: [usize; 8] = [1, 1, 1, 2, 8, 70, 1_100, 20_000];

/// A definition of these pieces has mistakes, or reads its input quickly.
pub fn hostile(data: &[u8]) {
    let mut text = String::new();
    for pair in data.chunks(2) {
        let (piece, times) = (usize::from(pair[0]), pair.get(1).copied().unwrap_or(0));
        let piece = PIECES.get(piece % PIECES.len()).expect("one of them");
        let times = TIMES
            .get(usize::from(times) % TIMES.len())
            .expect("one of them");
        if text.len() + piece.len() * times > 1 << 20 {
            break;
        }
        text.push_str(&piece.repeat(*times));
    }
    define(text.as_bytes());
}

/// Decodes bytes by one of the definitions, as by any decoder.
pub fn decode(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let number = usize::from(*choice) % DEFINITIONS.len();
    let definition = DEFINITIONS.get(number).expect("one of them");
    decoding::decode(definition.head.name, data);
}
