//! The details of the chosen call, and of the chosen tool.

use ratatui::text::{Line, Span};

use crate::analysis::calls::{Outcome, Place, Tool};
use crate::analysis::phrases;
use crate::app::views::page::PageScene;
use crate::listing::call::{PlacedCall, of_severity};
use crate::model::figures::{self, count, percent};
use crate::model::text::{Name, without_sgr};
use crate::model::tool::Clocked;
use crate::render::wrap::{self, LineFrame, Piece};

/// Maximum number of earlier calls that are named.
const NAMED: usize = 4;
/// Maximum number of earlier calls that are compared.
const LOOKED_AT: usize = 200;
/// Minimum number of durations for quantiles.
const FEW: u32 = 4;
/// Maximum number of bytes of an argument that are read.
const ARGUMENT: usize = 8_000;

/// Facts separated by dots, cut to the page.
pub(crate) fn line(scene: &PageScene<'_>, parts: Vec<Vec<Piece>>) -> Line<'static> {
    let dot = Span::styled(format!(" {} ", scene.theme.glyphs().dot), scene.theme.dim);
    let mut spans = Vec::new();
    for part in parts.into_iter().filter(|part| wrap::width_of(part) > 0) {
        if !spans.is_empty() {
            spans.push(dot.clone());
        }
        spans.extend(part);
    }
    wrap::fit(&spans, scene.columns(), scene.theme.glyphs().cut).into()
}

/// The details of a call in `lines` lines.
pub(crate) fn of_call(scene: &PageScene<'_>, place: Place, lines: usize) -> Vec<Line<'static>> {
    let Some(placed) = PlacedCall::at(scene.calls, place) else {
        return Vec::new();
    };
    let mut out = vec![line(scene, number_and_position(scene, &placed))];
    let arguments = if lines > 4 { 2 } else { 1 };
    out.extend(argument(scene, &placed, arguments));
    out.push(line(scene, ended(scene, &placed)));
    let found = findings(scene, &placed);
    let before = before(scene, &placed);
    if out.len() + 1 >= lines {
        out.push(line(scene, vec![found, before]));
    } else {
        out.push(line(scene, vec![before]));
        out.push(line(scene, vec![found]));
    }
    out.resize_with(lines, Line::default);
    out
}

/// The number of a call, and its position in the session.
fn number_and_position(scene: &PageScene<'_>, placed: &PlacedCall<'_>) -> Vec<Vec<Piece>> {
    let theme = scene.theme;
    let call = placed.call;
    let number = placed.number().unwrap_or(0);
    let turn = scene
        .indexes
        .account
        .turn_of(scene.transcript, placed.place.entry);
    let left = scene.transcript.branches().of(placed.place.entry);
    let dim = |words: String| vec![Span::styled(words, theme.dim)];
    let record = call.input.from.line;
    vec![
        vec![
            Span::styled(format!("#{number} "), theme.accent),
            Span::styled(call.shown_name(), theme.tool),
        ],
        turn.map(|turn| dim(format!("turn {}", turn + 1)))
            .unwrap_or_default(),
        placed
            .lane()
            .map(|lane| dim(lane.title()))
            .unwrap_or_default(),
        left.map(|branch| dim(format!("on branch {}, which was left", branch.number)))
            .unwrap_or_default(),
        if record > 0 {
            dim(format!("line {record}"))
        } else {
            Vec::new()
        },
        dim(scene.transcript.recorded_key(&call.key).to_owned()),
    ]
}

/// The whole argument, as far as there is room.
fn argument(scene: &PageScene<'_>, placed: &PlacedCall<'_>, limit: usize) -> Vec<Line<'static>> {
    let whole = placed.call.command().unwrap_or(&placed.call.headline);
    let whole = without_sgr(wrap::head(whole, ARGUMENT)).into_owned();
    let words: Vec<&str> = whole.split_whitespace().collect();
    let words = Span::styled(words.join(" "), scene.theme.text);
    let cut = scene.theme.glyphs().cut;
    let mut lines = wrap::wrap(
        &[words],
        &LineFrame {
            limit,
            cut,
            ..LineFrame::of(scene.columns())
        },
    );
    lines.resize_with(limit, Line::default);
    lines
}

/// How a call ended, its duration and rank, and its size.
fn ended(scene: &PageScene<'_>, placed: &PlacedCall<'_>) -> Vec<Vec<Piece>> {
    let theme = scene.theme;
    let status = placed.status();
    let (sign, style) = status.sign(theme);
    let mut verdict = vec![Span::styled(format!("{sign} {}", status.word()), style)];
    let result = placed.call.state.result();
    let facts = result.map(|result| without_sgr(wrap::head(&result.facts, 200)).into_owned());
    let facts = facts
        .as_deref()
        .and_then(|facts| facts.lines().next())
        .unwrap_or_default();
    let is_news = !facts.trim().is_empty() && facts.trim() != status.word();
    if is_news {
        let facts = if theme.ascii {
            facts.replace('·', theme.glyphs().dot)
        } else {
            facts.to_owned()
        };
        verdict.push(Span::styled(format!(" {}", facts.trim()), theme.text));
    }
    let (rank, spread) = rank(scene, placed).unzip();
    let time = [Some(placed.duration_text(theme)), rank]
        .into_iter()
        .flatten();
    let time: Vec<String> = time.filter(|words| !words.is_empty()).collect();
    let size = placed
        .call
        .state
        .result()
        .map(|result| &result.body)
        .or(placed.call.state.live_output());
    let size = size.map(|body| {
        let bytes = figures::bytes(u64::from(body.bytes));
        let lines = count(u64::from(body.lines), "line");
        if is_news && facts.contains("line") {
            bytes
        } else {
            format!("{bytes}, {lines}")
        }
    });
    let spent = placed.usage().map(|usage| {
        let others = scene
            .transcript
            .get(placed.place.entry)
            .map_or(0, |entry| entry.calls().count().saturating_sub(1));
        let shared = if others > 0 {
            format!(", shared with {}", count(others as u64, "call"))
        } else {
            String::new()
        };
        format!(
            "request {}{shared}",
            phrases::tokens_and_cost(usage, placed.entry.model.as_ref(), theme.ascii)
        )
    });
    let text = |words: Option<String>| {
        words
            .map(|words| vec![Span::styled(words, theme.text)])
            .unwrap_or_default()
    };
    let dim = |words: Option<String>| {
        words
            .map(|words| vec![Span::styled(words, theme.dim)])
            .unwrap_or_default()
    };
    vec![
        verdict,
        text(Some(time.join(", "))),
        text(size),
        dim(spread),
        dim(spent),
    ]
}

/// `p94 of 38 bash calls`: the rank of a call's duration among those of its tool; and the spread of
/// these.
fn rank(scene: &PageScene<'_>, placed: &PlacedCall<'_>) -> Option<(String, String)> {
    let durations = &scene.indexes.calls.tool(&placed.call.name)?.sums.durations;
    let spread = durations.spread().filter(|spread| spread.count >= FEW)?;
    let took = placed
        .duration()
        .filter(|took| (took.by == Clocked::Bound) == spread.is_bound)?;
    let no_longer = spread.count.saturating_sub(durations.longer_than(took.ms));
    let [p50, p95, max] =
        [spread.p50, spread.p95, spread.max].map(|ms| scene.theme.duration(ms, spread.is_bound));
    let rank = percent(u64::from(no_longer), u64::from(spread.count));
    let name = placed.call.shown_name();
    let rank = if no_longer == spread.count {
        format!("the slowest of {} {name} calls", spread.count)
    } else {
        format!("p{rank} of {} {name} calls", spread.count)
    };
    Some((rank, format!("p50 {p50}  p95 {p95}  max {max}")))
}

/// Earlier calls with the same argument, and their outcomes.
fn before(scene: &PageScene<'_>, placed: &PlacedCall<'_>) -> Vec<Piece> {
    let theme = scene.theme;
    let calls = &scene.indexes.calls;
    let earlier = calls.earlier(placed.place, LOOKED_AT);
    if earlier.calls.is_empty() {
        let words = match earlier.unread.len() {
            0 => "no earlier call asked for the same".to_owned(),
            _ => {
                "earlier calls look the same; the inspector (i) compares their arguments".to_owned()
            }
        };
        return vec![Span::styled(words, theme.dim)];
    }
    let at_least = if earlier.is_cut || !earlier.unread.is_empty() {
        "at least "
    } else {
        ""
    };
    let times = count(earlier.calls.len() as u64, "time");
    let mut spans = vec![Span::styled(
        format!("same call before, {at_least}{times}:"),
        theme.warn,
    )];
    for other in earlier
        .calls
        .iter()
        .take(NAMED)
        .filter_map(|place| PlacedCall::at(scene.calls, *place))
    {
        let (sign, style) = other.status().sign(theme);
        let number = other.number().unwrap_or(0);
        spans.push(Span::styled(format!("  #{number} "), theme.accent));
        spans.push(Span::styled(sign, style));
        spans.push(Span::styled(
            format!(" {}", other.duration_text(theme)),
            theme.text,
        ));
    }
    spans
}

/// The findings of the lint about a call.
fn findings(scene: &PageScene<'_>, placed: &PlacedCall<'_>) -> Vec<Piece> {
    let mut found: Vec<_> = placed.findings().collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut spans = Vec::new();
    for finding in found {
        let (sign, style) = of_severity(finding.severity, scene.theme);
        let gap = if spans.is_empty() { "" } else { "  " };
        spans.push(Span::styled(format!("{gap}{sign} "), style));
        spans.push(Span::styled(
            format!("{}: ", finding.rule.id),
            scene.theme.accent,
        ));
        spans.push(Span::styled(finding.message.clone(), scene.theme.text));
    }
    spans
}

/// The extreme calls of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Examples {
    slowest: Option<Place>,
    failed: Option<Place>,
    biggest: Option<Place>,
}

