//! The paths of pi's sessions: `<folder of the project>/<time>_<session>.jsonl`, or without the
//! folder if a variable is set.

use std::path::Path;

use super::runs;
use crate::formats::roots::SessionName;

/// The session's name. The id follows the time. Runs of sub-agents are not sessions.
pub fn named(path: &Path) -> Option<SessionName<'_>> {
    let named = SessionName::stem(path).filter(|_| runs::name_of(path).is_none())?;
    let is_time =
        |front: &str| front.starts_with(|c: char| c.is_ascii_digit()) && front.contains('T');
    let id = named
        .id
        .split_once('_')
        .filter(|(front, id)| is_time(front) && !id.is_empty());
    Some(id.map_or(named, |(_, id)| SessionName::id(id)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::named;

    #[test]
    fn the_id_stands_behind_the_time() {
        for (name, expected) in [
            (
                "2026-03-18T00-14-13-969Z_a5cd40eb-1111.jsonl",
                "a5cd40eb-1111",
            ),
            ("2026-03-18T00-14-13-969Z_my_own_id.jsonl", "my_own_id"),
            ("my_own.jsonl", "my_own"),
        ] {
            assert_eq!(named(Path::new(name)).unwrap().id, expected);
        }
    }
}
