//! Reads the first prompt of a session, from its beginning as facts are.

use super::candidates::Candidate;
use super::glance;
use crate::formats::named;
use crate::ingest::target::SessionHead;
use crate::model::entry::{BlockKind, Entry};
use crate::model::found::FoundSession;
use crate::model::text::Text;

/// Limit of a prompt in characters.
const LONGEST: usize = 4_000;

/// Reads the first prompt of a session.
pub fn first_prompt(found: &FoundSession) -> Option<Text> {
    let format = named(found.format);
    let candidate = Candidate {
        row: found
            .session
            .clone()
            .map(|name| Box::new(SessionHead::with_id(name))),
        is_asked: true,
        ..Candidate::at(
            found.path.clone(),
            format,
            found.session.as_deref().unwrap_or(&found.id),
        )
    };
    let glance = match (&candidate.row, format) {
        (Some(_), Some(format)) => glance::read_rows(&candidate, format, false).ok(),
        (Some(_), None) => None,
        (None, _) => glance::read_file(&candidate, false).ok().flatten(),
    };
    let mut transcript = glance?.transcript();
    transcript.update_derived();
    let prompt = transcript.entries().find(|entry| entry.marks.prompt)?;
    words(prompt)
}

fn words(entry: &Entry) -> Option<Text> {
    let text = |kind: &BlockKind| match kind {
        BlockKind::Text(body) => Some(
            body.text_or_stub()
                .chars()
                .take(LONGEST)
                .collect::<String>(),
        ),
        BlockKind::Thinking(_)
        | BlockKind::Call(_)
        | BlockKind::Result(_)
        | BlockKind::Image(_)
        | BlockKind::Break(_)
        | BlockKind::Raw(_)
        | BlockKind::Aside(..) => None,
    };
    let texts: Vec<String> = entry
        .blocks
        .iter()
        .filter_map(|block| text(&block.kind))
        .collect();
    let text = texts.join("\n");
    (!text.trim().is_empty()).then(|| Text::clean(&text))
}
