//! Short texts for facts, shared by the viewer and the reports.

use itertools::Itertools as _;

use super::account::{Account, Figures};
use super::activity::Activity;
use super::calls::lifecycle::{EndReport, EndRole, late_ms};
use super::money::cost::{self, Cost};
use crate::model::branches::{Branch, Why};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures::{age, count, duration, elapsed, tokens};
use crate::model::meta::LaneFacts;
use crate::model::text::{Name, Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::Verdict;
use crate::model::tool::work::EndLine;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;
use crate::model::usage::Usage;

/// `12 sessions`; with further sessions that are not listed, `12 of 30 sessions`.
pub(crate) fn sessions(listed: u64, more: usize) -> String {
    match more {
        0 => count(listed, "session"),
        more => format!("{listed} of {} sessions", listed + more as u64),
    }
}

/// `1 needs you`, `3 need you`.
pub(crate) fn needing(count: u64, whom: &str) -> String {
    format!(
        "{count} {} {whom}",
        if count == 1 { "needs" } else { "need" }
    )
}

/// Formats USD: `$1.84`, `$0.031`, `$0.0004`.
pub fn usd(amount: f64) -> String {
    let sign = if amount < 0.0 { "-" } else { "" };
    // Rounds half up despite the error of floating-point sums.
    let amount = amount.abs();
    match if amount > 0.0 { amount + 1e-12 } else { amount } {
        0.0 => "$0".to_owned(),
        size if size < 0.000_05 => format!("{sign}<$.0001"),
        size if size >= 0.1 => format!("{sign}${size:.2}"),
        size if size >= 0.001 => format!("{sign}${size:.3}"),
        size => format!("{sign}${size:.4}"),
    }
}

/// A cost with marks of its source: `$1.84` is recorded, `~$1.84` estimated, `$1.84+` partial.
/// `None` if nothing is recorded or has a price.
pub fn cost(cost: &Cost) -> Option<String> {
    let amount = usd(cost.usd?);
    let mark = if cost.is_estimated { "~" } else { "" };
    let more = if cost.is_lower_bound() { "+" } else { "" };
    Some(format!("{mark}{amount}{more}"))
}

/// The first of several read errors, and their number.
pub(crate) fn unread(why: &[Text]) -> Option<String> {
    let first = why.first()?;
    Some(if let [_] = why {
        first.to_string()
    } else {
        format!("1 of {}: {first}", why.len())
    })
}

/// An activity with its sign and duration: `● Bash 42s`, `◔ waiting 3m10s`, `○ idle 2h`; with
/// sub-agents that are still working: `◔ waiting 3m10s, 2 sub-agents at work`. Empty if the
/// activity is unknown.
pub(crate) fn activity(activity: &Activity, now: Timestamp, ascii: bool) -> String {
    format!(
        "{}{}",
        doing(activity, "", now, ascii),
        agents_at_work(activity.agents())
    )
}

/// The activity with the number of background calls: `◔ waiting for you 3m10s · 2 running`.
pub(crate) fn activity_with_running(
    activity: &Activity,
    running: usize,
    now: Timestamp,
    ascii: bool,
    is_roomy: bool,
) -> String {
    // The agent waits for the user rather than for its background work.
    let for_whom = match activity {
        Activity::Waiting { .. } if is_roomy => " for you",
        _ => "",
    };
    joined(
        [
            Some(doing(activity, for_whom, now, ascii)),
            Some(format!("{running} running")),
        ],
        ascii,
    )
}

/// The activity with background calls in short, on the wall: `◔ waiting ▶2 3m10s`.
pub(crate) fn activity_in_short(
    activity: &Activity,
    running: usize,
    now: Timestamp,
    ascii: bool,
) -> String {
    if running == 0 {
        return self::activity(activity, now, ascii);
    }
    let beside = format!(" {}{running}", if ascii { ">" } else { "▶" });
    doing(activity, &beside, now, ascii)
}

fn doing(activity: &Activity, beside: &str, now: Timestamp, ascii: bool) -> String {
    let (running, waiting, ended, broken) = if ascii {
        ("*", "?", "o", "x")
    } else {
        ("●", "◔", "○", "✗")
    };
    let (sign, words) = match activity {
        Activity::Tool { name, .. } => (running, name.as_str()),
        Activity::Model { .. } => (running, "model"),
        Activity::Retry { .. } => (running, "retry"),
        Activity::Waiting { .. } => (waiting, "waiting"),
        Activity::Idle { .. } => (ended, "idle"),
        Activity::Ended => (ended, "ended"),
        Activity::Unclean => (broken, "unclean end"),
        Activity::Unknown => return String::new(),
    };
    // Nobody counts the seconds of what is at rest.
    let long = match activity {
        Activity::Idle { .. } => age,
        _ => elapsed,
    };
    let time = activity
        .since()
        .map(|since| format!(" {}", long(now.since(since))))
        .unwrap_or_default();
    format!("{sign} {words}{beside}{time}")
}

/// A suffix for sub-agents that are still working: `, 2 sub-agents at work`.
pub(crate) fn agents_at_work(agents: usize) -> String {
    if agents == 0 {
        String::new()
    } else {
        format!(", {} at work", count(agents as u64, "sub-agent"))
    }
}

/// The name of a model without provider and date.
pub(crate) fn model(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    let is_date = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit());
    name.split('-')
        .filter(|part| !is_date(part))
        .join("-")
        .chars()
        .take(24)
        .collect()
}

