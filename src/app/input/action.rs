//! The closed set of actions: what a key, a mouse button or a typed name does.

use tui_input::InputRequest;

/// One thing a reader can do. Those that can be bound have their names in
/// [`BINDINGS`](super::bindings::BINDINGS); the last ones belong to keys whose meaning is fixed by the mode.
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
    /// Open a view whose digit may turn out to be the beginning of a count.
    TryView(View),
    /// Edit the line that is being typed.
    Type(InputRequest),
    /// Finish the line that is being typed.
    Accept,
    /// Complete the typed line, or show or hide the preview of a list.
    Complete,
    /// Replace the typed line by an older (`true`) or newer one of its history.
    Recall(bool),
    /// Search for a regular expression, or for literal text.
    ToggleLiteral,
    /// Scroll a pop-up by lines; it stops at its ends.
    Scroll(isize),
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
