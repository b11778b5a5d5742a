//! Senders of entries that are in the position of a prompt although no human wrote them.

use serde::{Deserialize, Serialize};

use crate::model::text::Name;

/// Sender of an entry that the model answers like a prompt, though no human wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub kind: SenderKind,
    /// Its name, if the agent records one.
    pub name: Option<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SenderKind {
    /// Another session or agent.
    Peer,
    /// The session that coordinates this one.
    Coordinator,
    /// A sub-agent that returns its result.
    Handback,
    /// A schedule, a timer, a heartbeat.
    Schedule,
    /// A background task that ended or sent a message.
    Task,
    /// The agent program itself.
    Runtime,
    /// A messenger or another source outside the agent.
    Channel,
}

impl SenderKind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Peer,
        Self::Coordinator,
        Self::Handback,
        Self::Schedule,
        Self::Task,
        Self::Runtime,
        Self::Channel,
    ];

    /// The name in JSON outputs and definitions.
    pub fn word(self) -> &'static str {
        match self {
            Self::Peer => "peer",
            Self::Coordinator => "coordinator",
            Self::Handback => "handback",
            Self::Schedule => "schedule",
            Self::Task => "task",
            Self::Runtime => "runtime",
            Self::Channel => "channel",
        }
    }

    /// Parses the name of a kind.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether entries of this kind are somebody's messages rather than notices of the program.
    pub(crate) fn is_message(self) -> bool {
        matches!(
            self,
            Self::Peer | Self::Coordinator | Self::Handback | Self::Channel
        )
    }
}

impl Sender {
    /// A sender without a name.
    pub(crate) fn of(kind: SenderKind) -> Self {
        Self { kind, name: None }
    }

    /// Description of the entry, for display.
    pub(crate) fn words(&self) -> String {
        let (with_name, alone) = match self.kind {
            SenderKind::Peer => ("message from", "message from another agent"),
            SenderKind::Coordinator => (
                "message from the coordinator",
                "message from the coordinator",
            ),
            SenderKind::Handback => ("result of", "result of a sub-agent"),
            SenderKind::Schedule => ("schedule", "schedule"),
            SenderKind::Task => ("background task", "background task"),
            SenderKind::Runtime => ("from the program:", "from the program"),
            SenderKind::Channel => ("message from channel", "message from a channel"),
        };
        self.name
            .as_ref()
            .map_or_else(|| alone.to_owned(), |name| format!("{with_name} {name}"))
    }

    /// Short form: the name of the sender, else its kind.
    pub(crate) fn word(&self) -> &str {
        self.name
            .as_ref()
            .map_or(self.kind.word(), |name| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Sender, SenderKind};

    #[test]
    fn a_word_names_its_kind() {
        for kind in SenderKind::ALL {
            assert_eq!(SenderKind::of(kind.word()), Some(kind));
        }
        assert_eq!(SenderKind::of("human"), None);
    }

    #[test]
    fn a_sender_without_a_name_is_told_by_its_kind() {
        let peer = Sender {
            kind: SenderKind::Peer,
            name: Some("build".into()),
        };
        assert_eq!(
            (peer.words().as_str(), peer.word()),
            ("message from build", "build")
        );
        let peer = Sender::of(SenderKind::Peer);
        assert_eq!(
            (peer.words().as_str(), peer.word()),
            ("message from another agent", "peer")
        );
    }
}
