//! A journal: records that say how a state changes, one after the other.
//!
//! **The state is never put together.** Rules read parts of it, each as the record that brought it has it, so that a
//! record read again alone gives the same bodies. What is kept is where parts stand, the facts of the elements that
//! they belong to, and what stands back as long as something better is there.
//!
//! **A change within a part is that part once more**, as far as its value is kept: those of the last parts are. No
//! record holds what it comes to, so its bodies are held in their stubs and never left on disk.
//!
//! A part that is set again replaces what it was in its entry; one that is cut off or deleted leaves it. Entries of an
//! element that is gone are undone, as those of a message that an agent takes back.

mod state;

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::Ordering;

pub(super) use self::state::State;
use self::state::{Found, Place, Region, Step, behind, place_of, walk};
use super::counting::Whose;
use super::{Head, Run, Site, line};
use crate::formats::decoder::{Input, Place as Of};
use crate::formats::definition::kinds::Fact;
use crate::formats::definition::path::Scope;
use crate::formats::definition::rule::{EntryRule, Journal, PartOf, PartRule, Rule};
use crate::formats::definition::when::When;
use crate::formats::json::{self, Json};
use crate::model::body::{Body, Held, Key, Tree};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, Entry, Piece, Role, result_bodies_mut};
use crate::model::tally::Fate;
use crate::model::text::Text;

/// A part of the state that makes something.
struct Part {
    key: Key,
    piece: Piece,
    /// So many steps lead to the element that it belongs to.
    owner: usize,
    /// What that is, of a part that may stand back.
    blocks: Vec<Block>,
    stands_back: bool,
}

/// A rule for parts, with its number among all.
#[derive(Clone, Copy)]
struct Reads {
    number: usize,
    rule: &'static Rule,
    part: &'static PartRule,
}

/// What a record does.
enum Op<'v> {
    /// Puts a value in place of what there was; none takes it away.
    Set(Place, Option<&'v Json<'v>>),
    /// Cuts a list, and adds to it.
    Push(Place, Option<u32>, &'v [Json<'v>]),
}

/// An element that parts belong to, with its facts.
struct Owner<'s> {
    place: &'s [Step],
    head: &'s Json<'s>,
    /// Of the document or the line.
    of: Of<'s>,
}

/// What came of a change.
#[derive(Default)]
struct Made {
    keys: BTreeSet<Key>,
    pieces: HashSet<(Key, Piece)>,
}

impl Run {
    /// Takes a record of a journal. `None`: it changes nothing that rules for parts read.
    pub(super) fn journal(&mut self, input: Input<'_>, out: &mut Batch) -> Option<Fate> {
        let journal = self.definition.journal.as_ref()?;
        let mut state = std::mem::take(&mut self.state);
        let mut fate = None;
        read(journal, input, &mut |op| {
            fate = self.take(&mut state, op, input.place, out);
        });
        self.state = state;
        fate
    }

    fn take(&mut self, state: &mut State, op: Op<'_>, of: Of<'_>, out: &mut Batch) -> Option<Fate> {
        let rules = self.reads();
        let parts = rules.iter().map(|reads| reads.part.of.as_slice());
        let around = state.around(&op, parts);
        let parsed = around
            .as_ref()
            .and_then(|(place, source)| Some((place, json::parse(source).ok()?)));
        let Some((place, mut value)) = parsed else {
            return self.change(state, op, of, out);
        };
        let (Op::Set(at, _) | Op::Push(at, ..)) = &op;
        state::change(&mut value, at.get(place.len()..).unwrap_or_default(), &op);
        let (from, stubs_only) = (
            out.edits.len(),
            std::mem::replace(&mut out.stubs_only, false),
        );
        let fate = self.change(state, Op::Set(place.clone(), Some(&value)), of, out);
        out.stubs_only = stubs_only;
        out.edits.iter_mut().skip(from).for_each(hold);
        fate
    }

