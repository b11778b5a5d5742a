//! Identity of a request to a model, equal in every copy of its record.
//!
//! The same request may be recorded several times: forks and continued sessions begin with a copy of the history, a
//! session may exist both in an archive and at its path, and a run may be recorded by its agent and by the program that
//! started it. What identifies a request in all copies:
//!
//! * the id that the provider gave it, or another globally unique one;
//! * or the agent's own id with the time and the tokens of the prompt, because short ids repeat by chance;
//! * or, where requests have no ids, the session's id with the position, the time and the tokens, which recognizes
//!   only copies of the same session.

use super::body::Key;
use super::entry::Entry;
use super::text::Text;
use super::timestamp::Timestamp;
use super::tool::identifies;

/// Identity of a request, equal in all copies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestIdentity {
    key: Key,
    within: Option<(Option<Timestamp>, [i64; 3])>,
    session: Option<Text>,
}

impl RequestIdentity {
    /// Identity of a request by its key, its time and the tokens of its prompt: uncached input,
    /// cache reads, cache writes.
    pub fn new(key: Option<&Key>, at: Option<Timestamp>, prompt: [i64; 3], session: &Text) -> Self {
        match key {
            Some(key) if is_unique(key) => Self {
                key: key.clone(),
                within: None,
                session: None,
            },
            Some(key) if !key.starts_with('@') && at.is_some() => Self {
                key: key.clone(),
                within: Some((at, prompt)),
                session: None,
            },
            key => Self::within(session, key.cloned().unwrap_or_default(), at, prompt),
        }
    }

    /// Identity of a request that only copies of the same session repeat.
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

/// Identity of a call, equal in all copies: its own id if that is globally unique, else that of its
/// entry, with the position there.
pub type CallIdentity = (RequestIdentity, usize);

pub(crate) fn call_identity(entry: &Entry, block: usize, session: &Text) -> CallIdentity {
    const GIVEN: [&str; 2] = ["toolu_", "call_"];
    let own = entry.call(block).map(|call| &call.key);
    let Some(key) = own.filter(|key| is_given(key, &GIVEN)) else {
        let of_entry = RequestIdentity::new(Some(&entry.key), entry.at, [0; 3], session);
        return (of_entry, block);
    };
    let own = RequestIdentity {
        key: key.clone(),
        within: None,
        session: None,
    };
    (own, 0)
}

/// Whether an id is globally unique: given by a provider, or a UUID.
fn is_unique(key: &str) -> bool {
    const GIVEN: [&str; 6] = ["msg_", "resp_", "req_", "chatcmpl-", "chatcmpl_", "gen-"];
    let is_uuid = key.len() == 36
        && key.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    identifies(key) && (is_given(key, &GIVEN) || is_uuid)
}

/// Whether a provider gave an id, by its beginning.
fn is_given(key: &str, fronts: &[&str]) -> bool {
    /// Minimum length in characters: a shorter id may be a local number.
    const LONG: usize = 20;
    fronts.iter().any(|front| key.starts_with(front)) && key.len() >= LONG
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
