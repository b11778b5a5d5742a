//! Names of files, as they are shown: from the session's root on.

/// A path as seen from a folder, if it lies in it.
pub fn below<'a>(path: &'a str, root: Option<&str>) -> &'a str {
    let inner =
        root.filter(|root| root.len() > 1).and_then(|root| path.strip_prefix(root)?.strip_prefix('/'));
    inner.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// Words among which there may be paths, each of them as seen from a folder.
pub fn words_below<'a>(words: &'a str, root: Option<&str>) -> std::borrow::Cow<'a, str> {
    let Some(root) = root.filter(|root| root.len() > 1 && words.contains(*root)) else { return words.into() };
    let mut out = String::with_capacity(words.len());
    for (number, word) in words.split(' ').enumerate() {
        if number > 0 {
            out.push(' ');
        }
        out.push_str(below(word, Some(root)));
    }
    out.into()
}

/// A command as seen from a folder: that it goes there first says nothing.
pub fn command_below<'a>(command: &'a str, root: Option<&str>) -> std::borrow::Cow<'a, str> {
    let goes_there = |rest: &'a str| {
        let rest = rest.trim_start_matches('"').strip_prefix(root?)?;
        rest.trim_start_matches('"').trim_start_matches('/').strip_prefix(" && ")
    };
    let command = command.strip_prefix("cd ").and_then(goes_there).map_or(command, str::trim_start);
    words_below(command, root)
}

#[cfg(test)]
mod tests {
    use super::{below, command_below, words_below};

    #[test]
    fn what_lies_in_the_root_is_named_from_there() {
        let root = Some("/home/mira/lighthouse");
        assert_eq!(below("/home/mira/lighthouse/src/parse.rs", root), "src/parse.rs");
        assert_eq!(below("/home/mira/lighthouses/a.rs", root), "/home/mira/lighthouses/a.rs");
        assert_eq!(below("/home/mira/lighthouse", root), "/home/mira/lighthouse");
        assert_eq!(below("/etc/hosts", Some("/")), "/etc/hosts");
        assert_eq!(words_below("VQ in /home/mira/lighthouse/docs/a.md", root), "VQ in docs/a.md");
        assert_eq!(
            command_below("cd /home/mira/lighthouse && make -C /home/mira/lighthouse/docs", root),
            "make -C docs"
        );
        assert_eq!(
            command_below("cd /home/mira/lighthouses && make", root),
            "cd /home/mira/lighthouses && make"
        );
        assert_eq!(words_below("x/home/mira/lighthouse/a", root), "x/home/mira/lighthouse/a");
    }
}