    fn change(
        &mut self,
        state: &mut State,
        op: Op<'_>,
        of: Of<'_>,
        out: &mut Batch,
    ) -> Option<Fate> {
        let rules = self.reads();
        let edits = out.edits.len();
        let (region, values) = place(&op, state);
        let place = owner_of(&rules, &region);
        let was = state.head(&place);
        let before = self.entries_of(
            state,
            &rules,
            &Owner {
                place: &place,
                head: &was,
                of,
            },
            out,
        );
        let mut gone = Vec::new();
        for other in state.owners(&region) {
            let head = state.head(&other);
            gone.extend(self.entries_of(
                state,
                &rules,
                &Owner {
                    place: &other,
                    head: &head,
                    of,
                },
                out,
            ));
        }
        let old = state.take(&region);
        state.note(&op, &place, is_list(&rules, &region.place));
        let owners = owners_in(&rules, &values, state);
        for (place, value) in &owners {
            state.put(place.clone(), value);
        }
        let now = state.head(&place);
        self.facts_of(&was, &now, out);
        let mut made = Made::default();
        let owner = Owner {
            place: &place,
            head: &now,
            of,
        };
        for reads in of_owner(&rules, &place) {
            self.make(state, reads, &owner, &values, (&mut made, out));
        }
        for (place, value) in owners {
            let head = state.head(&place);
            self.facts(Scope::of(&head), out);
            let owner = Owner {
                place: &place,
                head: &head,
                of,
            };
            for reads in of_owner(&rules, &place) {
                self.make(
                    state,
                    reads,
                    &owner,
                    &[(place.clone(), value)],
                    (&mut made, out),
                );
            }
        }
        let is_shown = !made.keys.is_empty();
        let mut poorer = self.turn(state, &rules, &owner, out);
        poorer.extend(retire(state, old, &region, (&made, out)));
        for (_, key, mut entry) in gone {
            if !made.keys.contains(&key) && state.undone.contains_key(&key) {
                entry.marks.undone = true;
                out.entry(entry);
            }
        }
        let element = Region::all(place.clone());
        let shows = |state: &State, reads: Reads, key: &Key| {
            element
                .within(state.parts(reads.number))
                .any(|(_, part)| part.key == *key && !part.stands_back)
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
        poorer.retain(|key| {
            !made.keys.contains(key)
                && !of_owner(&rules, &place).any(|reads| shows(state, reads, key))
        });
        out.edits.extend(poorer.into_iter().map(Edit::Retire));
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

    fn reads(&self) -> Vec<Reads> {
        let rules = self.definition.rules.iter().enumerate();
        rules
            .filter_map(|(number, rule)| {
                Some(Reads {
                    number,
                    rule,
                    part: rule.part.as_ref()?,
                })
            })
            .collect()
    }

    /// The entries that parts of an element make, without their blocks.
    fn entries_of(
        &mut self,
        state: &State,
        rules: &[Reads],
        owner: &Owner<'_>,
        out: &mut Batch,
    ) -> Vec<(Reads, Key, Entry)> {
        let region = Region::all(owner.place.to_vec());
        let of_rule = |reads: Reads| {
            let (_, part) = region.within(state.parts(reads.number)).next()?;
            let key = (!part.stands_back).then(|| part.key.clone())?;
            Some((
                reads,
                key.clone(),
                self.entry_of(reads.rule, key, owner, Vec::new(), out),
            ))
        };
        of_owner(rules, owner.place).filter_map(of_rule).collect()
    }

    /// What a rule makes of parts in these values.
    fn make(
        &mut self,
        state: &mut State,
        reads: Reads,
        owner: &Owner<'_>,
        values: &[(Place, &Json<'_>)],
        (made, out): (&mut Made, &mut Batch),
    ) {
        let Reads { number, rule, part } = reads;
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
                    Found::Part(value) => found.push((place.clone(), value)),
                    Found::List(length) => state.set_length(place, length),
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
            if matches!(owner.of, Of::Line | Of::Row(_)) {
                state.keep(&place, value);
            }
            let name = place.last().map(Step::word).unwrap_or_default();
            let scope = Scope {
                record: owner.head,
                here: value,
                name: &name,
            };
            if !rule.when.holds(scope) {
                continue;
            }
            rule.taken.fetch_add(1, Ordering::Relaxed);
            // What has no name of its own is known by its place in the element.
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
        let stands_back = part
            .unless
            .as_ref()
            .is_some_and(|unless| unless.holds(site.scope));
        let entry = self.entry_of(rule, key.clone(), owner, blocks, out);
        let has_usage = entry.usage.is_some();
        let first = parts.first().map(|(_, piece, _)| *piece);
        for (place, piece, blocks) in parts {
            // What only counts is counted by the first part.
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
            let part = Part {
                key: key.clone(),
                piece,
                owner: part.owner,
                blocks: kept,
                stands_back,
            };
            state.parts_mut(number).insert(place, part);
        }
        if !stands_back && (has_usage || !entry.blocks.is_empty()) {
            made.keys.insert(key);
            out.entry(entry);
        }
        out.edits.extend(results);
    }

    fn entry_of(
        &mut self,
        rule: &'static Rule,
        key: Key,
        owner: &Owner<'_>,
        blocks: Vec<Block>,
        out: &mut Batch,
    ) -> Entry {
        let fallback = EntryRule::default();
        let (fields, site) = (rule.entry.as_ref().unwrap_or(&fallback), owner.site());
        let in_runs = (site.scope, &self.runs);
        let whose = (Whose::Session, self.model());
        let usage = self
            .counting
            .usage(&rule.usages, in_runs, (&key, true), whose, out);
        let head = Head {
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

    /// Parts of an element stand back, or no longer. Answers of which entries they were taken.
    fn turn(
        &mut self,
        state: &mut State,
        rules: &[Reads],
        owner: &Owner<'_>,
        out: &mut Batch,
    ) -> Vec<Key> {
        let mut poorer = Vec::new();
        for reads in of_owner(rules, owner.place) {
            let Some(unless) = &reads.part.unless else {
                continue;
            };
            let stands_back = unless.holds(owner.site().scope);
            let region = Region::all(owner.place.to_vec());
            let mut back = Vec::new();
            for part in region.within_mut(state.parts_mut(reads.number)) {
                if part.stands_back == stands_back {
                    continue;
                }
                part.stands_back = stands_back;
                if stands_back {
                    out.push(Edit::RetirePiece {
                        of: part.key.clone(),
                        piece: part.piece,
                    });
                    poorer.push(part.key.clone());
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
        poorer
    }

    /// Facts of what has changed; a title that is taken away is none any more.
    fn facts_of(&mut self, was: &Json<'_>, now: &Json<'_>, out: &mut Batch) {
        for (rule, last) in self.definition.facts.iter().zip(&mut self.facts) {
            let is_there = |value| rule.path.is_there(Scope::of(value));
            if last.is_none() || !is_there(was) || is_there(now) {
                continue;
            }
            *last = None;
            match rule.fact {
                Fact::Title => out.meta(MetaEdit::Title {
                    rank: 2,
                    title: Text::default(),
                }),
                Fact::Other(name) => out.meta(MetaEdit::Fact {
                    name,
                    value: Text::default(),
                }),
                _ => {}
            }
        }
        self.facts(Scope::of(now), out);
    }
}

/// Holds bodies in their stubs.
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

impl Owner<'_> {
    fn site(&self) -> Site<'_> {
        Site {
            scope: Scope::of(self.head),
            place: self.of,
            number: None,
            lane: None,
            depth: 0,
        }
    }

    /// The key of an entry whose element says none: a reading may begin in the middle.
    fn key(&self, rule: &Rule) -> Key {
        let role = rule.entry.as_ref().and_then(|entry| entry.role.as_ref());
        let role = role
            .map_or(Role::Harness, |role| role.of(self.site().scope))
            .word();
        Text::from(&*format!("@{}/{role}", words(Some(self.place))))
    }
}

fn words(steps: Option<&[Step]>) -> String {
    steps
        .unwrap_or_default()
        .iter()
        .map(Step::word)
        .collect::<Vec<_>>()
        .join("/")
}

/// Reads what a record does.
fn read(journal: &Journal, input: Input<'_>, take: &mut dyn FnMut(Op<'_>)) {
    let scope = Scope::of(input.json);
    match input.place {
        Of::Line | Of::Row(_) => {}
        Of::Header => return take(Op::Set(Place::new(), Some(input.json))),
        Of::Element => {
            let Some(list) = &journal.elements else {
                return;
            };
            return take(Op::Push(
                vec![Step::Name(list.clone())],
                None,
                std::slice::from_ref(input.json),
            ));
        }
        _ => return,
    }
    let does = |when: &Option<When>| when.as_ref().is_some_and(|when| when.holds(scope));
    if does(&journal.whole) {
        journal
            .value
            .first(scope, |value| take(Op::Set(Place::new(), Some(value))));
        return;
    }
    let Some(place) = journal.path.first(scope, place_of).flatten() else {
        return;
    };
    if does(&journal.delete) {
        return take(Op::Set(place, None));
    }
    let from = journal.from.as_ref().and_then(|from| from.count(scope));
    let from = from.map(|from| u32::try_from(from).unwrap_or(u32::MAX));
    let mut take = |value: Option<&Json<'_>>| {
        if does(&journal.set) {
            take(Op::Set(place.clone(), value));
        } else if does(&journal.push) {
            take(Op::Push(
                place.clone(),
                from,
                value.map_or(&[], Json::items),
            ));
        }
    };
    let mut is_given = false;
    journal.value.first(scope, |value| {
        is_given = true;
        take(Some(value));
    });
    if !is_given {
        take(None);
    }
}

/// What is no longer as it was, and what stands there now.
fn place<'v>(op: &Op<'v>, state: &State) -> (Region, Vec<(Place, &'v Json<'v>)>) {
    match op {
        Op::Set(place, value) => {
            let values = value.map(|value| (place.clone(), value));
            (Region::all(place.clone()), values.into_iter().collect())
        }
        Op::Push(list, from, items) => {
            let from = from.unwrap_or_else(|| state.length(list));
            let place = |at: u32| [&**list, &[Step::At(at)]].concat();
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

/// The element that goes on with something else in it; the state itself is one.
fn owner_of(rules: &[Reads], region: &Region) -> Place {
    let owner = |reads: &Reads| {
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

/// The rules for parts of an element.
fn of_owner<'r>(rules: &'r [Reads], place: &'r [Step]) -> impl Iterator<Item = Reads> + use<'r> {
    let of = rules.iter().filter(|reads| reads.part.owner == place.len());
    of.filter(|reads| behind(&reads.part.of, place).is_some())
        .copied()
}

/// Whether parts are in elements of this list.
fn is_list(rules: &[Reads], place: &[Step]) -> bool {
    rules.iter().any(|reads| {
        behind(&reads.part.of, place).is_some_and(|rest| rest.starts_with(&[PartOf::Each]))
    })
}

/// Elements with parts in these values.
fn owners_in<'v>(
    rules: &[Reads],
    values: &[(Place, &'v Json<'v>)],
    state: &mut State,
) -> Vec<(Place, &'v Json<'v>)> {
    let mut lists: Vec<&[PartOf]> = Vec::new();
    for Reads { part, .. } in rules {
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
                    Found::Part(value) => owners.push((place.clone(), value)),
                    Found::List(length) => state.set_length(place, length),
                },
            );
        }
    }
    owners
}

/// Takes away what parts were that are not there any more. Answers of which entries.
fn retire(
    state: &mut State,
    old: Vec<(Place, Part)>,
    region: &Region,
    (made, out): (&Made, &mut Batch),
) -> Vec<Key> {
    let mut poorer = Vec::new();
    let mut leave = |of: Key, piece: Piece, out: &mut Batch| {
        if !made.pieces.contains(&(of.clone(), piece)) {
            out.push(Edit::RetirePiece {
                of: of.clone(),
                piece,
            });
            poorer.push(of);
        }
    };
    for key in &made.keys {
        for piece in state.undone.remove(key).unwrap_or_default() {
            leave(key.clone(), piece, out);
        }
    }
    for (place, part) in old.into_iter().filter(|(_, part)| !part.stands_back) {
        let is_gone = place
            .get(..part.owner)
            .is_some_and(|owner| !owner.is_empty() && region.covers(owner));
        if is_gone && !made.keys.contains(&part.key) {
            state.undone.entry(part.key).or_default().push(part.piece);
        } else {
            leave(part.key, part.piece, out);
        }
    }
    poorer
}

#[cfg(test)]
mod tests;
