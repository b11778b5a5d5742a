//! The closed vocabulary of what a reader can do. Bindings, help and tests all speak it.

use std::fmt;
use std::str::FromStr;

/// One thing a reader can do. Each has a name for configuration, palette and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Focus the next item; within an item taller than the screen, scroll a line.
    Next,
    /// Focus the previous item, likewise.
    Previous,
    /// Scroll down a line without moving the focus.
    LineDown,
    /// Scroll up a line without moving the focus.
    LineUp,
    /// A screen down.
    PageDown,
    /// A screen up.
    PageUp,
    /// Half a screen down.
    HalfDown,
    /// Half a screen up.
    HalfUp,
    /// To the beginning.
    Top,
    /// To the end, and follow.
    Bottom,
    /// Follow on or off.
    ToggleFollow,
    /// To another item of a kind.
    Seek(Kind, Way),
    /// To the branch of this number.
    Branch,
    /// From a call to its result or back.
    Pair,
    /// Collapse the item, or go to what holds it.
    Collapse,
    /// Expand the item: fold, hidden lines, sub-agent.
    Expand,
    /// The same; what is expanded already is collapsed again.
    Unfold,
    /// Toggle the fold of the item.
    ToggleFold,
    /// Fold the branch of the item into one row, or unfold it.
    FoldBranch,
    /// Open all folds.
    OpenAll,
    /// Close all folds.
    CloseAll,
    /// One detail level more.
    LevelUp,
    /// One detail level less.
    LevelDown,
    /// This detail level.
    Level(u8),
    /// Thinking on or off.
    ToggleThinking,
    /// What the model did not see at the cursor dimmed, or not.
    ToggleAsOf,
    /// What calls are for before what they do, or only that.
    ToggleIntents,
    /// Tool bodies between preview and full.
    ToggleTools,
    /// Type a search.
    Search,
    /// To the next hit.
    NextHit,
    /// To the previous hit.
    PreviousHit,
    /// To another entry that mentions what the item is about.
    Mention(Way),
    /// To another entry with the same id.
    SameId(Way),
    /// Type a filter.
    Filter,
    /// A filter by what is focused.
    Quick(Quick),
    /// Remember the item under a letter.
    SetMark,
    /// To the item under a letter.
    ToMark,
    /// Copy something of the item.
    Copy(What),
    /// Select rows, or no longer.
    Select,
    /// Type a command that gets the item's record.
    Pipe,
    /// The mouse on or off.
    ToggleMouse,
    /// The raw JSON of the item's entry.
    Raw,
    /// Open the file in the editor at the item's line.
    Edit,
    /// Go on with the session in its own agent.
    Resume,
    /// Back to where the last jump came from.
    Back,
    /// Forward again.
    Forward,
    /// Another division of the screen, or the keys to another pane.
    Panes(Change),
    /// Wrap long lines, or cut them.
    ToggleWrap,
    /// Scroll long lines sideways.
    Sideways(Way),
    /// Numbers beside the text: lines, bytes, none.
    ToggleGutter,
    /// Show the session in another way.
    View(View),
    /// In a view: to the column beside, by which its rows are sorted; or pan.
    Shift(Way),
    /// In a view: sort the other way round.
    Reverse,
    /// A tab of the inspector.
    Inspect(Tab),
    /// Choose a session.
    Sessions,
    /// All sessions of the last hours.
    Wall,
    /// What all sessions came to.
    Usage,
    /// Type a command.
    Palette,
    /// All keys.
    Help,
    /// Read the session anew.
    Reload,
    /// Draw the screen anew.
    Redraw,
    /// Stop the process until `fg`.
    Suspend,
    /// Leave a pop-up, clear a search.
    Cancel,
    /// Back one level, at the end quit.
    Quit,
    /// Quit at once.
    QuitNow,
}

/// What can be sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A prompt.
    Prompt,
    /// An error.
    Error,
    /// A tool call.
    Tool,
    /// An answer of the model.
    Message,
    /// Thinking.
    Thinking,
    /// A sub-agent.
    Lane,
    /// A compaction.
    Compaction,
    /// A branch.
    Branch,
    /// An image.
    Image,
    /// A call without a result.
    Open,
    /// An expensive turn.
    Costly,
    /// A pause.
    Gap,
    /// What is new since the last time.
    News,
}

