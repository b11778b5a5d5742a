//! The state of a journal: paths of emitted parts, and facts of elements.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::{EmittedPart, JournalOp};
use crate::formats::definition::rule::PartOf;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::entry::Piece;
use crate::model::text::{Text, prefix};

/// The limits of facts: bytes of a string, members of an object, depth.
const LONGEST: usize = 1 << 10;
const MEMBERS: usize = 1 << 7;
const DEEPEST: usize = 4;
/// The limits of the cache of values: bytes of one, and of all.
const LARGEST: usize = 64 << 10;
const HEAVIEST: usize = 1 << 20;
/// The limit to which an index beyond its end extends a list.
const ITEMS: usize = 1 << 12;
/// The limit of steps of a path.
const STEPS: usize = 32;

/// A path in the document.
pub(super) type StatePath = Vec<StateStep>;

/// An element of a list, or a member of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StateStep {
    At(u32),
    Name(Text),
}

impl StateStep {
    /// The name or index as text.
    pub(super) fn word(&self) -> Text {
        match self {
            Self::At(at) => Text::from(&*at.to_string()),
            Self::Name(name) => name.clone(),
        }
    }
}

/// Parses the path in a record.
pub(super) fn place_of(path: &Json<'_>) -> Option<StatePath> {
    let step = |step: &Json<'_>| match step {
        Json::Integer(at) => u32::try_from(*at).ok().map(StateStep::At),
        step => step.str().map(|name| StateStep::Name(Text::clean(name))),
    };
    let place: StatePath = path.items().iter().map(step).collect::<Option<_>>()?;
    (1..=STEPS).contains(&place.len()).then_some(place)
}

/// A value of the document, or the elements of a list from an index on.
pub(super) struct Region {
    pub(super) place: StatePath,
    pub(super) from: Option<u32>,
}

impl Region {
    pub(super) fn all(place: StatePath) -> Self {
        Self { place, from: None }
    }

    pub(super) fn covers(&self, place: &[StateStep]) -> bool {
        let is_behind = |from: u32| matches!(place.get(self.place.len()), Some(StateStep::At(at)) if *at >= from);
        place.starts_with(&self.place) && self.from.is_none_or(is_behind)
    }

    /// The items of a map in the region.
    pub(super) fn within<'m, T>(
        &self,
        map: &'m BTreeMap<StatePath, T>,
    ) -> impl Iterator<Item = (&'m StatePath, &'m T)> {
        map.range(self.first()..)
            .take_while(|(place, _)| self.covers(place))
    }

    pub(super) fn within_mut<'m, T>(
        &self,
        map: &'m mut BTreeMap<StatePath, T>,
    ) -> impl Iterator<Item = &'m mut T> {
        let inside = map
            .range_mut(self.first()..)
            .take_while(|(place, _)| self.covers(place));
        inside.map(|(_, one)| one)
    }

    fn first(&self) -> StatePath {
        self.place
            .iter()
            .cloned()
            .chain(self.from.map(StateStep::At))
            .collect()
    }

    /// Removes the region from a map.
    fn remove_from<T>(&self, map: &mut BTreeMap<StatePath, T>) -> Vec<(StatePath, T)> {
        let places: Vec<StatePath> = self.within(map).map(|(place, _)| place.clone()).collect();
        places
            .into_iter()
            .filter_map(|place| map.remove_entry(&place))
            .collect()
    }
}

/// The state of a journal.
#[derive(Default)]
pub(in crate::formats::definition::run) struct JournalState {
    /// Facts of the document and of elements with parts.
    heads: BTreeMap<StatePath, Json<'static>>,
    /// Lengths of lists with parts in them.
    lengths: BTreeMap<StatePath, u32>,
    /// Emitted parts, by the index of their rule.
    parts: BTreeMap<usize, BTreeMap<StatePath, EmittedPart>>,
    /// The cache of values of parts, in which records may change something.
    values: BTreeMap<StatePath, String>,
    /// The bytes of the cache.
    weight: usize,
    /// Pieces of undone entries, which are removed if such an entry is emitted again.
    pub(super) undone: HashMap<Key, Vec<Piece>>,
}

