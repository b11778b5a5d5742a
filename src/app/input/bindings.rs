//! The table of actions with their names, keys and docs. Keymap, help, palette and manual are
//! generated from it.

use std::fmt;
use std::str::FromStr;

use self::BindingGroup::{Detail, Find, Jump, Move, Panes, Program, Take, Views};
use super::action::{Action, CopyTarget, LandmarkKind, PaneChange, QuickFilter, Tab, View, Way};
use crate::model::text::likeness::near_words;

/// An action that can be bound, with its default keys.
pub struct Binding {
    /// Name of the action in the palette, the settings and tests.
    pub name: &'static str,
    /// Key sequences; within one, keys are separated by spaces.
    pub keys: &'static [&'static str],
    /// The action of the keys.
    pub action: Action,
    /// Description of the action, for the help.
    pub doc: &'static str,
    /// Heading in the help.
    pub group: BindingGroup,
    /// Short description, for the pages of keys; empty if that of the previous binding covers both.
    pub cell: &'static str,
    /// Synonyms for the search in help and palette.
    pub also: &'static str,
}

/// Headings of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingGroup {
    Move,
    Jump,
    Detail,
    /// Panes beside the text.
    Panes,
    /// Views of the session.
    Views,
    Find,
    /// Copies and exports.
    Take,
    Program,
}

impl BindingGroup {
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
        cell: "",
        also: "",
    }
}

impl Binding {
    const fn cell(self, cell: &'static str) -> Self {
        Self { cell, ..self }
    }

    const fn also(self, also: &'static str) -> Self {
        Self { also, ..self }
    }
}

