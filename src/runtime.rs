//! Room (to be filled).