impl JournalState {
    /// The facts of an element.
    pub(super) fn facts(&self, of: &[StateStep]) -> Json<'static> {
        self.heads
            .get(of)
            .cloned()
            .unwrap_or_else(|| Json::Object(Vec::new()))
    }

    pub(super) fn length(&self, list: &[StateStep]) -> u32 {
        self.lengths.get(list).copied().unwrap_or(0)
    }

    pub(super) fn set_length(&mut self, list: &[StateStep], length: u32) {
        self.lengths.insert(list.to_vec(), length);
    }

    /// The emitted parts of a rule.
    pub(super) fn parts(&self, rule: usize) -> &BTreeMap<StatePath, EmittedPart> {
        static NONE: BTreeMap<StatePath, EmittedPart> = BTreeMap::new();
        self.parts.get(&rule).unwrap_or(&NONE)
    }

    pub(super) fn parts_mut(&mut self, rule: usize) -> &mut BTreeMap<StatePath, EmittedPart> {
        self.parts.entry(rule).or_default()
    }

    /// The elements in a region, without the document itself.
    pub(super) fn owners(&self, region: &Region) -> Vec<StatePath> {
        region
            .within(&self.heads)
            .map(|(place, _)| place.clone())
            .filter(|place| !place.is_empty())
            .collect()
    }

    /// Removes a region, and returns its parts.
    pub(super) fn remove(&mut self, region: &Region) -> Vec<(StatePath, EmittedPart)> {
        region.remove_from(&mut self.heads);
        region.remove_from(&mut self.lengths);
        let values = region.remove_from(&mut self.values);
        self.weight -= values.iter().map(|(_, value)| value.len()).sum::<usize>();
        self.parts
            .values_mut()
            .flat_map(|parts| region.remove_from(parts))
            .collect()
    }

    /// Caches the value of a part, in which a record may change something later.
    pub(super) fn cache_value(&mut self, place: &[StateStep], value: &Json<'_>) {
        if !matches!(value, Json::Array(_) | Json::Object(_)) || value.weight() > LARGEST {
            return;
        }
        let source = value.to_source();
        self.weight += source.len();
        let before = self.values.insert(place.to_vec(), source);
        self.weight -= before.map_or(0, |before| before.len());
        while self.weight > HEAVIEST
            && let Some((_, first)) = self.values.pop_first()
        {
            self.weight -= first.len();
        }
    }

    /// The outermost part in which an operation changes something, and its value.
    pub(super) fn enclosing_part<'p>(
        &self,
        op: &JournalOp<'_>,
        parts: impl Iterator<Item = &'p [PartOf]>,
    ) -> Option<(StatePath, String)> {
        let (at, is_within) = match op {
            JournalOp::Set(at, _) => (at, 1),
            JournalOp::Push(list, ..) => (list, 0),
        };
        let place = |part: &[PartOf]| {
            let place = at
                .get(..part.len())
                .filter(|_| part.len() + is_within <= at.len())?;
            behind(part, place)
                .is_some_and(<[_]>::is_empty)
                .then(|| place.to_vec())
        };
        let outermost = parts.filter_map(place).min_by_key(Vec::len)?;
        let value = self.values.get(&outermost)?.clone();
        Some((outermost, value))
    }

    /// Sets the facts of an element.
    pub(super) fn set_facts(&mut self, owner: StatePath, value: &Json<'_>) {
        self.heads.insert(owner, pruned(value, DEEPEST));
    }

    /// Updates the facts of an element by an operation.
    pub(super) fn update_facts(&mut self, op: &JournalOp<'_>, owner: &[StateStep], is_list: bool) {
        match op {
            JournalOp::Set(place, Some(value)) if place.is_empty() => {
                self.set_facts(StatePath::new(), value);
            }
            JournalOp::Set(place, value) => self.set_fact(owner, place, *value),
            JournalOp::Push(list, from, items) => {
                let from = from.unwrap_or_else(|| self.length(list));
                let length = from.saturating_add(u32::try_from(items.len()).unwrap_or(u32::MAX));
                if is_list {
                    self.set_length(list, length);
                }
                let any = (0..length.min(1)).map(|_| Json::Null).collect();
                self.set_fact(owner, list, Some(&Json::Array(any)));
            }
        }
        // The list has this element, whether or not a record has set it.
        if let Some((StateStep::At(at), list)) = owner.split_last()
            && self.length(list) <= *at
        {
            self.set_length(list, at.saturating_add(1));
        }
    }

    fn set_fact(&mut self, owner: &[StateStep], place: &[StateStep], value: Option<&Json<'_>>) {
        let inner = place.get(owner.len()..).unwrap_or_default();
        let head = self
            .heads
            .entry(owner.to_vec())
            .or_insert_with(|| Json::Object(Vec::new()));
        if let Some(depth) = DEEPEST.checked_sub(inner.len()) {
            set(head, inner, value.map(|value| pruned(value, depth)));
        }
    }
}

