//! A text as a record holds it, before it is cleaned: what can be said of it without having it whole.
//!
//! Most bodies of a long session are left on disk, and of these only a stub, a few figures and signs are
//! kept; so a text that would have to be put together first is put together only if somebody asks.

use std::borrow::Cow;

use crate::model::text::prefix;

/// A text that may not be there as a whole yet.
pub(crate) trait Written {
    /// Size in bytes.
    fn size(&self) -> usize;

    /// How many newlines are in it.
    fn newlines(&self) -> usize;

    /// Whether a newline is the last of it.
    fn ends_line(&self) -> bool;

    /// At most `max` bytes of its beginning, cut at a character.
    fn beginning(&self, max: usize) -> Cow<'_, str>;

    /// The last line, of the text without white space at its end.
    fn last_line(&self) -> Cow<'_, str>;

    /// All of it.
    fn whole(&self) -> &str;
}

impl Written for str {
    fn size(&self) -> usize {
        self.len()
    }

    fn newlines(&self) -> usize {
        memchr::memchr_iter(b'\n', self.as_bytes()).count()
    }

    fn ends_line(&self) -> bool {
        self.ends_with('\n')
    }

    fn beginning(&self, max: usize) -> Cow<'_, str> {
        prefix(self, max).into()
    }

    fn last_line(&self) -> Cow<'_, str> {
        let text = self.trim_end();
        let start = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |newline| newline + 1);
        text.get(start..).unwrap_or_default().into()
    }

    fn whole(&self) -> &str {
        self
    }
}

/// How many lines [`str::lines`] gives.
pub(crate) fn count_lines<W: Written + ?Sized>(text: &W) -> usize {
    text.newlines() + usize::from(text.size() > 0 && !text.ends_line())
}

/// Whether nothing but white space is in it.
pub(crate) fn is_blank<W: Written + ?Sized>(text: &W) -> bool {
    const ENOUGH: usize = 64;
    let begin = text.beginning(ENOUGH);
    begin.trim().is_empty() && (begin.len() == text.size() || text.whole().trim().is_empty())
}

/// The text without the white space before it: all of it, or at least `min` bytes.
pub(crate) fn opening<W: Written + ?Sized>(text: &W, min: usize) -> Cow<'_, str> {
    let begin = text.beginning(min + 8);
    if begin.len() < text.size() && begin.trim_start().len() < min {
        return text.whole().trim_start().into();
    }
    match begin {
        Cow::Borrowed(begin) => begin.trim_start().into(),
        Cow::Owned(begin) if begin.starts_with(char::is_whitespace) => begin.trim_start().to_owned().into(),
        begin @ Cow::Owned(_) => begin,
    }
}
