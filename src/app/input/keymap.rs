//! Which keys do what for this reader: the table of bindings, changed by a preset and by the reader's
//! own wishes.
//!
//! **A digit opens its view at once, and is a count if a key follows at once.** Views have digits, and so have counts.
//! Who switches views looks at the next one before the next key, who types a count does not: so in the text a digit
//! opens its view without a wait, and the next key, if it comes within a fifth of a second, takes the view back and has
//! a count. Two digits, and 8 and 9, which name no view, wait for their key as long as it takes. In a view counts make
//! no sense. A digit that the reader binds to something else is no count.
//!
//! Invariant: no sequence of keys hides another; who binds keys last gets them.

use super::action::{Action, Quick};
use super::bindings::{BINDINGS, Binding};
use super::keys::{Press, parse_keys};

/// The keys in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    /// In the order of the table.
    sequences: Vec<(Vec<Press>, Action)>,
}

/// Keys that readers know from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// The table as it is.
    #[default]
    Default,
    /// As in less.
    Less,
    /// As in vim.
    Vim,
}

impl Preset {
    /// The preset with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::Default),
            "less" => Some(Self::Less),
            "vim" => Some(Self::Vim),
            _ => None,
        }
    }

    /// What it binds otherwise.
    fn changes(self) -> &'static [(Action, &'static [&'static str])] {
        match self {
            Self::Default => &[],
            Self::Less => &[
                (
                    Action::PageDown,
                    &["space", "f", "ctrl-f", "ctrl-v", "pgdn"],
                ),
                (Action::PageUp, &["b", "ctrl-b", "alt-v", "pgup"]),
                (Action::HalfDown, &["d", "ctrl-d"]),
                (Action::HalfUp, &["u", "ctrl-u"]),
                (Action::Top, &["g", "alt-<", "home"]),
                (Action::Bottom, &["G", "alt->", "end"]),
                (Action::Next, &["j", "down", "enter", "ctrl-n"]),
                (Action::Previous, &["k", "up"]),
                (Action::Expand, &["l", "right"]),
                (Action::Unfold, &["z o"]),
                (Action::Help, &["h", "H", "?", "F1"]),
                (Action::Collapse, &["left"]),
                (Action::Quit, &["q"]),
                (Action::Quick(Quick::Errors), &[", e"]),
                (Action::Quick(Quick::Tools), &[", t"]),
                (Action::Quick(Quick::Prompts), &[", u"]),
                (Action::Quick(Quick::Name), &[", n"]),
                (Action::Quick(Quick::Lane), &[", s"]),
                (Action::Quick(Quick::Id), &[", i"]),
                (Action::Quick(Quick::Clear), &[", f"]),
                (Action::ToggleGutter, &["z n"]),
            ],
            Self::Vim => &[
                (Action::Top, &["g g", "home"]),
                (Action::PageDown, &["ctrl-f", "space", "pgdn"]),
                (Action::PageUp, &["ctrl-b", "b", "pgup"]),
                (Action::ToggleFold, &["z a", "z o"]),
                (Action::Quit, &["q", "Z Z"]),
                (Action::QuitNow, &["Q", "Z Q", "ctrl-c"]),
            ],
        }
    }
}

/// What a sequence of keys means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// An action.
    Action(Action),
    /// More keys must follow.
    Prefix,
    /// Nothing.
    None,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(Preset::Default, &[]).0
    }
}

impl Keymap {
    /// The keys of a preset with a reader's own ones, and a sentence for each binding that lost its keys
    /// to one of the reader's.
    pub fn new(preset: Preset, own: &[(Action, Vec<Vec<Press>>)]) -> (Self, Vec<String>) {
        let mut sequences = Vec::new();
        for binding in BINDINGS {
            let keys = binding.keys.iter().filter_map(|names| parse_keys(names));
            sequences.extend(keys.map(|keys| (keys, binding.action)));
        }
        let mut keymap = Self { sequences };
        for (action, names) in preset.changes() {
            keymap.rebind(
                *action,
                names.iter().filter_map(|names| parse_keys(names)).collect(),
            );
        }
        let mut lost = Vec::new();
        for (action, keys) in own {
            for (keys, of) in keymap.rebind(*action, keys.clone()) {
                lost.push(format!("{} is {action} now, no longer {of}", shown(&keys)));
            }
        }
        (keymap, lost)
    }

    /// Gives an action these keys and no others; returns what other actions lost by it.
    fn rebind(&mut self, action: Action, keys: Vec<Vec<Press>>) -> Vec<(Vec<Press>, Action)> {
        self.sequences.retain(|(_, of)| *of != action);
        let hides = |bound: &[Press]| {
            keys.iter()
                .any(|new| new.starts_with(bound) || bound.starts_with(new))
        };
        let (lost, kept) = self
            .sequences
            .drain(..)
            .partition(|(bound, _)| hides(bound));
        self.sequences = kept;
        self.sequences
            .extend(keys.into_iter().map(|keys| (keys, action)));
        lost
    }

