//! opencode (to be filled).

use super::decoder::{Decoder, Format, Input, Probe, Verdict, show_raw};
use crate::model::edit::Batch;
use crate::model::tally::Fate;

/// The format.
pub struct Opencode;

impl Format for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn sniff(&self, _probe: &Probe<'_>) -> Verdict {
        Verdict::no("not written yet")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(OpencodeDecoder)
    }
}

struct OpencodeDecoder;

impl Decoder for OpencodeDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        show_raw(input, "record", out)
    }
}
