//! The view of the model's context window: a row per request of a lane with the composition of its
//! prompt, its growth and cache misses, and the compactions between requests.

mod foot;
mod row;

use ratatui::text::Span;

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet};
use crate::analysis::context::window::RequestSums;
use crate::analysis::phrases;
use crate::app::input::action::{Action, Way};
use crate::app::text::viewport::Focus;
use crate::listing::table::Table;
use crate::model::entry::BlockKind;
use crate::model::figures;
use crate::model::text::Name;
use crate::session::indexes::Needs;

/// Lines for the chosen row, where there is room.
const FOOT: usize = 5;
/// Minimum width of a bar that shows the classes of the prompt.
const BAR_WITH_CLASSES: usize = 20;

const HINTS: &[Hint] = &[(
    &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
    "window of another sub-agent",
)];

/// The view of a lane's requests.
#[derive(Debug, Default)]
pub(crate) struct Context {
    rows: List<row::RequestKey>,
    lane: Option<Name>,
    /// Whether there are windows of other lanes.
    has_others: bool,
    /// The state and lane that the rows were built from.
    built_from: Option<(u64, Option<Name>)>,
    foot: foot::Foot,
}

impl Context {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let windows = &scene.indexes.windows;
        let lanes = || windows.lanes().map(Option::<&Name>::cloned);
        self.has_others = lanes().nth(1).is_some();
        if windows.sums(self.lane.as_ref()).requests == 0
            && let Some(first) = lanes().next()
        {
            self.lane = first;
        }
        let wanted = (windows.generation, self.lane.clone());
        if self.built_from.as_ref() == Some(&wanted) {
            return;
        }
        let is_other = self
            .built_from
            .as_ref()
            .is_none_or(|(_, lane)| *lane != self.lane);
        self.built_from = Some(wanted);
        let keys = windows
            .rows(self.lane.as_ref())
            .iter()
            .map(row::key_of)
            .collect();
        if is_other {
            // The rows of another lane have no relation to the cursor's position.
            self.rows.set(keys, false);
            self.rows.choose(0);
            if let Some(focus) = scene.focus {
                self.choose_at(scene, focus);
            }
        } else {
            self.rows.set(keys, scene.follows);
        }
    }

    fn choose_at(&mut self, scene: &PageScene<'_>, focus: Focus) {
        if let Some((lane, number)) = scene.indexes.windows.row_at(scene.transcript, focus.entry)
            && lane == self.lane.as_ref()
        {
            self.rows.choose(number);
        }
    }

    /// Moves to an adjacent lane.
    fn change_lane(&mut self, scene: &PageScene<'_>, way: Way) -> Answer {
        let lanes: Vec<Option<Name>> = scene
            .indexes
            .windows
            .lanes()
            .map(Option::<&Name>::cloned)
            .collect();
        if lanes.len() < 2 {
            return Answer::Message("no sub-agent records its requests".to_owned());
        }
        let here = lanes
            .iter()
            .position(|lane| *lane == self.lane)
            .unwrap_or(0);
        let there = match way {
            Way::Next => here + 1,
            Way::Previous => here + lanes.len() - 1,
        };
        self.lane = lanes.into_iter().cycle().nth(there).unwrap_or_default();
        self.built_from = None;
        self.refresh(scene);
        Answer::Done
    }
}

