//! Tests of images in terminals with graphics: which cells refer to images, which rows are written
//! over cells, and what the real program writes to terminals with and without support.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use tv::render::picture::canvas::{Canvas, Means};
use tv::render::picture::kitty;
use tv::render::theme::Theme;
use tv::ui;
use tv::ui::pictures::PlacedRow;

use crate::pty::Console;
use crate::stage::Stage;

/// A picture of so many pixels, no two lines of it the same.
fn png(width: u32, height: u32) -> Vec<u8> {
    let colour = |x: u32, y: u32| image::Rgb([x, y, x ^ y].map(|part| part.to_le_bytes()[0]));
    let mut data = std::io::Cursor::new(Vec::new());
    let made = image::RgbImage::from_fn(width, height, colour);
    made.write_to(&mut data, image::ImageFormat::Png)
        .expect("it is written");
    data.into_inner()
}

/// A session: a prompt with a picture, and words enough to scroll.
fn session(folder: &Path) -> PathBuf {
    let data = STANDARD.encode(png(200, 160));
    let message = |id: u32, role: &str, content: &str| {
        let content =
            format!(r#"{{"role":"{role}","content":[{content}],"timestamp":170000000000{id}}}"#);
        format!(
            r#"{{"type":"message","id":"e{id:07}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{content}}}"#
        )
    };
    let picture = format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#);
    let text = |words: &str| format!(r#"{{"type":"text","text":"{words}"}}"#);
    let lines = [
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#
            .to_owned(),
        message(1, "user", &format!("{},{picture}", text("LOOK AT THIS"))),
        message(2, "assistant", &text(&r"a line\n\n".repeat(30))),
        message(3, "assistant", &text("THE END")),
    ];
    let path = folder.join("session.jsonl");
    std::fs::write(&path, lines.map(|line| line + "\n").concat()).expect("a file");
    path
}

/// A viewer at the top of that session, with its picture drawn: 20 columns and 8 rows.
fn stage(means: Means) -> Stage {
    let folder = tempfile::tempdir().expect("a folder");
    let theme = Theme::dark().with_canvas(Canvas {
        means,
        cell: (10, 20),
        in_tmux: false,
    });
    let mut stage = Stage::open(&session(folder.path()), (80, 24), theme);
    stage.press("g");
    // The small picture, then the drawing.
    for _ in 0..2 {
        let order = stage
            .app
            .reader
            .screen
            .pictures
            .next()
            .expect("it is asked for");
        let made = order.make(&png(200, 160));
        stage.app.reader.screen.pictures.insert(&order, made);
        stage.arrange();
    }
    stage
}

/// The screen, and what is to be written over it.
fn painted(stage: &Stage) -> (Buffer, Vec<PlacedRow>) {
    let mut placed = Vec::new();
    let (columns, lines) = stage.app.reader.screen.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a test backend");
    let paint = |frame: &mut ratatui::Frame<'_>| {
        ui::view(&stage.app, frame);
        placed = ui::pictures::place(
            &ui::pictures::in_sight(&stage.app.reader),
            frame.buffer_mut(),
        );
    };
    terminal.draw(paint).expect("drawing does not fail");
    (terminal.backend().buffer().clone(), placed)
}

/// Which cells of the image the screen names, line by line from the first: row, first column, count.
fn named(buffer: &Buffer, id: u32) -> Vec<(u16, u16, usize)> {
    let all = (0..40).flat_map(|row| (0..100).map(move |column| (row, column)));
    let places: HashMap<String, (u16, u16)> = all
        .filter_map(|(row, column)| Some((kitty::symbol(id, row, column)?, (row, column))))
        .collect();
    let mut lines = Vec::new();
    for y in 0..buffer.area.height {
        let cells: Vec<(u16, u16)> = (0..buffer.area.width)
            .filter_map(|x| places.get(buffer[(x, y)].symbol()).copied())
            .collect();
        let Some((row, first)) = cells.first().copied() else {
            continue;
        };
        for (cell, column) in cells.iter().zip(first..) {
            assert_eq!(*cell, (row, column), "cells stand side by side");
        }
        lines.push((row, first, cells.len()));
    }
    lines
}

fn id_of(stage: &Stage) -> u32 {
    ui::pictures::in_sight(&stage.app.reader)
        .first()
        .expect("a drawing is in sight")
        .id
}

#[test]
fn cells_name_the_rows_of_an_image_that_are_in_sight() {
    let mut stage = stage(Means::Kitty);
    let id = id_of(&stage);
    let (buffer, placed) = painted(&stage);
    assert!(placed.is_empty());
    let all: Vec<(u16, u16, usize)> = (0..8).map(|row| (row, 0, 20)).collect();
    assert_eq!(named(&buffer, id), all);
    // Scrolled over the upper edge, row by row.
    let mut least = 8;
    for _ in 0..14 {
        stage.press("ctrl-e");
        let rows = named(&painted(&stage).0, id);
        assert!(rows.len() == least || rows.len() + 1 == least, "{rows:?}");
        assert_eq!(rows, all[8 - rows.len()..], "the lower rows are in sight");
        least = rows.len();
    }
    assert_eq!(least, 0);
    // Cut by the lower edge.
    stage.press("g");
    stage.resize(80, 10);
    let rows = named(&painted(&stage).0, id);
    assert!((2..7).contains(&rows.len()), "{rows:?}");
    assert_eq!(rows, all[..rows.len()], "the upper rows are in sight");
}

#[test]
fn a_popup_covers_an_image_and_the_rest_stays_right() {
    for means in [Means::Kitty, Means::Sixel, Means::ITerm2] {
        let mut stage = stage(means);
        let (_, placed) = painted(&stage);
        if means != Means::Kitty {
            let rows: Vec<(u16, bool)> = placed
                .iter()
                .map(|place| (place.row, place.is_whole))
                .collect();
            assert_eq!(rows, (0..8).map(|row| (row, true)).collect::<Vec<_>>());
        }
        let id = id_of(&stage);
        stage.resize(80, 20);
        stage.press(":");
        let (buffer, placed) = painted(&stage);
        let rows = if means == Means::Kitty {
            named(&buffer, id).len()
        } else {
            placed.len()
        };
        assert!(
            (1..8).contains(&rows),
            "the commands lie over {rows} rows of 8"
        );
        assert!(placed.iter().all(|place| place.is_whole));
        let reset = ratatui::style::Color::Reset;
        assert!(
            buffer
                .content
                .iter()
                .all(|cell| cell.underline_color == reset),
            "no mark is left"
        );
    }
}

#[test]
fn without_graphics_there_are_half_blocks_and_off_is_off() {
    let count = |means| {
        let folder = tempfile::tempdir().expect("a folder");
        let theme = Theme::dark().with_canvas(Canvas {
            means,
            ..Canvas::BLOCKS
        });
        let mut stage = Stage::open(&session(folder.path()), (80, 24), theme);
        stage.press("g");
        if means != Means::Off {
            let order = stage
                .app
                .reader
                .screen
                .pictures
                .next()
                .expect("it is asked for");
            let made = order.make(&png(200, 160));
            stage.app.reader.screen.pictures.insert(&order, made);
            stage.arrange();
        }
        assert!(
            stage.picture().contains("[image png "),
            "words show it, too"
        );
        stage.picture().matches('▀').count()
    };
    assert!(count(Means::Blocks) > 100);
    assert_eq!(count(Means::Off), 0);
}

/// A console on that session, at its end.
fn console(folder: &Path, environment: &[(&str, &str)]) -> Console {
    let path = session(folder);
    let quiet = folder.to_str().expect("a plain path");
    let environment = [&[("XDG_CONFIG_HOME", quiet)], environment].concat();
    Console::start(&[path.to_str().expect("a plain path")], &environment)
}

fn written(console: &Console) -> String {
    String::from_utf8_lossy(&console.raw).into_owned()
}

/// Bytes of graphics, of all kinds.
const GRAPHICS: [&str; 4] = ["\u{1b}_G", "\u{1b}P", "\u{1b}]1337", "\u{10eeee}"];

#[test]
fn a_plain_terminal_gets_no_graphics_and_loses_no_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut console = console(folder.path(), &[("COLORTERM", "truecolor")]);
    console.wait_for("THE END");
    console.wait("the question", |console| {
        written(console).contains("\u{1b}[>0q")
    });
    // Typed while answers are waited for; one of the answers comes late, as keys would.
    console.send("\u{1b}[?62;22cg");
    console.wait_for("LOOK AT THIS");
    console.wait_for("▀▀▀▀");
    console.send("\u{1b}P>|XTerm(379)\u{1b}\\G");
    console.wait_for("THE END");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    for bytes in GRAPHICS {
        assert!(!written(&console).contains(bytes), "{bytes:?}");
    }
}

