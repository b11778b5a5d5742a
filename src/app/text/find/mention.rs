//! The text that `*` searches for, taken from the focused item: an error, a path, an id or a
//! command.

use crate::analysis::brief::complaint_of;
use crate::model::entry::{BlockKind, Entry};
use crate::model::path::relative_to;
use crate::model::text::without_sgr;
use crate::model::tool::ToolKind;

/// Limit of the text that is examined, in characters.
const LOOKED_AT: usize = 2_000;
/// The shortest search text, in characters.
const SHORTEST: usize = 2;

/// Limit of the text of an error, in characters.
const OF_ERROR: usize = 40;

/// The search text of a block: for a failed call its error; then a path that the block names, the
/// id of a stray result, the command of a call, the first code of a text, or the longest word of
/// its first line. Paths below `cwd` are relative.
pub(crate) fn of_block(entry: &Entry, block: usize, cwd: Option<&str>) -> Option<String> {
    let kind = &entry.blocks.get(block)?.kind;
    if let BlockKind::Call(call) = kind
        && entry.has_failed(kind)
        && let Some(error) = complaint_of(call)
    {
        return Some(beginning(&error));
    }
    let text = match kind {
        BlockKind::Call(call) => call.headline.clone(),
        BlockKind::Result(stray) if !stray.call.is_empty() => return Some(stray.call.to_string()),
        BlockKind::Result(stray) => stray.result.body.text_or_stub().clone(),
        BlockKind::Text(body) | BlockKind::Thinking(body) => body.text_or_stub().clone(),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => raw.body.text_or_stub().clone(),
        BlockKind::Image(image) => image.source.clone()?,
        BlockKind::Break(what) => what.words(),
    };
    let plain: String = without_sgr(&text).chars().take(LOOKED_AT).collect();
    if let Some(path) = words(&plain).find(|word| is_path(word)) {
        return Some(relative_to(path, cwd).to_owned());
    }
    let word = match kind {
        BlockKind::Call(call) if call.kind == ToolKind::Run => {
            words(&plain).next().map(str::to_owned)
        }
        BlockKind::Call(call) if plain.trim().is_empty() => Some(call.name.to_string()),
        _ => code(&plain).or_else(|| longest(&plain)),
    };
    word.filter(|word| word.chars().count() >= SHORTEST)
}

/// The beginning of an error, short enough that a search finds it where lines wrap.
fn beginning(error: &str) -> String {
    let mut words = error.split_inclusive(' ');
    let mut found = words.next().unwrap_or_default().to_owned();
    for word in words {
        if found.chars().count() + word.chars().count() > OF_ERROR {
            break;
        }
        found += word;
    }
    found.trim_end().chars().take(OF_ERROR).collect()
}

/// Words without quotes, brackets and punctuation, and paths without line numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_around = |c: char| c.is_whitespace() || "\"'`()[]{}<>|;,=*".contains(c);
    let is_line = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == ':');
    text.split(is_around)
        .map(move |word| {
            let word = word.trim_matches(['.', ':', '!', '?']);
            word.split_once(':')
                .filter(|(_, rest)| is_line(rest))
                .map_or(word, |(path, _)| path)
        })
        .filter(|word| word.chars().any(char::is_alphanumeric))
}

/// Whether a word is a path: `src/watch.rs`, `watch.rs`, `/etc/hosts`, but not `3/4` or `e.g`.
fn is_path(word: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
    if word.contains("://") {
        return true;
    }
    if let Some((folder, name)) = word.rsplit_once('/') {
        return letters(name) >= 2
            && (folder.is_empty() || letters(folder) >= 1 || folder.starts_with('.'));
    }
    word.rsplit_once('.').is_some_and(|(name, end)| {
        let is_ending =
            (1..=5).contains(&end.len()) && end.chars().all(|c| c.is_ascii_alphanumeric());
        is_ending && letters(end) > 0 && letters(name) >= 2
    })
}

/// The first inline `code` of a text, if it is one word.
fn code(text: &str) -> Option<String> {
    let mut spans = text.split('`').skip(1).step_by(2);
    spans
        .find(|span| !span.is_empty() && !span.contains(char::is_whitespace))
        .map(str::to_owned)
}

fn longest(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    words(line)
        .fold(None, |best: Option<&str>, word| match best {
            Some(best) if best.chars().count() >= word.chars().count() => Some(best),
            _ => Some(word),
        })
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{is_path, words};

    #[test]
    fn paths_are_distinguished_from_words() {
        for path in [
            "src/watch.rs",
            "watch.rs",
            "/etc/hosts",
            "./x/ab",
            "https://a.b/c",
            "Cargo.toml",
        ] {
            assert!(is_path(path), "{path}");
        }
        for word in ["3/4", "e.g", "1.5", "boats", "0.1.0", "and/"] {
            assert!(!is_path(word), "{word}");
        }
        let found: Vec<&str> = words("see `tests/watch.rs:44`, (or x) end.").collect();
        assert_eq!(found, ["see", "tests/watch.rs", "or", "x", "end"]);
    }
}
