//! Parses recorded patches in the shapes that agents write.

use super::{DiffLine, LineSign};

/// Markers of search-and-replace blocks, and the sign of the lines after them.
const SIDES: [(&str, Option<LineSign>); 5] = [
    ("<<<<<<< SEARCH", Some(LineSign::Removed)),
    ("------- SEARCH", Some(LineSign::Removed)),
    ("=======", Some(LineSign::Added)),
    (">>>>>>> REPLACE", None),
    ("+++++++ REPLACE", None),
];

/// Whether a text looks like a patch.
pub(crate) fn is_patch(text: &str) -> bool {
    text.starts_with("*** Begin Patch")
        || text.starts_with("diff --git ")
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
    let mut lines = text
        .lines()
        .take(40)
        .filter(|line| !line.trim().is_empty())
        .peekable();
    lines.peek().is_some() && lines.all(|line| numbered(line).is_some())
}

/// Parses a recorded patch.
pub fn of_patch(text: &str) -> Vec<DiffLine> {
    if is_numbered(text) {
        return text.lines().filter_map(numbered).collect();
    }
    let mut reader = PatchReader::default();
    let is_fenced = text.starts_with("```");
    for line in text.lines() {
        if !(is_fenced && line.starts_with("```")) {
            reader.line(line);
        }
    }
    reader.end_file();
    reader.found
}

fn numbered(line: &str) -> Option<DiffLine> {
    if line.trim_end().ends_with("...") && line.trim() == "..." {
        return Some(DiffLine::plain(LineSign::Note, ""));
    }
    let sign = match line.chars().next()? {
        '+' => LineSign::Added,
        '-' => LineSign::Removed,
        ' ' => LineSign::Same,
        _ => return None,
    };
    let rest = line.get(1..)?.trim_start_matches(' ');
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (number, text) = rest.split_at_checked(end)?;
    let number = number.parse().ok()?;
    if !text.is_empty() && !text.starts_with(' ') {
        return None;
    }
    let (old, new) = if sign == LineSign::Removed {
        (Some(number), None)
    } else {
        (None, Some(number))
    };
    Some(DiffLine {
        old,
        new,
        ..DiffLine::plain(sign, text.get(1..).unwrap_or_default())
    })
}

#[derive(Default)]
struct PatchReader {
    old: Option<u32>,
    new: Option<u32>,
    /// Side of a search-and-replace block that the lines belong to.
    side: Option<LineSign>,
    head: BlockHead,
    /// The file whose header is being parsed.
    file: Option<PatchedFile>,
    /// Whether a model wrote the patch; models may omit the blank before context lines.
    is_loose: bool,
    found: Vec<DiffLine>,
}

/// State within the header of a search-and-replace block, as Roo Code writes it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum BlockHead {
    /// The first header line is next.
    Begins,
    /// Header lines were parsed.
    Places,
    #[default]
    Ended,
}

/// A file as its header describes it.
#[derive(Default)]
struct PatchedFile {
    old: String,
    new: String,
    /// `new` or `deleted`.
    fate: &'static str,
}

impl PatchReader {
    fn line(&mut self, line: &str) {
        if line.starts_with("@@") {
            self.hunk(line);
        } else if let Some((_, sign)) = SIDES.iter().find(|(mark, _)| line.trim_end() == *mark) {
            self.side = *sign;
            self.head = if self.side == Some(LineSign::Removed) {
                BlockHead::Begins
            } else {
                BlockHead::Ended
            };
        } else if let Some(side) = self.side {
            if !self.consume_block_head(line) {
                self.push(DiffLine::plain(side, line));
            }
        } else if !self.consume_head(line) {
            self.content(line);
        }
    }

    /// Consumes a header line of a block: it says where the block begins, and a line of dashes ends
    /// it.
    fn consume_block_head(&mut self, line: &str) -> bool {
        let is_place = [":start_line:", ":end_line:"]
            .iter()
            .any(|start| line.starts_with(start));
        self.head = match self.head {
            BlockHead::Begins | BlockHead::Places if is_place => BlockHead::Places,
            BlockHead::Places if line.trim_end() == "-------" => {
                self.head = BlockHead::Ended;
                return true;
            }
            _ => BlockHead::Ended,
        };
        self.head == BlockHead::Places
    }