impl Page for Context {
    fn needs(&self) -> Needs {
        Needs {
            windows: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let windows = &scene.indexes.windows;
        let sums = windows.sums(self.lane.as_ref());
        if self.rows.keys().is_empty() {
            let why = if scene.is_complete() {
                "No request of this session records its tokens, so nothing is known of its window."
            } else {
                "The session is still being read."
            };
            return Sheet::empty(vec![Span::raw("CONTEXT")], why, scene);
        }
        let all = windows.rows(self.lane.as_ref());
        let density = windows.density(self.lane.as_ref());
        let list = row::RequestList {
            scene,
            rows: all,
            density,
            largest: sums.largest,
        };
        let legend = Table::of(&list, scene.columns())
            .width_of(row::BAR)
            .filter(|width| *width >= BAR_WITH_CLASSES);
        let mut heads = Vec::new();
        if legend.is_some() {
            heads.push(row::legend(scene.columns(), scene.theme));
        }
        let (height, foot) = scene.divide(heads.len() + 1, FOOT);
        self.rows.fit(height);
        let (head, rows) = self.rows.write(&list, scene);
        heads.push(head);
        // The cursor is always inside the window.
        let chosen = self.rows.window().find(|(_, _, is_chosen)| *is_chosen);
        let chosen = chosen.and_then(|(number, _, _)| all.get(number));
        let foot = match chosen.filter(|_| foot > 0) {
            Some(row) => self.foot.lines(scene, row, density, foot),
            None => Vec::new(),
        };
        Sheet {
            title: self.title(scene, &sums),
            right: self.right(scene),
            heads,
            rows,
            foot,
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        match action {
            Action::Shift(way) => self.change_lane(scene, way),
            Action::Reverse => {
                Answer::Message("requests stand in the order of the file".to_owned())
            }
            action => self.rows.act(action, times).unwrap_or(Answer::Pass),
        }
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        let (transcript, windows) = (scene.transcript, &scene.indexes.windows);
        // A lane without requests of its own is represented by the main lane of its session.
        let lanes = [
            transcript.lane_at(focus.entry),
            transcript.main_lane_of(focus.entry),
        ];
        let Some(lane) = lanes
            .into_iter()
            .find(|lane| windows.sums(*lane).requests > 0)
        else {
            return;
        };
        if lane != self.lane.as_ref() {
            self.lane = lane.cloned();
            self.built_from = None;
            self.refresh(scene);
        }
        let own = transcript.place_of(focus.entry);
        let before = self
            .rows
            .keys()
            .partition_point(|(id, _)| transcript.place_of(*id) <= own);
        self.rows.choose(before.saturating_sub(1));
        self.choose_at(scene, focus);
    }

    fn choose(&mut self, number: usize) {
        self.rows.choose(number);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn hints(&self) -> &'static [Hint] {
        if self.has_others { HINTS } else { &[] }
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        let (entry, _) = *self.rows.chosen()?;
        let blocks = &scene.transcript.get(entry)?.blocks;
        let is_shown = |kind: &BlockKind| !matches!(kind, BlockKind::Thinking(_));
        let block = blocks
            .iter()
            .position(|block| is_shown(&block.kind))
            .unwrap_or(0);
        Some(Focus { entry, block })
    }
}

impl Context {
    fn title(&self, scene: &PageScene<'_>, sums: &RequestSums) -> Vec<Span<'static>> {
        let theme = scene.theme;
        let lane = match &self.lane {
            Some(name) => {
                let label = scene.transcript.lane(name).map_or(name, |lane| &lane.label);
                format!("  {label}")
            }
            None => String::new(),
        };
        let of = sums.limit.map(|limit| {
            let percent = sums.largest.saturating_mul(100) / limit.max(1);
            format!("/{} {percent}%", figures::tokens(limit))
        });
        let largest = format!(
            "largest {}{}",
            figures::tokens(sums.largest),
            of.unwrap_or_default()
        );
        let mut spans = vec![
            Span::raw("CONTEXT"),
            Span::raw(lane),
            Span::raw(format!("  {largest}")),
        ];
        let dot = theme.glyphs().dot;
        if sums.read > 0 {
            let rate = percent(sums.read, sums.prompts);
            // Within a turn nearly everything is read from the cache. Only the first request of a
            // turn shows whether the previous turn's cache was still valid.
            let first = (sums.first_prompts > 0)
                .then(|| format!(" (turns {}%)", percent(sums.first_read, sums.first_prompts)));
            spans.push(Span::raw(format!(
                " {dot} cache {rate}%{}",
                first.unwrap_or_default()
            )));
        }
        if sums.breaks > 0 {
            let missed = figures::count(sums.breaks as u64, "miss").replace("misss", "misses");
            let more = if sums.unpriced > 0 { "+" } else { "" };
            let price = if sums.unpriced == sums.breaks {
                "$?".to_owned()
            } else {
                format!("~{}{more}", phrases::usd(sums.usd))
            };
            spans.push(Span::styled(format!(" {dot} {missed} {price}"), theme.warn));
        }
        if sums.compactions > 0 {
            let compactions = figures::count(sums.compactions as u64, "compaction");
            spans.push(Span::raw(format!(" {dot} {compactions}")));
        }
        spans
    }

    /// The name and number of the lane, if there are several.
    fn right(&self, scene: &PageScene<'_>) -> Vec<Span<'static>> {
        let lanes: Vec<Option<&Name>> = scene.indexes.windows.lanes().collect();
        let Some(here) = lanes.iter().position(|lane| *lane == self.lane.as_ref()) else {
            return Vec::new();
        };
        if lanes.len() < 2 {
            return Vec::new();
        }
        vec![Span::styled(
            format!("< lane {} of {} >", here + 1, lanes.len()),
            scene.theme.dim,
        )]
    }
}

/// A share in percent, rounded down so that only the whole is 100.
fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100) / whole.max(1)
}

#[cfg(test)]
mod tests;
