//! What stands over the panes for a while: help, commands, records, how the agent goes on.
pub mod help;
pub mod palette;
pub mod raw;
pub mod resume;
