//! Rows of the outline: their texts, and the items that they jump to.

use crate::analysis::account::{Account, Figures};
use crate::analysis::agents::has_failed_in_the_end;
use crate::analysis::calls::Place;
use crate::analysis::files::FileUses;
use crate::analysis::money::cost::{self, Cost};
use crate::analysis::phrases;
use crate::analysis::phrases::{headline, title_of};
use crate::app::checks::StatusSign;
use crate::app::checks::counts::block_of;
use crate::app::text::as_of::SessionAtCursor;
use crate::app::text::sequence::depth_of;
use crate::app::text::viewport::Focus;
use crate::model::branches::{Branch, Why};
use crate::model::entry::{BlockKind, Break, Entry, EntryId};
use crate::model::figures;
use crate::model::meta::LaneFacts;
use crate::model::path;
use crate::model::text::{Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;
use crate::model::totals::Totals;
use crate::model::transcript::Transcript;
use crate::model::turn::{Turn, TurnFacts};

/// Number of sections.
pub(crate) const PARTS: usize = 7;

/// A section; the order is from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionKind {
    /// Turns with their sub-agents and compactions.
    Turns,
    /// Background work that goes on.
    Running,
    Sessions,
    Branches,
    /// Problems of the session.
    Checks,
    /// Files that calls used.
    Files,
    Agents,
}

impl SectionKind {
    /// All sections in order.
    pub(crate) const ALL: [Self; PARTS] = [
        Self::Turns,
        Self::Running,
        Self::Sessions,
        Self::Branches,
        Self::Checks,
        Self::Files,
        Self::Agents,
    ];

    /// The heading, and the headings of the figures at the right.
    pub(crate) fn heading(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Turns => ("TURNS", &["$", "t"]),
            Self::Running => ("RUNNING", &["t"]),
            Self::Sessions => ("SESSIONS", &["$", "t"]),
            Self::Branches => ("BRANCHES", &["$", "left"]),
            Self::Checks => ("FAILURES", &[]),
            Self::Files => ("FILES", &["r", "e", "w"]),
            Self::Agents => ("SUB-AGENTS", &["$", "t"]),
        }
    }
}

