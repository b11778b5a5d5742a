//! `tv stats`: the figures of sessions, as JSON with one session per line, or as a table.

use std::io::{self, Write};

use ratatui::text::Span;

use super::figures::{self, RecordFigures, SessionReport};
use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::parts::{BranchFigures, LaneFigures, PartFigures};
use super::reading::{self, NamedSessions};
use super::spent::{CostFigures, UsageFigures};
use crate::analysis::calls::pairing::PairingCounts;
use crate::analysis::phrases;
use crate::model::figures::{count, duration, tokens};
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Maximum length of a sub-agent's label in a table, in characters.
const LABEL: usize = 40;

/// Options of `tv stats`.
pub struct StatsOptions {
    pub sessions: NamedSessions,
    /// One JSON object per line instead of a table.
    pub json: bool,
}

/// Writes the figures of every session that can be opened.
pub fn write(
    options: &StatsOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let mut is_first = true;
    let missed = options.sessions.each(reading::read_packed, |reading| {
        let figures = figures::of(&reading, now);
        if options.json {
            return Ok(json::write_line(out, &figures)?);
        }
        if !std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        Ok(write_table(&figures, out)?)
    })?;
    Ok(options.sessions.outcome(missed, ReportOutcome::Complete))
}

fn write_table(figures: &SessionReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let session = &figures.session;
    let title = session
        .title
        .as_deref()
        .or(session.id.as_deref())
        .unwrap_or(&figures.path);
    writeln!(out, "{}", title.lines().next().unwrap_or_default())?;
    for (label, value) in table(figures) {
        writeln!(out, "  {label:<12} {value}")?;
    }
    write_columns(&branch_rows(&figures.branch_list), out)?;
    write_columns(&lane_rows(&figures.lane_list), out)
}

fn branch_rows(branches: &[BranchFigures]) -> Vec<[String; 7]> {
    let row = |branch: &BranchFigures| {
        let from = branch
            .parent
            .map(|parent| format!(", within branch {parent}"))
            .unwrap_or_default();
        let again = if branch.active { "; active again" } else { "" };
        let [entries, turns, calls, cost] = part_cells(&branch.own, &branch.total);
        let left = branch.left.clone().unwrap_or_else(|| "?".to_owned());
        [
            format!("branch {}", branch.number),
            entries,
            turns,
            calls,
            cost,
            left,
            format!("{}{from}{again}", branch.reason),
        ]
    };
    let head = ["", "entries", "turns", "calls", "cost", "left", "why"].map(str::to_owned);
    headed(head, branches.iter().map(row))
}

fn lane_rows(lanes: &[LaneFigures]) -> Vec<[String; 7]> {
    let row = |lane: &LaneFigures| {
        let [entries, turns, calls, cost] = part_cells(&lane.own, &lane.total);
        let from = match (&lane.parent, lane.branch) {
            (Some(parent), _) => parent.clone(),
            (None, Some(branch)) => format!("branch {branch}"),
            (None, None) => "main".to_owned(),
        };
        [
            excerpt(&lane.label),
            entries,
            turns,
            calls,
            cost,
            tokens_of(&lane.own.usage),
            from,
        ]
    };
    let head = [
        "lane",
        "entries",
        "turns",
        "calls",
        "cost",
        "tokens",
        "started by",
    ]
    .map(str::to_owned);
    headed(head, lanes.iter().map(row))
}

fn headed(head: [String; 7], rows: impl ExactSizeIterator<Item = [String; 7]>) -> Vec<[String; 7]> {
    if rows.len() == 0 {
        Vec::new()
    } else {
        std::iter::once(head).chain(rows).collect()
    }
}

/// A part's own figures; if they differ, also those with all that it started.
fn part_cells(own: &PartFigures, total: &PartFigures) -> [String; 4] {
    let both = |own: String, total: String| {
        if own == total {
            own
        } else {
            format!("{own} of {total}")
        }
    };
    let calls = |part: &PartFigures| match part.failed {
        0 => part.calls.to_string(),
        failed => format!("{} ({failed} failed)", part.calls),
    };
    [
        both(own.entries.to_string(), total.entries.to_string()),
        both(own.turns.to_string(), total.turns.to_string()),
        both(calls(own), calls(total)),
        both(cost_line(&own.cost), cost_line(&total.cost)),
    ]
}

fn tokens_of(usage: &UsageFigures) -> String {
    let figure = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), tokens);
    let prompt = [usage.input, usage.cache_read, usage.cache_write]
        .into_iter()
        .flatten()
        .reduce(|a, b| a + b);
    format!(
        "{} in, {} out{}",
        figure(prompt),
        figure(usage.output),
        or_more(usage.output_is_partial)
    )
}

/// The beginning of a label.
fn excerpt(label: &str) -> String {
    Text::stub(label, LABEL).to_string()
}

