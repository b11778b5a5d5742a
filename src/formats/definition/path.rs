//! Paths to values in a record.
//!
//! `a.b[].c` follows members and elements; `[0]` and `[-1]` select one element, `[type=text]` those
//! with this member, `[type!=text]` those without it. `a|b` is the first alternative that exists,
//! `='x'` a constant; `$.` starts at the record, `.` is the current value, `@key` its name in its
//! object. `:json` and the other suffixes convert the value.
//!
//! Invariant: evaluating a path without conversions allocates nothing.

pub(super) mod parse;
mod turned;

use std::borrow::Cow;

use itertools::Itertools as _;

use self::turned::{deep, inside, labelled_value, outside, tagged, under, unquoted};
use crate::formats::attached::{joined, output_text};
use crate::formats::json::{self, Json};
use crate::model::entry::Piece;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// The values at which a path starts.
#[derive(Clone, Copy)]
pub(super) struct PathScope<'s> {
    pub(super) record: &'s Json<'s>,
    /// The current value within the record.
    pub(super) here: &'s Json<'s>,
    /// The name of the current value in its object.
    pub(super) name: &'s str,
}

impl<'s> PathScope<'s> {
    /// A scope whose current value is the record itself.
    pub(super) fn of(record: &'s Json<'s>) -> Self {
        Self {
            record,
            here: record,
            name: "",
        }
    }
}

/// A path: its alternatives in order. A path that a rule does not give has none, and yields nothing.
#[derive(Debug, Default)]
pub(crate) struct RecordPath(Vec<Alternatives>);

#[derive(Debug)]
enum Alternatives {
    Constant(Json<'static>),
    Name,
    All(Vec<RecordPath>),
    Steps {
        from_record: bool,
        steps: Vec<PathStep>,
    },
}

#[derive(Debug, PartialEq)]
enum PathStep {
    Member(Box<str>),
    Each,
    /// The elements of a list; any other value is taken itself.
    Every,
    Place(i32),
    /// The elements whose member equals the text, or does not.
    Where(Box<[Box<str>]>, Box<str>, bool),
    Json,
    Scale(f64),
    Utc,
    Local,
    FirstLine,
    Inside(Box<str>),
    Outside(Box<str>),
    /// Each text between `<tag>` and `</tag>`.
    Tagged(Box<str>),
    /// The text without these tags and their content.
    Without(Box<str>),
    Not(Box<str>),
    After(Box<str>),
    Below(Box<str>),
    /// Each text behind this marker, up to the next one.
    Behind(Box<str>),
    /// The value behind this label, in the lines that an agent adds before (`Head`) or after
    /// (`Foot`) an output.
    Head(Box<str>),
    Foot(Box<str>),
    Number,
    /// The letters, digits and dashes at the beginning of a text.
    Id,
    /// All members of this name, at any depth.
    Deep(Box<str>),
    /// An object of all members whose dotted names begin with this name.
    Under(Box<str>),
    Print,
    Unquoted,
    Source,
}

impl RecordPath {
    /// A path that yields the values of all given paths in turn.
    pub(super) fn all(paths: Vec<Self>) -> Self {
        Self(vec![Alternatives::All(paths)])
    }

    /// Calls `found` for each value of the first alternative that has any.
    pub(super) fn each(&self, scope: PathScope<'_>, found: &mut dyn FnMut(PathScope<'_>)) {
        for choice in &self.0 {
            let mut is_there = false;
            choice.visit(scope, &mut |name, here| {
                if !is_nothing(here) {
                    is_there = true;
                    found(PathScope {
                        record: scope.record,
                        here,
                        name,
                    });
                }
            });
            if is_there {
                return;
            }
        }
    }

    pub(super) fn is_given(&self) -> bool {
        !self.0.is_empty()
    }

