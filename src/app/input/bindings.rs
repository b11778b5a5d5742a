//! The table of actions with their names, keys and docs. Keymap, help, palette and manual are made from it.

use std::fmt;
use std::str::FromStr;

use super::action::{Action, CopyTarget, LandmarkKind, PaneChange, QuickFilter, Tab, View, Way};

/// An action that can be bound, with its default keys.
pub struct Binding {
    /// Name of the action in the palette, the settings and tests.
    pub name: &'static str,
    /// Key sequences; within one, keys are separated by spaces.
    pub keys: &'static [&'static str],
    /// What they do.
    pub action: Action,
    /// What it does, for the help.
    pub doc: &'static str,
    /// Heading in the help.
    pub group: BindingGroup,
}

/// Headings of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingGroup {
    /// Getting around.
    Move,
    /// From landmark to landmark.
    Jump,
    /// How much is shown.
    Detail,
    /// Panes beside the text.
    Panes,
    /// The session in another order.
    Views,
    /// Finding text.
    Find,
    /// Taking things out.
    Take,
    /// The program.
    Program,
}

impl BindingGroup {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Jump => "Jump",
            Self::Detail => "Detail and folds",
            Self::Panes => "Panes",
            Self::Views => "Views",
            Self::Find => "Find",
            Self::Take => "Copy and open",
            Self::Program => "Program",
        }
    }
}

const fn bind(
    name: &'static str,
    group: BindingGroup,
    keys: &'static [&'static str],
    action: Action,
    doc: &'static str,
) -> Binding {
    Binding {
        name,
        keys,
        action,
        doc,
        group,
    }
}

