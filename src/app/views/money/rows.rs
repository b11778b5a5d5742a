//! Rows of the sums in words: what they are the sum of, and their figures.

use ratatui::style::Style;
use ratatui::text::Span;

use super::Money;
use super::foot::named;
use crate::analysis::money::cost::Cost;
use crate::analysis::money::cost::usd;
use crate::analysis::money::spending::amount::{Amount, Tokens};
use crate::analysis::money::spending::statement::{Group, Statement, StatementRow};
use crate::analysis::money::spending::{Charge, Fate, For};
use crate::analysis::phrases;
use crate::analysis::phrases::title_of;
use crate::app::views::page::PageScene;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

impl Money {
    /// The cells of a row.
    pub(super) fn cells(
        &self,
        row: &StatementRow,
        scene: &PageScene<'_>,
        is_chosen: bool,
    ) -> Vec<Span<'static>> {
        let (theme, statement) = (scene.theme, &scene.indexes.spending);
        let amount = &row.amount;
        let (sign, style) = self.sign(row, scene);
        let is_left = is_left(row, scene.transcript)
            || matches!(row.group, Group::Charge(number) if statement.branch_of(number).is_some());
        let words = match (is_chosen, is_left) {
            (true, _) => theme.focus,
            (false, true) => theme.dim,
            (false, false) => theme.text,
        };
        let plain = if is_left { theme.dim } else { theme.text };
        let tokens = |tokens: Tokens| tokens_words(tokens.known());
        let when = if self.is_dated {
            Timestamp::day_and_minute
        } else {
            Timestamp::clock
        };
        let at = row.at.map(when).unwrap_or_default();
        let requests = if amount.requests > 0 {
            amount.requests.to_string()
        } else {
            String::new()
        };
        let hit = amount
            .hit_percent()
            .map(|percent| format!("{percent}%"))
            .unwrap_or_default();
        let is_dear = amount.money.picos() >= self.dear;
        let total = statement.total.money.picos();
        vec![
            Span::styled(sign, style),
            Span::styled(at, theme.dim),
            Span::styled(what(&row.group, statement, scene.transcript), words),
            Span::styled(requests, theme.dim),
            Span::styled(tokens(amount.input), plain),
            Span::styled(tokens(amount.cache_read), plain),
            Span::styled(tokens(amount.cache_write), plain),
            Span::styled(tokens(amount.output), plain),
            Span::styled(hit, theme.dim),
            Span::styled(row_words(row), if is_dear { theme.warn } else { plain }),
            Span::styled(percent_of(amount.money.picos(), total), theme.dim),
            Span::styled(so_far(row, statement), theme.dim),
        ]
    }

    /// What became of it, or that it was expensive.
    fn sign(&self, row: &StatementRow, scene: &PageScene<'_>) -> (&'static str, Style) {
        let (theme, glyphs) = (scene.theme, scene.theme.glyphs());
        let charge = match row.group {
            Group::Charge(number) => scene.indexes.spending.charges.get(number),
            _ => None,
        };
        match charge.map(|charge| charge.fate) {
            Some(Fate::Failed) => (glyphs.outcome.failed, theme.bad),
            Some(Fate::Aborted) => (glyphs.outcome.refused, theme.warn),
            _ if row.amount.money.picos() >= self.dear => ("$", theme.warn),
            _ => ("", theme.dim),
        }
    }
}

/// What agents count for whole runs.
const BEYOND: &str = "the whole run, beyond its requests";

/// Rows that cost twice the average, and the one that costs most, stand out; of two rows none does.
pub(crate) fn dear(rows: &[StatementRow]) -> i128 {
    let costs: Vec<i128> = rows
        .iter()
        .map(|row| row.amount.money.picos())
        .filter(|picos| *picos > 0)
        .collect();
    let Some(most) = costs.iter().max().filter(|_| costs.len() > 2) else {
        return i128::MAX;
    };
    let mean = costs.iter().sum::<i128>() / i128::try_from(costs.len()).unwrap_or(1);
    (mean * 2).min(*most)
}

/// What rows are sorted by.
pub(crate) fn figure(amount: &Amount, column: usize) -> i128 {
    match column {
        3 => amount.requests.into(),
        4 => amount.input.total.into(),
        5 => amount.cache_read.total.into(),
        6 => amount.cache_write.total.into(),
        7 => amount.output.total.into(),
        8 => amount.hit_percent().map_or(-1, i128::from),
        _ => amount.money.picos(),
    }
}

