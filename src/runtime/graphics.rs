//! Which means a terminal has to show images: by its environment at once, by its answers soon after.
//!
//! A terminal is known by name, because knowing a protocol is not enough: cells that name an image
//! (kitty's Unicode placeholders) cannot be asked for, and some that know the rest show them as letters.
//!
//! **Which graphics a terminal has is known by its name.** Knowing a protocol is not enough, and cells that name an
//! image cannot be asked for. The questions go out after the first frame, and nobody waits.

use super::answers;
use super::terminal_input::event::InputEvent;
use crate::render::picture::canvas::{Canvas, Choice, Means};
use crate::render::picture::kitty;

/// Pixels of a cell where nothing says so and the terminal scales.
const USUAL_CELL: (u16, u16) = (10, 20);
/// The first kitty whose cells can name an image.
const KITTY: (u16, u16) = (0, 28);

/// What the environment says of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `$TERM`.
    pub(crate) term: String,
    /// `$TERM_PROGRAM`.
    pub(crate) program: String,
    /// `$LC_TERMINAL`, which iTerm2 sends along over ssh.
    pub(crate) lc_terminal: String,
    /// `$KITTY_WINDOW_ID` is set.
    pub(crate) is_kitty: bool,
    /// `$KONSOLE_VERSION` is set.
    pub(crate) is_konsole: bool,
    /// `$WEZTERM_EXECUTABLE` is set.
    pub(crate) is_wezterm: bool,
    /// `$TMUX` is set.
    pub(crate) in_tmux: bool,
    /// `$STY` is set: GNU screen.
    pub(crate) in_screen: bool,
}

/// What the terminal has said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalAnswers {
    has_kitty: bool,
    has_sixels: bool,
    name: Option<String>,
    /// Pixels of a cell.
    cell: Option<(u16, u16)>,
    /// What the size of the screen said of them at that time.
    measured: Option<(u16, u16)>,
}

impl TerminalAnswers {
    /// Keeps an answer. `cell` is what the size of the screen says of the pixels of a cell.
    pub(crate) fn take(&mut self, heard: &InputEvent, cell: Option<(u16, u16)>) {
        match heard {
            InputEvent::Kitty => self.has_kitty = true,
            InputEvent::Attributes(attributes) => self.has_sixels = attributes.contains(&4),
            InputEvent::Name(name) => self.name = Some(name.clone()),
            InputEvent::Cell(width, height) => {
                (self.cell, self.measured) = (Some((*width, *height)), cell);
            }
            InputEvent::Key(_)
            | InputEvent::Mouse(_)
            | InputEvent::Paste(_)
            | InputEvent::Background(_) => {}
        }
    }
}

impl Environment {
    fn is_simple(&self) -> bool {
        matches!(self.term.as_str(), "" | "dumb" | "linux" | "ansi") || self.term.starts_with("vt")
    }

    fn within_screen(&self) -> bool {
        self.in_screen || (self.term.starts_with("screen") && !self.in_tmux)
    }

    /// The means of a terminal that is known by its environment.
    fn known(&self) -> Option<Means> {
        if self.in_tmux || self.within_screen() {
            return None;
        }
        let is = |name: &str| self.program.eq_ignore_ascii_case(name);
        if is("WezTerm") || is("iTerm.app") || self.is_konsole || self.lc_terminal == "iTerm2" {
            return Some(Means::ITerm2);
        }
        let is_kitty = self.term == "xterm-kitty" || self.term == "xterm-ghostty";
        (is_kitty || self.is_kitty || is("ghostty")).then_some(Means::Kitty)
    }
}

/// What is known before the terminal says anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// What the reader wants.
    pub(crate) choice: Choice,
    /// The environment.
    pub(crate) environment: Environment,
    /// Images are not shown at all.
    pub(crate) is_plain: bool,
    /// There are fewer than 256 colours, so cells cannot name an image through tmux.
    pub(crate) has_few_colours: bool,
}

impl Setup {
    /// What the terminal is asked after the first frame; empty if there is nothing to learn.
    pub(crate) fn questions(&self) -> String {
        let environment = &self.environment;
        let is_moot = match self.choice {
            Choice::Auto => self.is_plain || (environment.in_tmux && self.has_few_colours),
            // A sixel is made of pixels, so those of a cell must be known.
            Choice::Only(Means::Sixel) => environment.in_tmux,
            Choice::Only(_) => true,
        };
        // The last one would write the questions on its screen.
        let is_simple = environment.is_simple() || environment.program == "Apple_Terminal";
        if is_moot || is_simple || environment.within_screen() || !cfg!(feature = "images") {
            return String::new();
        }
        // What tmux says of itself says nothing of the terminal around it.
        if environment.in_tmux {
            return kitty::question(true) + answers::ATTRIBUTES;
        }
        [answers::NAME, answers::CELL, answers::ATTRIBUTES].concat()
    }