fn write_columns<const N: usize>(rows: &[[String; N]], out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns_of(cell).max(*width);
        }
    }
    writeln!(out)?;
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let missing = width.saturating_sub(columns_of(cell));
            format!("  {cell}{}", " ".repeat(missing))
        });
        writeln!(out, "{}", cells.collect::<String>().trim_end())?;
    }
    Ok(())
}

fn columns_of(cell: &str) -> usize {
    Span::raw(cell).width()
}

/// The rows of a session's table.
pub(crate) fn table(figures: &SessionReport<'_>) -> Vec<(&'static str, String)> {
    let SessionReport {
        session,
        records,
        entries,
        blocks,
        ..
    } = figures;
    let mut rows = vec![
        ("file", reading::on_one_line(&figures.path).into_owned()),
        (
            "format",
            format!("{} ({})", figures.format, figures.confidence),
        ),
        (
            "state",
            format!(
                "{}{}",
                session.state,
                phrases::agents_at_work(session.agents_at_work)
            ),
        ),
    ];
    rows.extend(session.agent.clone().map(|agent| ("agent", agent)));
    rows.extend(session.cwd.clone().map(|cwd| ("folder", cwd)));
    rows.extend(
        session
            .facts
            .iter()
            .map(|(name, value)| (*name, value.clone())),
    );
    if !session.models.is_empty() {
        rows.push(("models", session.models.join(", ")));
    }
    rows.extend(span(session).map(|span| ("time", span)));
    rows.push(("records", records_line(records)));
    rows.push((
        "entries",
        format!(
            "{} user, {} assistant, {} system, {} harness",
            entries.user, entries.assistant, entries.system, entries.harness
        ),
    ));
    rows.push((
        "blocks",
        format!(
            "{} text, {} thinking, {} calls, {} images, {} breaks, {} raw",
            blocks.text, blocks.thinking, blocks.calls, blocks.images, blocks.breaks, blocks.raw
        ),
    ));
    let agents = figures.lane_list.iter().filter(|lane| !lane.helper).count();
    rows.push((
        "structure",
        format!(
            "{}, {}, {}, {}",
            count(figures.turns as u64, "turn"),
            count(agents as u64, "sub-agent"),
            count(figures.branches as u64, "abandoned branch"),
            count(figures.compactions, "compaction")
        ),
    ));
    rows.push(("calls", calls_line(&figures.pairing)));
    rows.push(("tokens", tokens_line(&figures.usage)));
    rows.push(("cost", cost_line(&figures.cost)));
    let active = &figures.active;
    if figures.branches > 0 || figures.lanes > 0 {
        rows.push((
            "main lane",
            format!(
                "{}, {}, {}, {}",
                count(active.entries, "entry"),
                count(active.turns, "turn"),
                count(active.calls, "call"),
                cost_line(&active.cost)
            ),
        ));
    }
    rows
}

fn span(session: &figures::SessionFigures) -> Option<String> {
    let (started, ended) = (session.started.as_ref()?, session.ended.as_ref()?);
    let (started, ended) = (Timestamp::parse(started)?, Timestamp::parse(ended)?);
    Some(format!(
        "{}, {}",
        from_to(started, ended),
        duration(ended.since(started))
    ))
}

/// `Thu 29 Jan 2026 20:57:03 to 21:46:10 CET`, in the user's time zone.
pub(super) fn from_to(started: Timestamp, ended: Timestamp) -> String {
    let until = if started.is_same_day(ended) {
        String::new()
    } else {
        format!("{} ", ended.date())
    };
    format!(
        "{} {} to {until}{} {}",
        started.date(),
        started.clock(),
        ended.clock(),
        ended.zone()
    )
}

fn records_line(records: &RecordFigures) -> String {
    let RecordFigures {
        total,
        shown,
        merged,
        passed,
        faulty,
        ..
    } = records;
    // Unknown kinds that lose nothing are not mentioned.
    let unknown = records
        .unknown_judged
        .values()
        .filter(|judged| **judged == Judged::Loud.word())
        .count();
    let unknown = match unknown {
        0 => String::new(),
        kinds => format!(", {} not understood", count(kinds as u64, "kind")),
    };
    format!("{total}: {shown} shown, {merged} merged, {passed} passed, {faulty} faulty{unknown}")
}

fn calls_line(pairing: &PairingCounts) -> String {
    let others = [
        (pairing.failed, "failed"),
        (pairing.refused, "not allowed"),
        (pairing.stopped, "stopped"),
        (pairing.pending, "pending"),
        (pairing.orphan_calls, "without a result"),
        (pairing.orphan_results, "results without a call"),
        (pairing.duplicate_results, "duplicate results"),
        (pairing.textual_calls, "more written as text"),
    ];
    format!(
        "{}: {} paired{}",
        pairing.calls,
        pairing.paired,
        further(&others)
    )
}

