//! Conversion to ASCII for terminals and files that support nothing else, where bytes above 0x7F
//! may be control codes.

use std::borrow::Cow;

/// A text in ASCII. Characters with a similar ASCII form become that, all others their code point,
/// so that nothing is lost: `<U+00E9>`.
pub(crate) fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut out, c);
    }
    out.into()
}

fn push(out: &mut String, c: char) {
    let likeness = match c {
        c if c.is_ascii() => return out.push(c),
        '\u{2018}' | '\u{2019}' => "'",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2500}' => "-",
        '\u{2022}' | '\u{00d7}' => "*",
        '\u{00b7}' => ".",
        '\u{2026}' => "...",
        '\u{2192}' => "->",
        '\u{2190}' => "<-",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2502}' => "|",
        '\u{27e8}' => "<",
        '\u{27e9}' => ">",
        '\u{a0}' | '\u{2002}'..='\u{200a}' => " ",
        '\u{2421}' => "^?",
        '\u{2400}'..='\u{241f}' => {
            // Terminals show the control character that a picture such as ␛ stands for as ^[.
            out.push('^');
            return out.extend(char::from_u32(u32::from(c) - 0x2400 + 0x40));
        }
        c => return out.push_str(&format!("<U+{:04X}>", u32::from(c))),
    };
    out.push_str(likeness);
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn every_character_has_words_in_ascii() {
        assert_eq!(
            ascii("“It’s” — 3 × 4…\t\u{1b}[31m"),
            "\"It's\" - 3 * 4...\t\u{1b}[31m"
        );
        assert_eq!(
            ascii("é宽 ␛[2J ⟨U+009B⟩"),
            "<U+00E9><U+5BBD> ^[[2J <U+009B>"
        );
        for c in '\u{80}'..=char::MAX {
            let plain = ascii(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(
                !plain.is_empty() && plain.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
                "{c:?} {plain}"
            );
        }
    }
}