    /// Consumes a header line of a file.
    fn consume_head(&mut self, line: &str) -> bool {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let (old, new) = names.split_once(" b/").unwrap_or(("", names));
            self.begin_file(PatchedFile {
                old: name_of(old).to_owned(),
                new: name_of(new).to_owned(),
                fate: "",
            });
        } else if let Some((start, fate)) = MARKS.iter().find(|(start, _)| line.starts_with(start))
        {
            let name = line.get(start.len()..).unwrap_or_default().to_owned();
            self.is_loose = true;
            self.begin_file(PatchedFile {
                old: name.clone(),
                new: name,
                fate,
            });
        } else if let Some(name) = line.strip_prefix("--- ") {
            if self.file.is_none() {
                self.begin_file(PatchedFile::default());
            }
            self.amend(|file| file.set_old(name));
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.amend(|file| file.set_new(name));
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.amend(|file| name.clone_into(&mut file.old));
        } else if let Some(name) = line
            .strip_prefix("rename to ")
            .or(line.strip_prefix("*** Move to: "))
        {
            self.amend(|file| name.clone_into(&mut file.new));
        } else if line.starts_with("new file mode") {
            self.amend(|file| file.fate = "new");
        } else if line.starts_with("deleted file mode") {
            self.amend(|file| file.fate = "deleted");
        } else {
            return ["index ", "similarity index ", "*** ", "Index: ", "===="]
                .iter()
                .any(|start| line.starts_with(start));
        }
        true
    }

    fn begin_file(&mut self, file: PatchedFile) {
        self.end_file();
        self.file = Some(file);
        (self.old, self.new) = (None, None);
    }

    fn amend(&mut self, amend: impl FnOnce(&mut PatchedFile)) {
        amend(self.file.get_or_insert_default());
    }

    /// Emits the header of the file.
    fn end_file(&mut self) {
        let Some(PatchedFile { old, new, fate }) = self.file.take() else {
            return;
        };
        let fate = if fate.is_empty() {
            String::new()
        } else {
            format!(" ({fate})")
        };
        let name = match (old.as_str(), new.as_str()) {
            ("", name) | (name, "") => name.to_owned(),
            (old, new) if old == new => new.to_owned(),
            (old, new) => format!("{old} \u{2192} {new}"),
        };
        if !name.is_empty() {
            self.found
                .push(DiffLine::plain(LineSign::File, &format!("{name}{fate}")));
        }
    }

    /// A gap, with the section that git names after the hunk's range.
    fn hunk(&mut self, line: &str) {
        let start = |sign: char| {
            let at = line.split(' ').find_map(|word| word.strip_prefix(sign))?;
            at.split(',').next()?.parse().ok()
        };
        (self.old, self.new) = (start('-'), start('+'));
        let place = line
            .trim_start_matches('@')
            .split_once("@@")
            .map_or("", |(_, place)| place.trim());
        // Patches with `*** Update PatchedFile` headers put the section after the single marker.
        let place = if place.is_empty() && self.new.is_none() {
            line.trim_matches(['@', ' '])
        } else {
            place
        };
        self.end_file();
        if !place.is_empty()
            || self
                .found
                .last()
                .is_some_and(|line| line.sign != LineSign::File)
        {
            self.found.push(DiffLine::plain(LineSign::Note, place));
        }
    }

    fn content(&mut self, line: &str) {
        let (sign, old, new) = match line.chars().next() {
            Some('+') => (LineSign::Added, None, next_number(&mut self.new)),
            Some('-') => (LineSign::Removed, next_number(&mut self.old), None),
            Some(' ') | None => (
                LineSign::Same,
                next_number(&mut self.old),
                next_number(&mut self.new),
            ),
            Some(_) if self.is_loose => (LineSign::Same, None, None),
            Some(_) => (LineSign::Note, None, None),
        };
        let text = line.strip_prefix(['+', '-', ' ']).unwrap_or(line);
        self.push(DiffLine {
            old,
            new,
            ..DiffLine::plain(sign, text)
        });
    }

    fn push(&mut self, line: DiffLine) {
        self.end_file();
        self.found.push(line);
    }
}

impl PatchedFile {
    fn set_old(&mut self, name: &str) {
        match name_of(name) {
            "" => self.fate = "new",
            name => name.clone_into(&mut self.old),
        }
    }

    fn set_new(&mut self, name: &str) {
        match name_of(name) {
            "" => self.fate = "deleted",
            name => name.clone_into(&mut self.new),
        }
        if self.fate == "new" {
            self.old.clear();
        }
    }
}

/// File headers of patches in the shape of OpenAI's models.
const MARKS: [(&str, &str); 3] = [
    ("*** Update File: ", ""),
    ("*** Add File: ", "new"),
    ("*** Delete File: ", "deleted"),
];

/// Returns the line number and increments it.
fn next_number(number: &mut Option<u32>) -> Option<u32> {
    let this = *number;
    *number = this.map(|number| number.saturating_add(1));
    this
}

/// The path in a header without git's `a/` and `b/`; empty for a missing file.
fn name_of(name: &str) -> &str {
    let name = name.split('\t').next().unwrap_or(name).trim();
    let is_nothing = name == "/dev/null";
    let name = name
        .strip_prefix("a/")
        .or(name.strip_prefix("b/"))
        .unwrap_or(name);
    if is_nothing { "" } else { name }
}

#[cfg(test)]
mod tests;
