//! pi (to be filled).

use super::decoder::{Decoder, Format, Input, Probe, Verdict, show_raw};
use crate::model::edit::Batch;
use crate::model::tally::Fate;

/// The format.
pub struct Pi;

impl Format for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn sniff(&self, _probe: &Probe<'_>) -> Verdict {
        Verdict::no("not written yet")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(PiDecoder)
    }
}

struct PiDecoder;

impl Decoder for PiDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        show_raw(input, "record", out)
    }
}
