//! Journals: records that change a document, one after the other.
//!
//! **The document is not kept in memory.** Rules read parts of it from the record that set them, so that a record that is
//! read again alone gives the same bodies. The state holds the paths of emitted parts, small facts of the elements with
//! parts, and parts that are hidden by better ones.
//!
//! **A change within a part emits that part again**, if its value is in the cache of recent values. No record holds the
//! result, so its bodies are kept in memory and never left on disk.
//!
//! A part that is set again replaces its piece of an entry; one that is cut off or deleted removes it. Entries of an element
//! that is removed are undone, like those of a rewound message.

mod state;

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::Ordering;

pub(super) use self::state::JournalState;
use self::state::{Region, StatePath, StateStep, Visited, behind, place_of, walk};
use super::counting::UsageOwner;
use super::{DefinitionDecoder, EntryHead, RecordSite, line};
use crate::formats::decoder::{Input, Place as RecordPlace};
use crate::formats::definition::kinds::FactKind;
use crate::formats::definition::path::Scope;
use crate::formats::definition::rule::{EntryRule, Journal, PartOf, PartRule, Rule};
use crate::formats::definition::when::Conditions;
use crate::formats::json::{self, Json};
use crate::model::body::{Body, Held, Key, Tree};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, Entry, Piece, Role, result_bodies_mut};
use crate::model::tally::Fate;
use crate::model::text::Text;

/// A part of the document that was emitted.
struct EmittedPart {
    key: Key,
    piece: Piece,
    /// The length of the path of its element.
    owner: usize,
    /// Its blocks, if it may be hidden.
    blocks: Vec<Block>,
    is_hidden: bool,
}

/// A rule for parts, with its index.
#[derive(Clone, Copy)]
struct PartReader {
    number: usize,
    rule: &'static Rule,
    part: &'static PartRule,
}

/// The operation of a record.
enum JournalOp<'v> {
    /// Sets a value, or deletes it.
    Set(StatePath, Option<&'v Json<'v>>),
    /// Cuts a list to a length, and appends to it.
    Push(StatePath, Option<u32>, &'v [Json<'v>]),
}

/// An element with parts, and its facts.
struct Element<'s> {
    place: &'s [StateStep],
    head: &'s Json<'s>,
    /// The place of the record.
    of: RecordPlace<'s>,
}

/// What a change has emitted.
#[derive(Default)]
struct ChangeOutput {
    keys: BTreeSet<Key>,
    pieces: HashSet<(Key, Piece)>,
}

impl DefinitionDecoder {
    /// Applies a record of a journal. `None` if no rule for parts reads what it changes.
    pub(super) fn journal(&mut self, input: Input<'_>, out: &mut Batch) -> Option<Fate> {
        let journal = self.definition.journal.as_ref()?;
        let mut state = std::mem::take(&mut self.state);
        let mut fate = None;
        read(journal, input, &mut |op| {
            fate = self.apply(&mut state, op, input.place, out);
        });
        self.state = state;
        fate
    }

    fn apply(
        &mut self,
        state: &mut JournalState,
        op: JournalOp<'_>,
        of: RecordPlace<'_>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let rules = self.reads();
        let parts = rules.iter().map(|reads| reads.part.of.as_slice());
        let enclosing = state.enclosing_part(&op, parts);
        let parsed = enclosing
            .as_ref()
            .and_then(|(place, source)| Some((place, json::parse(source).ok()?)));
        let Some((place, mut value)) = parsed else {
            return self.apply_change(state, op, of, out);
        };
        let (JournalOp::Set(at, _) | JournalOp::Push(at, ..)) = &op;
        state::change(&mut value, at.get(place.len()..).unwrap_or_default(), &op);
        let (from, stubs_only) = (
            out.edits.len(),
            std::mem::replace(&mut out.stubs_only, false),
        );
        let fate = self.apply_change(state, JournalOp::Set(place.clone(), Some(&value)), of, out);
        out.stubs_only = stubs_only;
        out.edits.iter_mut().skip(from).for_each(hold);
        fate
    }

