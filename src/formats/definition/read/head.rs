//! Parses heads of formats and overlays.

use std::path::PathBuf;

use memchr::memmem::Finder;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::{ByteSpan, MistakeLog, TomlTable};
use super::{NAME, kinds, leak, no_toml, places};
use crate::formats::counting::{ByteTest, CountingNeed, CountingRules};
use crate::formats::definition::head::{
    AsideFile, Continued, Detect, DetectionMark, Head, ResumeRule, TitleMark,
};
use crate::formats::definition::kinds::Kinds;
use crate::formats::definition::mistakes::{DefinitionMistake, LineIndex};
use crate::formats::definition::rule::RecordKind;
use crate::formats::fields;
use crate::formats::roots::Root;
use crate::model::record::Shape;
use crate::model::resume::Resume;

const SHAPES: [(&str, Shape); 5] = [
    ("lines", Shape::Lines),
    ("document", Shape::Document),
    ("array", Shape::Document),
    ("database", Shape::Rows),
    ("text", Shape::Text),
];

/// Roots and kinds that a user's file adds to a format.
#[derive(Debug)]
pub struct Overlay {
    pub(crate) extends: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) roots: &'static [Root],
    pub(crate) kinds: Kinds,
    /// Class, name and position in the file of each kind.
    pub(crate) named: Vec<(&'static str, &'static str, DefinitionMistake)>,
}

/// The formats that an overlay may extend.
pub(crate) struct Base<'b> {
    /// The kinds of the format with this name; `Some(None)` if an overlay may add classes to it.
    pub(crate) kinds: &'b dyn Fn(&str) -> Option<Option<&'b Kinds>>,
    /// The names of all formats.
    pub(crate) names: &'b dyn Fn() -> Vec<&'static str>,
}

/// Parses a head of a format with a decoder in Rust.
pub fn head(text: &str) -> Result<Head, Vec<DefinitionMistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let log = MistakeLog::new(text);
    let mut table = TomlTable::root(root.get_ref(), &log);
    let head = of_decoder(&mut table);
    table.finish();
    let mistakes = log.finish();
    match head {
        Some(head) if mistakes.is_empty() => Ok(head),
        _ => Err(mistakes),
    }
}

/// Parses the head of a format with a decoder in Rust, from its root table.
fn of_decoder(table: &mut TomlTable<'_>) -> Option<Head> {
    let head = common(table);
    Some(Head {
        roots: places::roots(table, false),
        inherits: table.word("like"),
        deltas: table
            .word("deltas")
            .map(|name| leak(&format!("\"{name}\""))),
        titles: table
            .values("titles")
            .into_iter()
            .filter_map(|value| title(table.log, value))
            .collect(),
        dependent: table.has("dependent").then(|| table.words("dependent")),
        claims: table.words("claims"),
        continued: table.table("continued").and_then(continued),
        counting: table
            .table("counting")
            .map(|rules| &*Box::leak(Box::new(counting(rules)))),
        fields: table.table("fields").map(known_fields).unwrap_or_default(),
        ..head?
    })
}

/// Parses `[fields]`.
fn known_fields(mut table: TomlTable<'_>) -> fields::KnownFields {
    let common = table.words("common").leak();
    let types = table.table("types").map(TomlTable::lists_by_name);
    table.finish();
    fields::KnownFields {
        common,
        types: types.unwrap_or_default().leak(),
    }
}

/// Parses `[continued]`.
fn continued(mut table: TomlTable<'_>) -> Option<Continued> {
    let continued = Some(Continued {
        id: table.required_path("id")?,
        bytes: table.required_path("bytes")?,
        end: table.required_path("end")?,
        number: table.required_path("number")?,
    });
    table.finish();
    continued
}

