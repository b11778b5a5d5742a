//! Rows for databases: `tv.row.session/1`, `turn`, `request`, `call`, `entry` and `finding`.
//! CONTRACT: fields are only ever added; unknown is `null`.
//!
//! Invariant: charges are requests, so the rows of requests add up to the session, in tokens and in
//! cost.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::pages::name;
use super::{Exported, WriteFile};
use crate::analysis::account::Account;
use crate::analysis::calls::Calls;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::pairing::PairingCounts;
use crate::analysis::derived::Memo;
use crate::analysis::lint::Severity;
use crate::analysis::money::cost::usd;
use crate::analysis::money::spending::RequestOutcome;
use crate::analysis::money::spending::statement::{Group, Grouping, Statement};
use crate::ingest::Pager;
use crate::listing::call::{CallScene, PlacedCall};
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, EntryId};
use crate::model::text::{Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, is_textual};
use crate::report::check::{FindingLine, at_least, finding_line};
use crate::report::entry::{self, CallLine, FromLine, Life};
use crate::report::figures::{
    BlockFigures, EntryFigures, RecordFigures, SessionFigures, SessionReport,
};
use crate::report::json::write_line;
use crate::report::listing::carrying_costs;
use crate::report::reading::{Contents, Reading, shown};
use crate::report::spent::{CostFigures, UsageFigures};
use crate::report::turns::{OverheadFigures, TurnFigures};

/// The files of a session, one per kind of row.
pub(super) const FILES: [(&str, WriteFile); 6] = [
    ("sessions.jsonl", sessions),
    ("turns.jsonl", turns),
    ("requests.jsonl", requests),
    ("calls.jsonl", calls),
    ("entries.jsonl", entries),
    ("findings.jsonl", findings),
];

/// The fields that every row begins with.
#[derive(Clone, Copy, Serialize)]
struct RowHead<'a> {
    host: Option<&'a str>,
    session: &'a str,
    format: &'static str,
    agent: Option<&'a str>,
    agent_version: Option<&'a str>,
    project: Option<&'a str>,
    cwd: Option<&'a str>,
    path: &'a str,
    revision: i64,
}

#[derive(Serialize)]
struct ExportRow<'a, T> {
    schema: &'static str,
    id: String,
    #[serde(flatten)]
    head: RowHead<'a>,
    #[serde(flatten)]
    of: T,
}

#[derive(Serialize)]
struct SessionExport<'a> {
    title: Option<&'a str>,
    models: &'a [String],
    started: Option<&'a str>,
    ended: Option<&'a str>,
    state: &'static str,
    waiting_for: Option<&'static str>,
    running: usize,
    facts: &'a BTreeMap<&'static str, String>,
    #[serde(flatten)]
    figures: SessionSums<'a>,
}

#[derive(Serialize)]
struct SessionSums<'a> {
    records: &'a RecordFigures,
    entries: &'a EntryFigures,
    blocks: &'a BlockFigures,
    turns: usize,
    lanes: usize,
    branches: usize,
    compactions: u64,
    #[serde(with = "crate::report::figures::PairingFigures")]
    pairing: PairingCounts,
    usage: &'a UsageFigures,
    cost: &'a CostFigures,
    overhead: &'a OverheadFigures,
}

#[derive(Serialize)]
struct RequestJson<'a> {
    what: &'static str,
    key: Option<&'a str>,
    turn: Option<usize>,
    lane: Option<&'a str>,
    branch: Option<usize>,
    model: Option<&'a str>,
    started: Option<String>,
    ended: Option<String>,
    fate: &'static str,
    usage: UsageFigures<i64>,
    cost: CostFigures,
}

