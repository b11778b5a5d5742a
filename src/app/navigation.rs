//! Navigation: a stack of the screens below the current one. Lists open over a session or over each
//! other, a session opens over a list, and leaving a screen shows the one below it.

use super::effect::Effect;
use super::mode::{Mode, WallLine};
use super::screens::AppScreen;
use super::state::App;

impl Mode {
    /// The current screen, without pop-ups and typed lines.
    pub fn screen(&self) -> AppScreen {
        match self {
            Self::Picker => AppScreen::Picker,
            Self::Ledger
            | Self::OnWall {
                line: WallLine::Since,
                ..
            } => AppScreen::Ledger,
            Self::Wall | Self::OnWall { .. } => AppScreen::Wall,
            Self::Help { below, .. } => *below,
            Self::Raw(view) => view.below,
            Self::Palette(palette) => palette.below,
            Self::Normal
            | Self::Search { .. }
            | Self::Filter { .. }
            | Self::Pipe { .. }
            | Self::Resume(_) => AppScreen::Session,
        }
    }
}

impl AppScreen {
    /// The mode of the screen, without pop-ups and typed lines.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Session => Mode::Normal,
            Self::Picker => Mode::Picker,
            Self::Wall => Mode::Wall,
            Self::Ledger => Mode::Ledger,
        }
    }
}

impl App {
    /// Opens the picker, the wall or the ledger over the current screen.
    pub(crate) fn open_list(&mut self, list: AppScreen) -> Vec<Effect> {
        let present = self.mode.screen();
        if present == AppScreen::Session {
            self.below.extend(self.has_session().then_some(present));
            return self.show(list);
        }
        // A list that is already open over the session is returned to, not opened again.
        let is_session = |screen: &AppScreen| *screen == AppScreen::Session;
        let lists = self
            .below
            .iter()
            .rposition(is_session)
            .map_or(0, |at| at + 1);
        match self.below.iter().skip(lists).position(|at| *at == list) {
            Some(at) => self.below.truncate(lists + at),
            None if present == list => {}
            None => self.below.push(present),
        }
        self.show(list)
    }

    /// Shows a screen. Returns the effects that load its list.
    pub fn show(&mut self, screen: AppScreen) -> Vec<Effect> {
        self.mode = screen.mode();
        match screen {
            AppScreen::Session => Vec::new(),
            AppScreen::Picker => {
                self.picker.begin();
                vec![Effect::Seek]
            }
            AppScreen::Wall => {
                self.wall.mark_stale();
                vec![Effect::FollowAll]
            }
            AppScreen::Ledger => {
                let since = self.ledger.since.clone();
                self.ledger.count_from(&since, self.reader.screen.now);
                vec![Effect::Count(self.ledger.question.clone())]
            }
        }
    }

    /// Leaves the current list for the screen below it. The runtime shows a parked session, and
    /// ends the program if no screen is below.
    pub(crate) fn leave_list(&mut self) -> Vec<Effect> {
        let below = match self.below.last() {
            Some(AppScreen::Session) if !self.has_session() => None,
            below => below.copied(),
        };
        let Some(below) = below else {
            return vec![Effect::Back];
        };
        self.below.pop();
        let mut effects = match self.mode.screen() {
            AppScreen::Picker => vec![Effect::EndSeeking],
            // Alarms stay active when the wall is closed.
            AppScreen::Wall if self.wall.alarms.is_empty() => vec![Effect::LeaveAll],
            AppScreen::Wall | AppScreen::Ledger | AppScreen::Session => Vec::new(),
        };
        effects.extend(self.show(below));
        effects
    }

    fn has_session(&self) -> bool {
        self.reader.session.file.opened.is_some()
    }
}
