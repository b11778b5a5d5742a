//! What is looked at: sessions with their panes, and what keys do to them.
//!
//! ```text
//! update ── dispatch ── state::App      keys, mouse, typed lines, pop-ups, the sessions to choose from
//!               │
//! arrange ── reader::Reader             one session, and its panes; several of them may stand side by side
//!               ├── text                the window onto the transcript, with what is searched, filtered and marked in it
//!               └── outline, views, inspector
//!                                       panes that follow the reader's place in the text ([`side_pane`])
//! ```
//!
//! A pane changes itself only. It sees the rest through a [`scene::Scene`], in which the session is only read, and
//! asks for what is not its own: a message, another place, another mode, something outside. What it is and what it
//! shows stand in its own file (`outline.rs`), what actions do to it beside that (`outline/actions.rs`).
//!
//! Invariant: no terminal, no file, no clock. An event gets its meaning in [`update::update`]; the only place where
//! rows are laid out is [`arrange::arrange`].

pub mod alarms;
pub mod arrange;
pub mod below;
pub mod checks;
pub mod copying;
pub mod dispatch;
pub mod effect;
pub mod input;
pub mod inspector;
pub mod layout;
pub mod ledger;
pub mod mode;
pub mod outline;
pub mod panes;
pub mod picker;
pub mod pop_ups;
pub mod reader;
pub mod scene;
pub mod screen;
pub(crate) mod side_pane;
pub mod state;
pub mod text;
pub mod update;
pub mod views;
pub mod wall;