/// Filters that need no typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quick {
    /// Errors.
    Errors,
    /// Tool calls.
    Tools,
    /// Prompts.
    Prompts,
    /// Calls of the focused tool.
    Name,
    /// The focused sub-agent.
    Lane,
    /// What has the focused id.
    Id,
    /// Everything again.
    Clear,
}

/// What can be changed of the panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The outline on or off.
    Outline,
    /// The inspector on or off.
    Inspector,
    /// The keys to the next or previous pane.
    Focus(Way),
    /// The divider of the pane with the keys to the left.
    DividerLeft,
    /// The divider of the pane with the keys to the right.
    DividerRight,
}

/// Where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Towards the end.
    Next,
    /// Towards the beginning.
    Previous,
}

impl Way {
    /// What stands beside one of these; beyond the last one is the first.
    pub(crate) fn beside<T: Copy + PartialEq>(self, all: &[T], here: T) -> T {
        let at = all.iter().position(|one| *one == here).unwrap_or(0);
        let there = match self {
            Self::Next => (at + 1) % all.len().max(1),
            Self::Previous => at.checked_sub(1).unwrap_or(all.len().saturating_sub(1)),
        };
        all.get(there).copied().unwrap_or(here)
    }
}

impl Action {
    /// How many rows further down this goes in a list of which so many are in sight, `times` over; less than none is up.
    pub(crate) fn steps(self, page: usize, times: usize) -> Option<isize> {
        let times = isize::try_from(times).unwrap_or(isize::MAX);
        let page = isize::try_from(page).unwrap_or(1).max(1);
        let half = (page / 2).max(1);
        Some(match self {
            Self::Next | Self::LineDown => times,
            Self::Previous | Self::LineUp => -times,
            Self::PageDown => page.saturating_mul(times),
            Self::PageUp => page.saturating_mul(-times),
            Self::HalfDown => half.saturating_mul(times),
            Self::HalfUp => half.saturating_mul(-times),
            Self::Top => isize::MIN / 2,
            Self::Bottom => isize::MAX / 2,
            _ => return None,
        })
    }
}

/// What can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// The item's text.
    Text,
    /// The record's JSON.
    Json,
    /// The result of the call.
    Result,
    /// The command or the arguments of the call.
    Command,
    /// `path:line` of the record.
    Path,
    /// The agent's id of the call or entry.
    Id,
    /// The turn as Markdown.
    Turn,
    /// `path#id`, which opens the session at the entry.
    Link,
    /// Where a field stands in its record, as jq names it.
    Query,
}