    fn apply_change(
        &mut self,
        state: &mut JournalState,
        op: JournalOp<'_>,
        of: RecordPlace<'_>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let rules = self.reads();
        let edits = out.edits.len();
        let (region, values) = changed_region(&op, state);
        let place = owner_of(&rules, &region);
        let was = state.facts(&place);
        let before = self.entries_of(
            state,
            &rules,
            &Element {
                place: &place,
                head: &was,
                of,
            },
            out,
        );
        let mut gone = Vec::new();
        for other in state.owners(&region) {
            let head = state.facts(&other);
            gone.extend(self.entries_of(
                state,
                &rules,
                &Element {
                    place: &other,
                    head: &head,
                    of,
                },
                out,
            ));
        }
        let old = state.remove(&region);
        state.update_facts(&op, &place, is_list(&rules, &region.place));
        let owners = owners_in(&rules, &values, state);
        for (place, value) in &owners {
            state.set_facts(place.clone(), value);
        }
        let now = state.facts(&place);
        self.facts_of(&was, &now, out);
        let mut made = ChangeOutput::default();
        let owner = Element {
            place: &place,
            head: &now,
            of,
        };
        for reads in of_owner(&rules, &place) {
            self.emit_parts(state, reads, &owner, &values, (&mut made, out));
        }
        for (place, value) in owners {
            let head = state.facts(&place);
            self.facts(Scope::of(&head), out);
            let owner = Element {
                place: &place,
                head: &head,
                of,
            };
            for reads in of_owner(&rules, &place) {
                self.emit_parts(
                    state,
                    reads,
                    &owner,
                    &[(place.clone(), value)],
                    (&mut made, out),
                );
            }
        }
        let is_shown = !made.keys.is_empty();
        let mut shrunk = self.update_hidden(state, &rules, &owner, out);
        shrunk.extend(retire(state, old, &region, (&made, out)));
        for (_, key, mut entry) in gone {
            if !made.keys.contains(&key) && state.undone.contains_key(&key) {
                entry.marks.undone = true;
                out.entry(entry);
            }
        }
        let element = Region::all(place.clone());
        let shows = |state: &JournalState, reads: PartReader, key: &Key| {
            element
                .within(state.parts(reads.number))
                .any(|(_, part)| part.key == *key && !part.is_hidden)
        };
        for (reads, key, entry) in before {
            let now = self.entry_of(reads.rule, key.clone(), &owner, Vec::new(), out);
            if now != entry && shows(state, reads, &key) {
                let usage = now.usage.clone().filter(|_| now.usage != entry.usage);
                let model = now.model.clone();
                out.entry(now);
                // What is set anew takes the place of what was, whether it is more or less.
                out.edits.extend(usage.map(|usage| Edit::Usage {
                    of: key,
                    usage,
                    model,
                }));
            }
        }
        shrunk.retain(|key| {
            !made.keys.contains(key)
                && !of_owner(&rules, &place).any(|reads| shows(state, reads, key))
        });
        out.edits.extend(shrunk.into_iter().map(Edit::Retire));
        let is_merged = out
            .edits
            .iter()
            .skip(edits)
            .any(|edit| !matches!(edit, Edit::Meta(_)));
        match (is_shown, is_merged) {
            (true, _) => Some(Fate::Shown),
            (false, true) => Some(Fate::Merged),
            (false, false) if !made.pieces.is_empty() => {
                Some(Fate::Passed("something better is there"))
            }
            (false, false) => None,
        }
    }

    fn reads(&self) -> Vec<PartReader> {
        let rules = self.definition.rules.iter().enumerate();
        rules
            .filter_map(|(number, rule)| {
                Some(PartReader {
                    number,
                    rule,
                    part: rule.part.as_ref()?,
                })
            })
            .collect()
    }

    /// The entries of the parts of an element, without blocks.
    fn entries_of(
        &mut self,
        state: &JournalState,
        rules: &[PartReader],
        owner: &Element<'_>,
        out: &mut Batch,
    ) -> Vec<(PartReader, Key, Entry)> {
        let region = Region::all(owner.place.to_vec());
        let of_rule = |reads: PartReader| {
            let (_, part) = region.within(state.parts(reads.number)).next()?;
            let key = (!part.is_hidden).then(|| part.key.clone())?;
            Some((
                reads,
                key.clone(),
                self.entry_of(reads.rule, key, owner, Vec::new(), out),
            ))
        };
        of_owner(rules, owner.place).filter_map(of_rule).collect()
    }