    /// As [`Self::each`], but with the elements of a list instead of the list. Without a path there
    /// is one element, the current value.
    pub(super) fn elements(&self, scope: PathScope<'_>, found: &mut dyn FnMut(PathScope<'_>)) {
        if !self.is_given() {
            return found(scope);
        }
        self.each(scope, &mut |one| match one.here {
            Json::Array(items) => items
                .iter()
                .for_each(|here| found(PathScope { here, ..one })),
            _ => found(one),
        });
    }

    pub(super) fn first<R>(
        &self,
        scope: PathScope<'_>,
        take: impl FnOnce(&Json<'_>) -> R,
    ) -> Option<R> {
        let (mut take, mut taken) = (Some(take), None);
        self.each(scope, &mut |found| {
            if let Some(take) = take.take() {
                taken = Some(take(found.here));
            }
        });
        taken
    }

    /// Whether the path yields a value that is not empty.
    pub(super) fn has_value(&self, scope: PathScope<'_>) -> bool {
        self.first(scope, |_| ()).is_some()
    }

    /// Whether the path yields any value, even an empty list. The header of a document has its list
    /// of messages emptied.
    pub(super) fn exists(&self, scope: PathScope<'_>) -> bool {
        let mut exists = false;
        for choice in &self.0 {
            choice.visit(scope, &mut |_, value| {
                exists |= !(value.is_null() || value.str().is_some_and(str::is_empty));
            });
        }
        exists
    }

    pub(super) fn is_constant(&self) -> bool {
        matches!(self.0.as_slice(), [Alternatives::Constant(_)])
    }

    /// The last member name of the first alternative.
    pub(super) fn last_member(&self) -> Option<&str> {
        let Some(Alternatives::Steps { steps, .. }) = self.0.first() else {
            return None;
        };
        steps.iter().rev().find_map(|step| match step {
            PathStep::Member(name) => Some(&**name),
            _ => None,
        })
    }

    /// The constants among the alternatives.
    pub(super) fn constants(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|choice| match choice {
            Alternatives::Constant(text) => text.str(),
            _ => None,
        })
    }

    /// Passes all values to `take` as one text, joined by line breaks. Values other than texts are
    /// written as JSON.
    pub(super) fn string<R>(
        &self,
        scope: PathScope<'_>,
        take: impl FnOnce(&str) -> R,
    ) -> Option<R> {
        self.written(scope, output_text, take)
    }

    /// As [`Self::string`], without values other than texts.
    pub(super) fn prose<R>(&self, scope: PathScope<'_>, take: impl FnOnce(&str) -> R) -> Option<R> {
        self.written(scope, prose_of, take)
    }

    fn written<R>(
        &self,
        scope: PathScope<'_>,
        text_of: impl for<'j> Fn(&'j Json<'_>) -> Cow<'j, str>,
        take: impl FnOnce(&str) -> R,
    ) -> Option<R> {
        if let [Alternatives::Constant(Json::Str(text))] = self.0.as_slice() {
            return Some(take(text));
        }
        if !self.has_several() {
            return self.first(scope, |value| take(&text_of(value)));
        }
        let mut all: Option<String> = None;
        self.each(scope, &mut |found| {
            let text = text_of(found.here);
            match &mut all {
                Some(all) => {
                    all.push('\n');
                    all.push_str(&text);
                }
                None => all = Some(text.into_owned()),
            }
        });
        all.map(|text| take(&text))
    }

    /// The first value as cleaned text, if it is a string or a number.
    pub(super) fn word(&self, scope: PathScope<'_>) -> Option<Text> {
        if let [Alternatives::All(paths)] = self.0.as_slice() {
            let words: Option<Vec<Text>> = paths.iter().map(|path| path.word(scope)).collect();
            return words.map(|words| Text::clean(&words.iter().map(Text::as_str).join("/")));
        }
        self.first(scope, |value| word_of(value).map(|word| Text::clean(&word)))
            .flatten()
    }

    /// The sum of all numeric values.
    pub(super) fn number(&self, scope: PathScope<'_>) -> Option<f64> {
        let mut sum = None;
        self.each(scope, &mut |found| {
            if let Some(number) = found.here.number() {
                sum = Some(sum.unwrap_or(0.0) + number);
            }
        });
        sum
    }

    /// The first value as a timestamp.
    pub(super) fn moment(&self, scope: PathScope<'_>) -> Option<Timestamp> {
        fn of(value: &Json<'_>) -> Option<Timestamp> {
            value.moment()
        }
        self.first(scope, of).flatten()
    }

    /// The first value as a count.
    pub(super) fn count(&self, scope: PathScope<'_>) -> Option<u64> {
        fn of(value: &Json<'_>) -> Option<u64> {
            value.count()
        }
        self.first(scope, of).flatten()
    }

    fn has_several(&self) -> bool {
        let several = |step: &PathStep| {
            matches!(
                step,
                PathStep::Each | PathStep::Every | PathStep::Behind(_) | PathStep::Where(..)
            )
        };
        self.0.iter().any(|choice| match choice {
            Alternatives::All(_) => true,
            Alternatives::Steps { steps, .. } => steps.iter().any(several),
            Alternatives::Constant(_) | Alternatives::Name => false,
        })
    }
}

