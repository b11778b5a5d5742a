//! The view of checks: failures, findings of the lint with the worst first, and other problems with
//! calls and records. A failure is a row. Several findings of a kind are one row, which can be
//! opened.

mod failures;

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, HEADINGS, Hint, Page, PageScene, Sheet};
use crate::analysis::brief::Fault;
use crate::analysis::lint::{Alike, Finding, Severity, group_findings};
use crate::analysis::phrases;
use crate::app::checks::{self, Check, StatusSign};
use crate::app::input::action::{Action, LandmarkKind, Way};
use crate::app::text::viewport::Focus;
use crate::listing::call::of_severity;
use crate::listing::sort::Value;
use crate::listing::table::{Column, Listing, cell};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::figures::count;
use crate::render::theme::Theme;
use crate::render::wrap;
use crate::session::indexes::Needs;

/// Lines for the consequence of the chosen finding.
const FOOT: usize = 3;
const OF_FAILURE: &[Hint] = &[
    (&[Action::Raw], "record"),
    (&[Action::Mention(Way::Next)], "search the error"),
    HEADINGS,
];
const OF_FINDING: &[Hint] = &[
    (&[Action::Pair], "the other half"),
    (&[Action::Raw], "record"),
    HEADINGS,
];
/// Hints on a kind with several findings.
const OF_KIND: &[Hint] = &[
    (&[Action::Unfold, Action::Collapse], "open, close"),
    (&[Action::Pair], "the other half"),
    HEADINGS,
];
#[derive(Debug)]
pub(crate) struct ChecksView {
    rows: List<CheckRow>,
    /// Kinds whose findings are listed one by one.
    opened: BTreeSet<Kind>,
    /// The states of checks and failures that the rows were built from.
    built_from: Option<(u64, u64)>,
}

impl Default for ChecksView {
    fn default() -> Self {
        let can_choose = |row: &CheckRow| {
            !matches!(row, CheckRow::Heading(..) | CheckRow::Good(_)) && *row != PAIRED
        };
        Self {
            rows: List::with_headings(can_choose),
            opened: BTreeSet::new(),
            built_from: None,
        }
    }
}

/// This row has no target.
const PAIRED: CheckRow = CheckRow::Check(checks::CheckKind::Paired);