    /// Emits the parts of a rule in these values.
    fn emit_parts(
        &mut self,
        state: &mut JournalState,
        reads: PartReader,
        owner: &Element<'_>,
        values: &[(StatePath, &Json<'_>)],
        (made, out): (&mut ChangeOutput, &mut Batch),
    ) {
        let PartReader { number, rule, part } = reads;
        let mut found = Vec::new();
        for (place, value) in values {
            let Some(rest) = behind(&part.of, place) else {
                continue;
            };
            walk(
                rest,
                &mut place.clone(),
                value,
                &mut |place, what| match what {
                    Visited::Part(value) => found.push((place.clone(), value)),
                    Visited::List(length) => state.set_length(place, length),
                },
            );
        }
        let fallback = EntryRule::default();
        let site = owner.site();
        let mut head = self.head(rule.entry.as_ref().unwrap_or(&fallback), site, out);
        let named = rule
            .entry
            .as_ref()
            .and_then(|entry| self.key(entry, site.scope));
        let key = named.unwrap_or_else(|| owner.key(rule));
        let (mut blocks, mut results, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for (place, value) in found {
            if matches!(owner.of, RecordPlace::Line | RecordPlace::Row(_)) {
                state.cache_value(&place, value);
            }
            let name = place.last().map(StateStep::word).unwrap_or_default();
            let scope = Scope {
                record: owner.head,
                here: value,
                name: &name,
            };
            if !rule.when.holds(scope) {
                continue;
            }
            rule.matched.fetch_add(1, Ordering::Relaxed);
            // Parts without a key are identified by their path in the element.
            head.key = Text::from(&*format!("{key}/{}", words(place.get(owner.place.len()..))));
            let mut kinds = Vec::new();
            if let Some(mark) = &rule.mark {
                kinds.extend(line(mark, scope, out));
            }
            for block in &rule.blocks {
                self.block(block, &head, scope, (&mut kinds, &mut results), out);
            }
            for result in &rule.results {
                let at = (scope, results.len());
                self.results(result, &head, at, &mut results, out);
            }
            let piece = Piece::of(&format!("{number}:{}", head.key));
            let from = blocks.len();
            blocks.extend(kinds.into_iter().map(|kind| Batch::block(piece, kind)));
            parts.push((place, piece, from..blocks.len()));
        }
        if parts.is_empty() {
            return;
        }
        let is_hidden = part
            .unless
            .as_ref()
            .is_some_and(|unless| unless.holds(site.scope));
        let entry = self.entry_of(rule, key.clone(), owner, blocks, out);
        let has_usage = entry.usage.is_some();
        let first = parts.first().map(|(_, piece, _)| *piece);
        for (place, piece, blocks) in parts {
            // Usage alone is emitted with the first part.
            if blocks.is_empty() && !(has_usage && Some(piece) == first) {
                continue;
            }
            let kept = part
                .unless
                .as_ref()
                .and_then(|_| entry.blocks.get(blocks))
                .unwrap_or_default()
                .to_vec();
            made.pieces.insert((key.clone(), piece));
            let part = EmittedPart {
                key: key.clone(),
                piece,
                owner: part.owner,
                blocks: kept,
                is_hidden,
            };
            state.parts_mut(number).insert(place, part);
        }
        if !is_hidden && (has_usage || !entry.blocks.is_empty()) {
            made.keys.insert(key);
            out.entry(entry);
        }
        out.edits.extend(results);
    }

    fn entry_of(
        &mut self,
        rule: &'static Rule,
        key: Key,
        owner: &Element<'_>,
        blocks: Vec<Block>,
        out: &mut Batch,
    ) -> Entry {
        let fallback = EntryRule::default();
        let (fields, site) = (rule.entry.as_ref().unwrap_or(&fallback), owner.site());
        let in_runs = (site.scope, &self.runs);
        let whose = (UsageOwner::Session, self.model());
        let usage = self
            .counting
            .usage(&rule.usages, in_runs, (&key, true), whose, out);
        let head = EntryHead {
            key,
            ..self.head(fields, site, out)
        };
        let mut entry = self.entry(fields, head, blocks, site, out);
        entry.usage = usage.map(Box::new);
        // Only one of its parts is what the user said.
        let marks = entry.marks;
        entry.marks.prompt = match &fields.prompt {
            Some(prompt) => prompt.holds(site.scope),
            None => entry.role == Role::User && !(marks.quiet || marks.trace || marks.copy),
        };
        entry
    }

    /// Hides parts of an element, or shows them again. Returns the entries from which parts were removed.
    fn update_hidden(
        &mut self,
        state: &mut JournalState,
        rules: &[PartReader],
        owner: &Element<'_>,
        out: &mut Batch,
    ) -> Vec<Key> {
        let mut shrunk = Vec::new();
        for reads in of_owner(rules, owner.place) {
            let Some(unless) = &reads.part.unless else {
                continue;
            };
            let is_hidden = unless.holds(owner.site().scope);
            let region = Region::all(owner.place.to_vec());
            let mut back = Vec::new();
            for part in region.within_mut(state.parts_mut(reads.number)) {
                if part.is_hidden == is_hidden {
                    continue;
                }
                part.is_hidden = is_hidden;
                if is_hidden {
                    out.push(Edit::RetirePiece {
                        of: part.key.clone(),
                        piece: part.piece,
                    });
                    shrunk.push(part.key.clone());
                } else {
                    back.push((part.key.clone(), part.blocks.clone()));
                }
            }
            let Some((key, _)) = back.first() else {
                continue;
            };
            let key = key.clone();
            let blocks = back.into_iter().flat_map(|(_, blocks)| blocks).collect();
            let entry = self.entry_of(reads.rule, key, owner, blocks, out);
            out.entry(entry);
        }
        shrunk
    }

    /// Emits facts that have changed; a deleted title is emptied.
    fn facts_of(&mut self, was: &Json<'_>, now: &Json<'_>, out: &mut Batch) {
        for (rule, last) in self.definition.facts.iter().zip(&mut self.facts) {
            let is_there = |value| rule.path.is_there(Scope::of(value));
            if last.is_none() || !is_there(was) || is_there(now) {
                continue;
            }
            *last = None;
            match rule.fact {
                FactKind::Title => out.meta(MetaEdit::Title {
                    rank: 2,
                    title: Text::default(),
                }),
                FactKind::Other(name) => out.meta(MetaEdit::Fact {
                    name,
                    value: Text::default(),
                }),
                _ => {}
            }
        }
        self.facts(Scope::of(now), out);
    }
}

/// Keeps bodies in memory.
fn hold(edit: &mut Edit) {
    let bodies: Vec<&mut Body> = match edit {
        Edit::Entry(entry) => entry
            .blocks
            .iter_mut()
            .flat_map(|block| block.kind.bodies_mut())
            .collect(),
        Edit::Result { result, .. } => result_bodies_mut(result).collect(),
        _ => Vec::new(),
    };
    for body in bodies {
        match &body.held {
            Held::Text(text) => body.stub = text.clone(),
            Held::Tree(tree) if **tree == Tree::Null => body.stub = Text::default(),
            Held::Tree(tree) => body.stub = Text::clean(&source_of(tree)),
            Held::Stub | Held::Away => continue,
        }
        body.held = Held::Stub;
    }
}

fn source_of(tree: &Tree) -> String {
    let quoted = |text: &Text| Json::Str(text.as_str().into()).to_source();
    let all = |parts: Vec<String>| parts.join(",");
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Number(number) => number.to_string(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => format!("[{}]", all(items.iter().map(source_of).collect())),
        Tree::Map(members) => {
            let member =
                |(name, value): &(Text, Tree)| format!("{}:{}", quoted(name), source_of(value));
            format!("{{{}}}", all(members.iter().map(member).collect()))
        }
    }
}

impl Element<'_> {
    fn site(&self) -> RecordSite<'_> {
        RecordSite {
            scope: Scope::of(self.head),
            place: self.of,
            number: None,
            lane: None,
            depth: 0,
        }
    }

    /// The key of an entry whose element has none, because the journal is read from the middle.
    fn key(&self, rule: &Rule) -> Key {
        let role = rule.entry.as_ref().and_then(|entry| entry.role.as_ref());
        let role = role
            .map_or(Role::Harness, |role| role.of(self.site().scope))
            .word();
        Text::from(&*format!("@{}/{role}", words(Some(self.place))))
    }
}

fn words(steps: Option<&[StateStep]>) -> String {
    steps
        .unwrap_or_default()
        .iter()
        .map(StateStep::word)
        .collect::<Vec<_>>()
        .join("/")
}

/// Parses the operation of a record, and calls `apply` with it.
fn read(journal: &Journal, input: Input<'_>, apply: &mut dyn FnMut(JournalOp<'_>)) {
    let scope = Scope::of(input.json);
    match input.place {
        RecordPlace::Line | RecordPlace::Row(_) => {}
        RecordPlace::Header => return apply(JournalOp::Set(StatePath::new(), Some(input.json))),
        RecordPlace::Element => {
            let Some(list) = &journal.elements else {
                return;
            };
            return apply(JournalOp::Push(
                vec![StateStep::Name(list.clone())],
                None,
                std::slice::from_ref(input.json),
            ));
        }
        _ => return,
    }
    let does = |when: &Option<Conditions>| when.as_ref().is_some_and(|when| when.holds(scope));
    if does(&journal.whole) {
        journal.value.first(scope, |value| {
            apply(JournalOp::Set(StatePath::new(), Some(value)));
        });
        return;
    }
    let Some(place) = journal.path.first(scope, place_of).flatten() else {
        return;
    };
    if does(&journal.delete) {
        return apply(JournalOp::Set(place, None));
    }
    let from = journal.from.as_ref().and_then(|from| from.count(scope));
    let from = from.map(|from| u32::try_from(from).unwrap_or(u32::MAX));
    let mut apply = |value: Option<&Json<'_>>| {
        if does(&journal.set) {
            apply(JournalOp::Set(place.clone(), value));
        } else if does(&journal.push) {
            apply(JournalOp::Push(
                place.clone(),
                from,
                value.map_or(&[], Json::items),
            ));
        }
    };
    let mut is_given = false;
    journal.value.first(scope, |value| {
        is_given = true;
        apply(Some(value));
    });
    if !is_given {
        apply(None);
    }
}

