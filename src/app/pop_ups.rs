//! What stands over the panes for a while: help, commands, records.
pub mod help;
pub mod palette;
pub mod raw;
