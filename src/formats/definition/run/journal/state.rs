//! What is kept of a state: where things stand in it, and facts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::{Op, Part};
use crate::formats::definition::rule::PartOf;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::entry::Piece;
use crate::model::text::{Text, prefix};

/// Of a string in the head of an element so many bytes are kept, of an object so many members, so deep.
const LONGEST: usize = 1 << 10;
const MEMBERS: usize = 1 << 7;
const DEEPEST: usize = 4;
/// Values of parts up to so many bytes are kept, together up to so many.
const LARGEST: usize = 64 << 10;
const HEAVIEST: usize = 1 << 20;
/// A list is not made longer than this by a place beyond its end.
const ITEMS: usize = 1 << 12;
/// Nothing that is told stands deeper in a state.
const STEPS: usize = 32;

/// Where something stands in a state.
pub(super) type Place = Vec<Step>;

/// An element of a list, or a member of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    At(u32),
    Name(Text),
}

impl Step {
    /// The name or number, as one would write it.
    pub(super) fn word(&self) -> Text {
        match self {
            Self::At(at) => Text::from(&*at.to_string()),
            Self::Name(name) => name.clone(),
        }
    }
}

/// A place as a record names it; `None` if it names none.
pub(super) fn place_of(path: &Json<'_>) -> Option<Place> {
    let step = |step: &Json<'_>| match step {
        Json::Integer(at) => u32::try_from(*at).ok().map(Step::At),
        step => step.str().map(|name| Step::Name(Text::clean(name))),
    };
    let place: Place = path.items().iter().map(step).collect::<Option<_>>()?;
    (1..=STEPS).contains(&place.len()).then_some(place)
}

/// A place with all that stands in it; or of a list what stands in it from an element on.
pub(super) struct Region {
    pub(super) place: Place,
    pub(super) from: Option<u32>,
}

impl Region {
    pub(super) fn all(place: Place) -> Self {
        Self { place, from: None }
    }

    pub(super) fn covers(&self, place: &[Step]) -> bool {
        let is_behind =
            |from: u32| matches!(place.get(self.place.len()), Some(Step::At(at)) if *at >= from);
        place.starts_with(&self.place) && self.from.is_none_or(is_behind)
    }

    /// What of a map stands in it.
    pub(super) fn within<'m, T>(
        &self,
        map: &'m BTreeMap<Place, T>,
    ) -> impl Iterator<Item = (&'m Place, &'m T)> {
        map.range(self.first()..)
            .take_while(|(place, _)| self.covers(place))
    }

    pub(super) fn within_mut<'m, T>(
        &self,
        map: &'m mut BTreeMap<Place, T>,
    ) -> impl Iterator<Item = &'m mut T> {
        let inside = map
            .range_mut(self.first()..)
            .take_while(|(place, _)| self.covers(place));
        inside.map(|(_, one)| one)
    }

    fn first(&self) -> Place {
        self.place
            .iter()
            .cloned()
            .chain(self.from.map(Step::At))
            .collect()
    }

    /// Takes it out of a map.
    fn take<T>(&self, map: &mut BTreeMap<Place, T>) -> Vec<(Place, T)> {
        let places: Vec<Place> = self.within(map).map(|(place, _)| place.clone()).collect();
        places
            .into_iter()
            .filter_map(|place| map.remove_entry(&place))
            .collect()
    }
}

/// What is kept of a state.
#[derive(Default)]
pub(in crate::formats::definition::run) struct State {
    /// Facts of the state and of the elements that parts belong to.
    heads: BTreeMap<Place, Json<'static>>,
    /// Lengths of lists with parts in them.
    lengths: BTreeMap<Place, u32>,
    /// Parts that make something, by the number of their rule.
    parts: BTreeMap<usize, BTreeMap<Place, Part>>,
    /// Values of parts that may be changed within, the last of them.
    values: BTreeMap<Place, String>,
    /// Their bytes.
    weight: usize,
    /// Pieces of entries that are undone, and would be there still if such an entry came back.
    pub(super) undone: HashMap<Key, Vec<Piece>>,
}