/// A rule and the severity of its findings.
type Kind = (&'static str, Severity);

/// The key of a row. It has no text, which may change while the session is written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CheckRow {
    /// A heading with the number of rows below it.
    Heading(SectionSubject, u64),
    /// A message that nothing is wrong.
    Good(&'static str),
    /// A call that failed, was refused or was stopped.
    Failure(Focus),
    /// Several findings of a kind.
    Kind(Kind),
    /// A finding, alone or below its kind.
    Found {
        focus: Focus,
        rule: &'static str,
        call: Key,
        is_below: bool,
    },
    /// A check that is not a finding.
    Check(checks::CheckKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionSubject {
    Failed,
    /// Failures behind a call that succeeded.
    Hidden,
    /// Calls that were refused or stopped.
    Refused,
    /// Findings of the lint.
    Lint(Severity),
    Others,
}

/// A section of failures, and which faults it includes.
type OfFaults = (SectionSubject, fn(Fault) -> bool);
const FAULTS: [OfFaults; 3] = [
    (SectionSubject::Failed, |fault| fault == Fault::Failed),
    (SectionSubject::Hidden, |fault| fault == Fault::Hidden),
    (SectionSubject::Refused, |fault| {
        matches!(fault, Fault::Refused | Fault::Stopped)
    }),
];

impl ChecksView {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let made = (scene.checks.generation, scene.indexes.brief.generation);
        if self.built_from.replace(made) != Some(made) {
            self.rows.set(rows(scene, &self.opened), scene.follows);
        }
    }

    /// Opens or closes a kind. If the row of the cursor is gone, the cursor moves to the kind.
    fn open(&mut self, scene: &PageScene<'_>, kind: Kind, is_open: bool) {
        if is_open {
            self.opened.insert(kind);
        } else {
            self.opened.remove(&kind);
        }
        self.rows.set(rows(scene, &self.opened), false);
        self.rows.choose_key(&CheckRow::Kind(kind));
    }
}

/// Lists failures, then findings under the heading of their severity. Other checks come before the
/// notes.
fn rows(scene: &PageScene<'_>, opened: &BTreeSet<Kind>) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    let others = || others(scene).map(|check| CheckRow::Check(check.kind));
    for (head, is_such) in FAULTS {
        let failed: Vec<CheckRow> = failures::of(scene, is_such)
            .map(|failure| CheckRow::Failure(failure.place))
            .collect();
        if !failed.is_empty() {
            rows.push(CheckRow::Heading(head, failed.len() as u64));
            rows.extend(failed);
        }
    }
    if rows.is_empty() && scene.findings.counts.total() == 0 {
        rows.push(CheckRow::Good(match scene.is_whole {
            false => "The session is still being read.",
            true if others().all(|row| row == PAIRED) => {
                "Nothing found: nothing failed, and every call has its result."
            }
            true => "No rule finds anything.",
        }));
    }
    for severity in [
        Some(Severity::Error),
        Some(Severity::Warning),
        None,
        Some(Severity::Note),
    ] {
        match severity {
            Some(severity) => rows.extend(of_lint(scene, opened, severity)),
            None if others().next().is_some() => {
                rows.push(CheckRow::Heading(SectionSubject::Others, 0));
                rows.extend(others());
            }
            None => {}
        }
    }
    rows
}

/// The rows of findings of a severity, grouped by kind.
fn of_lint(scene: &PageScene<'_>, opened: &BTreeSet<Kind>, severity: Severity) -> Vec<CheckRow> {
    let of_it = || {
        scene
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
    };
    let mut rows: Vec<CheckRow> = Alike::of(of_it())
        .map(|all| CheckRow::Heading(SectionSubject::Lint(severity), all.count))
        .into_iter()
        .collect();
    for kind in group_findings(of_it()) {
        if kind.count == 1 {
            rows.push(CheckRow::of(kind.first, false));
            continue;
        }
        let key = (kind.first.rule.id, severity);
        rows.push(CheckRow::Kind(key));
        if opened.contains(&key) {
            rows.extend(
                of_it()
                    .filter(|finding| kind.matches(finding))
                    .map(|finding| CheckRow::of(finding, true)),
            );
        }
    }
    rows
}

/// Checks that are neither findings nor failures.
fn others<'a>(scene: &PageScene<'a>) -> impl Iterator<Item = &'a Check> + use<'a> {
    scene.checks.list.iter().filter(|check| {
        !matches!(
            check.kind,
            checks::CheckKind::Findings(_) | checks::CheckKind::Failed
        )
    })
}

impl CheckRow {
    fn of(finding: &Finding, is_below: bool) -> Self {
        let focus = Focus {
            entry: finding.entry,
            block: finding.block,
        };
        Self::Found {
            focus,
            rule: finding.rule.id,
            call: finding.call.clone(),
            is_below,
        }
    }
}

impl Page for ChecksView {
    fn needs(&self) -> Needs {
        Needs {
            brief: true,
            calls: true,
            findings: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let (height, foot) = scene.divide(0, FOOT);
        self.rows.fit(height);
        let (_, rows) = self.rows.write(&CheckList(scene), scene);
        let foot = if foot > 0 {
            self.foot(scene)
        } else {
            Vec::new()
        };
        Sheet {
            title: title(scene),
            rows,
            foot,
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        if let Some(answer) = self.rows.act(action, times) {
            return answer;
        }
        if let Action::Seek(LandmarkKind::Prompt, way) = action {
            return self.seek_section(way, times);
        }
        let Some(row) = self.rows.chosen() else {
            return Answer::Pass;
        };
        let kind = match row {
            CheckRow::Kind(kind) => Some(*kind),
            CheckRow::Found { .. } => {
                finding(scene, row).map(|finding| (finding.rule.id, finding.severity))
            }
            _ => None,
        };
        let Some(kind) = kind else {
            return Answer::Pass;
        };
        let is_open = self.opened.contains(&kind);
        match action {
            Action::Expand if !is_open && *row == CheckRow::Kind(kind) => {
                self.open(scene, kind, true);
            }
            Action::Collapse if is_open => self.open(scene, kind, false),
            Action::ToggleFold if is_open || *row == CheckRow::Kind(kind) => {
                self.open(scene, kind, !is_open);
            }
            _ => return Answer::Pass,
        }
        Answer::Done
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        if self.rows.choose_key(&CheckRow::Failure(focus)) {
            return;
        }
        let is_there = |finding: &&Finding| finding.block == focus.block;
        let of_entry = scene.findings.of_entry(focus.entry);
        if let Some(finding) = of_entry.iter().find(is_there).or(of_entry.first()) {
            self.rows
                .choose_key(&CheckRow::Kind((finding.rule.id, finding.severity)));
            self.rows.choose_key(&CheckRow::of(finding, false));
            self.rows.choose_key(&CheckRow::of(finding, true));
        }
    }

    fn choose(&mut self, number: usize) {
        self.rows.choose(number);
    }

    fn reset(&mut self) {
        *self = Self {
            opened: std::mem::take(&mut self.opened),
            ..Self::default()
        };
    }

    fn legend(&self, theme: &Theme) -> Vec<(&'static str, &'static str)> {
        let glyphs = theme.glyphs();
        vec![
            (glyphs.outcome.failed, "failed, or an error"),
            (glyphs.outcome.refused, "refused or stopped"),
            ("!", "a warning"),
            (glyphs.dot, "a note"),
            ("mended", "later the same went well"),
        ]
    }

    fn hints(&self) -> &'static [Hint] {
        match self.rows.chosen() {
            Some(CheckRow::Failure(_)) => OF_FAILURE,
            Some(CheckRow::Kind(_)) => OF_KIND,
            Some(CheckRow::Found { .. } | CheckRow::Check(_)) => OF_FINDING,
            Some(CheckRow::Heading(..) | CheckRow::Good(_)) | None => &[],
        }
    }

    /// Entries of visible outputs of which only the stub is in memory.
    fn bodies(&self, scene: &PageScene<'_>) -> Vec<EntryId> {
        let away = &scene.indexes.brief.incomplete;
        self.rows
            .window()
            .filter_map(|(_, row, _)| match row {
                CheckRow::Failure(place) => Some(place.entry),
                _ => None,
            })
            .filter(|entry| away.contains(entry))
            .collect()
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        match self.rows.chosen()? {
            CheckRow::Failure(focus) | CheckRow::Found { focus, .. } => Some(*focus),
            CheckRow::Kind(kind) => group_of(scene, *kind).map(|kind| Focus {
                entry: kind.first.entry,
                block: kind.first.block,
            }),
            CheckRow::Check(kind) => check(scene, *kind)?.target(scene.transcript),
            CheckRow::Heading(..) | CheckRow::Good(_) => None,
        }
    }
}

fn finding<'a>(scene: &PageScene<'a>, row: &CheckRow) -> Option<&'a Finding> {
    let CheckRow::Found {
        focus, is_below, ..
    } = row
    else {
        return None;
    };
    scene
        .findings
        .of_entry(focus.entry)
        .iter()
        .find(|finding| CheckRow::of(finding, *is_below) == *row)
}