/// The text of a value, or the joined texts of a list of parts.
fn prose_of<'j>(value: &'j Json<'_>) -> Cow<'j, str> {
    let Json::Array(items) = value else {
        return output_text(value);
    };
    let texts = items.iter().filter_map(|item| item.part_text());
    joined(texts.map(Cow::Borrowed))
}

/// The text of a string or a number.
pub(super) fn word_of<'j>(value: &'j Json<'_>) -> Option<Cow<'j, str>> {
    match value {
        Json::Str(_) => value.filled().map(Cow::Borrowed),
        Json::Integer(_) | Json::Number(_) => Some(value.to_source().into()),
        _ => None,
    }
}

/// Whether a value counts as missing when alternatives are tried.
fn is_nothing(value: &Json<'_>) -> bool {
    match value {
        Json::Null => true,
        Json::Str(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl Alternatives {
    fn visit(&self, scope: PathScope<'_>, found: &mut dyn FnMut(&str, &Json<'_>)) {
        match self {
            Self::Constant(value) => found("", value),
            Self::Name => found(scope.name, &Json::Str(scope.name.into())),
            Self::All(paths) => {
                for path in paths {
                    path.each(scope, &mut |one| found(one.name, one.here));
                }
            }
            Self::Steps { from_record, steps } => {
                let start = if *from_record {
                    scope.record
                } else {
                    scope.here
                };
                walk(steps, start, scope.name, found);
            }
        }
    }
}

fn walk(steps: &[PathStep], value: &Json<'_>, name: &str, found: &mut dyn FnMut(&str, &Json<'_>)) {
    let Some((step, rest)) = steps.split_first() else {
        return found(name, value);
    };
    let mut go_on = |value: &Json<'_>| walk(rest, value, name, &mut *found);
    match step {
        PathStep::Member(member) => go_on(value.get(member)),
        PathStep::Place(place) => {
            let items = value.items();
            let place = usize::try_from(*place).ok().or_else(|| {
                items
                    .len()
                    .checked_sub(usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX))
            });
            if let Some(item) = place.and_then(|place| items.get(place)) {
                go_on(item);
            }
        }
        PathStep::Every if !matches!(value, Json::Array(_) | Json::Object(_)) => go_on(value),
        PathStep::Each | PathStep::Every => {
            value.items().iter().for_each(&mut go_on);
            for (name, member) in value.members() {
                walk(rest, member, name, found);
            }
        }
        PathStep::Where(members, wanted, is_so) => {
            let is_such = |item: &&Json<'_>| is_word(item, members, wanted) == *is_so;
            value.items().iter().filter(is_such).for_each(go_on);
        }
        PathStep::Scale(factor) => match value.number() {
            Some(number) => go_on(&Json::Number(number * factor)),
            None => go_on(value),
        },
        PathStep::Not(text) => {
            let is_number = || {
                value
                    .number()
                    .is_some_and(|number| text.parse() == Ok(number))
            };
            if value.str().is_none_or(|value| *value != **text) && !is_number() {
                go_on(value);
            }
        }
        PathStep::After(mark) => {
            if let Some((_, rest)) = value.str().and_then(|text| text.split_once(&**mark)) {
                go_on(&Json::Str(rest.into()));
            }
        }
        PathStep::Below(mark) => {
            let text = value.str().and_then(|text| text.split_once(&**mark));
            if let Some((_, below)) = text.and_then(|(_, rest)| rest.split_once('\n')) {
                go_on(&Json::Str(below.into()));
            }
        }
        PathStep::Head(mark) | PathStep::Foot(mark) => {
            let is_head = matches!(step, PathStep::Head(_));
            if let Some(rest) = value
                .str()
                .and_then(|text| labelled_value(text, mark, is_head))
            {
                go_on(&Json::Str(rest.into()));
            }
        }
        PathStep::Number => match value.str() {
            Some(text) => {
                let end = text
                    .find(|c: char| !(c.is_ascii_digit() || c == '-'))
                    .unwrap_or(text.len());
                if let Ok(number) = text.get(..end).unwrap_or_default().parse() {
                    go_on(&Json::Number(number));
                }
            }
            None => go_on(value),
        },
        PathStep::Deep(_) if value.str().is_some() => go_on(value),
        PathStep::Deep(_)
        | PathStep::Under(_)
        | PathStep::Print
        | PathStep::Unquoted
        | PathStep::Source => {
            made_of(step, value).iter().for_each(go_on);
        }
        // The other steps convert a text.
        step => match value.str() {
            Some(text) => walk_text(step, text, &mut go_on),
            None => go_on(value),
        },
    }
}

