//! The closed set of actions: what keys, mouse buttons and typed names do.

use tui_input::InputRequest;

/// An action of the viewer. Actions that can be bound have their names in
/// [`BINDINGS`](super::bindings::BINDINGS); the last ones belong to keys whose meaning is fixed by
/// the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Focus the next item; within an item taller than the screen, scroll a line.
    Next,
    /// Focus the previous item; likewise.
    Previous,
    /// Scroll down a line without moving the focus.
    LineDown,
    /// Scroll up a line without moving the focus.
    LineUp,
    /// Scroll down a screen.
    PageDown,
    /// Scroll up a screen.
    PageUp,
    /// Scroll down half a screen.
    HalfDown,
    /// Scroll up half a screen.
    HalfUp,
    /// Go to the beginning.
    Top,
    /// Go to the end, and follow.
    Bottom,
    /// Turn following on or off.
    ToggleFollow,
    /// Go to the next or previous item of a kind.
    Seek(LandmarkKind, Way),
    /// Go from a call to its result or back.
    Pair,
    /// Collapse the item, or go to its parent.
    Collapse,
    /// Expand the item: fold, hidden lines, sub-agent.
    Expand,
    /// Expand the item, or collapse it again if it is expanded.
    Unfold,
    /// Toggle the fold of the item.
    ToggleFold,
    /// Fold the branch of the item into one row, or unfold it.
    FoldBranch,
    OpenAll,
    CloseAll,
    /// Raise the level of detail by one.
    LevelUp,
    /// Lower the level of detail by one.
    LevelDown,
    /// Set the level of detail.
    Level(u8),
    /// Show or hide thinking.
    ToggleThinking,
    /// Dim entries that the model did not see at the cursor, or stop dimming.
    ToggleAsOf,
    /// Show or hide the purpose of calls.
    ToggleIntents,
    /// Toggle bodies of tools between preview and full.
    ToggleTools,
    Search,
    /// Go to the next hit.
    NextHit,
    /// Go to the previous hit.
    PreviousHit,
    /// Go to another mention of the path, id or word of the item.
    Mention(Way),
    /// Go to where the model first saw the path, id or word of the item.
    FirstSeen,
    /// Go to another entry with the same id.
    SameId(Way),
    Filter,
    /// Set a filter made from the focused item.
    Quick(QuickFilter),
    /// Mark the item with a letter.
    SetMark,
    /// Go to the item marked with a letter.
    ToMark,
    /// Copy a part of the item.
    Copy(CopyTarget),
    /// Start or end the selection of rows.
    Select,
    /// Type a shell command that receives the item's record.
    Pipe,
    /// Turn mouse reporting on or off.
    ToggleMouse,
    /// Show the raw JSON of the item's entry.
    Raw,
    /// Open the file in the editor at the item's line.
    Edit,
    /// Resume the session in its own agent.
    Resume,
    /// Go back to the position before the last jump.
    Back,
    /// Go forward in the jump list.
    Forward,
    /// Show, hide or resize a pane, or focus another one.
    Panes(PaneChange),
    /// Wrap long lines, or cut them.
    ToggleWrap,
    /// Scroll long lines sideways.
    Sideways(Way),
    /// Switch the numbers beside the text: lines, bytes, none.
    ToggleGutter,
    View(View),
    /// In a view: sort by the next or previous column, or pan.
    Shift(Way),
    /// In a view: reverse the order.
    Reverse,
    /// Show a tab of the inspector.
    Inspect(Tab),
    Sessions,
    /// Open the wall: all sessions of the last hours.
    Wall,
    /// Go to the next or previous session that needs the user.
    Need(Way),
    Watch,
    /// Open the ledger: usage and cost of all sessions.
    Usage,
    Palette,
    Help,
    /// Read the session again from its start.
    Reload,
    Redraw,
    /// Stop the process until `fg`.
    Suspend,
    /// Close a pop-up, or clear a search.
    Cancel,
    /// Go back one level; at the last one, quit.
    Quit,
    QuitNow,
    /// Edit the line that is being typed.
    Type(InputRequest),
    /// Finish the line that is being typed.
    Accept,
    /// Mark the chosen session of the picker; marked sessions are opened as one.
    Pick,
    /// Complete the typed line, or show or hide the preview of a list.
    Complete,
    /// Replace the typed line by an older (`true`) or newer one of its history.
    Recall(bool),
    /// Switch a search between regular expression and literal text.
    ToggleLiteral,
    /// Scroll a pop-up by lines, up to its ends.
    Scroll(isize),
    /// In the ledger: group by the grouping with this number, from 1.
    GroupBy(usize),
}

