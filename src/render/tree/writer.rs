//! Writes the rows of a tree, and decides which nodes are open.

use std::sync::Arc;

use itertools::Itertools as _;
use ratatui::text::Span;

use super::children::{TreeChild, children_of, compact_of, is_block, is_container, member};
use super::compact::{compact, needs_quotes};
use super::{Leaf, MAX_DEPTH, PAGE, TreeValue, has_children};
use crate::model::body::Tree;
use crate::model::figures;
use crate::model::text::{Text, without_sgr};
use crate::render::json;
use crate::render::nodes::{NodeId, ValueNode, ValueNodes};
use crate::render::row::{Look, Row};
use crate::render::sheet::{hidden_row, mark_hidden};
use crate::render::source::Source;
use crate::render::wrap::{self, LineFrame, Piece};

/// Keys up to this width are padded to align their values.
const ALIGNED_KEY: usize = 16;
/// Indentation per level.
const STEP: usize = 2;
/// Limit of a closed value in bytes when it is copied.
const COPIED: usize = 4_096;
/// Row limit of a string.
const MANY_ROWS: usize = 200;

/// Options: what is open, and how much is shown.
#[derive(Clone, Copy)]
pub(super) struct TreeOptions {
    /// Deeper nodes are closed.
    pub(crate) depth: usize,
    /// Row limit of a string.
    pub(crate) strings: usize,
    /// Children of a node shown at first.
    pub(crate) page: usize,
    /// Whether folds set by hand apply.
    pub(crate) by_hand: bool,
    /// Whether nodes can be focused one by one.
    pub(crate) walks: bool,
    /// Whether everything is shown as recorded.
    pub(crate) is_raw: bool,
}

/// The position of a value: its prefix on the row and its node in the tree.
struct NodePosition {
    front: Vec<Piece>,
    depth: usize,
    id: NodeId,
    parent: Option<NodeId>,
}

pub(super) struct TreeWriter<'a> {
    options: TreeOptions,
    nodes: ValueNodes<'a>,
    look: &'a Look<'a>,
    width: usize,
    limit: usize,
    rows: Vec<Row>,
    hidden: usize,
    /// Path of the current value; empty for the outermost.
    path: String,
    /// The value shown by each row, where already determined.
    leaves: Vec<Option<Leaf>>,
    /// Line numbers of rows within multi-line strings.
    lines: Vec<u32>,
}

