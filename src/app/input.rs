//! The words for keys, the mouse and typed lines: what there is to press, to type and to do. What becomes of it is
//! [`dispatch`](super::dispatch)'s.

pub mod action;
pub mod bindings;
pub mod chord;
pub mod command;
pub mod history;
pub mod keymap;
pub mod keys;
pub mod mouse;
