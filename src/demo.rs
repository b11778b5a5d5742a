//! `tv demo`: replays the embedded session into a temporary file (to be filled).