/// The key of a row; it does not depend on the rows above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutlineKey {
    /// The turn with this index, from 0.
    Turn(usize),
    /// A sub-agent under its turn, by its index; and whether it is the last one there.
    Lane(usize, bool),
    /// A call with background work.
    Work(Place),
    Compaction(EntryId),
    /// The branch with this number, from 1.
    Branch(usize),
    /// The check with this index.
    Check(usize),
    /// The file with this path.
    File(Text),
    /// A sub-agent by its index, or a joined session.
    Agent(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlineRow {
    /// Indentation in columns.
    pub(crate) indent: usize,
    /// The number before the title.
    pub(crate) number: String,
    /// Index of the joined session of the row.
    pub session: Option<usize>,
    /// Whether the row is drawn as a branch of a tree, and whether it is the last one.
    pub(crate) tree: Option<bool>,
    pub(crate) sign: StatusSign,
    pub title: String,
    /// Whether the title is a path, which is truncated at its beginning.
    pub(crate) is_path: bool,
    /// Figures at the right.
    pub(crate) figures: Vec<String>,
    /// Duration of a turn so far, in ms.
    pub(crate) took: Option<u64>,
    /// Whether the row is secondary.
    pub(crate) is_dim: bool,
    /// Whether the focused item belongs to the row.
    pub is_current: bool,
}

pub(crate) fn of_turn(
    transcript: &Transcript,
    account: &Account,
    turn: usize,
) -> Option<OutlineRow> {
    let Turn {
        prompt, session, ..
    } = *transcript.turns().get(turn)?;
    let session = transcript.is_joined().then_some(session as usize);
    // The prompt first: its page is then unpacked for the entries of this turn and its neighbours.
    let title = title_of(transcript.get(prompt)?).to_string();
    let figures = account.turn(transcript, turn);
    let is_known = account.is_turn_complete(transcript, turn);
    Some(OutlineRow {
        number: format!(
            "{:>2}{}",
            turn + 1,
            session
                .map(|session| format!(" {}", sign_of(session)))
                .unwrap_or_default()
        ),
        session,
        sign: failures(&figures),
        title,
        figures: cost_and_duration(&figures, is_known),
        took: figures.duration_ms().filter(|_| is_known),
        is_dim: transcript.branches().abandoned.contains(&prompt),
        ..OutlineRow::default()
    })
}

/// The number of failures within a turn or sub-agent, which do not make it a failure itself.
fn failures(figures: &Figures) -> StatusSign {
    match figures.facts.errors {
        0 => StatusSign::None,
        errors => StatusSign::Failures(errors),
    }
}

/// The row of a sub-agent under its turn.
pub(crate) fn of_lane(
    transcript: &Transcript,
    account: &Account,
    lane: &LaneFacts,
    is_last: bool,
) -> OutlineRow {
    let figures = account.lane(&lane.name);
    let caller = transcript.caller(lane).and_then(|id| transcript.get(id));
    OutlineRow {
        indent: 3 + 2 * caller.map_or(0, |entry| usize::from(depth_of(transcript, entry))),
        tree: Some(is_last),
        sign: failures(&figures),
        title: lane.label.to_string(),
        figures: cost_and_duration(&figures, account.is_whole(transcript)),
        is_dim: true,
        ..OutlineRow::default()
    }
}

/// The prefix of a joined session, as in the names of its lanes.
fn sign_of(session: usize) -> String {
    format!("{}:", session + 1)
}

/// The row of a sub-agent in the list of all, or of a joined session.
pub(crate) fn of_agent(
    transcript: &Transcript,
    account: &Account,
    lane: &LaneFacts,
    session: Option<usize>,
) -> OutlineRow {
    let is_here = !lane.entries.is_empty();
    OutlineRow {
        number: session.map(sign_of).unwrap_or_default(),
        session,
        sign: if is_here {
            state_of(transcript, lane)
        } else {
            StatusSign::None
        },
        title: if is_here {
            lane.label.to_string()
        } else {
            format!("{} (not here)", lane.label)
        },
        figures: cost_and_duration(&account.lane(&lane.name), account.is_whole(transcript)),
        is_dim: !is_here,
        ..OutlineRow::default()
    }
}

/// Cost and duration, as soon as they are computed.
fn cost_and_duration(spent: &Figures, is_known: bool) -> Vec<String> {
    if !is_known {
        return vec![String::new(); 2];
    }
    let took = spent
        .duration_ms()
        .filter(|ms| *ms >= 1_000)
        .map(figures::duration)
        .unwrap_or_default();
    vec![cost_words(&spent.cost()), took]
}

/// The row of the running turn, plus the time since its last entry.
pub(crate) fn with_running_time(mut row: OutlineRow, ms: u64) -> OutlineRow {
    if let (Some(took), Some(words)) = (row.took, row.figures.last_mut()) {
        *words = figures::elapsed(took.saturating_add(ms));
    }
    row
}

/// The row of a turn or sub-agent with its figures up to the cursor; the rows of later ones are
/// dim.
pub(crate) fn as_of(
    row: OutlineRow,
    transcript: &Transcript,
    account: &Account,
    then: &SessionAtCursor,
    key: &OutlineKey,
) -> OutlineRow {
    let lane = |lane: &usize| {
        let lane = transcript.lanes().get(*lane)?;
        Some(account.lane_as_of(transcript, &then.position, &lane.name))
    };
    let figures = match (key, then.position.turn) {
        (OutlineKey::Turn(turn), Some(now)) if *turn == now => {
            then.turn.clone().unwrap_or_default()
        }
        // Turns of several sessions overlap in time.
        (OutlineKey::Turn(turn), Some(now)) if !transcript.is_joined() => {
            if *turn < now {
                return row;
            }
            Figures::default()
        }
        (OutlineKey::Turn(turn), _) => account.turn_as_of(transcript, &then.position, *turn),
        (OutlineKey::Lane(number, _) | OutlineKey::Agent(number), _) => {
            lane(number).unwrap_or_default()
        }
        _ => return row,
    };
    let is_to_come = figures.facts.started.is_none() && figures.facts.totals == Totals::default();
    OutlineRow {
        sign: if is_to_come {
            StatusSign::None
        } else {
            row.sign
        },
        figures: cost_and_duration(&figures, !is_to_come),
        is_dim: row.is_dim || is_to_come,
        ..row
    }
}

/// The row of a call with background work.
pub(crate) fn of_work(transcript: &Transcript, place: Place) -> Option<OutlineRow> {
    let call = place.call(transcript)?;
    let intent = call.intent().map(|intent| without_sgr(intent).into_owned());
    let about =
        intent.unwrap_or_else(|| call.about(transcript.root_of(place.entry).map(Text::as_str)));
    let title = format!("{} {}", call.shown_name(), about);
    Some(OutlineRow {
        sign: StatusSign::Open(place),
        title,
        ..OutlineRow::default()
    })
}

/// The row of background work with its clock.
pub(crate) fn with_clock(
    row: OutlineRow,
    transcript: &Transcript,
    place: Place,
    now: Timestamp,
) -> OutlineRow {
    let since = transcript.get(place.entry).and_then(|entry| {
        let call = entry.call(place.block)?;
        call.started.or(entry.at)
    });
    let clock = since
        .map(|since| figures::elapsed(now.since(since)))
        .unwrap_or_default();
    OutlineRow {
        figures: vec![clock],
        ..row
    }
}

/// The row of a compaction, with the tokens before and after.
pub(crate) fn of_compaction(
    transcript: &Transcript,
    id: EntryId,
    glyph: &str,
    arrow: &str,
) -> Option<OutlineRow> {
    let entry = transcript.get(id)?;
    let (before, after) = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Compaction {
            before,
            after,
            partial: false,
            ..
        }) => Some((before, after)),
        _ => None,
    })?;
    let sizes = match (before, after) {
        (Some(before), Some(after)) => {
            format!(
                " {}{arrow}{}",
                figures::tokens(*before),
                figures::tokens(*after)
            )
        }
        (Some(before), None) => format!(" from {}", figures::tokens(*before)),
        (None, Some(after)) => format!(" to {}", figures::tokens(*after)),
        (None, None) => String::new(),
    };
    let title = format!("{glyph} compacted{sizes}");
    Some(OutlineRow {
        indent: 3,
        title,
        is_dim: true,
        ..OutlineRow::default()
    })
}