    /// What images are drawn on. `cell` is what the size of the screen says of the pixels of a cell.
    pub(crate) fn canvas(&self, answers: &TerminalAnswers, cell: Option<(u16, u16)>) -> Canvas {
        let environment = &self.environment;
        let means = match self.choice {
            Choice::Only(means) => means,
            Choice::Auto if self.is_plain || environment.within_screen() => Means::Blocks,
            Choice::Auto if environment.in_tmux && self.has_few_colours => Means::Blocks,
            Choice::Auto if environment.in_tmux => within_tmux(environment, answers),
            Choice::Auto => named(answers)
                .or(environment.known())
                .unwrap_or(Means::Blocks),
        };
        let answered = answers.cell.filter(|_| answers.measured == cell);
        match (means, answered.or(cell)) {
            (Means::Off, _) => Canvas {
                means,
                ..Canvas::BLOCKS
            },
            (Means::Blocks, _) | (Means::Sixel, None) => Canvas::BLOCKS,
            _ if !cfg!(feature = "images") => Canvas::BLOCKS,
            (means, pixels) => Canvas {
                means,
                cell: pixels.unwrap_or(USUAL_CELL),
                in_tmux: environment.in_tmux,
            },
        }
    }
}

/// Only images that cells name pass through tmux, if it lets anything through: then the question was answered.
fn within_tmux(environment: &Environment, answers: &TerminalAnswers) -> Means {
    let is_other = environment.is_konsole || environment.is_wezterm;
    if answers.has_kitty && !is_other {
        Means::Kitty
    } else {
        Means::Blocks
    }
}

/// The means of a terminal that has said its name, or what it can do.
fn named(answers: &TerminalAnswers) -> Option<Means> {
    let name = answers
        .name
        .as_deref()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if let Some(version) = name.strip_prefix("kitty") {
        let mut numbers = version
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|part| part.parse().ok());
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        return Some(if version >= KITTY {
            Means::Kitty
        } else {
            Means::Blocks
        });
    }
    if name.starts_with("ghostty") {
        return Some(Means::Kitty);
    }
    if ["iterm2", "wezterm", "konsole"]
        .iter()
        .any(|known| name.starts_with(known))
    {
        return Some(Means::ITerm2);
    }
    answers.has_sixels.then_some(Means::Sixel)
}

#[cfg(feature = "images")]
#[cfg(test)]
mod tests {
    use super::{Environment, Setup, TerminalAnswers};
    use crate::render::picture::canvas::{Choice, Means};
    use crate::runtime::terminal_input::InputParser;

    fn means(environment: Environment, said: &str) -> Means {
        let mut answers = TerminalAnswers::default();
        for heard in InputParser::default().take(said.as_bytes()) {
            answers.take(&heard, None);
        }
        Setup {
            environment,
            ..Setup::default()
        }
        .canvas(&answers, None)
        .means
    }

    fn xterm() -> Environment {
        Environment {
            term: "xterm-256color".to_owned(),
            ..Environment::default()
        }
    }

    fn tmux() -> Environment {
        Environment {
            term: "tmux-256color".to_owned(),
            in_tmux: true,
            is_kitty: true,
            ..Environment::default()
        }
    }

    #[test]
    fn the_environment_decides_at_once() {
        let program = |name: &str| Environment {
            program: name.to_owned(),
            ..xterm()
        };
        let term = |name: &str| Environment {
            term: name.to_owned(),
            ..Environment::default()
        };
        for (environment, wanted) in [
            (xterm(), Means::Blocks),
            (term("xterm-kitty"), Means::Kitty),
            (term("xterm-ghostty"), Means::Kitty),
            (
                Environment {
                    is_kitty: true,
                    ..xterm()
                },
                Means::Kitty,
            ),
            (program("ghostty"), Means::Kitty),
            (program("iTerm.app"), Means::ITerm2),
            (program("WezTerm"), Means::ITerm2),
            (program("vscode"), Means::Blocks),
            (
                Environment {
                    lc_terminal: "iTerm2".to_owned(),
                    ..xterm()
                },
                Means::ITerm2,
            ),
            (
                Environment {
                    is_konsole: true,
                    ..xterm()
                },
                Means::ITerm2,
            ),
            (tmux(), Means::Blocks),
            (
                Environment {
                    in_screen: true,
                    is_kitty: true,
                    ..xterm()
                },
                Means::Blocks,
            ),
            (
                Environment {
                    is_kitty: true,
                    ..term("screen.xterm-256color")
                },
                Means::Blocks,
            ),
        ] {
            assert_eq!(means(environment.clone(), ""), wanted, "{environment:?}");
        }
    }