impl Examples {
    /// Finds the examples among calls of one tool, which are in file order.
    pub(crate) fn of(scene: &PageScene<'_>, places: &[Place]) -> Self {
        let placed = || {
            places
                .iter()
                .filter_map(|place| PlacedCall::at(scene.calls, *place))
        };
        let timed = placed().filter_map(|placed| Some((placed.duration()?.ms, placed.place)));
        let sized = placed().filter_map(|placed| Some((placed.bytes()?, placed.place)));
        let failed = placed().rfind(|placed| Outcome::of(&placed.call.state) == Outcome::Failed);
        Self {
            slowest: timed.max_by_key(|(ms, _)| *ms).map(|(_, place)| place),
            failed: failed.map(|placed| placed.place),
            biggest: sized
                .max_by_key(|(bytes, _)| *bytes)
                .map(|(_, place)| place),
        }
    }
}

/// The details of a tool in four lines: the outcomes of its calls, and the extreme ones.
pub(crate) fn of_tool(
    scene: &PageScene<'_>,
    (name, tool): (&Name, &Tool),
    examples: &Examples,
) -> Vec<Line<'static>> {
    let theme = scene.theme;
    let ends = [
        (Outcome::Done, "done"),
        (Outcome::Failed, "failed"),
        (Outcome::Refused, "refused"),
        (Outcome::Lost, "stopped"),
        (Outcome::Open, "without an end"),
        (Outcome::Unrecorded, "not recorded"),
    ];
    let ends = ends.iter().filter(|(end, _)| tool.sums.ended(*end) > 0);
    let ends: Vec<String> = ends
        .map(|(end, word)| format!("{} {word}", tool.sums.ended(*end)))
        .collect();
    let timed = tool
        .sums
        .durations
        .spread()
        .map_or(0, |spread| spread.count);
    let untimed = tool
        .calls
        .len()
        .saturating_sub(usize::try_from(timed).unwrap_or(usize::MAX));
    let text = |words: String| vec![Span::styled(words, theme.text)];
    let untimed = if untimed > 0 {
        text(format!("{untimed} without an exact time"))
    } else {
        Vec::new()
    };
    let head = vec![
        vec![
            Span::styled(wrap::head(name, 200).to_owned(), theme.tool),
            Span::styled(
                format!(" {}", count(tool.calls.len() as u64, "call")),
                theme.text,
            ),
        ],
        text(ends.join(", ")),
        untimed,
    ];
    let example = |word: &str, place: Option<Place>| {
        let placed = place.and_then(|place| PlacedCall::at(scene.calls, place));
        placed.map_or_else(Line::default, |placed| {
            line(scene, vec![labelled_call(scene, word, &placed)])
        })
    };
    vec![
        line(scene, head),
        example("slowest", examples.slowest),
        example("last failure", examples.failed),
        example("biggest result", examples.biggest),
    ]
}

/// `slowest  #203 41.2s 51 KB cargo test`
fn labelled_call(scene: &PageScene<'_>, word: &str, placed: &PlacedCall<'_>) -> Vec<Piece> {
    let theme = scene.theme;
    let number = placed.number().unwrap_or(0);
    let (sign, style) = placed.status().sign(theme);
    let size = placed.bytes().map(figures::bytes).unwrap_or_default();
    let argument = placed.argument();
    vec![
        Span::styled(format!("{word:<15}"), theme.dim),
        Span::styled(format!("#{number:<6}"), theme.accent),
        Span::styled(format!("{sign} "), style),
        Span::styled(
            format!("{:>8} {size:>8}  ", placed.duration_text(theme)),
            theme.text,
        ),
        Span::styled(argument, theme.text),
    ]
}