/// The row of an abandoned branch.
pub(crate) fn of_branch(
    transcript: &Transcript,
    branch: &Branch,
    facts: Option<&TurnFacts>,
) -> OutlineRow {
    let mut entries = branch.entries.iter().filter_map(|id| transcript.get(*id));
    let fate = match branch.why {
        Why::Prompt => "redone",
        Why::ContinuedElsewhere => "left",
        Why::Undone => "undone",
    };
    let title = entries
        .find(|entry| entry.has_prose())
        .map(title_of)
        .unwrap_or_default();
    let left = transcript
        .abandoned_at(branch)
        .map(Timestamp::minute)
        .unwrap_or_default();
    OutlineRow {
        number: format!("{:>2} {fate}", branch.number),
        title: title.to_string(),
        figures: vec![
            facts
                .map(|facts| cost_words(&cost::of(&facts.totals)))
                .unwrap_or_default(),
            left,
        ],
        is_dim: true,
        ..OutlineRow::default()
    }
}

/// The row of a file, with its numbers of reads, edits and writes.
pub(crate) fn of_file(transcript: &Transcript, path: &str, file: &FileUses) -> OutlineRow {
    let first = file.uses.first().map(|used| used.place.entry);
    // Paths of joined sessions are those that each of them would have alone.
    let root = first.and_then(|entry| transcript.root_of(entry));
    let session = first.and_then(|entry| Some(transcript.session_of(entry)?.0));
    let figure = |n: usize| {
        if n == 0 {
            "-".to_owned()
        } else {
            n.to_string()
        }
    };
    OutlineRow {
        number: session.map(sign_of).unwrap_or_default(),
        session,
        sign: if file.flags > 0 {
            StatusSign::Warn
        } else {
            StatusSign::None
        },
        title: path::relative_to(path, root.map(Text::as_str)).to_owned(),
        is_path: true,
        figures: [file.reads, file.edits, file.writes].map(figure).to_vec(),
        is_dim: file.edits + file.writes == 0,
        ..OutlineRow::default()
    }
}

