//! Kimi Code: the wires of its agents (`kimi-code`). Those of the older Kimi CLI have the same name and first line, and
//! nothing else in common.

mod agent;
mod code;
mod content;
mod places;

pub(crate) use code::KimiCode;
