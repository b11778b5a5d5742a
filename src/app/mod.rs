//! What is looked at: state, actions and the arrangement of rows.
//!
//! Invariant: no terminal, no file, no clock. All meaning is in [`update::update`]; the only place
//! where rows are laid out is [`arrange::arrange`].

pub mod action;
pub mod arrange;
pub mod bindings;
pub mod branch_folds;
pub mod branches;
pub mod command;
pub mod excerpt;
pub mod feeding;
pub mod folding;
pub mod folds;
pub mod heights;
pub mod help;
pub mod items;
pub mod keymap;
pub mod keys;
pub mod moving;
pub mod outline;
pub mod palette;
pub mod picker;
pub mod route;
pub mod search;
pub mod searching;
pub mod seek;
pub mod sequence;
pub mod spine;
pub mod state;
pub mod taking;
pub mod typing;
pub mod uncover;
pub mod update;
pub mod viewport;