/// `, 2 failed, 1 pending`, without those that are 0.
pub(super) fn further(counts: &[(u64, &str)]) -> String {
    let mut words = String::new();
    for (n, what) in counts.iter().filter(|(n, _)| *n > 0) {
        words.push_str(&format!(", {n} {what}"));
    }
    words
}

fn tokens_line(usage: &UsageFigures) -> String {
    let figure = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), tokens);
    let mut line = format!(
        "{} input, {} output{}, {} cache read, {} cache write in {}",
        figure(usage.input),
        figure(usage.output),
        or_more(usage.output_is_partial),
        figure(usage.cache_read),
        figure(usage.cache_write),
        count(usage.requests, "request")
    );
    if let Some(reasoning) = usage.reasoning {
        line.push_str(&format!(
            "; {} of the output is reasoning",
            tokens(reasoning)
        ));
    }
    line
}

fn cost_line(cost: &CostFigures) -> String {
    let amount = cost
        .usd
        .map(|usd| format!("{} ", phrases::usd(usd)))
        .unwrap_or_default();
    let missing = if cost.unpriced_models.is_empty() {
        String::new()
    } else {
        format!(" (no price for {})", cost.unpriced_models.join(", "))
    };
    format!(
        "{amount}{}{}{missing}",
        cost.source,
        or_more(cost.is_partial)
    )
}

fn or_more(is_partial: bool) -> &'static str {
    if is_partial { " or more" } else { "" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CostFigures, PartFigures, RecordFigures, UsageFigures};
    use super::{cost_line, from_to, part_cells, records_line, tokens_of};
    use crate::model::tally::unknown::Judged;
    use crate::model::timestamp::Timestamp;
    use crate::report::figures::ByteFigures;

    fn part(entries: u64, usd: f64, is_partial: bool) -> PartFigures {
        let (input, cache) = (Some(1_000), Some(0));
        let usage = UsageFigures {
            input,
            output: Some(entries),
            output_is_partial: is_partial,
            cache_read: cache,
            cache_write: cache,
            reasoning: None,
            requests: 1,
        };
        let (usd, source, unpriced_models) = (Some(usd), "recorded", Vec::new());
        let cost = CostFigures {
            usd,
            source,
            estimated_usd: None,
            unpriced_models,
            is_partial,
        };
        PartFigures {
            entries,
            turns: 1,
            calls: 2,
            failed: entries % 2,
            usage,
            cost,
        }
    }

    #[test]
    fn kinds_that_are_not_understood_are_counted_and_others_are_not() {
        let line = |judged: &[(&str, Judged)]| {
            let (shown, merged, passed, faulty) = (5, 2, 1, 1);
            let passed_reasons = BTreeMap::new();
            let bytes = ByteFigures {
                total: 0,
                shown,
                merged,
                passed,
                faulty,
                passed_reasons,
            };
            records_line(&RecordFigures {
                total: 9,
                shown,
                merged,
                passed,
                faulty,
                bytes,
                passed_reasons: BTreeMap::new(),
                unknown: BTreeMap::new(),
                unknown_judged: judged
                    .iter()
                    .map(|(kind, how)| ((*kind).to_owned(), how.word()))
                    .collect(),
                faults: Vec::new(),
            })
        };
        let all = "9: 5 shown, 2 merged, 1 passed, 1 faulty";
        assert_eq!(line(&[("a", Judged::Trace)]), all);
        assert_eq!(
            line(&[("a", Judged::Loud)]),
            format!("{all}, 1 kind not understood")
        );
        assert_eq!(
            line(&[("a", Judged::Loud), ("b", Judged::Loud)]),
            format!("{all}, 2 kinds not understood")
        );
    }

    #[test]
    fn what_all_of_it_comes_to_stands_beside_its_own_where_that_is_more() {
        let (own, all) = (part(3, 0.5, false), part(4, 1.5, false));
        assert_eq!(
            part_cells(&own, &all),
            [
                "3 of 4",
                "1",
                "2 (1 failed) of 2",
                "$0.50 recorded of $1.50 recorded"
            ]
        );
        assert_eq!(
            part_cells(&own, &own),
            ["3", "1", "2 (1 failed)", "$0.50 recorded"]
        );
        let part = part(3, 0.5, true);
        assert_eq!(cost_line(&part.cost), "$0.50 recorded or more");
        assert!(
            tokens_of(&part.usage).ends_with("3 out or more"),
            "{}",
            tokens_of(&part.usage)
        );
    }

    #[test]
    fn the_day_stands_once_if_it_is_one() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let started = at("2026-01-29T20:57:03Z");
        assert_eq!(
            from_to(started, at("2026-01-29T21:46:10Z")),
            "Thu 29 Jan 2026 20:57:03 to 21:46:10 UTC"
        );
        assert_eq!(
            from_to(started, at("2026-01-30T00:10:00Z")),
            "Thu 29 Jan 2026 20:57:03 to Fri 30 Jan 2026 00:10:00 UTC"
        );
    }
}
