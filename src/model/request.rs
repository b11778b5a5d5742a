//! What names a request to a model, in every copy of it.
//!
//! Forks and sessions that were gone on with begin with a copy of what was before, a session lies in an archive and in its
//! place, one run was recorded by its agent and by who started it. What names a request in all of them:
//!
//! * the id that the provider gave it, or another one that is unique in the world;
//! * or the agent's own id with the time and the tokens of the prompt, for short ids come twice by chance;
//! * or, where requests have no ids, the session's id with the place, the time and the tokens: so only copies of the
//!   same session are known.

use super::body::Key;
use super::text::Text;
use super::timestamp::Timestamp;
use super::tool::identifies;

/// The name of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    key: Key,
    within: Option<(Option<Timestamp>, [i64; 3])>,
    session: Option<Text>,
}

impl Request {
    /// Of a request of a session, under this key and at this time, with so many tokens of its prompt: those that no
    /// cache had, those that were read from one, those that were written to one.
    pub(crate) fn new(
        key: Option<&Key>,
        at: Option<Timestamp>,
        prompt: [i64; 3],
        session: &Text,
    ) -> Self {
        match key {
            Some(key) if is_unique(key) => Self {
                key: key.clone(),
                within: None,
                session: None,
            },
            Some(key) if !is_of_place(key) && at.is_some() => Self {
                key: key.clone(),
                within: Some((at, prompt)),
                session: None,
            },
            key => Self::within(session, key.cloned().unwrap_or_default(), at, prompt),
        }
    }

    /// Of what only the same session says again.
    pub(crate) fn within(
        session: &Text,
        key: Key,
        at: Option<Timestamp>,
        prompt: [i64; 3],
    ) -> Self {
        Self {
            key,
            within: Some((at, prompt)),
            session: Some(session.clone()),
        }
    }
}

/// Whether a key was made from where a record stands.
fn is_of_place(key: &str) -> bool {
    key.starts_with('@')
}

/// Whether nobody else has this id: one that a provider gave to a request, or a UUID.
fn is_unique(key: &str) -> bool {
    const GIVEN: [&str; 6] = ["msg_", "resp_", "req_", "chatcmpl-", "chatcmpl_", "gen-"];
    /// Shorter ones may be somebody's own numbers.
    const LONG: usize = 20;
    let is_given = GIVEN.iter().any(|front| key.starts_with(front)) && key.len() >= LONG;
    let is_uuid = key.len() == 36
        && key.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    identifies(key) && (is_given || is_uuid)
}

#[cfg(test)]
mod tests {
    use super::is_unique;

    #[test]
    fn ids_of_providers_are_unique_and_short_ones_are_not() {
        assert!(is_unique("msg_01AbCdEfGhIjKlMnOpQr"));
        assert!(is_unique("0c2a8f3e-1d2b-4c3d-8e9f-0a1b2c3d4e5f"));
        for key in [
            "msg_1",
            "a1b2c3d4",
            "@0:12345678901234567890",
            "27/PLANNER_RESPONSE_LONG",
            "",
        ] {
            assert!(!is_unique(key), "{key}");
        }
    }
}
