//! Repairs JSON text that does not parse.

/// Repairs the damage that agents and redaction tools cause: lone surrogates, raw control
/// characters inside strings, unknown escapes. `None` if the text has no such damage.
pub(crate) fn repair(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.char_indices().peekable();
    let mut in_string = false;
    let mut mended = false;
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '\\' if in_string => {
                let escape = text.get(at..).unwrap_or("");
                let (kept, taken) = repair_escape(escape);
                mended |= !escape.starts_with(kept.as_str());
                out.push_str(&kept);
                for _ in 1..taken {
                    rest.next();
                }
            }
            c if in_string && c < ' ' => {
                mended = true;
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    mended.then_some(out)
}

/// A valid form of the escape at the beginning of a text, and the number of characters that it
/// replaces.
fn repair_escape(text: &str) -> (String, usize) {
    let second = text.chars().nth(1);
    match second {
        Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => (format!("\\{c}"), 2),
        Some('u') => match hex(text, 2) {
            Some(0xd800..=0xdbff) => {
                let low = text.get(6..8) == Some("\\u");
                match hex(text, 8) {
                    Some(0xdc00..=0xdfff) if low => (text.get(..12).unwrap_or("").to_owned(), 12),
                    _ => ("\\ufffd".to_owned(), 6),
                }
            }
            Some(0xdc00..=0xdfff) => ("\\ufffd".to_owned(), 6),
            Some(_) => (text.get(..6).unwrap_or("").to_owned(), 6),
            None => ("\\\\".to_owned(), 1),
        },
        _ => ("\\\\".to_owned(), 1),
    }
}

fn hex(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}
