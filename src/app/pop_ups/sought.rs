//! Ranking for the search in help and palette: how well a name, a description and synonyms match
//! the typed words.

/// The rank of a match of all typed words, the least is the best; `None` if a word matches nothing.
/// Whole words come before prefixes of words, and names before descriptions.
pub(crate) fn rank(typed: &str, name: &str, doc: &str, also: &str) -> Option<usize> {
    let (name, doc) = (name.to_lowercase(), doc.to_lowercase());
    let of = |word: &str| {
        if name == word {
            return Some(0);
        }
        let is_letter = |c: char| c.is_alphanumeric();
        let parts = |text: &str| -> Vec<String> {
            text.split(|c| !is_letter(c)).map(str::to_owned).collect()
        };
        let (name, also, doc) = (parts(&name), parts(also), parts(&doc));
        let has = |words: &[String]| words.iter().any(|one| one == word);
        let begins = |words: &[String]| words.iter().any(|one| one.starts_with(word));
        [
            has(&name) || has(&also),
            begins(&name),
            begins(&also),
            has(&doc),
            begins(&doc),
        ]
        .iter()
        .position(|fits| *fits)
        .map(|place| place + 1)
    };
    let typed = typed.to_lowercase();
    let words: Vec<&str> = typed
        .split([' ', '-'])
        .filter(|word| !word.is_empty())
        .collect();
    if name == typed {
        return Some(0);
    }
    words.into_iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn whole_words_come_first_and_every_word_must_fit() {
        let of = |typed| {
            rank(
                typed,
                "copy-turn",
                "copy the turn as Markdown",
                "save export share",
            )
        };
        assert_eq!(of("copy-turn"), Some(0));
        assert_eq!(of("turn"), Some(1));
        assert_eq!(of("save"), Some(1));
        assert!(of("turn") < of("tur") && of("tur") < of("expo") && of("expo") < of("markdown"));
        assert_eq!(of("copy sav"), Some(4));
        assert_eq!(of("turn money"), None);
        assert_eq!(of("cptrn"), None, "scattered letters are no word");
    }
}
