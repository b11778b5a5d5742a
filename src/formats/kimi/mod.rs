//! Kimi: two generations of `wire.jsonl`, the event logs of Kimi CLI (`kimi-cli`) and of Kimi Code
//! (`kimi-code`), which only share the name of the file and the first line.

mod agent;
mod cli;
mod code;
mod content;
mod places;

pub(crate) use cli::KimiCli;
pub(crate) use code::KimiCode;
