//! The command line (to be filled).