/// Parses `[counting]`.
fn counting(mut table: TomlTable<'_>) -> CountingRules {
    let closed = table.words("closed").leak();
    let identified_by = table.word("identified_by");
    let identified_by = identified_by.map_or_else(Vec::new, |path| path.split('.').collect());
    let has_results = table.is("results");
    let otherwise = need(&mut table, "otherwise");
    let mut words: Vec<&'static str> = Vec::new();
    let mut index = |word: &'static str| {
        words
            .iter()
            .position(|known| *known == word)
            .unwrap_or_else(|| {
                words.push(word);
                words.len() - 1
            })
    };
    let mut rules = Vec::new();
    for mut rule in table.tables("rule") {
        let companion = rule.bool("companion").map(ByteTest::IsCompanion);
        let starts = rule.word("starts").map(ByteTest::Starts);
        let below = rule
            .integer("below")
            .and_then(|bytes| bytes.try_into().ok());
        let below = below.map(ByteTest::Below);
        let changed = rule
            .word("changed")
            .map(|word| ByteTest::Changed(index(word)));
        let is_true = rule.word("true").map(|word| ByteTest::IsTrue(index(word)));
        let mut tests: Vec<ByteTest> = [companion, starts, below, changed, is_true]
            .into_iter()
            .flatten()
            .collect();
        let mut all = |key, test: fn(usize) -> ByteTest| {
            let words = rule.words(key).into_iter();
            tests.extend(words.map(|word| test(index(word))));
        };
        all("has", |word| ByteTest::Has(word, true));
        all("twice", ByteTest::HasTwice);
        all("lacks", |word| ByteTest::Has(word, false));
        tests.extend(
            rule.is("starts_no_agent")
                .then_some(ByteTest::StartsNoAgent),
        );
        rules.push((tests, need(&mut rule, "read")));
        rule.finish();
    }
    table.finish();
    CountingRules {
        closed,
        identified_by,
        has_results,
        rules,
        otherwise,
        words: words.into_iter().map(Finder::new).collect(),
    }
}

fn need(table: &mut TomlTable<'_>, key: &'static str) -> CountingNeed {
    match table.word(key) {
        Some("usage") => CountingNeed::Account,
        Some("nothing") => CountingNeed::Nothing,
        _ => CountingNeed::Whole,
    }
}

/// Parses an entry of `titles`: the type of records with a title, or `{ refers = "leafUuid", to =
/// "uuid" }`.
fn title<'t>(log: &'t MistakeLog<'t>, value: &'t Spanned<DeValue<'t>>) -> Option<TitleMark> {
    let Some(mut fields) = TomlTable::of(value, log) else {
        let (name, _) = log.text_of("titles", value)?;
        return Some(TitleMark::Last(leak(&format!("\"{name}\""))));
    };
    let mut member = |key| {
        let (name, _) = fields.string(key)?;
        Some(leak(&format!("\"{name}\":\"")))
    };
    let (refers, to) = (member("refers"), member("to"));
    fields.finish();
    Some(TitleMark::Of(refers?, to?))
}

/// Parses the fields that all heads have. `None` if there is no name.
pub(super) fn common(table: &mut TomlTable<'_>) -> Option<Head> {
    let name = name(table);
    let mut head = Head {
        agent: table.word("agent").or(name).unwrap_or_default(),
        omits: table.word("omits").unwrap_or_default(),
        ends: places::ends(table).unwrap_or_default(),
        companions: table.words("companions"),
        names: table.words("names"),
        resumes: table.tables("resume").into_iter().map(resume).collect(),
        kinds: kinds::kinds(table),
        ..Head::default()
    };
    (head.detect, head.aside) = detect(table);
    Some(Head {
        name: name?,
        ..head
    })
}

fn name(table: &mut TomlTable<'_>) -> Option<&'static str> {
    let Some((name, span)) = table.string("name") else {
        table
            .log
            .mistake(0..0, "`name` is missing, such as name = \"my-agent\"");
        return None;
    };
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
    {
        table.log.mistake(
            span.clone(),
            "`name` is made of letters, digits, `-`, `_` and `.`",
        );
    }
    if name.len() > NAME {
        table
            .log
            .mistake(span, format!("`name` has at most {NAME} characters"));
    }
    Some(leak(name))
}

/// Parses `[resume]`: the arguments of the commands, with `{id}` for the session id.
fn resume(mut table: TomlTable<'_>) -> ResumeRule {
    let (within, suffix) = (table.word("within"), table.word("suffix"));
    let back = table.word("back").unwrap_or("");
    let mut commands = Vec::new();
    for does in ["continue", "fork"] {
        if !table.has(does) {
            continue;
        }
        let words: &'static [&'static str] = table.words(does).leak();
        if let Some(id @ 1..) = words.iter().position(|word| *word == "{id}") {
            let (before, after) = words.split_at(id);
            commands.push(Resume {
                does,
                before,
                after: after.get(1..).unwrap_or_default(),
                back,
            });
        } else {
            let what =
                format!("`{does}` is a command, such as [\"agent\", \"--resume\", \"{{id}}\"]");
            table.log.mistake(table.span(), what);
        }
    }
    table.finish();
    ResumeRule {
        within,
        suffix,
        commands: commands.leak(),
    }
}