/// The region that an operation replaces, and the values that it sets there.
fn changed_region<'v>(
    op: &JournalOp<'v>,
    state: &JournalState,
) -> (Region, Vec<(StatePath, &'v Json<'v>)>) {
    match op {
        JournalOp::Set(place, value) => {
            let values = value.map(|value| (place.clone(), value));
            (Region::all(place.clone()), values.into_iter().collect())
        }
        JournalOp::Push(list, from, items) => {
            let from = from.unwrap_or_else(|| state.length(list));
            let place = |at: u32| [&**list, &[StateStep::At(at)]].concat();
            let values = (0..)
                .zip(*items)
                .map(|(at, item)| (place(from.saturating_add(at)), item));
            (
                Region {
                    place: list.clone(),
                    from: Some(from),
                },
                values.collect(),
            )
        }
    }
}

/// The element that the region is a part of; the document itself is one.
fn owner_of(rules: &[PartReader], region: &Region) -> StatePath {
    let owner = |reads: &PartReader| {
        let place = region.place.get(..reads.part.owner)?;
        behind(&reads.part.of, place)
            .filter(|_| !region.covers(place))
            .map(|_| place)
    };
    rules
        .iter()
        .filter_map(owner)
        .max_by_key(|place| place.len())
        .unwrap_or_default()
        .to_vec()
}

