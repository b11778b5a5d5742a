//! Input: keys, mouse gestures, typed commands, and the actions that they name.
//! [`dispatch`](super::dispatch) runs the actions.

pub mod action;
pub mod bindings;
pub mod command;
pub mod history;
pub mod key_state;
pub mod keymap;
pub mod keys;
pub mod mouse;
pub mod setting;
