//! Restricts output to the character set of the locale. Under an ASCII locale a byte above 0x7F is
//! no part of a character: 0x9B alone begins a control sequence there.
//!
//! Invariant: an [`Outlet`] for ASCII writes no byte of 0x80 or more.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::model::text::ascii;

/// Character set of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// All characters, as UTF-8.
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Kind of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutletForm {
    /// Text for people: other characters are replaced by similar ones.
    Text,
    /// JSON: other characters occur only in strings, and are escaped.
    Json,
    /// The bytes of a file, which are not changed.
    Bytes,
}

impl Charset {
    /// The text in this character set.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Unicode => text.into(),
            Self::Ascii => ascii(text),
        }
    }
}

/// A writer that restricts the character set.
pub struct Outlet<W> {
    to: W,
    charset: Charset,
    form: OutletForm,
    /// First bytes of a character whose rest has not been written yet.
    partial_char: Vec<u8>,
}

impl<W: Write> Outlet<W> {
    pub fn new(to: W, charset: Charset, form: OutletForm) -> Self {
        Self {
            to,
            charset,
            form,
            partial_char: Vec::new(),
        }
    }

    fn write_converted(&mut self, text: &str) -> io::Result<()> {
        if self.form == OutletForm::Text {
            return self.to.write_all(ascii(text).as_bytes());
        }
        for c in text.chars() {
            if c.is_ascii() {
                write!(self.to, "{c}")?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(self.to, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Write for Outlet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_free = self.charset == Charset::Unicode || self.form == OutletForm::Bytes;
        if is_free || self.partial_char.is_empty() && bytes.is_ascii() {
            return self.to.write(bytes);
        }
        let mut text = std::mem::take(&mut self.partial_char);
        text.extend_from_slice(bytes);
        for chunk in text.utf8_chunks() {
            self.write_converted(chunk.valid())?;
            let odd = chunk.invalid();
            // An incomplete sequence at the end may continue with the next bytes.
            if std::str::from_utf8(odd).is_err_and(|error| error.error_len().is_none())
                && text.ends_with(odd)
            {
                self.partial_char = odd.to_vec();
            } else if !odd.is_empty() {
                self.write_converted("\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{Charset, Outlet, OutletForm};

    fn written(parts: &[&[u8]], charset: Charset, form: OutletForm) -> String {
        let mut out = Vec::new();
        let mut outlet = Outlet::new(&mut out, charset, form);
        for part in parts {
            outlet.write_all(part).unwrap();
        }
        outlet.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_byte_beyond_ascii_passes_however_it_is_cut() {
        let text = "\"é…👩\u{9b}\"".as_bytes();
        for cut in 0..=text.len() {
            let (head, rest) = text.split_at(cut);
            let put = |form| written(&[head, rest], Charset::Ascii, form);
            assert_eq!(put(OutletForm::Text), "\"<U+00E9>...<U+1F469><U+009B>\"");
            assert_eq!(put(OutletForm::Json), r#""\u00e9\u2026\ud83d\udc69\u009b""#);
            assert_eq!(
                written(&[head, rest], Charset::Unicode, OutletForm::Text).as_bytes(),
                text
            );
        }
        assert_eq!(
            written(&[b"a\xffb", b"\x9bc"], Charset::Ascii, OutletForm::Text),
            "a<U+FFFD>b<U+FFFD>c"
        );
    }
}