/// Tokens; nothing if none are recorded.
pub(crate) fn tokens_words(tokens: Option<i64>) -> String {
    let Some(tokens) = tokens else {
        return String::new();
    };
    let words = figures::tokens(tokens.unsigned_abs());
    if tokens < 0 {
        format!("-{words}")
    } else {
        words
    }
}

/// `$1.84`, `~$0.02`, `$?`; nothing if nothing was spent.
pub(crate) fn amount_words(amount: &Amount) -> String {
    cost_words(&amount.money.cost(), amount)
}

/// The same of a row.
pub(crate) fn row_words(row: &StatementRow) -> String {
    cost_words(&row.cost(), &row.amount)
}

fn cost_words(cost: &Cost, amount: &Amount) -> String {
    match phrases::cost(cost) {
        Some(words) => words,
        None if amount.money.unpriced > 0 => "$?".to_owned(),
        None => String::new(),
    }
}

/// A share; nothing where it says nothing.
pub(crate) fn percent_of(picos: i128, all: i128) -> String {
    if all <= 0 || picos <= 0 {
        return String::new();
    }
    match picos.saturating_mul(1_000) / all {
        0 => "<.1%".to_owned(),
        tenths @ 1..100 => format!("{}.{}%", tenths / 10, tenths % 10),
        tenths => format!("{}%", tenths / 10),
    }
}

/// The number of a turn, from 1.
pub(crate) fn turn_number(prompt: EntryId, transcript: &Transcript) -> usize {
    transcript
        .place_of(prompt)
        .and_then(|place| transcript.turn_at(place))
        .map_or(0, |turn| turn + 1)
}

/// The first line of a prompt.
pub(crate) fn prompt_words(prompt: EntryId, transcript: &Transcript) -> String {
    transcript
        .get(prompt)
        .map(|entry| title_of(entry).to_string())
        .unwrap_or_default()
}

/// Whether it is a turn on a branch that the session left.
pub(crate) fn is_left(row: &StatementRow, transcript: &Transcript) -> bool {
    matches!(row.group, Group::Turn(prompt) if transcript.branches().abandoned.contains(&prompt))
}

/// What a row is the sum of.
pub(crate) fn what(group: &Group, statement: &Statement, transcript: &Transcript) -> String {
    match group {
        Group::Model(name) => named(name),
        Group::Lane(None) => "main".to_owned(),
        Group::Lane(Some(name)) => transcript
            .lane(name)
            .map_or_else(|| name.to_string(), |lane| lane.label.to_string()),
        Group::Turn(prompt) => {
            format!(
                "{:>2} {}",
                turn_number(*prompt, transcript),
                prompt_words(*prompt, transcript)
            )
        }
        Group::Outside => "outside the turns".to_owned(),
        Group::Run => BEYOND.to_owned(),
        Group::Charge(number) => statement
            .charges
            .get(*number)
            .map(|charge| request(charge, transcript))
            .unwrap_or_default(),
    }
}

/// What a request was for: its first call, else what it says.
fn request(charge: &Charge, transcript: &Transcript) -> String {
    let entry = charge
        .entry
        .filter(|_| charge.is_own)
        .and_then(|id| transcript.get(id));
    let lane = charge.lane.as_ref().and_then(|name| transcript.lane(name));
    let mut words = lane
        .map(|lane| format!("{}: ", lane.label))
        .unwrap_or_default();
    // The usual one goes without saying.
    if !charge.model.is_empty() && transcript.meta().model.as_ref() != Some(&charge.model) {
        words.push_str(&format!("{} ", charge.model));
    }
    if charge.what == For::Run {
        words.push_str(BEYOND);
        return words;
    }
    let Some(entry) = entry else {
        words.push_str("besides the requests");
        return words;
    };
    let root = transcript.meta().root.as_deref();
    let call = entry
        .calls()
        .next()
        .map(|call| format!("{} {}", call.name, call.about(root)));
    let more = entry.calls().count().saturating_sub(1);
    let text = || match entry.blocks.first().map(|block| &block.kind) {
        _ if entry
            .blocks
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Text(_))) =>
        {
            title_of(entry).to_string()
        }
        Some(BlockKind::Break(what)) => what.words().to_string(),
        Some(BlockKind::Thinking(_)) => "(thinking)".to_owned(),
        _ => "(nothing)".to_owned(),
    };
    words.push_str(&call.unwrap_or_else(text));
    if more > 0 {
        words.push_str(&format!(" +{more}"));
    }
    words
}

/// What all was spent up to a row; nothing while no price is known.
pub(crate) fn so_far(row: &StatementRow, statement: &Statement) -> String {
    let is_known = statement.total.money.usd().is_some();
    if is_known {
        phrases::usd(usd(row.cumulative))
    } else {
        String::new()
    }
}