/// The value that a conversion makes from a value of any type; `None` if it finds nothing to
/// convert.
fn made_of<'a>(step: &PathStep, value: &Json<'a>) -> Option<Json<'a>> {
    Some(match step {
        PathStep::Under(name) => return under(value, name),
        PathStep::Deep(member) => {
            let mut text = String::new();
            deep(value, member, &mut text);
            return (!text.is_empty()).then(|| Json::Str(text.into()));
        }
        PathStep::Print => Json::Str(format!("{:016x}", Piece::of(&value.to_source()).0).into()),
        PathStep::Source => Json::Str(value.to_source().into()),
        _ => unquoted(value),
    })
}

/// Whether the member with this dotted name equals a text. A list with one element counts as that
/// element.
fn is_word(value: &Json<'_>, members: &[Box<str>], wanted: &str) -> bool {
    if let [first, rest @ ..] = members {
        return is_word(value.get(first), rest, wanted);
    }
    let one = value.items().first().filter(|_| value.items().len() == 1);
    word_of(one.unwrap_or(value)).is_some_and(|word| word == wanted)
}

/// Converts a text and follows the rest of the path from the results.
fn walk_text(step: &PathStep, text: &str, go_on: &mut dyn FnMut(&Json<'_>)) {
    let plain = |text: &str, go_on: &mut dyn FnMut(&Json<'_>)| go_on(&Json::Str(text.into()));
    match step {
        PathStep::Json => match json::read(text.trim()) {
            Some(value) => go_on(&value),
            None => plain(text, go_on),
        },
        PathStep::FirstLine => plain(text.trim_start().lines().next().unwrap_or_default(), go_on),
        PathStep::Id => {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | ':');
            let begin = text.trim_start_matches([' ', '"', '\'', '`']);
            plain(
                begin.split(|c| !is_part(c)).next().unwrap_or_default(),
                go_on,
            );
        }
        PathStep::Inside(tag) => plain(inside(text, tag), go_on),
        PathStep::Outside(tag) => plain(&outside(text, tag), go_on),
        PathStep::Tagged(tag) => tagged(text, tag)
            .0
            .into_iter()
            .for_each(|inner| plain(inner, go_on)),
        PathStep::Without(tag) => plain(&tagged(text, tag).1, go_on),
        PathStep::Behind(mark) => text
            .split(&**mark)
            .skip(1)
            .for_each(|behind| plain(behind, go_on)),
        PathStep::Utc => plain(
            &format!("{}Z", text.trim().trim_end_matches('Z').replace(' ', "T")),
            go_on,
        ),
        PathStep::Local => match Timestamp::parse_local(text) {
            Some(at) => plain(&at.to_rfc3339(), go_on),
            None => plain(text, go_on),
        },
        _ => plain(text, go_on),
    }
}

#[cfg(test)]
mod tests {
    use super::{PathScope, RecordPath};
    use crate::formats::json::{Json, parse};

    const RECORD: &str = r#"{"a":{"b":[{"type":"text","c":"one"},{"type":"x","c":"two"}]},"n":3,"ok":false,
        "args":"{\"p\":\"q\"}","by":{"m1":{"k":5},"m2":{"k":6}},"q":{"p":"\"r\""},
        "for":[{"o":{"p":["q"]},"c":"one"},{"o":{"p":["q","r"]},"c":"two"},{"c":"three"}],
        "t":"<u>hi</u> more","lines":"a b: x\nc 12>\nd","open":"<u>said</u>what does <u> do?","torn":"<u>half","told":"Exit: 3\nend\nExit: 4\n\nSignal: 9\n","empty":"","a.b":"dotted","list":["x","y"],"us":1700000000000000}"#;

    #[test]
    fn paths_name_values() {
        let record = parse(RECORD).unwrap();
        let scope = PathScope::of(&record);
        for (path, expected) in [
            ("n", "3"),
            ("a.b[0].c", "one"),
            ("a.b[-1].c", "two"),
            ("a.b[].c", "one\ntwo"),
            ("a.b[type=x].c", "two"),
            ("a.b[type!=x].c", "one"),
            ("for[o.p=q].c", "one"),
            ("for[o.p!=q].c", "two\nthree"),
            ("a.b[5].c", "∅"),
            ("missing|empty|n", "3"),
            ("='a|b'", "a|b"),
            ("missing|=none", "none"),
            ("a.b[].c:not(one)|n", "two"),
            ("n:not(3.0)|='none'", "none"),
            ("n:not(4)", "3"),
            ("n:times(0.5)", "1.5"),
            ("t:not(<u>hi</u> more)|n", "3"),
            ("args:json.p", "q"),
            ("q:unquoted.p", "r"),
            ("t:inside(u)", "hi"),
            ("n:inside(u)", "3"),
            ("t:outside(u)", "more"),
            ("t:without(u)", "more"),
            ("open:tagged(u)", "said"),
            ("open:without(u)", "what does <u> do?"),
            ("torn:tagged(u)", "half"),
            ("t:after(/u> )", "more"),
            ("t:after(x)", "∅"),
            ("lines:below(b)", "c 12>\nd"),
            ("lines:below(d)", "∅"),
            ("told:behind(Exit: ):number", "3\n4"),
            ("told:behind(Entry: )|n", "3"),
            ("told:head(Exit: ):number", "3"),
            ("told:foot(Exit: ):number", "4"),
            ("told:foot(end)", "∅"),
            ("lines:head(c)", "∅"),
            ("lines:after(c ):number", "12"),
            ("lines:number|n:number", "3"),
            ("a:deep(c)", "one\ntwo"),
            ("by:deep(c)", "∅"),
            ("t:deep(c)", "<u>hi</u> more"),
            ("'a.b'", "dotted"),
            ("list[]", "x\ny"),
            ("by[].k", "5\n6"),
            ("$.n", "3"),
            ("args", r#"{"p":"q"}"#),
            ("by.m1:source", r#"{"k":5}"#),
        ] {
            let found = RecordPath::parse(path)
                .unwrap()
                .string(scope, str::to_owned);
            assert_eq!(found.as_deref().unwrap_or("∅"), expected, "{path}");
        }
        assert_eq!(
            RecordPath::parse("us:us").unwrap().moment(scope).unwrap().0,
            1_700_000_000_000
        );
        let mut names = Vec::new();
        RecordPath::parse("by[]")
            .unwrap()
            .each(scope, &mut |found| names.push(found.name.to_owned()));
        assert_eq!(names, ["m1", "m2"]);
    }

    #[test]
    fn dotted_names_are_put_together() {
        fn source(found: &Json<'_>) -> String {
            found.to_source()
        }
        let list = r#"{"a":[{"key":"p.0.role","value":{"s":"user"}},{"key":"p.10.role","value":"tool"},{"key":"p.2.x.y","value":1},
            {"key":"p.2","value":0},{"key":"q","value":2}]}"#;
        let members = r#"{"a":{"p.0.role":"user","p.10.role":"tool","p.2.x.y":1,"p.2":0,"q":2}}"#;
        let mut prints = Vec::new();
        for record in [list, members] {
            let record = parse(record).unwrap();
            let first = |path: &str| {
                RecordPath::parse(path)
                    .unwrap()
                    .first(PathScope::of(&record), source)
            };
            assert_eq!(
                first("a:under(p)").as_deref(),
                Some(r#"[{"role":"user"},{"":0,"x":{"y":1}},{"role":"tool"}]"#)
            );
            assert_eq!(first("a:under(p)[-1].role").as_deref(), Some(r#""tool""#));
            assert_eq!((first("a:under(r)"), first("a:under(q)")), (None, None));
            prints.push(first("a:under(p)[0]:print"));
            assert_ne!(first("a:under(p)[0]:print"), first("a:under(p)[1]:print"));
        }
        assert!(
            prints[0] == prints[1] && prints[0].as_ref().is_some_and(|print| print.len() == 18)
        );
        // A name with any number of dots.
        let deep = format!(r#"{{"a":{{"p.{}":1}}}}"#, "0.".repeat(100_000));
        let record = parse(&deep).unwrap();
        assert!(
            RecordPath::parse("a:under(p)")
                .unwrap()
                .first(PathScope::of(&record), |_| ())
                .is_some()
        );
    }

    #[test]
    fn wrong_paths_say_what_would_be_right() {
        for (path, part) in [
            ("", "empty"),
            ("a[", "without"),
            ("a[x]", "[-1]"),
            ("a:yaml", ":json"),
            ("a:times(x)", ":times"),
            ("a:behind()", ":behind"),
            ("a..b", "name"),
        ] {
            let why = RecordPath::parse(path).unwrap_err();
            assert!(why.contains(part), "{path}: {why}");
        }
    }
}
