//! Converts pi's own diff form, whose lines have numbers, to a unified diff.

/// A line `-  87   old`: the sign, the padded line number, a space, the text.
struct NumberedLine<'a> {
    sign: char,
    number: u64,
    text: &'a str,
}

/// The unified form of a diff; `None` if it is not in pi's form.
pub(crate) fn unified(numbered: &str) -> Option<String> {
    let width = numbered.lines().find_map(number_width)?;
    let mut out = String::new();
    let mut hunk = Vec::new();
    // The offset of new line numbers from old ones after the hunks so far.
    let mut shift = 0_i64;
    for raw in numbered.lines() {
        match read(raw, width) {
            Some(line) => hunk.push(line),
            None if raw.trim() == "..." || raw.trim().is_empty() => {
                push_hunk(&mut out, &std::mem::take(&mut hunk), &mut shift);
            }
            None => return None,
        }
    }
    push_hunk(&mut out, &hunk, &mut shift);
    (!out.is_empty()).then_some(out)
}

fn number_width(line: &str) -> Option<usize> {
    let rest = line.strip_prefix(['+', '-', ' '])?;
    let digits = rest.trim_start_matches(' ');
    let padding = rest.len() - digits.len();
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    (length > 0).then_some(padding + length)
}

fn read(raw: &str, width: usize) -> Option<NumberedLine<'_>> {
    let sign = raw
        .chars()
        .next()
        .filter(|c| matches!(c, '+' | '-' | ' '))?;
    let number = raw.get(1..=width)?.trim().parse().ok()?;
    let text = raw.get(width + 1..)?;
    Some(NumberedLine {
        sign,
        number,
        text: text.strip_prefix(' ').unwrap_or(text),
    })
}

fn push_hunk(out: &mut String, hunk: &[NumberedLine<'_>], shift: &mut i64) {
    let Some(first) = hunk.first() else { return };
    let count = |flags: [char; 2]| {
        let lines = hunk
            .iter()
            .filter(|line| flags.contains(&line.sign))
            .count();
        i64::try_from(lines).unwrap_or(i64::MAX)
    };
    let (old, new) = (count([' ', '-']), count([' ', '+']));
    let number = i64::try_from(first.number).unwrap_or(i64::MAX);
    let (old_start, new_start) = match first.sign {
        '+' => (number.saturating_sub(*shift), number),
        _ => (number, number.saturating_add(*shift)),
    };
    out.push_str(&format!("@@ -{old_start},{old} +{new_start},{new} @@\n"));
    for line in hunk {
        out.push(line.sign);
        out.push_str(line.text);
        out.push('\n');
    }
    *shift = shift.saturating_add(new - old);
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn numbered_lines_become_hunks() {
        let numbered =
            "     ...\n   9 a\n- 10   b\n+ 10   c\n+ 11   d\n  11 e\n     ...\n  40 x\n- 41 y\n";
        let expected = "@@ -9,3 +9,4 @@\n a\n-  b\n+  c\n+  d\n e\n@@ -40,2 +41,1 @@\n x\n-y\n";
        assert_eq!(unified(numbered).as_deref(), Some(expected));
    }

    #[test]
    fn other_forms_are_left_alone() {
        assert_eq!(unified("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y"), None);
        assert_eq!(unified(""), None);
    }
}