/// All findings of a kind.
fn group_of<'a>(scene: &PageScene<'a>, (rule, severity): Kind) -> Option<Alike<'a>> {
    Alike::of(
        scene
            .findings
            .iter()
            .filter(|finding| (finding.rule.id, finding.severity) == (rule, severity)),
    )
}

fn check<'a>(scene: &PageScene<'a>, kind: checks::CheckKind) -> Option<&'a Check> {
    scene.checks.list.iter().find(|check| check.kind == kind)
}

impl ChecksView {
    /// Moves the cursor to the first row of another section.
    fn seek_section(&mut self, way: Way, times: usize) -> Answer {
        let rows = self.rows.keys();
        let here = self.rows.number();
        let is_first =
            |at: usize| at > 0 && matches!(rows.get(at - 1), Some(CheckRow::Heading(..)));
        let found = match way {
            Way::Next => (here + 1..rows.len())
                .filter(|at| is_first(*at))
                .take(times.max(1))
                .last(),
            Way::Previous => (0..here)
                .rev()
                .filter(|at| is_first(*at))
                .take(times.max(1))
                .last(),
        };
        match found {
            Some(at) => {
                self.rows.choose(at);
                Answer::Done
            }
            None => Answer::Message("no other heading there".to_owned()),
        }
    }