impl<'a> TreeWriter<'a> {
    pub(super) fn new(
        options: TreeOptions,
        nodes: ValueNodes<'a>,
        (width, limit): (usize, usize),
        look: &'a Look<'a>,
    ) -> Self {
        let (rows, leaves, lines) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            options,
            nodes,
            look,
            width,
            limit,
            rows,
            hidden: 0,
            path: String::new(),
            leaves,
            lines,
        }
    }

    /// The value shown by each row.
    pub(super) fn leaves(&self) -> Vec<Leaf> {
        let outermost = Leaf {
            path: Arc::from("."),
            value: None,
            line: 0,
        };
        let line = |row: usize| self.lines.get(row).copied().unwrap_or(0);
        let leaf = |row: usize| {
            self.leaves
                .get(row)
                .cloned()
                .flatten()
                .unwrap_or_else(|| outermost.clone())
        };
        (0..self.rows.len())
            .map(|row| Leaf {
                line: line(row),
                ..leaf(row)
            })
            .collect()
    }

    /// The rows, and the number of values beyond the limit.
    pub(super) fn finish(self) -> (Vec<Row>, usize) {
        (self.rows, self.hidden)
    }

    /// Writes the root, which is always open: the head of its block folds it.
    pub(super) fn root(&mut self, value: TreeValue<'_>) {
        let position = NodePosition {
            front: Vec::new(),
            depth: 0,
            id: self.nodes.root,
            parent: None,
        };
        match value {
            TreeValue::Tree(tree) if has_children(tree) => self.open(position, value, true),
            TreeValue::Json(_) => self.open(position, value, true),
            TreeValue::Tree(_) => self.value(position, value),
        }
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.limit
    }

    fn is_open(&self, id: NodeId, by_default: bool) -> bool {
        let by_hand = if self.options.by_hand {
            self.nodes.get(id)
        } else {
            None
        };
        by_hand.unwrap_or(by_default)
    }

    fn value(&mut self, position: NodePosition, value: TreeValue<'_>) {
        if self.is_full() {
            self.hidden += 1;
            return;
        }
        match value {
            TreeValue::Json(text) if json::is_small(text) => match json::value(text) {
                Some(tree) => self.value(position, TreeValue::Tree(&tree)),
                None => self.string(position, &Text::output(text)),
            },
            TreeValue::Json(text) if text.starts_with('"') => self.large_string(position, text),
            TreeValue::Tree(Tree::Text(text)) => match self.inner(text) {
                Some(tree) => self.value(position, TreeValue::Tree(&tree)),
                None => self.string(position, text),
            },
            TreeValue::Tree(tree) if !has_children(tree) || position.depth >= MAX_DEPTH => {
                self.scalar(position, tree);
            }
            TreeValue::Tree(_) | TreeValue::Json(_) => {
                let by_default =
                    position.depth < self.options.depth && !matches!(value, TreeValue::Json(_));
                if self.is_open(position.id, by_default) {
                    self.open(position, value, false);
                } else {
                    self.closed(position, value);
                }
            }
        }
    }

    /// The tree of a string that contains JSON, as arguments of calls often do; not in raw records.
    fn inner(&self, text: &Text) -> Option<Tree> {
        let tree = if self.options.is_raw {
            None
        } else {
            json::parse(text)
        };
        tree.filter(has_children)
    }

    /// `key: ▸ id: 1, name: x`
    fn closed(&mut self, position: NodePosition, value: TreeValue<'_>) {
        let theme = self.look.theme;
        let glyphs = theme.glyphs();
        let text = compact_of(value, self.width);
        // An object lists its keys instead of a count.
        let size = match value {
            TreeValue::Tree(Tree::List(items)) => {
                format!("{}  ", figures::count(items.len() as u64, "item"))
            }
            TreeValue::Tree(_) => String::new(),
            TreeValue::Json(text) => format!("{}  ", figures::bytes(text.len() as u64)),
        };
        let front = text_of(&position.front);
        let mut spans = position.front;
        spans.push(Span::styled(format!("{} ", glyphs.closed), theme.accent));
        spans.push(Span::styled(size, theme.dim));
        let plain = without_sgr(&text).split_whitespace().join(" ");
        let inner = plain
            .get(1..plain.len().saturating_sub(1))
            .unwrap_or(&plain);
        spans.push(Span::styled(inner.to_owned(), theme.dim));
        let line = wrap::fit(&spans, self.width, glyphs.cut);
        let node = self.node(position.id, position.parent, Some(false));
        let source = Source::own(Text::clean(&format!(
            "{front}{}",
            compact_of(value, COPIED)
        )));
        self.rows.push(Row {
            line: line.into(),
            node,
            hides: 1,
            source,
            ..Row::default()
        });
    }

    /// Writes the children of a node below it.
    fn open(&mut self, position: NodePosition, value: TreeValue<'_>, is_root: bool) {
        let id = position.id;
        let parent = (!is_root).then_some(id);
        let depth = if is_root { 0 } else { position.depth };
        let reach = self.visible_children(id);
        let (children, left) = children_of(value, reach);
        let mut front = self.begin(position, children.first(), is_root);
        let keys = children
            .iter()
            .filter_map(|child| child.key.as_ref())
            .map(|key| wrap::width(key));
        let widest = keys.filter(|key| *key <= ALIGNED_KEY).max().unwrap_or(0);
        let count = children.len();
        for (index, child) in children.into_iter().enumerate() {
            if self.is_full() {
                self.hidden += count - index + left.values();
                return;
            }
            let mut own = std::mem::replace(&mut front, indent(depth));
            let id = if let Some(key) = &child.key {
                let is_closed = !self.is_open(id.member(key), depth + 1 < self.options.depth);
                let is_block = is_block(child.value) && !(is_closed && is_container(child.value));
                let pad = if is_block {
                    0
                } else {
                    widest.saturating_sub(wrap::width(key))
                };
                let name = without_sgr(key).split_whitespace().join(" ");
                own.push(Span::styled(name, self.look.theme.accent));
                own.push(Span::styled(
                    format!(":{}", " ".repeat(pad + 1)),
                    self.look.theme.dim,
                ));
                id.member(key)
            } else {
                own.push(Span::styled("- ", self.look.theme.dim));
                id.item(index)
            };
            let (outer, first) = (self.path.len(), self.rows.len());
            self.step_to(child.key.as_ref(), index);
            self.value(
                NodePosition {
                    front: own,
                    depth: depth + 1,
                    id,
                    parent,
                },
                child.value,
            );
            self.set_leaf(first, child.value);
            self.path.truncate(outer);
        }
        if let Some(words) = left.words() {
            self.more((id.more(reach), parent, depth), &words);
        }
    }

    /// Extends the path by a child.
    fn step_to(&mut self, key: Option<&Text>, index: usize) {
        if !self.options.is_raw {
            return;
        }
        if let Some(key) = key {
            self.path.push_str(&member(key));
        } else {
            if self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(&format!("[{index}]"));
        }
    }

    /// Sets the value of the rows from `first` on, except for those of nested values.
    fn set_leaf(&mut self, first: usize, value: TreeValue<'_>) {
        if !self.options.is_raw {
            return;
        }
        self.leaves.resize(self.rows.len(), None);
        let value = match value {
            TreeValue::Tree(Tree::Text(text) | Tree::Number(text)) => Some(text.clone()),
            TreeValue::Tree(Tree::Null | Tree::Bool(_) | Tree::List(_) | Tree::Map(_))
            | TreeValue::Json(_) => None,
        };
        let leaf = Leaf {
            path: Arc::from(self.path.as_str()),
            value,
            line: 0,
        };
        for known in self.leaves.iter_mut().skip(first) {
            known.get_or_insert_with(|| leaf.clone());
        }
    }

    /// Begins a container: after a key on a row of its own; after a dash on the row of its first
    /// child, unless that child folds by itself.
    fn begin(
        &mut self,
        position: NodePosition,
        first: Option<&TreeChild<'_>>,
        is_root: bool,
    ) -> Vec<Piece> {
        let below = indent(if is_root { 0 } else { position.depth });
        let is_item = position
            .front
            .last()
            .is_some_and(|last| last.content == "- ");
        if is_root {
            return below;
        }
        if is_item && !self.options.walks && first.is_some_and(|child| child.key.is_some()) {
            return position.front;
        }
        let mut line = position.front;
        if self.options.walks {
            line.push(Span::styled(
                self.look.theme.glyphs().open,
                self.look.theme.dim,
            ));
        }
        let node = self.node(position.id, position.parent, Some(true));
        self.push(line, &LineFrame::of(self.width), node);
        below
    }

    /// `… 212 more items`
    fn more(&mut self, (id, parent, depth): (NodeId, Option<NodeId>, usize), words: &str) {
        let mut row = hidden_row(words, 1, self.look);
        row.line.spans.splice(0..0, indent(depth));
        row.node = self.node(id, parent, Some(false));
        self.rows.push(row);
    }

    /// The number of visible children of a node: the first page, and pages opened by hand.
    fn visible_children(&self, id: NodeId) -> usize {
        let mut reach = self.options.page;
        while reach < self.limit && self.is_open(id.more(reach), false) {
            reach = reach.saturating_add(PAGE.1);
        }
        reach.min(self.limit.saturating_add(1))
    }

    fn node(&self, id: NodeId, parent: Option<NodeId>, is_open: Option<bool>) -> Option<ValueNode> {
        self.options.walks.then_some(ValueNode {
            id,
            parent,
            is_open,
        })
    }

    fn scalar(&mut self, position: NodePosition, tree: &Tree) {
        let syntax = &self.look.theme.syntax;
        let frame = LineFrame::hanging(self.width, wrap::width_of(&position.front));
        let value = match tree {
            Tree::Null => Span::styled("null", self.look.theme.dim),
            Tree::Bool(value) => Span::styled(value.to_string(), syntax.constant),
            Tree::Number(number) => Span::styled(number.to_string(), syntax.constant),
            Tree::Text(_) | Tree::List(_) | Tree::Map(_) => {
                Span::styled(compact(tree, self.width * 8), self.look.theme.text)
            }
        };
        let node = self.node(position.id, position.parent, None);
        let mut spans = position.front;
        spans.push(value);
        self.push(spans, &frame, node);
    }

    /// Writes a string behind its key, or below it if it has several lines.
    fn string(&mut self, position: NodePosition, text: &Text) {
        let is_open = self.is_open(position.id, false);
        let most = if is_open {
            self.limit
        } else {
            self.options.strings
        }
        .min(self.limit);
        let bytes = self
            .width
            .saturating_mul(4)
            .saturating_mul(most.min(MANY_ROWS))
            .max(4_096);
        let shown = wrap::head(text, bytes);
        let rest = text.len() - shown.len();
        let first = self.rows.len();
        let (id, parent) = (position.id, position.parent);
        let mut before = 0;
        let lines_left = if text.contains('\n') {
            self.paragraph(position, shown, most)
        } else {
            let plain = without_sgr(shown).into_owned();
            let plain = if needs_quotes(&plain) {
                format!("\"{plain}\"")
            } else {
                plain
            };
            let front = wrap::width_of(&position.front);
            // The whole string is copied, even if it is cut on the screen.
            let source = Source::own(Text::output(&format!("{}{text}", text_of(&position.front))));
            let mut spans = position.front;
            spans.push(Span::styled(plain, self.look.theme.text));
            let (limit, sideways) = (most.saturating_add(2), self.look.sideways);
            let frame = LineFrame {
                limit,
                sideways,
                ..LineFrame::hanging(self.width, front)
            };
            let lines: Vec<Row> = Row::wrapped(&spans, &frame).collect();
            // A row that says that one line is missing takes as much space as that line.
            let is_cut = lines.len() > most.saturating_add(1);
            let most = if is_cut { most } else { lines.len() };
            before = front;
            let with_source = |row: Row| Row {
                source: source.clone(),
                ..row
            };
            self.rows
                .extend(lines.into_iter().take(most).map(with_source));
            usize::from(is_cut)
        };
        let is_cut = lines_left > 0 || rest > 0;
        let node = self.node(
            id,
            parent,
            if is_cut {
                Some(false)
            } else {
                is_open.then_some(true)
            },
        );
        if is_cut {
            let own = |row: &Row| row.line.to_string().trim_end().len().saturating_sub(before);
            let shown_bytes: usize = self.rows.iter().skip(first).map(own).sum();
            let what = match lines_left {
                0 | 1 => format!(
                    "+{}",
                    figures::bytes(text.len().saturating_sub(shown_bytes) as u64)
                ),
                lines => format!(
                    "+{}",
                    figures::count((lines + lines_in(text, shown.len())) as u64, "line")
                ),
            };
            let left = self.limit.saturating_sub(first);
            let mut own: Vec<Row> = self.rows.split_off(first);
            own.truncate(left.max(1));
            mark_hidden(&mut own, &what, 1, self.width, self.look);
            self.rows.extend(own);
        }
        for row in self.rows.iter_mut().skip(first) {
            row.node = node;
        }
    }

    /// Writes the lines of a string below its key, up to a limit; returns the number of hidden
    /// lines.
    fn paragraph(&mut self, position: NodePosition, text: &str, most: usize) -> usize {
        self.push(position.front, &LineFrame::of(self.width), None);
        let plain = without_sgr(text);
        let bar = vec![
            Span::raw(" ".repeat(position.depth * STEP)),
            Span::styled(
                format!("{} ", self.look.theme.glyphs().line.bar),
                self.look.theme.dim,
            ),
        ];
        let first = self.rows.len();
        let mut lines = (0..).zip(plain.lines());
        while self.rows.len() - first < most && !self.is_full() {
            let Some((number, line)) = lines.next() else {
                return 0;
            };
            let frame = LineFrame {
                first: bar.clone(),
                rest: bar.clone(),
                ..LineFrame::of(self.width)
            };
            self.lines.resize(self.rows.len(), 0);
            self.push(
                vec![Span::styled(line.to_owned(), self.look.theme.text)],
                &frame,
                None,
            );
            self.lines.resize(self.rows.len(), number);
        }
        lines.filter(|(_, line)| !line.trim().is_empty()).count()
    }

    /// Writes the beginning of a string that is too large to be decoded.
    fn large_string(&mut self, position: NodePosition, text: &str) {
        let bytes = self.width.saturating_mul(4 * MANY_ROWS);
        let cut = wrap::head(text, bytes).trim_end_matches('\\');
        let shown = json::value(&format!("{cut}\""));
        let shown = shown
            .as_ref()
            .and_then(Tree::as_text)
            .cloned()
            .unwrap_or_else(|| Text::output(cut));
        self.string(position, &shown);
        let what = format!("+{}", figures::bytes((text.len() - cut.len()) as u64));
        let row = hidden_row(&what, 1, self.look);
        self.rows.push(row);
    }

    fn push(&mut self, spans: Vec<Piece>, frame: &LineFrame, node: Option<ValueNode>) {
        let left = self.limit.saturating_sub(self.rows.len()).max(1);
        let (cut, sideways) = (self.look.theme.glyphs().cut, self.look.sideways);
        let frame = LineFrame {
            limit: left,
            cut,
            sideways,
            ..frame.clone()
        };
        let source = Source::own(Text::clean(text_of(&spans).trim_end()));
        self.rows
            .extend(Row::wrapped(&spans, &frame).map(|row| Row {
                node,
                source: source.clone(),
                ..row
            }));
    }
}

fn text_of(spans: &[Piece]) -> String {
    spans.iter().map(|span| span.content.as_ref()).collect()
}

/// Number of lines from an offset on.
fn lines_in(text: &str, from: usize) -> usize {
    text.bytes()
        .skip(from)
        .filter(|byte| *byte == b'\n')
        .count()
}

fn indent(depth: usize) -> Vec<Piece> {
    if depth == 0 {
        Vec::new()
    } else {
        vec![Span::raw(" ".repeat(depth * STEP))]
    }
}
