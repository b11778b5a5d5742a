//! What keys, the mouse and typed lines mean.
pub mod action;
pub mod bindings;
pub mod chord;
pub mod command;
pub mod history;
pub mod keymap;
pub mod keys;
pub mod mode;
pub mod mouse;
pub mod route;
pub mod typing;
