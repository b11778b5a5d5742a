//! The state of the viewer, and the actions that change it.
//!
//! ```text
//! update ── dispatch ── state::App      keys, mouse, typed lines, pop-ups, picker, wall, ledger
//!               │
//! arrange ── reader::Reader             one session with its panes; several readers are independent
//!               ├── text                the transcript pane: window, search, filter, folds, marks
//!               └── outline, views, inspector
//!                                       panes that follow the focus of the text ([`side_pane`])
//! ```
//!
//! A pane changes only its own state. It reads the session and the other panes through a [`scene::Scene`] and pushes
//! requests for everything else: a message, a jump, another mode, an effect. State and layout of a pane are in its own
//! file (`outline.rs`), its actions beside it (`outline/actions.rs`).
//!
//! Invariant: no terminal, no file, no clock. Events enter through [`update::update`]; rows are laid out only in
//! [`arrange::arrange`].

pub mod alarms;
pub mod arrange;
pub mod checks;
pub mod comparison;
pub mod copying;
pub mod dispatch;
pub mod effect;
pub mod hints;
pub mod input;
pub mod inspector;
pub mod layout;
pub mod ledger;
pub mod list_page;
pub mod mode;
pub mod navigation;
pub mod outline;
pub mod panes;
pub mod picker;
pub mod pop_ups;
pub mod reader;
pub mod scene;
pub mod screen;
pub mod screens;
pub(crate) mod side_pane;
mod start;
pub mod state;
pub mod text;
pub mod update;
pub mod views;
pub mod wall;
