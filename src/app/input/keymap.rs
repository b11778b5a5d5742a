//! The keymap: the table of bindings, changed by a preset and by the user's settings.
//!
//! Invariant: no sequence of keys is a prefix of another; the last binding of a sequence wins.

use itertools::Itertools as _;

use super::action::{Action, QuickFilter};
use super::bindings::{BINDINGS, Binding};
use super::keys::{Press, parse_keys};

#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    /// Sequences with their actions, in the order of the table.
    sequences: Vec<(Vec<Press>, Action)>,
}

/// The bindings of another program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// The table of bindings as it is.
    #[default]
    Default,
    /// As in less.
    Less,
    /// As in vim.
    Vim,
}

impl Preset {
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::Default),
            "less" => Some(Self::Less),
            "vim" => Some(Self::Vim),
            _ => None,
        }
    }

    /// The actions that the preset binds to other keys.
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
                (Action::Quick(QuickFilter::Errors), &[", e"]),
                (Action::Quick(QuickFilter::Tools), &[", t"]),
                (Action::Quick(QuickFilter::Prompts), &[", u"]),
                (Action::Quick(QuickFilter::Name), &[", n"]),
                (Action::Quick(QuickFilter::Lane), &[", s"]),
                (Action::Quick(QuickFilter::Id), &[", i"]),
                (Action::Quick(QuickFilter::Clear), &[", f"]),
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

/// The result of a lookup of a sequence of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    /// The sequence is bound to this action.
    Action(Action),
    /// The sequence is the beginning of a bound one.
    Prefix,
    /// The sequence is not bound.
    None,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(Preset::Default, &[]).0
    }
}

impl Keymap {
    /// Creates the keymap of a preset with the user's own bindings. Also returns a sentence for
    /// each binding that lost keys to one of the user's.
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

    /// Binds an action to these keys and no others. Returns the bindings that other actions lose.
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

    /// Looks up a sequence of keys.
    pub fn find(&self, pressed: &[Press]) -> KeyMatch {
        let mut is_prefix = false;
        let mut by_letter = None;
        for (sequence, action) in &self.sequences {
            if sequence == pressed {
                return KeyMatch::Action(*action);
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
            Some(action) => KeyMatch::Action(action),
            None if is_prefix => KeyMatch::Prefix,
            None => KeyMatch::None,
        }
    }

    /// The bindings that an unfinished sequence can complete to, with the missing keys.
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

    /// The key sequences of an action, as text.
    pub fn keys_of(&self, action: Action) -> impl Iterator<Item = String> {
        self.sequences
            .iter()
            .filter(move |(_, of)| *of == action)
            .map(|(keys, _)| shown(keys))
    }

    /// The first keys of each action, with `between` between them.
    pub(crate) fn keys_of_all(&self, actions: &[Action], between: &str) -> String {
        let keys = actions.iter().filter_map(|of| self.keys_of(*of).next());
        keys.map(|keys| keys.replace(' ', "")).join(between)
    }

    /// All bindings, one per line: keys, name of the action, description.
    pub fn listing(&self) -> String {
        let line = |binding: &Binding| {
            let keys = self.keys_of(binding.action).join("  ");
            format!("{keys:<20} {:<22} {}\n", binding.name, binding.doc)
        };
        BINDINGS.iter().map(line).collect()
    }
}

/// A key sequence as text.
pub(crate) fn shown(keys: &[Press]) -> String {
    keys.iter().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{KeyMatch, Keymap, Preset};
    use crate::app::input::action::{Action, LandmarkKind, Way};
    use crate::app::input::bindings::BINDINGS;
    use crate::app::input::keys::{Press, parse_keys};

    #[test]
    fn every_binding_parses_and_none_hides_another() {
        for preset in [Preset::Default, Preset::Less, Preset::Vim] {
            let (keymap, _) = Keymap::new(preset, &[]);
            let mut seen = HashSet::new();
            for (keys, action) in &keymap.sequences {
                assert!(seen.insert(keys.clone()), "{keys:?} is bound twice");
                assert_eq!(keymap.find(keys), KeyMatch::Action(*action), "{keys:?}");
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
        assert_eq!(keymap.find(&[Press::parse("y").unwrap()]), KeyMatch::Prefix);
        assert_eq!(keymap.find(&[Press::parse("€").unwrap()]), KeyMatch::None);
        assert_eq!(
            keymap.find(&parse_keys("m q").unwrap()),
            KeyMatch::Action(Action::SetMark)
        );
        assert_eq!(
            keymap.find(&parse_keys("' '").unwrap()),
            KeyMatch::Action(Action::Back)
        );
        assert_eq!(keymap.find(&parse_keys("' esc").unwrap()), KeyMatch::None);
    }

    #[test]
    fn who_binds_last_gets_the_keys() {
        let error = Action::Seek(LandmarkKind::Error, Way::Next);
        let own = [(
            error,
            vec![parse_keys("x").unwrap(), parse_keys("j").unwrap()],
        )];
        let (keymap, lost) = Keymap::new(Preset::Default, &own);
        assert_eq!(
            keymap.find(&parse_keys("x").unwrap()),
            KeyMatch::Action(error)
        );
        assert_eq!(keymap.find(&parse_keys("e").unwrap()), KeyMatch::None);
        assert_eq!(keymap.keys_of(Action::Next).collect::<Vec<_>>(), ["down"]);
        assert_eq!(lost, ["j is next-failure now, no longer next"]);
    }
}
