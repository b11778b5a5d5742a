//! Every real session from its first row to its last, as the viewer arranges and paints it.

use std::path::Path;
use std::time::{Duration, Instant};

use tv::app::viewport::Line;
use tv::ingest::{self, Target};
use tv::render::theme::Theme;

use crate::corpus;
use crate::stage::Stage;

const WIDTHS: [u16; 3] = [20, 80, 200];
const LINES: u16 = 50;
/// Screens of one session at one width; of longer ones every n-th is looked at.
const SCREENS: usize = 4;
/// All of them together must not take longer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Larger files are for the benchmarks.
const LARGEST: u64 = 4 << 20;

#[test]
fn every_session_can_be_read_at_any_width() {
    let Some(folder) = corpus::folder() else { return };
    let started = Instant::now();
    let (mut sessions, mut rows) = (0, 0);
    for (index, path) in corpus::files(&folder).iter().enumerate() {
        let is_small = path.metadata().is_ok_and(|facts| facts.len() <= LARGEST);
        let is_session = is_small && ingest::open(&Target { path: path.clone(), session: None }).is_ok();
        if !is_session {
            continue;
        }
        if started.elapsed() > PATIENCE {
            corpus::say(&format!("stopped after {sessions} sessions: time is up"));
            break;
        }
        sessions += 1;
        rows += read(path, WIDTHS[index % WIDTHS.len()]);
    }
    assert!(sessions > 50 && rows > 1_000, "{sessions} sessions, {rows} rows");
}

/// Pages through a session; the width changes on the way, as it does when a window is resized.
fn read(path: &Path, first: u16) -> usize {
    let mut stage = Stage::open(path, (first, LINES), Theme::dark());
    let mut rows = 0;
    for width in WIDTHS {
        let levels: &[&str] = if width == 80 { &["3", "4"] } else { &["3"] };
        for level in levels {
            stage.resize(width, LINES);
            stage.press(&format!("z {level} g"));
            for _ in 0..SCREENS {
                rows += check(&stage, path, width);
                if stage.status().contains("100%") {
                    break;
                }
                let by = (stage.state.heights.total() / 50 / SCREENS as u64).clamp(1, 999);
                let count: String = by.to_string().chars().flat_map(|c| [c, ' ']).collect();
                stage.press(&format!("{count}space"));
            }
            stage.press("G");
            rows += check(&stage, path, width);
        }
    }
    rows
}

fn check(stage: &Stage, path: &Path, width: u16) -> usize {
    let buffer = stage.buffer();
    assert_eq!(buffer.area.width, width);
    let room = usize::from(tv::app::panes::divide(&stage.state).text());
    for line in &stage.state.view.lines {
        let Some(row) = Line::row(line) else { continue };
        let right: usize = row.right.iter().map(ratatui::text::Span::width).sum();
        let taken = row.line.width() + right;
        assert!(taken <= room, "{} at {width}: {taken} > {room}: {}", path.display(), row.line);
        assert!(!row.line.to_string().chars().any(char::is_control), "{}: {}", path.display(), row.line);
    }
    stage.state.view.lines.len()
}