    #[test]
    fn answers_decide_later() {
        for (environment, said, wanted) in [
            (
                xterm(),
                "\x1bP>|kitty(0.40.1)\x1b\\\x1b[?62;c",
                Means::Kitty,
            ),
            (
                xterm(),
                "\x1bP>|ghostty 1.1.3\x1b\\\x1b[?62;22c",
                Means::Kitty,
            ),
            (
                xterm(),
                "\x1bP>|WezTerm 20240203\x1b\\\x1b[6;20;9t\x1b[?65;4c",
                Means::ITerm2,
            ),
            (
                xterm(),
                "\x1bP>|foot(1.16.2)\x1b\\\x1b[6;20;9t\x1b[?62;4;22c",
                Means::Sixel,
            ),
            (xterm(), "\x1b[6;20;9t\x1b[?61;4;6c", Means::Sixel),
            (xterm(), "\x1b[?62;4c", Means::Blocks),
            (
                xterm(),
                "\x1bP>|XTerm(379)\x1b\\\x1b[6;20;9t\x1b[?64;1;2;6c",
                Means::Blocks,
            ),
            (xterm(), "\x1b_Gi=31;OK\x1b\\", Means::Blocks),
            // Too old for cells that name an image, whatever its environment says.
            (
                Environment {
                    term: "xterm-kitty".to_owned(),
                    ..Environment::default()
                },
                "\x1bP>|kitty(0.26.5)\x1b\\",
                Means::Blocks,
            ),
            (tmux(), "\x1b_Gi=31;OK\x1b\\\x1b[?1;2;4c", Means::Kitty),
            (tmux(), "\x1b[?1;2;4c", Means::Blocks),
            (
                Environment {
                    is_wezterm: true,
                    ..tmux()
                },
                "\x1b_Gi=31;OK\x1b\\",
                Means::Blocks,
            ),
        ] {
            assert_eq!(
                means(environment.clone(), said),
                wanted,
                "{said:?} {environment:?}"
            );
        }
    }

    #[test]
    fn the_reader_decides_first_and_pixels_must_be_known_for_sixels() {
        let setup = |choice| Setup {
            choice,
            environment: xterm(),
            ..Setup::default()
        };
        let answers = TerminalAnswers::default();
        let only = |means| setup(Choice::Only(means));
        assert_eq!(only(Means::Off).canvas(&answers, None).means, Means::Off);
        assert_eq!(
            only(Means::Kitty).canvas(&answers, None).means,
            Means::Kitty
        );
        assert_eq!(
            only(Means::Sixel).canvas(&answers, None).means,
            Means::Blocks
        );
        let sixel = only(Means::Sixel).canvas(&answers, Some((8, 17)));
        assert_eq!((sixel.means, sixel.cell), (Means::Sixel, (8, 17)));
        assert_eq!(only(Means::Blocks).questions(), "");
    }

    #[test]
    fn an_answer_about_pixels_counts_until_the_font_changes() {
        let setup = Setup {
            choice: Choice::Only(Means::Sixel),
            environment: xterm(),
            ..Setup::default()
        };
        let mut answers = TerminalAnswers::default();
        answers.take(
            &crate::runtime::terminal_input::event::InputEvent::Cell(9, 18),
            Some((10, 18)),
        );
        assert_eq!(setup.canvas(&answers, Some((10, 18))).cell, (9, 18));
        assert_eq!(setup.canvas(&answers, Some((14, 28))).cell, (14, 28));
    }

    #[test]
    fn only_terminals_that_may_know_are_asked() {
        let asked = |environment| {
            Setup {
                environment,
                ..Setup::default()
            }
            .questions()
        };
        assert_eq!(asked(xterm()), "\x1b[>0q\x1b[16t\x1b[c");
        assert!(asked(tmux()).starts_with("\x1bPtmux;\x1b\x1b_G"));
        let few = Setup {
            environment: tmux(),
            has_few_colours: true,
            ..Setup::default()
        };
        assert_eq!(few.questions(), "");
        for term in ["", "dumb", "linux", "vt220", "screen-256color"] {
            assert_eq!(
                asked(Environment {
                    term: term.to_owned(),
                    ..Environment::default()
                }),
                "",
                "{term}"
            );
        }
    }
}
