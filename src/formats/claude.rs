//! claude-code (to be filled).

use super::decoder::{Decoder, Format, Input, Probe, Verdict, show_raw};
use crate::model::edit::Batch;
use crate::model::tally::Fate;

/// The format.
pub struct Claude;

impl Format for Claude {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn sniff(&self, _probe: &Probe<'_>) -> Verdict {
        Verdict::no("not written yet")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ClaudeDecoder)
    }
}

struct ClaudeDecoder;

impl Decoder for ClaudeDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        show_raw(input, "record", out)
    }
}