/// All bindings, in the order of the help and of the palette: those that answer a question come
/// first.
#[rustfmt::skip] // A line each.
pub const BINDINGS: &[Binding] = &[
    bind("text", Views, &["1"], Action::View(View::Transcript), "the text, from any view").cell("text").also("transcript conversation back"),
    bind("time", Views, &["2", "F2"], Action::View(View::Timeline), "time: what ran from when to when").cell("time: what ran when").also("slow long duration timeline when clock wait waiting latency"),
    bind("tools", Views, &["3", "F3"], Action::View(View::Tools), "tools: all calls in a table, and each tool's").cell("tools: every call").also("slow long duration calls slowest commands"),
    bind("cost", Views, &["4", "F4"], Action::View(View::Money), "cost: what was spent on what; + and - group it").cell("cost: of what").also("price spend spent money bill dollar usage token tokens expensive"),
    bind("context-view", Views, &["5", "F5"], Action::View(View::Context), "context: what fills the window, and cache misses").cell("context: what fills").also("window tokens compaction cache full"),
    bind("tree", Views, &["6", "F6"], Action::View(View::Tree), "tree: branches and sub-agents").cell("tree: agents").also("branches sub-agents subagents lanes fork agents"),
    bind("files", Views, &["7", "F7"], Action::View(View::Files), "files: who read and changed them, in order").cell("files: who changed").also("edit edits changed diff wrote read path"),
    bind("failures", Views, &["!", "8", "F8"], Action::View(View::Checks), "failures: what failed and why, and what else is wrong").cell("failures: why").also("error errors fail failed wrong problem checks why orphan lost stray missing lint finding findings broken"),
    bind("brief", Views, &["B", "9", "F9"], Action::View(View::Brief), "brief: what was asked, done, left open and answered").cell("brief: all in short").also("summary overview what asked done answer result"),
    bind("shift-right", Views, &[">"], Action::Shift(Way::Next), "in a list: sort by the next column; over time: to the right").cell("sort, pan, turn"),
    bind("shift-left", Views, &["<"], Action::Shift(Way::Previous), "in a list: sort by the previous column; over time: to the left"),
    bind("reverse", Views, &["z r"], Action::Reverse, "in a list: sort the other way round"),
    bind("search", Find, &["/"], Action::Search, "search all text; u: t: e: b: k: s: in front narrow it").cell("search").also("find grep where text look"),
    bind("hits", Find, &["\\"], Action::View(View::Hits), "all hits with their lines").cell("all hits").also("search results find grep"),
    bind("diff", Find, &["D"], Action::View(View::Diff), "where this run and another one parted: a branch, a fork, a sub-agent, a session").cell("compare two runs").also("compare difference different fork parted parting versus vs side"),
    bind("next-hit", Find, &["n"], Action::NextHit, "next hit").cell("next, previous hit"),
    bind("previous-hit", Find, &["N"], Action::PreviousHit, "previous hit"),
    bind("next-mention", Find, &["*"], Action::Mention(Way::Next), "next mention of the item's path, id or word").cell("where it is named"),
    bind("previous-mention", Find, &["#"], Action::Mention(Way::Previous), "previous mention of it"),
    bind("first-seen", Find, &["[ *"], Action::FirstSeen, "where the model first saw it, and by which route it came").cell("where it is from").also("from origin source route first seen who came why"),
    bind("filter-expression", Find, &["&"], Action::Filter, "show only what fits an expression; empty shows all").cell("filter").also("only hide find where grep show"),
    bind("filter-failures", Find, &["f e"], Action::Quick(QuickFilter::Errors), "only what failed").cell("only failures").also("error errors fail failed wrong problem"),
    bind("filter-tools", Find, &["f t"], Action::Quick(QuickFilter::Tools), "only tool calls").cell("only calls"),
    bind("filter-prompts", Find, &["f u"], Action::Quick(QuickFilter::Prompts), "only what the user said").cell("only prompts"),
    bind("filter-this-tool", Find, &["f n"], Action::Quick(QuickFilter::Name), "only calls of this tool").cell("only this tool"),
    bind("filter-this-subagent", Find, &["f s"], Action::Quick(QuickFilter::Lane), "only this sub-agent").cell("only this agent"),
    bind("filter-this-id", Find, &["f i"], Action::Quick(QuickFilter::Id), "only what has this id").cell("only this id"),
    bind("clear-filter", Find, &["f f"], Action::Quick(QuickFilter::Clear), "show all again").cell("all again"),
    bind("next-prompt", Jump, &["}"], Action::Seek(LandmarkKind::Prompt, Way::Next), "next prompt; in a list, the next heading").cell("prompts, headings").also("user question asked you section"),
    bind("previous-prompt", Jump, &["{"], Action::Seek(LandmarkKind::Prompt, Way::Previous), "previous prompt; in a list, the heading before"),
    bind("next-failure", Jump, &["e"], Action::Seek(LandmarkKind::Error, Way::Next), "next failure").cell("failures").also("error errors fail failed wrong problem"),
    bind("previous-failure", Jump, &["E"], Action::Seek(LandmarkKind::Error, Way::Previous), "previous failure").also("error errors fail failed wrong problem"),
    bind("pair", Jump, &["%"], Action::Pair, "from a call to its end and back").cell("its end, and back").also("orphan lost stray missing result why"),
    bind("next-tool", Jump, &["] t"], Action::Seek(LandmarkKind::Tool, Way::Next), "next tool call").cell("tool call"),
    bind("previous-tool", Jump, &["[ t"], Action::Seek(LandmarkKind::Tool, Way::Previous), "previous tool call"),
    bind("next-message", Jump, &["] m"], Action::Seek(LandmarkKind::Message, Way::Next), "next answer of the model").cell("answer"),
    bind("previous-message", Jump, &["[ m"], Action::Seek(LandmarkKind::Message, Way::Previous), "previous answer of the model"),
    bind("next-thinking", Jump, &["] k"], Action::Seek(LandmarkKind::Thinking, Way::Next), "next thinking").cell("thinking"),
    bind("previous-thinking", Jump, &["[ k"], Action::Seek(LandmarkKind::Thinking, Way::Previous), "previous thinking"),
    bind("next-subagent", Jump, &["] s"], Action::Seek(LandmarkKind::Lane, Way::Next), "next sub-agent").cell("sub-agent").also("agent lane task"),
    bind("previous-subagent", Jump, &["[ s"], Action::Seek(LandmarkKind::Lane, Way::Previous), "previous sub-agent"),
    bind("next-compaction", Jump, &["] c"], Action::Seek(LandmarkKind::Compaction, Way::Next), "next compaction").cell("compaction").also("summary dropped"),
    bind("previous-compaction", Jump, &["[ c"], Action::Seek(LandmarkKind::Compaction, Way::Previous), "previous compaction"),
    bind("next-branch", Jump, &["] b"], Action::Seek(LandmarkKind::Branch, Way::Next), "next branch").cell("branch").also("fork"),
    bind("previous-branch", Jump, &["[ b"], Action::Seek(LandmarkKind::Branch, Way::Previous), "previous branch"),
    bind("next-image", Jump, &["] i"], Action::Seek(LandmarkKind::Image, Way::Next), "next image").cell("image"),
    bind("previous-image", Jump, &["[ i"], Action::Seek(LandmarkKind::Image, Way::Previous), "previous image"),
    bind("next-open-call", Jump, &["] o"], Action::Seek(LandmarkKind::Open, Way::Next), "next call without a result").cell("call with no end").also("orphan lost missing running pending"),
    bind("previous-open-call", Jump, &["[ o"], Action::Seek(LandmarkKind::Open, Way::Previous), "previous call without a result"),
    bind("next-expensive-turn", Jump, &["] $"], Action::Seek(LandmarkKind::Costly, Way::Next), "next expensive turn").cell("expensive turn").also("cost money dear"),
    bind("previous-expensive-turn", Jump, &["[ $"], Action::Seek(LandmarkKind::Costly, Way::Previous), "previous expensive turn"),
    bind("next-carried", Jump, &["] r"], Action::Seek(LandmarkKind::Carried, Way::Next), "next result that cost much to carry along").cell("result dear to carry").also("cost money dear carried result tokens expensive"),
    bind("previous-carried", Jump, &["[ r"], Action::Seek(LandmarkKind::Carried, Way::Previous), "previous result that cost much to carry along"),
    bind("next-gap", Jump, &["] g"], Action::Seek(LandmarkKind::Gap, Way::Next), "next pause of more than 30 s").cell("pause over 30 s"),
    bind("previous-gap", Jump, &["[ g"], Action::Seek(LandmarkKind::Gap, Way::Previous), "previous pause"),
    bind("next-difference", Jump, &["] d"], Action::Seek(LandmarkKind::Difference, Way::Next), "next difference from the compared run").cell("difference").also("compare diff parted"),
    bind("previous-difference", Jump, &["[ d"], Action::Seek(LandmarkKind::Difference, Way::Previous), "previous difference from the compared run"),
    bind("next-new", Jump, &["] n"], Action::Seek(LandmarkKind::News, Way::Next), "what is new since the last time").cell("what is new"),
    bind("previous-new", Jump, &["[ n"], Action::Seek(LandmarkKind::News, Way::Previous), "back to where the new begins"),
    bind("next-need", Jump, &["] w"], Action::Need(Way::Next), "next session that needs you, on the wall").cell("who needs you").also("waits waiting needs who"),
    bind("previous-need", Jump, &["[ w"], Action::Need(Way::Previous), "previous session that needs you, on the wall"),
    bind("next-same-id", Jump, &["o"], Action::SameId(Way::Next), "next item with the same id: call, result, sub-agent").cell("the same id"),
    bind("previous-same-id", Jump, &["O"], Action::SameId(Way::Previous), "previous item with the same id"),
    bind("back", Jump, &["' '", "alt-left"], Action::Back, "back to where the last jump came from").cell("back"),
    bind("forward", Jump, &["alt-right"], Action::Forward, "forward again"),
    bind("set-mark", Jump, &["m a-z"], Action::SetMark, "mark the item with a letter or digit").cell("mark, go to").also("bookmark"),
    bind("jump-to-mark", Jump, &["' a-z"], Action::ToMark, "to the item marked so"),
    bind("next", Move, &["j", "down"], Action::Next, "next item; scrolls inside a tall one").cell("items"),
    bind("previous", Move, &["k", "up"], Action::Previous, "previous item"),
    bind("line-down", Move, &["ctrl-e"], Action::LineDown, "scroll down a line").cell("a line"),
    bind("line-up", Move, &["ctrl-y"], Action::LineUp, "scroll up a line"),
    bind("page-down", Move, &["space", "pgdn"], Action::PageDown, "page down").cell("a page"),
    bind("page-up", Move, &["b", "pgup"], Action::PageUp, "page up"),
    bind("half-page-down", Move, &["ctrl-d"], Action::HalfDown, "half a page down").cell("half a page"),
    bind("half-page-up", Move, &["ctrl-u"], Action::HalfUp, "half a page up"),
    bind("top", Move, &["g", "home"], Action::Top, "to the beginning").cell("beginning, end"),
    bind("bottom", Move, &["G", "end"], Action::Bottom, "to the end, and follow").also("tail live last latest"),
    bind("toggle-follow", Move, &["F"], Action::ToggleFollow, "follow on or off").cell("follow, or stop").also("tail live"),
    bind("unfold", Detail, &["enter"], Action::Unfold, "open: fold, hidden lines, node of a tree, sub-agent; again closes it").cell("open and close"),
    bind("expand", Detail, &["l", "right"], Action::Expand, "open it, and then more of it").cell("open more, close"),
    bind("collapse", Detail, &["h", "left"], Action::Collapse, "collapse, or go to what holds the item"),
    bind("toggle-fold", Detail, &["z a"], Action::ToggleFold, "fold or unfold the item or the node").cell("fold, a branch too"),
    bind("fold-branch", Detail, &["z c"], Action::FoldBranch, "fold or unfold a branch that the session left"),
    bind("open-all", Detail, &["z R"], Action::OpenAll, "open all folds").cell("open, close all"),
    bind("close-all", Detail, &["z M"], Action::CloseAll, "close all folds"),
    bind("level-up", Detail, &["+", "="], Action::LevelUp, "more detail; over time: closer").cell("more, less detail").also("more details show all zoom"),
    bind("level-down", Detail, &["-"], Action::LevelDown, "less detail; over time: farther"),
    bind("level-1", Detail, &["z 1"], Action::Level(1), "detail 1: prompts").cell("detail 1 to 5"),
    bind("level-2", Detail, &["z 2"], Action::Level(2), "detail 2: outline"),
    bind("level-3", Detail, &["z 3"], Action::Level(3), "detail 3: preview"),
    bind("level-4", Detail, &["z 4"], Action::Level(4), "detail 4: full"),
    bind("level-5", Detail, &["z 5"], Action::Level(5), "detail 5: the records as JSON"),
    bind("toggle-intents", Detail, &["z t"], Action::ToggleIntents, "calls: what they are for, or their commands").cell("purpose or command"),
    bind("toggle-as-of", Detail, &["z v"], Action::ToggleAsOf, "dim what the model did not see at the cursor").cell("what the model saw").also("seen context saw"),
    bind("toggle-thinking", Detail, &["t", "ctrl-t"], Action::ToggleThinking, "thinking on or off").cell("thinking, tools").also("reasoning"),
    bind("toggle-tools", Detail, &["T", "ctrl-o"], Action::ToggleTools, "tool bodies: preview or full"),
    bind("toggle-wrap", Detail, &["w"], Action::ToggleWrap, "wrap long lines, or cut them; prose is always wrapped").cell("wrap or cut lines").also("long lines"),
    bind("scroll-right", Detail, &["z l"], Action::Sideways(Way::Next), "scroll cut lines to the right").cell("scroll cut lines"),
    bind("scroll-left", Detail, &["z h"], Action::Sideways(Way::Previous), "scroll cut lines to the left"),
    bind("toggle-gutter", Detail, &["ctrl-n"], Action::ToggleGutter, "numbers in the gutter: lines of the file, bytes, none").cell("numbers of lines"),
    bind("next-pane", Panes, &["tab"], Action::Panes(PaneChange::Focus(Way::Next)), "keys to the next pane: outline, text, inspector").cell("panes"),
    bind("previous-pane", Panes, &["shift-tab"], Action::Panes(PaneChange::Focus(Way::Previous)), "keys to the previous pane"),
    bind("toggle-inspector", Panes, &["i"], Action::Panes(PaneChange::Inspector), "inspector of the item on or off").cell("inspector").also("details explain why"),
    bind("inspect-item", Panes, &["alt-1"], Action::Inspect(Tab::Item), "inspector: the call with its result, or the item").cell("its tabs"),
    bind("inspect-raw", Panes, &["alt-2"], Action::Inspect(Tab::Raw), "inspector: its records as they are in the file"),
    bind("inspect-diff", Panes, &["alt-3"], Action::Inspect(Tab::Diff), "inspector: what it changes"),
    bind("inspect-context", Panes, &["alt-4"], Action::Inspect(Tab::Context), "inspector: the context of its request"),
    bind("inspect-timing", Panes, &["alt-5"], Action::Inspect(Tab::Timing), "inspector: when, how long, whose time").also("slow long duration why"),
    bind("inspect-why", Panes, &["alt-6"], Action::Inspect(Tab::Why), "inspector: why it is shown as it is").also("explain reason sign why"),
    bind("toggle-outline", Panes, &["I"], Action::Panes(PaneChange::Outline), "outline on or off").cell("outline"),
    bind("divider-left", Panes, &["ctrl-left"], Action::Panes(PaneChange::DividerLeft), "the pane's divider to the left").cell("width"),
    bind("divider-right", Panes, &["ctrl-right"], Action::Panes(PaneChange::DividerRight), "the pane's divider to the right"),
    bind("select-rows", Take, &["V"], Action::Select, "select rows; y copies them, o swaps the ends, esc leaves").cell("select rows").also("mark yank"),
    bind("copy-text", Take, &["y y"], Action::Copy(CopyTarget::Text), "copy the item's text").cell("copy the text").also("clipboard yank"),
    bind("copy-json", Take, &["y j"], Action::Copy(CopyTarget::Json), "copy the record's JSON").cell("its JSON"),
    bind("copy-result", Take, &["y r"], Action::Copy(CopyTarget::Result), "copy the result of the call").cell("the result"),
    bind("copy-command", Take, &["y c"], Action::Copy(CopyTarget::Command), "copy the command or the arguments").cell("the command"),
    bind("copy-path", Take, &["y p"], Action::Copy(CopyTarget::Path), "copy path:line of the record").cell("path:line"),
    bind("copy-id", Take, &["y i"], Action::Copy(CopyTarget::Id), "copy the id").cell("the id"),
    bind("copy-turn", Take, &["y t"], Action::Copy(CopyTarget::Turn), "copy the turn as Markdown").cell("the turn").also("markdown yank"),
    bind("copy-link", Take, &["y l"], Action::Copy(CopyTarget::Link), "copy path#id, which tv opens at this entry").cell("a link for tv").also("url address"),
    bind("copy-query", Take, &["y q"], Action::Copy(CopyTarget::Query), "in the raw record: copy the jq path of the row").cell("jq path of a field"),
    bind("pipe-record", Take, &["|"], Action::Pipe, "pipe the record's JSON to a command").cell("pipe to a command").also("shell jq"),
    bind("raw", Take, &["r"], Action::Raw, "raw JSON of the entry").cell("raw record").also("json record line"),
    bind("edit", Take, &["v"], Action::Edit, "open the file in $EDITOR at the record's line").cell("open in $EDITOR").also("open editor file"),
    bind("resume", Take, &["ctrl-r"], Action::Resume, "continue or fork the session in its own agent").cell("go on in its agent").also("continue fork go on"),
    bind("sessions", Program, &["s", "0"], Action::Sessions, "all sessions of this machine, to choose one").cell("sessions").also("open list picker choose switch find other"),
    bind("all-sessions", Program, &["S"], Action::Wall, "all sessions of the last hours, those that need you first").cell("wall: who needs you").also("who waits needs waiting running live wall status agents"),
    bind("usage", Program, &["$"], Action::Usage, "usage: what all sessions cost, by day, project, model and more").cell("usage of all").also("price spend spent money bill cost ledger tokens budget week month today"),
    bind("alarm", Program, &["W"], Action::Watch, "watch: ring when something comes about, here or on the wall anywhere").cell("watch: ring when").also("alarm notify ring bell alert when waits waiting done"),
    bind("command", Program, &[":", "ctrl-p"], Action::Palette, "type a command, or choose one").cell("type a command"),
    bind("help", Program, &["?", "F1"], Action::Help, "the keys and the signs; / in it finds").cell("help").also("keys what signs marks legend how"),
    bind("reload", Program, &["R"], Action::Reload, "read the session anew").cell("read, draw anew").also("refresh update again"),
    bind("redraw", Program, &["ctrl-l"], Action::Redraw, "draw the screen anew"),
    bind("suspend", Program, &["ctrl-z"], Action::Suspend, "suspend").cell("suspend"),
    bind("toggle-mouse", Program, &["F12"], Action::ToggleMouse, "mouse on or off: wheel, clicks, dividers").cell("mouse"),
    bind("cancel", Program, &["esc"], Action::Cancel, "leave a pop-up, clear the search").cell("close, then leave"),
    bind("quit", Program, &["q"], Action::Quit, "close what is open, then leave").also("exit leave close"),
    bind("quit-now", Program, &["Q", "ctrl-c"], Action::QuitNow, "quit at once").cell("leave at once"),
];