    /// Looks a sequence of keys up.
    pub fn look_up(&self, pressed: &[Press]) -> Match {
        let mut is_prefix = false;
        let mut by_letter = None;
        for (sequence, action) in &self.sequences {
            if sequence == pressed {
                return Match::Action(*action);
            }
            let covers = sequence
                .iter()
                .zip(pressed)
                .all(|(bound, pressed)| bound.covers(*pressed));
            if covers && sequence.len() == pressed.len() {
                by_letter = Some(*action);
            }
            is_prefix |= covers && sequence.len() > pressed.len();
        }
        match by_letter {
            Some(action) => Match::Action(action),
            None if is_prefix => Match::Prefix,
            None => Match::None,
        }
    }

    /// The bindings that an unfinished sequence can still become, with the keys that are missing.
    pub(crate) fn continuations(&self, pressed: &[Press]) -> Vec<(String, &'static Binding)> {
        let rest = |binding: &'static Binding| {
            let mut sequences = self
                .sequences
                .iter()
                .filter(|(_, action)| *action == binding.action);
            sequences.find_map(|(sequence, _)| {
                let rest = sequence
                    .strip_prefix(pressed)
                    .filter(|rest| !rest.is_empty())?;
                Some((shown(rest), binding))
            })
        };
        BINDINGS.iter().filter_map(rest).collect()
    }

    /// The keys of an action, as they are written.
    pub fn keys_of(&self, action: Action) -> impl Iterator<Item = String> {
        self.sequences
            .iter()
            .filter(move |(_, of)| *of == action)
            .map(|(keys, _)| shown(keys))
    }

    /// All bindings, one a line: keys, name of the action, what it does.
    pub fn listing(&self) -> String {
        let line = |binding: &Binding| {
            let keys = self.keys_of(binding.action).collect::<Vec<_>>().join("  ");
            format!("{keys:<20} {:<22} {}\n", binding.name, binding.doc)
        };
        BINDINGS.iter().map(line).collect()
    }
}

/// Keys as they are typed one after the other.
fn shown(keys: &[Press]) -> String {
    keys.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Keymap, Match, Preset};
    use crate::app::input::action::{Action, Kind, Way};
    use crate::app::input::bindings::BINDINGS;
    use crate::app::input::keys::{Press, parse_keys};

    #[test]
    fn every_binding_parses_and_none_hides_another() {
        for preset in [Preset::Default, Preset::Less, Preset::Vim] {
            let (keymap, _) = Keymap::new(preset, &[]);
            let mut seen = HashSet::new();
            for (keys, action) in &keymap.sequences {
                assert!(seen.insert(keys.clone()), "{keys:?} is bound twice");
                assert_eq!(keymap.look_up(keys), Match::Action(*action), "{keys:?}");
                let hidden =
                    |(other, _): &&(Vec<Press>, Action)| other != keys && other.starts_with(keys);
                assert!(
                    keymap.sequences.iter().find(hidden).is_none(),
                    "{keys:?} hides others"
                );
            }
        }
        for names in BINDINGS.iter().flat_map(|binding| binding.keys) {
            assert!(parse_keys(names).is_some(), "{names}");
        }
    }

    #[test]
    fn every_action_has_a_key_in_each_preset() {
        for preset in [Preset::Default, Preset::Less, Preset::Vim] {
            let (keymap, _) = Keymap::new(preset, &[]);
            for binding in BINDINGS {
                assert!(
                    keymap.keys_of(binding.action).next().is_some(),
                    "{preset:?} has no key for {}",
                    binding.name
                );
            }
        }
    }

    #[test]
    fn chords_wait_for_more() {
        let keymap = Keymap::default();
        assert_eq!(keymap.look_up(&[Press::parse("y").unwrap()]), Match::Prefix);
        assert_eq!(keymap.look_up(&[Press::parse("€").unwrap()]), Match::None);
        assert_eq!(
            keymap.look_up(&parse_keys("m q").unwrap()),
            Match::Action(Action::SetMark)
        );
        assert_eq!(
            keymap.look_up(&parse_keys("' '").unwrap()),
            Match::Action(Action::Back)
        );
        assert_eq!(keymap.look_up(&parse_keys("' esc").unwrap()), Match::None);
    }

    #[test]
    fn who_binds_last_gets_the_keys() {
        let error = Action::Seek(Kind::Error, Way::Next);
        let own = [(
            error,
            vec![parse_keys("x").unwrap(), parse_keys("j").unwrap()],
        )];
        let (keymap, lost) = Keymap::new(Preset::Default, &own);
        assert_eq!(
            keymap.look_up(&parse_keys("x").unwrap()),
            Match::Action(error)
        );
        assert_eq!(keymap.look_up(&parse_keys("e").unwrap()), Match::None);
        assert_eq!(keymap.keys_of(Action::Next).collect::<Vec<_>>(), ["down"]);
        assert_eq!(lost, ["j is next-error now, no longer next"]);
    }
}
