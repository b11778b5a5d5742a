//! Compares two texts line by line, and replaced lines word by word.

use std::borrow::Cow;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, diff_ratio, group_diff_ops};
use unicode_segmentation::UnicodeSegmentation;

use super::{DiffLine, LineSign};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Larger texts, in bytes, are shown as removed and added without a diff, which takes too long if
/// they have little in common.
const MAX_COMPARED: usize = 128 * 1024;
/// Changes of more lines are rewrites: word marks would not help.
const MAX_REFINED: usize = 60;
/// The same limit in bytes.
const MAX_REFINED_BYTES: usize = 16 * 1024;
/// Lines with a smaller ratio of common text are treated as unrelated: marks would cover most of
/// them.
const ALIKE: f32 = 0.5;

/// Compares two texts. Returns the changes with some lines of context.
pub fn compare(old: &str, new: &str) -> Vec<DiffLine> {
    if old.len() + new.len() > MAX_COMPARED {
        return [
            all_lines(LineSign::Removed, old),
            all_lines(LineSign::Added, new),
        ]
        .concat();
    }
    // A last line counts as equal with and without its line end.
    let (whole_old, whole_new) = (ended(old), ended(new));
    let (old, new) = if whole_old == whole_new {
        (old, new)
    } else {
        (&*whole_old, &*whole_new)
    };
    let (old, new) = (lines_of(old), lines_of(new));
    let mut lines = Vec::new();
    for (index, group) in groups(&old, &new).into_iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine::plain(LineSign::Note, ""));
        }
        for op in group {
            let before = old.get(op.old_range()).unwrap_or_default();
            let after = new.get(op.new_range()).unwrap_or_default();
            match op {
                DiffOp::Equal { .. } => {
                    lines.extend(before.iter().map(|line| plain(LineSign::Same, line)));
                }
                _ => lines.extend(change(before, after)),
            }
        }
    }
    lines
}

fn all_lines(sign: LineSign, text: &str) -> Vec<DiffLine> {
    text.lines()
        .map(|line| DiffLine::plain(sign, line))
        .collect()
}

/// The differences with some lines of context, those that are close together as one group.
pub(crate) fn groups(old: &[&str], new: &[&str]) -> Vec<Vec<DiffOp>> {
    group_diff_ops(differences(old, new), CONTEXT)
}

/// Adds the line end to the last line if it lacks one.
fn ended(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.ends_with('\n') {
        text.into()
    } else {
        format!("{text}\n").into()
    }
}

fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The operations that make `new` of `old`, line by line.
pub(crate) fn differences(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Calls one algorithm instead of the library's dispatch over all of them, which would add each
    // to the binary. It bounds its own search, at the cost of a coarser result.
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}

/// Diff lines for removed lines and those that replaced them.
fn change(old: &[&str], new: &[&str]) -> Vec<DiffLine> {
    let bytes: usize = old.iter().chain(new).map(|line| line.len()).sum();
    let is_small = old.len() + new.len() <= MAX_REFINED && bytes <= MAX_REFINED_BYTES;
    let refined = is_small.then(|| refine(old, new)).flatten();
    refined.unwrap_or_else(|| {
        let removed = old.iter().map(|line| plain(LineSign::Removed, line));
        removed
            .chain(new.iter().map(|line| plain(LineSign::Added, line)))
            .collect()
    })
}

/// The same with differing words marked; `None` if the lines are too different.
fn refine(old: &[&str], new: &[&str]) -> Option<Vec<DiffLine>> {
    let (old_words, new_words) = (words_of(old), words_of(new));
    let ops = differences(&old_words, &new_words);
    if diff_ratio(&ops, old_words.len(), new_words.len()) < ALIKE {
        return None;
    }
    let (mut old_differs, mut new_differs) =
        (vec![true; old_words.len()], vec![true; new_words.len()]);
    for op in ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. })) {
        old_differs
            .get_mut(op.old_range())
            .into_iter()
            .flatten()
            .for_each(|differs| *differs = false);
        new_differs
            .get_mut(op.new_range())
            .into_iter()
            .flatten()
            .for_each(|differs| *differs = false);
    }
    let removed = marked(LineSign::Removed, old, &old_differs);
    Some(
        removed
            .into_iter()
            .chain(marked(LineSign::Added, new, &new_differs))
            .collect(),
    )
}

