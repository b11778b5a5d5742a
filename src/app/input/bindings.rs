//! The one table of keys: the keymap, help, palette, manual and the test that they agree are all read
//! from it.

use super::action::{Action, Change, Kind, Quick, Tab, View, Way, What};

/// Keys for an action, with the words that explain it.
pub struct Binding {
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
    group: Group,
    keys: &'static [&'static str],
    action: Action,
    doc: &'static str,
) -> Binding {
    Binding {
        keys,
        action,
        doc,
        group,
    }
}

/// All bindings, in the order of the help.
pub const BINDINGS: &[Binding] = &[
    bind(
        Group::Move,
        &["j", "down"],
        Action::Next,
        "next item; scrolls inside a tall one",
    ),
    bind(Group::Move, &["k", "up"], Action::Previous, "previous item"),
    bind(
        Group::Move,
        &["ctrl-e"],
        Action::LineDown,
        "scroll down a line",
    ),
    bind(Group::Move, &["ctrl-y"], Action::LineUp, "scroll up a line"),
    bind(
        Group::Move,
        &["space", "pgdn"],
        Action::PageDown,
        "page down",
    ),
    bind(Group::Move, &["b", "pgup"], Action::PageUp, "page up"),
    bind(
        Group::Move,
        &["ctrl-d"],
        Action::HalfDown,
        "half a page down",
    ),
    bind(Group::Move, &["ctrl-u"], Action::HalfUp, "half a page up"),
    bind(Group::Move, &["g", "home"], Action::Top, "to the beginning"),
    bind(
        Group::Move,
        &["G", "end"],
        Action::Bottom,
        "to the end, and follow",
    ),
    bind(
        Group::Move,
        &["F"],
        Action::ToggleFollow,
        "follow on or off",
    ),
    bind(
        Group::Jump,
        &["}"],
        Action::Seek(Kind::Prompt, Way::Next),
        "next prompt",
    ),
    bind(
        Group::Jump,
        &["{"],
        Action::Seek(Kind::Prompt, Way::Previous),
        "previous prompt",
    ),
    bind(
        Group::Jump,
        &["e"],
        Action::Seek(Kind::Error, Way::Next),
        "next error",
    ),
    bind(
        Group::Jump,
        &["E"],
        Action::Seek(Kind::Error, Way::Previous),
        "previous error",
    ),
    bind(
        Group::Jump,
        &["%"],
        Action::Pair,
        "from a call to its end and back",
    ),
    bind(
        Group::Jump,
        &["] t"],
        Action::Seek(Kind::Tool, Way::Next),
        "next tool call",
    ),
    bind(
        Group::Jump,
        &["[ t"],
        Action::Seek(Kind::Tool, Way::Previous),
        "previous tool call",
    ),
    bind(
        Group::Jump,
        &["] m"],
        Action::Seek(Kind::Message, Way::Next),
        "next answer of the model",
    ),
    bind(
        Group::Jump,
        &["[ m"],
        Action::Seek(Kind::Message, Way::Previous),
        "previous answer of the model",
    ),
    bind(
        Group::Jump,
        &["] k"],
        Action::Seek(Kind::Thinking, Way::Next),
        "next thinking",
    ),
    bind(
        Group::Jump,
        &["[ k"],
        Action::Seek(Kind::Thinking, Way::Previous),
        "previous thinking",
    ),
    bind(
        Group::Jump,
        &["] s"],
        Action::Seek(Kind::Lane, Way::Next),
        "next sub-agent",
    ),
    bind(
        Group::Jump,
        &["[ s"],
        Action::Seek(Kind::Lane, Way::Previous),
        "previous sub-agent",
    ),
    bind(
        Group::Jump,
        &["] c"],
        Action::Seek(Kind::Compaction, Way::Next),
        "next compaction",
    ),
    bind(
        Group::Jump,
        &["[ c"],
        Action::Seek(Kind::Compaction, Way::Previous),
        "previous compaction",
    ),
    bind(
        Group::Jump,
        &["] b"],
        Action::Seek(Kind::Branch, Way::Next),
        "next branch",
    ),
    bind(
        Group::Jump,
        &["[ b"],
        Action::Seek(Kind::Branch, Way::Previous),
        "previous branch",
    ),
    bind(
        Group::Jump,
        &["] B"],
        Action::Branch,
        "the branch of the count, else 1",
    ),
    bind(
        Group::Jump,
        &["] i"],
        Action::Seek(Kind::Image, Way::Next),
        "next image",
    ),
    bind(
        Group::Jump,
        &["[ i"],
        Action::Seek(Kind::Image, Way::Previous),
        "previous image",
    ),
    bind(
        Group::Jump,
        &["] o"],
        Action::Seek(Kind::Open, Way::Next),
        "next call without a result",
    ),
    bind(
        Group::Jump,
        &["[ o"],
        Action::Seek(Kind::Open, Way::Previous),
        "previous call without a result",
    ),
    bind(
        Group::Jump,
        &["] $"],
        Action::Seek(Kind::Costly, Way::Next),
        "next expensive turn",
    ),
    bind(
        Group::Jump,
        &["[ $"],
        Action::Seek(Kind::Costly, Way::Previous),
        "previous expensive turn",
    ),
    bind(
        Group::Jump,
        &["] g"],
        Action::Seek(Kind::Gap, Way::Next),
        "next pause of more than 30 s",
    ),
    bind(
        Group::Jump,
        &["[ g"],
        Action::Seek(Kind::Gap, Way::Previous),
        "previous pause",
    ),
    bind(
        Group::Jump,
        &["] n"],
        Action::Seek(Kind::News, Way::Next),
        "what is new since the last time",
    ),
    bind(
        Group::Jump,
        &["[ n"],
        Action::Seek(Kind::News, Way::Previous),
        "back to where the new begins",
    ),
    bind(
        Group::Jump,
        &["o"],
        Action::SameId(Way::Next),
        "next item with the same id: call, result, sub-agent",
    ),
    bind(
        Group::Jump,
        &["O"],
        Action::SameId(Way::Previous),
        "previous item with the same id",
    ),
    bind(
        Group::Jump,
        &["' '", "alt-left"],
        Action::Back,
        "back to where the last jump came from",
    ),
    bind(
        Group::Jump,
        &["alt-right"],
        Action::Forward,
        "forward again",
    ),
    bind(
        Group::Jump,
        &["m a-z"],
        Action::SetMark,
        "mark the item with a letter or digit",
    ),
    bind(
        Group::Jump,
        &["' a-z"],
        Action::ToMark,
        "to the item marked so",
    ),
    bind(
        Group::Detail,
        &["enter"],
        Action::Unfold,
        "open: fold, hidden lines, node of a tree, sub-agent; again closes it",
    ),
    bind(
        Group::Detail,
        &["l", "right"],
        Action::Expand,
        "open it, and then more of it",
    ),
    bind(
        Group::Detail,
        &["h", "left"],
        Action::Collapse,
        "collapse, or go to what holds the item",
    ),
    bind(
        Group::Detail,
        &["z a"],
        Action::ToggleFold,
        "fold or unfold the item or the node",
    ),
    bind(
        Group::Detail,
        &["z c"],
        Action::FoldBranch,
        "fold or unfold a branch that the session left",
    ),
    bind(Group::Detail, &["z R"], Action::OpenAll, "open all folds"),
    bind(Group::Detail, &["z M"], Action::CloseAll, "close all folds"),
    bind(Group::Detail, &["+", "="], Action::LevelUp, "more detail"),
    bind(Group::Detail, &["-"], Action::LevelDown, "less detail"),
    bind(
        Group::Detail,
        &["z 1"],
        Action::Level(1),
        "detail 1: prompts",
    ),
    bind(
        Group::Detail,
        &["z 2"],
        Action::Level(2),
        "detail 2: outline",
    ),
    bind(
        Group::Detail,
        &["z 3"],
        Action::Level(3),
        "detail 3: preview",
    ),
    bind(Group::Detail, &["z 4"], Action::Level(4), "detail 4: full"),
    bind(
        Group::Detail,
        &["z 5"],
        Action::Level(5),
        "detail 5: the records as JSON",
    ),
    bind(
        Group::Detail,
        &["z t"],
        Action::ToggleIntents,
        "calls: what they are for, or their commands",
    ),
    bind(
        Group::Detail,
        &["z v"],
        Action::ToggleAsOf,
        "dim what the model did not see at the cursor",
    ),
    bind(
        Group::Detail,
        &["t", "ctrl-t"],
        Action::ToggleThinking,
        "thinking on or off",
    ),
    bind(
        Group::Detail,
        &["T", "ctrl-o"],
        Action::ToggleTools,
        "tool bodies: preview or full",
    ),
    bind(
        Group::Panes,
        &["tab"],
        Action::Panes(Change::Focus(Way::Next)),
        "keys to the next pane: outline, text, inspector",
    ),
    bind(
        Group::Panes,
        &["shift-tab"],
        Action::Panes(Change::Focus(Way::Previous)),
        "keys to the previous pane",
    ),
    bind(
        Group::Panes,
        &["i"],
        Action::Panes(Change::Inspector),
        "inspector of the item on or off",
    ),
    bind(
        Group::Panes,
        &["alt-1"],
        Action::Inspect(Tab::Item),
        "inspector: the call with its result, or the item",
    ),
    bind(
        Group::Panes,
        &["alt-2"],
        Action::Inspect(Tab::Raw),
        "inspector: its records as they are in the file",
    ),
    bind(
        Group::Panes,
        &["alt-3"],
        Action::Inspect(Tab::Diff),
        "inspector: what it changes",
    ),
    bind(
        Group::Panes,
        &["alt-4"],
        Action::Inspect(Tab::Context),
        "inspector: the context of its request",
    ),
    bind(
        Group::Panes,
        &["alt-5"],
        Action::Inspect(Tab::Timing),
        "inspector: when, how long, whose time",
    ),
    bind(
        Group::Panes,
        &["alt-6"],
        Action::Inspect(Tab::Why),
        "inspector: why it is shown as it is",
    ),
    bind(
        Group::Panes,
        &["I"],
        Action::Panes(Change::Outline),
        "outline on or off",
    ),
    bind(
        Group::Panes,
        &["ctrl-left"],
        Action::Panes(Change::DividerLeft),
        "the pane's divider to the left",
    ),
    bind(
        Group::Panes,
        &["ctrl-right"],
        Action::Panes(Change::DividerRight),
        "the pane's divider to the right",
    ),
    bind(
        Group::Views,
        &["1"],
        Action::View(View::Transcript),
        "the text, from any view",
    ),
    bind(
        Group::Views,
        &["B", "F9"],
        Action::View(View::Brief),
        "brief: what was asked, done, left open and answered",
    ),
    bind(
        Group::Views,
        &["2", "F2"],
        Action::View(View::Timeline),
        "timeline: what ran from when to when",
    ),
    bind(
        Group::Views,
        &["3", "F3"],
        Action::View(View::Tools),
        "tools: all calls in a table, and each tool's",
    ),
    bind(
        Group::Views,
        &["4", "F4"],
        Action::View(View::Money),
        "money: what was spent on what; + and - group it",
    ),
    bind(
        Group::Views,
        &["5", "F5"],
        Action::View(View::Context),
        "context: what fills the window, and cache misses",
    ),
    bind(
        Group::Views,
        &["6", "F6"],
        Action::View(View::Tree),
        "tree: branches and sub-agents",
    ),
    bind(
        Group::Views,
        &["7", "F7"],
        Action::View(View::Files),
        "files: who read and changed them, in order",
    ),
    bind(
        Group::Views,
        &["!", "F8"],
        Action::View(View::Checks),
        "checks: what is wrong with calls and results",
    ),
    bind(
        Group::Views,
        &[">"],
        Action::Shift(Way::Next),
        "in a view: pan to the right, or sort by the next column",
    ),
    bind(
        Group::Views,
        &["<"],
        Action::Shift(Way::Previous),
        "in a view: pan to the left, or sort by the previous column",
    ),
    bind(
        Group::Views,
        &["z r"],
        Action::Reverse,
        "in a view: sort the other way round",
    ),
    bind(
        Group::Detail,
        &["w"],
        Action::ToggleWrap,
        "wrap long lines, or cut them; prose is always wrapped",
    ),
    bind(
        Group::Detail,
        &["z l"],
        Action::Sideways(Way::Next),
        "scroll cut lines to the right",
    ),
    bind(
        Group::Detail,
        &["z h"],
        Action::Sideways(Way::Previous),
        "scroll cut lines to the left",
    ),
    bind(
        Group::Detail,
        &["ctrl-n"],
        Action::ToggleGutter,
        "numbers in the gutter: lines of the file, bytes, none",
    ),
    bind(
        Group::Find,
        &["/"],
        Action::Search,
        "search all text; u: t: e: b: k: s: in front narrow it",
    ),
    bind(
        Group::Find,
        &["\\"],
        Action::View(View::Hits),
        "all hits with their lines",
    ),
    bind(Group::Find, &["n"], Action::NextHit, "next hit"),
    bind(Group::Find, &["N"], Action::PreviousHit, "previous hit"),
    bind(
        Group::Find,
        &["*"],
        Action::Mention(Way::Next),
        "next mention of the item's path, id or word",
    ),
    bind(
        Group::Find,
        &["#"],
        Action::Mention(Way::Previous),
        "previous mention of it",
    ),
    bind(
        Group::Find,
        &["&"],
        Action::Filter,
        "show only what fits an expression; empty shows all",
    ),
    bind(
        Group::Find,
        &["f e"],
        Action::Quick(Quick::Errors),
        "only errors",
    ),
    bind(
        Group::Find,
        &["f t"],
        Action::Quick(Quick::Tools),
        "only tool calls",
    ),
    bind(
        Group::Find,
        &["f u"],
        Action::Quick(Quick::Prompts),
        "only what the user said",
    ),
    bind(
        Group::Find,
        &["f n"],
        Action::Quick(Quick::Name),
        "only calls of this tool",
    ),
    bind(
        Group::Find,
        &["f s"],
        Action::Quick(Quick::Lane),
        "only this sub-agent",
    ),
    bind(
        Group::Find,
        &["f i"],
        Action::Quick(Quick::Id),
        "only what has this id",
    ),
    bind(
        Group::Find,
        &["f f"],
        Action::Quick(Quick::Clear),
        "show all again",
    ),
    bind(
        Group::Take,
        &["V"],
        Action::Select,
        "select rows; y copies them, o swaps the ends, esc leaves",
    ),
    bind(
        Group::Take,
        &["y y"],
        Action::Copy(What::Text),
        "copy the item's text; 3yy copies three items",
    ),
    bind(
        Group::Take,
        &["y j"],
        Action::Copy(What::Json),
        "copy the record's JSON",
    ),
    bind(
        Group::Take,
        &["y r"],
        Action::Copy(What::Result),
        "copy the result of the call",
    ),
    bind(
        Group::Take,
        &["y c"],
        Action::Copy(What::Command),
        "copy the command or the arguments",
    ),
    bind(
        Group::Take,
        &["y p"],
        Action::Copy(What::Path),
        "copy path:line of the record",
    ),
    bind(Group::Take, &["y i"], Action::Copy(What::Id), "copy the id"),
    bind(
        Group::Take,
        &["y t"],
        Action::Copy(What::Turn),
        "copy the turn as Markdown",
    ),
    bind(
        Group::Take,
        &["y l"],
        Action::Copy(What::Link),
        "copy path#id, which tv opens at this entry",
    ),
    bind(
        Group::Take,
        &["y q"],
        Action::Copy(What::Query),
        "in the raw record: copy the jq path of the row",
    ),
    bind(
        Group::Take,
        &["|"],
        Action::Pipe,
        "pipe the record's JSON to a command",
    ),
    bind(Group::Take, &["r"], Action::Raw, "raw JSON of the entry"),
    bind(
        Group::Take,
        &["v"],
        Action::Edit,
        "open the file in $EDITOR at the record's line",
    ),
    bind(
        Group::Take,
        &["ctrl-r"],
        Action::Resume,
        "continue or fork the session in its own agent",
    ),
    bind(
        Group::Program,
        &["s", "0"],
        Action::Sessions,
        "choose another session",
    ),
    bind(
        Group::Program,
        &["S"],
        Action::Wall,
        "all sessions of the last hours, those that need you first",
    ),
    bind(
        Group::Program,
        &["$"],
        Action::Usage,
        "what all sessions came to, by day, project, model and more",
    ),
    bind(
        Group::Program,
        &[":", "ctrl-p"],
        Action::Palette,
        "type a command, or choose one",
    ),
    bind(
        Group::Program,
        &["?", "F1"],
        Action::Help,
        "this help; / in it finds",
    ),
    bind(
        Group::Program,
        &["R"],
        Action::Reload,
        "read the session anew",
    ),
    bind(
        Group::Program,
        &["ctrl-l"],
        Action::Redraw,
        "draw the screen anew",
    ),
    bind(Group::Program, &["ctrl-z"], Action::Suspend, "suspend"),
    bind(
        Group::Program,
        &["F12"],
        Action::ToggleMouse,
        "mouse on or off: wheel, clicks, dividers",
    ),
    bind(
        Group::Program,
        &["esc"],
        Action::Cancel,
        "leave a pop-up, clear the search",
    ),
    bind(
        Group::Program,
        &["q"],
        Action::Quit,
        "back one level, then quit",
    ),
    bind(
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