/// All actions with their names; the order is that of the help.
pub(super) const NAMES: &[(&str, Action)] = &[
    ("next", Action::Next),
    ("previous", Action::Previous),
    ("line-down", Action::LineDown),
    ("line-up", Action::LineUp),
    ("page-down", Action::PageDown),
    ("page-up", Action::PageUp),
    ("half-page-down", Action::HalfDown),
    ("half-page-up", Action::HalfUp),
    ("top", Action::Top),
    ("bottom", Action::Bottom),
    ("toggle-follow", Action::ToggleFollow),
    ("next-prompt", Action::Seek(Kind::Prompt, Way::Next)),
    ("previous-prompt", Action::Seek(Kind::Prompt, Way::Previous)),
    ("next-error", Action::Seek(Kind::Error, Way::Next)),
    ("previous-error", Action::Seek(Kind::Error, Way::Previous)),
    ("next-tool", Action::Seek(Kind::Tool, Way::Next)),
    ("previous-tool", Action::Seek(Kind::Tool, Way::Previous)),
    ("next-message", Action::Seek(Kind::Message, Way::Next)),
    (
        "previous-message",
        Action::Seek(Kind::Message, Way::Previous),
    ),
    ("next-thinking", Action::Seek(Kind::Thinking, Way::Next)),
    (
        "previous-thinking",
        Action::Seek(Kind::Thinking, Way::Previous),
    ),
    ("next-subagent", Action::Seek(Kind::Lane, Way::Next)),
    ("previous-subagent", Action::Seek(Kind::Lane, Way::Previous)),
    ("next-compaction", Action::Seek(Kind::Compaction, Way::Next)),
    (
        "previous-compaction",
        Action::Seek(Kind::Compaction, Way::Previous),
    ),
    ("next-branch", Action::Seek(Kind::Branch, Way::Next)),
    ("previous-branch", Action::Seek(Kind::Branch, Way::Previous)),
    ("next-image", Action::Seek(Kind::Image, Way::Next)),
    ("previous-image", Action::Seek(Kind::Image, Way::Previous)),
    ("next-open-call", Action::Seek(Kind::Open, Way::Next)),
    (
        "previous-open-call",
        Action::Seek(Kind::Open, Way::Previous),
    ),
    ("next-expensive-turn", Action::Seek(Kind::Costly, Way::Next)),
    (
        "previous-expensive-turn",
        Action::Seek(Kind::Costly, Way::Previous),
    ),
    ("next-gap", Action::Seek(Kind::Gap, Way::Next)),
    ("previous-gap", Action::Seek(Kind::Gap, Way::Previous)),
    ("next-new", Action::Seek(Kind::News, Way::Next)),
    ("previous-new", Action::Seek(Kind::News, Way::Previous)),
    ("branch", Action::Branch),
    ("next-same-id", Action::SameId(Way::Next)),
    ("previous-same-id", Action::SameId(Way::Previous)),
    ("set-mark", Action::SetMark),
    ("jump-to-mark", Action::ToMark),
    ("pair", Action::Pair),
    ("collapse", Action::Collapse),
    ("expand", Action::Expand),
    ("unfold", Action::Unfold),
    ("toggle-fold", Action::ToggleFold),
    ("fold-branch", Action::FoldBranch),
    ("open-all", Action::OpenAll),
    ("close-all", Action::CloseAll),
    ("level-up", Action::LevelUp),
    ("level-down", Action::LevelDown),
    ("level-1", Action::Level(1)),
    ("level-2", Action::Level(2)),
    ("level-3", Action::Level(3)),
    ("level-4", Action::Level(4)),
    ("level-5", Action::Level(5)),
    ("toggle-thinking", Action::ToggleThinking),
    ("toggle-as-of", Action::ToggleAsOf),
    ("toggle-intents", Action::ToggleIntents),
    ("toggle-tools", Action::ToggleTools),
    ("search", Action::Search),
    ("next-hit", Action::NextHit),
    ("previous-hit", Action::PreviousHit),
    ("next-mention", Action::Mention(Way::Next)),
    ("previous-mention", Action::Mention(Way::Previous)),
    ("filter-expression", Action::Filter),
    ("filter-errors", Action::Quick(Quick::Errors)),
    ("filter-tools", Action::Quick(Quick::Tools)),
    ("filter-prompts", Action::Quick(Quick::Prompts)),
    ("filter-this-tool", Action::Quick(Quick::Name)),
    ("filter-this-subagent", Action::Quick(Quick::Lane)),
    ("filter-this-id", Action::Quick(Quick::Id)),
    ("clear-filter", Action::Quick(Quick::Clear)),
    ("copy-text", Action::Copy(What::Text)),
    ("copy-json", Action::Copy(What::Json)),
    ("copy-result", Action::Copy(What::Result)),
    ("copy-command", Action::Copy(What::Command)),
    ("copy-path", Action::Copy(What::Path)),
    ("copy-id", Action::Copy(What::Id)),
    ("copy-turn", Action::Copy(What::Turn)),
    ("copy-link", Action::Copy(What::Link)),
    ("copy-query", Action::Copy(What::Query)),
    ("select-rows", Action::Select),
    ("pipe-record", Action::Pipe),
    ("raw", Action::Raw),
    ("edit", Action::Edit),
    ("resume", Action::Resume),
    ("back", Action::Back),
    ("forward", Action::Forward),
    ("toggle-outline", Action::Panes(Change::Outline)),
    ("toggle-inspector", Action::Panes(Change::Inspector)),
    ("next-pane", Action::Panes(Change::Focus(Way::Next))),
    ("previous-pane", Action::Panes(Change::Focus(Way::Previous))),
    ("divider-left", Action::Panes(Change::DividerLeft)),
    ("divider-right", Action::Panes(Change::DividerRight)),
    ("toggle-wrap", Action::ToggleWrap),
    ("scroll-right", Action::Sideways(Way::Next)),
    ("scroll-left", Action::Sideways(Way::Previous)),
    ("toggle-gutter", Action::ToggleGutter),
    ("transcript", Action::View(View::Transcript)),
    ("timeline", Action::View(View::Timeline)),
    ("brief", Action::View(View::Brief)),
    ("money", Action::View(View::Money)),
    ("tools", Action::View(View::Tools)),
    ("context-view", Action::View(View::Context)),
    ("tree", Action::View(View::Tree)),
    ("files", Action::View(View::Files)),
    ("hits", Action::View(View::Hits)),
    ("checks", Action::View(View::Checks)),
    ("shift-left", Action::Shift(Way::Previous)),
    ("shift-right", Action::Shift(Way::Next)),
    ("reverse", Action::Reverse),
    ("inspect-item", Action::Inspect(Tab::Item)),
    ("inspect-raw", Action::Inspect(Tab::Raw)),
    ("inspect-diff", Action::Inspect(Tab::Diff)),
    ("inspect-context", Action::Inspect(Tab::Context)),
    ("inspect-timing", Action::Inspect(Tab::Timing)),
    ("inspect-why", Action::Inspect(Tab::Why)),
    ("sessions", Action::Sessions),
    ("all-sessions", Action::Wall),
    ("usage", Action::Usage),
    ("command", Action::Palette),
    ("help", Action::Help),
    ("reload", Action::Reload),
    ("redraw", Action::Redraw),
    ("suspend", Action::Suspend),
    ("toggle-mouse", Action::ToggleMouse),
    ("cancel", Action::Cancel),
    ("quit", Action::Quit),
    ("quit-now", Action::QuitNow),
];

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            NAMES
                .iter()
                .find(|(_, action)| action == self)
                .map_or("?", |(name, _)| name),
        )
    }
}