/// Facts of a turn: `6 calls 1✗ · 1m52s · $0.21`. For an open turn, `goes_on_ms` is the time in ms
/// since its last timestamp, and the duration is shown as a clock: `6 calls · 1:52`. Empty without
/// facts.
pub(crate) fn turn(figures: &Figures, goes_on_ms: u64, ascii: bool) -> String {
    let facts = &figures.facts;
    let calls = (facts.calls > 0).then(|| count(u64::from(facts.calls), "call"));
    let mark = if ascii { 'x' } else { '✗' };
    let failed = (facts.failed > 0).then(|| format!("{}{mark}", facts.failed));
    // Other errors are shown only without calls, for lack of room; the outline has a sign for them.
    let errors = if facts.calls == 0 { facts.errors } else { 0 };
    let work: Vec<String> = calls.into_iter().chain(failed).collect();
    let parts = [
        (!work.is_empty()).then(|| work.join(" ")),
        (errors > 0).then(|| count(u64::from(errors), "error")),
        figures
            .duration_ms()
            .filter(|ms| *ms > 0)
            .map(|ms| match goes_on_ms {
                0 => duration(ms),
                more => elapsed(ms.saturating_add(more)),
            }),
        cost(&figures.cost()),
    ];
    joined(parts, ascii)
}

/// A prefix for a number that is a lower bound.
pub(crate) fn at_least(is_partial: bool, ascii: bool) -> &'static str {
    match (is_partial, ascii) {
        (true, false) => "≥",
        (true, true) => ">=",
        (false, _) => "",
    }
}

/// Tokens and cost of an answer: `↑118k (97% cached) ↓402  $0.031`. Empty without usage.
pub(crate) fn tokens_and_cost(usage: &Usage, model: Option<&Name>, ascii: bool) -> String {
    if usage.is_zero() {
        return String::new();
    }
    let (up, down) = if ascii { ("^", "v") } else { ("↑", "↓") };
    let prompt = usage.prompt();
    let percent = usage.cache_read.unwrap_or(0).saturating_mul(100) / prompt.max(1);
    let cached = if percent > 0 {
        format!(" ({percent}% cached)")
    } else {
        String::new()
    };
    let least = at_least(usage.is_partial, ascii);
    let output = usage
        .output
        .map(|n| format!(" {down}{least}{}", tokens(n)))
        .unwrap_or_default();
    let price = cost(&cost::of_request(usage, model))
        .map(|price| format!("  {price}"))
        .unwrap_or_default();
    let prompt = if usage.has_prompt() {
        format!("{up}{}{cached}", tokens(prompt))
    } else {
        String::new()
    };
    format!("{prompt}{output}{price}").trim_start().to_owned()
}

/// Work and cost of a sub-agent: `14 calls · $0.09`.
pub(crate) fn lane(
    lane: &LaneFacts,
    transcript: &Transcript,
    account: &Account,
    ascii: bool,
) -> String {
    let figures = account.lane(&lane.name);
    let work = match figures.facts.calls {
        0 if lane.entries.is_empty() => "not here".to_owned(),
        0 => messages(&mut lane.entries.iter(), transcript),
        calls => count(u64::from(calls), "call"),
    };
    joined([Some(work), cost(&figures.cost())], ascii)
}