/// A kind of landmark that a key jumps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LandmarkKind {
    Prompt,
    Error,
    Tool,
    /// An answer of the model.
    Message,
    Thinking,
    Lane,
    Compaction,
    Branch,
    Image,
    /// A call without a result.
    Open,
    /// A turn that cost much more than others.
    Costly,
    /// A call whose result cost much to carry.
    Carried,
    /// A long pause between entries.
    Gap,
    /// A difference from the run that is compared.
    Difference,
    /// The first entry that is new since the last visit.
    News,
}

/// A filter made from the focused item, without typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuickFilter {
    Errors,
    Tools,
    Prompts,
    /// Calls of the focused tool.
    Name,
    /// Entries of the focused sub-agent.
    Lane,
    /// Entries with the focused id.
    Id,
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneChange {
    /// Show or hide the outline.
    Outline,
    /// Show or hide the inspector.
    Inspector,
    /// Focus the next or previous pane.
    Focus(Way),
    /// Move the divider of the focused pane to the left.
    DividerLeft,
    /// Move the divider of the focused pane to the right.
    DividerRight,
}

/// Direction in the order of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    Next,
    Previous,
}

impl Way {
    /// The neighbour of `here` in a list, wrapping around at the ends.
    pub(crate) fn neighbour<T: Copy + PartialEq>(self, all: &[T], here: T) -> T {
        let at = all.iter().position(|one| *one == here).unwrap_or(0);
        let there = match self {
            Self::Next => (at + 1) % all.len().max(1),
            Self::Previous => at.checked_sub(1).unwrap_or(all.len().saturating_sub(1)),
        };
        all.get(there).copied().unwrap_or(here)
    }
}

impl Action {
    /// Number of rows by which this motion moves the cursor of a list with `page` visible rows;
    /// negative moves up. `None` if it is no motion.
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

/// A part of an item that can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyTarget {
    Text,
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
    /// The jq path of a field in its record.
    Query,
}

/// Least height of the screen, in lines, at which the timeline is shown below the text instead of
/// covering it.
const BELOW_FROM: u16 = 50;

/// A view of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The transcript, below all other views.
    Transcript,
    /// Prompts, work and answers in brief.
    Brief,
    /// Turns and calls over time.
    Timeline,
    Money,
    /// All calls in a table, and a comparison of tools.
    Tools,
    /// The contents of the context window.
    Context,
    /// Branches and sub-agents.
    Tree,
    /// Files, and the calls that used them.
    Files,
    /// Hits of the search.
    Hits,
    /// A comparison with another run.
    Diff,
    /// Findings of the lint.
    Checks,
}

impl View {
    /// Height below the text in lines, on a screen of this height; 0 if the view covers the text.
    pub(crate) fn lines_below(self, lines: u16) -> u16 {
        if self == Self::Timeline && lines >= BELOW_FROM {
            lines * 2 / 5
        } else {
            0
        }
    }
}

/// A tab of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tab {
    /// The call with its result, or the entry.
    #[default]
    Item,
    /// The records as they are in the file.
    Raw,
    /// The change that the call makes.
    Diff,
    /// The context of its request.
    Context,
    /// Time, duration, and whose time it was.
    Timing,
    /// The rules by which tv shows it in this way.
    Why,
}

impl Tab {
    /// All tabs, in their order on the screen.
    pub const ALL: [Self; 6] = [
        Self::Item,
        Self::Raw,
        Self::Diff,
        Self::Context,
        Self::Timing,
        Self::Why,
    ];

    /// Number of the tab, from 1.
    pub fn number(self) -> usize {
        Self::ALL
            .iter()
            .position(|tab| *tab == self)
            .map_or(1, |at| at + 1)
    }

    /// The tab with a number, from 1.
    pub fn of(number: usize) -> Option<Self> {
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// The next or previous tab; `None` at the ends.
    pub fn neighbour(self, way: Way) -> Option<Self> {
        match way {
            Way::Next => Self::of(self.number() + 1),
            Way::Previous => Self::of(self.number() - 1),
        }
    }
}