    /// The problem of the chosen row, and its consequence.
    fn foot(&self, scene: &PageScene<'_>) -> Vec<Line<'static>> {
        let Some(row) = self.rows.chosen() else {
            return Vec::new();
        };
        let (before, finding) = match row {
            CheckRow::Failure(place) => {
                let failure = failures::at(scene, *place);
                return failure
                    .map(|failure| failures::foot(scene, failure))
                    .unwrap_or_default();
            }
            CheckRow::Kind(kind) => match group_of(scene, *kind) {
                Some(kind) => (format!("The first of {}: ", kind.count), kind.first),
                None => return Vec::new(),
            },
            _ => match finding(scene, row) {
                Some(finding) => (String::new(), finding),
                None => return Vec::new(),
            },
        };
        let words = [
            Span::styled(format!("{before}{}: ", finding.message), scene.theme.text),
            Span::styled(finding.consequence(), scene.theme.dim),
        ];
        wrap::wrap(&words, &scene.frame(FOOT))
    }
}

fn title(scene: &PageScene<'_>) -> Vec<Span<'static>> {
    let counts = scene.findings.counts;
    let refused = failures::of(scene, |fault| fault == Fault::Refused).count();
    let failed = scene.checks.count(checks::CheckKind::Failed);
    let parts = [
        (failed > 0).then(|| count(failed, "failure")),
        (refused > 0).then(|| format!("{refused} refused")),
        (counts.errors > 0).then(|| count(counts.errors as u64, "error")),
        (counts.warnings > 0).then(|| count(counts.warnings as u64, "warning")),
        (counts.notes > 0).then(|| count(counts.notes as u64, "note")),
    ];
    let words = phrases::joined(parts, scene.theme.ascii);
    vec![Span::raw("FAILURES"), Span::raw(format!("  {words}"))]
}

fn heading(head: SectionSubject, found: u64, theme: &Theme) -> Line<'static> {
    let what = match head {
        SectionSubject::Failed => "FAILURES",
        SectionSubject::Hidden => "FAILURES BEHIND A CALL THAT ENDED WELL",
        SectionSubject::Refused => "REFUSED OR STOPPED",
        SectionSubject::Lint(Severity::Error) => "ERRORS",
        SectionSubject::Lint(Severity::Warning) => "WARNINGS",
        SectionSubject::Lint(Severity::Note) => "NOTES",
        SectionSubject::Others => return Line::styled("CALLS AND RECORDS", theme.heading),
    };
    Line::from(vec![
        Span::styled(what, theme.heading),
        Span::styled(format!("  {found}"), theme.dim),
    ])
}

/// Index of the column of counts.
const NUMBER: usize = 2;
/// Index of the column of names.
const NAME: usize = 3;

/// The rows as a listing.
struct CheckList<'a>(&'a PageScene<'a>);

/// The cells of a row that is not a heading.
struct CheckCells<'a> {
    sign: (&'static str, Style),
    /// The number of findings, if there are several.
    number: Option<u64>,
    /// The line number of the first one; 0 if unknown.
    line: u32,
    name: &'a str,
    what: &'a str,
    /// Whether the name is part of the text where the column of names is hidden.
    needs_name: bool,
}

type CheckColumn<'a> = Column<CheckCells<'a>>;

impl<'a> Listing for CheckList<'a> {
    type Key = CheckRow;
    type Row = CheckCells<'a>;

