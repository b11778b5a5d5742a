//! The raw tab: the records of an item as they are in the file, with marks at the values that the
//! transcript shows.

use std::collections::HashSet;

use ratatui::text::Span;

use super::inspected::InspectedItem;
use super::locate::EntryTexts;
use super::page::PageBuilder;
use crate::model::body::Tree;
use crate::model::entry::Entry;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::render::tree;

/// Records that were read for the raw tab.
#[derive(Clone, Debug)]
pub struct InspectedRecords {
    pub origins: Vec<Origin>,
    /// The title and value of each record.
    pub trees: Vec<(String, Tree)>,
}

/// Lays out the records, or a note that they are being read.
pub fn lay_out(
    subject: &InspectedItem<'_>,
    records: Option<&InspectedRecords>,
    page: &mut PageBuilder<'_>,
) {
    let theme = page.look.theme;
    let wanted = crate::app::copying::clipboard::origins_of(subject.session, &[subject.focus]);
    let Some(records) = records.filter(|records| records.origins == wanted) else {
        return page.paragraph("being read from the file", theme.dim);
    };
    let taken = UsedValues::of(subject);
    let mut texts = EntryTexts::of(subject.entry, subject.focus);
    let [mark, other] = if theme.ascii {
        ["*", "."]
    } else {
        ["•", "·"]
    };
    page.text(&[
        Span::styled(mark, theme.accent),
        Span::styled(
            format!(" taken for this item  {other} for another one of its entry"),
            theme.dim,
        ),
    ]);
    for (title, tree) in &records.trees {
        page.heading(&title.replace('·', theme.glyphs().dot), "");
        let width = page.width().saturating_sub(2).max(1);
        for (row, leaf) in tree::rows_with_leaves(tree, width, page.remaining() + 1, &page.look) {
            let spot = texts.locate(&row, &leaf);
            let is_own = spot
                .as_ref()
                .is_some_and(|spot| spot.focus == subject.focus);
            let front = match &spot {
                _ if is_own || leaf.value.as_ref().is_some_and(|value| taken.has(value)) => {
                    Span::styled(format!("{mark} "), theme.accent)
                }
                Some(_) => Span::styled(format!("{other} "), theme.dim),
                None => Span::raw("  "),
            };
            let mut line = row.line;
            line.spans.insert(0, front);
            let target = spot.as_ref().map(|spot| spot.focus).filter(|_| !is_own);
            page.shown(line, target, spot);
        }
    }
}

/// Scalars of the item, to mark the values of the record that it uses.
struct UsedValues {
    words: HashSet<String>,
    times: HashSet<Timestamp>,
}

impl UsedValues {
    fn of(subject: &InspectedItem<'_>) -> Self {
        let entry: &Entry = subject.entry;
        let mut words: HashSet<String> = HashSet::new();
        let mut add = |word: &str| {
            // Single digits match everywhere.
            if word.len() > 1 {
                words.insert(word.to_owned());
            }
        };
        let recorded = |key| subject.session.transcript.recorded_key(key);
        add(recorded(&entry.key));
        entry.parent.iter().for_each(|parent| add(recorded(parent)));
        for word in [&entry.lane, &entry.model].into_iter().flatten() {
            add(word);
        }
        if let Some(usage) = entry.usage.as_deref() {
            let tokens = [
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                usage.reasoning,
            ];
            tokens
                .into_iter()
                .flatten()
                .for_each(|tokens| add(&tokens.to_string()));
            if let Some(cost) = usage.cost {
                add(&cost.to_string());
            }
        }
        let mut times: HashSet<Timestamp> = entry.at.into_iter().collect();
        if let Some(call) = subject.call() {
            add(recorded(&call.key));
            add(&call.name);
            times.extend(call.started);
            if let Some(result) = call.state.result() {
                add(&result.key);
                times.extend(result.at);
                if let Some(ms) = result.duration_ms {
                    add(&ms.to_string());
                }
            }
        }
        Self { words, times }
    }

    /// Whether the item uses a value of the record.
    fn has(&self, value: &str) -> bool {
        let is_time = || Timestamp::parse(value).is_some_and(|at| self.times.contains(&at));
        let is_number = || {
            let number = value.parse::<f64>().ok().filter(|number| *number > 1e9);
            number
                .and_then(Timestamp::from_number)
                .is_some_and(|at| self.times.contains(&at))
        };
        self.words.contains(value) || is_time() || is_number()
    }
}
