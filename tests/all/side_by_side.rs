//! Tests of two readers at the same time: each has its own panes and its own part of the screen,
//! and neither affects the other.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tv::app::arrange::arrange;
use tv::app::input::action::{Action, LandmarkKind, Way};
use tv::app::reader::Reader;
use tv::app::state::App;
use tv::ingest::{self, Target};
use tv::model::timestamp::Timestamp;
use tv::render::code::Colours;
use tv::render::row::Level;
use tv::render::theme::Theme;
use tv::ui;

use super::stage::{demo, fixture};

const HALF: (u16, u16) = (60, 30);

fn open(path: &std::path::Path, column: u16) -> Reader {
    let now = Timestamp(1_893_456_000_000);
    let app = App::new(
        Theme::dark(),
        Level::Preview,
        Arc::new(Colours::never()),
        now,
    );
    let mut reader = app.reader;
    (reader.screen.at, reader.screen.size) = ((column, 0), HALF);
    let session = ingest::open(&Target {
        path: path.to_owned(),
        session: None,
    })
    .expect("the fixture opens");
    let mut feeds = Vec::new();
    session.read_whole(false, &mut |feed| feeds.push(feed));
    for feed in feeds {
        reader.apply_feed(feed);
    }
    arrange(&mut reader);
    reader
}

/// The lines of one half of the screen.
fn half(buffer: &Buffer, column: u16) -> Vec<String> {
    let line = |y| {
        (column..column + HALF.0)
            .map(|x| buffer[(x, y)].symbol())
            .collect()
    };
    (0..HALF.1).map(line).collect()
}

fn paint(readers: &[&Reader]) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, HALF.0 * 2, HALF.1));
    for reader in readers {
        ui::paint_reader(reader, &mut buffer);
    }
    buffer
}

#[test]
fn two_sessions_are_read_side_by_side() {
    let (mut left, right) = (
        open(&demo(), 0),
        open(&fixture("pi/branches.jsonl"), HALF.0),
    );
    let both = paint(&[&left, &right]);
    let alone = open(&fixture("pi/branches.jsonl"), 0);
    assert_eq!(
        half(&both, 0),
        half(&paint(&[&left]), 0),
        "the left half is that of the session alone"
    );
    assert_eq!(
        half(&both, HALF.0),
        half(&paint(&[&alone]), 0),
        "and so is the right one"
    );
    assert_ne!(half(&both, 0), half(&both, HALF.0));
    assert!(!half(&both, HALF.0).concat().trim().is_empty());

    // What is done in one moves nothing in the other.
    left.act(Action::Seek(LandmarkKind::Prompt, Way::Previous));
    left.act(Action::Level(1));
    arrange(&mut left);
    let after = paint(&[&left, &right]);
    assert_eq!(half(&after, HALF.0), half(&both, HALF.0));
    assert_ne!(half(&after, 0), half(&both, 0));
}