/// The number of messages among entries.
fn messages(ids: &mut dyn Iterator<Item = &EntryId>, transcript: &Transcript) -> String {
    match ids
        .filter_map(|id| transcript.get(*id))
        .filter(|entry| entry.is_message())
        .count()
    {
        1 => "1 entry".to_owned(),
        number => format!("{number} entries"),
    }
}

/// The last actions of a sub-agent, at most `most`, the newest last.
pub(crate) fn last_signs(lane: &LaneFacts, transcript: &Transcript, most: usize) -> Vec<String> {
    let flags = lane
        .entries
        .iter()
        .rev()
        .filter_map(|id| last_sign(transcript, transcript.get(*id)?));
    let mut flags: Vec<String> = flags.take(most).collect();
    flags.reverse();
    flags
}

pub(crate) fn abandoned_reason(why: Why) -> &'static str {
    match why {
        Why::Prompt => "another prompt took its place",
        Why::ContinuedElsewhere => "the session went on elsewhere",
        Why::Undone => "undone by the agent",
    }
}

/// The abandoned part of a branch: `branch 2: 14 entries, 3 turns, $0.31, left at 10:41`.
pub(crate) fn branch(branch: &Branch, transcript: &Transcript) -> String {
    let abandoned = &transcript.branches().abandoned;
    let ids = || branch.entries.iter().filter(|id| abandoned.contains(*id));
    let entries = || ids().filter_map(|id| transcript.get(*id));
    let turns = entries().filter(|entry| entry.marks.prompt).count() as u64;
    let at = transcript
        .abandoned_at(branch)
        .map(|at| format!(" at {}", at.minute()))
        .unwrap_or_default();
    let parts = [
        Some(messages(&mut ids(), transcript)),
        (turns > 0).then(|| count(turns, "turn")),
        cost(&cost::of(&TurnFacts::of(entries()).totals)),
        Some(match branch.why {
            Why::Prompt => format!("prompted anew{at}"),
            Why::ContinuedElsewhere => format!("left{at}"),
            Why::Undone => "undone".to_owned(),
        }),
        branch
            .parent
            .map(|parent| format!("within branch {parent}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("branch {}: {}", branch.number, parts.join(", "))
}

/// The row for the end of background work; `is_by_intent`: uses the call's description of its
/// purpose, if it has one.
pub(crate) fn end(report: &EndReport<'_>, root: Option<&str>, is_by_intent: bool) -> EndLine {
    let call = report.call;
    let about = call.intent().filter(|_| is_by_intent);
    let about = about.map_or_else(
        || call.about(root),
        |intent| without_sgr(intent).into_owned(),
    );
    let (delay_ms, how) = match report.part {
        EndRole::First(ms) => (ms.filter(|ms| *ms >= 1_000), None),
        EndRole::Again => (None, Some("told again")),
        EndRole::Queued => (None, Some("in the queue")),
        EndRole::Noted => (None, Some("noted by the program")),
        EndRole::Missed => (None, Some("never told to the model")),
    };
    let late = delay_ms.map(|ms| format!("told {} later", duration(ms)));
    let facts = [
        report.ran.map(|ms| format!("ran {}", duration(ms))),
        late,
        how.map(str::to_owned),
    ];
    EndLine {
        tool: call.shown_name(),
        // Raw arguments say little without the row of their call.
        about: about
            .lines()
            .next()
            .map(str::trim)
            .filter(|about| !about.starts_with('{'))
            .unwrap_or_default()
            .to_owned(),
        verb: if report.end.verdict == Verdict::Stopped {
            "was stopped"
        } else {
            "ended"
        },
        verdict: report.end.verdict,
        exit: report
            .end
            .exit
            .filter(|code| *code != 0)
            .map(|code| format!("exit {code}")),
        facts: facts.into_iter().flatten().collect(),
        is_missed: report.part == EndRole::Missed || delay_ms.is_some_and(|ms| ms > late_ms()),
    }
}

fn last_sign(transcript: &Transcript, entry: &Entry) -> Option<String> {
    let root = transcript.meta().root.as_deref();
    let call = entry
        .calls()
        .last()
        .map(|call| format!("{} {}", call.shown_name(), call.about(root)));
    call.or_else(|| {
        entry
            .blocks
            .iter()
            .rev()
            .find_map(|block| match &block.kind {
                BlockKind::Text(body) if !body.stub.is_blank() => Some(unmarked(&body.stub)),
                _ => None,
            })
    })
}

/// The beginning of a message without Markdown for bold text and headings, which is noise among
/// figures.
fn unmarked(stub: &str) -> String {
    let text = stub.trim_start_matches('#');
    let text = if text.starts_with(' ') {
        text.trim_start()
    } else {
        stub
    };
    text.replace("**", "")
}

/// Least length of a first sentence in bytes; a shorter one, such as "Done.", has the next one with
/// it.
const SENTENCE: usize = 24;

/// The first sentence of a message on one line, without Markdown; a heading if there is no text.
pub(crate) fn first_sentence(text: &str) -> String {
    let (mut words, mut heading) = (String::new(), String::new());
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        let bare = without_list_marks(line);
        // Rules, and lines of tables.
        let says_nothing = !bare.contains(char::is_alphanumeric) || bare.starts_with('|');
        let is_item = bare.len() < line.len();
        if !words.is_empty() && (is_code || says_nothing || is_item) {
            break;
        }
        if is_code || says_nothing {
            continue;
        }
        let plain = bare.replace("**", "").replace('`', "");
        if line.starts_with('#') || bare.starts_with("**") && bare.ends_with("**") {
            heading = plain;
            continue;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&plain);
        if let Some(end) = end_of_sentence(&words) {
            words.truncate(end);
            break;
        }
    }
    if words.is_empty() { heading } else { words }
}

/// A line without the marks of headings, quotes and list items in front of it.
fn without_list_marks(line: &str) -> &str {
    let mut line = line;
    loop {
        let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let after_number = number.strip_prefix(['.', ')']).filter(|_| number != line);
        let heading = line.trim_start_matches('#');
        let after_heading = Some(heading).filter(|heading| *heading != line);
        let marks = ["-", "*", "+", ">", "[ ]", "[x]", "[X]"];
        let after_mark = marks.iter().find_map(|mark| line.strip_prefix(mark));
        let rest = after_number.or(after_heading).or(after_mark);
        match rest.filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// Where the first sentence that is long enough ends: behind its mark, before a blank and a letter
/// that is not lower case.
fn end_of_sentence(words: &str) -> Option<usize> {
    let mut marks = words.match_indices(['.', '!', '?', '。', '！', '？']);
    marks.find_map(|(at, mark)| {
        let end = at + mark.len();
        let rest = words.get(end..)?;
        let is_wide = mark.len() > 1;
        let begins_anew = rest.starts_with(' ')
            && rest
                .trim_start()
                .chars()
                .next()
                .is_some_and(|next| !next.is_lowercase());
        (end >= SENTENCE && (is_wide || begins_anew)).then_some(end)
    })
}

/// Joins facts on one line: `14 calls · $0.09`.
pub(crate) fn joined(parts: impl IntoIterator<Item = Option<String>>, ascii: bool) -> String {
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(if ascii { " - " } else { " · " })
}

/// The title of an entry: the beginning of its text.
pub(crate) fn title_of(entry: &Entry) -> Text {
    let text = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) if !body.stub.is_blank() => Some(body.stub.clone()),
        _ => None,
    });
    text.unwrap_or_else(|| Text::from("(no text)"))
}

/// Whether a block represents its entry: the first text, or the first block.
pub(crate) fn is_headline(entry: &Entry, place: usize) -> bool {
    headline(entry) == place
}

/// The index of the block that represents an entry: the first text, or the first block.
pub(crate) fn headline(entry: &Entry) -> usize {
    let text = entry
        .blocks
        .iter()
        .position(|block| matches!(block.kind, BlockKind::Text(_)));
    text.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Figures, branch, first_sentence, tokens_and_cost, turn, unmarked, usd};
    use crate::model::body::Key;
    use crate::model::edit::Batch;
    use crate::model::entry::{BlockKind, Role};
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::model::transcript::Transcript;
    use crate::model::usage::Usage;

    #[test]
    fn money_stays_short() {
        let shown: Vec<String> = [0.0, 1.839, 0.0312, 0.0004, 0.000_01, -0.0312]
            .map(usd)
            .into();
        let expected = ["$0", "$1.84", "$0.031", "$0.0004", "<$.0001", "-$0.031"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_first_sentence_is_said_without_marks() {
        for (said, shown) in [
            (
                "All done. The epic is **complete**. Here is more.",
                "All done. The epic is complete.",
            ),
            ("- [x] User picked c\n- [ ] d", "User picked c"),
            ("27. **Key** points\n\nNothing else", "Key points"),
            (
                "| a | b |\n|---|---|\n\n## Result\nIt holds, e.g.\nhere",
                "It holds, e.g. here",
            ),
            ("**Summary**\n\n| a |\n", "Summary"),
            (
                "```sh\nls\n```\nRun `ls` in tv 1.2 now.",
                "Run ls in tv 1.2 now.",
            ),
            ("---\n27.\n", ""),
        ] {
            assert_eq!(first_sentence(said), shown, "{said}");
        }
    }

    #[test]
    fn what_a_sub_agent_said_has_no_marks() {
        for (said, shown) in [
            ("**Summary**: there are **four**", "Summary: there are four"),
            ("## Report", "Report"),
            ("#12 is mended in a*b", "#12 is mended in a*b"),
        ] {
            assert_eq!(unmarked(said), shown);
        }
    }

    /// Two processes append to one file: each continues from its own last entry.
    #[test]
    fn what_a_branch_says_is_of_what_is_left_of_it() {
        let mut transcript = Transcript::new();
        let mut add = |key: &str, parent: &str, cost: f64| {
            let mut batch = Batch::default();
            let role = if key.starts_with('p') {
                Role::User
            } else {
                Role::Assistant
            };
            let mut entry = batch.new_entry(Key::from(key), role, None);
            entry.parent = Some(Key::from(parent));
            entry.marks.prompt = role == Role::User;
            entry.usage = Some(Box::new(Usage {
                input: Some(10),
                cost: Some(cost),
                ..Usage::default()
            }));
            let text = batch.prose(key);
            entry.push(BlockKind::Text(text));
            batch.entry(entry);
            transcript.apply(batch);
            transcript.update_derived();
            let branches = &transcript.branches().list;
            branches
                .iter()
                .map(|one| branch(one, &transcript))
                .collect::<Vec<_>>()
        };
        for (key, parent) in [
            ("a", "root"),
            ("p1", "a"),
            ("a1", "p1"),
            ("p2", "a"),
            ("a2", "p2"),
        ] {
            add(key, parent, 0.25);
        }
        add("p3", "a1", 0.25);
        let all_left = add("p4", "a", 0.25);
        assert_eq!(
            all_left[1],
            "branch 2: 3 entries, 2 turns, $0.75, prompted anew"
        );
        let gone_back = add("a3", "p3", 0.25);
        assert_eq!(
            gone_back[1], "branch 2: 2 entries, 1 turn, $0.50, prompted anew",
            "p3 is active again"
        );
    }

    #[test]
    fn a_turn_says_what_happened() {
        let mut figures = Figures::default();
        figures.facts.calls = 6;
        (figures.facts.failed, figures.facts.errors) = (1, 2);
        figures.facts.started = Some(Timestamp(0));
        figures.facts.ended = Some(Timestamp(112_000));
        figures.facts.totals.add(
            &Usage {
                input: Some(1),
                cost: Some(0.21),
                ..Usage::default()
            },
            None,
        );
        assert_eq!(turn(&figures, 0, false), "6 calls 1✗ · 1m52s · $0.21");
        assert_eq!(turn(&figures, 0, true), "6 calls 1x - 1m52s - $0.21");
        assert_eq!(turn(&Figures::default(), 0, false), "");
    }

    #[test]
    fn an_answer_says_what_it_took() {
        let usage = Usage {
            input: Some(3_400),
            cache_read: Some(115_000),
            output: Some(402),
            ..Usage::default()
        };
        let model = Text::clean("claude-opus-4-6");
        assert_eq!(
            tokens_and_cost(&usage, Some(&model), false),
            "↑118k (97% cached) ↓402  ~$0.085"
        );
        assert_eq!(
            tokens_and_cost(&usage, None, true),
            "^118k (97% cached) v402"
        );
        assert_eq!(tokens_and_cost(&Usage::default(), None, false), "");
        let of_answer = Usage {
            output: Some(402),
            ..Usage::default()
        };
        assert_eq!(
            tokens_and_cost(&of_answer, Some(&model), false),
            "↓402  ~$0.010+",
            "nobody says what it was asked"
        );
    }
}
