//! One opened session: its transcript with all that is known of it, and no screen.
//!
//! Invariant: no terminal, no file, no clock, no rows.

pub mod indexes;