/// All bindings, in the order of the help.
pub const BINDINGS: &[Binding] = &[
    bind(
        "next",
        BindingGroup::Move,
        &["j", "down"],
        Action::Next,
        "next item; scrolls inside a tall one",
    ),
    bind(
        "previous",
        BindingGroup::Move,
        &["k", "up"],
        Action::Previous,
        "previous item",
    ),
    bind(
        "line-down",
        BindingGroup::Move,
        &["ctrl-e"],
        Action::LineDown,
        "scroll down a line",
    ),
    bind(
        "line-up",
        BindingGroup::Move,
        &["ctrl-y"],
        Action::LineUp,
        "scroll up a line",
    ),
    bind(
        "page-down",
        BindingGroup::Move,
        &["space", "pgdn"],
        Action::PageDown,
        "page down",
    ),
    bind(
        "page-up",
        BindingGroup::Move,
        &["b", "pgup"],
        Action::PageUp,
        "page up",
    ),
    bind(
        "half-page-down",
        BindingGroup::Move,
        &["ctrl-d"],
        Action::HalfDown,
        "half a page down",
    ),
    bind(
        "half-page-up",
        BindingGroup::Move,
        &["ctrl-u"],
        Action::HalfUp,
        "half a page up",
    ),
    bind(
        "top",
        BindingGroup::Move,
        &["g", "home"],
        Action::Top,
        "to the beginning",
    ),
    bind(
        "bottom",
        BindingGroup::Move,
        &["G", "end"],
        Action::Bottom,
        "to the end, and follow",
    ),
    bind(
        "toggle-follow",
        BindingGroup::Move,
        &["F"],
        Action::ToggleFollow,
        "follow on or off",
    ),
    bind(
        "next-prompt",
        BindingGroup::Jump,
        &["}"],
        Action::Seek(LandmarkKind::Prompt, Way::Next),
        "next prompt",
    ),
    bind(
        "previous-prompt",
        BindingGroup::Jump,
        &["{"],
        Action::Seek(LandmarkKind::Prompt, Way::Previous),
        "previous prompt",
    ),
    bind(
        "next-error",
        BindingGroup::Jump,
        &["e"],
        Action::Seek(LandmarkKind::Error, Way::Next),
        "next error",
    ),
    bind(
        "previous-error",
        BindingGroup::Jump,
        &["E"],
        Action::Seek(LandmarkKind::Error, Way::Previous),
        "previous error",
    ),
    bind(
        "pair",
        BindingGroup::Jump,
        &["%"],
        Action::Pair,
        "from a call to its end and back",
    ),
    bind(
        "next-tool",
        BindingGroup::Jump,
        &["] t"],
        Action::Seek(LandmarkKind::Tool, Way::Next),
        "next tool call",
    ),
    bind(
        "previous-tool",
        BindingGroup::Jump,
        &["[ t"],
        Action::Seek(LandmarkKind::Tool, Way::Previous),
        "previous tool call",
    ),
    bind(
        "next-message",
        BindingGroup::Jump,
        &["] m"],
        Action::Seek(LandmarkKind::Message, Way::Next),
        "next answer of the model",
    ),
    bind(
        "previous-message",
        BindingGroup::Jump,
        &["[ m"],
        Action::Seek(LandmarkKind::Message, Way::Previous),
        "previous answer of the model",
    ),
    bind(
        "next-thinking",
        BindingGroup::Jump,
        &["] k"],
        Action::Seek(LandmarkKind::Thinking, Way::Next),
        "next thinking",
    ),
    bind(
        "previous-thinking",
        BindingGroup::Jump,
        &["[ k"],
        Action::Seek(LandmarkKind::Thinking, Way::Previous),
        "previous thinking",
    ),
    bind(
        "next-subagent",
        BindingGroup::Jump,
        &["] s"],
        Action::Seek(LandmarkKind::Lane, Way::Next),
        "next sub-agent",
    ),
    bind(
        "previous-subagent",
        BindingGroup::Jump,
        &["[ s"],
        Action::Seek(LandmarkKind::Lane, Way::Previous),
        "previous sub-agent",
    ),
    bind(
        "next-compaction",
        BindingGroup::Jump,
        &["] c"],
        Action::Seek(LandmarkKind::Compaction, Way::Next),
        "next compaction",
    ),
    bind(
        "previous-compaction",
        BindingGroup::Jump,
        &["[ c"],
        Action::Seek(LandmarkKind::Compaction, Way::Previous),
        "previous compaction",
    ),
    bind(
        "next-branch",
        BindingGroup::Jump,
        &["] b"],
        Action::Seek(LandmarkKind::Branch, Way::Next),
        "next branch",
    ),
    bind(
        "previous-branch",
        BindingGroup::Jump,
        &["[ b"],
        Action::Seek(LandmarkKind::Branch, Way::Previous),
        "previous branch",
    ),
    bind(
        "branch",
        BindingGroup::Jump,
        &["] B"],
        Action::Branch,
        "the branch of the count, else 1",
    ),
    bind(
        "next-image",
        BindingGroup::Jump,
        &["] i"],
        Action::Seek(LandmarkKind::Image, Way::Next),
        "next image",
    ),
    bind(
        "previous-image",
        BindingGroup::Jump,
        &["[ i"],
        Action::Seek(LandmarkKind::Image, Way::Previous),
        "previous image",
    ),
    bind(
        "next-open-call",
        BindingGroup::Jump,
        &["] o"],
        Action::Seek(LandmarkKind::Open, Way::Next),
        "next call without a result",
    ),
    bind(
        "previous-open-call",
        BindingGroup::Jump,
        &["[ o"],
        Action::Seek(LandmarkKind::Open, Way::Previous),
        "previous call without a result",
    ),
    bind(
        "next-expensive-turn",
        BindingGroup::Jump,
        &["] $"],
        Action::Seek(LandmarkKind::Costly, Way::Next),
        "next expensive turn",
    ),
    bind(
        "previous-expensive-turn",
        BindingGroup::Jump,
        &["[ $"],
        Action::Seek(LandmarkKind::Costly, Way::Previous),
        "previous expensive turn",
    ),
    bind(
        "next-gap",
        BindingGroup::Jump,
        &["] g"],
        Action::Seek(LandmarkKind::Gap, Way::Next),
        "next pause of more than 30 s",
    ),
    bind(
        "previous-gap",
        BindingGroup::Jump,
        &["[ g"],
        Action::Seek(LandmarkKind::Gap, Way::Previous),
        "previous pause",
    ),
    bind(
        "next-new",
        BindingGroup::Jump,
        &["] n"],
        Action::Seek(LandmarkKind::News, Way::Next),
        "what is new since the last time",
    ),
    bind(
        "previous-new",
        BindingGroup::Jump,
        &["[ n"],
        Action::Seek(LandmarkKind::News, Way::Previous),
        "back to where the new begins",
    ),
    bind(
        "next-same-id",
        BindingGroup::Jump,
        &["o"],
        Action::SameId(Way::Next),
        "next item with the same id: call, result, sub-agent",
    ),
    bind(
        "previous-same-id",
        BindingGroup::Jump,
        &["O"],
        Action::SameId(Way::Previous),
        "previous item with the same id",
    ),
    bind(
        "back",
        BindingGroup::Jump,
        &["' '", "alt-left"],
        Action::Back,
        "back to where the last jump came from",
    ),
    bind(
        "forward",
        BindingGroup::Jump,
        &["alt-right"],
        Action::Forward,
        "forward again",
    ),
    bind(
        "set-mark",
        BindingGroup::Jump,
        &["m a-z"],
        Action::SetMark,
        "mark the item with a letter or digit",
    ),
    bind(
        "jump-to-mark",
        BindingGroup::Jump,
        &["' a-z"],
        Action::ToMark,
        "to the item marked so",
    ),
    bind(
        "unfold",
        BindingGroup::Detail,
        &["enter"],
        Action::Unfold,
        "open: fold, hidden lines, node of a tree, sub-agent; again closes it",
    ),
    bind(
        "expand",
        BindingGroup::Detail,
        &["l", "right"],
        Action::Expand,
        "open it, and then more of it",
    ),
    bind(
        "collapse",
        BindingGroup::Detail,
        &["h", "left"],
        Action::Collapse,
        "collapse, or go to what holds the item",
    ),
    bind(
        "toggle-fold",
        BindingGroup::Detail,
        &["z a"],
        Action::ToggleFold,
        "fold or unfold the item or the node",
    ),
    bind(
        "fold-branch",
        BindingGroup::Detail,
        &["z c"],
        Action::FoldBranch,
        "fold or unfold a branch that the session left",
    ),
    bind(
        "open-all",
        BindingGroup::Detail,
        &["z R"],
        Action::OpenAll,
        "open all folds",
    ),
    bind(
        "close-all",
        BindingGroup::Detail,
        &["z M"],
        Action::CloseAll,
        "close all folds",
    ),
    bind(
        "level-up",
        BindingGroup::Detail,
        &["+", "="],
        Action::LevelUp,
        "more detail",
    ),
    bind(
        "level-down",
        BindingGroup::Detail,
        &["-"],
        Action::LevelDown,
        "less detail",
    ),
    bind(
        "level-1",
        BindingGroup::Detail,
        &["z 1"],
        Action::Level(1),
        "detail 1: prompts",
    ),
    bind(
        "level-2",
        BindingGroup::Detail,
        &["z 2"],
        Action::Level(2),
        "detail 2: outline",
    ),
    bind(
        "level-3",
        BindingGroup::Detail,
        &["z 3"],
        Action::Level(3),
        "detail 3: preview",
    ),
    bind(
        "level-4",
        BindingGroup::Detail,
        &["z 4"],
        Action::Level(4),
        "detail 4: full",
    ),
    bind(
        "level-5",
        BindingGroup::Detail,
        &["z 5"],
        Action::Level(5),
        "detail 5: the records as JSON",
    ),
    bind(
        "toggle-intents",
        BindingGroup::Detail,
        &["z t"],
        Action::ToggleIntents,
        "calls: what they are for, or their commands",
    ),
    bind(
        "toggle-as-of",
        BindingGroup::Detail,
        &["z v"],
        Action::ToggleAsOf,
        "dim what the model did not see at the cursor",
    ),
    bind(
        "toggle-thinking",
        BindingGroup::Detail,
        &["t", "ctrl-t"],
        Action::ToggleThinking,
        "thinking on or off",
    ),
    bind(
        "toggle-tools",
        BindingGroup::Detail,
        &["T", "ctrl-o"],
        Action::ToggleTools,
        "tool bodies: preview or full",
    ),
    bind(
        "next-pane",
        BindingGroup::Panes,
        &["tab"],
        Action::Panes(PaneChange::Focus(Way::Next)),
        "keys to the next pane: outline, text, inspector",
    ),
    bind(
        "previous-pane",
        BindingGroup::Panes,
        &["shift-tab"],
        Action::Panes(PaneChange::Focus(Way::Previous)),
        "keys to the previous pane",
    ),
    bind(
        "toggle-inspector",
        BindingGroup::Panes,
        &["i"],
        Action::Panes(PaneChange::Inspector),
        "inspector of the item on or off",
    ),
    bind(
        "inspect-item",
        BindingGroup::Panes,
        &["alt-1"],
        Action::Inspect(Tab::Item),
        "inspector: the call with its result, or the item",
    ),
    bind(
        "inspect-raw",
        BindingGroup::Panes,
        &["alt-2"],
        Action::Inspect(Tab::Raw),
        "inspector: its records as they are in the file",
    ),
    bind(
        "inspect-diff",
        BindingGroup::Panes,
        &["alt-3"],
        Action::Inspect(Tab::Diff),
        "inspector: what it changes",
    ),
    bind(
        "inspect-context",
        BindingGroup::Panes,
        &["alt-4"],
        Action::Inspect(Tab::Context),
        "inspector: the context of its request",
    ),
    bind(
        "inspect-timing",
        BindingGroup::Panes,
        &["alt-5"],
        Action::Inspect(Tab::Timing),
        "inspector: when, how long, whose time",
    ),
    bind(
        "inspect-why",
        BindingGroup::Panes,
        &["alt-6"],
        Action::Inspect(Tab::Why),
        "inspector: why it is shown as it is",
    ),
    bind(
        "toggle-outline",
        BindingGroup::Panes,
        &["I"],
        Action::Panes(PaneChange::Outline),
        "outline on or off",
    ),
    bind(
        "divider-left",
        BindingGroup::Panes,
        &["ctrl-left"],
        Action::Panes(PaneChange::DividerLeft),
        "the pane's divider to the left",
    ),
    bind(
        "divider-right",
        BindingGroup::Panes,
        &["ctrl-right"],
        Action::Panes(PaneChange::DividerRight),
        "the pane's divider to the right",
    ),
    bind(
        "transcript",
        BindingGroup::Views,
        &["1"],
        Action::View(View::Transcript),
        "the text, from any view",
    ),
    bind(
        "brief",
        BindingGroup::Views,
        &["B", "F9"],
        Action::View(View::Brief),
        "brief: what was asked, done, left open and answered",
    ),
    bind(
        "timeline",
        BindingGroup::Views,
        &["2", "F2"],
        Action::View(View::Timeline),
        "timeline: what ran from when to when",
    ),
    bind(
        "tools",
        BindingGroup::Views,
        &["3", "F3"],
        Action::View(View::Tools),
        "tools: all calls in a table, and each tool's",
    ),
    bind(
        "money",
        BindingGroup::Views,
        &["4", "F4"],
        Action::View(View::Money),
        "money: what was spent on what; + and - group it",
    ),
    bind(
        "context-view",
        BindingGroup::Views,
        &["5", "F5"],
        Action::View(View::Context),
        "context: what fills the window, and cache misses",
    ),
    bind(
        "tree",
        BindingGroup::Views,
        &["6", "F6"],
        Action::View(View::Tree),
        "tree: branches and sub-agents",
    ),
    bind(
        "files",
        BindingGroup::Views,
        &["7", "F7"],
        Action::View(View::Files),
        "files: who read and changed them, in order",
    ),
    bind(
        "checks",
        BindingGroup::Views,
        &["!", "F8"],
        Action::View(View::Checks),
        "checks: what is wrong with calls and results",
    ),
    bind(
        "shift-right",
        BindingGroup::Views,
        &[">"],
        Action::Shift(Way::Next),
        "in a view: pan to the right, or sort by the next column",
    ),
    bind(
        "shift-left",
        BindingGroup::Views,
        &["<"],
        Action::Shift(Way::Previous),
        "in a view: pan to the left, or sort by the previous column",
    ),
    bind(
        "reverse",
        BindingGroup::Views,
        &["z r"],
        Action::Reverse,
        "in a view: sort the other way round",
    ),
    bind(
        "toggle-wrap",
        BindingGroup::Detail,
        &["w"],
        Action::ToggleWrap,
        "wrap long lines, or cut them; prose is always wrapped",
    ),
    bind(
        "scroll-right",
        BindingGroup::Detail,
        &["z l"],
        Action::Sideways(Way::Next),
        "scroll cut lines to the right",
    ),
    bind(
        "scroll-left",
        BindingGroup::Detail,
        &["z h"],
        Action::Sideways(Way::Previous),
        "scroll cut lines to the left",
    ),
    bind(
        "toggle-gutter",
        BindingGroup::Detail,
        &["ctrl-n"],
        Action::ToggleGutter,
        "numbers in the gutter: lines of the file, bytes, none",
    ),
    bind(
        "search",
        BindingGroup::Find,
        &["/"],
        Action::Search,
        "search all text; u: t: e: b: k: s: in front narrow it",
    ),
    bind(
        "hits",
        BindingGroup::Find,
        &["\\"],
        Action::View(View::Hits),
        "all hits with their lines",
    ),
    bind(
        "next-hit",
        BindingGroup::Find,
        &["n"],
        Action::NextHit,
        "next hit",
    ),
    bind(
        "previous-hit",
        BindingGroup::Find,
        &["N"],
        Action::PreviousHit,
        "previous hit",
    ),
    bind(
        "next-mention",
        BindingGroup::Find,
        &["*"],
        Action::Mention(Way::Next),
        "next mention of the item's path, id or word",
    ),
    bind(
        "previous-mention",
        BindingGroup::Find,
        &["#"],
        Action::Mention(Way::Previous),
        "previous mention of it",
    ),
    bind(
        "filter-expression",
        BindingGroup::Find,
        &["&"],
        Action::Filter,
        "show only what fits an expression; empty shows all",
    ),
    bind(
        "filter-errors",
        BindingGroup::Find,
        &["f e"],
        Action::Quick(QuickFilter::Errors),
        "only errors",
    ),
    bind(
        "filter-tools",
        BindingGroup::Find,
        &["f t"],
        Action::Quick(QuickFilter::Tools),
        "only tool calls",
    ),
    bind(
        "filter-prompts",
        BindingGroup::Find,
        &["f u"],
        Action::Quick(QuickFilter::Prompts),
        "only what the user said",
    ),
    bind(
        "filter-this-tool",
        BindingGroup::Find,
        &["f n"],
        Action::Quick(QuickFilter::Name),
        "only calls of this tool",
    ),
    bind(
        "filter-this-subagent",
        BindingGroup::Find,
        &["f s"],
        Action::Quick(QuickFilter::Lane),
        "only this sub-agent",
    ),
    bind(
        "filter-this-id",
        BindingGroup::Find,
        &["f i"],
        Action::Quick(QuickFilter::Id),
        "only what has this id",
    ),
    bind(
        "clear-filter",
        BindingGroup::Find,
        &["f f"],
        Action::Quick(QuickFilter::Clear),
        "show all again",
    ),
    bind(
        "select-rows",
        BindingGroup::Take,
        &["V"],
        Action::Select,
        "select rows; y copies them, o swaps the ends, esc leaves",
    ),
    bind(
        "copy-text",
        BindingGroup::Take,
        &["y y"],
        Action::Copy(CopyTarget::Text),
        "copy the item's text; 3yy copies three items",
    ),
    bind(
        "copy-json",
        BindingGroup::Take,
        &["y j"],
        Action::Copy(CopyTarget::Json),
        "copy the record's JSON",
    ),
    bind(
        "copy-result",
        BindingGroup::Take,
        &["y r"],
        Action::Copy(CopyTarget::Result),
        "copy the result of the call",
    ),
    bind(
        "copy-command",
        BindingGroup::Take,
        &["y c"],
        Action::Copy(CopyTarget::Command),
        "copy the command or the arguments",
    ),
    bind(
        "copy-path",
        BindingGroup::Take,
        &["y p"],
        Action::Copy(CopyTarget::Path),
        "copy path:line of the record",
    ),
    bind(
        "copy-id",
        BindingGroup::Take,
        &["y i"],
        Action::Copy(CopyTarget::Id),
        "copy the id",
    ),
    bind(
        "copy-turn",
        BindingGroup::Take,
        &["y t"],
        Action::Copy(CopyTarget::Turn),
        "copy the turn as Markdown",
    ),
    bind(
        "copy-link",
        BindingGroup::Take,
        &["y l"],
        Action::Copy(CopyTarget::Link),
        "copy path#id, which tv opens at this entry",
    ),
    bind(
        "copy-query",
        BindingGroup::Take,
        &["y q"],
        Action::Copy(CopyTarget::Query),
        "in the raw record: copy the jq path of the row",
    ),
    bind(
        "pipe-record",
        BindingGroup::Take,
        &["|"],
        Action::Pipe,
        "pipe the record's JSON to a command",
    ),
    bind(
        "raw",
        BindingGroup::Take,
        &["r"],
        Action::Raw,
        "raw JSON of the entry",
    ),
    bind(
        "edit",
        BindingGroup::Take,
        &["v"],
        Action::Edit,
        "open the file in $EDITOR at the record's line",
    ),
    bind(
        "resume",
        BindingGroup::Take,
        &["ctrl-r"],
        Action::Resume,
        "continue or fork the session in its own agent",
    ),
    bind(
        "sessions",
        BindingGroup::Program,
        &["s", "0"],
        Action::Sessions,
        "choose another session",
    ),
    bind(
        "all-sessions",
        BindingGroup::Program,
        &["S"],
        Action::Wall,
        "all sessions of the last hours, those that need you first",
    ),
    bind(
        "usage",
        BindingGroup::Program,
        &["$"],
        Action::Usage,
        "what all sessions came to, by day, project, model and more",
    ),
    bind(
        "command",
        BindingGroup::Program,
        &[":", "ctrl-p"],
        Action::Palette,
        "type a command, or choose one",
    ),
    bind(
        "help",
        BindingGroup::Program,
        &["?", "F1"],
        Action::Help,
        "this help; / in it finds",
    ),
    bind(
        "reload",
        BindingGroup::Program,
        &["R"],
        Action::Reload,
        "read the session anew",
    ),
    bind(
        "redraw",
        BindingGroup::Program,
        &["ctrl-l"],
        Action::Redraw,
        "draw the screen anew",
    ),
    bind(
        "suspend",
        BindingGroup::Program,
        &["ctrl-z"],
        Action::Suspend,
        "suspend",
    ),
    bind(
        "toggle-mouse",
        BindingGroup::Program,
        &["F12"],
        Action::ToggleMouse,
        "mouse on or off: wheel, clicks, dividers",
    ),
    bind(
        "cancel",
        BindingGroup::Program,
        &["esc"],
        Action::Cancel,
        "leave a pop-up, clear the search",
    ),
    bind(
        "quit",
        BindingGroup::Program,
        &["q"],
        Action::Quit,
        "back one level, then quit",
    ),
    bind(
        "quit-now",
        BindingGroup::Program,
        &["Q", "ctrl-c"],
        Action::QuitNow,
        "quit at once",
    ),
];

/// All headings, in the order of the help.
pub const GROUPS: [BindingGroup; 8] = [
    BindingGroup::Move,
    BindingGroup::Jump,
    BindingGroup::Detail,
    BindingGroup::Panes,
    BindingGroup::Views,
    BindingGroup::Find,
    BindingGroup::Take,
    BindingGroup::Program,
];

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binding = BINDINGS.iter().find(|binding| binding.action == *self);
        f.write_str(binding.map_or("?", |binding| binding.name))
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let binding = BINDINGS.iter().find(|binding| binding.name == name);
        binding
            .map(|binding| binding.action)
            .ok_or_else(|| format!("no action is called {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::BINDINGS;
    use crate::app::input::action::Action;

    #[test]
    fn every_action_prints_and_parses() {
        for binding in BINDINGS {
            let printed = binding.action.to_string();
            assert_eq!(printed, binding.name);
            assert_eq!(printed.parse(), Ok(binding.action));
        }
        assert!("fly".parse::<Action>().is_err());
    }
}
