//! Pages through every real session from its first row to its last, with the layout and painters of
//! the viewer.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ratatui::buffer::CellWidth as _;
use ratatui::style::Style;
use tv::app::text::viewport::WindowLine;
use tv::app::text::window::percent;
use tv::ingest::{self, Target};
use tv::render::theme::Theme;
use unicode_width::UnicodeWidthStr;

use crate::corpus::{Corpus, corpora, say};
use crate::stage::Stage;

/// A narrow screen, a usual one and a wide one, each with the level that it is read at.
const SCREENS: [(u16, &str); 3] = [(20, "3"), (80, "4"), (200, "3")];
/// Tall screens page fast: what is laid out depends on the rows, not on the number of pages.
const LINES: u16 = 300;

#[test]
fn every_session_can_be_read_from_end_to_end_at_any_width() {
    for corpus in corpora() {
        let started = Instant::now();
        let targets = targets(&corpus);
        let next = AtomicUsize::new(0);
        let seen = Mutex::new((0_usize, 0_usize));
        let read_on = || {
            while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                if ingest::open(target).is_err() {
                    continue;
                }
                let rows = read(target);
                let mut seen = seen.lock().unwrap();
                *seen = (seen.0 + 1, seen.1 + rows);
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(read_on))));
        let (sessions, rows) = *seen.lock().unwrap();
        let seconds = started.elapsed().as_secs_f64();
        say(&format!(
            "{rows} rows of {sessions} sessions in {seconds:.1} s"
        ));
        let (least, least_rows) = (corpus.least(40, 200), corpus.least(4_000, 200_000));
        assert!(
            sessions > least && rows > least_rows,
            "{sessions} sessions, {rows} rows"
        );
    }
}

/// All files, and all sessions of databases and of folders that hold sessions; the largest ones first, so
/// that no thread is left with one of them at the end.
fn targets(corpus: &Corpus) -> Vec<Target> {
    let files = corpus.files();
    let mut folders: Vec<PathBuf> = files
        .iter()
        .filter(|file| file.starts_with(&corpus.folder))
        .flat_map(|file| {
            file.ancestors()
                .skip(1)
                .take_while(|path| *path != corpus.folder)
        })
        .map(Path::to_owned)
        .collect();
    folders.sort();
    folders.dedup();
    let size = |path: &Path| {
        path.metadata()
            .map_or(0, |facts| if facts.is_file() { facts.len() } else { 0 })
    };
    let mut targets: Vec<(u64, Target)> = Vec::new();
    for path in files.into_iter().chain(folders) {
        let whole = Target {
            path: path.clone(),
            session: None,
        };
        let heads = ingest::sessions(&whole).unwrap_or_default();
        let named = heads.into_iter().map(|head| Target {
            path: path.clone(),
            session: Some(head.id),
        });
        let named: Vec<Target> = named.collect();
        let all = if named.is_empty() { vec![whole] } else { named };
        targets.extend(all.into_iter().map(|target| (size(&path), target)));
    }
    targets.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    targets.into_iter().map(|(_, target)| target).collect()
}

/// Pages through a session, once at each width; the screen is resized in between, as windows are.
fn read(target: &Target) -> usize {
    let mut stage = Stage::open_target(target, (SCREENS[0].0, LINES), Theme::dark());
    let mut rows = 0;
    for (width, level) in SCREENS {
        stage.resize(width, LINES);
        stage.press(&format!("z {level} g"));
        loop {
            rows += check(&stage, &target.path, width);
            let top = place_of_top(&stage);
            stage.press("space");
            if place_of_top(&stage) == top {
                assert!(
                    percent(&stage.app.reader.text) == 100,
                    "{}: the last page is the end",
                    target.path.display()
                );
                break;
            }
        }
    }
    rows
}

fn place_of_top(stage: &Stage) -> Option<(u32, usize)> {
    stage
        .app
        .reader
        .text
        .view
        .lines
        .first()
        .map(|line| (line.entry.0, line.row))
}

fn check(stage: &Stage, path: &Path, width: u16) -> usize {
    let path = path.display();
    let room = usize::from(stage.app.reader.frame().text());
    for line in &stage.app.reader.text.view.lines {
        let Some(row) = WindowLine::row(line) else {
            continue;
        };
        let right: usize = row.right.iter().map(ratatui::text::Span::width).sum();
        let taken = row.line.width() + right;
        assert!(
            taken <= room,
            "{path} at {width}: {taken} > {room}: {}",
            row.line
        );
        // As the painter counts columns: grapheme by grapheme.
        let cells = row
            .line
            .styled_graphemes(Style::new())
            .map(|one| usize::from(one.symbol.cell_width()));
        let cells: usize = cells.sum::<usize>() + right;
        assert!(
            cells <= room,
            "{path} at {width}: {cells} > {room} cells: {}",
            row.line
        );
        assert!(
            !row.line.to_string().chars().any(char::is_control),
            "{path}: {}",
            row.line
        );
    }
    let buffer = stage.buffer();
    assert_eq!(buffer.area.width, width);
    for (place, cell) in buffer.content.iter().enumerate() {
        let column = place % usize::from(width);
        let symbol = cell.symbol();
        let reaches = column + symbol.width();
        assert!(
            reaches <= usize::from(width),
            "{path} at {width}: {symbol:?} in column {column}"
        );
        assert!(
            !symbol.chars().any(char::is_control),
            "{path} at {width}: {symbol:?}"
        );
    }
    stage.app.reader.text.view.lines.len()
}