#[test]
fn a_terminal_that_says_it_can_gets_images_and_loses_them_in_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut console = console(folder.path(), &[]);
    console.wait("the question", |console| {
        written(console).contains("\u{1b}[c")
    });
    // A key between the answers is a key.
    console.send("\u{1b}P>|kitty(0.40.1)\u{1b}\\g\u{1b}[6;20;10t\u{1b}[?62;c");
    console.wait("an image", |console| {
        written(console).contains("a=T,U=1,q=2,f=100,t=d,i=")
    });
    console.wait("cells of it", |console| {
        written(console).contains('\u{10eeee}')
    });
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    let written = written(&console);
    let id = written
        .split("t=d,i=")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .expect("a number");
    assert!(
        written.contains(&format!("\u{1b}_Ga=d,d=I,q=2,i={id}\u{1b}\\")),
        "it is taken away"
    );
    assert!(written.contains("c=20,r=8"), "in the size of its pixels");
}

#[test]
fn sixels_are_written_where_they_are_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut console = console(folder.path(), &[]);
    console.wait("the question", |console| {
        written(console).contains("\u{1b}[c")
    });
    console.send("\u{1b}[6;20;10t\u{1b}[?62;4;22cg");
    console.wait("a sixel", |console| {
        written(console).contains("\u{1b}P0;1;0q\"1;1;200;20#")
    });
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn within_tmux_images_pass_through_if_it_lets_them() {
    for (answer, is_let) in [("\u{1b}_Gi=31;OK\u{1b}\\", true), ("", false)] {
        let folder = tempfile::tempdir().expect("a folder");
        let environment = [("TMUX", "/tmp/none,1,0"), ("TERM", "tmux-256color")];
        let mut console = console(folder.path(), &environment);
        console.wait("the question", |console| written(console).contains("a=q"));
        console.send(&format!("{answer}\u{1b}[?1;2;4cg"));
        if is_let {
            console.wait("an image", |console| {
                written(console).contains("\u{1b}Ptmux;\u{1b}\u{1b}_Ga=T,U=1,q=2,")
            });
        } else {
            console.wait_for("▀▀▀▀");
        }
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
        assert_eq!(written(&console).contains("a=T"), is_let);
    }
}

#[test]
fn the_settings_say_how_images_are_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("tv")).expect("a folder");
    std::fs::write(
        folder.path().join("tv/config.toml"),
        "images = \"blocks\"\n",
    )
    .expect("a file");
    let mut console = console(folder.path(), &[("TERM", "xterm-kitty")]);
    console.wait_for("THE END");
    console.send("g");
    console.wait_for("▀▀▀▀");
    assert!(!written(&console).contains("a=T"));
    console.send(":set images=kitty\r");
    console.wait("an image", |console| written(console).contains("a=T,U=1"));
    console.send(":set images=off\r");
    console.wait("words only", |console| {
        !console.text().contains('▀') && !console.text().contains('\u{10eeee}')
    });
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}
