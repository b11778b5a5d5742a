//! Parses paths.

use super::{Alternatives, PathStep, RecordPath};
use crate::formats::json::Json;

/// The maximum length of a path in bytes.
const LONGEST: usize = 1024;
/// The maximum number of steps and of alternatives. Steps are nested calls, so this bounds the
/// stack.
const STEPS: usize = 64;
/// The maximum number of suffixes that lengthen a text. Each multiplies its length, so a few of
/// them stay harmless.
const SOURCES: usize = 2;
/// All suffixes, for the message about an unknown one.
const SUFFIXES: &str = ":json :s :ms :us :ns :utc :local :first_line :inside(TAG) :outside(TAG) :tagged(TAG) \
     :without(TAG) :after(TEXT) :below(TEXT) :behind(TEXT) :head(TEXT) :foot(TEXT) :not(TEXT) :deep(NAME) :under(NAME) :number :times(FACTOR) :unquoted :source :print :each";

impl RecordPath {
    /// Parses a path. The error is a sentence about what is wrong.
    pub(in crate::formats::definition) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("a path is empty; `.` is the value itself, `=''` an empty text".to_owned());
        }
        if text.len() > LONGEST {
            return Err(format!(
                "a path of {} bytes; it has at most {LONGEST}",
                text.len()
            ));
        }
        let parts = parts(text);
        if parts.len() > STEPS {
            return Err(format!(
                "a path of {} alternatives; it has at most {STEPS}",
                parts.len()
            ));
        }
        parts
            .into_iter()
            .map(choice)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// Splits at each `|` outside quotes.
pub(in crate::formats::definition) fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '|' if !quoted => {
                parts.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

fn choice(text: &str) -> Result<Alternatives, String> {
    let text = text.trim();
    if let Some(constant) = text.strip_prefix('=') {
        let bare = constant
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''))
            .unwrap_or(constant);
        return Ok(Alternatives::Constant(Json::Str(bare.to_owned().into())));
    }
    if text == "@key" {
        return Ok(Alternatives::Name);
    }
    let (from_record, mut rest) = match text.strip_prefix("$.") {
        Some(rest) => (true, rest),
        None => (
            text == "$",
            text.strip_prefix('$')
                .filter(|_| text == "$")
                .unwrap_or(text),
        ),
    };
    let mut steps = Vec::new();
    if rest == "." || rest.starts_with(".:") || rest.starts_with(".[") {
        rest = rest.get(1..).unwrap_or_default();
    }
    while !rest.is_empty() {
        rest = step(rest, text, &mut steps)?;
        if steps.len() > STEPS {
            return Err(format!("a path has at most {STEPS} steps"));
        }
    }
    if steps
        .iter()
        .filter(|step| **step == PathStep::Source)
        .count()
        > SOURCES
    {
        return Err(format!(
            "`:source` stands in a path at most {SOURCES} times"
        ));
    }
    Ok(Alternatives::Steps { from_record, steps })
}

/// Parses one step of a path and returns the remaining text.
fn step<'t>(rest: &'t str, whole: &str, steps: &mut Vec<PathStep>) -> Result<&'t str, String> {
    let wrong = |why: &str| format!("in the path `{whole}`: {why}");
    if let Some(inner) = rest.strip_prefix('[') {
        let (inner, after) = inner
            .split_once(']')
            .ok_or_else(|| wrong("`[` without `]`"))?;
        steps.push(match (inner, inner.split_once('=')) {
            ("", _) => PathStep::Each,
            (_, Some((name, value))) => {
                let name = name.trim();
                let (name, is_so) = name
                    .strip_suffix('!')
                    .map_or((name, true), |name| (name, false));
                let members = name.split('.').map(|member| member.trim().into()).collect();
                PathStep::Where(members, value.trim().into(), is_so)
            }
            _ => {
                let what =
                    format!("`[{inner}]` is none of [], [0], [-1], [name=value], [name!=value]");
                PathStep::Place(inner.parse().map_err(|_error| wrong(&what))?)
            }
        });
        return Ok(after);
    }
    if let Some(suffix) = rest.strip_prefix(':') {
        // Parentheses may contain any character.
        let name = suffix.find([':', '.', '[', '(']).unwrap_or(suffix.len());
        let brackets = suffix.get(name..).filter(|rest| rest.starts_with('('));
        let end = brackets.map_or(Some(name), |rest| rest.find(')').map(|end| name + end + 1));
        let end = end.unwrap_or(suffix.len());
        let (name, after) = suffix.split_at(end);
        steps.push(
            suffix_of(name).ok_or_else(|| wrong(&format!("`:{name}` is none of {SUFFIXES}")))?,
        );
        return Ok(after);
    }
    let rest = rest
        .strip_prefix('.')
        .filter(|_| !steps.is_empty())
        .unwrap_or(rest);
    let (name, after) = match rest.strip_prefix('\'') {
        Some(quoted) => quoted
            .split_once('\'')
            .ok_or_else(|| wrong("a quote is not closed"))?,
        None => rest.split_at(rest.find(['.', '[', ':']).unwrap_or(rest.len())),
    };
    if name.is_empty() {
        return Err(wrong("a name is missing"));
    }
    if name.contains(char::is_whitespace) && !rest.starts_with('\'') {
        return Err(wrong(&format!(
            "a name with blanks stands in quotes: '{name}'"
        )));
    }
    steps.push(PathStep::Member(name.into()));
    Ok(after)
}

fn suffix_of(name: &str) -> Option<PathStep> {
    Some(match name {
        "json" => PathStep::Json,
        "s" => PathStep::Scale(1e3),
        "ms" => PathStep::Scale(1.0),
        "us" => PathStep::Scale(1e-3),
        "ns" => PathStep::Scale(1e-6),
        "utc" => PathStep::Utc,
        "local" => PathStep::Local,
        "first_line" => PathStep::FirstLine,
        "unquoted" => PathStep::Unquoted,
        "source" => PathStep::Source,
        "each" => PathStep::Every,
        "number" => PathStep::Number,
        "id" => PathStep::Id,
        "print" => PathStep::Print,
        _ => match name.strip_suffix(')')?.split_once('(')? {
            ("inside", tag) => PathStep::Inside(tag.into()),
            ("outside", tag) => PathStep::Outside(tag.into()),
            ("not", text) => PathStep::Not(text.into()),
            ("times", factor) => PathStep::Scale(
                factor
                    .parse()
                    .ok()
                    .filter(|factor: &f64| factor.is_finite())?,
            ),
            ("tagged", tag) => PathStep::Tagged(tag.into()),
            ("without", tag) => PathStep::Without(tag.into()),
            ("after", text) => PathStep::After(text.into()),
            ("below", text) => PathStep::Below(text.into()),
            ("behind", text) if !text.is_empty() => PathStep::Behind(text.into()),
            ("head", text) => PathStep::Head(text.into()),
            ("foot", text) => PathStep::Foot(text.into()),
            ("deep", member) => PathStep::Deep(member.into()),
            ("under", name) => PathStep::Under(name.into()),
            _ => return None,
        },
    })
}
