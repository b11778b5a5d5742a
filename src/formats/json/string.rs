//! The string of a record: borrowed as far as it can be, put together only when it is asked for.
//!
//! Most of a session's bytes are outputs of tools, of which a reader keeps a stub and some figures. So a
//! long string with escapes stays as it is written, with its figures counted while it was read.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use super::escape::{self, Figures};
use crate::model::body::written::{Written, opening};

/// Strings with escapes are put together at once up to this size in bytes: to keep them as they are written takes as
/// much room.
const SHORT: usize = 64;

/// A string that borrows from its record.
#[derive(Clone)]
pub struct Str<'a>(Kind<'a>);

#[derive(Clone)]
enum Kind<'a> {
    Plain(Cow<'a, str>),
    Escaped(Box<Escaped<'a>>),
}

/// A string as it is written, without its quotes. Its escapes are valid.
#[derive(Clone)]
struct Escaped<'a> {
    raw: &'a str,
    figures: Figures,
    whole: OnceLock<Box<str>>,
}

impl<'a> Str<'a> {
    /// A string as it is written between quotes, whose escapes are valid and have these figures.
    pub(super) fn escaped(raw: &'a str, figures: Figures) -> Self {
        if raw.len() <= SHORT {
            return Self(Kind::Plain(escape::resolved(raw, figures.size).into()));
        }
        Self(Kind::Escaped(Box::new(Escaped { raw, figures, whole: OnceLock::new() })))
    }

    /// The empty string.
    pub(crate) fn empty() -> &'a Self {
        static EMPTY: Str<'static> = Str(Kind::Plain(Cow::Borrowed("")));
        &EMPTY
    }

    /// The string.
    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Plain(text) => text,
            Kind::Escaped(text) => text.whole(),
        }
    }

    /// The string, on its own.
    pub(super) fn into_cow(self) -> Cow<'a, str> {
        match self.0 {
            Kind::Plain(text) => text,
            Kind::Escaped(text) => escape::resolved(text.raw, text.figures.size).into(),
        }
    }

    /// Whether it was put together, or needed not to be.
    #[cfg(test)]
    pub(super) fn is_whole(&self) -> bool {
        match &self.0 {
            Kind::Plain(_) => true,
            Kind::Escaped(text) => text.whole.get().is_some(),
        }
    }

    /// Whether it begins with this mark, after white space. Mostly the first byte decides.
    pub(crate) fn opens_with(&self, mark: &str) -> bool {
        let raw = match &self.0 {
            Kind::Plain(text) => &**text,
            Kind::Escaped(text) => text.raw,
        };
        let is_other = |first: &u8| {
            first.is_ascii_graphic() && *first != b'\\' && mark.as_bytes().first() != Some(first)
        };
        !raw.as_bytes().first().is_some_and(is_other) && opening(self, mark.len()).starts_with(mark)
    }

    /// Its size in bytes.
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Kind::Plain(text) => text.len(),
            Kind::Escaped(text) => text.figures.size,
        }
    }
}

impl Escaped<'_> {
    fn whole(&self) -> &str {
        self.whole.get_or_init(|| escape::resolved(self.raw, self.figures.size).into_boxed_str())
    }
}

impl Written for Str<'_> {
    fn size(&self) -> usize {
        self.len()
    }

    fn newlines(&self) -> usize {
        match &self.0 {
            Kind::Plain(text) => text.newlines(),
            Kind::Escaped(text) => text.figures.newlines,
        }
    }

    fn ends_line(&self) -> bool {
        match &self.0 {
            Kind::Plain(text) => text.ends_line(),
            Kind::Escaped(text) if text.figures.has_odd_space => text.whole().ends_line(),
            Kind::Escaped(text) => escape::ends_with(text.raw, b"n").is_some(),
        }
    }

    fn beginning(&self, max: usize) -> Cow<'_, str> {
        match &self.0 {
            Kind::Plain(text) => text.beginning(max),
            Kind::Escaped(text) => escape::beginning(text.raw, max).into(),
        }
    }

    fn last_line(&self) -> Cow<'_, str> {
        match &self.0 {
            Kind::Plain(text) => text.last_line(),
            Kind::Escaped(text) if text.figures.has_odd_space => text.whole().last_line(),
            Kind::Escaped(text) => escape::last_line(text.raw),
        }
    }

    fn whole(&self) -> &str {
        self.as_str()
    }
}

impl Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.as_str() == other.as_str()
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Kind::Plain(text.into()))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self(Kind::Plain(text.into()))
    }
}

impl<'a> From<Cow<'a, str>> for Str<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self(Kind::Plain(text))
    }
}