    fn columns(&self, _: usize) -> Vec<CheckColumn<'a>> {
        vec![
            CheckColumn::words("", 1, 9).cell(|row, _| cell(row.sign.0, row.sign.1)),
            CheckColumn::figures("line", 6, 5)
                .value(|row| Value::int(Some(row.line)))
                .dim(),
            CheckColumn::figures("", 4, 3).value(|row| Value::int(row.number)),
            CheckColumn::words("rule", 22, 4)
                .value(|row| Value::text(Some(row.name)))
                .style(|_, look| look.theme.accent),
            CheckColumn::rest("what", 20).cell(|row, look| {
                let mut words = String::new();
                let has_room = |column: usize| look.widths.get(column).is_some_and(Option::is_some);
                if let Some(number) = row.number.filter(|_| !has_room(NUMBER)) {
                    words += &format!("{number} ");
                }
                if row.needs_name && !has_room(NAME) {
                    words += &format!("{} ", row.name);
                }
                cell(words + row.what, look.focus_or(look.theme.text))
            }),
        ]
    }

    fn row(&self, row: &CheckRow) -> Option<CheckCells<'a>> {
        let Self(scene) = self;
        let of_finding = |finding: &'a Finding| CheckCells {
            sign: of_severity(finding.severity, scene.theme),
            number: None,
            line: finding.place.line,
            name: finding.rule.id,
            what: &finding.message,
            needs_name: false,
        };
        match row {
            CheckRow::Kind(kind) => {
                let kind = group_of(scene, *kind)?;
                Some(CheckCells {
                    number: Some(kind.count),
                    needs_name: true,
                    ..of_finding(kind.first)
                })
            }
            CheckRow::Found { is_below: true, .. } => Some(CheckCells {
                sign: ("", scene.theme.dim),
                name: "",
                ..of_finding(finding(scene, row)?)
            }),
            CheckRow::Found { .. } => Some(of_finding(finding(scene, row)?)),
            CheckRow::Check(kind) => {
                let check = check(scene, *kind)?;
                let at = check.target(scene.transcript);
                let at = at.and_then(|at| scene.transcript.get(at.entry));
                Some(CheckCells {
                    sign: of_check(check.sign, scene.theme),
                    number: check.count,
                    line: at.map_or(0, |entry| entry.origin.line),
                    name: &check.name,
                    what: &check.what,
                    needs_name: true,
                })
            }
            CheckRow::Heading(..) | CheckRow::Good(_) | CheckRow::Failure(_) => None,
        }
    }

    fn heading(&self, row: &CheckRow, width: usize, theme: &Theme) -> Line<'static> {
        match row {
            CheckRow::Heading(head, found) => heading(*head, *found, theme),
            CheckRow::Failure(place) => failures::at(self.0, *place)
                .map(|failure| failures::line(self.0, failure, width))
                .unwrap_or_default(),
            CheckRow::Good(words) => Line::styled(*words, theme.dim),
            CheckRow::Kind(_) | CheckRow::Found { .. } | CheckRow::Check(_) => Line::default(),
        }
    }
}

fn of_check(sign: StatusSign, theme: &Theme) -> (&'static str, Style) {
    match sign {
        StatusSign::Bad => (theme.glyphs().outcome.failed, theme.bad),
        StatusSign::Warn => ("!", theme.warn),
        StatusSign::Good => (theme.glyphs().outcome.done, theme.good),
        StatusSign::None | StatusSign::Failures(_) | StatusSign::Refused | StatusSign::Open(_) => {
            (theme.glyphs().dot, theme.dim)
        }
    }
}