/// A value within the limits of facts. A list is reduced to whether it is empty.
fn pruned(value: &Json<'_>, depth: usize) -> Json<'static> {
    match value {
        Json::Null | Json::Deep(_) => Json::Null,
        Json::Bool(flag) => Json::Bool(*flag),
        Json::Number(number) => Json::Number(*number),
        Json::Integer(number) => Json::Integer(*number),
        Json::Str(text) => Json::Str(prefix(text, LONGEST).to_owned().into()),
        Json::Array(items) => Json::Array(
            items
                .iter()
                .take(1)
                .map(|_| Json::Object(Vec::new()))
                .collect(),
        ),
        Json::Object(_) if depth == 0 => Json::Object(Vec::new()),
        Json::Object(members) => {
            let one = |(name, value): &(Cow<'_, str>, Json<'_>)| {
                (
                    Cow::Owned(name.clone().into_owned()),
                    pruned(value, depth - 1),
                )
            };
            Json::Object(members.iter().take(MEMBERS).map(one).collect())
        }
    }
}

fn set(value: &mut Json<'static>, at: &[StateStep], now: Option<Json<'static>>) {
    let Some((step, rest)) = at.split_first() else {
        *value = now.unwrap_or(Json::Null);
        return;
    };
    let StateStep::Name(name) = step else { return };
    if !value.is_object() {
        *value = Json::Object(Vec::new());
    }
    let Json::Object(members) = value else { return };
    let is_full = members.len() >= MEMBERS;
    match members
        .iter_mut()
        .rev()
        .find(|(known, _)| **known == **name)
    {
        Some((_, member)) => set(member, rest, now),
        None if is_full || now.is_none() => {}
        None => {
            let mut member = Json::Null;
            set(&mut member, rest, now);
            members.push((Cow::Owned(name.to_string()), member));
        }
    }
}

/// Applies an operation to a value, at a path within it.
pub(super) fn change<'v>(value: &mut Json<'v>, at: &[StateStep], op: &JournalOp<'v>) {
    let Some((step, rest)) = at.split_first() else {
        match op {
            JournalOp::Set(_, now) => *value = now.cloned().unwrap_or(Json::Null),
            JournalOp::Push(_, from, items) => {
                if let Json::Array(all) = value {
                    let from = from
                        .and_then(|from| usize::try_from(from).ok())
                        .unwrap_or(all.len());
                    all.truncate(from);
                    all.extend_from_slice(items);
                }
            }
        }
        return;
    };
    match (step, value) {
        (StateStep::At(at), Json::Array(items)) => {
            let Some(at) = usize::try_from(*at)
                .ok()
                .filter(|at| *at < items.len().max(ITEMS))
            else {
                return;
            };
            if at >= items.len() {
                items.resize(at + 1, Json::Null);
            }
            if let Some(item) = items.get_mut(at) {
                change(item, rest, op);
            }
        }
        (StateStep::Name(name), value) => {
            if value.is_null() {
                *value = Json::Object(Vec::new());
            }
            let Json::Object(members) = value else { return };
            if rest.is_empty() && matches!(op, JournalOp::Set(_, None)) {
                return members.retain(|(known, _)| **known != **name);
            }
            let known = members.iter().rposition(|(known, _)| **known == **name);
            let place = known.unwrap_or(members.len());
            if known.is_none() {
                members.push((Cow::Owned(name.to_string()), Json::Null));
            }
            if let Some((_, member)) = members.get_mut(place) {
                change(member, rest, op);
            }
        }
        (StateStep::At(_), _) => {}
    }
}

/// The rest of the path to parts behind a path that leads to them.
pub(super) fn behind<'p>(parts: &'p [PartOf], place: &[StateStep]) -> Option<&'p [PartOf]> {
    let (before, rest) = parts.split_at_checked(place.len())?;
    let fits = |(part, step): (&PartOf, &StateStep)| match (part, step) {
        (PartOf::Member(name), StateStep::Name(at)) => name == at,
        (PartOf::Each, StateStep::At(_)) => true,
        _ => false,
    };
    before.iter().zip(place).all(fits).then_some(rest)
}

/// Visits the parts in a value, and the lists on the way.
pub(super) fn walk<'v>(
    parts: &[PartOf],
    place: &mut StatePath,
    value: &'v Json<'v>,
    found: &mut dyn FnMut(&StatePath, Visited<'v>),
) {
    match parts.split_first() {
        None if value.is_null() => {}
        None => found(place, Visited::Part(value)),
        Some((PartOf::Member(name), rest)) => {
            place.push(StateStep::Name(name.clone()));
            walk(rest, place, value.get(name), found);
            place.pop();
        }
        Some((PartOf::Each, rest)) => {
            found(
                place,
                Visited::List(u32::try_from(value.items().len()).unwrap_or(u32::MAX)),
            );
            for (at, item) in (0..).zip(value.items()) {
                place.push(StateStep::At(at));
                walk(rest, place, item, found);
                place.pop();
            }
        }
    }
}

/// A part or a list on the way to parts.
pub(super) enum Visited<'v> {
    Part(&'v Json<'v>),
    List(u32),
}
