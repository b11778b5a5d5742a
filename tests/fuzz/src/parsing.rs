//! Parses filters, settings, themes, keys and times.

use tv::analysis::expression::Expr;
use tv::analysis::expression::judge::{Judge, Judgement};
use tv::analysis::expression::parse::{parse, parse_alarm};
use tv::app::input::keys::parse_keys;
use tv::formats::decoder::{RecordPlace, feed};
use tv::formats::named;
use tv::model::edit::Batch;
use tv::model::record::FileId;
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;
use tv::settings;
use tv::source::lines::{Line, LineBuffer};

use crate::laws;

/// Limit of entries that a filter is tried on.
const TRIED: usize = 30;

const SAMPLE: &[u8] = include_bytes!("../../fixtures/claude-code/busy.jsonl");

thread_local! {
    static SESSION: Transcript = sample();
}

fn sample() -> Transcript {
    let format = named("claude-code").expect("a format");
    let mut decoder = format.decoder(None);
    let mut batch = Batch::default();
    LineBuffer::new(FileId(0)).feed(SAMPLE, |line| {
        if let Line::Whole(record) = line {
            feed(&mut *decoder, record, RecordPlace::Line, &mut batch);
        }
    });
    decoder.finish(&mut batch);
    laws::tell([batch])
}

/// A filter or alarm prints as it is parsed, and judges each block in one way.
pub fn filter(data: &[u8]) {
    let Ok(typed) = std::str::from_utf8(data) else {
        return;
    };
    for read in [parse, parse_alarm] {
        match read(typed) {
            Ok(expr) => {
                let printed = expr.to_string();
                assert_eq!(read(&printed), Ok(expr.clone()), "{printed}");
                SESSION.with(|session| judge(session, expr));
            }
            Err(mistake) => assert!(mistake.at <= typed.chars().count(), "{mistake:?}"),
        }
    }
}

fn judge(session: &Transcript, expr: Expr) {
    let last = session.entries().filter_map(|entry| entry.at).max();
    let yes = Judge::new(&expr, last);
    let no = Judge::new(&Expr::Not(Box::new(expr)), last);
    for entry in session.entries().take(TRIED) {
        for (place, block) in entry.blocks.iter().enumerate() {
            let told = |judge: &Judge, reads_memory| match judge.judge(
                session,
                entry,
                (place, block),
                reads_memory,
            ) {
                Judgement::Known(known) => known,
                Judgement::Unsure(unsure) => judge.read(&unsure, &mut |_, _| None),
            };
            let is_shown = told(&yes, true);
            assert_eq!(
                told(&yes, false),
                is_shown,
                "what is read later says the same"
            );
            assert_eq!(told(&no, true), !is_shown, "a block is shown or it is not");
        }
    }
}

/// Settings, themes, keys and times: any text is parsed, and complaints have a position in it.
pub fn set(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let read = settings::parse(text);
    let lines = text.split('\n').count();
    for complaint in &read.complaints {
        let (line, rest) = complaint.split_once(':').expect("line:column: what");
        let (column, what) = rest.split_once(':').expect("line:column: what");
        let (line, column): (usize, usize) = (
            line.parse().expect("a line"),
            column.parse().expect("a column"),
        );
        assert!(
            line >= 1 && line <= lines && column >= 1 && !what.trim().is_empty(),
            "{complaint}"
        );
    }
    assert_eq!(settings::parse(text), read);
    let _ = settings::themes::parse("own", text);
    for line in text.lines() {
        if let Some(keys) = parse_keys(line) {
            assert!(!keys.is_empty(), "{line:?}");
        }
        if let Some(at) = Timestamp::parse(line) {
            assert_eq!(Timestamp::parse(&at.to_rfc3339()), Some(at), "{line:?}");
        }
    }
}