impl FromStr for Action {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let known = NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, action)| *action);
        known.ok_or_else(|| format!("no action is called {name}"))
    }
}

/// On screens with so many lines the text stays in sight above the timeline.
const BELOW_FROM: u16 = 50;

/// What can be shown of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The text; it is under all others.
    Transcript,
    /// What was asked, done and answered.
    Brief,
    /// What ran from when to when.
    Timeline,
    /// What was spent.
    Money,
    /// Every call in a table, and tools against each other.
    Tools,
    /// What filled the model's window.
    Context,
    /// Branches and sub-agents.
    Tree,
    /// Files with their uses.
    Files,
    /// What the search found.
    Hits,
    /// What the lint found.
    Checks,
}

impl View {
    /// All views, in the order of their keys.
    pub const ALL: [Self; 10] = [
        Self::Transcript,
        Self::Brief,
        Self::Timeline,
        Self::Tools,
        Self::Money,
        Self::Context,
        Self::Tree,
        Self::Files,
        Self::Hits,
        Self::Checks,
    ];

    /// Lines that its page has below the text on a screen of so many lines; none if it lies over the text.
    pub(crate) fn lines_below(self, lines: u16) -> u16 {
        if self == Self::Timeline && lines >= BELOW_FROM {
            lines * 2 / 5
        } else {
            0
        }
    }
}

/// What is shown of the item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tab {
    /// The call with its result, or the entry.
    #[default]
    Item,
    /// Its records as they are in the file.
    Raw,
    /// What it changes.
    Diff,
    /// What the model had before it.
    Context,
    /// Whose time it took.
    Timing,
    /// Why tv shows it as it does.
    Why,
}

impl Tab {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Item,
        Self::Raw,
        Self::Diff,
        Self::Context,
        Self::Timing,
        Self::Why,
    ];

    /// From 1.
    pub fn number(self) -> usize {
        Self::ALL
            .iter()
            .position(|tab| *tab == self)
            .map_or(1, |at| at + 1)
    }

    /// The tab of a number from 1 on.
    pub fn of(number: usize) -> Option<Self> {
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// The tab beside this one; at the ends there is none.
    pub fn beside(self, way: Way) -> Option<Self> {
        match way {
            Way::Next => Self::of(self.number() + 1),
            Way::Previous => Self::of(self.number() - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, NAMES};

    #[test]
    fn every_action_prints_and_parses() {
        for (_, action) in NAMES {
            assert_eq!(action.to_string().parse(), Ok(*action));
        }
        assert!("fly".parse::<Action>().is_err());
    }
}