#[derive(Serialize)]
struct CallRow<'a> {
    call_id: Option<&'a str>,
    number: Option<usize>,
    key: &'a str,
    turn: Option<usize>,
    lane: Option<&'a str>,
    starts_lane: Option<&'a str>,
    line: Option<u32>,
    argument: String,
    took_is_bound: Option<bool>,
    bytes: Option<u64>,
    carried_usd: Option<f64>,
    carried_tokens: Option<u64>,
    found: Vec<&'static str>,
    #[serde(flatten)]
    call: CallLine<'a>,
}

#[derive(Serialize)]
struct EntryRow<'a> {
    key: &'a str,
    parent: Option<&'a str>,
    number: usize,
    turn: Option<usize>,
    lane: Option<&'a str>,
    at: Option<String>,
    ended: Option<String>,
    role: &'static str,
    from: Option<FromLine<'a>>,
    model: Option<&'a str>,
    text: String,
    thinking: String,
    blocks: BlockFigures,
    active: bool,
    branch: Option<usize>,
    file: String,
    line: Option<u32>,
    byte: u64,
    len: u32,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    key: Option<&'a str>,
    turn: Option<usize>,
    file: String,
    #[serde(flatten)]
    finding: FindingLine,
}

impl<'a> RowHead<'a> {
    fn of(exported: &'a Exported<'_>) -> Self {
        let Exported {
            reading,
            figures,
            options,
            now,
            ..
        } = exported;
        let meta = reading.transcript.meta();
        let SessionFigures { agent, cwd, .. } = &figures.session;
        Self {
            host: options.host.as_deref(),
            session: name(exported),
            format: figures.format,
            agent: agent.as_deref(),
            agent_version: meta.versions.last().map(Text::as_str),
            project: meta.project().map(Text::as_str),
            cwd: cwd.as_deref(),
            path: &figures.path,
            revision: now.0,
        }
    }