/// All headings, in the order of the help.
pub const GROUPS: [BindingGroup; 8] = [Views, Find, Jump, Move, Detail, Panes, Take, Program];

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binding = BINDINGS.iter().find(|binding| binding.action == *self);
        f.write_str(binding.map_or("?", |binding| binding.name))
    }
}

/// Former names of actions with those of today, for settings that still have them.
const RENAMED: [(&str, &str); 7] = [
    ("transcript", "text"),
    ("timeline", "time"),
    ("money", "cost"),
    ("checks", "failures"),
    ("filter-errors", "filter-failures"),
    ("next-error", "next-failure"),
    ("previous-error", "previous-failure"),
];

impl FromStr for Action {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let binding = BINDINGS.iter().find(|binding| binding.name == name);
        binding.map(|binding| binding.action).ok_or_else(|| {
            let now = RENAMED.iter().find(|(former, _)| *former == name);
            if let Some((_, now)) = now {
                return format!("no action is called {name}: its name is {now} now");
            }
            let near = near_words(name, BINDINGS.iter().map(|binding| binding.name));
            format!("no action is called {name}{near}")
        })
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
        for (former, now) in super::RENAMED {
            let error = former.parse::<Action>().unwrap_err();
            assert!(
                error.contains(now) && now.parse::<Action>().is_ok(),
                "{error}"
            );
        }
    }
}
