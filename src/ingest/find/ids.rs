//! Ids of sessions whose files are named after a part of them.

/// Whether an id, or its beginning, goes with a name that ends with the first letters of the session's id, as Gemini's do.
pub(super) fn goes_on_from_name(id: &str, name: &str) -> bool {
    const LEAST: usize = 8;
    let Some((_, end)) = name.rsplit_once('-').filter(|(_, end)| end.len() == LEAST) else { return false };
    id.len() >= LEAST && id.starts_with(end)
}

#[cfg(test)]
mod tests {
    use super::goes_on_from_name;

    #[test]
    fn ids_go_with_names_that_end_with_their_beginning() {
        let name = "session-2026-11-20T10-00-e435870b";
        assert!(goes_on_from_name("e435870b-1111-4222-8333-444444444444", name));
        assert!(goes_on_from_name("e435870b", name));
        assert!(!goes_on_from_name("e43587", name), "the beginning of many");
        assert!(!goes_on_from_name("e435870b", "01a1f866-0d00-7000-8000-e435870b0000"));
    }
}
