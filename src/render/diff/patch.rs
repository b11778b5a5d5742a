//! Recorded patches, in the shapes that agents write.

use super::{DiffLine, Sign};

/// Marks of search-and-replace blocks, and what the lines after them are.
const SIDES: [(&str, Option<Sign>); 5] = [
    ("<<<<<<< SEARCH", Some(Sign::Removed)),
    ("------- SEARCH", Some(Sign::Removed)),
    ("=======", Some(Sign::Added)),
    (">>>>>>> REPLACE", None),
    ("+++++++ REPLACE", None),
];

/// Whether a text looks like a patch.
pub fn is_patch(text: &str) -> bool {
    text.starts_with("*** Begin Patch")
        || text.lines().take(40).any(|line| {
            line.starts_with("@@ ")
                || line == "@@"
                || line.starts_with("<<<<<<< SEARCH")
                || line == "------- SEARCH"
        })
        || is_numbered(text)
}

/// pi and OpenClaw write ` 12 text`, `+13 text`, `-14 text` and `     ...` between.
fn is_numbered(text: &str) -> bool {
    let mut lines = text.lines().take(40).filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| numbered(line).is_some())
}

/// The lines of a patch.
pub fn lines(text: &str) -> Vec<DiffLine> {
    if is_numbered(text) {
        return text.lines().filter_map(numbered).collect();
    }
    let mut reader = Reader { old: None, new: None, side: None, found: Vec::new() };
    for line in text.lines() {
        reader.line(line);
    }
    reader.found
}

fn numbered(line: &str) -> Option<DiffLine> {
    if line.trim_end().ends_with("...") && line.trim() == "..." {
        return Some(DiffLine::plain(Sign::Note, None, ""));
    }
    let sign = match line.chars().next()? {
        '+' => Sign::Added,
        '-' => Sign::Removed,
        ' ' => Sign::Same,
        _ => return None,
    };
    let rest = line.get(1..)?.trim_start_matches(' ');
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, text) = rest.split_at_checked(end)?;
    let number = number.parse().ok()?;
    if !text.is_empty() && !text.starts_with(' ') {
        return None;
    }
    Some(DiffLine::plain(sign, Some(number), text.get(1..).unwrap_or_default()))
}

struct Reader {
    old: Option<u32>,
    new: Option<u32>,
    /// Which side of a search-and-replace block the lines belong to.
    side: Option<Sign>,
    found: Vec<DiffLine>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with("@@") {
            self.hunk(line);
        } else if let Some((_, sign)) = SIDES.iter().find(|(mark, _)| line.trim_end() == *mark) {
            self.side = *sign;
        } else if let Some(side) = self.side {
            self.found.push(DiffLine::plain(side, None, line));
        } else if is_head(line) {
            if let Some(name) = file_of(line) {
                self.found.push(DiffLine::plain(Sign::Note, None, name));
                (self.old, self.new) = (None, None);
            }
        } else {
            self.content(line);
        }
    }

    fn hunk(&mut self, line: &str) {
        let start = |sign: char| {
            let at = line.split(' ').find_map(|word| word.strip_prefix(sign))?;
            at.split(',').next()?.parse().ok()
        };
        (self.old, self.new) = (start('-'), start('+'));
        if self.found.iter().any(|line| line.sign != Sign::Note) {
            self.found.push(DiffLine::plain(Sign::Note, None, ""));
        }
    }

    fn content(&mut self, line: &str) {
        let (sign, number) = match line.chars().next() {
            Some('+') => (Sign::Added, take(&mut self.new)),
            Some('-') => (Sign::Removed, take(&mut self.old)),
            Some(' ') | None => {
                take(&mut self.old);
                (Sign::Same, take(&mut self.new))
            }
            Some(_) => (Sign::Note, None),
        };
        let text = if sign == Sign::Note { line } else { line.get(1..).unwrap_or_default() };
        self.found.push(DiffLine::plain(sign, number, text));
    }
}

/// The number of a line, then one more.
fn take(number: &mut Option<u32>) -> Option<u32> {
    let this = *number;
    *number = this.map(|number| number.saturating_add(1));
    this
}

fn is_head(line: &str) -> bool {
    ["--- ", "+++ ", "diff --git ", "index ", "*** ", "new file mode", "deleted file mode", "Index: ", "===="]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The file that a head line names; `None` for heads that name nothing new.
fn file_of(line: &str) -> Option<&str> {
    let starts = ["+++ ", "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let name = starts.iter().find_map(|start| line.strip_prefix(start))?;
    let name = name.split('\t').next().unwrap_or(name);
    let is_all = matches!(name, "/dev/null");
    (!is_all).then(|| name.strip_prefix("b/").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::{is_patch, lines};
    use crate::render::diff::{DiffLine, Sign};

    fn told(text: &str) -> Vec<(Sign, Option<u32>, String)> {
        assert!(is_patch(text), "{text}");
        let line =
            |line: &DiffLine| (line.sign, line.number, line.parts.iter().map(|(_, t)| t.as_str()).collect());
        lines(text).iter().map(line).collect()
    }

    #[test]
    fn unified_diffs_have_numbers() {
        let shown = told("--- a/x\n+++ b/x\n@@ -43,2 +43,3 @@ fn f\n a\n-b\n+c\n+d\n");
        assert_eq!(shown[0], (Sign::Note, None, "x".to_owned()));
        assert_eq!(shown[1], (Sign::Same, Some(43), "a".to_owned()));
        assert_eq!(shown[2], (Sign::Removed, Some(44), "b".to_owned()));
        assert_eq!(shown[4], (Sign::Added, Some(45), "d".to_owned()));
    }

    #[test]
    fn numbered_lines_are_a_patch() {
        let shown = told("     ...\n  9 a\n-10 b\n+10 c\n 11 \n");
        assert_eq!(shown[2], (Sign::Removed, Some(10), "b".to_owned()));
        assert_eq!(shown[3], (Sign::Added, Some(10), "c".to_owned()));
        assert_eq!(shown[0].0, Sign::Note);
    }

    #[test]
    fn patches_with_heads_and_search_blocks() {
        let shown = told("*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch\n");
        assert_eq!(
            shown.iter().map(|line| line.0).collect::<Vec<_>>(),
            [Sign::Note, Sign::Removed, Sign::Added]
        );
        let shown = told("------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n");
        assert_eq!(shown.iter().map(|line| line.0).collect::<Vec<_>>(), [Sign::Removed, Sign::Added]);
    }
}