impl State {
    /// The facts of an element.
    pub(super) fn head(&self, of: &[Step]) -> Json<'static> {
        self.heads
            .get(of)
            .cloned()
            .unwrap_or_else(|| Json::Object(Vec::new()))
    }

    pub(super) fn length(&self, list: &[Step]) -> u32 {
        self.lengths.get(list).copied().unwrap_or(0)
    }

    pub(super) fn set_length(&mut self, list: &[Step], length: u32) {
        self.lengths.insert(list.to_vec(), length);
    }

    /// What a rule makes.
    pub(super) fn parts(&self, rule: usize) -> &BTreeMap<Place, Part> {
        static NONE: BTreeMap<Place, Part> = BTreeMap::new();
        self.parts.get(&rule).unwrap_or(&NONE)
    }

    pub(super) fn parts_mut(&mut self, rule: usize) -> &mut BTreeMap<Place, Part> {
        self.parts.entry(rule).or_default()
    }

    /// Elements in a region, but for the state itself.
    pub(super) fn owners(&self, region: &Region) -> Vec<Place> {
        region
            .within(&self.heads)
            .map(|(place, _)| place.clone())
            .filter(|place| !place.is_empty())
            .collect()
    }

    /// Takes out what stands in a region, and gives back the parts of it.
    pub(super) fn take(&mut self, region: &Region) -> Vec<(Place, Part)> {
        region.take(&mut self.heads);
        region.take(&mut self.lengths);
        let values = region.take(&mut self.values);
        self.weight -= values.iter().map(|(_, value)| value.len()).sum::<usize>();
        self.parts
            .values_mut()
            .flat_map(|parts| region.take(parts))
            .collect()
    }

    /// Keeps the value of a part, in which something may be changed later.
    pub(super) fn keep(&mut self, place: &[Step], value: &Json<'_>) {
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

    /// The outermost part of these within which something changes, and its value.
    pub(super) fn around<'p>(
        &self,
        op: &Op<'_>,
        parts: impl Iterator<Item = &'p [PartOf]>,
    ) -> Option<(Place, String)> {
        let (at, is_within) = match op {
            Op::Set(at, _) => (at, 1),
            Op::Push(list, ..) => (list, 0),
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

    /// Keeps the facts of an element.
    pub(super) fn put(&mut self, owner: Place, value: &Json<'_>) {
        self.heads.insert(owner, pruned(value, DEEPEST));
    }

    /// Notes what a record does within an element.
    pub(super) fn note(&mut self, op: &Op<'_>, owner: &[Step], is_list: bool) {
        match op {
            Op::Set(place, Some(value)) if place.is_empty() => self.put(Place::new(), value),
            Op::Set(place, value) => self.put_within(owner, place, *value),
            Op::Push(list, from, items) => {
                let from = from.unwrap_or_else(|| self.length(list));
                let length = from.saturating_add(u32::try_from(items.len()).unwrap_or(u32::MAX));
                if is_list {
                    self.set_length(list, length);
                }
                let any = (0..length.min(1)).map(|_| Json::Null).collect();
                self.put_within(owner, list, Some(&Json::Array(any)));
            }
        }
        // The list has this element, whether or not one was told of it.
        if let Some((Step::At(at), list)) = owner.split_last()
            && self.length(list) <= *at
        {
            self.set_length(list, at.saturating_add(1));
        }
    }

    fn put_within(&mut self, owner: &[Step], place: &[Step], value: Option<&Json<'_>>) {
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

/// A value without what is long, deep or many in it. Of a list only remains whether there is anything in it.
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

fn set(value: &mut Json<'static>, at: &[Step], now: Option<Json<'static>>) {
    let Some((step, rest)) = at.split_first() else {
        *value = now.unwrap_or(Json::Null);
        return;
    };
    let Step::Name(name) = step else { return };
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

/// Changes a value as a record says, which names a place in it.
pub(super) fn change<'v>(value: &mut Json<'v>, at: &[Step], op: &Op<'v>) {
    let Some((step, rest)) = at.split_first() else {
        match op {
            Op::Set(_, now) => *value = now.cloned().unwrap_or(Json::Null),
            Op::Push(_, from, items) => {
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
        (Step::At(at), Json::Array(items)) => {
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
        (Step::Name(name), value) => {
            if value.is_null() {
                *value = Json::Object(Vec::new());
            }
            let Json::Object(members) = value else { return };
            if rest.is_empty() && matches!(op, Op::Set(_, None)) {
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
        (Step::At(_), _) => {}
    }
}

/// What is left of parts behind a place, if the place leads to them.
pub(super) fn behind<'p>(parts: &'p [PartOf], place: &[Step]) -> Option<&'p [PartOf]> {
    let (before, rest) = parts.split_at_checked(place.len())?;
    let fits = |(part, step): (&PartOf, &Step)| match (part, step) {
        (PartOf::Member(name), Step::Name(at)) => name == at,
        (PartOf::Each, Step::At(_)) => true,
        _ => false,
    };
    before.iter().zip(place).all(fits).then_some(rest)
}

/// Goes over the parts in a value, and over the lists on the way.
pub(super) fn walk<'v>(
    parts: &[PartOf],
    place: &mut Place,
    value: &'v Json<'v>,
    found: &mut dyn FnMut(&Place, Found<'v>),
) {
    match parts.split_first() {
        None if value.is_null() => {}
        None => found(place, Found::Part(value)),
        Some((PartOf::Member(name), rest)) => {
            place.push(Step::Name(name.clone()));
            walk(rest, place, value.get(name), found);
            place.pop();
        }
        Some((PartOf::Each, rest)) => {
            found(
                place,
                Found::List(u32::try_from(value.items().len()).unwrap_or(u32::MAX)),
            );
            for (at, item) in (0..).zip(value.items()) {
                place.push(Step::At(at));
                walk(rest, place, item, found);
                place.pop();
            }
        }
    }
}

/// What a walk comes by.
pub(super) enum Found<'v> {
    Part(&'v Json<'v>),
    List(u32),
}
