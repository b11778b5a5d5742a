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
    /// To the end, and follow it.
    Bottom,
    /// Follow on or off.
    ToggleFollow,
    /// To another item of a kind.
    Seek(LandmarkKind, Way),
    /// From a call to its result or back.
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
    /// Dim what the model did not see at the cursor, or stop dimming.
    ToggleAsOf,
    /// Show what calls are for before what they do, or only what they do.
    ToggleIntents,
    /// Tool bodies between preview and full.
    ToggleTools,
    /// Type a search.
    Search,
    /// To the next hit.
    NextHit,
    /// To the previous hit.
    PreviousHit,
    /// To another mention of the path, id or word of the item.
    Mention(Way),
    /// To another entry with the same id.
    SameId(Way),
    /// Type a filter.
    Filter,
    /// A filter by what is focused.
    Quick(QuickFilter),
    /// Mark the item with a letter.
    SetMark,
    /// To the item marked with a letter.
    ToMark,
    /// Copy something of the item.
    Copy(CopyTarget),
    /// Start or end the selection of rows.
    Select,
    /// Type a shell command that gets the item's record.
    Pipe,
    /// Mouse reporting on or off.
    ToggleMouse,
    /// The raw JSON of the item's entry.
    Raw,
    /// Open the file in the editor at the item's line.
    Edit,
    /// Resume the session in its own agent.
    Resume,
    /// Back to where the last jump came from.
    Back,
    /// Forward again.
    Forward,
    /// Show, hide or resize a pane, or give the keys to another one.
    Panes(PaneChange),
    /// Wrap long lines, or cut them.
    ToggleWrap,
    /// Scroll long lines sideways.
    Sideways(Way),
    /// Numbers beside the text: lines, bytes, none.
    ToggleGutter,
    /// Open a view.
    View(View),
    /// In a view: sort by the next or previous column; or pan.
    Shift(Way),
    /// In a view: reverse the order.
    Reverse,
    /// Show a tab of the inspector.
    Inspect(Tab),
    /// Open the picker.
    Sessions,
    /// Open the wall: all sessions of the last hours.
    Wall,
    /// Open the ledger: usage and cost of all sessions.
    Usage,
    /// Type a command.
    Palette,
    /// Open the help.
    Help,
    /// Read the session again from its start.
    Reload,
    /// Repaint the screen.
    Redraw,
    /// Stop the process until `fg`.
    Suspend,
    /// Leave a pop-up, clear a search.
    Cancel,
    /// Back one level, at the end quit.
    Quit,
    /// Quit at once.
    QuitNow,
    /// Edit the line that is being typed.
    Type(InputRequest),
    /// Finish the line that is being typed.
    Accept,
    /// Mark the chosen session of the picker, to open several as one.
    Pick,
    /// Complete the typed line, or show or hide the preview of a list.
    Complete,
    /// Replace the typed line by an older (`true`) or newer one of its history.
    Recall(bool),
    /// Search for a regular expression, or for literal text.
    ToggleLiteral,
    /// Scroll a pop-up by lines; it stops at its ends.
    Scroll(isize),
}

/// A kind of landmark that a key jumps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "most landmarks are named as in the transcript")]
pub enum LandmarkKind {
    Prompt,
    Error,
    Tool,
    /// An answer of the model.
    Message,
    Thinking,
    /// A sub-agent.
    Lane,
    Compaction,
    Branch,
    Image,
    /// A call without a result.
    Open,
    /// An expensive turn.
    Costly,
    /// A pause.
    Gap,
    /// The first entry that is new since the last visit.
    News,
}

/// A filter that needs no typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "most filters are named by what they show")]
pub enum QuickFilter {
    Errors,
    Tools,
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

/// A change of the panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneChange {
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

/// Direction in the order of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Towards the end.
    Next,
    /// Towards the beginning.
    Previous,
}

impl Way {
    /// The neighbour of `here` in a list; it wraps at the ends.
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
    /// By how many rows this motion moves the cursor of a list with `page` rows in sight; negative is up. `None` if it
    /// is no motion.
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
pub enum CopyTarget {
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
    /// The jq path of a field in its record.
    Query,
}

/// Lines of the screen from which the timeline leaves the text in sight above it.
const BELOW_FROM: u16 = 50;

/// A view of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The text, below all other views.
    Transcript,
    /// Prompts, work and answers in short.
    Brief,
    /// What ran from when to when.
    Timeline,
    /// Cost and tokens.
    Money,
    /// Every call in a table, and tools against each other.
    Tools,
    /// What filled the context window.
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

    /// Lines that it has below the text on a screen of so many lines; 0 if it covers the text.
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
    /// Its records as they are in the file.
    Raw,
    /// What it changes.
    Diff,
    /// The context of its request.
    Context,
    /// When it was, how long it took, whose time it was.
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

    /// The number of its key, from 1.
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