    /// Builds a row. `name` is unique among the session's rows of this kind.
    fn row<T>(self, schema: &'static str, name: &str, of: T) -> ExportRow<'a, T> {
        let Self {
            format, session, ..
        } = self;
        ExportRow {
            schema,
            id: format!("{format}:{session}{name}"),
            head: self,
            of,
        }
    }
}

fn sessions(exported: &Exported<'_>, _: Option<&mut Pager>, out: &mut dyn Write) -> io::Result<()> {
    let SessionReport {
        session,
        records,
        entries,
        blocks,
        turns,
        overhead,
        lanes,
        branches,
        compactions,
        pairing,
        usage,
        cost,
        ..
    } = &exported.figures;
    let row = SessionExport {
        title: session.title.as_deref(),
        models: &session.models,
        started: session.started.as_deref(),
        ended: session.ended.as_deref(),
        state: session.state,
        waiting_for: session.waiting_for,
        running: session.running,
        facts: &session.facts,
        figures: SessionSums {
            records,
            entries,
            blocks,
            turns: *turns,
            lanes: *lanes,
            branches: *branches,
            compactions: *compactions,
            pairing: *pairing,
            usage,
            cost,
            overhead,
        },
    };
    write_line(out, &RowHead::of(exported).row("tv.row.session/1", "", row))
}

fn turns(exported: &Exported<'_>, _: Option<&mut Pager>, out: &mut dyn Write) -> io::Result<()> {
    let head = RowHead::of(exported);
    exported.figures.turn_list.turns().try_for_each(|turn| {
        let TurnFigures { number, prompt, .. } = &turn;
        let name = match prompt {
            Some(key) => format!("/turn/{key}"),
            None => format!("/turn/{number}"),
        };
        write_line(out, &head.row("tv.row.turn/1", &name, turn))
    })
}

fn requests(exported: &Exported<'_>, _: Option<&mut Pager>, out: &mut dyn Write) -> io::Result<()> {
    let head = RowHead::of(exported);
    let Reading {
        transcript,
        account,
        ..
    } = exported.reading;
    let statement = Statement::compute(transcript, account);
    let mut runs = 0;
    let mut passing = transcript.cursor();
    for (number, charge) in statement.charges.iter().enumerate() {
        let entry = charge.entry.and_then(|id| passing.get(id));
        let own = entry.filter(|_| charge.is_own);
        let turn = match statement.group_of(number, Grouping::Turns) {
            Some(Group::Turn(prompt)) => turn_of(exported.reading, prompt),
            _ => None,
        };
        let name = match (own, &charge.beside) {
            (Some(entry), _) => format!("/request/{}", entry.key),
            (None, Some(key)) => format!("/beside/{key}"),
            (None, None) => {
                runs += 1;
                format!("/run/{runs}")
            }
        };
        let row = RequestJson {
            what: charge.what.word(),
            key: entry.map(|entry| entry.key.as_str()),
            turn,
            lane: charge.lane.as_deref(),
            branch: statement.branch_of(number),
            model: Some(charge.model.as_str()).filter(|model| !model.is_empty()),
            started: charge.at.map(Timestamp::to_rfc3339),
            ended: own.and_then(Entry::end).map(Timestamp::to_rfc3339),
            fate: match charge.fate {
                RequestOutcome::Fine => "fine",
                RequestOutcome::Failed => "failed",
                RequestOutcome::Aborted => "stopped",
            },
            usage: (&charge.amount).into(),
            cost: (&charge.amount.money.cost()).into(),
        };
        write_line(out, &head.row("tv.row.request/1", &name, row))?;
    }
    Ok(())
}

fn calls(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (reading, now) = (exported.reading, exported.now);
    let head = RowHead::of(exported);
    let transcript = &reading.transcript;
    let calls = Memo::<Calls>::of(transcript);
    let scene = CallScene {
        transcript,
        calls: &calls,
        carried: &carrying_costs(transcript),
        findings: &exported.findings,
        awaited: Awaited::of(transcript),
        is_at_work: reading.activity(now).is_ongoing(now),
        now,
    };
    let mut contents = Contents::of(pager);
    let mut passing = transcript.cursor();
    for place in calls.all() {
        let Some(entry) = passing.get(place.entry) else {
            continue;
        };
        if let Some(call) = entry.call(place.block) {
            let placed = PlacedCall {
                scene,
                place,
                entry,
                call,
            };
            write_call(placed, reading, head, &mut contents, out)?;
        }
    }
    Ok(())
}

fn write_call(
    placed: PlacedCall<'_>,
    reading: &Reading,
    head: RowHead<'_>,
    contents: &mut Contents<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (entry, place, scene) = (placed.entry, placed.place, placed.scene);
    let Some(block) = entry.blocks.get(place.block) else {
        return Ok(());
    };
    let id = (place.entry, entry);
    let awaited = Some(&scene.awaited);
    let life = Life::of(
        scene.transcript,
        id,
        placed.call,
        awaited,
        !scene.is_at_work,
    );
    let whole = contents.with_bodies(block);
    let Some(call) = whole.call() else {
        return Ok(());
    };
    let carriage = placed.carriage();
    let row = CallRow {
        call_id: Some(call.key.as_str()).filter(|id| !id.is_empty() && !is_textual(&call.key)),
        number: placed.number(),
        key: &entry.key,
        turn: turn_of(reading, place.entry),
        lane: entry.lane.as_deref(),
        starts_lane: call.lane.as_deref(),
        line: Some(placed.call.input.from.line).filter(|line| *line > 0),
        argument: placed.argument(),
        took_is_bound: placed.duration().map(|took| took.by == Clocked::Bound),
        bytes: placed.bytes(),
        carried_usd: carriage
            .filter(|one| !one.is_unpriced)
            .map(|one| usd(one.picos)),
        carried_tokens: carriage.map(|one| one.carried),
        found: placed.findings().map(|finding| finding.rule.id).collect(),
        call: entry::call_line(call, entry, life, None),
    };
    let name = format!("/call/{}/{}", entry.key, place.block);
    write_line(out, &head.row("tv.row.call/1", &name, row))
}

fn entries(
    exported: &Exported<'_>,
    pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let reading = exported.reading;
    let head = RowHead::of(exported);
    let transcript = &reading.transcript;
    let mut contents = Contents::of(pager);
    let mut passing = transcript.cursor();
    for (place, id) in transcript.order().iter().enumerate() {
        if let Some(entry) = passing.get(*id) {
            let row = entry_row((place, *id, entry), reading, &mut contents);
            let name = format!("/entry/{}", entry.key);
            write_line(out, &head.row("tv.row.entry/1", &name, row))?;
        }
    }
    Ok(())
}

fn entry_row<'a>(
    (place, id, entry): (usize, EntryId, &'a Entry),
    reading: &'a Reading,
    contents: &mut Contents<'_>,
) -> EntryRow<'a> {
    let mut blocks = BlockFigures::default();
    blocks.count(entry);
    let branches = reading.transcript.branches();
    let is_text: fn(&BlockKind) -> Option<&Body> = |kind| match kind {
        BlockKind::Text(body) => Some(body),
        _ => None,
    };
    let is_thinking: fn(&BlockKind) -> Option<&Body> = |kind| match kind {
        BlockKind::Thinking(body) => Some(body),
        _ => None,
    };
    EntryRow {
        key: &entry.key,
        parent: entry.parent.as_deref(),
        number: place + 1,
        turn: turn_of(reading, id),
        lane: entry.lane.as_deref(),
        at: entry.at.map(Timestamp::to_rfc3339),
        ended: entry.ended.map(Timestamp::to_rfc3339),
        role: entry.role.word(),
        from: entry.from.as_deref().map(Into::into),
        model: entry.model.as_deref(),
        text: joined(&entry.blocks, is_text, contents),
        thinking: joined(&entry.blocks, is_thinking, contents),
        blocks,
        active: !branches.abandoned.contains(&id),
        branch: branches.of(id).map(|branch| branch.number),
        file: shown(reading.file(entry.origin.file)).to_string(),
        line: Some(entry.origin.line).filter(|line| *line > 0),
        byte: entry.origin.at,
        len: entry.origin.len,
    }
}

