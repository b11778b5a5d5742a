//! The screens of the viewer.

/// A screen of the viewer. Everything else is a pop-up or a typed line over one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AppScreen {
    #[default]
    Session,
    Picker,
    Wall,
    Ledger,
}

impl AppScreen {
    /// Heading of the screen's keys in the help.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Session => "Session",
            Self::Picker => "Sessions",
            Self::Wall => "All sessions",
            Self::Ledger => "Usage of all sessions",
        }
    }
}
