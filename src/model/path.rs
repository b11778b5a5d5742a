//! Paths as they are shown: relative to the folder where the session began.

use itertools::Itertools as _;

/// Separator of several paths in a headline; hardly any path contains it.
pub const BETWEEN: &str = " ; ";

/// The paths in a headline, without line ranges.
pub fn listed(headline: &str) -> impl Iterator<Item = &str> {
    let paths = headline.split(BETWEEN).map(str::trim);
    // The last path of a truncated list is incomplete.
    let is_whole = move |path: &&str| !headline.contains(BETWEEN) || !path.ends_with('\u{2026}');
    paths
        .filter(is_whole)
        .map(without_lines)
        .filter(|path| !path.is_empty() && !path.contains('\n'))
}

/// Strips a line range: `src/watch.rs:120-180`.
fn without_lines(path: &str) -> &str {
    let is_lines =
        |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '-') && !rest.is_empty();
    path.rsplit_once(':')
        .filter(|(_, rest)| is_lines(rest))
        .map_or(path, |(path, _)| path)
}

/// A list of paths, each made relative to `root`.
pub fn relative_paths<'a>(paths: &'a str, root: Option<&str>) -> std::borrow::Cow<'a, str> {
    if !paths.contains(BETWEEN) {
        return relative_to(paths, root).into();
    }
    paths
        .split(BETWEEN)
        .map(|path| relative_to(path, root))
        .join(BETWEEN)
        .into()
}

/// A path relative to `root` if it is below it, else unchanged.
pub fn relative_to<'a>(path: &'a str, root: Option<&str>) -> &'a str {
    let inner = root
        .filter(|root| root.len() > 1)
        .and_then(|root| path.strip_prefix(root)?.strip_prefix('/'));
    inner.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// A text in which each word that is a path below `root` is made relative.
pub fn with_relative_paths<'a>(words: &'a str, root: Option<&str>) -> std::borrow::Cow<'a, str> {
    let Some(root) = root.filter(|root| root.len() > 1 && words.contains(*root)) else {
        return words.into();
    };
    let mut out = String::with_capacity(words.len());
    for (number, word) in words.split(' ').enumerate() {
        if number > 0 {
            out.push(' ');
        }
        out.push_str(relative_to(word, Some(root)));
    }
    out.into()
}

/// A command without a leading `cd` to `root`, and with relative paths.
pub fn relative_command<'a>(command: &'a str, root: Option<&str>) -> std::borrow::Cow<'a, str> {
    let goes_there = |rest: &'a str| {
        let rest = rest.trim_start_matches('"').strip_prefix(root?)?;
        rest.trim_start_matches('"')
            .trim_start_matches('/')
            .strip_prefix(" && ")
    };
    let command = command
        .strip_prefix("cd ")
        .and_then(goes_there)
        .map_or(command, str::trim_start);
    with_relative_paths(command, root)
}

#[cfg(test)]
mod tests {
    use super::{listed, relative_command, relative_paths, relative_to, with_relative_paths};

    #[test]
    fn files_that_are_named_together_are_told_apart() {
        let named = |headline| listed(headline).collect::<Vec<_>>();
        assert_eq!(
            named("a b.rs:1-9 ; Dockerfile ; /x/c.rs"),
            ["a b.rs", "Dockerfile", "/x/c.rs"]
        );
        assert_eq!(
            named("a.rs ; src/b\u{2026}"),
            ["a.rs"],
            "the last one is cut off"
        );
        assert_eq!(named("a\u{2026}"), ["a\u{2026}"]);
        for (written, path) in [
            ("a/b.rs:120-180", "a/b.rs"),
            ("a/b.rs:7", "a/b.rs"),
            ("C:", "C:"),
            ("C:/x", "C:/x"),
        ] {
            assert_eq!(named(written), [path]);
        }
        assert_eq!(
            relative_paths("/x/a ; /x/b/c ; /y", Some("/x")),
            "a ; b/c ; /y"
        );
    }

    #[test]
    fn what_lies_in_the_root_is_named_from_there() {
        let root = Some("/home/mira/lighthouse");
        assert_eq!(
            relative_to("/home/mira/lighthouse/src/parse.rs", root),
            "src/parse.rs"
        );
        assert_eq!(
            relative_to("/home/mira/lighthouses/a.rs", root),
            "/home/mira/lighthouses/a.rs"
        );
        assert_eq!(
            relative_to("/home/mira/lighthouse", root),
            "/home/mira/lighthouse"
        );
        assert_eq!(relative_to("/etc/hosts", Some("/")), "/etc/hosts");
        assert_eq!(
            with_relative_paths("VQ in /home/mira/lighthouse/docs/a.md", root),
            "VQ in docs/a.md"
        );
        assert_eq!(
            relative_command(
                "cd /home/mira/lighthouse && make -C /home/mira/lighthouse/docs",
                root
            ),
            "make -C docs"
        );
        assert_eq!(
            relative_command("cd /home/mira/lighthouses && make", root),
            "cd /home/mira/lighthouses && make"
        );
        assert_eq!(
            with_relative_paths("x/home/mira/lighthouse/a", root),
            "x/home/mira/lighthouse/a"
        );
    }
}