/// Joins the texts of a kind, with an empty line between them.
fn joined(
    blocks: &[Block],
    of: fn(&BlockKind) -> Option<&Body>,
    contents: &mut Contents<'_>,
) -> String {
    let mut joined = String::new();
    for block in blocks.iter().filter(|block| of(&block.kind).is_some()) {
        let whole = contents.with_bodies(block);
        let Some(body) = of(&whole.kind) else {
            continue;
        };
        if !joined.is_empty() {
            joined.push_str("\n\n");
        }
        joined.push_str(&without_sgr(body.text_or_stub()));
    }
    joined
}

fn findings(
    exported: &Exported<'_>,
    mut pager: Option<&mut Pager>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut passing = exported.reading.transcript.cursor();
    for (number, finding) in at_least(&exported.findings, Severity::Note)
        .into_iter()
        .enumerate()
    {
        let line = finding_line(finding, exported.reading, pager.as_deref_mut());
        let reading = exported.reading;
        let entry = passing.get(finding.entry);
        let row = FindingRow {
            key: entry.map(|entry| entry.key.as_str()),
            turn: turn_of(reading, finding.entry),
            file: shown(reading.file(finding.place.file)).to_string(),
            finding: line,
        };
        let key = row.key.unwrap_or_default();
        let name = format!("/finding/{}/{key}/{}", finding.rule.id, number + 1);
        write_line(
            out,
            &RowHead::of(exported).row("tv.row.finding/1", &name, row),
        )?;
    }
    Ok(())
}

/// The number of the turn that an entry belongs to, from 1.
fn turn_of(reading: &Reading, id: EntryId) -> Option<usize> {
    let account: &Account = &reading.account;
    Some(account.turn_of(&reading.transcript, id)? + 1)
}
