//! claude-stream-json (to be filled).

use super::decoder::{Decoder, Format, Input, Probe, Verdict, show_raw};
use crate::model::edit::Batch;
use crate::model::tally::Fate;

/// The format.
pub struct ClaudeStream;

impl Format for ClaudeStream {
    fn name(&self) -> &'static str {
        "claude-stream-json"
    }

    fn sniff(&self, _probe: &Probe<'_>) -> Verdict {
        Verdict::no("not written yet")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ClaudeStreamDecoder)
    }
}

struct ClaudeStreamDecoder;

impl Decoder for ClaudeStreamDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        show_raw(input, "record", out)
    }
}
