//! Parses what pi itself adds to a prompt: the text of a skill, and files named on the command
//! line.
//!
//! Invariant: envelope and text together contain every character of the message except outer white
//! space.

use super::message::{Prompt, PromptAuthor};
use crate::formats::openclaw::wakes;

/// Parses the text of a user message.
pub fn open(text: &str) -> Prompt<'_> {
    let mut rest = text.trim();
    let mut names = Vec::new();
    while let Some((name, end)) = wrapper(rest) {
        names.push(name);
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    let envelope = text.trim().strip_suffix(rest).unwrap_or_default().trim();
    // If a skill is called without further text, its name is the text.
    let said = if rest.is_empty() {
        names.first().copied().unwrap_or(text)
    } else {
        rest
    };
    // A file may contain OpenClaw's marks only after its first lines, by which the format was
    // detected.
    let voice = wakes::sender(said).map_or(PromptAuthor::Person, PromptAuthor::Sender);
    Prompt {
        facts: names.join(" · "),
        envelope: envelope.to_owned(),
        text: said,
        voice,
    }
}

/// The name in `<skill name="…" …>` or `<file name="…">`, and the end of the element.
fn wrapper(text: &str) -> Option<(&str, usize)> {
    let (open, close) = ["skill", "file"].into_iter().find_map(|kind| {
        let open = text
            .strip_prefix('<')?
            .strip_prefix(kind)?
            .strip_prefix(" name=\"")?;
        Some((
            open,
            if kind == "skill" {
                "</skill>"
            } else {
                "</file>"
            },
        ))
    })?;
    let name = open
        .split('"')
        .next()
        .filter(|name| !name.is_empty() && !name.contains('\n'))?;
    Some((name, text.find(close)? + close.len()))
}

#[cfg(test)]
mod tests {
    use super::open;

    #[test]
    fn skills_and_files_are_distinguished_from_what_is_said() {
        let skill = "<skill name=\"commit\" location=\"/s\">\nDo it.\n</skill>";
        let file = "<file name=\"/a.txt\">\nx\n</file>";
        for (raw, facts, envelope, said) in [
            (
                "hi <skill name=\"a\"></skill>".to_owned(),
                "",
                "",
                "hi <skill name=\"a\"></skill>".to_owned(),
            ),
            (skill.to_owned(), "commit", skill, "commit".to_owned()),
            (
                format!("{skill}\n\nonly the tests"),
                "commit",
                skill,
                "only the tests".to_owned(),
            ),
            (
                format!("{file}\nwhat is this?"),
                "/a.txt",
                file,
                "what is this?".to_owned(),
            ),
            (
                "<skill name=\"a\"> is open".to_owned(),
                "",
                "",
                "<skill name=\"a\"> is open".to_owned(),
            ),
        ] {
            let prompt = open(&raw);
            assert_eq!(
                (prompt.facts.as_str(), prompt.envelope.as_str(), prompt.text),
                (facts, envelope, &*said)
            );
        }
    }
}
