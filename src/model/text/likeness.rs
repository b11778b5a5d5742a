//! Names similar to a mistyped word.

/// Limit of the names that are offered.
const OFFERED: usize = 3;
/// Least similarity of a name that is offered, of at most 1.
const LEAST: f64 = 0.75;

/// How similar two words are, without regard to case, from 0 to 1; a shared beginning counts most.
pub(crate) fn likeness(typed: &str, name: &str) -> f64 {
    strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase())
}

/// The names most similar to a word, best first: few, or none.
pub(crate) fn nearest<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let rated = names
        .into_iter()
        .map(|name| (likeness(typed, name), name))
        .filter(|(likeness, _)| *likeness >= LEAST);
    let mut near: Vec<(f64, &str)> = rated.collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.truncate(OFFERED);
    near.into_iter().map(|(_, name)| name).collect()
}

/// A part of an error message: `; near: tool, tok`, or nothing.
pub(crate) fn near_words<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    match nearest(typed, names).as_slice() {
        [] => String::new(),
        near => format!("; near: {}", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{near_words, nearest};

    #[test]
    fn mistyped_names_are_found_and_others_are_not() {
        let names = ["codex", "claude-code", "cline", "opencode", "zed"];
        assert_eq!(nearest("codx", names).first(), Some(&"codex"));
        assert_eq!(nearest("Claud", names).first(), Some(&"claude-code"));
        assert_eq!(near_words("xyzzy", names), "");
        assert_eq!(near_words("zedd", names), "; near: zed");
    }
}
