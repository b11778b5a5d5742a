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
pub mod effect;
pub mod evidence;
pub mod excerpt;
pub mod feeding;
pub mod filter;
pub mod filtering;
pub mod folding;
pub mod folds;
pub mod heights;
pub mod help;
pub mod history;
pub mod inspector;
pub mod items;
pub mod keymap;
pub mod keys;
pub mod landmarks;
pub mod marks;
pub mod mention;
pub mod mode;
pub mod mouse;
pub mod moving;
pub mod outline;
pub mod palette;
pub mod panes;
pub mod picker;
pub mod piping;
pub mod raw;
pub mod reach;
pub mod route;
pub mod scope;
pub mod search;
pub mod searching;
pub mod seek;
pub mod selecting;
pub mod sequence;
pub mod spine;
pub mod state;
pub mod strip;
pub mod taking;
pub mod telling;
pub mod texts;
pub mod typing;
pub mod uncover;
pub mod update;
pub mod viewport;
