//! Detects how a terminal shows images: by its environment at once, by its replies to queries soon
//! after.
//!
//! **A terminal is identified by its name**, because support of a protocol is not enough: cells
//! that refer to an image (kitty's Unicode placeholders) cannot be queried for, and some terminals
//! that support the rest of the protocol show them as letters. Queries are sent after the first
//! frame, and nothing waits for the replies.

use super::terminal_input::event::InputEvent;
use super::terminal_queries;
use crate::render::picture::canvas::{Canvas, ImageProtocol, Means};
use crate::render::picture::kitty;

/// Assumed size of a cell in pixels where the terminal scales images itself.
const USUAL_CELL: (u16, u16) = (10, 20);
/// The first version of kitty whose cells can refer to an image.
const KITTY: (u16, u16) = (0, 28);

/// What the environment says of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalEnvironment {
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

/// The replies of the terminal so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalAnswers {
    has_kitty: bool,
    has_sixels: bool,
    name: Option<String>,
    /// Size of a cell in pixels.
    cell: Option<(u16, u16)>,
    /// Size of a cell by the window size at the time of that reply.
    measured: Option<(u16, u16)>,
}

impl TerminalAnswers {
    /// Stores a reply. `cell` is the size of a cell by the window size.
    pub(crate) fn push(&mut self, heard: &InputEvent, cell: Option<(u16, u16)>) {
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

impl TerminalEnvironment {
    fn is_simple(&self) -> bool {
        matches!(self.term.as_str(), "" | "dumb" | "linux" | "ansi") || self.term.starts_with("vt")
    }

    fn within_screen(&self) -> bool {
        self.in_screen || (self.term.starts_with("screen") && !self.in_tmux)
    }

    /// The protocol of a terminal that the environment identifies.
    fn of_environment(&self) -> Option<Means> {
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

/// What is known of the terminal before it replies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphicsSetup {
    pub(crate) choice: ImageProtocol,
    pub(crate) environment: TerminalEnvironment,
    /// Without colours or with ASCII only, images are not shown.
    pub(crate) is_plain: bool,
    /// Fewer than 256 colours, so cells cannot refer to an image through tmux.
    pub(crate) has_few_colours: bool,
}

impl GraphicsSetup {
    /// The queries to be sent after the first frame; empty if the replies would change nothing.
    pub(crate) fn questions(&self) -> String {
        let environment = &self.environment;
        let is_moot = match self.choice {
            ImageProtocol::Auto => self.is_plain || (environment.in_tmux && self.has_few_colours),
            // A sixel is made of pixels, so the size of a cell must be known.
            ImageProtocol::Only(Means::Sixel) => environment.in_tmux,
            ImageProtocol::Only(_) => true,
        };
        // Apple's terminal would show the queries as text.
        let is_simple = environment.is_simple() || environment.program == "Apple_Terminal";
        if is_moot || is_simple || environment.within_screen() || !cfg!(feature = "images") {
            return String::new();
        }
        // What tmux replies about itself says nothing about the terminal around it.
        if environment.in_tmux {
            return kitty::question(true) + terminal_queries::ATTRIBUTES;
        }
        [
            terminal_queries::NAME,
            terminal_queries::CELL,
            terminal_queries::ATTRIBUTES,
        ]
        .concat()
    }

    /// How images are drawn. `cell` is the size of a cell by the window size.
    pub(crate) fn canvas(&self, answers: &TerminalAnswers, cell: Option<(u16, u16)>) -> Canvas {
        let environment = &self.environment;
        let means = match self.choice {
            ImageProtocol::Only(means) => means,
            ImageProtocol::Auto if self.is_plain || environment.within_screen() => Means::Blocks,
            ImageProtocol::Auto if environment.in_tmux && self.has_few_colours => Means::Blocks,
            ImageProtocol::Auto if environment.in_tmux => within_tmux(environment, answers),
            ImageProtocol::Auto => from_answers(answers)
                .or(environment.of_environment())
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

/// tmux passes only images that cells refer to, and only if it passes sequences through: then the
/// query was answered.
fn within_tmux(environment: &TerminalEnvironment, answers: &TerminalAnswers) -> Means {
    let is_other = environment.is_konsole || environment.is_wezterm;
    if answers.has_kitty && !is_other {
        Means::Kitty
    } else {
        Means::Blocks
    }
}

/// The protocol of a terminal that replied with its name or its attributes.
fn from_answers(answers: &TerminalAnswers) -> Option<Means> {
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
    use super::{GraphicsSetup, TerminalAnswers, TerminalEnvironment};
    use crate::render::picture::canvas::{ImageProtocol, Means};
    use crate::runtime::terminal_input::InputParser;

    fn means(environment: TerminalEnvironment, said: &str) -> Means {
        let mut answers = TerminalAnswers::default();
        for heard in InputParser::default().push(said.as_bytes()) {
            answers.push(&heard, None);
        }
        GraphicsSetup {
            environment,
            ..GraphicsSetup::default()
        }
        .canvas(&answers, None)
        .means
    }

    fn xterm() -> TerminalEnvironment {
        TerminalEnvironment {
            term: "xterm-256color".to_owned(),
            ..TerminalEnvironment::default()
        }
    }

    fn tmux() -> TerminalEnvironment {
        TerminalEnvironment {
            term: "tmux-256color".to_owned(),
            in_tmux: true,
            is_kitty: true,
            ..TerminalEnvironment::default()
        }
    }

    #[test]
    fn the_environment_decides_at_once() {
        let program = |name: &str| TerminalEnvironment {
            program: name.to_owned(),
            ..xterm()
        };
        let term = |name: &str| TerminalEnvironment {
            term: name.to_owned(),
            ..TerminalEnvironment::default()
        };
        for (environment, wanted) in [
            (xterm(), Means::Blocks),
            (term("xterm-kitty"), Means::Kitty),
            (term("xterm-ghostty"), Means::Kitty),
            (
                TerminalEnvironment {
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
                TerminalEnvironment {
                    lc_terminal: "iTerm2".to_owned(),
                    ..xterm()
                },
                Means::ITerm2,
            ),
            (
                TerminalEnvironment {
                    is_konsole: true,
                    ..xterm()
                },
                Means::ITerm2,
            ),
            (tmux(), Means::Blocks),
            (
                TerminalEnvironment {
                    in_screen: true,
                    is_kitty: true,
                    ..xterm()
                },
                Means::Blocks,
            ),
            (
                TerminalEnvironment {
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
                TerminalEnvironment {
                    term: "xterm-kitty".to_owned(),
                    ..TerminalEnvironment::default()
                },
                "\x1bP>|kitty(0.26.5)\x1b\\",
                Means::Blocks,
            ),
            (tmux(), "\x1b_Gi=31;OK\x1b\\\x1b[?1;2;4c", Means::Kitty),
            (tmux(), "\x1b[?1;2;4c", Means::Blocks),
            (
                TerminalEnvironment {
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
        let setup = |choice| GraphicsSetup {
            choice,
            environment: xterm(),
            ..GraphicsSetup::default()
        };
        let answers = TerminalAnswers::default();
        let only = |means| setup(ImageProtocol::Only(means));
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
        let setup = GraphicsSetup {
            choice: ImageProtocol::Only(Means::Sixel),
            environment: xterm(),
            ..GraphicsSetup::default()
        };
        let mut answers = TerminalAnswers::default();
        answers.push(
            &crate::runtime::terminal_input::event::InputEvent::Cell(9, 18),
            Some((10, 18)),
        );
        assert_eq!(setup.canvas(&answers, Some((10, 18))).cell, (9, 18));
        assert_eq!(setup.canvas(&answers, Some((14, 28))).cell, (14, 28));
    }

    #[test]
    fn only_terminals_that_may_know_are_asked() {
        let asked = |environment| {
            GraphicsSetup {
                environment,
                ..GraphicsSetup::default()
            }
            .questions()
        };
        assert_eq!(asked(xterm()), "\x1b[>0q\x1b[16t\x1b[c");
        assert!(asked(tmux()).starts_with("\x1bPtmux;\x1b\x1b_G"));
        let few = GraphicsSetup {
            environment: tmux(),
            has_few_colours: true,
            ..GraphicsSetup::default()
        };
        assert_eq!(few.questions(), "");
        for term in ["", "dumb", "linux", "vt220", "screen-256color"] {
            assert_eq!(
                asked(TerminalEnvironment {
                    term: term.to_owned(),
                    ..TerminalEnvironment::default()
                }),
                "",
                "{term}"
            );
        }
    }
}