/// The rules whose parts belong to an element with this path.
fn of_owner<'r>(
    rules: &'r [PartReader],
    place: &'r [StateStep],
) -> impl Iterator<Item = PartReader> + use<'r> {
    let of = rules.iter().filter(|reads| reads.part.owner == place.len());
    of.filter(|reads| behind(&reads.part.of, place).is_some())
        .copied()
}

/// Whether a list has elements with parts.
fn is_list(rules: &[PartReader], place: &[StateStep]) -> bool {
    rules.iter().any(|reads| {
        behind(&reads.part.of, place).is_some_and(|rest| rest.starts_with(&[PartOf::Each]))
    })
}

/// The elements with parts in these values.
fn owners_in<'v>(
    rules: &[PartReader],
    values: &[(StatePath, &'v Json<'v>)],
    state: &mut JournalState,
) -> Vec<(StatePath, &'v Json<'v>)> {
    let mut lists: Vec<&[PartOf]> = Vec::new();
    for PartReader { part, .. } in rules {
        let list = part.of.get(..part.owner).unwrap_or_default();
        if !list.is_empty() && !lists.contains(&list) {
            lists.push(list);
        }
    }
    let mut owners = Vec::new();
    for (place, value) in values {
        for rest in lists.iter().filter_map(|list| behind(list, place)) {
            walk(
                rest,
                &mut place.clone(),
                value,
                &mut |place, found| match found {
                    Visited::Part(value) => owners.push((place.clone(), value)),
                    Visited::List(length) => state.set_length(place, length),
                },
            );
        }
    }
    owners
}

/// Removes pieces of parts that were not emitted again. Returns their entries.
fn retire(
    state: &mut JournalState,
    old: Vec<(StatePath, EmittedPart)>,
    region: &Region,
    (made, out): (&ChangeOutput, &mut Batch),
) -> Vec<Key> {
    let mut shrunk = Vec::new();
    let mut leave = |of: Key, piece: Piece, out: &mut Batch| {
        if !made.pieces.contains(&(of.clone(), piece)) {
            out.push(Edit::RetirePiece {
                of: of.clone(),
                piece,
            });
            shrunk.push(of);
        }
    };
    for key in &made.keys {
        for piece in state.undone.remove(key).unwrap_or_default() {
            leave(key.clone(), piece, out);
        }
    }
    for (place, part) in old.into_iter().filter(|(_, part)| !part.is_hidden) {
        let is_gone = place
            .get(..part.owner)
            .is_some_and(|owner| !owner.is_empty() && region.covers(owner));
        if is_gone && !made.keys.contains(&part.key) {
            state.undone.entry(part.key).or_default().push(part.piece);
        } else {
            leave(part.key, part.piece, out);
        }
    }
    shrunk
}

#[cfg(test)]
mod tests;
