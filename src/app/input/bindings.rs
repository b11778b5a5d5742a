//! The one table of keys: the keymap, help, palette, manual and the test that they agree are all read
//! from it.

use std::fmt;
use std::str::FromStr;

use super::action::{Action, Change, Kind, Quick, Tab, View, Way, What};

/// Keys for an action, with the words that explain it.
pub struct Binding {
    /// Name of the action in the palette, the settings and tests.
    pub name: &'static str,
    /// Key sequences that do the same; within one, keys are separated by spaces.
    pub keys: &'static [&'static str],
    /// What they do.
    pub action: Action,
    /// In plain words.
    pub doc: &'static str,
    /// Heading in the help.
    pub group: Group,
}

/// Headings of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Getting around.
    Move,
    /// From landmark to landmark.
    Jump,
    /// How much is shown.
    Detail,
    /// What stands beside the text.
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

impl Group {
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
    group: Group,
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
        Group::Move,
        &["j", "down"],
        Action::Next,
        "next item; scrolls inside a tall one",
    ),
    bind(
        "previous",
        Group::Move,
        &["k", "up"],
        Action::Previous,
        "previous item",
    ),
    bind(
        "line-down",
        Group::Move,
        &["ctrl-e"],
        Action::LineDown,
        "scroll down a line",
    ),
    bind(
        "line-up",
        Group::Move,
        &["ctrl-y"],
        Action::LineUp,
        "scroll up a line",
    ),
    bind(
        "page-down",
        Group::Move,
        &["space", "pgdn"],
        Action::PageDown,
        "page down",
    ),
    bind(
        "page-up",
        Group::Move,
        &["b", "pgup"],
        Action::PageUp,
        "page up",
    ),
    bind(
        "half-page-down",
        Group::Move,
        &["ctrl-d"],
        Action::HalfDown,
        "half a page down",
    ),
    bind(
        "half-page-up",
        Group::Move,
        &["ctrl-u"],
        Action::HalfUp,
        "half a page up",
    ),
    bind(
        "top",
        Group::Move,
        &["g", "home"],
        Action::Top,
        "to the beginning",
    ),
    bind(
        "bottom",
        Group::Move,
        &["G", "end"],
        Action::Bottom,
        "to the end, and follow",
    ),
    bind(
        "toggle-follow",
        Group::Move,
        &["F"],
        Action::ToggleFollow,
        "follow on or off",
    ),
    bind(
        "next-prompt",
        Group::Jump,
        &["}"],
        Action::Seek(Kind::Prompt, Way::Next),
        "next prompt",
    ),
    bind(
        "previous-prompt",
        Group::Jump,
        &["{"],
        Action::Seek(Kind::Prompt, Way::Previous),
        "previous prompt",
    ),
    bind(
        "next-error",
        Group::Jump,
        &["e"],
        Action::Seek(Kind::Error, Way::Next),
        "next error",
    ),
    bind(
        "previous-error",
        Group::Jump,
        &["E"],
        Action::Seek(Kind::Error, Way::Previous),
        "previous error",
    ),
    bind(
        "pair",
        Group::Jump,
        &["%"],
        Action::Pair,
        "from a call to its end and back",
    ),
    bind(
        "next-tool",
        Group::Jump,
        &["] t"],
        Action::Seek(Kind::Tool, Way::Next),
        "next tool call",
    ),
    bind(
        "previous-tool",
        Group::Jump,
        &["[ t"],
        Action::Seek(Kind::Tool, Way::Previous),
        "previous tool call",
    ),
    bind(
        "next-message",
        Group::Jump,
        &["] m"],
        Action::Seek(Kind::Message, Way::Next),
        "next answer of the model",
    ),
    bind(
        "previous-message",
        Group::Jump,
        &["[ m"],
        Action::Seek(Kind::Message, Way::Previous),
        "previous answer of the model",
    ),
    bind(
        "next-thinking",
        Group::Jump,
        &["] k"],
        Action::Seek(Kind::Thinking, Way::Next),
        "next thinking",
    ),
    bind(
        "previous-thinking",
        Group::Jump,
        &["[ k"],
        Action::Seek(Kind::Thinking, Way::Previous),
        "previous thinking",
    ),
    bind(
        "next-subagent",
        Group::Jump,
        &["] s"],
        Action::Seek(Kind::Lane, Way::Next),
        "next sub-agent",
    ),
    bind(
        "previous-subagent",
        Group::Jump,
        &["[ s"],
        Action::Seek(Kind::Lane, Way::Previous),
        "previous sub-agent",
    ),
    bind(
        "next-compaction",
        Group::Jump,
        &["] c"],
        Action::Seek(Kind::Compaction, Way::Next),
        "next compaction",
    ),
    bind(
        "previous-compaction",
        Group::Jump,
        &["[ c"],
        Action::Seek(Kind::Compaction, Way::Previous),
        "previous compaction",
    ),
    bind(
        "next-branch",
        Group::Jump,
        &["] b"],
        Action::Seek(Kind::Branch, Way::Next),
        "next branch",
    ),
    bind(
        "previous-branch",
        Group::Jump,
        &["[ b"],
        Action::Seek(Kind::Branch, Way::Previous),
        "previous branch",
    ),
    bind(
        "branch",
        Group::Jump,
        &["] B"],
        Action::Branch,
        "the branch of the count, else 1",
    ),
    bind(
        "next-image",
        Group::Jump,
        &["] i"],
        Action::Seek(Kind::Image, Way::Next),
        "next image",
    ),
    bind(
        "previous-image",
        Group::Jump,
        &["[ i"],
        Action::Seek(Kind::Image, Way::Previous),
        "previous image",
    ),
    bind(
        "next-open-call",
        Group::Jump,
        &["] o"],
        Action::Seek(Kind::Open, Way::Next),
        "next call without a result",
    ),
    bind(
        "previous-open-call",
        Group::Jump,
        &["[ o"],
        Action::Seek(Kind::Open, Way::Previous),
        "previous call without a result",
    ),
    bind(
        "next-expensive-turn",
        Group::Jump,
        &["] $"],
        Action::Seek(Kind::Costly, Way::Next),
        "next expensive turn",
    ),
    bind(
        "previous-expensive-turn",
        Group::Jump,
        &["[ $"],
        Action::Seek(Kind::Costly, Way::Previous),
        "previous expensive turn",
    ),
    bind(
        "next-gap",
        Group::Jump,
        &["] g"],
        Action::Seek(Kind::Gap, Way::Next),
        "next pause of more than 30 s",
    ),
    bind(
        "previous-gap",
        Group::Jump,
        &["[ g"],
        Action::Seek(Kind::Gap, Way::Previous),
        "previous pause",
    ),
    bind(
        "next-new",
        Group::Jump,
        &["] n"],
        Action::Seek(Kind::News, Way::Next),
        "what is new since the last time",
    ),
    bind(
        "previous-new",
        Group::Jump,
        &["[ n"],
        Action::Seek(Kind::News, Way::Previous),
        "back to where the new begins",
    ),
    bind(
        "next-same-id",
        Group::Jump,
        &["o"],
        Action::SameId(Way::Next),
        "next item with the same id: call, result, sub-agent",
    ),
    bind(
        "previous-same-id",
        Group::Jump,
        &["O"],
        Action::SameId(Way::Previous),
        "previous item with the same id",
    ),
    bind(
        "back",
        Group::Jump,
        &["' '", "alt-left"],
        Action::Back,
        "back to where the last jump came from",
    ),
    bind(
        "forward",
        Group::Jump,
        &["alt-right"],
        Action::Forward,
        "forward again",
    ),
    bind(
        "set-mark",
        Group::Jump,
        &["m a-z"],
        Action::SetMark,
        "mark the item with a letter or digit",
    ),
    bind(
        "jump-to-mark",
        Group::Jump,
        &["' a-z"],
        Action::ToMark,
        "to the item marked so",
    ),
    bind(
        "unfold",
        Group::Detail,
        &["enter"],
        Action::Unfold,
        "open: fold, hidden lines, node of a tree, sub-agent; again closes it",
    ),
    bind(
        "expand",
        Group::Detail,
        &["l", "right"],
        Action::Expand,
        "open it, and then more of it",
    ),
    bind(
        "collapse",
        Group::Detail,
        &["h", "left"],
        Action::Collapse,
        "collapse, or go to what holds the item",
    ),
    bind(
        "toggle-fold",
        Group::Detail,
        &["z a"],
        Action::ToggleFold,
        "fold or unfold the item or the node",
    ),
    bind(
        "fold-branch",
        Group::Detail,
        &["z c"],
        Action::FoldBranch,
        "fold or unfold a branch that the session left",
    ),
    bind(
        "open-all",
        Group::Detail,
        &["z R"],
        Action::OpenAll,
        "open all folds",
    ),
    bind(
        "close-all",
        Group::Detail,
        &["z M"],
        Action::CloseAll,
        "close all folds",
    ),
    bind(
        "level-up",
        Group::Detail,
        &["+", "="],
        Action::LevelUp,
        "more detail",
    ),
    bind(
        "level-down",
        Group::Detail,
        &["-"],
        Action::LevelDown,
        "less detail",
    ),
    bind(
        "level-1",
        Group::Detail,
        &["z 1"],
        Action::Level(1),
        "detail 1: prompts",
    ),
    bind(
        "level-2",
        Group::Detail,
        &["z 2"],
        Action::Level(2),
        "detail 2: outline",
    ),
    bind(
        "level-3",
        Group::Detail,
        &["z 3"],
        Action::Level(3),
        "detail 3: preview",
    ),
    bind(
        "level-4",
        Group::Detail,
        &["z 4"],
        Action::Level(4),
        "detail 4: full",
    ),
    bind(
        "level-5",
        Group::Detail,
        &["z 5"],
        Action::Level(5),
        "detail 5: the records as JSON",
    ),
    bind(
        "toggle-intents",
        Group::Detail,
        &["z t"],
        Action::ToggleIntents,
        "calls: what they are for, or their commands",
    ),
    bind(
        "toggle-as-of",
        Group::Detail,
        &["z v"],
        Action::ToggleAsOf,
        "dim what the model did not see at the cursor",
    ),
    bind(
        "toggle-thinking",
        Group::Detail,
        &["t", "ctrl-t"],
        Action::ToggleThinking,
        "thinking on or off",
    ),
    bind(
        "toggle-tools",
        Group::Detail,
        &["T", "ctrl-o"],
        Action::ToggleTools,
        "tool bodies: preview or full",
    ),
    bind(
        "next-pane",
        Group::Panes,
        &["tab"],
        Action::Panes(Change::Focus(Way::Next)),
        "keys to the next pane: outline, text, inspector",
    ),
    bind(
        "previous-pane",
        Group::Panes,
        &["shift-tab"],
        Action::Panes(Change::Focus(Way::Previous)),
        "keys to the previous pane",
    ),
    bind(
        "toggle-inspector",
        Group::Panes,
        &["i"],
        Action::Panes(Change::Inspector),
        "inspector of the item on or off",
    ),
    bind(
        "inspect-item",
        Group::Panes,
        &["alt-1"],
        Action::Inspect(Tab::Item),
        "inspector: the call with its result, or the item",
    ),
    bind(
        "inspect-raw",
        Group::Panes,
        &["alt-2"],
        Action::Inspect(Tab::Raw),
        "inspector: its records as they are in the file",
    ),
    bind(
        "inspect-diff",
        Group::Panes,
        &["alt-3"],
        Action::Inspect(Tab::Diff),
        "inspector: what it changes",
    ),
    bind(
        "inspect-context",
        Group::Panes,
        &["alt-4"],
        Action::Inspect(Tab::Context),
        "inspector: the context of its request",
    ),
    bind(
        "inspect-timing",
        Group::Panes,
        &["alt-5"],
        Action::Inspect(Tab::Timing),
        "inspector: when, how long, whose time",
    ),
    bind(
        "inspect-why",
        Group::Panes,
        &["alt-6"],
        Action::Inspect(Tab::Why),
        "inspector: why it is shown as it is",
    ),
    bind(
        "toggle-outline",
        Group::Panes,
        &["I"],
        Action::Panes(Change::Outline),
        "outline on or off",
    ),
    bind(
        "divider-left",
        Group::Panes,
        &["ctrl-left"],
        Action::Panes(Change::DividerLeft),
        "the pane's divider to the left",
    ),
    bind(
        "divider-right",
        Group::Panes,
        &["ctrl-right"],
        Action::Panes(Change::DividerRight),
        "the pane's divider to the right",
    ),
    bind(
        "transcript",
        Group::Views,
        &["1"],
        Action::View(View::Transcript),
        "the text, from any view",
    ),
    bind(
        "brief",
        Group::Views,
        &["B", "F9"],
        Action::View(View::Brief),
        "brief: what was asked, done, left open and answered",
    ),
    bind(
        "timeline",
        Group::Views,
        &["2", "F2"],
        Action::View(View::Timeline),
        "timeline: what ran from when to when",
    ),
    bind(
        "tools",
        Group::Views,
        &["3", "F3"],
        Action::View(View::Tools),
        "tools: all calls in a table, and each tool's",
    ),
    bind(
        "money",
        Group::Views,
        &["4", "F4"],
        Action::View(View::Money),
        "money: what was spent on what; + and - group it",
    ),
    bind(
        "context-view",
        Group::Views,
        &["5", "F5"],
        Action::View(View::Context),
        "context: what fills the window, and cache misses",
    ),
    bind(
        "tree",
        Group::Views,
        &["6", "F6"],
        Action::View(View::Tree),
        "tree: branches and sub-agents",
    ),
    bind(
        "files",
        Group::Views,
        &["7", "F7"],
        Action::View(View::Files),
        "files: who read and changed them, in order",
    ),
    bind(
        "checks",
        Group::Views,
        &["!", "F8"],
        Action::View(View::Checks),
        "checks: what is wrong with calls and results",
    ),
    bind(
        "shift-right",
        Group::Views,
        &[">"],
        Action::Shift(Way::Next),
        "in a view: pan to the right, or sort by the next column",
    ),
    bind(
        "shift-left",
        Group::Views,
        &["<"],
        Action::Shift(Way::Previous),
        "in a view: pan to the left, or sort by the previous column",
    ),
    bind(
        "reverse",
        Group::Views,
        &["z r"],
        Action::Reverse,
        "in a view: sort the other way round",
    ),
    bind(
        "toggle-wrap",
        Group::Detail,
        &["w"],
        Action::ToggleWrap,
        "wrap long lines, or cut them; prose is always wrapped",
    ),
    bind(
        "scroll-right",
        Group::Detail,
        &["z l"],
        Action::Sideways(Way::Next),
        "scroll cut lines to the right",
    ),
    bind(
        "scroll-left",
        Group::Detail,
        &["z h"],
        Action::Sideways(Way::Previous),
        "scroll cut lines to the left",
    ),
    bind(
        "toggle-gutter",
        Group::Detail,
        &["ctrl-n"],
        Action::ToggleGutter,
        "numbers in the gutter: lines of the file, bytes, none",
    ),
    bind(
        "search",
        Group::Find,
        &["/"],
        Action::Search,
        "search all text; u: t: e: b: k: s: in front narrow it",
    ),
    bind(
        "hits",
        Group::Find,
        &["\\"],
        Action::View(View::Hits),
        "all hits with their lines",
    ),
    bind("next-hit", Group::Find, &["n"], Action::NextHit, "next hit"),
    bind(
        "previous-hit",
        Group::Find,
        &["N"],
        Action::PreviousHit,
        "previous hit",
    ),
    bind(
        "next-mention",
        Group::Find,
        &["*"],
        Action::Mention(Way::Next),
        "next mention of the item's path, id or word",
    ),
    bind(
        "previous-mention",
        Group::Find,
        &["#"],
        Action::Mention(Way::Previous),
        "previous mention of it",
    ),
    bind(
        "filter-expression",
        Group::Find,
        &["&"],
        Action::Filter,
        "show only what fits an expression; empty shows all",
    ),
    bind(
        "filter-errors",
        Group::Find,
        &["f e"],
        Action::Quick(Quick::Errors),
        "only errors",
    ),
    bind(
        "filter-tools",
        Group::Find,
        &["f t"],
        Action::Quick(Quick::Tools),
        "only tool calls",
    ),
    bind(
        "filter-prompts",
        Group::Find,
        &["f u"],
        Action::Quick(Quick::Prompts),
        "only what the user said",
    ),
    bind(
        "filter-this-tool",
        Group::Find,
        &["f n"],
        Action::Quick(Quick::Name),
        "only calls of this tool",
    ),
    bind(
        "filter-this-subagent",
        Group::Find,
        &["f s"],
        Action::Quick(Quick::Lane),
        "only this sub-agent",
    ),
    bind(
        "filter-this-id",
        Group::Find,
        &["f i"],
        Action::Quick(Quick::Id),
        "only what has this id",
    ),
    bind(
        "clear-filter",
        Group::Find,
        &["f f"],
        Action::Quick(Quick::Clear),
        "show all again",
    ),
    bind(
        "select-rows",
        Group::Take,
        &["V"],
        Action::Select,
        "select rows; y copies them, o swaps the ends, esc leaves",
    ),
    bind(
        "copy-text",
        Group::Take,
        &["y y"],
        Action::Copy(What::Text),
        "copy the item's text; 3yy copies three items",
    ),
    bind(
        "copy-json",
        Group::Take,
        &["y j"],
        Action::Copy(What::Json),
        "copy the record's JSON",
    ),
    bind(
        "copy-result",
        Group::Take,
        &["y r"],
        Action::Copy(What::Result),
        "copy the result of the call",
    ),
    bind(
        "copy-command",
        Group::Take,
        &["y c"],
        Action::Copy(What::Command),
        "copy the command or the arguments",
    ),
    bind(
        "copy-path",
        Group::Take,
        &["y p"],
        Action::Copy(What::Path),
        "copy path:line of the record",
    ),
    bind(
        "copy-id",
        Group::Take,
        &["y i"],
        Action::Copy(What::Id),
        "copy the id",
    ),
    bind(
        "copy-turn",
        Group::Take,
        &["y t"],
        Action::Copy(What::Turn),
        "copy the turn as Markdown",
    ),
    bind(
        "copy-link",
        Group::Take,
        &["y l"],
        Action::Copy(What::Link),
        "copy path#id, which tv opens at this entry",
    ),
    bind(
        "copy-query",
        Group::Take,
        &["y q"],
        Action::Copy(What::Query),
        "in the raw record: copy the jq path of the row",
    ),
    bind(
        "pipe-record",
        Group::Take,
        &["|"],
        Action::Pipe,
        "pipe the record's JSON to a command",
    ),
    bind(
        "raw",
        Group::Take,
        &["r"],
        Action::Raw,
        "raw JSON of the entry",
    ),
    bind(
        "edit",
        Group::Take,
        &["v"],
        Action::Edit,
        "open the file in $EDITOR at the record's line",
    ),
    bind(
        "resume",
        Group::Take,
        &["ctrl-r"],
        Action::Resume,
        "continue or fork the session in its own agent",
    ),
    bind(
        "sessions",
        Group::Program,
        &["s", "0"],
        Action::Sessions,
        "choose another session",
    ),
    bind(
        "all-sessions",
        Group::Program,
        &["S"],
        Action::Wall,
        "all sessions of the last hours, those that need you first",
    ),
    bind(
        "usage",
        Group::Program,
        &["$"],
        Action::Usage,
        "what all sessions came to, by day, project, model and more",
    ),
    bind(
        "command",
        Group::Program,
        &[":", "ctrl-p"],
        Action::Palette,
        "type a command, or choose one",
    ),
    bind(
        "help",
        Group::Program,
        &["?", "F1"],
        Action::Help,
        "this help; / in it finds",
    ),
    bind(
        "reload",
        Group::Program,
        &["R"],
        Action::Reload,
        "read the session anew",
    ),
    bind(
        "redraw",
        Group::Program,
        &["ctrl-l"],
        Action::Redraw,
        "draw the screen anew",
    ),
    bind(
        "suspend",
        Group::Program,
        &["ctrl-z"],
        Action::Suspend,
        "suspend",
    ),
    bind(
        "toggle-mouse",
        Group::Program,
        &["F12"],
        Action::ToggleMouse,
        "mouse on or off: wheel, clicks, dividers",
    ),
    bind(
        "cancel",
        Group::Program,
        &["esc"],
        Action::Cancel,
        "leave a pop-up, clear the search",
    ),
    bind(
        "quit",
        Group::Program,
        &["q"],
        Action::Quit,
        "back one level, then quit",
    ),
    bind(
        "quit-now",
        Group::Program,
        &["Q", "ctrl-c"],
        Action::QuitNow,
        "quit at once",
    ),
];

/// All headings, in the order of the help.
pub const GROUPS: [Group; 8] = [
    Group::Move,
    Group::Jump,
    Group::Detail,
    Group::Panes,
    Group::Views,
    Group::Find,
    Group::Take,
    Group::Program,
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