/// The first entry of a turn.
pub(crate) fn start_of_turn(transcript: &Transcript, turn: usize) -> Option<Focus> {
    let entry = transcript.turns().get(turn)?.prompt;
    let block = headline(transcript.get(entry)?);
    Some(Focus { entry, block })
}

/// The first entry of a sub-agent; without entries the call that started it.
pub(crate) fn start_of_lane(transcript: &Transcript, lane: &LaneFacts) -> Option<Focus> {
    let is_call = |block: &crate::model::entry::Block| matches!(&block.kind, BlockKind::Call(call) if Some(&call.key) == lane.call.as_ref());
    let first = lane
        .entries
        .iter()
        .copied()
        .find(|id| transcript.get(*id).is_some_and(|e| !e.marks.is_hidden()));
    if let Some(entry) = first {
        return Some(Focus { entry, block: 0 });
    }
    let entry = transcript.caller(lane)?;
    Some(Focus {
        entry,
        block: block_of(transcript.get(entry)?, is_call),
    })
}

/// The status of a sub-agent, by the call that started it.
fn state_of(transcript: &Transcript, lane: &LaneFacts) -> StatusSign {
    let Some(caller) = transcript.caller(lane) else {
        return StatusSign::None;
    };
    let mut calls = transcript
        .get(caller)
        .into_iter()
        .flat_map(Entry::numbered_calls);
    let Some((block, call)) = calls.rfind(|(_, call)| Some(&call.key) == lane.call.as_ref()) else {
        return StatusSign::None;
    };
    match &call.state {
        state if state.is_unrecorded() => StatusSign::None,
        ToolState::Done(_) if has_failed_in_the_end(transcript, lane) => StatusSign::Bad,
        ToolState::Done(_) => StatusSign::Good,
        ToolState::Failed(_) => StatusSign::Bad,
        ToolState::Refused(_) | ToolState::Stopped(_) => StatusSign::Refused,
        ToolState::Pending
        | ToolState::Running
        | ToolState::Streaming(_)
        | ToolState::Acknowledged(_)
        | ToolState::Lost => StatusSign::Open(Place {
            entry: caller,
            block,
        }),
    }
}

/// A cost without its dollar sign, which is in the heading: `.21`, `~12.05`, `<.01`.
fn cost_words(cost: &Cost) -> String {
    let Some(usd) = cost.usd else {
        return String::new();
    };
    let is_estimate = phrases::cost(cost).is_some_and(|words| words.starts_with('~'));
    let amount = match usd {
        usd if usd > 0.0 && usd < 0.005 => "<.01".to_owned(),
        usd => format!("{usd:.2}"),
    };
    let more = if cost.unpriced_models.is_empty() {
        ""
    } else {
        "+"
    };
    format!(
        "{}{}{more}",
        if is_estimate { "~" } else { "" },
        amount.strip_prefix('0').unwrap_or(&amount)
    )
}