fn shapes(table: &mut TomlTable<'_>) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (word, span) in table.strings("shape") {
        match SHAPES.iter().find(|(known, _)| *known == word) {
            Some((_, shape)) => shapes.push(*shape),
            None => table.log.mistake(
                span,
                format!("`{word}` is no shape; shapes are lines, document, array, database, text"),
            ),
        }
    }
    if shapes.is_empty() {
        vec![Shape::Lines]
    } else {
        shapes
    }
}

fn detect(table: &mut TomlTable<'_>) -> (Detect, Vec<AsideFile>) {
    let shapes = shapes(table);
    let Some(mut inner) = table.table("detect") else {
        let detect = Detect {
            shapes,
            ..Detect::default()
        };
        return (detect, Vec::new());
    };
    let mut marks = |key| {
        let tables = inner.tables(key);
        tables.into_iter().map(mark).collect::<Vec<_>>()
    };
    let (certain, likely) = (marks("certain"), marks("likely"));
    let (maybe, never) = (marks("maybe"), marks("never"));
    let aside = aside(&mut inner);
    inner.finish();
    let detect = Detect {
        shapes,
        certain,
        likely,
        maybe,
        never,
    };
    (detect, aside)
}

fn mark(mut table: TomlTable<'_>) -> DetectionMark {
    let is_header = super::rules::kind(&mut table) == RecordKind::Header;
    let mut words = Vec::new();
    let when = super::when::tests(table, &mut words);
    DetectionMark {
        is_header,
        when,
        words: words.join(", "),
    }
}

/// Parses `aside` of `[detect]`: files that are not sessions, each with a hint.
fn aside(detect: &mut TomlTable<'_>) -> Vec<AsideFile> {
    let mut all = Vec::new();
    for mut table in detect.tables("aside") {
        let (span, what) = (table.span(), table.word("what"));
        let is_any = table.is("any");
        let mark = mark(table);
        if let Some(what) = what {
            all.push(AsideFile { mark, is_any, what });
        } else {
            let right = "`what` is missing: what the file is and which one to open, such as \"a list of prompts; open …\"";
            detect.log.mistake(span, right);
        }
    }
    all
}

/// Whether a text extends a format instead of defining one.
pub fn is_overlay(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|root| {
        root.get_ref()
            .iter()
            .any(|(key, _)| key.get_ref() == "extends")
    })
}

pub(crate) fn overlay(
    text: &str,
    file: PathBuf,
    base: &Base<'_>,
) -> Result<Overlay, Vec<DefinitionMistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let log = MistakeLog::new(text);
    let mut table = TomlTable::root(root.get_ref(), &log);
    let extends = table
        .string("extends")
        .map(|(name, span)| (leak(name), span));
    let known = extends.as_ref().and_then(|(name, _)| (base.kinds)(name));
    if let (Some((name, span)), None) = (&extends, known) {
        let names = (base.names)().join(", ");
        log.mistake(
            span.clone(),
            format!("there is no format `{name}`; formats are {names}"),
        );
    }
    let roots = places::roots(&mut table, false);
    // The kinds of an unknown format are not checked.
    let (kinds, named) = kinds::added(&mut table, known.flatten());
    table.finish();
    let lines = LineIndex::of(text);
    let place = |(class, name, span): (_, _, ByteSpan)| {
        (class, name, lines.mistake(span.start, String::new()))
    };
    let named = named.into_iter().map(place).collect();
    let mistakes = log.finish();
    match extends {
        Some((name, _)) if mistakes.is_empty() => Ok(Overlay {
            extends: name,
            file,
            roots,
            kinds,
            named,
        }),
        _ => Err(mistakes),
    }
}