fn words_of<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines
        .iter()
        .flat_map(|line| line.split_word_bounds())
        .collect()
}

/// Splits lines into parts by whether each word differs.
fn marked(sign: LineSign, lines: &[&str], differs: &[bool]) -> Vec<DiffLine> {
    let mut differs = differs.iter().copied();
    let line_of = |line: &&str| {
        let mut parts: Vec<(bool, String)> = Vec::new();
        for (word, differs) in line.split_word_bounds().zip(differs.by_ref()) {
            let word = word.trim_end_matches(['\n', '\r']);
            match parts.last_mut().filter(|(last, _)| *last == differs) {
                _ if word.is_empty() => {}
                Some((_, text)) => text.push_str(word),
                None => parts.push((differs, word.to_owned())),
            }
        }
        // Marks that cover most of a line do not help.
        if weight(&parts, true) > weight(&parts, false) {
            for (differs, _) in &mut parts {
                *differs = false;
            }
        }
        DiffLine {
            sign,
            old: None,
            new: None,
            parts,
        }
    };
    lines.iter().map(line_of).collect()
}

/// Visible characters in the parts that differ, or in the others.
fn weight(parts: &[(bool, String)], differs: bool) -> usize {
    let those = parts.iter().filter(|part| part.0 == differs);
    those
        .map(|(_, text)| text.chars().filter(|c| !c.is_whitespace()).count())
        .sum()
}

fn plain(sign: LineSign, line: &str) -> DiffLine {
    DiffLine::plain(sign, line.trim_end_matches(['\n', '\r']))
}

#[cfg(test)]
mod tests {
    use super::{LineSign, compare};
    use crate::model::change::counts;

    fn marks(line: &super::DiffLine) -> Vec<&str> {
        line.parts
            .iter()
            .filter(|(differs, _)| *differs)
            .map(|(_, text)| text.as_str())
            .collect()
    }

    #[test]
    fn it_shows_lines_around_and_marks_the_words_that_differ() {
        let old = (0..20)
            .map(|n| format!("let line_{n} = f({n});\n"))
            .collect::<Vec<_>>()
            .concat();
        let lines = compare(&old, &old.replace("f(10)", "f(ten)"));
        assert_eq!(counts(&lines), (1, 1));
        assert_eq!(lines.len(), 8);
        let [removed, added] = [LineSign::Removed, LineSign::Added].map(|sign| {
            let line = lines.iter().find(|line| line.sign == sign).unwrap();
            marks(line)
        });
        assert_eq!((removed, added), (vec!["10"], vec!["ten"]));
    }

    #[test]
    fn what_is_another_line_has_no_marks() {
        let lines = compare("fn one() {}\n", "struct Harbour { depth: u32 }\n");
        assert!(lines.iter().all(|line| marks(line).is_empty()), "{lines:?}");
        let lines = compare(
            "a b c d e f\nwhole other words\n",
            "a b c d e F\nnothing kept of it\n",
        );
        assert_eq!(counts(&lines), (2, 2));
        assert_eq!(lines.iter().flat_map(marks).collect::<Vec<_>>(), ["f", "F"]);
    }

    #[test]
    fn a_last_line_without_an_end_is_the_same_line() {
        assert_eq!(
            counts(&compare(
                "let x = 1;\nlet y = 2;",
                "let x = 10;\nlet y = 2;\nlet z = 3;"
            )),
            (2, 1)
        );
        assert_eq!(counts(&compare("x", "x\n")), (1, 1));
        assert_eq!(counts(&compare("", "x")), (1, 0));
    }

    #[test]
    fn groups_that_lie_apart_have_a_gap_between_them() {
        let old = (0..40)
            .map(|n| format!("line {n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let lines = compare(
            &old,
            &old.replace("line 3\n", "")
                .replace("line 30\n", "line 30\nmore\n"),
        );
        assert_eq!(counts(&lines), (1, 1));
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.sign == LineSign::Note)
                .count(),
            1
        );
    }
}
